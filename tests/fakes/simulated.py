"""A world whose time a test moves: its clock, its platforms with all their faults, and the sudden end of a process.

True time only goes on. What a clock shows may jump. A platform lives in true time: it remembers nonces and answers late by
it, whatever the service's clock shows.
"""

import asyncio
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from bot.errors import Delayed, Reach, Refused, Rejected, Uncertain
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses

SECOND = timedelta(seconds=1)
NONCE_WINDOW = timedelta(seconds=120)  # that is promised …
NONCES_KEPT = timedelta(seconds=180)  # … and that is kept
LONGEST_CALL = timedelta(seconds=15)
LAG = timedelta(seconds=20)  # of a history behind what was posted
PAGES = 3  # of a history; a look shows one, and often there is another
EVERYWHERE, PAGE = "", "page"
QUIET_FROM, QUIET_UNTIL = time(22), time(6)  # in UTC, in workspaces that want it so
MINUTE = timedelta(minutes=1)
EDITS_APART, EDITS_END = 5 * MINUTE, timedelta(days=3)  # of a message


class Clock:
    """What the service's clock shows."""

    def __init__(self, begins: datetime) -> None:
        self.true = begins
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        return self.true + self.ahead

    async def pause(self, seconds: float) -> None:
        """Let so much time pass; others may work meanwhile."""
        self.true += timedelta(seconds=seconds)
        await asyncio.sleep(0)


class Killed(BaseException):
    """The process is no more. Nothing that it does from now on has any effect."""


class Fuse:
    """Ends a process after a number of its calls to the outside, in between two of them."""

    def __init__(self, calls: int | None = None) -> None:
        self.left = calls
        self.burnt = False

    def burn(self) -> None:
        """Raise Killed when the time has come, and ever after."""
        if self.left is not None:
            self.left -= 1
            self.burnt = self.burnt or self.left < 0
        if self.burnt:
            raise Killed


class Mortal:
    """A store as one process has it: it does nothing more for a process that was killed."""

    def __init__(self, store: object, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):  # one of its ports
            return Mortal(found, self._fuse)
        method: Callable[..., Awaitable[object]] = found

        async def call(*given: object, **named: object) -> object:
            self._fuse.burn()
            answer = await method(*given, **named)
            self._fuse.burn()
            return answer

        return call


class Fault(StrEnum):
    """What may go wrong in a call to a platform."""

    LIMITED = "too many requests, and for how long to wait"
    DELAYED = "not now"
    LOST = "the request was lost, or its answer"
    LANDS_LATE = "it is posted when nobody waits for it any more"
    STALLS = "no answer, for as long as one waits"
    ODD = "an error that nobody foresaw, after it was posted"
    UNREAD = "the history could not be read now"


@dataclass
class Weather:
    """How often each fault happens, as a share of all calls; and who is refused."""

    shares: dict[Fault, float] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)  # whole workspaces, and channels: "nonce:A C1"
    # What is refused with a code that nobody knows, or with a PAGE of a proxy's: whole workspaces, channels, or EVERYWHERE.
    odd: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)  # channels


@dataclass(frozen=True, slots=True)
class _Flight:
    lands: datetime
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class _EditFlight:
    lands: datetime
    delivery: str
    presses: Presses


@dataclass(slots=True)
class _Edited:
    """When edits were asked for, in true time, since the process began and its clock jumped last."""

    life: tuple[int, timedelta]
    messages: dict[str, datetime] = field(default_factory=dict)
    workspaces: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))


