import base64
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.errors import SourceChanged, SourceError, SourceUnavailable, UsageError
from bot.http import Http, Politeness
from bot.models import Batch, Item, SourceState
from bot.sources.github import GitHubSource
from tests.bot.sources.replay import recorded, repository
from tests.fakes.web import Answer, Asked, Web

SEARCH = "/search/repositories"


@pytest.fixture
async def http(web: Web) -> AsyncIterator[Http]:
    quick = Politeness(seconds_between=0, connections=1, retries=0)
    client = Http(user_agent="Broadsheet/test", timeout=5, politeness={web.url.removeprefix("http://"): quick})
    yield client
    await client.close()


def source(http: Http, web: Web, **options: Any) -> GitHubSource:
    async def sleep(seconds: float) -> None:
        """Never waits."""

    return GitHubSource(http, base_url=web.url, sleep=sleep, **{"readmes": 0, **options})


async def collect(github: GitHubSource, now: datetime, watermark: str = "") -> list[Batch]:
    return [batch async for batch in github.collect(SourceState(name="github", watermark=watermark), now)]


async def collect_until_failure(github: GitHubSource, now: datetime, watermark: str = "") -> tuple[list[Batch], SourceError]:
    batches: list[Batch] = []
    with pytest.raises(SourceError) as caught:  # noqa: PT012 (what came before the failure is wanted too)
        async for batch in github.collect(SourceState(name="github", watermark=watermark), now):
            batches.append(batch)
    return batches, caught.value


def items_of(batches: Sequence[Batch]) -> list[Item]:
    return [item for batch in batches for item in batch.items]


def keys_of(batches: Sequence[Batch]) -> list[str]:
    return [item.key for item in items_of(batches)]


def notes_of(batches: Sequence[Batch]) -> list[str]:
    return [note for batch in batches for note in batch.notes]


def last_mark(batches: Sequence[Batch]) -> str:
    return next(batch.watermark for batch in reversed(batches) if batch.watermark is not None)


def found(*repositories: dict[str, Any], **fields: object) -> Answer:
    return Answer(
        json.dumps({"total_count": len(repositories), "incomplete_results": False, "items": repositories, **fields})
    )


def readme(text: str) -> Answer:
    return Answer(
        json.dumps({"encoding": "base64", "content": base64.encodebytes(text.encode()).decode(), "name": "README.md"})
    )


# --- searches ------------------------------------------------------------------------------------------------------


async def test_new_and_active_repositories_are_searched_for(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(repository("a/new")), found(repository("a/new"), repository("b/active")))
    batches = await collect(source(http, web, searches=["topic:cuda"], min_stars=3), now)
    assert keys_of(batches) == ["github:a/new", "github:b/active"]
    assert [asked.query["q"] for asked in web.asked] == [
        "topic:cuda archived:false stars:>=3 created:>=2026-03-02",
        "topic:cuda archived:false stars:>=3 pushed:>=2026-03-25",
    ]
    assert {(asked.query["sort"], asked.query["order"], asked.query["per_page"]) for asked in web.asked} == {
        ("stars", "desc", "100")
    }


