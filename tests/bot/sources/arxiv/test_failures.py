"""The ways in which arXiv does not answer, or not with what was asked for."""

from datetime import UTC, date, datetime, timedelta

import pytest

from bot.errors import SourceChanged
from bot.http.client import Http
from bot.sources.arxiv.calendar import window
from bot.sources.arxiv.source import ArxivSource
from tests.bot.sources.arxiv.answers import feed, recorded, records, results
from tests.bot.sources.arxiv.collecting import (
    LIMIT,
    NEW,
    TODAY,
    TUESDAY,
    by_window,
    collect,
    collect_until_error,
    keys,
    make,
    notes,
    one_paper_a_day,
    paths,
    reached,
    serve,
)
from tests.fakes.web import Answer, Web


@pytest.fixture
def source(web: Web, http: Http) -> ArxivSource:
    return make(web, http)


# --- the API's moods -----------------------------------------------------------------------------------------------


def many(count: int, day: str = "2026-03-30T12:00:00Z") -> list[tuple[str, str]]:
    return [(f"2603.{number:05}", day) for number in range(10_000, 10_000 + count)]


async def test_a_day_of_many_papers_is_read_in_slices(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, []))
    by_window(lambda first, last: many(1_100), web)
    batches = await collect(source, now, "2026-03-30")
    asked = [each.query["start"] for each in web.asked if each.path == "/api"]
    assert asked == ["0", "500", "1000"]
    assert len(set(keys(batches))) == 1_100
    assert reached(batches) == TUESDAY


async def test_an_empty_page_is_asked_for_again_before_it_is_believed(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    web.answer("/api", Answer(results([], 0)), Answer(results(many(3))))
    batches = await collect(source, now, "2026-03-30")
    assert len(keys(batches)) == 5
    assert reached(batches) == TODAY


async def test_an_empty_page_in_the_middle_is_never_the_end(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), oai=Answer(status=500))
    web.answer("/api", Answer(results(many(500), 800)), Answer(results([], 0)))
    batches, error = await collect_until_error(source, now, "2026-03-30")
    assert len(keys(batches)) == 502
    assert reached(batches) == ""
    assert "says 800 papers and shows 500" in str(error)


async def test_no_papers_at_all_is_believed_the_second_time_and_noted(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=results([], 0))
    batches = await collect(source, now, "2026-03-30")
    assert paths(web).count("/api") == 2
    assert any(batch.partial for batch in batches)
    assert "lists no papers for Tuesday, 31 March" in notes(batches)


async def test_a_day_without_papers_is_read_again_until_it_is_three_days_old(
    web: Web, source: ArxivSource, now: datetime
) -> None:
    serve(web, feed=feed(TODAY, NEW), api=results([], 0))
    assert reached(await collect(source, now, "2026-03-30")) == ""
    web.answer("/api", Answer(results(many(3))))
    again = await collect(source, now, "2026-03-30")
    assert (len(keys(again)), reached(again)) == (5, TODAY)
    serve(web, feed=feed(TODAY, NEW), api=results([], 0))
    assert reached(await collect(source, now, "2026-03-25")) == "2026-03-27"


async def test_when_sorting_and_dates_are_ignored_nothing_is_believed(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=recorded("api-page.xml.gz"), oai=Answer(status=500))
    batches, error = await collect_until_error(source, now, "2026-03-30")
    assert keys(batches) == ["arxiv:2603.30001", "arxiv:2603.20001"]
    assert reached(batches) == ""
    assert "ignores the dates" in str(error)


async def test_a_few_papers_of_other_days_are_left_out(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=results([*many(12), ("2001.00001", "2020-01-02T00:00:00Z")]))
    batches = await collect(source, now, "2026-03-30")
    assert "arxiv:2001.00001" not in keys(batches)
    assert len(keys(batches)) == 14


async def test_the_same_page_for_ever_ends(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=results(many(500), 1_000_000), oai=Answer(status=500))
    _, error = await collect_until_error(source, now, "2026-03-30")
    assert "again and again" in str(error)


async def test_papers_held_back_by_moderation_are_looked_for_too(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    by_window(one_paper_a_day, web)
    await collect(source, now, "2026-03-30")
    query = next(asked.query["search_query"] for asked in web.asked if asked.path == "/api")
    first, last = window(date(2026, 3, 31))
    assert query == (
        f"(cat:cs.AI OR cat:cs.CL) AND submittedDate:[{first - timedelta(days=4):%Y%m%d%H%M} TO {last:%Y%m%d%H%M}]"
    )


# --- when arXiv is down --------------------------------------------------------------------------------------------


async def test_without_the_feed_the_day_is_read_from_the_api(
    web: Web, source: ArxivSource, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    serve(web, feed=LIMIT)
    by_window(one_paper_a_day, web)
    batches = await collect(source, now, TUESDAY)
    assert keys(batches) == ["arxiv:2603.03310"]
    assert reached(batches) == TODAY
    assert notes(batches) == "arXiv's feed did not answer as it should: read by submission date instead"
    assert "overloaded" in caplog.text
    assert batches[-1].items[0].appeared == datetime(2026, 4, 1, 0, 0, tzinfo=UTC)
    assert batches[-1].items[0].announce == "new"


@pytest.mark.parametrize(
    ("failures", "minutes"), [(0, 15), (1, 30), (2, 60), (3, 120), (4, 120), (400, 120)], ids=lambda value: str(value)
)
async def test_hours_of_rate_exceeded_make_longer_and_longer_pauses(
    web: Web, source: ArxivSource, now: datetime, failures: int, minutes: int
) -> None:
    serve(web, feed=LIMIT, api=LIMIT, oai=LIMIT)
    batches, error = await collect_until_error(source, now, TUESDAY, failures)
    assert error.retry_after == timedelta(minutes=minutes)
    assert reached(batches) == ""
    assert paths(web) == ["/atom/cs.AI+cs.CL", "/api", "/oai"]


async def test_rate_exceeded_counts_under_any_status(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=b"Rate exceeded.", api=b"Rate exceeded.\n", oai=LIMIT)
    _, error = await collect_until_error(source, now, TUESDAY)
    assert error.retry_after == timedelta(minutes=15)


async def test_a_retry_after_of_oai_is_kept(web: Web, source: ArxivSource, now: datetime) -> None:
    busy = Answer(status=503, headers={"Retry-After": "600"})
    serve(web, feed=busy, api=busy, oai=busy)
    _, error = await collect_until_error(source, now, TUESDAY)
    assert error.retry_after == timedelta(minutes=10)


async def test_web_pages_everywhere_mean_that_arxiv_changed(web: Web, source: ArxivSource, now: datetime) -> None:
    page = b"<!DOCTYPE html><html><body>Hello</body></html>"
    serve(web, feed=page, api=page, oai=page)
    with pytest.raises(SourceChanged, match="web page"):
        await collect(source, now, TUESDAY)


async def test_a_category_that_arxiv_does_not_know_is_named_by_its_api(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(
        web, feed=Answer(status=400), api=Answer(recorded("api-error.xml"), status=400), oai=records([], error="badArgument")
    )
    with pytest.raises(SourceChanged, match="incorrect id format"):
        await collect(source, now, TUESDAY)


async def test_a_connection_that_breaks_is_a_source_unavailable(web: Web, source: ArxivSource, now: datetime) -> None:
    broken = Answer(reset=True)
    serve(web, feed=broken, api=broken, oai=broken)
    _, error = await collect_until_error(source, now, TUESDAY)
    assert str(error)
