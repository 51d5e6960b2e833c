import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.handlers.trends.charts import MonthCount, Sides, Subject, stars_chart, terms_chart, volume_chart
from bot.models import MOST_ALT, Change, ChartKind, Item, Kind, Reading, Topic
from bot.query import parse
from bot.rank.trends import RisingTerm
from tests.bot.handlers.askers import PAPERS, Asker, about, button, said
from tests.conftest import tries

WEEK = timedelta(weeks=1)


async def collected(ada: Asker) -> None:
    """A hundred papers of seven months, the newest of which say something that none did before."""
    papers = [
        about(
            100 + at,
            f"{'Speculative decoding' if at < 25 else 'A way'} to cache {at}",
            published=ada.now - at * timedelta(days=1) - timedelta(hours=1),
            sources=("arxiv", "feed:lab") if at % 2 else ("arxiv",),
        )
        for at in range(190)
    ]
    await ada.context.store.items.add(papers, ada.now)


async def test_a_topic_is_shown_by_month_and_by_what_rises_in_it(ada: Asker) -> None:
    await collected(ada)

    reply = await ada.ask("trends kv")

    months, rising = reply.charts
    assert (reply.title, reply.private, reply.text) == ("Trends in KV cache", True, ())
    assert (months.kind, months.name, rising.kind) == (ChartKind.COLUMNS, "months-kv", ChartKind.BARS)
    assert [each.label for each in months.values] == [
        "Sep 2025",
        "Oct 2025",
        "Nov 2025",
        "Dec 2025",
        "Jan 2026",
        "Feb 2026",
        "Mar 2026",
        "Apr 2026",
    ]
    assert months.values[-2].said == "34 of 36"  # with three of five that are there from the beginning
    assert months.values[-1].said == "1 of 1 so far"
    assert months.source == "193 of 195 items from arXiv and The lab, September 2025 to April 2026"
    assert rising.values[0].label == "Speculative decoding"
    assert rising.values[0].said == "25 of 31, before 0 of 162"
    assert rising.source.startswith(
        "Titles and abstracts from arXiv and The lab: 31 items of the last 4 weeks, 162 items of"
    )


async def test_without_a_topic_everything_is_shown_and_the_topics_here_are_offered(ada: Asker) -> None:
    await collected(ada)
    await ada.ask("subscribe kv")

    reply = await ada.ask("trends")

    assert reply.charts[0].source == "195 items from arXiv and The lab, September 2025 to April 2026"
    assert reply.charts[0].values[-1].said == "1 so far"
    assert button(reply, "KV cache") == "trends kv"
    assert button(await ada.ask("trends kv"), "Everything") == "trends"


CODE = Item(key="github:acme/gpu-kit", kind=Kind.REPO, title="acme/gpu-kit", paper=PAPERS[4].key)


async def counted(ada: Asker, *stars: int) -> Asker:
    """Ada, where the repository of a paper was read day by day with so many stars, the last time today."""
    store = ada.context.store
    for days, count in enumerate(reversed(stars)):
        at = ada.now - timedelta(days=days)
        await store.items.add([replace(CODE, stars=count)], at)
    await store.items.add([replace(PAPERS[4], repo=CODE.key)], ada.now)
    return ada


@pytest.mark.parametrize("named", ["acme/gpu-kit", "https://github.com/acme/gpu-kit", "2603.00005"])
async def test_of_a_repository_and_of_a_paper_with_one_the_curve_of_its_stars_is_shown(ada: Asker, named: str) -> None:
    reply = await (await counted(ada, 1_000, 1_010, 1_204)).ask(f"trends {named}")

    (curve,) = reply.charts
    assert (curve.kind, curve.title) == (ChartKind.LINE, "Stars of acme/gpu-kit")
    assert [each.value for each in curve.values] == [1_000, 1_010, 1_204]
    assert curve.source == "GitHub's count, read on 3 days, 30 March 2026 to 1 April 2026"
    assert reply.text == ("204 more stars in 2 days: 1,000 on 30 March 2026, 1,204 on 1 April 2026.",)
    key = PAPERS[4].key if named == "2603.00005" else CODE.key
    assert (reply.private, button(reply, "Details")) == (True, f"show {key}")


async def test_a_repository_that_lost_stars_is_told_so(ada: Asker) -> None:
    reply = await (await counted(ada, 7, 6)).ask("trends acme/gpu-kit")
    assert reply.text == ("1 star fewer in 1 day: 7 on 31 March 2026, 6 on 1 April 2026.",)
    (again,) = (await (await counted(ada, 6, 6)).ask("trends acme/gpu-kit")).text
    assert again == "As many stars as 1 day before: 6 on 1 April 2026."


async def test_where_there_is_no_curve_it_is_said_why(ada: Asker) -> None:
    once = await (await counted(ada, 42)).ask("trends acme/gpu-kit")
    assert (once.title, once.charts) == ("No curve of acme/gpu-kit yet", ())
    assert once.text == ("Its stars were read on one day, 42 on 1 April 2026; a curve takes two.",)
    alone = await ada.ask("trends 2603.00004")
    assert alone.text == ("No repository of it is known, whose stars could be told.",)


