"""What a month should have come to, said plainly: which days of which subscriptions were due, and what may become of each.

Nothing of Broadsheet is used but its values. Schedules of the model are on whole quarters of an hour: when one is due is
read off a table of what the zone's clock shows every quarter.
"""

import functools
import itertools
from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.models import OVERTAKEN, Delivery, Feedback, Occurrence, OccurrenceState, Presses, Schedule, Subscription

CATCH_UP = timedelta(hours=12)
LATE = timedelta(minutes=15)
_QUARTER = timedelta(minutes=15)
_DAY = timedelta(days=1)
_LONGEST = timedelta(days=35)  # no two dates of a schedule are further apart
_TABLE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 3, 1, tzinfo=UTC)
# Why an occurrence that was noticed in time may not be posted all the same, each with what must have been so.
_UNMADE = "its digest could not be made in time"
_HELD_UP = ("it is too late to post it", _UNMADE, "the channel was posted")

Name = tuple[str, date]  # a subscription's id, and the day


@functools.cache
def _table(zone: str) -> tuple[list[datetime], list[datetime]]:
    """Every quarter of an hour, and the latest wall time that the zone's clock has shown by then."""
    begin, end = _TABLE
    ticks = [begin + n * _QUARTER for n in range((end - begin) // _QUARTER)]
    walls = (tick.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for tick in ticks)
    return ticks, list(itertools.accumulate(walls, max))


def first_shown(day: date, at: time, zone: str) -> datetime:
    """Return when the zone's clock first shows this time of this day, or a later one."""
    ticks, shown = _table(zone)
    return ticks[bisect_left(shown, datetime.combine(day, at))]


def dates(schedule: Schedule, begin: datetime, end: datetime) -> Iterator[tuple[date, datetime]]:
    """Yield the days of the schedule that are due from `begin` to `end`, and when."""
    day = begin.date() - 2 * _DAY
    while day <= end.date() + 2 * _DAY:
        last = monthrange(day.year, day.month)[1]
        if (day.day == min(schedule.month_day, last)) if schedule.month_day else (day.weekday() in schedule.weekdays):
            at = first_shown(day, schedule.at, schedule.zone)
            if begin <= at <= end:
                yield day, at
        day += _DAY


@dataclass
class Known:
    """A subscription as it was last saved."""

    latest: Subscription
    first: Subscription  # as it was made
    gone: bool = False
    looked: datetime | None = None  # until then everything that was due under this revision has been noticed
    tried: list[datetime] = field(default_factory=list)  # when somebody looked and was killed meanwhile
    ever_paused: bool = False
    next: datetime | None = None  # nothing is due between `looked` and then


@dataclass
class Expected:
    """A day that was due."""

    due: datetime
    noticed: datetime
    newest: bool  # the latest of those that were noticed with it
    sure: bool = True  # False: it was noticed by somebody who was killed, perhaps before writing it down


class Readers:
    """Told what people press below digests; asked what a digest has to say of it."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str, str, str], Feedback] = {}  # by workspace, topic, person and item
        self._saved: dict[tuple[str, str, str, str], datetime] = {}  # by workspace, channel, person and item

    def said(self, feedback: Feedback) -> None:
        """Somebody wants more or less of an item; to say the same again changes nothing."""
        place = (feedback.workspace, feedback.topic, feedback.person, feedback.key)
        before = self._said.get(place)
        if before is None or before.more is not feedback.more:
            self._said[place] = feedback

    def took_back(self, workspace: str, topic: str, person: str, key: str) -> None:
        """Somebody takes back what was said."""
        self._said.pop((workspace, topic, person, key), None)

    def saved(self, workspace: str, channel: str, person: str, key: str, at: datetime) -> None:
        """Somebody saves an item in a channel; it counts as of the latest time."""
        place = (workspace, channel, person, key)
        self._saved[place] = max(at, self._saved.get(place, at))

    def unsaved(self, workspace: str, person: str, key: str) -> None:
        """Somebody does not save an item any more, anywhere."""
        for place in [place for place in self._saved if (place[0], *place[2:]) == (workspace, person, key)]:
            del self._saved[place]

    def of(self, posted: Delivery, keys: Collection[str]) -> Presses:
        """Return of how many people the message has to say that they pressed something of what it lists."""
        since = posted.made_at or posted.due
        place = (posted.workspace, posted.topic, posted.channel)
        said = (each for each in self._said.values() if each.more and each.key in keys and each.at >= since)
        more = {each.person for each in said if (each.workspace, each.topic, each.channel) == place}
        saved = {
            person
            for (workspace, channel, person, key), at in self._saved.items()
            if key in keys and at >= since and (workspace, channel) == (posted.workspace, posted.channel)
        }
        return Presses(len(more), len(saved))


class Model:
    """Told what people do and when somebody looks for what is due; asked whether the ledger has it so."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self.expected: dict[Name, Expected] = {}
        self.quiet: set[str] = set()  # workspaces that once wanted quiet: what waits for that is not late
        self.ended = 0  # the last arrival when a collection last ended
        self._ends: set[int] = set()  # all these
        self._last: datetime | None = None  # when somebody last looked to the end

    def saved(self, subscription: Subscription) -> None:
        """A subscription was made or changed."""
        known = self.known.setdefault(subscription.id, Known(subscription, subscription))
        known.latest, known.looked, known.tried, known.next = subscription, None, [], None
        known.ever_paused = known.ever_paused or subscription.paused

    def deleted(self, number: str) -> None:
        """Somebody unsubscribed."""
        self.known[number].gone = True

    def collected(self, last: int) -> None:
        """A collection ended, and so many had arrived."""
        self.ended = last
        self._ends.add(last)

    def ticked(self, now: datetime, *, killed: bool = False) -> None:
        """Somebody looked for what is due; if killed, perhaps not to the end."""
        noticed = min(self._last or now, now)
        for known in self.known.values():
            if not (known.gone or known.latest.schedule.at_once or _sleeps(known.latest, now)):
                self._looked(known, noticed, now, killed)
        if not killed:
            self._last = now

    def _looked(self, known: Known, noticed: datetime, now: datetime, killed: bool) -> None:
        if known.next is not None and now < known.next:
            return
        begin = _begins(known, noticed, now)
        found = list(dates(known.latest.schedule, begin, now)) if begin <= now else []
        moments = [*known.tried, now]
        for day, at in found:
            # Newest of all, or of those that were due when somebody looked who was killed.
            newest = any(_newest(found, moment) == at for moment in moments)
            name = (known.latest.id, day)
            before = self.expected.get(name)
            if before is None:
                self.expected[name] = Expected(at, now, newest, sure=not killed)
            elif not before.sure:
                before.sure, before.newest = not killed, before.newest or newest
        if killed:
            known.tried.append(now)
        else:
            known.looked, known.tried = max(known.looked or now, now), []
            known.next = min(at for _, at in dates(known.latest.schedule, known.looked, known.looked + _LONGEST))

    # --- judging

    def faults(self, ledger: Iterable[Occurrence]) -> Iterator[str]:
        """Yield what of the ledger is not as it should be, in words."""
        every = list(ledger)
        for each in every:
            if each.is_at_once:
                yield from (f"{each.subscription} up to {each.slot}: {fault}" for fault in self._faults_at_once(each))
        found = {(each.subscription, each.day): each for each in every if not each.is_at_once}
        for name, expected in self.expected.items():
            if expected.sure and name not in found:
                yield f"{name} was due at {expected.due} and is not in the ledger"
        for name, each in found.items():
            yield from (f"{name}: {fault}" for fault in self._faults(each, name))

    def _faults(self, occurrence: Occurrence, name: Name) -> Iterator[str]:
        expected = self.expected.get(name)
        if expected is None:
            yield "was never due"
            return
        if occurrence.due != expected.due:
            yield f"is due at {occurrence.due}, not at {expected.due}"
        if occurrence.state is OccurrenceState.SKIPPED:
            yield from self._skipped(occurrence, expected)
        elif not expected.newest:
            yield f"is {occurrence.state} although a later one was due as well"
        elif occurrence.state is OccurrenceState.MADE and not occurrence.late and self._is_late(occurrence, expected):
            yield "is not marked as late"

    def _faults_at_once(self, occurrence: Occurrence) -> Iterator[str]:
        known = self.known[occurrence.subscription]
        if occurrence.slot not in self._ends:
            yield "no collection ended there"
        if occurrence.slot <= (known.first.baseline_arrival or 0):
            yield "ended before it was subscribed"
        if occurrence.late:
            yield "is late"
        if occurrence.state is OccurrenceState.SKIPPED:
            true = {OVERTAKEN: True, "unsubscribed": known.gone, "paused": known.ever_paused, _UNMADE: True}
            if not any(held and occurrence.reason.startswith(reason) for reason, held in true.items()):
                yield f"is skipped because {occurrence.reason!r}"

    def _is_late(self, occurrence: Occurrence, expected: Expected) -> bool:
        return expected.noticed - expected.due > LATE and occurrence.workspace not in self.quiet

    def _skipped(self, occurrence: Occurrence, expected: Expected) -> Iterator[str]:
        known = self.known[occurrence.subscription]
        true = {
            "overtaken": any(day > occurrence.day for number, day in self.expected if number == occurrence.subscription),
            "noticed too late": expected.noticed - expected.due > CATCH_UP,
            "unsubscribed": known.gone,
            "paused": known.ever_paused,
            **dict.fromkeys(_HELD_UP, True),
        }
        if not any(held and occurrence.reason.startswith(reason) for reason, held in true.items()):
            yield f"is skipped because {occurrence.reason!r}"


def _begins(known: Known, noticed: datetime, now: datetime) -> datetime:
    """From when on a due date counts: since somebody looked, not before it was made, not while it was paused."""
    latest = known.latest
    begins = known.looked or noticed
    if latest.made_at is not None and latest.made_at <= now:
        begins = max(begins, latest.made_at)
    if latest.paused and latest.paused_until is not None:
        begins = max(begins, latest.paused_until)
    return begins


def _newest(found: list[tuple[date, datetime]], moment: datetime) -> datetime | None:
    instants = sorted(at for _, at in found)
    place = bisect_right(instants, moment)
    return instants[place - 1] if place else None


def _sleeps(subscription: Subscription, now: datetime) -> bool:
    until = subscription.paused_until
    return subscription.paused and (until is None or until > now)
