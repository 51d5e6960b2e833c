"""Numbers, lists, days and spans in words."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.wording import (
    counted,
    dated,
    day_in_words,
    listed,
    long_day,
    ordinal,
    short_day,
    shortened,
    some,
    span_in_words,
    time_in_words,
)

DAY = date(2026, 4, 1)


@pytest.mark.parametrize(
    ("count", "thing", "words"),
    [
        (1, "entry", "1 entry"),
        (0, "entry", "0 entries"),
        (2, "day", "2 days"),
        (1204, "item", "1,204 items"),
        (2, "more digest", "2 more digests"),
    ],
)
def test_a_count_is_told_with_its_noun(count: int, thing: str, words: str) -> None:
    assert counted(count, thing) == words


def test_a_place_is_told_as_one_says_it() -> None:
    numbers = (1, 2, 3, 4, 11, 12, 13, 20, 21, 22, 23, 101, 111)
    endings = ["st", "nd", "rd", "th", "th", "th", "th", "th", "st", "nd", "rd", "st", "th"]
    assert [ordinal(number) for number in numbers] == [f"{n}{end}" for n, end in zip(numbers, endings, strict=True)]


def test_a_list_has_its_and_before_the_last() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


@given(st.text(max_size=50), st.integers(1, 60))
def test_what_is_cut_short_is_a_beginning_and_never_longer_than_asked(text: str, most: int) -> None:
    line, short = " ".join(text.split()), shortened(text, most)

    assert len(short) <= most
    assert short == line if len(line) <= most else short.endswith("…") and line.startswith(short[:-1])


def test_days_are_written_in_english_whatever_the_locale() -> None:
    assert long_day(DAY) == "Wednesday 1 April 2026"
    assert short_day(date(2026, 3, 31), DAY) == "31 March"
    assert dated(date(2026, 3, 31)) == "31 March 2026"
    assert day_in_words(date(2026, 4, 2), DAY) == "Thursday 2 April"


def test_a_day_has_its_year_when_it_is_another() -> None:
    assert short_day(date(2025, 12, 31), DAY) == "31 December 2025"
    assert day_in_words(date(2027, 1, 1), DAY) == "Friday 1 January 2027"


def test_a_time_is_told_as_its_own_clock_shows_it() -> None:
    assert time_in_words(datetime(2026, 4, 2, 9, 5, tzinfo=UTC), DAY) == "Thursday 2 April at 09:05"


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(days=2, hours=3, minutes=5), "2 days 3 hours"),
        (timedelta(days=1, minutes=5), "1 day 5 minutes"),
        (timedelta(hours=1, minutes=1, seconds=59), "1 hour 1 minute"),
        (timedelta(minutes=5), "5 minutes"),
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(), "less than a minute"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(span: timedelta, words: str) -> None:
    assert span_in_words(span) == words


@pytest.mark.parametrize(
    ("words", "told"),
    [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more"), (list("abcde"), "a, b and 3 more")],
)
def test_of_many_words_some_are_told_and_how_many_there_are_besides(words: list[str], told: str) -> None:
    assert some(words, 2) == told
