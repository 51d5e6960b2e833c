"""How long a shard has been silent, by its latency alone."""

import math

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.connection.gateway import Heartbeats


def test_nothing_is_known_before_the_first_connection() -> None:
    assert Heartbeats().silence({}, 7.0) == math.inf


def test_a_shard_is_silent_since_its_latency_was_last_measured_anew() -> None:
    heartbeats = Heartbeats()
    assert heartbeats.silence({0: math.inf}, 10.0) == 0.0
    assert heartbeats.silence({0: 0.04}, 11.0) == 0.0
    assert heartbeats.silence({0: 0.04}, 52.0) == 41.0
    assert heartbeats.silence({0: 0.05}, 53.0) == 0.0


def test_a_connection_that_was_made_anew_is_silent_until_its_first_heartbeat_is_acknowledged() -> None:
    heartbeats = Heartbeats()
    heartbeats.silence({0: 0.04}, 10.0)
    assert heartbeats.silence({0: math.inf}, 70.0) == 60.0
    assert heartbeats.silence({0: math.nan}, 80.0) == 70.0
    assert heartbeats.silence({0: 0.03}, 81.0) == 0.0


def test_the_shard_that_is_silent_longest_counts() -> None:
    heartbeats = Heartbeats()
    heartbeats.silence({0: 0.04, 1: 0.02}, 10.0)
    assert heartbeats.silence({0: 0.05, 1: 0.02}, 60.0) == 50.0
    assert heartbeats.silence({0: 0.06}, 70.0) == 60.0


@given(beats=st.lists(st.floats(0.001, 10.0), min_size=1, max_size=30, unique=True), look=st.floats(0.05, 1.0))
def test_a_shard_that_is_acknowledged_is_never_silent_for_longer_than_a_beat_and_a_look(
    beats: list[float], look: float
) -> None:
    heartbeats, now, every = Heartbeats(), 0.0, 41.25
    for latency in beats:
        end = now + every
        while now < end:
            assert heartbeats.silence({0: latency}, now) <= every + look
            now += look
