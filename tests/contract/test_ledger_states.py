"""Whoever claims, crashes and comes back late: nobody holds what another holds. Both stores against a plain model."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from bot.models import ON_REQUEST, Change, Delivery, DeliveryState, Occurrence, OccurrenceState, Schedule, Subscription
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW, tries
from tests.contract.test_ledger import LEASE, occurrence, part, settled
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import emptied

WORKSPACES = ("slack:T1", "slack:T10", "local")  # one's name begins with another's
EVERYTHING = 1000
ENDED = (DeliveryState.FAILED, DeliveryState.EXPIRED)

numbers = st.integers(0, 50)
workspaces = st.sampled_from(WORKSPACES)
Place = tuple[str, str, date, int]


def place_of(delivery: Delivery) -> Place:
    return delivery.workspace, *delivery.occurrence


def ended(delivery: Delivery, reason: str) -> Delivery:
    return replace(delivery, state=DeliveryState.EXPIRED, reason=reason, lease_until=None)


class Desk(RuleBasedStateMachine):
    """Workspaces that subscribe, and claimers that may hold any claim for ever; what each store should say of it."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.memory = MemoryStore()
        self.processes = self.of_each_process(Path(self.folder.name))
        for process in self.processes:
            self.loop.run(process.open())
        self.now = NOW
        self.made = 0
        self.subscriptions: dict[str, Subscription] = {}  # by workspace, one in each
        self.happened: dict[Place, Occurrence] = {}
        self.deliveries: dict[tuple[str, str], Delivery] = {}
        self.seen: list[Delivery] = []  # every delivery that a claimer was ever shown
        self.held: list[Delivery] = []  # every claim that was ever made
        for workspace in WORKSPACES:
            self.subscribe(workspace)
            for days in (0, 1):
                self.publish(workspace, days, slot=0, parts=2)

    def of_each_process(self, folder: Path) -> list[AnyStore]:
        """Return what the processes have opened that take turns, all on one database."""
        return [SqliteStore(folder / "ledger.db")]

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            for process in self.processes:
                self.loop.run(process.close())
            self.loop.close()
            self.folder.cleanup()

    def both(self, ask: Callable[[AnyStore], Awaitable[Any]]) -> Any:
        async def run() -> list[Any]:
            self.processes.append(self.processes.pop(0))
            return [await ask(store) for store in (self.memory, self.processes[0])]

        first, second = self.loop.run(run())
        assert first == second
        return first

    # --- subscriptions and occurrences

    def change(self, workspace: str) -> Change:
        return Change(workspace=workspace, at=self.now, person="U1", what="subscription")

    def subscribe(self, workspace: str) -> None:
        self.made += 1
        given = Subscription(
            id=f"s{self.made}", workspace=workspace, channel="C1", topic="kv", schedule=Schedule(), baseline=NOW
        )
        self.subscriptions[workspace] = self.both(
            lambda store: store.workspaces.save_subscription(given, self.change(workspace), replaces=0)
        )

    @precondition(lambda self: self.held)
    @rule(workspace=workspaces)
    def begin_anew(self, workspace: str) -> None:
        """Somebody unsubscribes, and subscribes again."""
        former = self.subscriptions[workspace]
        self.both(lambda store: store.workspaces.delete_subscription(former, self.change(workspace)))
        for place, each in self.happened.items():
            if place[:2] == (workspace, former.id) and each.state is OccurrenceState.DUE:
                self.happened[place] = replace(each, state=OccurrenceState.SKIPPED, reason="unsubscribed")
        for delivery in self.of(DeliveryState.PENDING):
            if delivery.occurrence[0] == former.id:
                self.put(ended(delivery, "unsubscribed"))
        self.subscribe(workspace)

    def due(self, workspace: str, days: int, slot: int, late: bool) -> None:
        ours = self.subscriptions[workspace]
        found = occurrence(ours, NOW.date() - timedelta(days=days), slot=slot, late=late)
        new = self.both(lambda store: store.ledger.open_occurrences([found], ours, self.now + timedelta(hours=1)))
        place = (workspace, ours.id, found.day, slot)
        assert new == (place not in self.happened)
        self.happened.setdefault(place, found)

    @rule(workspace=workspaces, days=st.integers(0, 2), slot=st.integers(0, 1), late=st.booleans())
    def tick(self, workspace: str, days: int, slot: int, late: bool) -> None:
        self.due(workspace, days, slot, late)

    @rule(workspace=workspaces, days=st.integers(0, 2), parts=st.sampled_from((2, 1, 0)))
    def ask_for_one(self, workspace: str, days: int, parts: int) -> None:
        """Somebody asks for a digest, which the tick has not found; what comes of it is as of any other."""
        ours = self.subscriptions[workspace]
        asked = occurrence(ours, NOW.date() - timedelta(days=days), slot=ON_REQUEST)
        place = (workspace, ours.id, asked.day, ON_REQUEST)
        assert self.both(lambda store: store.ledger.open_on_request(asked)) == (place not in self.happened)
        self.happened.setdefault(place, asked)
        self.publish(workspace, days, ON_REQUEST, parts)

    @rule(workspace=workspaces, days=st.integers(0, 2), slot=st.integers(0, 1), parts=st.sampled_from((3, 2, 1, 0)))
    def publish_one(self, workspace: str, days: int, slot: int, parts: int) -> None:
        self.publish(workspace, days, slot, parts)

    def publish(self, workspace: str, days: int, slot: int, parts: int) -> None:
        """A digest of so many messages is made for what is or was due; of none, and it is put off."""
        self.due(workspace, days, slot, late=False)
        seconds = 10 * days
        place = (workspace, self.subscriptions[workspace].id, NOW.date() - timedelta(days=days), slot)
        stored = self.happened[place]
        state = OccurrenceState.MADE if parts else OccurrenceState.DUE
        given = replace(stored, state=state, attempts=stored.attempts + 1, next_at=self.now + timedelta(seconds=seconds))
        fresh = [part(given, each, parts, next_at=self.now) for each in range(1, parts + 1)]
        closed = self.both(lambda store: store.ledger.close_occurrence(given, self.now, deliveries=fresh))
        assert closed == (stored.state is OccurrenceState.DUE)
        if closed:
            self.happened[given.workspace, given.subscription, given.day, given.slot] = given
            for each in fresh:
                self.put(each)

    # --- claimers

    @rule(seconds=st.sampled_from((1, 20, 45, 300)))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    def look(self, limit: int) -> list[Delivery]:
        due = self.both(lambda store: store.ledger.due_deliveries(self.now, limit=limit))
        unsettled = self.both(lambda store: store.ledger.unsettled_deliveries(self.now, limit=limit))
        found = [*due, *unsettled]
        self.seen += [each for each in found if each not in self.seen]
        return found

    @rule(number=numbers)
    def claim(self, number: int) -> None:
        """Somebody claims what is to be done. A crash is a claim that is never recorded."""
        found = self.look(3)
        if found:
            self.take(found[number % len(found)])

    @precondition(lambda self: self.happened)
    @rule(number=numbers, state=st.sampled_from((DeliveryState.DONE, *DeliveryState)), seconds=st.integers(0, 100))
    def deliver(self, number: int, state: DeliveryState, seconds: int) -> None:
        """Somebody claims what is to be done and records it at once."""
        before = len(self.held)
        self.claim(number)
        if len(self.held) > before:
            self.write(self.held[-1], state, seconds)

    @precondition(lambda self: self.seen)
    @rule(number=numbers)
    def claim_late(self, number: int) -> None:
        """Somebody claims what they were shown long ago."""
        self.take(self.seen[number % len(self.seen)])

    def take(self, given: Delivery) -> None:
        given = replace(given, unbegun=len(self.held) % 2 == 0)
        stored = self.deliveries[given.workspace, given.id]
        claimed = self.both(lambda store: store.ledger.claim(given, self.now, LEASE))
        assert (claimed is not None) == (stored.token == given.token and stored.state == given.state and self.free(stored))
        if claimed is None:
            return
        assert (given.workspace, given.id, claimed.token) not in {
            (each.workspace, each.id, each.token) for each in self.held
        }
        assert claimed.lease_until == self.now + LEASE
        assert (claimed.token, claimed.attempts) == (stored.token + 1, stored.attempts + 1)
        assert claimed.first_try == (stored.first_try or self.now)
        assert claimed.unbegun == (given.unbegun and (stored.state is DeliveryState.PENDING or stored.unbegun))
        self.held.append(claimed)
        self.put(claimed)

    def free(self, stored: Delivery) -> bool:
        if stored.state is DeliveryState.SENDING:
            return stored.lease_until is not None and stored.lease_until <= self.now
        return stored.state in (DeliveryState.PENDING, DeliveryState.AMBIGUOUS)

    @precondition(lambda self: self.held)
    @rule(number=numbers)
    def begin(self, number: int) -> None:
        """Somebody begins to send what they claimed, it may be long ago."""
        claim = self.held[-1 - number % len(self.held)]
        stored = self.deliveries[claim.workspace, claim.id]
        begun = self.both(lambda store: store.ledger.begin(claim))
        assert begun == (stored.state is DeliveryState.SENDING and stored.token == claim.token)
        if begun:
            self.put(replace(stored, unbegun=False))

    @precondition(lambda self: self.held)
    @rule(number=numbers, state=st.sampled_from((DeliveryState.DONE, *DeliveryState)), seconds=st.integers(0, 100))
    def record(self, number: int, state: DeliveryState, seconds: int) -> None:
        """Somebody records what they claimed, the last one more often than what is long forgotten."""
        claim = self.held[-1 - number % 3 % len(self.held)] if number % 2 else self.held[number % len(self.held)]
        self.write(claim, state, seconds)

    def write(self, claim: Delivery, state: DeliveryState, seconds: int) -> None:
        given = replace(
            claim,
            state=state,
            next_at=self.now + timedelta(seconds=seconds),
            message=f"m{len(self.held)}",
            reason=str(state),
            unbegun=False,
        )
        stored = self.deliveries[given.workspace, given.id]
        recorded = self.both(lambda store: store.ledger.record(given))
        assert recorded == (stored.state is DeliveryState.SENDING and stored.token == claim.token)
        if recorded:
            if state is DeliveryState.PENDING and self.subscriptions[given.workspace].id != given.occurrence[0]:
                given = ended(given, "unsubscribed")
            self.put(given)
            self.tell_later_parts(given)

    def tell_later_parts(self, recorded: Delivery) -> None:
        for each in self.waiting_after(recorded):
            if recorded.state in ENDED:
                self.put(ended(each, recorded.reason))
            elif recorded.state is DeliveryState.DONE and recorded.part == 1:
                self.put(replace(each, thread=recorded.message))

    def waiting_after(self, first: Delivery) -> list[Delivery]:
        return [
            each for each in self.of(DeliveryState.PENDING) if place_of(each) == place_of(first) and each.part > first.part
        ]

    @precondition(lambda self: self.held)
    @rule(number=numbers)
    def give_up(self, number: int) -> None:
        first = self.held[-1 - number % len(self.held)]
        later = self.waiting_after(first)
        assert self.both(lambda store: store.ledger.expire_parts(first, "Given up.")) == len(later)
        for each in later:
            self.put(ended(each, "Given up."))

    @rule()
    def reopen(self) -> None:
        self.loop.run(self.processes[0].close())
        self.loop.run(self.processes[0].open())

    # --- what should be found

    def put(self, delivery: Delivery) -> None:
        over = delivery.state in (DeliveryState.DONE, *ENDED)
        self.deliveries[delivery.workspace, delivery.id] = settled(delivery) if over else delivery

    def of(self, state: DeliveryState) -> list[Delivery]:
        return [each for each in self.deliveries.values() if each.state is state]

    @invariant()
    def each_workspace_finds_its_own(self) -> None:
        for workspace in WORKSPACES if hasattr(self, "deliveries") else ():
            self.finds_its_own(workspace)

    def finds_its_own(self, workspace: str) -> None:
        found = self.both(lambda store: store.ledger.deliveries(workspace, limit=EVERYTHING))
        ours = [each for each in self.deliveries.values() if each.workspace == workspace]
        assert sorted(found, key=lambda each: each.id) == sorted(ours, key=lambda each: each.id)
        assert [each.due for each in found] == sorted((each.due for each in found), reverse=True)
        happened = self.both(lambda store: store.ledger.recent_occurrences(workspace, limit=EVERYTHING))
        own = [each for each in self.happened.values() if each.workspace == workspace]
        assert len(happened) == len(own)
        assert all(each in own for each in happened)

    @invariant()
    def what_is_due_is_found_in_turns(self) -> None:
        if not hasattr(self, "deliveries"):
            return
        due = self.both(lambda store: store.ledger.due_deliveries(self.now, limit=EVERYTHING))
        come = [each for each in self.of(DeliveryState.PENDING) if each.next_at <= self.now and self.is_next(each)]
        self.are_in_turns(due, come, lambda each: (each.next_at, each.due, each.id))
        unsettled = self.both(lambda store: store.ledger.unsettled_deliveries(self.now, limit=EVERYTHING))
        unclear = [each for each in self.of(DeliveryState.AMBIGUOUS) if each.next_at <= self.now]
        left = [each for each in self.of(DeliveryState.SENDING) if self.free(each)]
        self.are_in_turns(unsettled, unclear + left, lambda each: (each.due, each.id))

    def is_next(self, delivery: Delivery) -> bool:
        earlier = [each for each in self.deliveries.values() if place_of(each) == place_of(delivery)]
        return all(each.state is DeliveryState.DONE for each in earlier if each.part < delivery.part)

    def are_in_turns(
        self, found: list[Delivery], expected: list[Delivery], age: Callable[[Delivery], tuple[Any, ...]]
    ) -> None:
        """The oldest of each workspace comes before the second of any, and so on."""
        assert sorted(found, key=lambda each: (each.workspace, each.id)) == sorted(
            expected, key=lambda each: (each.workspace, each.id)
        )
        turns = []
        for place, each in enumerate(found):
            turns.append(sum(other.workspace == each.workspace for other in found[:place]))
        assert turns == sorted(turns)
        for workspace in WORKSPACES:
            own = [age(each) for each in found if each.workspace == workspace]
            assert own == sorted(own)

    @invariant()
    def occurrences_that_are_due_are_found(self) -> None:
        if not hasattr(self, "happened"):
            return
        found = self.both(lambda store: store.ledger.occurrences(self.now, limit=EVERYTHING))
        due = [each for each in self.happened.values() if each.state is OccurrenceState.DUE]
        come = [each for each in due if each.next_at is None or each.next_at <= self.now]
        assert len(found) == len(come)
        assert all(each in come for each in found)
        counts = self.both(lambda store: store.ledger.counts())
        assert counts == {str(state): len(self.of(state)) for state in DeliveryState} | {"due": len(due)}


at_ease = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
TestDesk = Desk.TestCase
TestDesk.settings = settings(at_ease, max_examples=tries(25), stateful_step_count=40)


class DeskOfTwo(Desk):
    """The same by two processes in turns on one PostgreSQL database: what one remembers the other may have changed."""

    address: str

    def of_each_process(self, folder: Path) -> list[AnyStore]:
        emptied(self.address)
        return [PostgresStore(self.address, folder, most=1), PostgresStore(self.address, folder, most=1)]


def test_two_processes_on_postgres_hold_what_no_other_holds(postgres: str) -> None:
    wanted = settings(at_ease, max_examples=tries(16), stateful_step_count=30)

    class Here(DeskOfTwo):
        address = postgres

    run_state_machine_as_test(Here, settings=wanted)
