from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.budgets import Budgets, Gate
from bot.errors import Reach
from bot.models import Abilities
from tests.conftest import NOW

SECOND = timedelta(seconds=1)
DISCORD = Abilities(per_second=50, per_channel_second=5)
SLACK = Abilities(per_channel_second=1, per_workspace_minute=300)


def greedy(
    budgets: Budgets, workspace: str, channels: int, until: datetime, step: timedelta = SECOND / 1000
) -> list[datetime]:
    """Post as soon as it is allowed, to the channels in turn; return when."""
    now, taken, channel = NOW, [], 0
    while now < until:
        free = budgets.when(workspace, f"C{channel}", now)
        if free <= now:
            budgets.take(workspace, f"C{channel}", now)
            taken.append(now)
            channel = (channel + 1) % channels
        else:
            now = max(free, now + step)
    return taken


def most_within(taken: list[datetime], span: timedelta) -> int:
    return max(sum(begin <= each < begin + span for each in taken) for begin in taken)


def test_a_platforms_fifty_a_second_are_kept_at_forty_five() -> None:
    taken = greedy(Budgets({"discord": DISCORD}), "discord:1", 1000, NOW + 20 * SECOND)

    assert 44 * 20 <= len(taken) <= 46 * 20
    assert most_within(taken, SECOND) <= 48


@given(st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_after_any_pauses_no_second_has_more_than_the_platform_allows(pauses: list[float]) -> None:
    budgets, now = Budgets({"discord": DISCORD}), NOW
    taken: list[datetime] = []
    for pause in pauses:
        now += timedelta(seconds=pause)
        while budgets.when("discord:1", f"C{len(taken)}", now) <= now:
            budgets.take("discord:1", f"C{len(taken)}", now)
            taken.append(now)
    assert most_within(taken, SECOND) <= 50


def test_one_channel_is_posted_to_a_little_slower_than_once_a_second_and_others_need_not_wait() -> None:
    budgets = Budgets({"slack": SLACK})
    taken = greedy(budgets, "slack:T1", 1, NOW + 10 * SECOND)
    assert all(later - earlier > SECOND for earlier, later in pairwise(taken))
    assert len(taken) >= 9
    assert budgets.when("slack:T2", "C0", NOW + 10 * SECOND) == NOW + 10 * SECOND


def test_a_workspaces_minute_is_its_own() -> None:
    budgets = Budgets({"slack": SLACK})
    taken = greedy(budgets, "slack:T1", 1000, NOW + 60 * SECOND)
    assert 260 <= len(taken) <= 300
    assert budgets.when("slack:T1", "new", taken[-1]) > taken[-1]
    assert budgets.when("slack:T2", "new", taken[-1]) == taken[-1]


@pytest.mark.parametrize(
    ("reach", "held"),
    [
        (Reach.CHANNEL, {("slack:T1", "C1")}),
        (Reach.WORKSPACE, {("slack:T1", "C1"), ("slack:T1", "C2")}),
        (Reach.PLATFORM, {("slack:T1", "C1"), ("slack:T1", "C2"), ("slack:T2", "C1"), ("slack:T2", "C2")}),
    ],
)
def test_a_rest_reaches_as_far_as_the_platform_says(reach: Reach, held: set[tuple[str, str]]) -> None:
    budgets, until = Budgets({}), NOW + 30 * SECOND
    budgets.rest("slack:T1", "C1", reach, until, NOW)

    places = {(workspace, channel) for workspace in ("slack:T1", "slack:T2") for channel in ("C1", "C2")}
    assert {place for place in places if budgets.when(*place, NOW) == until} == held
    assert all(budgets.when(*place, until) == until for place in places)
    assert budgets.when("discord:1", "C1", NOW) == NOW


def test_a_rest_is_never_shortened() -> None:
    budgets = Budgets({})
    budgets.rest("slack:T1", "C1", Reach.CHANNEL, NOW + 60 * SECOND, NOW)
    budgets.rest("slack:T1", "C1", Reach.CHANNEL, NOW + 5 * SECOND, NOW + SECOND)
    assert budgets.when("slack:T1", "C1", NOW + SECOND) == NOW + 60 * SECOND


def test_a_clock_that_is_set_back_makes_nobody_wait() -> None:
    budgets, ahead = Budgets({"slack": SLACK}), NOW + timedelta(days=1)
    budgets.take("slack:T1", "C1", ahead)
    budgets.rest("slack:T1", "C1", Reach.PLATFORM, ahead + 60 * SECOND, ahead)

    assert budgets.when("slack:T1", "C1", NOW) == NOW
    budgets.take("slack:T1", "C1", NOW)
    assert NOW < budgets.when("slack:T1", "C1", NOW) < NOW + 2 * SECOND


def test_what_binds_nobody_any_more_is_forgotten() -> None:
    budgets = Budgets({"slack": Abilities(per_channel_second=1)})
    for number in range(5000):
        now = NOW + number * SECOND
        budgets.rest("slack:T1", f"C{number}", Reach.CHANNEL, now + SECOND, now)
        budgets.take("slack:T1", f"C{number}", now)
    assert len(budgets._paces) <= 1001
    assert len(budgets._rests) <= 1001


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
    gate = Gate({"discord": DISCORD}, clock.wait)
    left = []
    for gap in gaps:
        clock.now += gap * SECOND / 10_000
        await gate.enter("discord:1", clock)
        left.append(clock.now)

    assert left == sorted(left)
    assert all(later - before > SECOND for before, later in zip(left, left[50:], strict=False))


async def test_a_gate_holds_up_nobody_without_a_limit_on_another_platform_or_by_a_clock_that_stands_still() -> None:
    clock = Hand(NOW)
    gate = Gate({"discord": DISCORD, "slack": SLACK}, clock.wait)
    for _ in range(1000):
        await gate.enter("slack:T1", clock)
        await gate.enter("nowhere", clock)
    assert clock.now == NOW

    async def still(seconds: float) -> None:
        assert seconds > 0

    stands = Gate({"discord": DISCORD}, still)
    for _ in range(200):
        await stands.enter("discord:1", lambda: NOW)
