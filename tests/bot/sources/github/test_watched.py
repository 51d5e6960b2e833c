import json
from datetime import datetime, timedelta

import pytest

from bot.errors import SourceUnavailable
from bot.http.client import Http
from tests.bot.sources.github.collecting import (
    SEARCH,
    collect,
    collect_until_failure,
    found,
    items_of,
    keys_of,
    last_mark,
    notes_of,
    readme,
    source,
)
from tests.bot.sources.replay import recorded, repository
from tests.fakes.web import Answer, Web

# --- watched repositories and owners -------------------------------------------------------------------------------


async def test_a_watched_repository_is_read_whole_once_a_day_and_asked_for_changes_after_that(
    web: Web, http: Http, now: datetime
) -> None:
    full = recorded("repository")[0]
    web.answer("/repos/PyGithub/PyGithub", full.answer(), Answer(status=304), full.answer())
    github = source(http, web, watch=["PyGithub/PyGithub"])
    first = await collect(github, now)
    second = await collect(github, now + timedelta(hours=2), last_mark(first))
    third = await collect(github, now + timedelta(days=1), last_mark(second))
    assert [len(items_of(batches)) for batches in (first, second, third)] == [1, 0, 1]
    assert [asked.headers.get("if-none-match") for asked in web.asked] == [None, full.headers["etag"], None]
    assert notes_of(second) == []
    assert not second[0].partial


async def test_a_renamed_repository_keeps_its_old_name_as_an_alias(web: Web, http: Http, now: datetime) -> None:
    moved, there = recorded("renamed")
    web.answer(moved.path, moved.answer(location=web.url + there.path))
    web.answer(there.path, there.answer())
    (batch,) = await collect(source(http, web, watch=["protoncoin/protoncoin"]), now)
    assert batch.items[0].key == "github:padima2/protoncoin"
    assert batch.items[0].aliases == ("github:protoncoin/protoncoin",)
    assert batch.notes == ("protoncoin/protoncoin is now padima2/protoncoin",)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (recorded("not-found")[0].answer(), "a/b is not there any more, or never was"),
        (Answer("", 451), "a/b is blocked for legal reasons"),
        (Answer('{"message":"Repository access blocked"}', 403), "a/b cannot be read: Repository access blocked"),
    ],
)
async def test_a_watched_repository_that_is_gone_is_said_and_the_others_go_on(
    web: Web, http: Http, now: datetime, answer: Answer, note: str
) -> None:
    web.answer("/repos/a/b", answer)
    web.answer("/repos/c/d", Answer(json.dumps(repository("c/d", archived=True, fork=True))))
    batches = await collect(source(http, web, watch=["a/b", "c/d"]), now)
    assert keys_of(batches) == ["github:c/d"]
    assert notes_of(batches) == [note]
    assert batches[0].partial


async def test_a_private_repository_is_left_out_and_that_is_said(web: Web, http: Http, now: datetime) -> None:
    web.answer("/repos/a/b", Answer(json.dumps(repository("a/b", private=True))))
    (batch,) = await collect(source(http, web, watch=["a/b"]), now)
    assert (batch.items, batch.notes) == ((), ("a/b is private and was left out",))


async def test_a_watched_owner_shows_what_is_new_or_active(web: Web, http: Http, now: datetime) -> None:
    old = {"created_at": "2020-01-01T00:00:00Z"}
    listed = [
        repository("amd/new"),
        repository("amd/active", **old),
        repository("amd/quiet", **old, pushed_at="2025-01-01T00:00:00Z"),
        repository("amd/empty", created_at=None, pushed_at=None),
        repository("amd/fork", fork=True),
    ]
    web.answer("/users/amd/repos", Answer(json.dumps(listed), 200, {"ETag": '"1"'}))
    (batch,) = await collect(source(http, web, watch=["amd"]), now)
    assert keys_of([batch]) == ["github:amd/new", "github:amd/active"]
    assert web.asked[0].query == {"sort": "pushed", "direction": "desc", "per_page": "100"}


