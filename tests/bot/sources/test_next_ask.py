"""When each source says that it may have something new."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.client import Http
from bot.models import SourceState
from bot.settings.sources import ArxivSettings, FeedSettings, GitHubSettings, HuggingFaceSettings
from bot.sources.arxiv.calendar import day_after, last_day, rebuilt
from bot.sources.arxiv.source import AGAIN, ArxivSource
from bot.sources.feeds.source import FeedSource
from bot.sources.github.source import GitHubSource
from bot.sources.huggingface.source import HuggingFaceSource
from tests.bot.sources.arxiv.collecting import mark

HOUR = timedelta(hours=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def arxiv(http: Http) -> ArxivSource:
    return ArxivSource(http, ArxivSettings(categories=("cs.AI", "cs.CL")))


def told(source: ArxivSource, day: str, asked: str) -> SourceState:
    return SourceState(name="arxiv", watermark=mark(day, source), asked=at(asked))


@pytest.mark.parametrize(
    ("day", "asked", "every", "next_ask"),
    [
        # Tuesday's was read; Wednesday's feed is there at 00:30 in New York, 04:30 UTC in summer.
        ("2026-03-31", "2026-03-31T05:00", 24 * HOUR, "2026-04-01T04:30"),
        ("2026-03-31", "2026-04-01T04:10", HOUR, "2026-04-01T04:30"),
        # Friday's was read; the next one is Monday's.
        ("2026-04-03", "2026-04-03T05:00", 96 * HOUR, "2026-04-06T04:30"),
        # In winter New York is five hours behind.
        ("2026-01-06", "2026-01-06T06:00", 24 * HOUR, "2026-01-07T05:30"),
        # In between, at the usual interval: for new examples, and without a request when there are none.
        ("2026-03-31", "2026-03-31T12:00", HOUR, "2026-03-31T13:00"),
    ],
)
async def test_arxiv_is_asked_when_its_next_announcement_is_out(
    http: Http, day: str, asked: str, every: timedelta, next_ask: str
) -> None:
    source = arxiv(http)
    now = at(asked) + timedelta(minutes=1)

    assert source.next_ask(told(source, day, asked), now, every) == at(next_ask)


async def test_an_announcement_that_was_not_out_yet_is_asked_for_again_soon(http: Http) -> None:
    source = arxiv(http)
    state = told(source, "2026-03-31", "2026-04-01T04:35")

    assert source.next_ask(state, at("2026-04-01T04:40"), HOUR) == at("2026-04-01T04:35") + AGAIN


async def test_an_announcement_that_came_out_since_is_asked_for_at_once(http: Http) -> None:
    source = arxiv(http)
    state = told(source, "2026-03-31", "2026-03-31T23:00")

    assert source.next_ask(state, at("2026-04-01T07:00"), HOUR) <= at("2026-04-01T07:00")


@given(st.dates(date(2026, 1, 1), date(2030, 12, 31)))
def test_the_day_after_is_the_day_whose_feed_comes_next(day: date) -> None:
    noon = datetime(day.year, day.month, day.day, 17, tzinfo=UTC)
    newest = last_day(noon)
    following = day_after(newest)

    assert last_day(rebuilt(following)) == following
    assert last_day(rebuilt(following) - timedelta(seconds=1)) == newest


@pytest.mark.parametrize(
    ("asked", "every", "next_ask"),
    [
        ("2026-04-01T07:00", HOUR, "2026-04-01T08:00"),  # Wednesday
        ("2026-04-04T07:00", HOUR, "2026-04-04T13:00"),  # Saturday
        ("2026-04-05T22:00", HOUR, "2026-04-06T00:00"),  # Sunday evening: Monday begins
        ("2026-04-05T23:50", HOUR, "2026-04-06T00:50"),
        ("2026-04-04T07:00", 12 * HOUR, "2026-04-04T19:00"),
    ],
)
async def test_hugging_face_is_asked_less_often_while_nobody_picks_papers(
    http: Http, asked: str, every: timedelta, next_ask: str
) -> None:
    state = SourceState(name="huggingface", asked=at(asked))

    assert HuggingFaceSource(http, HuggingFaceSettings()).next_ask(state, at(asked) + HOUR / 60, every) == at(next_ask)


async def test_repositories_and_feeds_are_asked_at_the_usual_interval(http: Http) -> None:
    asked = at("2026-04-04T07:00")
    feed = FeedSettings(name="lab", url="https://lab.example/feed")
    for source in (GitHubSource(http, GitHubSettings()), FeedSource(http, feed)):
        state = SourceState(name=source.name, asked=asked)
        assert source.next_ask(state, asked + HOUR / 60, HOUR) == asked + HOUR
