"""Whatever the order of collections, digests, crashes and clocks: every arrival of a subscription is accounted for.

It was posted, or dropped by a digest that stands, for one reason, or carried on to the next, or it is still to come. So is
each release of a repository, by the digest that looks as far as the arrival it was given. The store is asked through its
ports alone, by the publisher, the ledger and the commands that people type.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.digest.publisher import Publisher
from bot.digest.selection import CAP, NOT_IN_TIME
from bot.errors import Conflict
from bot.models import (
    Delivery,
    DeliveryState,
    Digest,
    DigestRequest,
    Item,
    LeftOut,
    Limits,
    Occurrence,
    OccurrenceState,
    Release,
    Rhythm,
    Subscription,
    Topic,
)
from bot.query import parse
from bot.rank.events import RELEASED, release_marks
from bot.store.rules.transitions import under_heirs
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.bot.handlers.askers import Asker, asker, button
from tests.conftest import NOW, tries
from tests.contract.test_ledger import LEASE, part
from tests.fakes.works import paper, repo
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

T = TypeVar("T")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0)
LIMITS = Limits(entries=50, repositories=50)
CHANNEL = "C1"
RHYTHMS = (Rhythm.DAILY, Rhythm.DAILY, Rhythm.WEEKLY, Rhythm.AT_ONCE)

numbers, rhythms = st.integers(0, 9), st.sampled_from(RHYTHMS)


@dataclass(frozen=True)
class InHand:
    """A digest that was made and is not saved yet."""

    digest: Digest
    occurrence: Occurrence
    at: datetime


@dataclass(frozen=True)
class Released:
    """A release of a repository that was stored."""

    key: str  # of the repository, then
    tag: str
    at: datetime
    arrival: int


@dataclass(frozen=True)
class Saved:
    """A digest that stands, and its message."""

    digest: Digest
    delivery: Delivery
    at: datetime
    number: int  # in the order in which they were saved


class Windows(RuleBasedStateMachine):
    """A service whose steps come in any order, and what should be true of each channel after every step."""

    limits = LIMITS  # of a digest

    def store_at(self, folder: Path) -> AnyStore:
        raise NotImplementedError

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.now = NOW
        self.count = 0
        self.collections: list[datetime] = []  # when each began that goes on
        self.collected = 0  # the last arrival when one last ended
        self.wanted: dict[str, Item] = {}  # by key, what the topic lets in and no reason but age keeps out
        self.code: list[str] = []  # the keys of repositories
        self.releases: list[Released] = []
        self.dropped = False  # what was to be posted was not, of some digest
        self.in_hand: list[InHand] = []
        self.saved: list[Saved] = []
        self.undo: dict[Rhythm, str] = {}  # the command that takes the last ending back
        self.happened = Counter[str]()
        self.store = self.store_at(Path(self.folder.name))
        self.start()
        self.say("subscribe", Rhythm.DAILY)

    def start(self) -> None:
        """Start the process; what it keeps of the items lives as long as it does."""
        self.do(self.store.open())
        self.publisher = Publisher(self.store, Extractive(), {"arxiv": "arXiv"})

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.do(self.store.close())
            self.loop.close()
            self.folder.cleanup()

    def do(self, task: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(task)

    def ada(self) -> Asker:
        made = asker(self.store, self.now, limits=self.limits)
        return replace(made, context=replace(made.context, packs={"kv": TOPIC}, previewer=self.publisher))

    async def subscription(self, rhythm: Rhythm) -> Subscription | None:
        return next((each for each in await self.ada().here() if each.rhythm is rhythm), None)

    async def request(self, made: Subscription) -> DigestRequest:
        ada = self.ada()
        return await ada.context.request(ada.actor, TOPIC, made)

    # --- collections

    @rule(which=numbers, fitting=st.integers(0, 2), others=st.integers(0, 1), again=st.booleans(), ends=st.booleans())
    def store_batch(self, which: int, fitting: int, others: int, again: bool, ends: bool) -> None:
        """Store what a collection brings that begins now or began long ago; and something once more, with more votes."""
        goes_on = which % (len(self.collections) + 1)
        if goes_on == len(self.collections):
            self.collections.append(self.now)
        begun = self.collections[goes_on]
        fresh = [self.paper("cache", begun) for _ in range(fitting)]
        self.wanted |= {item.key: item for item in fresh}
        known = list(self.do(self.store.items.find(list(self.wanted)[:1])).values()) if again else []
        more = [replace(item, upvotes=which) for item in known]
        self.do(self.store.items.add([*fresh, *(self.paper("tea", begun) for _ in range(others)), *more], begun))
        if ends:
            del self.collections[goes_on]
            self.collected = self.do(self.store.items.last_arrival())

    @rule(which=numbers, fresh=st.booleans(), ends=st.booleans())
    def release(self, which: int, fresh: bool, ends: bool) -> None:
        """Store a repository to which nothing happens, or a release of one that is stored."""
        self.count += 1
        if fresh or not self.code:
            said = f"A cache, the q{self.count}q of z{self.count}z"
            made = repo(f"lab/x{self.count}", abstract=said, published=NOW - 900 * DAY, updated=self.now, stars=900)
            self.code.append(made.key)
            self.do(self.store.items.add([made], self.now))
        else:
            key, tag = self.code[which % len(self.code)], f"v{self.count}.0"
            made = replace(self.do(self.store.items.find([key]))[key], release=Release(tag=tag, published=self.now))
            self.do(self.store.items.add([replace(made, updated=self.now)], self.now, happened=True))
            self.releases.append(Released(key, tag, self.now, self.do(self.store.items.last_arrival())))
        if ends:
            self.collected = self.do(self.store.items.last_arrival())

    @precondition(lambda self: self.wanted or self.code)
    @rule(which=numbers)
    def rename(self, which: int) -> None:
        """Let an item be known under another key from now on, as when a paper is numbered that was posted before."""
        every = [*self.wanted, *self.code]
        old = every[which % len(every)]
        item = self.do(self.store.items.find([old]))[old]
        self.count += 1
        named = f"arxiv:2604.{self.count:05}" if old in self.wanted else f"github:lab/y{self.count}"
        fresh = replace(item, key=named, aliases=(*item.aliases, old))
        if self.wanted.pop(old, None):
            self.wanted[named] = fresh
        else:
            self.code[self.code.index(old)] = named
        self.do(self.store.items.add([fresh], self.now, retired=[old]))

    def paper(self, word: str, begun: datetime) -> Item:
        self.count += 1
        said = " ".join(f"{letter}{self.count}{letter}" for letter in "bcdfgh")
        title = f"A {word} of {said}"
        return paper(f"2603.{self.count:05}", title=title, abstract=title, published=begun, appeared=begun)

    # --- clocks and crashes

    @rule(by=st.sampled_from((MINUTE, HOUR, DAY, DAY, -400 * DAY, -9 * DAY, -5 * HOUR, 5 * HOUR, 9 * DAY, 60 * DAY)))
    def let_the_clock_show(self, by: timedelta) -> None:
        """Let time pass, or set the clock."""
        self.now = max(self.now + by, NOW - 500 * DAY)

    @rule()
    def crash(self) -> None:
        """End the process and what it was about, start it on what is stored, and let it tidy up."""
        self.in_hand, self.collections = [], []
        self.do(self.store.close())
        if not isinstance(self.store, MemoryStore):
            self.store = self.store_at(Path(self.folder.name))
        self.start()
        self.do(self.store.maintenance.prune(items_before=NOW - 9999 * DAY, readings_before=NOW.date(), now=self.now))

    # --- people

    @rule(
        command=st.sampled_from(("subscribe", "unsubscribe", "undo", "pause", "resume", "resume")),
        rhythm=rhythms,
    )
    def say(self, command: str, rhythm: Rhythm) -> None:
        before, last = self.do(self.subscription(rhythm)), self.do(self.store.items.last_arrival())
        if (before is None) != (command in ("undo", "subscribe")) or (command == "undo" and rhythm not in self.undo):
            return
        how = "" if rhythm is Rhythm.AT_ONCE else " at 12:00 always"
        typed = f"subscribe kv {rhythm}{how}" if command == "subscribe" else f"{command} kv {rhythm}"
        others = [each for each in self.do(self.ada().here()) if each.rhythm is not rhythm]
        reply = self.do(self.ada().ask(self.undo[rhythm] if command == "undo" else typed))
        if command == "unsubscribe":
            assert before is not None
            self.undo[rhythm] = button(reply, "Undo")
            gone = (DeliveryState.PENDING, before.id)
            self.dropped = True
            self.saved = [each for each in self.saved if (each.delivery.state, each.delivery.occurrence[0]) != gone]
        after = self.do(self.subscription(rhythm))
        assert others == [each for each in self.do(self.ada().here()) if each.rhythm is not rhythm]
        if before is None and after is not None and rhythm not in self.undo:
            assert after.baseline_arrival == last

    # --- digests

    @rule(at_once=st.booleans(), rhythm=rhythms)
    def make(self, at_once: bool, rhythm: Rhythm) -> None:
        """Make a digest, and save it at once or later."""
        made = self.do(self.subscription(rhythm))
        if made is None or made.is_paused(self.now):
            return
        self.count += 1
        day = NOW.date() + timedelta(days=self.count)
        due = Occurrence(subscription=made.id, workspace=made.workspace, channel=CHANNEL, topic="kv", day=day, due=self.now)
        request = self.do(self.request(made))
        if rhythm is Rhythm.AT_ONCE:
            due, request = replace(due, slot=self.collected), replace(request, through=self.collected)
            self.do(self.store.ledger.open_at_once([due] if self.collected else []))
        else:
            self.do(self.store.ledger.open_occurrences([due], made, self.now))
        digest = self.do(self.publisher.preview(request, self.now))
        within = self.do(self.store.items.arrived(digest.window.after, digest.window.through))
        coverage = digest.coverage
        assert coverage.seen == coverage.kept + sum(count for _, count in coverage.dropped)
        assert 0 <= coverage.seen - len(within) - len(digest.carried) <= len(self.code), "repositories, by what happened"
        self.in_hand.append(InHand(replace(digest, day=day), due, self.now))
        if at_once:
            self.close(len(self.in_hand) - 1)

    @rule(one=rhythms, other=rhythms)
    def make_two_at_once(self, one: Rhythm, other: Rhythm) -> None:
        """Make two digests from the same, as two processes would, and save both."""
        before = len(self.in_hand)
        self.make(at_once=False, rhythm=one)
        self.make(at_once=False, rhythm=other)
        while len(self.in_hand) > before:
            self.close(before)

    @precondition(lambda self: self.in_hand)
    @rule(which=numbers)
    def save(self, which: int) -> None:
        self.close(which)

    def close(self, which: int) -> None:
        """Save a digest that was made; another may have been made at the same time, and have come first."""
        made = self.in_hand.pop(which % len(self.in_hand))
        pending = replace(part(made.occurrence), id=f"d{made.occurrence.day:%Y%m%d}", made_at=made.at)
        closed = replace(made.occurrence, state=OccurrenceState.MADE)
        rhythm = Rhythm(made.digest.rhythm)
        reach = self.do(self.store.digests.last(closed.workspace, CHANNEL, "kv", rhythm))
        posted = self.do(self.store.digests.posted(closed.workspace, CHANNEL))
        try:
            if self.do(self.store.ledger.close_occurrence(closed, made.at, digest=made.digest, deliveries=[pending])):
                self.happened["saved"] += 1
                self.saved.append(Saved(made.digest, pending, made.at, self.happened["saved"]))
        except Conflict:
            was_overtaken = made.digest.window.follows != (reach[1].arrival if reach else 0)
            now = self.do(self.store.items.find(_shown(made.digest)))  # some may have been renamed since
            heirs = {name: item.key for name, item in now.items()}
            assert was_overtaken or not posted.isdisjoint(under_heirs(_shown(made.digest), heirs))
            self.happened["made anew"] += 1

    @precondition(lambda self: self.waiting())
    @rule(which=numbers, ends=st.sampled_from(("done", "done", "unposted", "perhaps")))
    def deliver(self, which: int, ends: str) -> None:
        waiting = self.waiting()
        each = waiting[which % len(waiting)]
        held = self.do(self.store.ledger.claim(each.delivery, each.at, LEASE))
        assert held is not None
        state = DeliveryState.DONE if ends == "done" else DeliveryState.FAILED
        outcome = replace(held, state=state, message="m" if ends == "done" else "", reason="" if ends == "done" else "No.")
        assert self.do(self.store.ledger.record(outcome, unposted=ends == "unposted"))
        self.saved.remove(each)
        self.dropped = self.dropped or ends == "unposted"
        if ends != "unposted":
            self.saved.append(replace(each, delivery=outcome))

    def waiting(self) -> list[Saved]:
        return [each for each in self.saved if each.delivery.state is DeliveryState.PENDING]

    # --- the law

    @invariant()
    def nothing_is_posted_twice(self) -> None:
        shown = Counter(name for each in getattr(self, "saved", ()) for name in _shown(each.digest))
        assert all(count == 1 for count in shown.values()), shown

    @invariant()
    def every_arrival_is_accounted_for(self) -> None:
        if hasattr(self, "saved"):
            for rhythm in dict.fromkeys(RHYTHMS):
                self.do(self._accounted(rhythm))

    async def _accounted(self, rhythm: Rhythm) -> None:
        made = await self.subscription(rhythm)
        if made is None or made.is_paused(self.now):
            return
        digest = await self.publisher.preview(await self.request(made), self.now)
        coming = digest.window
        assert coming.through == await self.store.items.last_arrival()
        posted = {name for each in self.saved for name in _shown(each.digest)}
        assert made.baseline_arrival is not None
        for arrival, item in await self.store.items.arrived(made.baseline_arrival, coming.after):
            own = [each for each in self.saved if each.digest.rhythm == rhythm]
            looks = [each for each in own if each.digest.window.after < arrival <= each.digest.window.through]
            assert looks, f"{item.key} arrived as {arrival}: no digest looked at it, and the next one begins after {coming}"
            if item.key in self.wanted and posted.isdisjoint((item.key, *item.aliases)):
                left = any(each.reason == CAP for look in looks for each in _left_out(look.digest, item))
                old = any(item.is_old(LIMITS.max_age, each.at) for each in looks)
                assert left or old, f"{item.key} was dropped without reason"
                if self.is_carried_on(item, made):
                    outcome = await self.publisher.explain(await self.request(made), item, self.now)
                    assert outcome.reason != NOT_IN_TIME, f"{item.key} fell to the cap, and was not carried on"

        for each in self.releases:
            if made.baseline_arrival < each.arrival <= coming.after:
                await self._told(each, made, digest)

    async def _told(self, release: Released, made: Subscription, coming: Digest) -> None:
        """Hold that a release was told by now, if it was news to who looked and no later one followed."""
        own = [each for each in self.saved if each.digest.rhythm == made.rhythm]
        looks = [each for each in own if each.digest.window.after < release.arrival <= each.digest.window.through]
        assert looks, f"{release} was given an arrival that no digest looked at"
        item = (await self.store.items.find([release.key]))[release.key]
        assert item.release is not None
        posted = {name for each in self.saved for name in _shown(each.digest)}
        if item.release.tag != release.tag or not posted.isdisjoint(release_marks(item)):
            return
        left = any(each.reason == CAP for look in looks for each in _left_out(look.digest, item))
        # What was told by a digest that was dropped since, the next one tells.
        times = [*(each.at for each in looks), *([self.now] if self.dropped else [])]
        no_news = release.at < made.baseline or any(not HOUR - DAY <= at - release.at <= RELEASED for at in times)
        # What was renamed since has arrived once more, and its release is the next one's to tell.
        again = [each.key for _, each in await self.store.items.arrived(coming.window.after, coming.window.through)]
        later = (self.dropped or item.key in again) and _is_in(coming, item)
        assert left or no_news or later, f"{release} was not told"

    def is_carried_on(self, item: Item, made: Subscription) -> bool:
        """Say whether it fell to the cap no longer than three days ago, of a digest since the baseline that stands."""
        own = [each for each in self.saved if each.digest.rhythm == made.rhythm]
        latest = sorted(own, key=lambda each: (each.at, each.number))[-20:]
        since = [each.since for look in latest for each in _left_out(look.digest, item) if each.since is not None]
        return bool(since) and abs(self.now - since[-1]) <= 3 * DAY and since[-1] >= made.baseline


def _left_out(digest: Digest, item: Item) -> list[LeftOut]:
    return [each for each in digest.left_out if each.key in (item.key, *item.aliases)]


def _is_in(digest: Digest, item: Item) -> bool:
    return bool(_left_out(digest, item)) or any(entry.ranked.item.key == item.key for entry in digest.entries)


def _shown(digest: Digest) -> list[str]:
    """Return under which names it is known what a digest shows, and the releases that it tells."""
    items = [entry.ranked.item for entry in digest.entries]
    names = [name for item in items if item.key not in digest.again for name in (item.key, *item.aliases)]
    return names + [mark for item in items for mark in release_marks(item)]


class CappedWindowsInMemory(Windows):
    limits = Limits(entries=1, repositories=1)

    def store_at(self, folder: Path) -> AnyStore:
        return MemoryStore()


class CappedWindowsInSqlite(CappedWindowsInMemory):
    def store_at(self, folder: Path) -> AnyStore:
        return SqliteStore(folder / "windows.db")


class WindowsInMemory(Windows):
    def store_at(self, folder: Path) -> AnyStore:
        return MemoryStore()


class WindowsInSqlite(Windows):
    def store_at(self, folder: Path) -> AnyStore:
        return SqliteStore(folder / "windows.db")


SETTINGS = settings(
    deadline=None,
    max_examples=tries(60),
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestWindowsInMemory, TestWindowsInSqlite = WindowsInMemory.TestCase, WindowsInSqlite.TestCase
TestWindowsInMemory.settings = TestWindowsInSqlite.settings = SETTINGS
TestCappedWindowsInMemory, TestCappedWindowsInSqlite = CappedWindowsInMemory.TestCase, CappedWindowsInSqlite.TestCase
TestCappedWindowsInMemory.settings = TestCappedWindowsInSqlite.settings = SETTINGS


def test_a_release_of_a_repository_that_is_renamed_before_it_is_told_is_told_by_the_next() -> None:
    service = WindowsInMemory()
    service.open()
    service.release(which=0, fresh=True, ends=False)
    service.say("subscribe", Rhythm.AT_ONCE)
    service.release(which=0, fresh=False, ends=True)
    service.rename(which=0)
    service.make(at_once=True, rhythm=Rhythm.AT_ONCE)
    service.every_arrival_is_accounted_for()
    assert [each.digest.entries for each in service.saved] == [()]
    service.collected = service.do(service.store.items.last_arrival())
    service.make(at_once=True, rhythm=Rhythm.AT_ONCE)
    assert [_shown(each.digest)[0] for each in service.saved if each.digest.entries] == service.code
    service.every_arrival_is_accounted_for()
    service.nothing_is_posted_twice()
    service.teardown()
