"""arXiv as a Source: one feed a day, what was missed, and all the ways in which arXiv does not answer."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.http.client import Http
from bot.models import Batch, SourceState
from bot.sources.arxiv.calendar import EASTERN
from bot.sources.arxiv.source import ArxivSource, fingerprint
from tests.bot.sources.arxiv.answers import feed, recorded, records
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
    mark,
    notes,
    one_paper_a_day,
    paths,
    reached,
    serve,
)
from tests.fakes.web import Answer, Asked, Web


@pytest.fixture
def source(web: Web, http: Http) -> ArxivSource:
    return make(web, http)


# --- a normal day --------------------------------------------------------------------------------------------------


async def test_a_normal_day_is_one_request_for_all_categories(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    batches = await collect(source, now, TUESDAY)
    assert paths(web) == ["/atom/cs.AI+cs.CL"]
    assert keys(batches) == ["arxiv:2603.30001", "arxiv:2603.20001"]
    assert reached(batches) == TODAY
    assert notes(batches) == ""
    assert not any(batch.partial for batch in batches)


async def test_replacements_come_when_they_are_asked_for(web: Web, http: Http, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    source = make(web, http, kinds=("new", "replace"))
    batches = await collect(source, now, TUESDAY)
    assert [item.announce for batch in batches for item in batch.items] == ["new", "replace"]
    assert batches[0].items[1].version == 3


async def test_a_day_that_was_read_is_not_asked_for_again(web: Web, source: ArxivSource, now: datetime) -> None:
    batches = await collect(source, now, TODAY)
    assert paths(web) == []
    assert notes(batches) == "nothing new since the announcement for Wednesday, 1 April"
    assert reached(batches) == ""


async def test_a_watermark_of_a_clock_that_ran_ahead_hides_no_days(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    batches = await collect(source, now, "2026-12-31")
    assert len(keys(batches)) == 2
    assert reached(batches) == TODAY


async def test_the_first_collection_reads_the_feed_and_nothing_else(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    batches = await collect(source, now)
    assert paths(web) == ["/atom/cs.AI+cs.CL"]
    assert reached(batches) == TODAY


async def test_other_categories_read_the_same_day_again(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    watermark = mark(TODAY, source).replace(fingerprint(("cs.AI", "cs.CL")), fingerprint(("cs.AI",)))
    state = SourceState(name="arxiv", watermark=watermark)
    batches = [batch async for batch in source.collect(state, now)]
    assert len(keys(batches)) == 2
    assert reached(batches) == TODAY


async def test_yesterdays_feed_early_in_the_morning_is_no_news(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TUESDAY, NEW))
    batches = await collect(source, now, TUESDAY)
    assert keys(batches) == []
    assert reached(batches) == TUESDAY
    assert notes(batches) == "the announcement for Wednesday, 1 April is not out yet"


async def test_a_lost_watermark_is_said_and_starts_anew(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    batches = [batch async for batch in source.collect(SourceState(name="arxiv", watermark="{broken"), now)]
    assert "forgotten" in notes(batches)
    assert reached(batches) == TODAY


async def test_a_feed_from_the_future_does_not_move_the_watermark_there(
    web: Web, source: ArxivSource, now: datetime
) -> None:
    serve(web, feed=feed("2027-04-01", NEW))
    by_window(one_paper_a_day, web)
    batches = await collect(source, now, TUESDAY)
    assert reached(batches) == TODAY
    assert any(batch.partial for batch in batches)
    assert "does not say of which day" in notes(batches)


# --- weekends and holidays -----------------------------------------------------------------------------------------


async def test_the_weekend_is_quiet_and_says_so(web: Web, source: ArxivSource) -> None:
    saturday = datetime(2026, 4, 4, 12, tzinfo=UTC)
    batches = await collect(source, saturday, "2026-04-03")
    assert notes(batches) == "arXiv announces nothing on Saturday and Sunday"
    assert paths(web) == []


async def test_friday_missed_is_read_on_saturday_from_the_api(web: Web, source: ArxivSource) -> None:
    serve(web, feed=feed("2026-04-04", []))
    by_window(one_paper_a_day, web)
    batches = await collect(source, datetime(2026, 4, 4, 12, tzinfo=UTC), "2026-04-02")
    assert keys(batches) == ["arxiv:2603.04020"]
    assert reached(batches) == "2026-04-03"
    assert "caught up on 1 day" in notes(batches)


async def test_a_first_collection_on_a_weekend_still_brings_papers(web: Web, source: ArxivSource) -> None:
    serve(web, feed=feed("2026-04-04", []))
    by_window(one_paper_a_day, web)
    batches = await collect(source, datetime(2026, 4, 4, 12, tzinfo=UTC))
    assert len(keys(batches)) == 1
    assert reached(batches) == "2026-04-03"


async def test_an_empty_feed_after_a_holidays_evening_is_known_to_be_right(web: Web, source: ArxivSource) -> None:
    serve(web, feed=feed("2026-06-19", [], made="2026-06-19T04:10:00+00:00"))
    source._holidays = frozenset({date(2026, 6, 18)})
    batches = await collect(source, datetime(2026, 6, 19, 12, tzinfo=UTC), "2026-06-18")
    assert notes(batches) == "arXiv announced nothing for Friday, 19 June (holiday)"
    assert reached(batches) == "2026-06-19"
    assert not any(batch.partial for batch in batches)


async def test_an_empty_feed_on_a_weekday_moves_nothing(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, []))
    batches = await collect(source, now, TUESDAY)
    assert batches[-1].partial
    assert reached(batches) in ("", TUESDAY)
    assert notes(batches) == "arXiv's feed of Wednesday, 1 April is empty so far"


# --- missed days ---------------------------------------------------------------------------------------------------


async def test_missed_days_are_caught_up_on_after_todays_feed(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    by_window(one_paper_a_day, web)
    batches = await collect(source, now, "2026-03-26")
    assert paths(web) == ["/atom/cs.AI+cs.CL", "/api", "/api", "/api"]
    assert keys(batches)[:2] == ["arxiv:2603.30001", "arxiv:2603.20001"]
    assert keys(batches)[2:] == ["arxiv:2603.03260", "arxiv:2603.03270", "arxiv:2603.03300"]
    assert reached(batches) == TODAY
    assert "caught up on 3 days" in notes(batches)


async def test_the_watermark_stays_behind_what_could_not_be_read(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), oai=LIMIT)
    left = [True, True, False]
    by_window(one_paper_a_day, web)
    web.rule(lambda asked: LIMIT if asked.path == "/api" and not left.pop(0) else None)
    batches, error = await collect_until_error(source, now, "2026-03-26")
    assert keys(batches)[:2] == ["arxiv:2603.30001", "arxiv:2603.20001"]
    assert reached(batches) == "2026-03-30"
    assert "overloaded" in str(error)


async def test_oai_takes_over_where_the_api_stops(
    web: Web, source: ArxivSource, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    serve(web, feed=feed(TODAY, NEW), api=LIMIT, oai=records([("2603.30005", "2026-03-30"), ("2401.00001", "2024-01-02")]))
    batches = await collect(source, now, "2026-03-30")
    assert keys(batches)[2:] == ["arxiv:2603.30005", "arxiv:2603.30005"]  # once for each category's set
    assert reached(batches) == TODAY
    assert "another of its services" in notes(batches)
    assert "overloaded" in caplog.text


async def test_a_long_gap_is_read_from_oai(web: Web, source: ArxivSource, now: datetime) -> None:
    parts = [records([("2602.10001", "2026-02-10")], "token-1"), records([("2603.30005", "2026-03-30")])]
    serve(web, feed=feed(TODAY, NEW))
    web.rule(lambda asked: Answer(parts["resumptionToken" in asked.query]) if asked.path == "/oai" else None)
    batches = await collect(source, now, "2026-02-06")
    asked = [dict(each.query) for each in web.asked if each.path == "/oai"]
    assert asked[0] == {"verb": "ListRecords", "metadataPrefix": "arXiv", "set": "cs:cs:AI", "from": "2026-02-08"}
    assert asked[1] == {"verb": "ListRecords", "resumptionToken": "token-1"}
    assert [each["set"] for each in asked if "set" in each] == ["cs:cs:AI", "cs:cs:CL"]
    assert set(keys(batches)) == {"arxiv:2603.30001", "arxiv:2603.20001", "arxiv:2602.10001", "arxiv:2603.30005"}
    assert reached(batches) == TODAY


async def test_an_expired_token_falls_back_to_the_api(
    web: Web, source: ArxivSource, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    parts = [records([("2602.10001", "2026-02-10")], "token-1"), records([], error="badResumptionToken")]
    serve(web, feed=feed(TODAY, NEW))
    web.rule(lambda asked: Answer(parts["resumptionToken" in asked.query]) if asked.path == "/oai" else None)
    by_window(one_paper_a_day, web)
    batches = await collect(source, now, "2026-02-06")
    assert reached(batches) == TODAY
    assert "another of its services" in notes(batches)
    assert "forgot where it was" in caplog.text


async def test_a_backfill_goes_back_as_far_as_it_is_told(web: Web, http: Http, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    by_window(one_paper_a_day, web)
    batches = await collect(make(web, http, backfill_days=7), now)
    assert paths(web).count("/api") == 4
    assert "went back 4 days" in notes(batches)
    assert reached(batches) == TODAY


async def test_a_gap_of_years_is_cut_to_one_and_said(web: Web, source: ArxivSource, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), oai=records([]))
    batches = await collect(source, now, "2020-01-06")
    assert "were left out" in notes(batches)
    assert reached(batches) == TODAY


# --- a feed that is full -------------------------------------------------------------------------------------------


async def test_a_full_feed_is_asked_for_in_halves(web: Web, http: Http, now: datetime) -> None:
    full = feed(TODAY, [(f"2603.{number:05}v1", "new") for number in range(10_000, 12_000)])
    serve(web, feed=full)
    web.answer("/atom/cs.AI", Answer(feed(TODAY, [("2603.00001v1", "new"), ("2603.00002v1", "cross")])))
    web.answer("/atom/cs.CL", Answer(feed(TODAY, [("2603.00002v1", "new")])))
    batches = await collect(make(web, http), now, TUESDAY)
    assert keys(batches) == ["arxiv:2603.00001", "arxiv:2603.00002"]
    assert reached(batches) == TODAY
    assert not any(batch.partial for batch in batches)


async def test_a_single_category_that_is_full_is_partial_and_completed_by_date(web: Web, http: Http, now: datetime) -> None:
    full = feed(TODAY, [(f"2603.{number:05}v1", "new") for number in range(10_000, 12_000)])
    web.answer("/atom/cs.AI", Answer(full))
    by_window(one_paper_a_day, web)
    batches = await collect(make(web, http, categories=("cs.AI",)), now, TUESDAY)
    assert batches[0].partial
    assert "cut off at 2,000 entries" in notes(batches)
    assert len(keys(batches)) == 2_001
    assert reached(batches) == TODAY


# --- the rest ------------------------------------------------------------------------------------------------------


async def test_check_says_what_stands_in_the_feed(web: Web, source: ArxivSource, now: datetime) -> None:
    web.answer("/atom/cs.AI", Answer(feed(TODAY, NEW)))
    assert await source.check(now) == "answers; the feed of Wednesday, 1 April lists 3 entries in cs.AI"


async def test_papers_are_looked_up_in_batches_and_unknown_ones_are_absent(web: Web, source: ArxivSource) -> None:
    web.answer("/api", Answer(recorded("api-one.xml")), Answer(recorded("api-unknown-id.xml")))
    found = await source.numbered([f"1605.{number:05}" for number in range(8_386, 8_536)])
    assert list(found) == ["arxiv:1605.08386"]
    assert [asked.query["max_results"] for asked in web.asked] == ["100", "50"]


async def test_the_topics_example_papers_are_looked_up_once(web: Web, http: Http, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=recorded("api-one.xml"))
    source = make(web, http, papers=("1605.08386", "2603.99999"))

    first, *_ = batches = await collect(source, now, TUESDAY)
    again = [batch async for batch in source.collect(SourceState(name="arxiv", watermark=last_mark(batches)), now)]

    assert [item.key for item in first.items] == ["arxiv:1605.08386"]
    assert first.notes == ("arXiv does not know the example 2603.99999",)
    assert keys(again) == []
    assert sum(asked.path == "/api" for asked in web.asked) == 1


async def test_wished_papers_are_looked_up_too_and_those_that_arxiv_does_not_know_are_told_to_nobody(
    web: Web, http: Http, now: datetime
) -> None:
    serve(web, feed=feed(TODAY, NEW), api=recorded("api-one.xml"))
    wished = ["1605.08386", "2603.99999"]

    async def requested() -> list[str]:
        return wished

    source = make(web, http, requested=requested)
    first, *_ = batches = await collect(source, now, TUESDAY)
    wished.remove("1605.08386")  # it is known now
    known, asked = last_mark(batches), []
    for _ in range(2):
        again = [batch async for batch in source.collect(SourceState(name="arxiv", watermark=known), now)]
        known = last_mark([*batches, *again])
        asked.append(sum(asked.path == "/api" for asked in web.asked))

    assert [item.key for item in first.items] == ["arxiv:1605.08386"]
    assert first.notes == ()
    assert "2603.99999" in web.asked[0].query["id_list"]
    assert asked == [2, 2]


async def test_example_papers_that_cannot_be_had_now_are_tried_again(web: Web, http: Http, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW), api=LIMIT)
    source = make(web, http, papers=("1605.08386",))

    first, *rest = batches = await collect(source, now, TUESDAY)

    assert first.partial
    assert "could not be looked up" in first.notes[0]
    assert keys(rest)
    assert json.loads(last_mark(batches))["papers"] == ""


def last_mark(batches: list[Batch]) -> str:
    """The watermark after the batches."""
    return [batch.watermark for batch in batches if batch.watermark][-1]


async def test_every_day_of_a_year_is_read_once_by_a_daily_collection(web: Web, http: Http) -> None:
    def rule(asked: Asked) -> Answer | None:
        day = clock[0].astimezone(EASTERN).date()
        entries = [(f"{day:%y%m}.{day.day:05}v1", "new")] if day.weekday() < 5 else []
        return Answer(feed(day.isoformat(), entries)) if asked.path.startswith("/atom") else None

    web.rule(rule)
    source, clock, watermark = make(web, http), [datetime(2026, 1, 5, 12, tzinfo=UTC)], ""
    seen: list[str] = []
    for _ in range(365):
        async for batch in source.collect(SourceState(name="arxiv", watermark=watermark), clock[0]):
            seen += [item.key for item in batch.items]
            watermark = batch.watermark or watermark
        clock[0] += timedelta(days=1)
    assert len(seen) == len(set(seen)) == 261
    assert set(paths(web)) == {"/atom/cs.AI+cs.CL"}


# --- categories that topics need


class Wanted:
    """What topics need, as it changes."""

    def __init__(self, *categories: str) -> None:
        self.categories = categories

    async def __call__(self) -> tuple[str, ...]:
        return self.categories


async def gone_on(source: ArxivSource, now: datetime, watermark: str) -> list[Batch]:
    return [batch async for batch in source.collect(SourceState(name="arxiv", watermark=watermark), now)]


async def test_what_topics_need_comes_in_the_same_request(web: Web, http: Http, now: datetime) -> None:
    web.answer("/atom/cs.AI+cs.CL+cs.RO+stat.ML", Answer(feed(TODAY, NEW)))
    source = make(web, http, wanted=Wanted("stat.ML", "cs.RO", "cs.AI"))
    batches = await collect(source, now)
    assert paths(web) == ["/atom/cs.AI+cs.CL+cs.RO+stat.ML"]
    assert json.loads(last_mark(batches))["categories"] == "cs.AI cs.CL cs.RO stat.ML"


async def test_what_is_no_category_is_never_sent(web: Web, http: Http, now: datetime) -> None:
    serve(web, feed=feed(TODAY, NEW))
    await collect(make(web, http, wanted=Wanted("cs.XX", "../../etc", "cs.AI+cs.CL", "")), now)
    assert paths(web) == ["/atom/cs.AI+cs.CL"]


async def test_a_category_that_is_added_begins_with_the_newest_feed_and_is_no_gap(
    web: Web, http: Http, now: datetime
) -> None:
    web.answer("/atom/cs.AI+cs.CL", Answer(feed(TODAY, NEW)))
    web.answer("/atom/cs.RO", Answer(feed(TODAY, [("2603.40001v1", "new")])))
    wanted = Wanted()
    source = make(web, http, wanted=wanted)
    first = await collect(source, now, TUESDAY)
    wanted.categories = ("cs.RO",)
    added = await gone_on(source, now + timedelta(hours=1), last_mark(first))
    after = await gone_on(source, now + timedelta(hours=2), last_mark(added))

    assert paths(web) == ["/atom/cs.AI+cs.CL", "/atom/cs.RO"]  # one request, for what is new alone
    assert keys(added) == ["arxiv:2603.40001"]
    assert notes(added) == "nothing new since the announcement for Wednesday, 1 April"
    assert (keys(after), notes(after)) == ([], "nothing new since the announcement for Wednesday, 1 April")
    assert source.next_ask(SourceState(name="arxiv", watermark=last_mark(added), asked=now), now, timedelta(hours=1)) > now


async def test_a_category_that_is_added_on_a_weekend_asks_for_no_past_days(web: Web, http: Http) -> None:
    saturday = datetime(2026, 4, 4, 12, tzinfo=UTC)
    web.answer("/atom/cs.RO", Answer(feed("2026-04-04", [])))
    source = make(web, http, wanted=Wanted("cs.RO"))
    batches = await collect(source, saturday, "2026-04-03")
    assert paths(web) == ["/atom/cs.RO"]
    assert keys(batches) == []
    assert not any(batch.partial for batch in batches)
    assert await gone_on(source, saturday + timedelta(hours=1), last_mark(batches))
    assert len(web.asked) == 1


async def test_missed_days_are_caught_up_on_for_the_categories_that_were_read_before(
    web: Web, http: Http, now: datetime
) -> None:
    web.answer("/atom/cs.AI+cs.CL+cs.RO", Answer(feed(TODAY, NEW)))
    by_window(one_paper_a_day, web)
    batches = await collect(make(web, http, wanted=Wanted("cs.RO")), now, "2026-03-27")
    asked = [each.query["search_query"].partition(")")[0] for each in web.asked if each.path == "/api"]
    assert set(asked) == {"(cat:cs.AI OR cat:cs.CL"}
    assert reached(batches) == TODAY


async def test_a_category_that_nobody_needs_any_more_is_forgotten_without_a_request(
    web: Web, http: Http, now: datetime
) -> None:
    source = make(web, http, wanted=Wanted())
    watermark = json.dumps({"day": TODAY, "categories": "cs.AI cs.CL cs.RO", "papers": ""})
    batches = await gone_on(source, now, watermark)
    assert paths(web) == []
    assert json.loads(last_mark(batches))["categories"] == "cs.AI cs.CL"


async def test_an_added_category_whose_feed_does_not_answer_is_asked_for_again(web: Web, http: Http, now: datetime) -> None:
    web.answer("/atom/cs.RO", Answer(status=500))
    source = make(web, http, wanted=Wanted("cs.RO"))
    batches, _ = await collect_until_error(source, now, TODAY)
    assert batches == []


async def test_without_any_category_nothing_is_asked(web: Web, http: Http, now: datetime) -> None:
    batches = await collect(make(web, http, categories=()), now)
    assert (paths(web), keys(batches)) == ([], [])
    assert "no category is collected" in notes(batches)
