from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.rate_limits import Departures, PlatformCall, RateLimits, SlidingWindow
from bot.errors import Reach
from bot.models import Abilities, Method, Rate
from tests.conftest import NOW

SECOND = timedelta(seconds=1)
DISCORD = Abilities(per_second=50, per_channel_second=5)
SLACK = Abilities(per_channel_second=1, per_workspace_minute=300, find=Rate(per_workspace_minute=50))
ABLE = {"discord": DISCORD, "slack": SLACK}


def call(workspace: str, channel: str = "C1", method: Method = Method.POST) -> PlatformCall:
    return PlatformCall(method, workspace, channel, ABLE.get(workspace.partition(":")[0], Abilities()))


def greedy(
    rate_limits: RateLimits, workspace: str, channels: int, until: datetime, method: Method = Method.POST
) -> list[datetime]:
    """Ask as soon as it is allowed, in the channels in turn; return when."""
    now, taken, channel = NOW, [], 0
    while now < until:
        asked = call(workspace, f"C{channel}", method)
        free = rate_limits.earliest(asked, now)
        if free <= now:
            rate_limits.take(asked, now)
            taken.append(now)
            channel = (channel + 1) % channels
        else:
            now = max(free, now + SECOND / 1000)
    return taken


def most_within(taken: list[datetime], span: timedelta) -> int:
    return max(sum(begin <= each < begin + span for each in taken) for begin in taken)


def test_a_platforms_fifty_a_second_are_kept_at_forty_five() -> None:
    taken = greedy(RateLimits(), "discord:1", 1000, NOW + 20 * SECOND)

    assert 44 * 20 <= len(taken) <= 46 * 20
    assert most_within(taken, SECOND) <= 48


@given(st.lists(st.tuples(st.floats(0, 2), st.sampled_from(Method)), min_size=1, max_size=60))
def test_after_any_pauses_no_second_has_more_than_the_platform_allows_whatever_is_asked(
    pauses: list[tuple[float, Method]],
) -> None:
    rate_limits, now = RateLimits(), NOW
    taken: list[datetime] = []
    for pause, method in pauses:
        now += timedelta(seconds=pause)
        while rate_limits.earliest(call("discord:1", f"C{len(taken)}", method), now) <= now:
            rate_limits.take(call("discord:1", f"C{len(taken)}", method), now)
            taken.append(now)
    assert most_within(taken, SECOND) <= 50


def test_one_channel_is_posted_to_a_little_slower_than_once_a_second_and_others_need_not_wait() -> None:
    rate_limits = RateLimits()
    taken = greedy(rate_limits, "slack:T1", 1, NOW + 10 * SECOND)
    assert all(later - earlier > SECOND for earlier, later in pairwise(taken))
    assert len(taken) >= 9
    assert rate_limits.earliest(call("slack:T2", "C0"), NOW + 10 * SECOND) == NOW + 10 * SECOND


def test_a_workspaces_minute_is_its_own() -> None:
    rate_limits = RateLimits()
    taken = greedy(rate_limits, "slack:T1", 1000, NOW + 60 * SECOND)
    assert 260 <= len(taken) <= 300
    assert rate_limits.earliest(call("slack:T1", "new"), taken[-1]) > taken[-1]
    assert rate_limits.earliest(call("slack:T2", "new"), taken[-1]) == taken[-1]


def test_looks_have_a_minute_of_their_own_and_take_nothing_from_what_is_posted() -> None:
    rate_limits = RateLimits()
    looks = greedy(rate_limits, "slack:T1", 1000, NOW + 60 * SECOND, Method.FIND)
    assert 43 <= len(looks) <= 50
    assert rate_limits.earliest(call("slack:T1", "C0", Method.FIND), looks[-1]) > looks[-1]
    assert rate_limits.earliest(call("slack:T1", "C0"), looks[-1]) == looks[-1]
    assert rate_limits.earliest(call("slack:T1", "C0", Method.TELL), looks[-1]) == looks[-1]


