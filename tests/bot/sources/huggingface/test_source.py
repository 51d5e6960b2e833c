import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SourceChanged, SourceError, SourceUnavailable
from bot.http.client import Http
from bot.models import Batch, Kind, SourceState
from bot.settings.sources import HuggingFaceSettings
from bot.sources.huggingface.source import HuggingFaceSource, limit_wait
from tests.fakes.web import Answer, Asked, Web

ENDPOINT = "/api/daily_papers"
NEVER = SourceState(name="huggingface")


def paper(number: int = 1, **fields: object) -> dict[str, object]:
    return {
        "paper": {"id": f"2603.{number:05}", "title": f"Paper {number}", "upvotes": 3, "summary": "We show it.", **fields}
    }


def serve(web: Web, days: Mapping[str, Sequence[object]], page_size: int = 100) -> None:
    """Answer like the service: `limit` and `p` obeyed, other days empty."""

    def rule(asked: Asked) -> Answer | None:
        if asked.path != ENDPOINT:
            return None
        size = min(int(asked.query.get("limit", "50")), page_size)
        start = int(asked.query.get("p", "0")) * size
        return Answer(json.dumps(days.get(asked.query.get("date", ""), [])[start : start + size]))

    web.rule(rule)


async def collect(source: HuggingFaceSource, now: datetime, watermark: str = "") -> list[Batch]:
    return [batch async for batch in source.collect(SourceState(name="huggingface", watermark=watermark), now)]


def daily_papers(http: Http, **settings: object) -> HuggingFaceSource:
    return HuggingFaceSource(http, HuggingFaceSettings.model_validate(settings))


def days_asked(web: Web) -> list[str]:
    return list(dict.fromkeys(asked.query["date"] for asked in web.asked))


async def test_the_first_collection_reads_today_and_the_days_before_it_oldest_first(
    web: Web, http: Http, now: datetime
) -> None:
    serve(web, {"2026-03-31": [paper()]})
    batches = await collect(daily_papers(http, base_url=web.url, reread_days=2), now)
    assert days_asked(web) == ["2026-03-30", "2026-03-31", "2026-04-01"]
    assert [len(batch.items) for batch in batches] == [0, 1, 0]
    assert [batch.done for batch in batches] == [1, 2, 3]
    assert {batch.total for batch in batches} == {3}


async def test_a_backfill_goes_further_back(web: Web, http: Http, now: datetime) -> None:
    serve(web, {})
    await collect(daily_papers(http, base_url=web.url, reread_days=2, backfill_days=10), now)
    assert days_asked(web)[0] == "2026-03-22"


async def test_the_watermark_is_the_last_day_that_is_over(web: Web, http: Http, now: datetime) -> None:
    serve(web, {})
    batches = await collect(daily_papers(http, base_url=web.url, reread_days=1), now)
    assert [json.loads(batch.watermark or "") for batch in batches] == [{"day": "2026-03-31"}] * 2


async def test_no_watermark_is_set_while_only_today_was_read(web: Web, http: Http, now: datetime) -> None:
    serve(web, {})
    batches = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert [batch.watermark for batch in batches] == [None]


async def test_missed_days_are_caught_up_and_said(web: Web, http: Http, now: datetime) -> None:
    serve(web, {})
    batches = await collect(daily_papers(http, base_url=web.url, reread_days=1), now, '{"day": "2026-03-26"}')
    assert days_asked(web)[0] == "2026-03-27"
    assert "caught up on 5 days since 26 March 2026" in batches[0].notes


