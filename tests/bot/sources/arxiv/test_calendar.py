"""When arXiv announces, in both of New York's times."""

from datetime import UTC, date, datetime
from itertools import pairwise

import pytest

from bot.sources.arxiv.calendar import announced, days_between, in_words, is_usual_holiday, is_weekend, last_day, window


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "day"),
    [
        ("2026-04-01T07:00", "2026-04-01"),  # Wednesday, three in the morning in New York
        ("2026-04-01T04:29", "2026-03-31"),  # 00:29 in New York: the feed is being made
        ("2026-04-01T04:30", "2026-04-01"),
        ("2026-04-01T03:59", "2026-03-31"),
        ("2026-04-04T12:00", "2026-04-03"),  # Saturday
        ("2026-04-06T04:00", "2026-04-03"),  # Monday, just midnight in New York
        ("2026-04-06T05:00", "2026-04-06"),
        ("2026-01-06T05:15", "2026-01-05"),  # winter: 00:15 in New York
        ("2026-01-06T05:45", "2026-01-06"),
    ],
)
def test_the_newest_day_follows_new_yorks_clock(now: str, day: str) -> None:
    assert last_day(at(now)) == date.fromisoformat(day)


def test_an_announcement_is_made_the_evening_before_its_feed() -> None:
    assert announced(date(2026, 4, 1)) == at("2026-04-01T00:00")  # 20:00 in summer
    assert announced(date(2026, 1, 6)) == at("2026-01-06T01:00")  # 20:00 in winter
    assert announced(date(2026, 4, 6)) == at("2026-04-06T00:00")  # Sunday evening


@pytest.mark.parametrize(
    ("day", "first", "last"),
    [
        ("2026-04-06", "2026-04-02T18:00", "2026-04-03T18:00"),  # Monday: Thursday to Friday
        ("2026-04-07", "2026-04-03T18:00", "2026-04-06T18:00"),  # Tuesday: Friday to Monday
        ("2026-04-08", "2026-04-06T18:00", "2026-04-07T18:00"),
        ("2026-04-09", "2026-04-07T18:00", "2026-04-08T18:00"),
        ("2026-04-10", "2026-04-08T18:00", "2026-04-09T18:00"),
        ("2026-03-10", "2026-03-06T19:00", "2026-03-09T18:00"),  # over the change to summer time
    ],
)
def test_submission_windows_follow_arxivs_table(day: str, first: str, last: str) -> None:
    assert window(date.fromisoformat(day)) == (at(first), at(last))


def test_the_windows_of_a_year_leave_no_gap_and_do_not_overlap() -> None:
    days = days_between(date(2025, 12, 31), date(2026, 12, 31))
    assert len(days) == 261
    for earlier, later in pairwise(days):
        assert window(earlier)[1] == window(later)[0]


def test_weekends_have_no_day() -> None:
    assert days_between(date(2026, 4, 2), date(2026, 4, 7)) == (date(2026, 4, 3), date(2026, 4, 6), date(2026, 4, 7))
    assert days_between(date(2026, 4, 7), date(2026, 4, 7)) == ()
    assert is_weekend(at("2026-04-04T12:00"))
    assert not is_weekend(at("2026-04-04T03:00"))  # still Friday in New York


@pytest.mark.parametrize(
    "day",
    ["2025-06-20", "2026-11-27", "2026-01-20", "2026-09-08", "2025-12-26", "2026-01-02", "2025-07-07", "2023-07-05"],
)
def test_the_day_after_a_holidays_evening_may_be_empty(day: str) -> None:
    assert is_usual_holiday(date.fromisoformat(day))


def test_other_days_are_holidays_when_they_are_listed() -> None:
    assert not is_usual_holiday(date(2026, 4, 1))
    assert is_usual_holiday(date(2026, 4, 1), frozenset({date(2026, 3, 31)}))


def test_a_day_is_named_for_readers() -> None:
    assert in_words(date(2026, 3, 31)) == "Tuesday, 31 March"
