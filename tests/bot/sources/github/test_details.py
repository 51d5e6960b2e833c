"""What is read of a repository beside its listing: when its releases are asked for, and what a limit costs."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from bot.collect.collector import Collector
from bot.http.client import Http
from bot.sources.github.details import SPARE
from bot.sources.github.releases import PAGE
from bot.sources.registry import AUTHORITY
from tests.bot.sources.github.collecting import (
    SEARCH,
    collect,
    collect_until_failure,
    found,
    items_of,
    keys_of,
    last_mark,
    readme,
    releases,
    source,
)
from tests.bot.sources.replay import recorded, release, repository
from tests.fakes.web import Answer, Asked, Web
from tests.stores.memory import MemoryStore

OLD = {"created_at": "2020-01-01T00:00:00Z"}
ALLOWED = {"readme": {"readmes": 5}, "releases": {"releases": 5}}  # by what is asked for of a repository


def repositories(web: Web, **fields: object) -> None:
    """Have every watched repository answer, with these fields."""

    def rule(asked: Asked) -> Answer | None:
        name = asked.path.removeprefix("/repos/")
        return Answer(json.dumps(repository(name, **fields))) if asked.path != name and name.count("/") == 1 else None

    web.rule(rule)


def asked_for_releases(web: Web) -> list[str]:
    return [asked.path for asked in web.asked if asked.path.endswith("/releases")]


async def test_a_new_repository_comes_with_its_readme_and_its_latest_release(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(repository("a/new"), repository("a/old", **OLD)))
    web.answer("/repos/a/new/readme", readme("# New\n\nAbout new things."))
    web.answer("/repos/a/new/releases", releases(release("v0.2-rc1", prerelease=True), release("v0.1", body="First cut.")))
    items = items_of(await collect(source(http, web, searches=["x"], readmes=5, releases=5), now))

    new, old = items
    assert new.release is not None
    assert (new.release.tag, new.release.notes, new.readme) == ("v0.1", "First cut.", "About new things.")
    assert new.releases_read == now
    assert (old.release, old.releases_read) == (None, None)
    assert [asked.query for asked in web.asked if asked.path.endswith("/releases")] == [{"per_page": str(PAGE)}]


async def test_a_repository_without_a_release_is_one_that_was_asked_and_has_none(
    web: Web, http: Http, now: datetime
) -> None:
    web.answer(SEARCH, found(repository("a/none")))
    web.answer("/repos/a/none/releases", releases())
    (item,) = items_of(await collect(source(http, web, searches=["x"], releases=5), now))
    assert (item.release, item.releases_read) == (None, now)


@pytest.mark.parametrize("answer", [Answer("", 404), Answer("not json"), Answer("{}"), Answer(b" " * 9 * 2**20)])
async def test_releases_that_cannot_be_read_cost_nothing_else_and_say_nothing(
    web: Web, http: Http, now: datetime, answer: Answer
) -> None:
    web.answer(SEARCH, found(repository("a/b"), repository("c/d", stargazers_count=1)))
    web.answer("/repos/a/b/releases", answer)
    web.answer("/repos/c/d/releases", releases(release()))
    github = source(http, web, searches=["x"], releases=5)
    first = await collect(github, now)
    assert keys_of(first) == ["github:a/b", "github:c/d"]
    second = await collect(github, now + timedelta(hours=1), last_mark(first))
    tags = {item.key: item.release.tag for batches in (first, second) for item in items_of(batches) if item.release}
    assert tags == {"github:c/d": "v1.0"}
    assert [item.releases_read for item in items_of(first) if item.key == "github:a/b"] == [None]
    assert asked_for_releases(web).count("/repos/a/b/releases") == 1


async def test_a_watched_repository_is_asked_once_a_day_for_what_is_new(web: Web, http: Http, now: datetime) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    web.answer(
        "/repos/a/b/releases", releases(release("v1"), ETag='"1"'), Answer(status=304), releases(release("v2"), ETag='"2"')
    )
    github = source(http, web, watch=["a/b"], releases=5)
    mark, tags = "", []
    for hours in (0, 2, 24, 48):
        batches = await collect(github, now + timedelta(hours=hours), mark)
        mark = last_mark(batches)
        tags += [item.release.tag if item.release else "" for item in items_of(batches)]
    assert tags == ["v1", "", "", "v2"]
    told = [asked.headers.get("if-none-match") for asked in web.asked if asked.path.endswith("/releases")]
    assert told == [None, '"1"', '"1"']


@pytest.mark.parametrize("broken", ['[{"tag_name": "v1', "<html>Log in to go on</html>", '{"message": "ok"}', '[{"x": 1}]'])
async def test_releases_whose_first_answer_was_broken_come_with_the_next(
    web: Web, http: Http, now: datetime, broken: str
) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    answers = {"": Answer(broken, headers={"ETag": '"1"'}), '"1"': Answer(status=304)}

    def rule(asked: Asked) -> Answer | None:
        if not asked.path.endswith("/releases"):
            return None
        known = asked.headers.get("if-none-match", "")
        return answers.pop(known, releases(release("v1"), ETag='"1"'))

    web.rule(rule)
    github = source(http, web, watch=["a/b"], releases=5)
    first = await collect(github, now)
    assert [item.releases_read for item in items_of(first)] == [None]
    (item,) = items_of(await collect(github, now + timedelta(days=1), last_mark(first)))
    assert item.release is not None
    assert item.release.tag == "v1"


async def test_an_answer_that_cannot_be_read_does_not_take_the_place_of_the_last_that_was(
    web: Web, http: Http, now: datetime
) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    broken = Answer("<html>Log in to go on</html>", headers={"ETag": '"proxy"'})
    web.answer("/repos/a/b/releases", releases(release("v1"), ETag='"1"'), broken, Answer(status=304))
    github = source(http, web, watch=["a/b"], releases=5)
    mark = ""
    for day in range(3):
        batches = await collect(github, now + timedelta(days=day), mark)
        mark = last_mark(batches)
    told = [asked.headers.get("if-none-match") for asked in web.asked if asked.path.endswith("/releases")]
    assert told == [None, '"1"', '"1"']
    assert [item.releases_confirmed for item in items_of(batches)] == [now + timedelta(days=2)]


async def test_a_release_that_is_confirmed_day_by_day_stays_the_latest(web: Web, http: Http, now: datetime) -> None:
    moved = [now]
    web.rule(
        lambda asked: (
            Answer(json.dumps(repository("a/b", **OLD, pushed_at=moved[-1].isoformat())))
            if asked.path == "/repos/a/b"
            else None
        )
    )
    web.answer("/repos/a/b/releases", releases(release("v1", "2026-01-01"), ETag='"1"'), Answer(status=304))
    store = MemoryStore()
    collector, github = Collector(store, AUTHORITY), source(http, web, watch=["a/b"], releases=5)
    for day in range(46):
        moved.append(now + timedelta(days=day))
        await collector.collect([github], moved[-1])
    item = (await store.items.find(["github:a/b"]))["github:a/b"]
    assert item.release is not None
    assert (item.release.tag, item.releases_read, item.releases_confirmed) == ("v1", now, moved[-1])
    await store.close()


async def test_an_unasked_not_modified_confirms_nothing(web: Web, http: Http, now: datetime) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    web.answer("/repos/a/b/releases", Answer(status=304))
    (item,) = items_of(await collect(source(http, web, watch=["a/b"], releases=5), now))
    assert (item.releases_read, item.releases_confirmed) == (None, None)


async def test_a_watched_repository_that_rests_is_left_alone_after_a_week(web: Web, http: Http, now: datetime) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    web.rule(lambda asked: releases(release()) if asked.path.endswith("/releases") else None)
    github = source(http, web, watch=["a/b"], releases=5)
    mark, days = "", []
    for day in range(12):
        mark = last_mark(await collect(github, now + timedelta(days=day), mark))
        days.append(len(asked_for_releases(web)))
    assert days == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9]


async def test_a_new_repository_that_nobody_watches_is_asked_again_after_a_week(web: Web, http: Http, now: datetime) -> None:
    web.rule(lambda asked: found(repository("a/b", pushed_at=now.isoformat())) if asked.path == SEARCH else None)
    web.answer("/repos/a/b/releases", releases(), releases(release()))
    github = source(http, web, searches=["x"], releases=5)
    mark, tags = "", []
    for days in (0, 1, 6, 7, 8):
        batches = await collect(github, now + timedelta(days=days), mark)
        mark = last_mark(batches)
        tags += [item.release.tag for item in items_of(batches) if item.release]
    assert tags == ["v1.0"]
    assert len(asked_for_releases(web)) == 2


async def test_of_more_repositories_than_fit_the_others_have_their_turn_the_next_day(
    web: Web, http: Http, now: datetime
) -> None:
    repositories(web, **OLD, pushed_at=now.isoformat())
    web.rule(lambda asked: releases(release()) if asked.path.endswith("/releases") else None)
    github = source(http, web, watch=["a/a", "b/b", "c/c"], releases=2)
    first = await collect(github, now)
    assert asked_for_releases(web) == ["/repos/a/a/releases", "/repos/b/b/releases"]
    web.asked.clear()
    await collect(github, now + timedelta(days=1), last_mark(first))
    assert asked_for_releases(web)[0] == "/repos/c/c/releases"


async def test_a_watched_repository_whose_readme_did_not_fit_has_its_turn_later(web: Web, http: Http, now: datetime) -> None:
    repositories(web, **OLD)
    web.rule(lambda asked: readme("About these things.") if asked.path.endswith("/readme") else None)
    github = source(http, web, watch=["a/a", "b/b"], readmes=1)
    first = await collect(github, now)
    second = await collect(github, now + timedelta(days=1), last_mark(first))
    read = [[item.key for item in items_of(batches) if item.readme] for batches in (first, second)]
    assert read == [["github:a/a"], ["github:b/b"]]


async def test_the_repositories_of_a_watched_owner_come_with_their_releases(web: Web, http: Http, now: datetime) -> None:
    web.answer("/users/amd/repos", Answer(json.dumps([repository("amd/b", **OLD)])))
    web.answer("/repos/amd/b/releases", releases(release("rocm-6.4")))
    (item,) = items_of(await collect(source(http, web, watch=["amd"], releases=5), now))
    assert item.release is not None
    assert item.release.tag == "rocm-6.4"


@pytest.mark.parametrize("what", ["readme", "releases"])
async def test_requests_used_up_by_reading_on_cost_only_what_is_read(web: Web, http: Http, now: datetime, what: str) -> None:
    web.answer(SEARCH, found(repository("a/b"), repository("c/d")))
    web.answer(f"/repos/a/b/{what}", recorded("limit-2013")[0].answer())
    batches = await collect(source(http, web, searches=["x"], **ALLOWED[what]), now)
    assert keys_of(batches) == ["github:a/b", "github:c/d"]
    assert [asked.path for asked in web.asked] == [SEARCH, f"/repos/a/b/{what}", SEARCH]
    assert json.loads(last_mark(batches))["releases"] == {}


@pytest.mark.parametrize("what", ["readme", "releases"])
async def test_a_secondary_limit_met_when_reading_on_ends_the_collection_after_the_items(
    web: Web, http: Http, now: datetime, what: str
) -> None:
    web.answer(SEARCH, found(repository("a/b")))
    web.answer(f"/repos/a/b/{what}", recorded("secondary-limits")[2].answer())
    batches, failure = await collect_until_failure(source(http, web, searches=["x"], **ALLOWED[what]), now)
    assert keys_of(batches) == ["github:a/b"]
    assert "secondary rate limit" in str(failure)


async def test_releases_wait_where_the_hours_requests_are_needed_for_watched_names(
    web: Web, http: Http, now: datetime
) -> None:
    few = {"X-RateLimit-Remaining": str(SPARE - 1)}
    web.answer("/repos/a/b", Answer(json.dumps(repository("a/b")), headers=few))
    assert keys_of(await collect(source(http, web, watch=["a/b"], releases=5), now)) == ["github:a/b"]
    assert asked_for_releases(web) == []


async def test_a_watermark_of_before_releases_were_read_is_read_on(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(repository("a/b")))
    web.answer("/repos/a/b/releases", releases(release()))
    before = json.dumps({"searches": {"x": now.astimezone(UTC).isoformat()}, "readmes": {"github:a/b": str(now.date())}})
    (item,) = items_of(await collect(source(http, web, searches=["x"], readmes=5, releases=5), now, before))
    assert item.release is not None


async def test_what_was_read_stays_with_the_stored_item_through_later_listings(web: Web, http: Http, now: datetime) -> None:
    stars = [10, 11, 12]  # one a collection
    web.rule(lambda asked: found(repository("a/b", stargazers_count=stars[0])) if asked.path == SEARCH else None)
    web.answer("/repos/a/b/readme", readme("About these things."))
    web.answer("/repos/a/b/releases", releases(release("v1")))
    store = MemoryStore()
    collector, github = Collector(store, AUTHORITY), source(http, web, searches=["x"], readmes=5, releases=5)
    for hours in range(3):
        await collector.collect([github], now + timedelta(hours=hours))
        stars[:1] = []
    item = (await store.items.find(["github:a/b"]))["github:a/b"]
    assert item.release is not None
    assert (item.release.tag, item.releases_read, item.readme) == ("v1", now, "About these things.")
    assert item.stars == 12
    assert len(asked_for_releases(web)) == 1
    await store.close()
