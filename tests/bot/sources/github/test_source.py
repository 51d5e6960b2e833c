import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import pytest

from bot.errors import SourceChanged, SourceUnavailable, UsageError
from bot.http.client import Http
from bot.sources.github.collection import SEARCHES
from tests.bot.sources.github.collecting import (
    SEARCH,
    collect,
    collect_until_failure,
    found,
    items_of,
    keys_of,
    last_mark,
    notes_of,
    source,
)
from tests.bot.sources.replay import recorded, repository
from tests.fakes.web import Answer, Asked, Web

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


def requesting(*searches: str) -> Callable[[], Awaitable[Sequence[str]]]:
    async def requested() -> Sequence[str]:
        return searches

    return requested


async def test_what_topics_request_is_searched_for_too_and_asked_for_at_each_collection(
    web: Web, http: Http, now: datetime
) -> None:
    web.rule(lambda asked: found(repository(f"some/{asked.query['q'].split()[0]}")))
    wished = ["one"]

    async def requested() -> Sequence[str]:
        return wished

    github = source(http, web, searches=["ours"], requested=requested)
    first = await collect(github, now)
    wished[:] = ["two", "ours"]
    second = await collect(github, now + timedelta(hours=1), last_mark(first))

    assert sorted(keys_of(first)) == ["github:some/one", "github:some/ours"]
    assert sorted(keys_of(second)) == ["github:some/ours", "github:some/two"]
    assert sorted(json.loads(last_mark(second))["searches"]) == ["ours", "two"]


async def test_a_bad_wish_stops_no_other_and_nobody_elses_footer_tells_of_it(
    web: Web, http: Http, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    def rule(asked: Asked) -> Answer | None:
        secret = asked.query["q"].startswith("secret")
        return recorded("invalid")[0].answer() if secret else found(repository(), total_count=5000)

    web.rule(rule)
    requested = requesting("strs:>5", "", "x" * 300, "secret plans", "good")
    batches = await collect(source(http, web, requested=requested), now)

    assert keys_of(batches) == ["github:some/repo"]
    assert notes_of(batches) == []
    assert not any(batch.partial for batch in batches)
    assert sum("a topic's search was left out" in record.getMessage() for record in caplog.records) == 4
    assert sorted(json.loads(last_mark(batches))["searches"]) == ["good", "secret plans"]


async def test_of_more_searches_than_fit_the_others_come_first_the_next_time(web: Web, http: Http, now: datetime) -> None:
    web.answer(SEARCH, found())
    github = source(http, web, requested=requesting(*(f"t{number} pushed:>2020-01-01" for number in range(SEARCHES + 20))))

    first = await collect(github, now)
    assert len(web.asked) == SEARCHES
    before = {asked.query["q"] for asked in web.asked}
    web.asked.clear()
    await collect(github, now + timedelta(hours=1), last_mark(first))

    assert len({asked.query["q"] for asked in web.asked[:20]} - before) == 20


async def test_a_repository_and_an_owner_that_topics_follow_are_watched_and_nobody_elses_footer_tells_of_them(
    web: Web, http: Http, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    web.answer("/repos/lab/tool", Answer(json.dumps(repository("Lab/tool", stargazers_count=3))))
    web.answer("/repos/lab/gone", Answer("{}", 404))
    web.answer("/users/lab/repos", Answer(json.dumps([repository("lab/new", pushed_at=now.isoformat())])))
    requested = requesting(
        "repo:Lab/tool", "repo:lab/gone", "user:lab", "repo:lab/tool", "repo:lab", "user:a/b", "user:lab x"
    )
    web.rule(lambda asked: found() if asked.path == SEARCH else None)
    batches = await collect(source(http, web, requested=requested, min_stars=10), now)

    assert "github:lab/tool" in keys_of(batches), "whatever its stars"
    assert "github:lab/new" in keys_of(batches)
    assert notes_of(batches) == []
    assert not any(batch.partial for batch in batches)
    assert "lab/gone is not there any more" in caplog.text
    mark = json.loads(last_mark(batches))
    assert sorted(mark["watched"]) == ["lab", "lab/gone", "lab/tool"]
    assert sorted(mark["searches"]) == ["repo:lab", "user:a/b", "user:lab x"]


async def test_what_the_settings_watch_is_told_of_although_a_topic_follows_it(web: Web, http: Http, now: datetime) -> None:
    web.answer("/repos/lab/gone", Answer("{}", 404))
    batches = await collect(source(http, web, watch=["lab/gone"], requested=requesting("repo:Lab/Gone")), now)
    assert notes_of(batches) == ["lab/gone is not there any more, or never was"]