async def test_days_that_were_read_before_are_read_again_for_their_upvotes(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-03-29": [paper(upvotes=40)]})
    batches = await collect(daily_papers(http, base_url=web.url, reread_days=3), now, '{"day": "2026-03-31"}')
    assert days_asked(web)[0] == "2026-03-29"
    assert batches[0].items[0].upvotes == 40
    assert {batch.watermark for batch in batches} == {'{"day": "2026-03-31"}'}


async def test_a_gap_of_years_is_caught_up_for_one_and_said(web: Web, http: Http, now: datetime) -> None:
    serve(web, {})
    batches = await collect(daily_papers(http, base_url=web.url), now, '{"day": "2023-01-01"}')
    assert days_asked(web)[0] == "2025-03-31"
    assert "days before 31 March 2025 were left out" in batches[0].notes


@pytest.mark.parametrize("watermark", ["nonsense", "[]", "{}", '{"day": 5}', '{"day": "yesterday"}', "null"])
async def test_a_damaged_watermark_starts_anew_and_says_so(web: Web, http: Http, now: datetime, watermark: str) -> None:
    serve(web, {})
    batches = await collect(daily_papers(http, base_url=web.url), now, watermark)
    assert len(batches) == 4
    assert "it was forgotten how far it had been read" in batches[0].notes


async def test_a_clock_that_once_ran_ahead_hides_no_day(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-04-01": [paper()]})
    batches = await collect(daily_papers(http, base_url=web.url), now, '{"day": "2031-01-01"}')
    assert [item.key for batch in batches for item in batch.items] == ["arxiv:2603.00001"]
    assert batches[-1].watermark == '{"day": "2026-03-31"}'


async def test_weekends_and_days_without_papers_are_told_apart_once(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-03-27": [paper()]})
    source = daily_papers(http, base_url=web.url, reread_days=5)
    notes = [note for batch in await collect(source, now, '{"day": "2026-03-27"}') for note in batch.notes]
    assert notes == [
        "caught up on 4 days since 27 March 2026",
        "no papers on Saturday, 28 March (weekend)",
        "no papers on Sunday, 29 March (weekend)",
        "no papers on Monday, 30 March",
        "no papers on Tuesday, 31 March",
        "no papers yet today",
    ]
    again = [note for batch in await collect(source, now, '{"day": "2026-03-31"}') for note in batch.notes]
    assert again == ["no papers yet today"]


async def test_a_busy_day_is_read_page_by_page(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-04-01": [paper(n) for n in range(1, 231)]})
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert len({item.key for item in batch.items}) == len(batch.items) == 230
    assert [asked.query["p"] for asked in web.asked] == ["0", "1", "2"]


async def test_a_service_that_cuts_pages_to_fifty_loses_no_paper(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-04-01": [paper(n) for n in range(1, 121)]}, page_size=50)
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert len(batch.items) == 120


async def test_a_service_that_ignores_the_page_is_not_asked_for_ever(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer(json.dumps([paper(n) for n in range(1, 101)])))
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert len(batch.items) == 100
    assert len(web.asked) == 2


async def test_endless_pages_end_and_make_the_day_partial(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-04-01": [paper(n) for n in range(1, 2200)]})
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert len(batch.items) == 2000
    assert batch.partial
    assert batch.notes == ("1 April 2026 has more than 2,000 papers",)


async def test_a_refused_today_is_a_day_that_has_not_begun_there(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer('{"error":"Invalid date"}', 400))
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert batch.notes == ("no papers yet today",)


async def test_a_refused_past_day_is_a_change(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer('{"error":"Invalid date"}', 400))
    with pytest.raises(SourceChanged, match=r"refused to list 31 March 2026 \(status 400: Invalid date\)"):
        await collect(daily_papers(http, base_url=web.url, reread_days=1), now)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"RateLimit": '"api";r=0;t=55', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}, 55),
        ({"RateLimit": '"pages";r=3;t=200, "api";r=0;t=20'}, 20),
        ({"Retry-After": "31"}, 31),
        ({"RateLimit": "garbage", "Retry-After": "31"}, 31),
        ({}, None),
    ],
)
async def test_a_rate_limit_says_how_long_to_wait(
    web: Web, http: Http, now: datetime, headers: dict[str, str], wait: int | None
) -> None:
    web.answer(ENDPOINT, Answer("Too many requests", 429, headers))
    with pytest.raises(SourceUnavailable, match="allows no more requests") as caught:
        await collect(daily_papers(http, base_url=web.url), now)
    assert caught.value.retry_after == (None if wait is None else timedelta(seconds=wait))


async def test_what_was_read_before_a_failure_stays(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer(json.dumps([paper()])), Answer("", 429))
    collection = daily_papers(http, base_url=web.url).collect(NEVER, now)
    batches = [await anext(collection)]
    with pytest.raises(SourceUnavailable):
        await anext(collection)
    assert [len(batch.items) for batch in batches] == [1]
    assert batches[0].watermark == '{"day": "2026-03-29"}'


async def test_the_token_is_sent_and_never_told(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer('{"error":"Invalid credentials"}', 401))
    with pytest.raises(SourceUnavailable, match=r"refused the token \(status 401: Invalid credentials\)") as caught:
        await collect(daily_papers(http, base_url=web.url, token="hf_secret"), now)
    assert web.asked[0].headers["authorization"] == "Bearer hf_secret"
    assert "hf_secret" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b'[{"paper"',
        b"<!DOCTYPE html><html></html>",
        b"null",
        b"5",
        b'"x"',
        b"{}",
        b'{"error":"x"}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"NaN",
        b"[1, 2, 3, 4, 5]",
        b"[" + b"null," * 9 + b"null]",
    ],
)
async def test_an_answer_of_no_known_shape_is_a_change(web: Web, http: Http, now: datetime, body: bytes) -> None:
    web.answer(ENDPOINT, Answer(body))
    with pytest.raises(SourceChanged, match=r"Hugging Face"):
        await collect(daily_papers(http, base_url=web.url), now)