@pytest.mark.parametrize(
    ("reach", "held"),
    [
        (Reach.CHANNEL, {("slack:T1", "C1")}),
        (Reach.WORKSPACE, {("slack:T1", "C1"), ("slack:T1", "C2")}),
        (Reach.PLATFORM, {("slack:T1", "C1"), ("slack:T1", "C2"), ("slack:T2", "C1"), ("slack:T2", "C2")}),
    ],
)
@pytest.mark.parametrize("method", Method)
def test_a_rest_reaches_as_far_as_the_platform_says_and_holds_for_its_own_method(
    reach: Reach, held: set[tuple[str, str]], method: Method
) -> None:
    rate_limits, until = RateLimits(), NOW + 30 * SECOND
    rate_limits.rest(call("slack:T1", "C1", method), reach, until, NOW)

    places = {(workspace, channel) for workspace in ("slack:T1", "slack:T2") for channel in ("C1", "C2")}
    assert {place for place in places if rate_limits.earliest(call(*place, method), NOW) == until} == held
    assert all(rate_limits.earliest(call(*place, method), until) == until for place in places)
    assert rate_limits.earliest(call("discord:1", "C1", method), NOW) == NOW
    others = {each for each in Method if each is not method}
    assert all(rate_limits.earliest(call(*place, each), NOW) == NOW for place in places for each in others)


def test_a_platform_that_counts_everything_together_rests_from_everything() -> None:
    rate_limits, until = RateLimits(), NOW + 30 * SECOND
    rate_limits.rest(call("discord:1", "C1", Method.FIND), Reach.PLATFORM, until, NOW)
    assert all(rate_limits.earliest(call("discord:2", "C2", method), NOW) == until for method in Method)
    rate_limits.rest(call("discord:1", "C1", Method.FIND), Reach.CHANNEL, until + SECOND, NOW)
    assert rate_limits.earliest(call("discord:1", "C1"), NOW) == until


def test_a_rest_is_never_shortened() -> None:
    rate_limits = RateLimits()
    rate_limits.rest(call("slack:T1"), Reach.CHANNEL, NOW + 60 * SECOND, NOW)
    rate_limits.rest(call("slack:T1"), Reach.CHANNEL, NOW + 5 * SECOND, NOW + SECOND)
    assert rate_limits.earliest(call("slack:T1"), NOW + SECOND) == NOW + 60 * SECOND


def test_a_clock_that_is_set_back_makes_nobody_wait() -> None:
    rate_limits, ahead = RateLimits(), NOW + timedelta(days=1)
    rate_limits.take(call("slack:T1"), ahead)
    rate_limits.rest(call("slack:T1"), Reach.PLATFORM, ahead + 60 * SECOND, ahead)

    assert rate_limits.earliest(call("slack:T1"), NOW) == NOW
    rate_limits.take(call("slack:T1"), NOW)
    assert NOW < rate_limits.earliest(call("slack:T1"), NOW) < NOW + 2 * SECOND


def test_what_binds_nobody_any_more_is_forgotten() -> None:
    rate_limits = RateLimits()
    for number in range(5000):
        now = NOW + number * SECOND
        rate_limits.rest(call("slack:T1", f"C{number}"), Reach.CHANNEL, now + SECOND, now)
        rate_limits.take(call("slack:T1", f"C{number}"), now)
    assert len(rate_limits._paces) <= 1002
    assert len(rate_limits._rests) <= 1001


class Hand:
    """A clock that only waiting moves."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    async def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@given(gaps=st.lists(st.integers(0, 400), min_size=1, max_size=400))
async def test_however_requests_bunch_up_no_second_holds_more_than_the_platform_takes(gaps: list[int]) -> None:
    clock = Hand(NOW)
    gate = SlidingWindow(clock.wait)
    left = []
    for gap in gaps:
        clock.now += gap * SECOND / 10_000
        await gate.enter(call("discord:1"), clock)
        left.append(clock.now)

    assert left == sorted(left)
    assert all(later - before > SECOND for before, later in zip(left, left[50:], strict=False))


async def test_a_gate_holds_up_nobody_without_a_limit_on_another_platform_or_by_a_clock_that_stands_still() -> None:
    clock = Hand(NOW)
    gate = SlidingWindow(clock.wait)
    for _ in range(1000):
        await gate.enter(call("slack:T1"), clock)
        await gate.enter(call("nowhere"), clock)
    assert clock.now == NOW

    async def still(seconds: float) -> None:
        assert seconds > 0

    stands = SlidingWindow(still)
    for _ in range(200):
        await stands.enter(call("discord:1"), lambda: NOW)


async def test_gates_that_share_what_left_let_no_more_through_together() -> None:
    clock, left = Hand(NOW), Departures()
    gates = [SlidingWindow(clock.wait, left) for _ in range(3)]
    for turn in range(45):
        await gates[turn % 3].enter(call("discord:1"), clock)
    assert clock.now == NOW

    await gates[0].enter(call("discord:1"), clock)
    assert clock.now > NOW + SECOND