class Platform:
    """bot.ports.messenger.Messenger in simulated time. It judges what is posted while that is posted: see `wrong`."""

    def __init__(
        self, platform: str, abilities: Abilities, clock: Clock, chance: random.Random, per_message: int = 4
    ) -> None:
        self._platform = platform
        self._abilities = abilities
        self._clock = clock
        self._chance = chance
        self._per_message = per_message
        self._flights: list[_Flight] = []
        self._nonces: dict[str, datetime] = {}  # when each was first used
        self._last_parts: dict[tuple[str, date, int], int] = {}
        self.fuse = Fuse()
        self.quiet: set[str] = set()  # workspaces that want nothing posted at night
        self.weather = Weather()
        self.posted: dict[str, datetime] = {}  # by the delivery's id: when, in true time
        self.shown: dict[tuple[str, str], set[str]] = defaultdict(set)  # the items that a channel was shown
        self.refused: set[str] = set()  # channels and workspaces in which a post was refused
        self.rejected = Counter[str]()  # deliveries that were not taken, with a code that nobody knows or a page
        self.told = Counter[tuple[str, str]]()  # people
        self.wrong: list[str] = []
        self.counting: set[str] = set()  # workspaces whose messages tell what their readers pressed
        self.sent: dict[str, Delivery] = {}  # what was posted there, as it was, by id
        self.says: dict[str, Presses] = {}  # what messages say that were edited, by the delivery's id
        self.left: set[str] = set()  # deliveries an edit of which was refused, so that they stay as they are
        self.edits = 0  # that took effect
        self._edit_flights: list[_EditFlight] = []
        self._edited = _Edited((0, timedelta(0)))

    @property
    def platform(self) -> str:
        return self._platform

    @property
    def abilities(self) -> Abilities:
        return self._abilities

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        keys = [entry.ranked.item.key for entry in digest.entries]
        groups = [keys[place : place + self._per_message] for place in range(0, len(keys), self._per_message)] or [[]]
        said = ({"day": digest.day.isoformat(), "late": late, "keys": group} for group in groups)
        return [json.dumps(each | {"listed": [each["keys"]]}) for each in said]

    async def send(self, delivery: Delivery) -> str:
        self._request(lambda: self._let_fly(delivery))
        self.land()
        now = self._clock().time()
        if delivery.workspace in self.quiet and delivery.attempts == 1 and not QUIET_UNTIL <= now < QUIET_FROM:
            self.wrong.append(f"{_named(delivery)} is sent at {now:%H:%M}, when its workspace wants quiet")
        self._refuse(delivery, self.refused)
        self._reject(delivery.workspace, delivery.channel, delivery.id)
        fault = self._fault_unless_delayed()
        if fault is Fault.LANDS_LATE:
            self._let_fly(delivery)
            raise Uncertain("The answer was lost.")
        if fault is Fault.STALLS:
            await self._clock.pause(LONGEST_CALL.total_seconds())
            raise TimeoutError
        lost = fault is Fault.LOST
        if not lost or self._chance.random() < 0.5:
            self._post(delivery, self._clock.true)
        self.fuse.burn()
        if lost:
            raise Uncertain("The connection broke.")
        if fault is Fault.ODD:
            raise ValueError("the answer is no JSON")
        return _message(delivery)

    async def find(self, delivery: Delivery) -> Look:
        self.fuse.burn()
        self.land()
        self._refuse(delivery, set())
        self._reject(delivery.workspace, delivery.channel)
        if not self._abilities.finds or _place(delivery) in self.weather.unreadable:
            raise Refused("Its history may not be read.")
        if self._fault() is Fault.UNREAD:
            raise self._chance.choice([Delayed("Not now.", retry_after=30 * SECOND), Uncertain("The connection broke.")])
        if len(delivery.cursor) < PAGES and self._chance.random() < 0.5:
            return Look(cursor=f"{delivery.cursor}|")
        at = self.posted.get(delivery.id)
        seen = at is not None and self._clock.true - at >= self._chance.random() * LAG
        return Look(message=_message(delivery)) if seen else ABSENT

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        self._judge_edit(posted, presses)
        flight = _EditFlight(self._clock.true + self._chance.random() * LONGEST_CALL, posted.id, presses)
        self._request(lambda: self._edit_flights.append(flight))
        self.land()
        self._refuse_edit(posted)
        fault = self._fault_unless_delayed()
        if fault in (Fault.LANDS_LATE, Fault.STALLS):
            self._edit_flights.append(flight)
        if fault is Fault.LANDS_LATE:
            raise Uncertain("The answer was lost.")
        if fault is Fault.STALLS:
            await self._clock.pause(LONGEST_CALL.total_seconds())
            raise TimeoutError
        lost = fault is Fault.LOST
        if not lost or self._chance.random() < 0.5:
            self._show(posted.id, presses)
        self.fuse.burn()
        if lost:
            raise Uncertain("The connection broke.")
        if fault is Fault.ODD:
            raise ValueError("the answer is no JSON")

    async def publish(self, posted: Delivery) -> None:
        self.wrong.append(f"{_named(posted)} is published to followers, which nobody asked for")

    def link(self, delivery: Delivery) -> str:
        return f"https://chat.example/{delivery.channel}/{delivery.message}"

    async def tell(self, workspace: str, person: str, text: str) -> None:
        self.fuse.burn()
        self._reject(workspace, person)
        self.told[workspace, person] += 1

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        self.fuse.burn()
        self._reject(workspace, channel)
        self.told[workspace, channel] += 1

    async def obstacle(self, workspace: str, channel: str) -> str:
        self.fuse.burn()
        if self._fault() is not None:
            raise self._chance.choice([Delayed("Not now."), Uncertain("The connection broke.")])
        if workspace in self.weather.closed:
            return "The token was revoked."
        return "The channel was archived." if f"{workspace} {channel}" in self.weather.closed else ""

    def forget(self, before: datetime) -> None:
        """Forget what was posted before, as if somebody else kept it; it judges that no more."""
        for known in (self.posted, self._nonces):
            for name in [name for name, at in known.items() if at < before]:
                del known[name]
        for kept in (self.sent, self.says):
            for name in kept.keys() - self.posted.keys():
                del kept[name]
        self._last_parts = {place: part for place, part in self._last_parts.items() if place[1] >= before.date()}
        self.shown.clear()
        self.told.clear()

    def _request(self, let_fly: Callable[[], None]) -> None:
        """Take a request; who dies while it is under way does not stop it."""
        already = self.fuse.burnt
        try:
            self.fuse.burn()
        except Killed:
            if not already and self._chance.random() < 0.5:
                let_fly()
            raise

    def _let_fly(self, delivery: Delivery) -> None:
        self._flights.append(_Flight(self._clock.true + self._chance.random() * LONGEST_CALL, delivery))

    def _fault(self) -> Fault | None:
        place = self._chance.random()
        for fault, share in self.weather.shares.items():
            place -= share
            if place < 0:
                return fault
        return None

    def _fault_unless_delayed(self) -> Fault | None:
        fault = self._fault()
        if fault is Fault.LIMITED:
            reach = self._chance.choice([Reach.CHANNEL, Reach.WORKSPACE, Reach.PLATFORM])
            raise Delayed("Too many requests.", reach=reach, retry_after=self._chance.uniform(0.1, 120) * SECOND)
        if fault is Fault.DELAYED:
            raise Delayed("Not now.")
        return fault

    def _refuse(self, delivery: Delivery, noted: set[str]) -> None:
        if delivery.workspace in self.weather.closed:
            noted.add(delivery.workspace)
            raise Refused("The token was revoked.", reach=Reach.WORKSPACE)
        if _place(delivery) in self.weather.closed:
            noted.add(_place(delivery))
            raise Refused("The channel was archived.")

    def _reject(self, workspace: str, channel: str, delivery: str = "") -> None:
        odd = self.weather.odd
        code = next((odd[place] for place in (f"{workspace} {channel}", workspace, EVERYWHERE) if place in odd), "")
        if code:
            self.rejected[delivery] += 1
        if code == PAGE:
            raise Delayed("Something on the way answered.", reach=Reach.PLATFORM)
        if code:
            raise Rejected(f"The platform did not take it (code {code}).", failure=code)

    def land(self) -> None:
        """Post what is in flight and has arrived by now."""
        for flight in self._flights:
            if flight.lands <= self._clock.true:
                self._post(flight.delivery, flight.lands)
        self._flights = [flight for flight in self._flights if flight.lands > self._clock.true]
        for edit in sorted(self._edit_flights, key=lambda each: each.lands):
            if edit.lands <= self._clock.true:
                self._show(edit.delivery, edit.presses)
        self._edit_flights = [edit for edit in self._edit_flights if edit.lands > self._clock.true]

    def _show(self, delivery: str, presses: Presses) -> None:
        self.says[delivery] = presses
        self.edits += 1

    def _refuse_edit(self, posted: Delivery) -> None:
        try:
            self._refuse(posted, set())
            self._reject(posted.workspace, posted.channel)
        except (Refused, Rejected) as error:
            if isinstance(error, Rejected) or error.reach is Reach.CHANNEL:
                self.left.add(posted.id)
            raise

    def _judge_edit(self, posted: Delivery, presses: Presses) -> None:
        now, true = self._clock(), self._clock.true
        faults = {
            "was never posted": posted.id not in self.posted,
            "says something else": posted.id in self.sent and posted.payload != self.sent[posted.id].payload,
            "is in a workspace that did not ask for it": posted.workspace not in self.counting and presses != Presses(),
            "is in a workspace that wants quiet": posted.workspace in self.quiet
            and _is_quiet(now)
            and _is_quiet(now - MINUTE),
            "is too old": now - (posted.last_try or posted.due) > EDITS_END + MINUTE,
            "was edited just now": self._is_too_soon(posted, true),
            "is in a workspace in which much was edited": self._is_too_much(posted.workspace, true),
        }
        self.wrong += [f"{_named(posted)} is edited at {now}, and {what}" for what, is_so in faults.items() if is_so]

    def _is_too_soon(self, posted: Delivery, true: datetime) -> bool:
        """Whether the message was edited minutes ago; also where the process has died since."""
        if self._edited.life[1] != self._clock.ahead:
            self._edited = _Edited((id(self.fuse), self._clock.ahead))
        last = self._edited.messages.get(posted.id)
        self._edited.messages[posted.id] = true
        return last is not None and true - last < EDITS_APART

    def _is_too_much(self, workspace: str, true: datetime) -> bool:
        """Whether there are more edits than the workspace has for a minute; each process begins to count anew."""
        most = self._abilities.edit.per_workspace_minute
        life = (id(self.fuse), self._clock.ahead)
        if self._edited.life != life:
            self._edited.life = life
            self._edited.workspaces.clear()
        asked = [at for at in self._edited.workspaces[workspace] if true - at < MINUTE] + [true]
        self._edited.workspaces[workspace] = asked
        return most is not None and len(asked) > most

    def _post(self, delivery: Delivery, at: datetime) -> None:
        first = self._nonces.get(delivery.id)
        if self._abilities.nonce_window and first is not None and at - first <= NONCES_KEPT:
            return
        self._judge(delivery, at)
        if self._abilities.nonce_window:
            self._nonces[delivery.id] = at
        self.posted.setdefault(delivery.id, at)
        if delivery.workspace in self.counting:
            self.sent.setdefault(delivery.id, delivery)
        self._last_parts[delivery.occurrence] = delivery.part

    def _judge(self, delivery: Delivery, at: datetime) -> None:
        keys = [sys.intern(key) for key in json.loads(delivery.payload)["keys"]]  # many channels show the same items
        here = self.shown[delivery.workspace, delivery.channel]
        if delivery.id in self.posted:
            self.wrong.append(f"{_named(delivery)} was posted twice, after {at - self.posted[delivery.id]}")
        elif again := here.intersection(keys):
            self.wrong.append(f"{_named(delivery)} shows {sorted(again)} again")
        if (last := self._last_parts.get(delivery.occurrence, 0)) + 1 != delivery.part and delivery.id not in self.posted:
            self.wrong.append(f"{_named(delivery)} follows part {last}")
        if delivery.part > 1 and not delivery.thread:
            self.wrong.append(f"{_named(delivery)} does not hang on part one")
        here.update(keys)


def _is_quiet(now: datetime) -> bool:
    return not QUIET_UNTIL <= now.time() < QUIET_FROM


def _place(delivery: Delivery) -> str:
    return f"{delivery.workspace} {delivery.channel}"


def _message(delivery: Delivery) -> str:
    return f"m-{delivery.id}"


def _named(delivery: Delivery) -> str:
    return f"part {delivery.part} of {delivery.occurrence[0]} of {delivery.occurrence[1]} in {delivery.channel}"
