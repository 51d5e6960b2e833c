"""Any sequence of writes, by two processes in turns, leaves the database knowing what the memory store knows."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bot.models import Coverage, Digest, Entry, Item, Ranked, SourceState, Summary
from bot.store.postgres.store import PostgresStore
from tests.bot.query import generate
from tests.bot.query.generate import NOW
from tests.conftest import tries
from tests.contract.test_store_states import DAYS, KEYS, Copy
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import emptied_aside

T = TypeVar("T")

SPACE = "small-1"
VECTORS = st.binary(min_size=4, max_size=4).map(lambda row: row + b"\0\0\0\x3c")


class VectorsCopy:
    """The vectors by their items' arrivals, as somebody has them who follows their changes a few at a time."""

    def __init__(self) -> None:
        self.number = 0
        self.vectors: dict[int, bytes] = {}

    async def follow(self, store: AnyStore) -> None:
        changes = await store.vectors.changed(SPACE, self.number, limit=2)
        if changes is None:
            self.number = await store.vectors.last_change(SPACE)
            self.vectors = await by_arrival(store)
            changes = await store.vectors.changed(SPACE, self.number, limit=2)
        while changes:
            for each in changes:
                self.vectors.pop(each.arrival, None)
                if each.packed is not None:
                    self.vectors[each.arrival] = each.packed
            self.number = changes[-1].number
            changes = await store.vectors.changed(SPACE, self.number, limit=2)
        assert self.number <= await store.vectors.last_change(SPACE)


async def by_arrival(store: AnyStore) -> dict[int, bytes]:
    """Return the vectors that the store has."""
    arrivals = {item.key: arrival for arrival, item in await store.items.arrived(0)}
    return {arrivals[key]: packed for key, packed in (await store.vectors.find(SPACE, list(arrivals))).items()}


class Stores(RuleBasedStateMachine):
    """The memory store, and two stores of processes on one database that take turns."""

    def __init__(self, address: str, folder: Path, loop: asyncio.Runner) -> None:
        super().__init__()
        self.address, self.folder, self.loop = address, folder, loop
        self.model = MemoryStore()
        self.processes = [PostgresStore(address, folder, most=2) for _ in range(2)]
        self.turns = itertools.cycle(self.processes)
        self.copies = [Copy(), Copy()]
        self.vectors = [VectorsCopy(), VectorsCopy()]
        self.was: Mapping[str, Item | None] = {}

    @initialize()
    def open(self) -> None:
        async def run() -> None:
            await self.processes[0].open()
            await emptied_aside(self.address)
            await self.processes[1].open()

        self.loop.run(run())

    def teardown(self) -> None:
        async def run() -> None:
            for store in self.processes:
                await store.close()

        self.loop.run(run())

    def both(self, ask: Callable[[AnyStore], Awaitable[T]]) -> T:
        """Do the same to the model and by the process whose turn it is; return what both answer."""

        async def run() -> tuple[T, T]:
            return await ask(self.model), await ask(next(self.turns))

        model, answer = self.loop.run(run())
        assert answer == model
        return answer

    @rule(items=st.lists(generate.items(), max_size=4), retired=st.sets(KEYS, max_size=2), now=DAYS, happened=st.booleans())
    def add(self, items: list[Item], retired: set[str], now: datetime, happened: bool) -> None:
        state = SourceState(name="arxiv", items=len(items))
        self.both(lambda store: store.items.add(items, now, retired=retired, state=state, happened=happened))

    @rule(names=st.sets(KEYS, min_size=1))
    def read(self, names: set[str]) -> None:
        """Somebody reads, and makes something of it later."""
        self.was = dict.fromkeys(names) | dict(self.both(lambda store: store.items.find(names)))

    @rule(items=st.lists(generate.items(), max_size=2), retired=st.sets(KEYS, max_size=1))
    def add_what_was_made_of_it(self, items: list[Item], retired: set[str]) -> None:
        self.both(lambda store: store.items.add(items, NOW, retired=retired, known=self.was))

    @rule(key=KEYS, upvotes=st.none() | st.integers(0, 9), now=DAYS)
    def vote(self, key: str, upvotes: int | None, now: datetime) -> None:
        known = self.both(lambda store: store.items.find([key]))
        items = [replace(item, upvotes=upvotes) for item in known.values()]
        self.both(lambda store: store.items.add(items, now))

    @rule(key=KEYS)
    def post(self, key: str) -> None:
        known = self.both(lambda store: store.items.find([key]))
        entries = tuple(Entry(Ranked(item, 0.5), Summary((), "abstract", "extractive")) for item in known.values())
        digest = Digest("gpu", "GPU", NOW.date(), NOW, NOW, entries, Coverage((), len(entries), len(entries)))
        self.both(lambda store: store.digests.save("T", "C1", digest, NOW))

    @rule(packed=VECTORS, quick=st.booleans(), space=st.sampled_from((SPACE, "other-1")), better=st.booleans())
    def embed(self, packed: bytes, quick: bool, space: str, better: bool) -> None:
        items = self.both(lambda store: store.vectors.lacking(space, limit=2, better=better))
        self.both(lambda store: store.vectors.save(space, items, [packed] * len(items), quick=quick))
        self.both(lambda store: store.vectors.embedded(space))

    @rule(items_before=DAYS, readings_before=DAYS)
    def prune(self, items_before: datetime, readings_before: datetime) -> None:
        day = readings_before.date()
        self.both(lambda store: store.maintenance.prune(items_before=items_before, readings_before=day, now=NOW))

    @rule(keys=st.sets(KEYS), days=st.integers(-1, 5))
    def ask(self, keys: set[str], days: int) -> None:
        since: date = (NOW + timedelta(days=days)).date()
        self.both(lambda store: store.items.find(keys))
        self.both(lambda store: store.items.readings(keys, since))
        last = self.both(lambda store: store.items.last_arrival())
        self.both(lambda store: store.items.arrived(0))
        self.both(lambda store: store.items.arrived(last // 2, last - 1))
        self.both(lambda store: store.items.arrival_before(NOW, NOW + timedelta(days=days)))
        self.both(lambda store: store.items.repositories(NOW - timedelta(days=days), last))
        self.both(lambda store: store.items.counts())
        self.both(lambda store: store.digests.posted("T", "C1"))
        self.both(lambda store: store.vectors.find(SPACE, keys))

    @invariant()
    def nothing_is_out_of_step_and_who_follows_has_everything(self) -> None:
        if not self.processes[1].connections.is_open:
            return

        async def run() -> None:
            store = next(self.turns)
            assert await store.maintenance.check() == []
            stores: tuple[AnyStore, ...] = (self.model, store)
            for each, copy, vectors in zip(stores, self.copies, self.vectors, strict=True):
                await copy.follow(each)
                assert copy.items == dict(await each.items.arrived(0))
                await vectors.follow(each)
                assert vectors.vectors == await by_arrival(each)

        self.loop.run(run())


def test_two_processes_in_turns_know_what_the_memory_store_knows(postgres: str, tmp_path: Path) -> None:
    with asyncio.Runner() as loop:
        run_state_machine_as_test(
            lambda: Stores(postgres, tmp_path, loop),  # type: ignore[arg-type]
            settings=settings(
                deadline=None,
                max_examples=tries(40),
                stateful_step_count=15,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
