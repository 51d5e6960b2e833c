"""Days, times, zones and hours as people write them, and what is said of those that are none."""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Subscribe, Usual, parse, read_hours
from bot.errors import UsageError
from bot.models import Layout

_WEEKDAYS = (0, 1, 2, 3, 4)
_EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)


def _subscribed(rest: str) -> Subscribe:
    command = parse(f"subscribe gpu-systems {rest}")
    assert isinstance(command, Subscribe)
    return command


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("daily", _EVERY_DAY),
        ("every day", _EVERY_DAY),
        ("each day", _EVERY_DAY),
        ("everyday", _EVERY_DAY),
        ("on weekdays", _WEEKDAYS),
        ("every weekday", _WEEKDAYS),
        ("weekends", (5, 6)),
        ("weekends and mon", (0, 5, 6)),
        ("mon", (0,)),
        ("Monday", (0,)),
        ("on Mondays", (0,)),
        ("every monday", (0,)),
        ("every monday and thursday", (0, 3)),
        ("mon,wed,fri", (0, 2, 4)),
        ("mon, wed, and fri", (0, 2, 4)),
        ("fri mon wed mon", (0, 2, 4)),
        ("tue/thur", (1, 3)),
        ("sat & sun", (5, 6)),
        ("mon-fri", _WEEKDAYS),
        ("mon–fri", _WEEKDAYS),
        ("Mon - Fri", _WEEKDAYS),
        ("monday to friday", _WEEKDAYS),
        ("monday through thursday and sat", (0, 1, 2, 3, 5)),
        ("fri-mon", (0, 4, 5, 6)),
        ("mon-wed,sun", (0, 1, 2, 6)),
        ("mon-sun", _EVERY_DAY),
        ("weekly", (0,)),
        ("every week", (0,)),
        ("weekly on thursday", (3,)),
        ("weekly fri", (4,)),
    ],
)
def test_days_of_the_week(text: str, days: tuple[int, ...]) -> None:
    assert _subscribed(text) == Subscribe(topic="gpu-systems", weekdays=days)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("monthly", 1),
        ("every month", 1),
        ("monthly on 15", 15),
        ("monthly 15", 15),
        ("monthly on the 2nd", 2),
        ("every month on the 31st", 31),
        ("monthly on the 15th of the month", 15),
        ("monthly on the 15th of every month", 15),
        ("monthly on the last day", 31),
    ],
)
def test_days_of_the_month(text: str, day: int) -> None:
    assert _subscribed(text) == Subscribe(topic="gpu-systems", month_day=day)
    assert _subscribed(f"{text} at 9").at == time(9)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("at 9", time(9)),
        ("at 9am", time(9)),
        ("at 9 am", time(9)),
        ("at 9 a.m.", time(9)),
        ("at 9 p.m.", time(21)),
        ("at 12am", time(0)),
        ("at 12pm", time(12)),
        ("at 12:30 am", time(0, 30)),
        ("at 09:00", time(9)),
        ("at 0900", time(9)),
        ("at 930", time(9, 30)),
        ("at 9.30", time(9, 30)),
        ("at 9h30", time(9, 30)),
        ("at 21h", time(21)),
        ("at 21 h", time(21)),
        ("at 9 o’clock", time(9)),
        ("at 0:00", time(0)),
        ("at 23:59", time(23, 59)),
        ("at noon", time(12)),
        ("at midnight", time(0)),
        ("@9am", time(9)),
        ("09:15", time(9, 15)),
        ("9:15pm", time(21, 15)),
    ],
)
def test_times_of_day(text: str, at: time) -> None:
    assert _subscribed(text) == Subscribe(topic="gpu-systems", at=at)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("in Europe/Zurich", "Europe/Zurich"),
        ("in New York", "New York"),
        ("in Ho Chi Minh City, top 7", "Ho Chi Minh City"),
        ("in New York daily", "New York"),
        ("in New York every monday", "New York"),
        ("in New York 9am", "New York"),
        ("in “Port of Spain” daily", "Port of Spain"),
        ("in St. Johns.", "St. Johns"),
        ("in UTC+2", "UTC+2"),
        ("tz=Europe/Zurich", "Europe/Zurich"),
        ("at 9 CET", "CET"),
        ("at 9am Europe/Zurich", "Europe/Zurich"),
        ("at 9 UTC+2", "UTC+2"),
    ],
)
def test_a_zone_has_as_many_words_as_stand_before_the_next_option(text: str, zone: str) -> None:
    assert _subscribed(text).zone == zone


