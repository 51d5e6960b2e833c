"""Nothing is posted twice and nothing is lost in silence: whatever the platform does, and wherever a process dies.

Where the platform remembers nonces, or lets a channel be looked into, every digest arrives once. Where it does neither,
what may have been posted is never posted again, and stands in the ledger by name.
"""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery import notice_restored
from bot.models import Abilities, Delivery, DeliveryState
from tests.bot.deliveries import Harness
from tests.conftest import NOW, tries
from tests.fakes.transcript import BOTH, HISTORY, NEITHER, NONCE, NOTES, Fault, delivery, numbered

KINDS = (NONCE, HISTORY, BOTH, NEITHER, NOTES)
POSTED_UNKNOWN = (Fault.LOST_ANSWER, Fault.SLOW, Fault.STUMBLED)
UNCERTAIN = (*POSTED_UNKNOWN, Fault.LOST_REQUEST, Fault.BROKEN)
UNPOSTED = (Fault.DELAYED, Fault.RETRY_AFTER)


def harness(abilities: Abilities, faults: list[Fault] | None = None, looks: list[Fault] | None = None) -> Harness:
    return Harness(abilities, faults=faults or [], looks=looks or [])


async def none_twice(made: Harness) -> dict[str, Delivery]:
    """Hold what holds always; return the ledger's rows."""
    rows = await made.rows()
    for each in rows.values():
        posted = made.chat.posted(each.id)
        assert posted <= 1, each
        if each.state is DeliveryState.DONE:
            assert posted == 1, each
        elif each.state is not DeliveryState.FAILED:
            assert each.reason, each
    for channel in {each.channel for each in rows.values()}:
        order = [each.marker for each in made.chat.messages if each.channel == channel]
        assert order == sorted(order), "a part was posted before an earlier one"
    return rows


async def all_once(made: Harness) -> None:
    """Hold that every digest stands in its channel, once."""
    rows = await none_twice(made)
    assert {each.state for each in rows.values()} == {DeliveryState.DONE}
    heads = {each.channel: each.message for each in rows.values() if each.part == 1}
    for each in rows.values():
        assert each.thread == ("" if each.part == 1 else heads[each.channel])


@pytest.mark.parametrize("abilities", KINDS[:3], ids=["nonce", "history", "both"])
@pytest.mark.parametrize("fault", [Fault.NONE, *UNPOSTED, *UNCERTAIN])
async def test_a_process_may_die_between_any_two_steps_and_every_digest_arrives_once(
    abilities: Abilities, fault: Fault
) -> None:
    for steps in range(1, await steps_of_a_life(abilities, fault) + 1):
        made = harness(abilities, [fault])
        await made.plant(numbered([2], NOW))
        await made.live(steps)
        await all_once(made)


async def test_what_shows_late_in_the_history_is_not_posted_again_by_who_comes_after_a_death() -> None:
    for steps in range(1, await steps_of_a_life(HISTORY, Fault.NONE) + 1):
        made = Harness(HISTORY, lag=timedelta(seconds=55))
        await made.plant(numbered([2], NOW))
        await made.live(steps)
        await all_once(made)


async def test_who_dies_while_a_long_history_is_read_leaves_its_place_to_who_comes_after() -> None:
    for steps in range(1, 80):
        made = Harness(HISTORY, page=1)
        await made.plant(numbered([2], NOW))
        for number in range(4):  # others' messages
            await made.chat.send(delivery(10 + number, now=NOW, channel="C1"))
        made.chat.faults = [Fault.LOST_ANSWER]
        await made.live(steps)
        await all_once(made)
        assert len(made.chat.looked) < 20


@pytest.mark.parametrize("abilities", [HISTORY, BOTH])
async def test_a_death_while_a_restored_database_catches_up_posts_nothing_again(abilities: Abilities) -> None:
    for steps in range(1, 60):
        made = harness(abilities)
        await made.plant(numbered([1, 1], NOW))
        await made.chat.send(numbered([1], NOW)[0])  # by the service that wrote on after the copy was made
        made.clock.advance(timedelta(hours=2))
        await notice_restored(made.store.facts, NOW, made.clock())
        await made.live(steps)
        await none_twice(made)
        assert {each.state for each in (await made.rows()).values()} == {DeliveryState.DONE}


