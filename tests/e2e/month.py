"""Broadsheet's delivery, whole, in a world whose time a test moves; and beside it the model that says what must come of it.

AnyStore, press and delivery are the real ones. The platforms are simulated: one remembers nonces, one has a history that can
be read, one has neither.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from bot.delivery import Deliverer, DeliveryContext, Preparer, Scheduler
from bot.delivery.rejections import TRIES
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import (
    PARTS,
    Abilities,
    Change,
    Delivery,
    DeliveryState,
    Digest,
    DigestRequest,
    Feedback,
    Item,
    Limits,
    Occurrence,
    OccurrenceState,
    Position,
    Preferences,
    Presses,
    Rate,
    Saved,
    Schedule,
    Subscription,
    Summary,
    SummaryPart,
    Topic,
    Window,
)
from bot.ports.facts import COLLECTED
from bot.query import parse
from tests.e2e.month_model import Model, Readers
from tests.fakes.simulated import (
    EDITS_END,
    LAG,
    LONGEST_CALL,
    NONCE_WINDOW,
    PAGE,
    QUIET_FROM,
    QUIET_UNTIL,
    Clock,
    Fuse,
    Killed,
    Mortal,
    Platform,
)
from tests.fakes.works import paper
from tests.stores import AnyStore

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ROUND = timedelta(seconds=15)  # between two rounds of the service
WORDS = ("cache", "kernel", "protein")
TOPICS = {word: Topic(name=word, title=word.title(), query=parse(word)) for word in WORDS}
PLATFORMS = {
    "nonce": Abilities(nonce_window=NONCE_WINDOW, finds=True, edits=True, per_second=50, edit=Rate(per_channel_second=1)),
    "history": Abilities(
        finds=True,
        edits=True,
        per_channel_second=1,
        find=Rate(per_workspace_minute=50),
        tell=Rate(per_workspace_minute=50),
        edit=Rate(per_channel_second=1, per_workspace_minute=50),
    ),
    "neither": Abilities(),
}
WORKSPACES = ("nonce:A", "nonce:B", "history:A", "history:B", "neither:A")
QUIET = Preferences(zone="UTC", quiet_from=QUIET_FROM, quiet_until=QUIET_UNTIL)
_EVERYTHING = 10**6
_LONGEST_WAIT = 3 * DAY
_ENDS = 0.7  # of batches, how many are a collection's last
_READ = 30  # messages of a platform below which people still press something
_PEOPLE = 5  # in a workspace
PRESSES = ("more", "more", "less", "take back", "save", "save", "unsave")


@dataclass(frozen=True, slots=True)
class Service:
    """One process."""

    scheduler: Scheduler
    preparer: Preparer
    deliverer: Deliverer


class Brief:
    """A summariser that says nothing."""

    async def summarise(self, item: Item, now: datetime) -> Summary:
        return Summary(tuple(SummaryPart(part, "Nothing.", found=False) for part in PARTS), "nothing", "a test")


Place = tuple[str, str, str]  # workspace, channel, topic


class Watched:
    """The press; notes before which time items were no news any more, for each window that was looked at."""

    def __init__(self, publisher: Publisher, old: dict[Place, list[tuple[Window, datetime]]]) -> None:
        self._publisher = publisher
        self._old = old

    async def make(self, request: DigestRequest, now: datetime) -> Digest:
        digest = await self._publisher.make(request, now)
        place = (request.workspace, request.channel, request.topic.name)
        self._old.setdefault(place, []).append((digest.window, now - request.limits.max_age))
        return digest


def _publisher(store: AnyStore) -> Publisher:
    return Publisher(store, Brief(), {"arxiv": "arXiv"})


class Month:
    """The world. `open_store` opens the one store, again after each death of the process."""

    entries = _EVERYTHING  # of a digest
    words = 10**6  # that there are on each topic

    def __init__(self, open_store: Callable[[], AnyStore], clock: Clock, seed: int) -> None:
        self.clock = clock
        self.chance = random.Random(seed)
        self.model = Model()
        self.readers = Readers()
        self.counting: dict[str, datetime] = {}  # workspaces whose messages tell what was pressed: since when, in true time
        self.platforms = {
            name: Platform(name, abilities, self.clock, random.Random(f"{seed} {name}"))
            for name, abilities in PLATFORMS.items()
        }
        self.items: dict[int, Item] = {}  # by their arrivals
        self.happened = Counter[str]()
        self._old: dict[Place, list[tuple[Window, datetime]]] = {}
        self._filtered: set[tuple[str, str]] = set()
        self._open_store = open_store
        self._collected = 0
        self._subscribed = 0

    # --- the process

    async def start(self) -> None:
        """Start the process, on the database as it is."""
        self.store = self._open_store()
        await self.store.open()
        self.arm(None)

    def arm(self, calls: int | None) -> None:
        """Give the process a fresh life, which ends after so many calls to the outside."""
        self.fuse = Fuse(calls)
        for platform in self.platforms.values():
            platform.fuse = self.fuse
        self.service = self._process()

    def _process(self) -> Service:
        store: Any = Mortal(self.store, self.fuse)
        context = DeliveryContext(store, store.ledger, self.platforms, chance=random.Random(self.chance.random()))
        maker = Watched(_publisher(store), self._old)
        preparer = Preparer(context, maker, self._orders(store))
        return Service(Scheduler(context), preparer, Deliverer(context, pause=self.clock.pause))

    def _orders(self, store: AnyStore) -> RequestBuilder:
        return RequestBuilder(store.workspaces, TOPICS, limits=Limits(entries=self.entries))

    async def round(self) -> None:
        """Do what the service does every few seconds, unless it dies meanwhile; then start it anew."""
        before = self.clock()
        ticked = False
        try:
            await self.service.scheduler.tick(before)
            ticked = True
            await self.post()
        except Killed:
            self.happened["died"] += 1
        self.model.ticked(before, killed=not ticked)
        await self._notice_pauses(killed=self.fuse.burnt)
        if self.fuse.burnt:
            await self.store.close()
            await self.start()

    async def post(self) -> None:
        """Make and deliver what was found due, settle what may have been delivered, and tell of what failed."""
        await self.service.preparer.prepare_due(self.clock())
        await self.service.deliverer.deliver_due(self.clock)
        await self.service.deliverer.reconcile(self.clock)
        await self.service.deliverer.send_notices(self.clock)
        await self.service.deliverer.edit_messages(self.clock)

    async def _notice_pauses(self, *, killed: bool) -> None:
        """Hold what is paused against what was refused in this round, and tell the model of it."""
        refused = set[str]().union(*(platform.refused for platform in self.platforms.values()))
        for platform in self.platforms.values():
            platform.refused.clear()
        if not refused and not killed:
            return
        for each in await self.subscriptions():
            known = self.model.known[each.id].latest
            meant = bool(refused & {each.workspace, f"{each.workspace} {each.channel}"})
            if each.revision != known.revision:
                assert meant, f"{each} was changed, and nothing was refused there"
                assert each.paused, each
                assert each.paused_because, each
                self.model.saved(each)
                self.happened["paused by the service"] += 1
            assert killed or not meant or each.paused, f"{each} was refused and goes on"

    async def pass_time(self, span: timedelta, *, apart: timedelta = ROUND) -> None:
        """Let time pass, with a round every so often."""
        ends = self.clock.true + span
        while self.clock.true < ends:
            await self.clock.pause(apart.total_seconds())
            await self.round()

    async def sleep(self, span: timedelta) -> None:
        """Suspend the machine: time passes, and nothing runs."""
        self.clock.true += span

    async def jump(self, by: timedelta) -> None:
        """Set the clock. What is in flight lands before: that a request has ended is known by the clock alone."""
        await self.pass_time(LONGEST_CALL + LAG, apart=LONGEST_CALL)
        self.clock.ahead += by

    # --- people

    async def subscriptions(self) -> list[Subscription]:
        """Return all."""
        return [each for workspace in WORKSPACES for each in await self.store.workspaces.subscriptions(workspace)]

    async def subscribe(self, workspace: str, channel: str, topic: str, schedule: Schedule, **given: Any) -> None:
        """Subscribe a channel to a topic, unless it is in that rhythm."""
        here = await self.store.workspaces.subscriptions(workspace, channel=channel, topic=topic)
        if any(each.rhythm is schedule.rhythm for each in here):
            return
        self._subscribed += 1
        made = Subscription(
            id=f"s{self._subscribed}",
            workspace=workspace,
            channel=channel,
            topic=topic,
            schedule=schedule,
            baseline=self.clock(),
            baseline_arrival=await self.store.items.last_arrival(),
            made_at=self.clock(),
            made_by="U1",
            **given,
        )
        self.model.saved(await self.store.workspaces.save_subscription(made, self._change(made), replaces=0))

    async def edit(self, subscription: Subscription, **changed: Any) -> None:
        """Change a subscription; the store counts its revision."""
        fresh = replace(subscription, **changed)
        if fresh.filter.text:
            self._filtered.add((fresh.workspace, fresh.channel))
        saved = await self.store.workspaces.save_subscription(fresh, self._change(fresh), replaces=subscription.revision)
        self.model.saved(saved)

    async def resume(self, subscription: Subscription) -> None:
        """Mend what it was paused for, and resume it."""
        weather = self.platforms[subscription.workspace.partition(":")[0]].weather
        weather.closed -= {f"{subscription.workspace} {subscription.channel}", subscription.workspace}
        await self.edit(subscription, paused=False, paused_until=None, paused_because="")

    async def unsubscribe(self, subscription: Subscription) -> None:
        """Unsubscribe."""
        await self.store.workspaces.delete_subscription(subscription, self._change(subscription))
        self.model.deleted(subscription.id)

    async def mend(self) -> None:
        """Let every platform behave, open what is closed, and resume what is paused."""
        for platform in self.platforms.values():
            platform.weather.shares.clear()
            platform.weather.unreadable.clear()
            platform.weather.odd.clear()
        for each in await self.subscriptions():
            if each.paused:
                await self.resume(each)

    async def prefer(self, workspace: str, preferences: Preferences) -> None:
        """Settle something for a workspace."""
        change = Change(workspace=workspace, at=self.clock(), person="U1", what="settings")
        await self.store.workspaces.save_preferences(workspace, preferences, change)
        platform = self.platforms[workspace.partition(":")[0]]
        (platform.quiet.add if preferences.quiet_from is not None else platform.quiet.discard)(workspace)
        self.model.quiet |= platform.quiet
        if preferences.activity:
            platform.counting.add(workspace)
            self.counting.setdefault(workspace, self.clock.true)
        else:
            platform.counting.discard(workspace)
            self.counting.pop(workspace, None)

    async def press(self, presses: int) -> None:
        """Let people press something below messages that were posted lately, so many times."""
        lately = [each for platform in self.platforms.values() for each in [*platform.sent.values()][-_READ:]]
        for _ in range(presses if lately else 0):
            posted = self.chance.choice(lately)
            if keys := posted.listed:
                await self._press(self.chance.choice(PRESSES), posted, self.chance.choice(keys))
                self.happened["pressed"] += 1

    async def _press(self, what: str, posted: Delivery, key: str) -> None:
        """Press it as a person of the channel; it counts there where the workspace has it so."""
        person, people, now = f"P{self.chance.randrange(_PEOPLE)}", self.store.people, self.clock()
        workspace, channel = posted.workspace, posted.channel if posted.workspace in self.counting else ""
        change = Change(workspace=workspace, at=now, person=person, what="feedback")
        said = Feedback(
            workspace=workspace, topic=posted.topic, person=person, key=key, more=what == "more", at=now, channel=channel
        )
        match what:
            case "save":
                await people.save_item(workspace, person, Saved(key, now), channel=channel)
                if channel:
                    self.readers.saved(workspace, channel, person, key, now)
            case "unsave":
                await people.unsave_item(workspace, person, key)
                self.readers.unsaved(workspace, person, key)
            case "take back":
                given = [
                    each
                    for each in await people.feedback(workspace, posted.topic)
                    if (each.person, each.key) == (person, key)
                ]
                await people.drop_feedback(given, change)
                self.readers.took_back(workspace, posted.topic, person, key)
            case _:
                await people.save_feedback(said, change)
                self.readers.said(said)

    def _change(self, subscription: Subscription) -> Change:
        what = f"subscription {subscription.channel} {subscription.topic}"
        return Change(workspace=subscription.workspace, at=self.clock(), person="U1", what=what)

    async def collect(self, words: Sequence[str], *, ends: bool | None = None) -> None:
        """Store a new paper on each of these, with which a collection may end; None: as chance has it."""
        before = await self.store.items.last_arrival()
        begun = self.clock() - self.chance.random() * HOUR  # a digest may have been made since
        await self.store.items.add([self._paper(word) for word in words], begun)
        self.items |= await self.store.items.arrived(before)
        if self.chance.random() < _ENDS if ends is None else ends:
            last = await self.store.items.last_arrival()
            await self.store.facts.set(COLLECTED, str(last))
            self.model.collected(last)

    def _paper(self, word: str) -> Item:
        self._collected += 1
        number = f"{2601 + self._collected // 90_000}.{self._collected % 90_000:05}"
        # Different enough for each to be news of its own.
        said = " ".join(f"{word}{self.chance.randrange(self.words)}" for _ in range(6))
        title = f"A {word} and {said}"
        return paper(number, title=title, abstract=f"{title}.", published=self.clock(), appeared=self.clock())

    # --- judging

    async def check(self) -> None:
        """Hold the ledger and what the platforms posted against the model."""
        for platform in self.platforms.values():
            assert not platform.wrong, platform.wrong[:5]
        faults = list(self.model.faults(await self.all_occurrences()))
        assert not faults, faults[:5]
        for workspace in WORKSPACES:  # one after the other: a month's messages at once would be a peak of memory
            for each in await self.store.ledger.deliveries(workspace, limit=_EVERYTHING):
                assert not (fault := self._fault(each)), (fault, each)

    async def all_occurrences(self) -> list[Occurrence]:
        return [
            each
            for workspace in WORKSPACES
            for each in await self.store.ledger.recent_occurrences(workspace, limit=_EVERYTHING)
        ]

    async def all_deliveries(self) -> list[Delivery]:
        return [
            each for workspace in WORKSPACES for each in await self.store.ledger.deliveries(workspace, limit=_EVERYTHING)
        ]

    def _fault(self, delivery: Delivery) -> str:
        """What the ledger says of a delivery that is not true, "" when all is."""
        platform = self.platforms[delivery.workspace.partition(":")[0]]
        posted = delivery.id in platform.posted
        if delivery.state is DeliveryState.FAILED and "did not take it" in delivery.reason:
            self.happened["given up"] += 1
            if PAGE in delivery.reason or platform.rejected[delivery.id] < TRIES:
                return f"it was given up after {platform.rejected[delivery.id]} tries"
        if posted and delivery.state in (DeliveryState.FAILED, DeliveryState.EXPIRED, DeliveryState.PENDING):
            return f"it was posted, and the ledger says {delivery.state}"
        if not posted and delivery.state is DeliveryState.DONE:
            return "it was never posted"
        if delivery.state in (DeliveryState.FAILED, DeliveryState.EXPIRED, DeliveryState.AMBIGUOUS) and not delivery.reason:
            return "nobody says why"
        return ""

    async def settle(self) -> None:
        """Let everything calm down and be settled, and check that nothing is left over."""
        for platform in self.platforms.values():
            platform.weather.shares.clear()
            platform.weather.odd.clear()
        for workspace in WORKSPACES:
            await self.prefer(workspace, Preferences(activity=workspace in self.counting))
        self.arm(None)
        await self.collect(WORDS[:1], ends=True)
        await self.pass_time(timedelta(minutes=5))
        # Whatever a clock had shown which ran ahead, nothing waits for longer than a platform or quiet hours ask.
        for _ in range(_LONGEST_WAIT // DAY):
            await self.pass_time(DAY, apart=timedelta(minutes=30))
            if not (left := await self._left()):
                break
        await self.check()
        assert not left, left[:5]
        await self._nothing_is_left_out()
        await self._everything_says_what_was_pressed()

    async def _everything_says_what_was_pressed(self) -> None:
        """Every message that may still be edited says what was pressed below it, and nothing where that is switched off.

        Not one that an edit was refused for, or that was posted before its workspace had it so; nor, while counts are on,
        one whose subscription is gone or paused.
        """
        heard = {each.id for each in await self.subscriptions() if not each.paused}
        for each in await self.all_deliveries():
            platform = self.platforms[each.workspace.partition(":")[0]]
            is_old = (each.last_try or each.due) + EDITS_END <= self.clock()
            waits = each.workspace in self.counting and each.occurrence[0] not in heard
            if is_old or waits or each.id in platform.left or each.id not in platform.sent:
                continue
            if each.state is DeliveryState.DONE and each.workspace not in platform.weather.closed:
                says = platform.says.get(each.id, Presses())
                assert says == (stands := self._stands(each, platform, says)), f"{each} says {says}, and {stands} stands"

    def _stands(self, posted: Delivery, platform: Platform, says: Presses) -> Presses:
        """Return what the message has to say; what it says where nobody can tell."""
        since = self.counting.get(posted.workspace)
        if not platform.abilities.edits or (since is not None and platform.posted[posted.id] < since):
            return says
        self.happened["told what was pressed" if since else "told nothing of it"] += 1
        return self.readers.of(posted, platform.sent[posted.id].listed) if since else Presses()

    async def _left(self) -> list[Occurrence | Delivery]:
        """What the ledger has still to do."""
        occurrences = [each for each in await self.all_occurrences() if each.state is OccurrenceState.DUE]
        unknown = (DeliveryState.AMBIGUOUS, "unknown: ")
        open_ = (DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.AMBIGUOUS)
        deliveries = [
            each for each in await self.all_deliveries() if each.state in open_ and (each.state, each.reason[:9]) != unknown
        ]
        return [*occurrences, *deliveries]

    async def _nothing_is_left_out(self) -> None:
        """Every item that a channel asked for stands in one of its digests; whether that was posted the ledger says.

        What a digest would have shown that was dropped stands in the next one. Whatever the clock shows, only what is no
        news any more as a digest looks at it may be left out.
        """
        for each in await self.subscriptions():
            last = await self.store.digests.last(each.workspace, each.channel, each.topic, each.rhythm)
            await self._is_told_of_the_last_collection(each, last)
            if last is None or (each.workspace, each.channel) in self._filtered:
                continue
            begins = each.baseline_arrival or 0
            posted = await self.store.digests.posted(each.workspace, each.channel)
            wanted = {arrival: item for arrival, item in self.items.items() if each.topic in item.title}
            missing = {arrival for arrival in wanted if begins < arrival <= last[1].arrival}
            missing = {arrival for arrival in missing if wanted[arrival].key not in posted}
            missing -= {arrival for arrival in missing if self._was_old(each, arrival, wanted[arrival])}
            if missing and await self.store.digests.unposted(each.workspace, each.channel, each.topic, each.rhythm):
                missing -= await self._coming(each)
                self.happened["owed at the end"] += 1
            assert not missing, f"{each.channel} was never shown {sorted(missing)[:2]} of {each.topic}"

    async def _is_told_of_the_last_collection(self, each: Subscription, last: tuple[date, Position] | None) -> None:
        """Hold that what is posted at once has looked as far as the last collection, unless it is paused or owes some."""
        place = (each.workspace, each.channel, each.topic, each.rhythm)
        begins, ended = each.baseline_arrival or 0, self.model.ended
        if not each.schedule.at_once or each.paused or begins >= ended or await self.store.digests.unposted(*place):
            return
        self.happened["told of the last collection"] += 1
        assert last is not None, f"{place} was never told of anything"
        assert last[1].arrival >= ended, f"{place} has looked up to {last[1].arrival}, and {ended} arrived"

    def _was_old(self, of: Subscription, arrival: int, item: Item) -> bool:
        looks = self._old.get((of.workspace, of.channel, of.topic), ())
        assert item.appeared
        return any(window.after < arrival <= window.through and item.appeared < news for window, news in looks)

    async def _coming(self, subscription: Subscription) -> set[int]:
        """Return the arrivals that the next digest would look at, and show, if it were made now."""
        place = (subscription.workspace, subscription.channel, subscription)
        request = await self._orders(self.store).request(TOPICS[subscription.topic], *place)
        digest = await _publisher(self.store).preview(request, self.clock())
        shown = {entry.ranked.item.key for entry in digest.entries}
        coming = ((arrival, item) for arrival, item in self.items.items() if item.key in shown)
        old = {arrival for arrival, item in self.items.items() if item.is_old(request.limits.max_age, self.clock())}
        return {arrival for arrival, _ in coming} | old
