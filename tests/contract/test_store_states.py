"""Any sequence of writes leaves both stores knowing the same: memory is the model, SQLite is held against it."""

import asyncio
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.models import And, Coverage, Digest, Entry, Item, Query, Ranked, SourceState, Summary, Tree
from bot.query.fields import TEXT, text_of
from bot.store.rules.spelling import words_in
from bot.store.sqlite.store import SqliteStore
from tests.bot.query import generate
from tests.bot.query.generate import NOW
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

T = TypeVar("T")

KEYS = st.sampled_from(("arxiv:2606.01234", "arxiv:math/0309136", "github:owner/name", "doi:10.1145/1234.5678", "x:unknown"))
DAYS = st.integers(0, 4).map(lambda days: NOW + timedelta(days=days))


class Copy:
    """The items by their arrivals, as somebody has them who follows their changes a few at a time."""

    def __init__(self) -> None:
        self.number = 0
        self.items: dict[int, Item] = {}

    async def follow(self, store: AnyStore) -> None:
        changes = await store.items.changes(self.number, limit=2)
        if changes is None:
            self.number = await store.items.last_change()
            self.items = dict(await store.items.arrived(0))
            changes = await store.items.changes(self.number, limit=2)
        while changes:
            for self.number, arrival, item in changes:
                self.items.pop(arrival, None)
                if item is not None:
                    self.items[arrival] = item
            changes = await store.items.changes(self.number, limit=2)
        assert self.number == await store.items.last_change()


class Stores(RuleBasedStateMachine):
    """Two stores to which the same is done."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.sqlite = SqliteStore(Path(self.folder.name) / "states.db")
        self.model = MemoryStore()
        self.stores: tuple[AnyStore, ...] = (self.model, self.sqlite)
        self.copies = [Copy() for _ in self.stores]
        self.was: dict[str, Item | None] = {}
        self.loop.run(self.sqlite.open())

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.run(self.sqlite.close())
            self.loop.close()
            self.folder.cleanup()

    def both(self, ask: Callable[[AnyStore], Awaitable[T]]) -> T:
        """Do the same to both and return what both answer."""

        async def run() -> list[T]:
            return [await ask(store) for store in self.stores]

        model, answer = self.loop.run(run())
        assert answer == model
        return answer

    @rule(items=st.lists(generate.items(), max_size=4), retired=st.sets(KEYS, max_size=2), now=DAYS, happened=st.booleans())
    def add(self, items: list[Item], retired: set[str], now: object, happened: bool) -> None:
        state = SourceState(name="arxiv", items=len(items))
        self.both(
            lambda store: store.items.add(items, now, retired=retired, state=state, happened=happened)  # type: ignore[arg-type]
        )

    @rule(names=st.sets(KEYS, min_size=1))
    def read(self, names: set[str]) -> None:
        """Another process reads, and makes something of it later."""
        self.was = dict.fromkeys(names) | dict(self.both(lambda store: store.items.find(names)))

    @precondition(lambda self: bool(getattr(self, "was", {})))
    @rule(items=st.lists(generate.items(), max_size=2), retired=st.sets(KEYS, max_size=1))
    def add_what_was_made_of_it(self, items: list[Item], retired: set[str]) -> None:
        found = self.both(lambda store: store.items.find(self.was))
        before = self.both(lambda store: store.items.find([item.key for item in items]))
        unchanged = dict.fromkeys(self.was) | dict(found) == self.was
        assert self.both(lambda store: store.items.add(items, NOW, retired=retired, known=self.was)) == unchanged
        if not unchanged:
            assert self.both(lambda store: store.items.find([item.key for item in items])) == before

    @rule(key=KEYS, upvotes=st.none() | st.integers(0, 9), now=DAYS)
    def vote(self, key: str, upvotes: int | None, now: object) -> None:
        known = self.both(lambda store: store.items.find([key]))
        items = [replace(item, upvotes=upvotes) for item in known.values()]
        self.both(lambda store: store.items.add(items, now))  # type: ignore[arg-type]

    @rule(key=KEYS, channel=st.sampled_from(("C1", "C2")))
    def post(self, key: str, channel: str) -> None:
        known = self.both(lambda store: store.items.find([key]))
        entries = tuple(Entry(Ranked(item, 0.5), Summary((), "abstract", "extractive")) for item in known.values())
        digest = Digest("gpu", "GPU", NOW.date(), NOW, NOW, entries, Coverage((), len(entries), len(entries)))
        self.both(lambda store: store.digests.save("T", channel, digest, NOW))

    @rule(items_before=DAYS, readings_before=DAYS)
    def prune(self, items_before: object, readings_before: object) -> None:
        day = readings_before.date()  # type: ignore[attr-defined]
        self.both(lambda store: store.maintenance.prune(items_before=items_before, readings_before=day, now=NOW))  # type: ignore[arg-type]

    @rule()
    def reopen(self) -> None:
        self.loop.run(self.sqlite.close())
        self.loop.run(self.sqlite.open())

    @rule(tree=generate.trees(), since=st.none() | DAYS)
    def count(self, tree: Tree, since: object) -> None:
        self.both(lambda store: store.index.count(tree, NOW, since=since))  # type: ignore[arg-type]

    @rule(tree=generate.trees(), sort=st.sampled_from(("new", "stars", "upvotes")), offset=st.integers(0, 2))
    def search(self, tree: Tree, sort: str, offset: int) -> None:
        self.both(lambda store: store.index.search(Query("", tree, sort), NOW, limit=3, offset=offset))

    @rule(keys=st.sets(KEYS), days=st.integers(-1, 5))
    def ask(self, keys: set[str], days: int) -> None:
        since: date = (NOW + timedelta(days=days)).date()
        self.both(lambda store: store.items.find(keys))
        self.both(lambda store: store.items.readings(keys, since))
        last = self.both(lambda store: store.items.last_arrival())
        self.both(lambda store: store.items.arrived(0))
        self.both(lambda store: store.items.arrived(last // 2, last - 1))
        self.both(lambda store: store.items.arrival_before(NOW, NOW + timedelta(days=days)))
        self.both(lambda store: store.digests.posted("T", "C1"))

    @invariant()
    def nothing_is_out_of_step(self) -> None:
        if hasattr(self, "stores"):
            assert self.loop.run(self.sqlite.maintenance.check()) == []
            self.both(lambda store: store.index.count(And(()), NOW))

    @invariant()
    def who_follows_the_changes_has_the_items(self) -> None:
        if not hasattr(self, "stores"):
            return
        for store, copy in zip(self.stores, self.copies, strict=True):
            self.loop.run(copy.follow(store))
            assert copy.items == dict(self.loop.run(store.items.arrived(0)))

    @invariant()
    def the_vocabulary_holds_the_words_that_items_have(self) -> None:
        """With how many items have each, and how many in an author's name; whatever was added, renamed and pruned."""
        if not hasattr(self, "stores"):
            return
        texts = [[text_of(item, field) for field in TEXT] for item in self.model.items.known.values()]
        items = Counter(word for folded in texts for word in words_in(folded))
        names = Counter(word for folded in texts for word in words_in(folded[TEXT.index("author")].split()))
        with closing(sqlite3.connect(Path(self.folder.name) / "states.db")) as db:
            kept = {word: (number, named) for word, number, named in db.execute("select word, items, names from vocabulary")}
        assert kept == {word: (number, names[word]) for word, number in items.items()}


TestStores = Stores.TestCase
TestStores.settings = settings(
    deadline=None, max_examples=25, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow]
)
