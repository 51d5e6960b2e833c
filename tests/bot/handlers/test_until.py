from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.handlers.until import FURTHEST, day_meant

WEDNESDAY = date(2026, 4, 1)


@pytest.mark.parametrize(
    ("typed", "day"),
    [
        ("2026-12-01", date(2026, 12, 1)),
        ("2026-4-2", date(2026, 4, 2)),
        ("tomorrow", date(2026, 4, 2)),
        ("Tomorrow.", date(2026, 4, 2)),
        ("thursday", date(2026, 4, 2)),
        ("Wed", date(2026, 4, 8)),
        ("tues", date(2026, 4, 7)),
        ("next monday", date(2026, 4, 6)),
        ("on friday", date(2026, 4, 3)),
        ("next week", date(2026, 4, 6)),
        ("next month", date(2026, 5, 1)),
        ("3d", date(2026, 4, 4)),
        ("2w", date(2026, 4, 15)),
        ("1 month", date(2026, 5, 1)),
        ("in 10 days", date(2026, 4, 11)),
        ("for two weeks", date(2026, 4, 15)),
        ("a fortnight", date(2026, 4, 15)),
        ("1 December", date(2026, 12, 1)),
        ("Dec 1", date(2026, 12, 1)),
        ("1st of december 2027", date(2027, 12, 1)),
        ("March 31st", date(2027, 3, 31)),
        ("the 7th of sept", date(2026, 9, 7)),
    ],
)
def test_the_days_that_people_write_are_read(typed: str, day: date) -> None:
    assert day_meant(typed, WEDNESDAY) == day


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2026-04-01", "2026-04-01 is not ahead: today is 2026-04-01"),
        ("2020-01-01", "is not ahead"),
        ("0d", "is not ahead"),
        ("2026-02-30", "no day that I can read"),
        ("30 february", "no day that I can read"),
        ("9999w", "more than two years ahead"),
        ("3000-01-01", "more than two years ahead"),
        ("1 december 0", "no day that I can read"),
        ("whenever", "no day that I can read"),
        ("t", "no day that I can read"),
        ("ma 5", "no day that I can read"),
        ("1.12.", "no day that I can read"),
    ],
)
def test_what_is_no_day_ahead_is_said_to_be_none(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as raised:
        day_meant(typed, WEDNESDAY)
    assert raised.value.hint


def test_a_month_later_is_the_last_day_of_a_month_that_is_shorter() -> None:
    assert day_meant("1m", date(2027, 1, 31)) == date(2027, 2, 28)


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{0,4}[-. dwm]?[a-z0-9 -]{0,12}", fullmatch=True), st.dates())
def test_any_text_is_a_day_ahead_or_a_usage_error(typed: str, today: date) -> None:
    try:
        day = day_meant(typed, today)
    except UsageError:
        return
    assert timedelta(0) < day - today <= FURTHEST
