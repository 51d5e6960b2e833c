"""Pausing and lifting in any order, and processes that die between any two steps; on both stores.

What a person paused is never lifted. What the service paused is lifted when the platform shows nothing that is in the way,
and only then. Each owner is told of each pause and of each resumption once: the audit says how many there were.
"""

import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bot.delivery import Deliverer, DeliveryContext, SubscriptionPauser, SubscriptionResumer
from bot.errors import Reach, Refused
from bot.models import Refusal, Subscription
from bot.ports.store import Store
from bot.store.sqlite.store import SqliteStore
from tests.bot.deliveries import change, subscription
from tests.conftest import NOW, tries
from tests.fakes.transcript import Clock, Crash, Fault, Stepped, Steps, Transcript
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

T = TypeVar("T")

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
PLACES = (("C1", "kv", "U1"), ("C1", "gpu", "U2"), ("C2", "kv", "U1"), ("C3", "kv", ""))
CHANNELS = ("C1", "C2", "C3")
WORKSPACE = "chat:T1"

channels = st.sampled_from(CHANNELS)
places = st.integers(0, len(PLACES) - 1)
deaths = st.none() | st.integers(0, 60)


class Lifts(RuleBasedStateMachine):
    """A service that pauses and resumes, a platform that opens and closes, people, and deaths."""

    def store_at(self, folder: Path) -> AnyStore:
        raise NotImplementedError

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.store = self.store_at(Path(self.folder.name) / "lifts.db")
        self.run(self.store.open())
        self.clock = Clock(NOW)
        self.chat = Transcript(self.clock)
        self.by_person: dict[str, Subscription] = {}
        self.in_between: set[str] = set()  # what a person changed after a death, before it could be told
        for number, (channel, topic, owner) in enumerate(PLACES):
            made = subscription(number, channel=channel, topic=topic, made_by=owner)
            self.run(self.store.workspaces.save_subscription(made, change(), replaces=0))
        self.begin_anew()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)

    def begin_anew(self, steps: Steps | None = None) -> None:
        """Begin a process, which lives for so many steps."""
        self.chat.steps = steps or Steps()
        store = cast(Store, Stepped(self.store, self.chat.steps))
        self.context = DeliveryContext(store, store.ledger, {"chat": self.chat}, chance=random.Random(0))

    def may_die(self, work: Coroutine[Any, Any, object], death: int | None) -> None:
        """Do it; where the process dies in it, another one begins a minute later."""
        steps = self.chat.steps
        steps.left = None if death is None else steps.taken + death
        try:
            self.run(_with_all_that_it_began(work))
            steps.left = None
        except Crash:
            self.clock.advance(60 * SECOND)
            self.begin_anew()

    def all(self) -> dict[str, Subscription]:
        return {each.id: each for each in self.run(self.store.workspaces.subscriptions(WORKSPACE))}

    def is_hindered(self, channel: str) -> bool:
        return channel in self.chat.closed and channel not in self.chat.unseen

    # --- the platform

    @rule(channel=channels, unseen=st.booleans(), everywhere=st.booleans(), death=deaths)
    def refuse(self, channel: str, unseen: bool, everywhere: bool, death: int | None) -> None:
        """A post is refused, in a channel or everywhere."""
        for each in CHANNELS if everywhere else (channel,):
            self.chat.closed[each] = Refused("It is closed.")
            (self.chat.unseen.add if unseen else self.chat.unseen.discard)(each)
        reach = Reach.WORKSPACE if everywhere else Reach.CHANNEL
        refusal = Refusal(WORKSPACE, channel, reach, f"It is closed ({channel}).")
        self.clock.advance(SECOND)
        self.may_die(SubscriptionPauser(self.context).pause(refusal, self.clock()), death)

    @rule(channel=channels | st.just(""), death=deaths, closes=st.booleans())
    def say_that_it_is_closed(self, channel: str, death: int | None, closes: bool) -> None:
        """An event says so, which may be late."""
        if closes:
            self.chat.closed[channel] = Refused("It is closed.")
            self.chat.unseen.discard(channel)
        self.clock.advance(SECOND)
        self.may_die(SubscriptionPauser(self.context).pause_closed(WORKSPACE, channel, "It is gone.", self.clock()), death)
        self.chat.closed.pop("", None)

    @rule(channel=channels, hints=st.booleans())
    def let_in(self, channel: str, hints: bool) -> None:
        self.chat.closed.pop(channel, None)
        self.chat.unseen.discard(channel)
        if hints:
            SubscriptionResumer(self.context).hint(WORKSPACE, channel)

    @rule(channel=channels | st.just(""))
    def hint(self, channel: str) -> None:
        SubscriptionResumer(self.context).hint(WORKSPACE, channel)

    @rule(faults=st.lists(st.sampled_from([Fault.DELAYED, Fault.LOST_REQUEST, Fault.BROKEN]), max_size=3))
    def be_out_of_reach(self, faults: list[Fault]) -> None:
        self.chat.examinations = faults

    # --- people

    def reach_for(self, number: int) -> Subscription:
        """Return a subscription that a person changes."""
        there = self.all()[f"s{number}"]
        if self.run(self.store.outbox.refusals()):
            self.in_between.add(f"{there.channel} {there.topic}")
        return there

    @rule(number=places, until=st.booleans())
    def pause(self, number: int, until: bool) -> None:
        there = self.reach_for(number)
        held = there.held_back(self.clock() + 20 * DAY if until else None, self.clock())
        self.by_person[there.id] = self.run(self.store.workspaces.save_subscription(held, change(), replaces=there.revision))

    @rule(number=places)
    def resume(self, number: int) -> None:
        there = self.reach_for(number)
        self.by_person.pop(there.id, None)
        if there.paused:
            self.run(self.store.workspaces.save_subscription(there.resumed(), change(), replaces=there.revision))

    # --- the service

    @rule(span=st.sampled_from([SECOND, 10 * SECOND, HOUR, DAY]), death=deaths)
    def round(self, span: timedelta, death: int | None) -> None:
        self.clock.advance(span)
        before, hindered = self.all(), {each for each in CHANNELS if self.is_hindered(each)}
        # What answers for a day in a way that nobody knows may do so for good, and is tried.
        hindered -= {place[1] for place, each in self.context.obstacle_state.examined.items() if each.odd_since is not None}
        self.may_die(self._round(), death)
        self.run(Deliverer(self.context, pause=self.clock.pause).send_notices(self.clock))  # who dies in it may tell again
        for name, each in self.all().items():
            if before[name].is_held_by_service and not each.paused:
                assert each.channel not in hindered, "lifted while the platform showed an obstacle"

    async def _round(self) -> None:
        await SubscriptionResumer(self.context).resume_due(self.clock)
        await SubscriptionPauser(self.context).apply_recorded(self.clock())

    # --- what holds

    @invariant()
    def what_a_person_paused_is_as_they_left_it(self) -> None:
        there = self.all()
        for name, held in self.by_person.items():
            if held.is_paused(self.clock()):
                assert there[name] == held

    def teardown(self) -> None:
        if not hasattr(self, "folder"):
            return
        try:
            self.settle()
        finally:
            self.run(self.store.close())
            self.loop.close()
            self.folder.cleanup()

    def settle(self) -> None:
        self.chat.examinations = []
        for span in (SECOND, *[12 * HOUR] * 24):
            self.round(span, None)
        for each in self.all().values():
            assert each.is_held_by_service <= self.is_hindered(each.channel), f"{each} should go on"
        told, done = self.told(), self.done()
        assert told <= done
        assert {each for each in done if told[each] < done[each]} <= {each for each in done if each[0] in self.in_between}

    def done(self) -> Counter[tuple[str, str]]:
        """Return how often the service paused and resumed each subscription that somebody made, as the audit says."""
        owned = {f"subscription {channel} {topic} daily": f"{channel} {topic}" for channel, topic, owner in PLACES if owner}
        lines = self.run(self.store.workspaces.changes(WORKSPACE, limit=10_000))
        return Counter(
            (owned[each.what], "paused" if each.after.startswith("paused") else "go on")
            for each in lines
            if each.person == "broadsheet" and each.what in owned
        )

    def told(self) -> Counter[tuple[str, str]]:
        """Return how often their owners were told so."""
        found = Counter[tuple[str, str]]()
        for channel, topic, owner in PLACES:
            for _, person, text in self.chat.told:
                what = "paused" if " are paused. " in text else "go on"
                if person == owner and f"{topic} in {channel}" in text.partition(" are paused. ")[0].partition(" go on")[0]:
                    found[f"{channel} {topic}", what] += 1
        return found


async def _with_all_that_it_began(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class InMemory(Lifts):
    def store_at(self, folder: Path) -> AnyStore:
        return MemoryStore()


class InSqlite(Lifts):
    def store_at(self, folder: Path) -> AnyStore:
        return SqliteStore(folder)


_MANY = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # shrinking one of these takes minutes
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestInMemory = InMemory.TestCase
TestInMemory.settings = settings(_MANY, max_examples=tries(200))
TestInSqlite = InSqlite.TestCase
TestInSqlite.settings = settings(_MANY, max_examples=tries(40))
