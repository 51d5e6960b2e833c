"""Whatever a platform refuses for no known reason, and for how long: nothing is paused, lost unsaid, or posted twice.

What the platform refuses several channels is posted when that is over. What it refuses one alone is given up after an hour,
with the reason.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import Delayed, Reach, Rejected
from bot.models import Delivery, DeliveryState
from tests.bot.deliveries import Harness
from tests.conftest import NOW, tries
from tests.fakes.transcript import BOTH, Crash, Steps, Transcript, numbered

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
EVERYWHERE, PAGE = 0, "page"
OVER = 11 * HOUR  # from then on everything is taken again; a digest may be posted for twelve hours


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which a channel, or the whole platform, takes nothing; in minutes from the beginning."""

    channel: int
    code: str
    begins: int
    lasts: int

    def holds(self, channel: str, now: datetime) -> bool:
        begins = NOW + self.begins * MINUTE
        return begins <= now < begins + self.lasts * MINUTE and self.channel in (EVERYWHERE, int(channel[1:]))


@dataclass
class Moody(Transcript):
    """A platform with such times, which writes down what it refused."""

    spells: list[Spell] = field(default_factory=list)
    refused: list[tuple[datetime, str, str]] = field(default_factory=list)  # when, in which channel, with which code

    async def send(self, delivery: Delivery) -> str:
        spell = next((each for each in self.spells if each.holds(delivery.channel, self.clock())), None)
        if spell is not None:
            self.steps.step()
            self.refused.append((self.clock(), delivery.channel, spell.code))
            if spell.code == PAGE:
                raise Delayed("Something on the way answered.", reach=Reach.PLATFORM)
            raise Rejected(f"It was not taken ({spell.code}).", failure=spell.code)
        return await super().send(delivery)


async def lived(
    parts: list[int], spells: list[Spell], *, deaths: list[int] | None = None, processes: int = 1
) -> tuple[Harness, Moody]:
    """Let a service live through the spells, with processes that die, until nothing more is waiting.

    Of several processes on one ledger any may have the next round.
    """
    dice = random.Random(0)
    made = Harness(BOTH)
    made.chat = chat = Moody(made.clock, BOTH, spells=spells)
    await made.plant(numbered(parts, NOW))
    for steps in [*(Steps(last) for last in deaths or ()), Steps()]:
        deliverers = [made.deliverer(steps) for _ in range(processes)]
        try:
            while made.clock() < NOW + 14 * HOUR:
                await made.round(dice.choice(deliverers))
                waiting = [each for each in (await made.rows()).values() if each.state is not DeliveryState.DONE]
                made.clock.now = max(made.clock(), min((each.next_at for each in waiting), default=NOW))
                if not any(each.state in (DeliveryState.PENDING, DeliveryState.AMBIGUOUS) for each in waiting):
                    break
        except Crash:
            made.clock.advance(MINUTE)
    return made, chat


async def judge(made: Harness, chat: Moody, *, deaths: bool) -> None:
    assert not [each for each in await made.store.workspaces.subscriptions("chat:T1") if each.paused]
    for each in (await made.rows()).values():
        assert chat.posted(each.id) == (each.state is DeliveryState.DONE), each
        if each.state is DeliveryState.DONE:
            continue
        assert each.state in (DeliveryState.FAILED, DeliveryState.EXPIRED), each
        assert "was not taken" in each.reason, each
        if each.state is DeliveryState.FAILED and not deaths:
            tried = [(at, code) for at, channel, code in chat.refused if channel == each.channel]
            last, code = tried[-1]
            lately = {channel for at, channel, other in chat.refused if other == code and last - HOUR <= at <= last}
            assert lately == {each.channel}, "what several are refused is the platform's"
            assert len([at for at, _ in tried if at >= last - 2 * HOUR]) >= 3
            assert any(at <= last - HOUR for at, _ in tried)


ends = int(OVER / MINUTE)
spells = st.lists(
    st.builds(
        Spell, st.integers(0, 4), st.sampled_from(("code 1", "code 2", PAGE)), st.integers(0, ends), st.integers(1, ends)
    ),
    max_size=6,
)
parts = st.lists(st.integers(1, 2), min_size=1, max_size=4)


def ended(some: list[Spell]) -> list[Spell]:
    return [Spell(each.channel, each.code, each.begins, min(each.lasts, ends - each.begins)) for each in some]


@settings(max_examples=tries(120), deadline=None)
@given(parts, spells, st.lists(st.integers(1, 80), max_size=4))
async def test_no_mix_of_unknown_refusals_pauses_anything_or_loses_it_unsaid(
    many: list[int], some: list[Spell], deaths: list[int]
) -> None:
    made, chat = await lived(many, ended(some), deaths=deaths)
    await judge(made, chat, deaths=bool(deaths))


@settings(max_examples=tries(60), deadline=None)
@given(
    parts,
    st.lists(st.builds(Spell, st.integers(0, 4), st.just(PAGE), st.integers(0, ends), st.integers(1, ends)), max_size=6),
)
async def test_what_a_proxy_answers_for_whomever_and_however_long_is_posted_when_it_is_over(
    many: list[int], some: list[Spell]
) -> None:
    made, chat = await lived(many, ended(some))
    assert {each.state for each in (await made.rows()).values()} == {DeliveryState.DONE}
    await judge(made, chat, deaths=False)


@pytest.mark.parametrize("lasts", [5, 59, 61, 300, 600])
@pytest.mark.parametrize("channels", [2, 3, 6])
@pytest.mark.parametrize("processes", [1, 3])
async def test_what_several_channels_are_refused_is_posted_in_all_of_them_when_it_is_over(
    channels: int, lasts: int, processes: int
) -> None:
    made, chat = await lived([2] * channels, [Spell(EVERYWHERE, "code 1", 0, lasts)], processes=processes)
    assert {each.state for each in (await made.rows()).values()} == {DeliveryState.DONE}
    await judge(made, chat, deaths=False)


@pytest.mark.parametrize("processes", [1, 3])
async def test_one_channel_alone_is_posted_in_after_a_bad_hour_and_given_up_after_a_worse_one(processes: int) -> None:
    for lasts, state in ((5, DeliveryState.DONE), (55, DeliveryState.DONE), (360, DeliveryState.FAILED)):
        made, chat = await lived([1, 1], [Spell(2, "code 1", 0, lasts)], processes=processes)
        rows = await made.rows()
        assert (rows["d1p1"].state, rows["d2p1"].state) == (DeliveryState.DONE, state)
        await judge(made, chat, deaths=False)