async def steps_of_a_life(abilities: Abilities, fault: Fault) -> int:
    """Return after how many steps all is settled when nobody dies."""
    made = harness(abilities, [fault])
    await made.plant(numbered([2], NOW))
    steps = await made.live()
    assert steps > 20
    return steps


@pytest.mark.parametrize("fault", [Fault.NONE, *UNPOSTED, *UNCERTAIN])
async def test_where_nothing_can_be_known_nothing_is_posted_twice_and_the_unknown_is_named(fault: Fault) -> None:
    for steps in range(1, await steps_of_a_life(NEITHER, fault) + 1):
        made = harness(NEITHER, [fault])
        await made.plant(numbered([2], NOW))
        await made.live(steps)
        rows = list((await none_twice(made)).values())
        for each in rows:
            assert each.state in {DeliveryState.DONE, DeliveryState.AMBIGUOUS, DeliveryState.EXPIRED}
            if each.state is DeliveryState.AMBIGUOUS:
                assert each.reason.startswith("unknown: ")
            if each.state is DeliveryState.EXPIRED:
                assert each.reason == "It is not known whether the part before was posted."


@pytest.mark.parametrize("fault", [Fault.NONE, *UNPOSTED, *UNCERTAIN])
async def test_what_was_noted_before_it_was_begun_is_unknown_only_from_then_on(fault: Fault) -> None:
    for steps in range(1, await steps_of_a_life(NOTES, fault) + 1):
        made = harness(NOTES, [fault])
        await made.plant(numbered([1, 1], NOW))
        await made.live(steps)
        for each in (await none_twice(made)).values():
            assert each.state is DeliveryState.DONE or each.id in made.chat.begun, (steps, each)


faults = st.lists(st.sampled_from([*Fault]), max_size=8)
deaths = st.lists(st.integers(1, 60), max_size=6)
digests = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@settings(max_examples=tries(150), deadline=None)
@given(st.sampled_from(KINDS), faults, faults, deaths, digests)
async def test_no_story_of_faults_and_deaths_posts_anything_twice_or_leaves_it_unsaid(
    abilities: Abilities, sends: list[Fault], looks: list[Fault], ends: list[int], parts: list[int]
) -> None:
    made = harness(abilities, list(sends), list(looks))
    await made.plant(numbered(parts, NOW))

    await made.live(*ends)

    for each in (await none_twice(made)).values():
        assert each.state in {DeliveryState.DONE, DeliveryState.FAILED, DeliveryState.EXPIRED} or each.reason.startswith(
            "unknown: "
        ), each
        if each.state is DeliveryState.FAILED:
            assert Fault.REFUSED in sends


@settings(max_examples=tries(100), deadline=None)
@given(
    st.sampled_from([HISTORY, BOTH]),
    st.lists(st.sampled_from([*UNPOSTED, *UNCERTAIN, Fault.NONE]), max_size=8),
    st.lists(st.sampled_from([*UNPOSTED, Fault.LOST_REQUEST, Fault.NONE]), max_size=4),
    deaths,
    digests,
)
async def test_where_a_channel_can_be_looked_into_nothing_is_lost_either(
    abilities: Abilities, sends: list[Fault], looks: list[Fault], ends: list[int], parts: list[int]
) -> None:
    made = harness(abilities, list(sends), list(looks))
    await made.plant(numbered(parts, NOW))

    await made.live(*ends)

    await all_once(made)


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.sampled_from([*UNPOSTED, Fault.NONE]), max_size=8), st.sampled_from(UNCERTAIN), digests)
async def test_a_nonce_alone_loses_nothing_of_an_answer_that_is_lost_after_any_delays(
    sends: list[Fault], fault: Fault, parts: list[int]
) -> None:
    made = harness(NONCE, [*sends, fault])
    await made.plant(numbered(parts, NOW))

    await made.live()

    await all_once(made)