async def test_a_watched_owner_who_is_gone_is_said(web: Web, http: Http, now: datetime) -> None:
    web.answer("/users/amd/repos", recorded("not-found")[0].answer())
    (batch,) = await collect(source(http, web, watch=["amd"]), now)
    assert (batch.notes, batch.partial) == (("amd is not there any more, or never was",), True)


async def test_the_hours_requests_used_up_leave_the_searches_alone(web: Web, http: Http, now: datetime) -> None:
    used_up = recorded("limit-2013")[0].answer(x_ratelimit_reset="1700000600", date="Tue, 14 Nov 2023 22:13:20 GMT")
    web.answer("/repos/a/b", used_up)
    web.answer("/users/c/repos", used_up)
    web.answer(SEARCH, found(repository()))
    batches, failure = await collect_until_failure(source(http, web, watch=["a/b", "c", "e/f"], searches=["x"]), now)
    assert keys_of(batches) == ["github:some/repo"]
    assert isinstance(failure, SourceUnavailable)
    assert failure.retry_after == timedelta(seconds=601)
    assert [asked.path for asked in web.asked] == ["/repos/a/b", "/users/c/repos", SEARCH, SEARCH]


async def test_the_longest_unread_repository_comes_first(web: Web, http: Http, now: datetime) -> None:
    web.rule(lambda asked: Answer(json.dumps(repository(asked.path.removeprefix("/repos/")))))
    mark = json.dumps({"watched": {"a/a": {"day": "2026-03-31"}, "b/b": {"day": "2026-03-30"}}})
    assert keys_of(await collect(source(http, web, watch=["a/a", "b/b", "c/c"]), now, mark)) == [
        "github:c/c",
        "github:b/b",
        "github:a/a",
    ]


# --- READMEs -------------------------------------------------------------------------------------------------------


async def test_new_repositories_come_with_their_readme_the_most_starred_first_and_once(
    web: Web, http: Http, now: datetime
) -> None:
    repositories = [
        repository("a/few", stargazers_count=1),
        repository("a/many", stargazers_count=9),
        repository("a/more", stargazers_count=5),
        repository("a/old", created_at="2020-01-01T00:00:00Z", stargazers_count=99),
    ]
    web.answer(SEARCH, found(*repositories))
    for name in ("many", "more", "few"):
        web.answer(f"/repos/a/{name}/readme", readme(f"# T\n\nAbout {name} things."))
    github = source(http, web, searches=["x created:>2019-01-01"], readmes=2)
    first = await collect(github, now)
    assert {item.title: item.readme for item in items_of(first)} == {
        "a/few": "",
        "a/many": "About many things.",
        "a/more": "About more things.",
        "a/old": "",
    }
    second = await collect(github, now + timedelta(hours=1), last_mark(first))
    assert {item.title: item.readme for item in items_of(second) if item.readme} == {"a/few": "About few things."}


async def test_a_watched_repository_comes_with_its_readme_the_first_time(web: Web, http: Http, now: datetime) -> None:
    web.answer("/repos/a/b", Answer(json.dumps(repository("a/b", created_at="2015-01-01T00:00:00Z"))))
    web.answer("/repos/a/b/readme", readme("Code of https://arxiv.org/abs/2603.01234 is here."))
    (batch,) = await collect(source(http, web, watch=["a/b"], readmes=5), now)
    assert batch.items[0].readme == "Code of is here."
    assert [link.rel for link in batch.items[0].links] == ["code", "abstract"]


@pytest.mark.parametrize("answer", [Answer("", 404), Answer("not json"), Answer("[]"), Answer('{"encoding":"none"}')])
async def test_a_readme_that_cannot_be_read_costs_nothing_else(web: Web, http: Http, now: datetime, answer: Answer) -> None:
    web.answer(SEARCH, found(repository()))
    web.answer("/repos/some/repo/readme", answer)
    batches = await collect(source(http, web, searches=["x"], readmes=5), now)
    assert [item.readme for item in items_of(batches)] == [""]
    assert [asked.path for asked in web.asked].count("/repos/some/repo/readme") == 1
