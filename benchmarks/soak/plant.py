"""Subscriptions that are due, made through the store's port: one a channel, with digests of one or two messages in turn."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path

from bot.delivery import delivery_id
from bot.models import (
    EMAIL,
    MAIL,
    Change,
    Delivery,
    Digest,
    DigestRequest,
    OccurrenceState,
    OptIn,
    Preferences,
    Schedule,
    Subscription,
    Topic,
    code_kept,
    mail_channel,
)
from bot.store.sqlite.store import SqliteStore
from tests.fakes.digests import GPU

TOPIC = Topic(name=GPU.topic, title=GPU.title)
WORKSPACES = 20
# How a platform calls its workspaces, channels and people: what stands before their numbers.
_NAMES = {
    "fake": ("W", "C", "U"),
    "slack": ("W", "C", "U"),
    "discord": ("10000000", "20000000", "30000000"),
    "email": ("W", MAIL, "U"),  # of a chat's workspaces
}
_DOMAINS = 20  # of who reads what is sent by e-mail
_CODE = timedelta(hours=1)
LONG_BEFORE = timedelta(hours=1)  # everything was subscribed and noticed then
# Where writing through to the disk costs nothing, if there is such a place.
_FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many channels, all due at one instant, on the minute."""

    channels: int
    due: datetime
    parts: tuple[int, ...] = (1, 2, 1)  # how many messages the channels' digests have, in turn
    platform: str = "fake"
    workspaces: int = WORKSPACES
    always: bool = False  # whether digests are posted that are empty
    twice: bool = False  # whether the channels would rather see a digest twice than miss one

    def the_day_before(self) -> "Crowd":
        """Return the same channels as they were due a day earlier."""
        return replace(self, due=self.due - timedelta(days=1))

    def many(self, number: int) -> int:
        """Return how many messages the digest of a channel has."""
        return self.parts[number % len(self.parts)]

    def workspace(self, number: int) -> str:
        """Return the workspace of a channel."""
        return f"{self.platform}:{_NAMES[self.platform][0]}{number % self.workspaces}"

    def channel(self, number: int) -> str:
        """Return what the channel of that number is called."""
        if self.platform == EMAIL:
            return mail_channel(f"{number:016x}", self.address(number))
        return f"{_NAMES[self.platform][1]}{number}"

    def address(self, number: int) -> str:
        """Return the address to which the e-mails of that number go."""
        return f"reader-{number}@domain-{number % _DOMAINS}.example"

    def owner(self, number: int) -> str:
        """Return who subscribed the channel of that number."""
        return f"{_NAMES[self.platform][2]}{number}"

    def entries(self, channel: str) -> int:
        """Return how many entries the messenger makes the channel's number of messages of."""
        if self.platform == EMAIL:
            return 1
        many = self.many(int(channel.removeprefix(_NAMES[self.platform][1])))
        # Slack: a message, and one in its thread for each entry. Discord: as many as fit, which are three and more.
        return {"slack": many - 1, "discord": 4 * many - 3}.get(self.platform, many)

    def deliveries(self) -> list[Delivery]:
        """Return what should be posted."""
        return [each for number in range(self.channels) for each in self._deliveries(number)]

    def _deliveries(self, number: int) -> Iterator[Delivery]:
        subscription, day = f"sub{number}", self.due.date()
        for part in range(1, self.many(number) + 1):
            yield Delivery(
                id=delivery_id(subscription, day, 0, part),
                occurrence=(subscription, day, 0),
                workspace=self.workspace(number),
                channel=self.channel(number),
                topic=TOPIC.name,
                part=part,
                parts=self.many(number),
                payload=f"Digest {number}, {part}",
                due=self.due,
                next_at=self.due,
            )

    def subscriptions(self) -> Iterator[Subscription]:
        """Return who is to be posted to."""
        for number in range(self.channels):
            yield Subscription(
                id=f"sub{number}",
                workspace=self.workspace(number),
                channel=self.channel(number),
                topic=TOPIC.name,
                schedule=Schedule(at=time(self.due.hour, self.due.minute)),
                baseline=self.due - LONG_BEFORE,
                always=self.always,
                made_by=self.owner(number),
                made_at=self.due - LONG_BEFORE,
            )


@dataclass(frozen=True, slots=True)
class DigestOfSize:
    """bot.ports.digests.DigestMaker of digests of which the messenger makes the right number of messages."""

    crowd: Crowd

    async def make(self, request: DigestRequest, now: datetime) -> Digest:
        """Return the channel's digest."""
        some = tuple(itertools.islice(itertools.cycle(GPU.entries), self.crowd.entries(request.channel)))
        return replace(GPU, day=now.date(), until=now, since=now - request.window, entries=some)


async def plant(path: Path, some: Crowd) -> None:
    """Make a database in which these subscriptions wait to be noticed."""
    with tempfile.TemporaryDirectory(dir=_FAST) as folder:
        fast = Path(folder) / path.name
        store = SqliteStore(fast)
        await store.open()
        await store.facts.set("last tick", (some.due - LONG_BEFORE).isoformat())
        for each in some.subscriptions():
            change = Change(workspace=each.workspace, at=some.due - LONG_BEFORE, person=each.made_by, what="subscription")
            await store.workspaces.save_subscription(each, change, replaces=0)
        await _plant_wishes(store, some)
        if some.platform == EMAIL:
            await _plant_readers(store, some)
        await store.close()
        shutil.move(fast, path)


async def _plant_wishes(store: SqliteStore, some: Crowd) -> None:
    for workspace in {some.workspace(number) for number in range(some.channels if some.twice else 0)}:
        here = (number for number in range(some.channels) if some.workspace(number) == workspace)
        wish = Preferences(prefer_duplicate=tuple(some.channel(number) for number in here))
        change = Change(workspace=workspace, at=some.due - LONG_BEFORE, person=some.owner(0), what="settings duplicates")
        await store.workspaces.save_preferences(workspace, wish, change, replaces=Preferences())


async def _plant_readers(store: SqliteStore, some: Crowd) -> None:
    for number in range(some.channels):
        workspace, person, at = some.workspace(number), some.owner(number), some.due - LONG_BEFORE
        code = code_kept(workspace, person, "1")
        asked = OptIn(
            workspace=workspace,
            person=person,
            address=some.address(number),
            code=code,
            command="",
            asked_at=at,
            until=at + _CODE,
        )
        await store.recipients.ask(asked)
        await store.recipients.confirm(workspace, person, code, some.channel(number), at)


async def ledger(path: Path, made: Sequence[Delivery]) -> Mapping[str, Delivery]:
    """Return the deliveries as the database has them, by id."""
    store = SqliteStore(path)
    await store.open()
    workspaces = sorted({each.workspace for each in made})
    found = [each for name in workspaces for each in await store.ledger.deliveries(name, limit=2 * len(made))]
    await store.close()
    return {each.id: each for each in found}


async def skipped(path: Path, made: Sequence[Delivery]) -> set[tuple[str, date, int]]:
    """Return the occurrences that the database says were skipped."""
    store = SqliteStore(path)
    await store.open()
    workspaces = sorted({each.workspace for each in made})
    found = [each for name in workspaces for each in await store.ledger.recent_occurrences(name, limit=2 * len(made))]
    await store.close()
    return {(each.subscription, each.day, each.slot) for each in found if each.state is OccurrenceState.SKIPPED}
