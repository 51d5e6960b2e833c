"""A chat platform in memory that keeps a transcript, fails as it is told, and may be abandoned between any two steps."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses

# Discord says that it remembers a nonce for a few minutes; the ledger relies on two of them.
REMEMBERED = timedelta(minutes=3)
RETRY_AFTER = timedelta(seconds=30)
SLOW = timedelta(seconds=10)

NONCE = Abilities(nonce_window=timedelta(minutes=2), edits=True)
HISTORY = Abilities(finds=True, edits=True)
BOTH = Abilities(nonce_window=timedelta(minutes=2), finds=True, edits=True)
NEITHER = Abilities()
NOTES = Abilities(notes_begin=True)


class Fault(StrEnum):
    """How one call goes wrong."""

    NONE = "none"
    REFUSED = "refused"
    DELAYED = "delayed"  # nothing was posted, and nothing is said of how long to wait
    RETRY_AFTER = "retry after"
    LOST_REQUEST = "lost request"  # nothing was posted, but the client cannot know
    LOST_ANSWER = "lost answer"  # posted, but the client cannot know
    SLOW = "slow"  # given up by the client, and posted some seconds after
    BROKEN = "broken"  # nothing was posted, and the client's library stumbles
    STUMBLED = "stumbled"  # posted, and the client's library stumbles over the answer


class Crash(BaseException):
    """The process was killed."""


class Steps:
    """Counts what a process does, and kills it at a step; from then on nothing that it still tries has any effect."""

    def __init__(self, last: int | None = None) -> None:
        self.left = last
        self.taken = 0

    def step(self) -> None:
        """Do one more thing, or die."""
        if self.left is not None and self.taken >= self.left:
            raise Crash
        self.taken += 1


class Stepped:
    """A port, or a store of several: each call is a step before and a step after, and a process may die on either side."""

    def __init__(self, port: object, steps: Steps) -> None:
        self._port = port
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if not callable(method):
            return Stepped(method, self._steps)

        async def stepped(*given: Any, **more: Any) -> Any:
            self._steps.step()
            answer = await method(*given, **more)
            self._steps.step()
            return answer

        return stepped


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, span: timedelta) -> None:
        """Let so much time pass."""
        self.now += span

    async def pause(self, seconds: float) -> None:
        """Sleep without anybody waiting."""
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Message:
    """One message that stands in a channel."""

    id: str
    at: datetime
    channel: str
    marker: str
    payload: str
    thread: str


@dataclass
class Transcript:
    """bot.ports.messenger.Messenger. `faults` are those of the next postings, `looks` those of the next looks."""

    clock: Clock
    abilities: Abilities = BOTH
    faults: list[Fault] = field(default_factory=list)
    looks: list[Fault] = field(default_factory=list)
    closed: dict[str, DeliveryError] = field(default_factory=dict)  # channels that take nothing, with what they say
    unreadable: dict[str, DeliveryError] = field(default_factory=dict)  # channels without a history, with what they say
    lag: timedelta = timedelta(0)  # until a message can be seen in the history
    page: int = 0  # messages of a channel that one look shows; 0: all
    parts: int = 1
    platform: str = "chat"
    steps: Steps = field(default_factory=Steps)
    begin: Callable[[Delivery], Awaitable[bool]] | None = None  # the ledger's, for one that notes there that it begins
    begun: set[str] = field(default_factory=set)  # deliveries of which that was noted
    calls: list[Delivery] = field(default_factory=list)  # every call of send
    told: list[tuple[str, str, str]] = field(default_factory=list)
    announced: list[tuple[str, str, str]] = field(default_factory=list)
    examinations: list[Fault] = field(default_factory=list)  # what comes of the next questions for an obstacle
    unseen: set[str] = field(default_factory=set)  # channels that take nothing, and show no obstacle
    examined: list[tuple[str, str]] = field(default_factory=list)  # of which channels somebody asked for an obstacle
    looked: list[datetime] = field(default_factory=list)  # when somebody looked for something
    sought: list[Delivery] = field(default_factory=list)  # what was looked for, with the times between which to look
    silent: bool = False  # nobody can be told anything
    edited: list[tuple[datetime, str, Presses, int]] = field(default_factory=list)  # every call of edit: of which message
    editing: list[Fault] = field(default_factory=list)  # what comes of the next edits
    published: list[str] = field(default_factory=list)  # every call of publish: of which message
    publishing: list[Fault] = field(default_factory=list)  # what comes of the next publications
    followed: set[str] = field(default_factory=set)  # messages that followers were shown
    deleted: set[str] = field(default_factory=set)  # messages that somebody took away
    says: dict[str, Presses] = field(default_factory=dict)  # what edited messages say of what was pressed
    words: dict[str, str] = field(default_factory=dict)  # and what else they say since
    _sent: list[Message] = field(default_factory=list)

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        names = ", ".join(entry.ranked.item.key for entry in digest.entries)
        marks = [*(["(late)"] if late else []), *([f"({layout})"] if layout is not Layout.BRIEF else [])]
        head = " ".join([f"{digest.title} of {digest.day}", *marks, *([f"[{digest.news}]"] if digest.news else [])])
        head = f"{head}: {names}"
        return [f"{head}, {part}/{self.parts}" for part in range(1, self.parts + 1)]

    async def send(self, delivery: Delivery) -> str:
        self.steps.step()
        self.calls.append(delivery)
        await asyncio.sleep(0)  # others send at the same time
        if delivery.channel in self.closed:
            raise self.closed[delivery.channel]
        fault = self.faults.pop(0) if self.faults else Fault.NONE
        if self.abilities.notes_begin:
            await self._note_begun(delivery)
        _raise_unposted(fault)
        message = self._post(delivery, SLOW if fault is Fault.SLOW else timedelta(0))
        self.steps.step()
        if fault is Fault.STUMBLED:
            raise KeyError("ts")
        if fault in (Fault.LOST_ANSWER, Fault.SLOW):
            raise Uncertain("The answer was lost.")
        return message.id

    async def _note_begun(self, delivery: Delivery) -> None:
        assert self.begin is not None
        if not await self.begin(delivery):
            raise Delayed("Somebody else sends it.")

    def _post(self, delivery: Delivery, later: timedelta) -> Message:
        at = self.clock() + later
        message = Message(
            id=f"m{len(self._sent) + 1}",
            at=at,
            channel=delivery.channel,
            marker=delivery.id,
            payload=delivery.payload,
            thread=delivery.thread,
        )
        self._sent.append(message)
        return next(each for each in self._standing() if each.marker == message.marker) if self._remembers else message

    @property
    def _remembers(self) -> bool:
        return self.abilities.nonce_window > timedelta(0)

    def _standing(self) -> Iterator[Message]:
        """Yield what the platform did not drop as a repetition, in the order in which it came in."""
        last: dict[str, datetime] = {}
        for each in sorted(self._sent, key=lambda message: message.at):
            before = last.get(each.marker)
            if self._remembers and before is not None and each.at - before <= REMEMBERED:
                continue
            last[each.marker] = each.at
            yield each

    @property
    def messages(self) -> Sequence[Message]:
        """All that stand in the channels, in their order."""
        return list(self._standing())

    def posted(self, delivery: str) -> int:
        """Return how many messages of the delivery there are."""
        return sum(each.marker == delivery for each in self._standing())

    async def find(self, delivery: Delivery) -> Look:
        self.steps.step()
        self.looked.append(self.clock())
        self.sought.append(delivery)
        if delivery.channel in self.unreadable:
            raise self.unreadable[delivery.channel]
        fault = self.looks.pop(0) if self.looks else Fault.NONE
        _raise_unposted(fault)
        since = (delivery.first_try or delivery.due) - timedelta(minutes=1)
        until = min(self.clock() - self.lag, delivery.last_try + timedelta(minutes=1) if delivery.last_try else self.clock())
        seen = [each for each in self._standing() if since <= each.at <= until and each.channel == delivery.channel]
        begin = int(delivery.cursor or 0)
        end = begin + (self.page or len(seen))
        found = next((each.id for each in seen[begin:end] if each.marker == delivery.id), "")
        self.steps.step()
        return Look(message=found) if found else Look(cursor=str(end)) if end < len(seen) else ABSENT

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        self.steps.step()
        self.edited.append((self.clock(), posted.message, presses, number))
        await asyncio.sleep(0)
        if posted.channel in self.closed:
            raise self.closed[posted.channel]
        fault = self.editing.pop(0) if self.editing else Fault.NONE
        _raise_unposted(fault)
        if posted.message in self.deleted or posted.message not in {each.id for each in self._standing()}:
            raise Rejected("The message is gone.", failure="unknown message")
        self.says[posted.message], self.words[posted.message] = presses, posted.payload
        self.steps.step()
        if fault is Fault.STUMBLED:
            raise KeyError("ts")
        if fault is Fault.LOST_ANSWER:
            raise Uncertain("The answer was lost.")

    async def publish(self, posted: Delivery) -> None:
        self.steps.step()
        self.published.append(posted.message)
        await asyncio.sleep(0)
        if posted.channel in self.closed:
            raise self.closed[posted.channel]
        fault = self.publishing.pop(0) if self.publishing else Fault.NONE
        _raise_unposted(fault)
        self.followed.add(posted.message)
        self.steps.step()
        if fault is Fault.STUMBLED:
            raise KeyError("id")
        if fault is Fault.LOST_ANSWER:
            raise Uncertain("The answer was lost.")

    def link(self, delivery: Delivery) -> str:
        return f"https://chat.example/{delivery.channel}/{delivery.message}"

    async def tell(self, workspace: str, person: str, text: str) -> None:
        self.steps.step()
        if self.silent:
            raise Refused("Nobody may be told anything.", reach=Reach.WORKSPACE)
        self.told.append((workspace, person, text))

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        self.steps.step()
        if self.silent:
            raise Refused("Nobody may be told anything.", reach=Reach.WORKSPACE)
        self.announced.append((workspace, channel, text))

    async def obstacle(self, workspace: str, channel: str) -> str:
        self.steps.step()
        self.examined.append((workspace, channel))
        await asyncio.sleep(0)
        fault = self.examinations.pop(0) if self.examinations else Fault.NONE
        if fault is Fault.REFUSED:
            return "The channel is archived."
        _raise_unposted(fault)
        shown = None if channel in self.unseen else self.closed.get(channel)
        self.steps.step()
        if shown is not None and not isinstance(shown, Refused):
            raise shown
        return "" if shown is None else str(shown)


def _raise_unposted(fault: Fault) -> None:
    if fault is Fault.REFUSED:
        raise Refused("The channel is archived.")
    if fault is Fault.DELAYED:
        raise Delayed("The platform could not be reached.", reach=Reach.PLATFORM)
    if fault is Fault.RETRY_AFTER:
        raise Delayed("The platform asked for a pause.", retry_after=RETRY_AFTER)
    if fault is Fault.LOST_REQUEST:
        raise Uncertain("The answer was lost.")
    if fault is Fault.BROKEN:
        raise KeyError("channel")


def delivery(number: int = 1, *, now: datetime, part: int = 1, parts: int = 1, **changes: Any) -> Delivery:
    """Return a delivery that is due now, the part of the digest of that number."""
    plain = Delivery(
        id=f"d{number}p{part}",
        occurrence=(f"s{number}", now.astimezone(UTC).date(), 0),
        workspace="chat:T1",
        channel=f"C{number}",
        topic="kv",
        part=part,
        parts=parts,
        payload=f"Digest {number}, part {part}",
        due=now,
        next_at=now,
    )
    return replace(plain, **changes)


def numbered(parts: Iterable[int], now: datetime) -> list[Delivery]:
    """Return deliveries of as many digests as there are numbers, each in so many parts."""
    return [
        delivery(number, now=now, part=part, parts=count)
        for number, count in enumerate(parts, start=1)
        for part in range(1, count + 1)
    ]