async def test_ten_megabytes_are_cut_off(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer(b"[" + b" " * 10 * 2**20 + b"]"))
    with pytest.raises(SourceUnavailable):
        await collect(daily_papers(http, base_url=web.url), now)


async def test_a_vanished_endpoint_is_a_change(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer("Not found", 404))
    with pytest.raises(SourceChanged, match="no Daily Papers at this address"):
        await collect(daily_papers(http, base_url=web.url), now)


async def test_the_check_names_the_newest_paper(web: Web, http: Http, now: datetime) -> None:
    web.answer(ENDPOINT, Answer(json.dumps([paper(submittedOnDailyAt="2026-03-31T10:00:00Z")])), Answer("[]"), Answer("{}"))
    source = daily_papers(http, base_url=web.url)
    assert await source.check(now) == "answers; the newest paper is of 31 March 2026"
    assert await source.check(now) == "answers, but lists no paper"
    with pytest.raises(SourceError):
        await source.check(now)


async def test_a_paper_comes_with_its_repository_where_the_stars_are_known(web: Web, http: Http, now: datetime) -> None:
    serve(web, {"2026-04-01": [paper(githubRepo="https://github.com/Some/Repo", githubStars=7)]})
    (batch,) = await collect(daily_papers(http, base_url=web.url, reread_days=0), now)
    assert [(item.kind, item.key) for item in batch.items] == [
        (Kind.PAPER, "arxiv:2603.00001"),
        (Kind.REPO, "github:some/repo"),
    ]
    assert batch.items[0].appeared == datetime.combine(date(2026, 4, 1), datetime.min.time(), UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ('"api";r=0;t=55', 55),
        ('"api"; r = 0 ; t = 55', 55),
        ('"a";r=5;t=10, "b";r=0;t=20, "c";r=0;t=15', 20),
        ('"api";r=499;t=55', None),
        ('"api";r=0', None),
        ("api;t=5", 5),
        ("", None),
        ("t=;r=,;;", None),
    ],
)
def test_the_wait_of_a_rate_limit_header_is_that_of_the_exhausted_limits(header: str, seconds: int | None) -> None:
    assert limit_wait(header) == (None if seconds is None else timedelta(seconds=seconds))


@given(st.text(alphabet='";=,rt0123 abc', max_size=80))
def test_any_rate_limit_header_is_read(header: str) -> None:
    wait = limit_wait(header)
    assert wait is None or wait >= timedelta()