async def test_what_a_topic_is_called_is_that_topic_unless_a_repository_is_known_by_it(ada: Asker) -> None:
    await ada.ask("topic create acme-gpu-kit gpu")
    assert (await ada.ask("trends acme/gpu-kit")).title == "Trends in Acme gpu kit"
    assert (await (await counted(ada, 1, 2)).ask("trends acme/gpu-kit")).charts[0].kind is ChartKind.LINE
    with pytest.raises(UsageError, match="no topic"):
        await ada.ask("trends gpus")
    with pytest.raises(UsageError, match="not among the items"):
        await ada.ask("trends nobody/nothing")


async def test_where_there_is_too_little_it_is_said_how_much_there_is(ada: Asker) -> None:
    reply = await ada.ask("trends kv")

    assert len(reply.charts) == 1
    assert reply.text[0].startswith("Too few to tell what rises: ")
    assert "It takes 20 of each." in said(reply)


async def test_where_there_is_nothing_that_is_said(ada: Asker) -> None:
    empty = ada.at(ada.now + timedelta(days=2000))

    assert (await empty.ask("trends")).title == "Nothing was collected yet"
    assert (await empty.ask("trends kv")).title == "Nothing in KV cache yet"
    with pytest.raises(UsageError, match="There is no topic"):
        await ada.ask("trends nothing-here")


async def test_the_sources_of_a_topic_are_asked_for(ada: Asker) -> None:
    await collected(ada)
    topic = Topic(name="lab", title="The lab's", query=parse("cache"), sources=("feed:lab",))
    made = Change(workspace=ada.actor.workspace, at=ada.now, person="U-ada", what="topic lab")
    await ada.context.store.workspaces.save_topic(ada.actor.workspace, topic, made, replaces=0)

    (months, *_) = (await ada.ask("trends lab")).charts

    assert months.source.startswith("95 of 195 items from arXiv and The lab")


async def test_what_was_published_in_the_future_is_left_out(ada: Asker) -> None:
    await collected(ada)
    await ada.context.store.items.add([about(900, "A cache of tomorrow", published=ada.now + WEEK)], ada.now)

    assert (await ada.ask("trends kv")).charts[0].source.startswith("193 of 195 items")


async def test_charts_are_kept_for_some_minutes_while_nothing_is_stored(ada: Asker) -> None:
    await collected(ada)
    first = (await ada.ask("trends kv")).charts
    assert (await ada.by(workspace="slack:T2").ask("trends kv")).charts[0] is first[0]
    assert (await ada.ask("trends")).charts[0] is not first[0]
    assert (await ada.at(ada.now + timedelta(hours=1)).ask("trends kv")).charts[0] is not first[0]

    await ada.context.store.items.add([about(901, "One more cache", published=ada.now - WEEK)], ada.now)
    assert (await ada.ask("trends kv")).charts[0].source.startswith("194 of 196 items")


async def test_where_no_process_can_be_had_the_months_are_told_and_the_words_counted_next_time(
    ada: Asker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await collected(ada)
    with monkeypatch.context() as without:
        without.setattr(sys, "executable", "/nonexistent/python")
        reply = await ada.ask("trends kv")
    assert [each.name for each in reply.charts] == ["months-kv"]
    assert reply.text == ("Which words rise could not be counted just now; ask again in a while.",)
    assert "The words that rise in kv could not be counted: it could not be started" in caplog.text

    assert len((await ada.ask("trends kv")).charts) == 2


def test_the_stars_of_a_repository_are_a_curve() -> None:
    day = date(2026, 3, 1)
    readings = [Reading(day, stars=10), Reading(day + timedelta(days=1)), Reading(day + timedelta(days=3), stars=1300)]

    chart = stars_chart("a/fast", readings)

    assert chart is not None
    assert [(each.day, each.value, each.said) for each in chart.values] == [
        (day, 10, "10 stars"),
        (day + timedelta(days=3), 1300, "1,300 stars"),
    ]
    assert chart.source == "GitHub's count, read on 2 days, 1 March 2026 to 4 March 2026"
    assert stars_chart("a/fast", readings[:2]) is None


@settings(deadline=None, max_examples=tries(60))
@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=10), st.integers(0, 10**9))
def test_whatever_strangers_wrote_what_is_said_stays_within_bounds(title: str, terms: list[str], count: int) -> None:
    today = datetime(2026, 4, 1, tzinfo=UTC).date()
    subject = Subject(title, "x")
    sides = Sides(9, 99, WEEK, 4 * WEEK, 9, 99)
    made = volume_chart(subject, [MonthCount(today, count, count)], terms, today)
    rising = terms_chart(subject, [RisingTerm(each, 9, 1, 2.0) for each in terms], sides, terms)

    assert len(made.alt) <= MOST_ALT
    assert len(rising.alt) <= MOST_ALT
    assert len(made.values) == 1
