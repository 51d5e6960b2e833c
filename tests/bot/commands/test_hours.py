"""Hours from one time of the day to another, as people write them."""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import read_hours
from bot.errors import UsageError

TIMES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
FORMS = (
    "{}-{}",
    "{} – {}",
    "{}—{}",
    "{} to {}",
    "from {} until {}",
    "From {} Till {}.",
    "between {} and {}",
    "{}\u00a0–\u202f{}",
)


@given(TIMES, TIMES, st.sampled_from(FORMS), st.sampled_from(("%H:%M", "%H.%M", "%Hh%M", "%I:%M%p", "%I:%M %p")))
def test_any_two_times_are_read_back_in_every_form(begin: time, end: time, form: str, written: str) -> None:
    text = form.format(begin.strftime(written), end.strftime(written))

    if begin == end:
        with pytest.raises(UsageError, match="none, or all of them"):
            read_hours(text)
    else:
        assert read_hours(text) == (begin, end)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "begin and end is missing"),
        ("from", "begin and end is missing"),
        ("22:00", "end is missing"),
        ("22:00-", "end is missing"),
        ("22:00 7:00", "end is missing"),
        ("22:00-24:00", 'There is no time "24:00"'),
        ("late to early", 'There is no time "late"'),
        ("22-7 on weekends", '"on" is not understood'),
        ("22-7-9", '"-" is not understood'),
    ],
)
def test_what_is_no_hours_is_answered_with_what_is(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        read_hours(text)
    assert (caught.value.position, caught.value.hint[:17]) == (None, "Write both times,")


@given(st.text(max_size=60))
def test_whatever_is_typed_is_read_or_answered(text: str) -> None:
    try:
        begin, end = read_hours(text)
    except UsageError:
        return
    assert begin != end
