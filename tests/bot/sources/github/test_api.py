from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.errors import SourceUnavailable
from bot.http.client import Http, Politeness
from bot.sources.github.api import Exhausted, GitHubApi, message_of
from tests.bot.sources.replay import Recorded, recorded
from tests.fakes.web import Answer, Web

DATE = "Tue, 14 Nov 2023 22:13:20 GMT"  # 1,700,000,000 seconds after the epoch


@pytest.fixture
async def http(web: Web) -> AsyncIterator[Http]:
    quick = Politeness(seconds_between=0, connections=1, retries=2)
    client = Http(
        user_agent="Broadsheet/test", timeout=60, politeness={web.url.removeprefix("http://"): quick}, sleep=no_sleep
    )
    yield client
    await client.close()


async def no_sleep(seconds: float) -> None:
    """Never waits."""


def api(http: Http, web: Web, token: str = "") -> GitHubApi:
    return GitHubApi(http, web.url + "/", token, no_sleep)


async def test_a_request_names_the_version_the_token_and_the_etag(web: Web, http: Http) -> None:
    web.answer("/x", Answer("{}"))
    await api(http, web, "ghp_secret").get("/x", (("a", "b c"),), etag='W/"1"')
    headers = web.asked[0].headers
    assert web.asked[0].query == {"a": "b c"}
    assert headers["authorization"] == "Bearer ghp_secret"
    assert headers["if-none-match"] == 'W/"1"'
    assert headers["accept"] == "application/vnd.github+json"
    assert headers["x-github-api-version"] == "2022-11-28"


async def test_a_refused_token_is_said_without_the_token(web: Web, http: Http) -> None:
    web.answer("/x", recorded("bad-credentials")[0].answer())
    with pytest.raises(SourceUnavailable, match=r"^GitHub refused the token: Bad credentials$") as caught:
        await api(http, web, "ghp_secret").get("/x")
    assert "ghp_secret" not in str(caught.value)


@pytest.mark.parametrize("status", [304, 404, 409, 410, 422, 451])
async def test_a_refusal_of_one_thing_is_handed_back(web: Web, http: Http, status: int) -> None:
    web.answer("/x", Answer("", status))
    assert (await api(http, web).get("/x")).status == status


async def test_a_blocked_repository_is_handed_back_and_is_no_limit(web: Web, http: Http) -> None:
    web.answer("/x", Answer('{"message":"Repository access blocked"}', 403, {"x-ratelimit-remaining": "40"}))
    response = await api(http, web).get("/x")
    assert (response.status, message_of(response)) == (403, "Repository access blocked")


async def test_the_hours_requests_used_up_are_told_apart_by_the_reset_and_the_servers_own_clock(
    web: Web, http: Http
) -> None:
    web.answer("/x", recorded("limit-2013")[0].answer(x_ratelimit_reset="1700000600", date=DATE))
    with pytest.raises(Exhausted) as caught:
        await api(http, web).get("/x")
    assert caught.value.retry_after == timedelta(seconds=601)


@pytest.mark.parametrize("reset", ["", "soon", "99999999999999999999", "-5"])
async def test_a_limit_whose_end_is_not_told_lasts_an_hour_at_most(web: Web, http: Http, reset: str) -> None:
    web.answer("/x", recorded("limit-2013")[0].answer(x_ratelimit_reset=reset, date=DATE))
    with pytest.raises(Exhausted) as caught:
        await api(http, web).get("/x")
    assert timedelta() < (caught.value.retry_after or timedelta()) <= timedelta(hours=1)


async def test_a_limit_that_only_the_body_tells_is_known(web: Web, http: Http) -> None:
    web.answer("/x", Answer('{"message":"API Rate Limit Exceeded for 192.0.2.1"}', 403))
    with pytest.raises(Exhausted) as caught:
        await api(http, web).get("/x")
    assert caught.value.retry_after == timedelta(hours=1)


SECONDARY = recorded("secondary-limits")


@pytest.mark.parametrize(
    ("limit", "wait"),
    [(SECONDARY[0], 8), (SECONDARY[1], 60), (SECONDARY[2], 60), (recorded("limit-search")[0], 60)],
    ids=["429 with Retry-After", "403 with gh-limited-by", "403 with the body alone", "search of 2018"],
)
async def test_a_secondary_limit_is_known_with_and_without_headers(web: Web, http: Http, limit: Recorded, wait: int) -> None:
    web.answer("/x", limit.answer())
    with pytest.raises(SourceUnavailable, match="secondary rate limit") as caught:
        await api(http, web).get("/x")
    assert not isinstance(caught.value, Exhausted)
    assert caught.value.retry_after == timedelta(seconds=wait)
    assert len(web.asked) == 1


@pytest.mark.parametrize("body", ["", "<html>too many</html>", '{"message": 5}', "[" * 9000])
async def test_a_429_without_a_word_waits_a_minute(web: Web, http: Http, body: str) -> None:
    web.answer("/x", Answer(body, 429))
    with pytest.raises(SourceUnavailable) as caught:
        await api(http, web).get("/x")
    assert caught.value.retry_after == timedelta(minutes=1)


async def test_a_refused_user_agent_is_a_refusal_of_all(web: Web, http: Http) -> None:
    web.answer("/x", recorded("bad-user-agent")[0].answer())
    with pytest.raises(SourceUnavailable, match="refused the request"):
        await api(http, web).get("/x")


async def test_a_bad_gateway_is_tried_again(web: Web, http: Http) -> None:
    web.answer("/x", recorded("bad-gateway")[0].answer(), recorded("repository")[0].answer())
    assert (await api(http, web).get("/x")).status == 200
    assert len(web.asked) == 2


async def test_a_search_waits_where_its_budget_is_used_up(web: Web, http: Http) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    full = recorded("search-nothing")[0]
    empty = full.answer(x_ratelimit_remaining="0", x_ratelimit_reset="1700000030", date=DATE)
    web.answer("/search/repositories", full.answer(), empty, full.answer())
    searching = GitHubApi(http, web.url, "", sleep)
    for _ in range(4):
        await searching.search((("q", "x"),))
    assert slept == [31]


async def test_a_search_budget_that_comes_back_late_is_not_waited_for(web: Web, http: Http) -> None:
    late = recorded("search-nothing")[0].answer(x_ratelimit_remaining="0", x_ratelimit_reset="1700000900", date=DATE)
    web.answer("/search/repositories", late)
    searching = api(http, web)
    await searching.search(())
    with pytest.raises(SourceUnavailable, match="no more searches") as caught:
        await searching.search(())
    assert caught.value.retry_after == timedelta(seconds=901)


async def test_searches_used_up_are_not_the_hours_requests_used_up(web: Web, http: Http) -> None:
    body = '{"message":"API rate limit exceeded for 192.0.2.1."}'
    web.answer(
        "/search/repositories",
        Answer(body, 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000030", "Date": DATE}),
    )
    with pytest.raises(SourceUnavailable, match="no more searches") as caught:
        await api(http, web).search(())
    assert not isinstance(caught.value, Exhausted)
    assert caught.value.retry_after == timedelta(seconds=31)


async def test_the_details_of_a_refusal_are_told(web: Web, http: Http) -> None:
    web.answer("/x", recorded("invalid")[0].answer())
    assert message_of(await api(http, web).get("/x")).startswith("Validation Failed: key is invalid. It must begin")