async def test_the_next_collection_asks_for_what_was_active_since(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    github = source(http, web, searches=["cuda"])
    mark = last_mark(await collect(github, now))
    await collect(github, now + timedelta(hours=1), mark)
    assert web.asked[-1].query["q"] == "cuda archived:false pushed:>=2026-03-31"


async def test_a_gap_is_caught_up_for_new_repositories_too(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    github = source(http, web, searches=["cuda"])
    await collect(github, now, json.dumps({"searches": {"cuda": "2026-01-10T07:00:00Z"}}))
    assert [asked.query["q"].split()[-1] for asked in web.asked] == ["created:>=2026-01-09", "pushed:>=2026-01-09"]


async def test_recorded_pages_are_read_one_after_the_other(web: Web, http: Http, now: datetime) -> None:
    pages = recorded("search")
    whole = [repo for page in pages for repo in page.json()["items"]] * 2
    renamed = [{**repo, "full_name": f"{repo['full_name']}-{number}"} for number, repo in enumerate(whole)]

    def rule(asked: Asked) -> Answer | None:
        start = (int(asked.query["page"]) - 1) * 100
        return found(*renamed[start : start + 100], total_count=len(renamed))

    web.rule(rule)
    batches = await collect(source(http, web, searches=["github created:>2009-01-01"]), now)
    assert len(items_of(batches)) == len(renamed) == 120
    assert [asked.query["page"] for asked in web.asked] == ["1", "2"]
    assert notes_of(batches) == []


async def test_more_than_is_read_is_said(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(*(repository(f"a/r{n}") for n in range(100)), total_count=2345))
    batches = await collect(source(http, web, searches=["x pushed:>2026-01-01"], pages=1), now)
    assert notes_of(batches) == ["'x pushed:>2026-01-01' matches 2,345 repositories, the 100 with the most stars were read"]
    assert not any(batch.partial for batch in batches)


async def test_an_incomplete_answer_makes_the_collection_partial(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(repository(), incomplete_results=True))
    batches = await collect(source(http, web, searches=["x pushed:>2026-01-01"]), now)
    assert keys_of(batches) == ["github:some/repo"]
    assert any(batch.partial for batch in batches)
    assert "ran out of time searching for 'x pushed:>2026-01-01'" in notes_of(batches)[0]


async def test_archived_forked_and_unpopular_repositories_are_left_out(web: Web, http: Http, now: datetime) -> None:
    web.answer(
        SEARCH,
        found(
            repository("a/old", archived=True),
            repository("a/fork", fork=True),
            repository("a/few", stargazers_count=4),
            repository("a/unknown", stargazers_count=None),
            repository("a/private", private=True),
            repository("a/good"),
        ),
    )
    assert keys_of(await collect(source(http, web, searches=["x"], min_stars=5), now)) == [
        "github:a/unknown",
        "github:a/good",
    ]
    everything = source(http, web, searches=["x"], archived=True, forks=True)
    assert len(keys_of(await collect(everything, now))) == 5


async def test_a_search_that_github_does_not_take_is_named_and_the_others_go_on(web: Web, http: Http, now: datetime) -> None:
    def rule(asked: Asked) -> Answer | None:
        return recorded("invalid")[0].answer() if asked.query["q"].startswith("bad") else found(repository())

    web.rule(rule)
    batches = await collect(source(http, web, searches=["bad", "good"]), now)
    assert keys_of(batches) == ["github:some/repo"]
    assert notes_of(batches)[0].startswith("GitHub cannot search for 'bad': Validation Failed")
    assert batches[0].partial
    assert list(json.loads(last_mark(batches))["searches"]) == ["good"]


async def test_what_was_read_before_a_limit_stays_and_the_next_collection_goes_on_there(
    web: Web, http: Http, now: datetime
) -> None:
    limit = recorded("secondary-limits")[0].answer()
    web.answer(SEARCH, found(repository("a/one")), found(), found(repository("b/two")), limit)
    github = source(http, web, searches=["one", "two"])
    batches, failure = await collect_until_failure(github, now)
    assert keys_of(batches) == ["github:a/one", "github:b/two"]
    assert isinstance(failure, SourceUnavailable)
    assert failure.retry_after == timedelta(seconds=8)
    assert list(json.loads(last_mark(batches))["searches"]) == ["one"]
    web.answer(SEARCH, found())
    web.asked.clear()
    await collect(github, now + timedelta(hours=1), last_mark(batches))
    assert [asked.query["q"].split()[0] for asked in web.asked] == ["two", "two", "one", "one"]


@pytest.mark.parametrize(
    "body", ["", "<html></html>", "null", "[]", "{}", '{"items": 5}', '{"items":[', "[" * 50_000, "NaN", "1e999"]
)
async def test_an_answer_of_no_known_shape_is_a_change(web: Web, http: Http, now: datetime, body: str) -> None:
    web.answer(SEARCH, Answer(body))
    with pytest.raises(SourceChanged, match="GitHub"):
        await collect(source(http, web, searches=["x"]), now)


async def test_ten_megabytes_are_cut_off(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, Answer(b" " * 10 * 2**20))
    with pytest.raises(SourceUnavailable):
        await collect(source(http, web, searches=["x"]), now)


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


async def test_requests_used_up_by_readmes_cost_only_the_readmes(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found(repository("a/b"), repository("c/d")))
    web.answer("/repos/a/b/readme", recorded("limit-2013")[0].answer())
    batches = await collect(source(http, web, searches=["x"], readmes=5), now)
    assert keys_of(batches) == ["github:a/b", "github:c/d"]
    assert [asked.path for asked in web.asked] == [SEARCH, "/repos/a/b/readme", SEARCH]


async def test_a_secondary_limit_met_at_a_readme_ends_the_collection_after_the_items(
    web: Web, http: Http, now: datetime
) -> None:
    web.answer(SEARCH, found(repository("a/b")))
    web.answer("/repos/a/b/readme", recorded("secondary-limits")[2].answer())
    batches, failure = await collect_until_failure(source(http, web, searches=["x"], readmes=5), now)
    assert keys_of(batches) == ["github:a/b"]
    assert "secondary rate limit" in str(failure)


# --- the source itself ---------------------------------------------------------------------------------------------


async def test_nothing_to_do_asks_nothing(web: Web, http: Http, now: datetime) -> None:
    assert await collect(source(http, web), now) == []
    assert web.asked == []


@pytest.mark.parametrize("watermark", ["x", "[]", '{"searches": 5}', '{"watched": {"a/b": 1}}'])
async def test_a_damaged_watermark_starts_anew_and_says_so(web: Web, http: Http, now: datetime, watermark: str) -> None:
    web.answer(SEARCH, found())
    assert "it was forgotten how far it had been read" in notes_of(
        await collect(source(http, web, searches=["x"]), now, watermark)
    )


async def test_a_clock_that_once_ran_ahead_hides_nothing(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    await collect(source(http, web, searches=["x"]), now, json.dumps({"searches": {"x": "2031-01-01T00:00:00Z"}}))
    assert web.asked[-1].query["q"].endswith("pushed:>=2026-04-01")


async def test_what_is_no_longer_searched_or_watched_is_forgotten(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    mark = {
        "searches": {"y": "2026-03-01T00:00:00Z"},
        "watched": {"a/b": {"day": "2026-03-01"}},
        "readmes": {"k": "2025-01-01"},
    }
    left = json.loads(last_mark(await collect(source(http, web, searches=["x"]), now, json.dumps(mark))))
    assert (list(left["searches"]), left["watched"], left["readmes"]) == (["x"], {}, {})


async def test_progress_counts_searches_and_watched_names(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    web.answer("/repos/a/b", Answer("", 404))
    batches = await collect(source(http, web, searches=["x"], watch=["a/b"]), now)
    assert [(batch.done, batch.total) for batch in batches] == [(1, 2), (1, 2), (1, 2), (2, 2)]


async def test_the_check_says_what_is_left(web: Web, http: Http, now: datetime) -> None:
    web.answer("/rate_limit", recorded("limits")[0].answer(), Answer("", 404), Answer("{}"))
    github = source(http, web, token="t")
    assert await github.check(now) == "answers with the token; 4,904 of 5,000 requests are left this hour"
    assert await github.check(now) == "answers with the token"
    assert await github.check(now) == "answers with the token"


async def test_the_check_says_that_the_token_is_refused(web: Web, http: Http, now: datetime) -> None:
    web.answer("/rate_limit", recorded("bad-credentials")[0].answer())
    with pytest.raises(SourceUnavailable, match="refused the token: Bad credentials"):
        await source(http, web, token="t").check(now)


async def test_watched_names_may_be_addresses_and_are_watched_once(web: Web, http: Http, now: datetime) -> None:
    web.rule(lambda asked: Answer(json.dumps(repository(asked.path.removeprefix("/repos/")))))
    names = ["https://github.com/a/b", "a/B", "https://github.com/a/b.git", " a/b/ "]
    assert keys_of(await collect(source(http, web, watch=names), now)) == ["github:a/b"]


@pytest.mark.parametrize("name", ["", "a b", "a/b/c", "-a", "https://gitlab.com/a/b", "a/..", "../x", "a/b?x=1"])
async def test_a_name_that_is_none_is_refused(web: Web, http: Http, name: str) -> None:
    with pytest.raises(UsageError, match="is no GitHub owner or repository"):
        source(http, web, watch=[name])


async def test_a_search_that_github_would_not_take_is_refused_at_once(web: Web, http: Http) -> None:
    with pytest.raises(UsageError, match="langauge"):
        source(http, web, searches=["langauge:c"])
