"""How long what was met is known."""

from datetime import timedelta

from bot.store.rules.retention import is_first, latest
from tests.conftest import NOW

HOUR = timedelta(hours=1)
MOMENT = timedelta(microseconds=1)


def test_what_was_met_a_whole_span_ago_is_met_for_the_first_time() -> None:
    assert is_first(None, NOW, HOUR)
    assert is_first(NOW - HOUR, NOW, HOUR)
    assert not is_first(NOW - HOUR + MOMENT, NOW, HOUR)
    assert not is_first(NOW + HOUR, NOW, HOUR)


def test_a_clock_that_was_set_back_makes_nothing_older() -> None:
    assert latest(None, NOW) == NOW
    assert latest(NOW - HOUR, NOW) == NOW
    assert latest(NOW + HOUR, NOW) == NOW + HOUR
