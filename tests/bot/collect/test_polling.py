"""When each source is asked: as it renews, a little late, and left alone while it rests."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.collect.polling import MOST, PollingSchedule
from bot.models import SourceState
from tests.fakes.scripted import Scripted

HOUR = timedelta(hours=1)
LAB = Scripted("feed:lab")


def asked(now: datetime, ago: timedelta, **given: object) -> SourceState:
    return SourceState(name="feed:lab", asked=now - ago, **given)  # type: ignore[arg-type]


def test_a_source_that_was_never_asked_is_asked_at_once(now: datetime) -> None:
    assert PollingSchedule(HOUR, random.Random(1)).is_due(LAB, SourceState(name="feed:lab"), now)


def test_what_a_clock_wrote_that_had_run_ahead_holds_nobody_up(now: datetime) -> None:
    ahead = SourceState(name="feed:lab", asked=now + timedelta(days=300))

    assert PollingSchedule(HOUR, random.Random(1)).is_due(LAB, ahead, now)


def test_a_source_that_failed_is_asked_when_its_rest_is_over(now: datetime) -> None:
    pace = PollingSchedule(HOUR, random.Random(1))
    long = asked(now, timedelta(hours=3), failures=1, rest_until=now + timedelta(minutes=5))
    short = asked(now, timedelta(minutes=6), failures=1, rest_until=now)

    assert pace.due(LAB, long, now) == now + timedelta(minutes=5)
    assert pace.is_due(LAB, short, now)


def test_looking_again_whether_it_is_due_does_not_draw_again(now: datetime) -> None:
    pace = PollingSchedule(HOUR, random.Random(7))
    state = asked(now, timedelta(0))

    assert len({pace.due(LAB, state, now + timedelta(minutes=minute)) for minute in range(1, 60)}) == 1


@given(st.integers(0, 2**32), st.integers(5, 24 * 60))
def test_a_source_is_asked_after_the_interval_and_at_most_a_tenth_of_it_later(seed: int, minutes: int) -> None:
    now, every = datetime(2026, 4, 1, 7, tzinfo=UTC), timedelta(minutes=minutes)

    due = PollingSchedule(every, random.Random(seed)).due(LAB, asked(now, timedelta(0)), now)

    assert now + every <= due <= now + every + min(every / 10, MOST)


def test_two_services_do_not_ask_in_the_same_second(now: datetime) -> None:
    found = {PollingSchedule(HOUR, random.Random(seed)).due(LAB, asked(now, timedelta(0)), now) for seed in range(50)}

    assert len(found) == 50
    assert max(found) - min(found) > timedelta(minutes=4)


@pytest.mark.parametrize("seed", range(5))
def test_over_a_day_a_source_is_asked_as_often_as_the_interval_says(now: datetime, seed: int) -> None:
    pace, state, times = PollingSchedule(HOUR, random.Random(seed)), SourceState(name="feed:lab"), 0
    for minute in range(24 * 60):
        at = now + timedelta(minutes=minute)
        if pace.is_due(LAB, state, at):
            state, times = SourceState(name="feed:lab", asked=at), times + 1

    assert 22 <= times <= 24