def test_the_options_may_stand_in_any_order_but_the_filter_which_takes_the_rest() -> None:
    wanted = Subscribe(
        topic="gpu-systems",
        weekdays=_WEEKDAYS,
        at=time(9),
        zone="New York",
        entries=7,
        min_score=0.4,
        layout=Layout.BRIEF,
        always=False,
        filter="-survey at 9",
    )

    assert _subscribed("weekdays at 9 in New York top 7 min 0.4 brief quiet if empty filter -survey at 9") == wanted
    assert (
        _subscribed("quiet, compact, and min 40%, in “New York”, top 7 papers, at 9, mon-fri, filter -survey at 9") == wanted
    )
    assert _subscribed("top=7 min=0,4 in=New York at=9 weekdays layout=brief quiet-if-empty filter=-survey at 9") == wanted


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("brief", Layout.BRIEF),
        ("thread", Layout.THREAD),
        ("full", Layout.FULL),
        ("layout full", Layout.FULL),
        ("layout=thread", Layout.THREAD),
        ("layout usual", Usual.USUAL),
        ("compact", Layout.BRIEF),  # its name of before
        ("top 5", None),
    ],
)
def test_a_layout_is_one_word(text: str, layout: Layout | Usual | None) -> None:
    assert _subscribed(text).layout == layout


@pytest.mark.parametrize(
    ("text", "sentence", "place"),
    [
        ("at 25:00", "from 00:00 to 23:59", "25:00"),
        ("at 9:60", "from 00:00 to 23:59", "9:60"),
        ("at 13pm", "from 00:00 to 23:59", "13pm"),
        ("at 0 am", "from 00:00 to 23:59", "0 am"),
        ("at top 7", 'There is no time "top"', "top 7"),
        ("at", "*at* needs a time", ""),
        ("monthly on 40", "days from 1 to 31", "40"),
        ("monthly on 0", "days from 1 to 31", "0"),
        ("monthly on friday", "a day of the month from 1 to 31", "friday"),
        ("on 15", "*monthly on 15*", "15"),
        ("on", "A day is missing", ""),
        ("on holidays", '"holidays" is no day', "holidays"),
        ("mon to 5", "needs a day to end with", "5"),
        ("top 0", "from 1 to 50", "0"),
        ("top 51", "from 1 to 50", "51"),
        ("top 2.5", "from 1 to 50", "2.5"),
        ("top", "from 1 to 50", ""),
        ("min 7", "from 0 to 1", "7"),
        ("min -0.1", "from 0 to 1", "-0.1"),
        ("min nan", "from 0 to 1", "nan"),
        ("in", "*in Europe/Zurich*", ""),
        ("in at 9", "*in Europe/Zurich*", "at 9"),
        ("filter", "*filter* needs a query", ""),
        ("at 9 top 7 at 10", "The time is said twice", "at 10"),
        ("daily weekdays", "The part about days is said twice", "weekdays"),
        ("mon top 5 wed", "The part about days is said twice", "wed"),
        ("layout wide", "*layout* is one of *brief*, *thread* and *full*", "wide"),
        ("brief full", "The layout is said twice", "full"),
        ("quiet always", "empty digests is said twice", "always"),
        ("hourly", '"hourly" is not understood', "hourly"),
    ],
)
def test_what_cannot_be_is_told_with_what_can(text: str, sentence: str, place: str) -> None:
    whole = f"subscribe gpu-systems {text}"
    with pytest.raises(UsageError) as failed:
        parse(whole)

    assert sentence in str(failed.value)
    assert failed.value.position is not None
    assert whole[failed.value.position :] == place


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("wekdays", "Did you mean *weekdays*?"),
        ("on modnay", "Did you mean *monday*?"),
        ("breif", "Did you mean *brief*?"),
        ("compct", "Did you mean *compact*?"),
        ("stars:>100", "A filter goes last: *filter stars:>100*."),
    ],
)
def test_the_nearest_option_is_proposed(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as failed:
        parse(f"subscribe gpu-systems {text}")

    assert failed.value.hint == hint


@given(st.times())
def test_every_minute_of_the_day_is_understood_on_both_clocks(at: time) -> None:
    at = at.replace(second=0, microsecond=0)

    for written in ("%H:%M", "%I:%M%p", "%I.%M %p", "%Hh%M", "%H%M"):
        assert _subscribed(f"at {at.strftime(written)}").at == at


# --- hours from one time of the day to another

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
