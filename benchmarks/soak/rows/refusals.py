"""R14 and a gate: channels and workspaces that refuse for good, while a digest goes out to all of them.

The service's own scheduler, preparer and deliverer post in this process through the real clients to the Slack or the
Discord of the tests. When a quarter is posted, some channels begin to refuse everything with one of the platform's codes.
Each must be asked once more at most, everybody else must get everything once, and each owner must be told once, and
nobody else is told.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.soak.judge import Verdict, judged
from benchmarks.soak.killed import REMEMBERED
from benchmarks.soak.limits import TRUE
from benchmarks.soak.plant import Crowd, ledger, plant
from benchmarks.soak.row import Row
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from benchmarks.soak.stands import messenger_of, stand
from benchmarks.soak.work import SCALE
from benchmarks.soak.worker import Service
from bot.models import Delivery
from bot.store.sqlite.store import SqliteStore
from tests.fakes.platform import Behaviour
from tests.fakes.slack import FakeSlack

# What happened: Slack's name of the error, Discord's number, and whether it closes the whole workspace.
CODES: tuple[tuple[str, str | int, bool], ...] = (
    ("slack", "is_archived", False),
    ("slack", "channel_not_found", False),
    ("slack", "not_in_channel", False),
    ("slack", "thread_locked", False),
    ("slack", "token_revoked", True),
    ("slack", "account_inactive", True),
    ("slack", "invalid_auth", True),
    ("slack", "team_access_not_granted", True),
    ("discord", 10003, False),
    ("discord", 50001, False),
    ("discord", 50013, False),
    ("discord", 10004, True),
)
_IN_FLIGHT = TRUE.workers  # so many posts to a workspace may be on their way as the first of them is refused
_PATIENCE = 60.0  # seconds without anybody being told, after which nobody else will be
_STEP = 0.005
_ARCHIVED = ("is_archived", "channel_not_found", "not_in_channel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    verdict: Verdict  # of who was not refused
    most_calls: int  # refused posts of one channel, or of one workspace
    owed: int  # owners whose subscription was paused
    told: int  # of these, who was told just once
    wrongly_told: int  # others who were told something, and those who were told again
    seconds: float

    @property
    def is_right(self) -> bool:
        """Say whether the owners were told once each, nobody else was, and everybody else got everything once."""
        return self.verdict.is_clean and self.told == self.owed > 0 and not self.wrongly_told


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """Who refuses, and with what."""

    crowd: Crowd
    channels: frozenset[int]  # their numbers
    codes: Sequence[str | int]  # by turns
    whole: bool = False  # whether the codes close workspaces
    seed: int = 1
    begins: float = 0.25  # of all posts

    def codes_of(self) -> dict[str, str | int]:
        """Return the code of each channel that refuses."""
        return {self.crowd.channel(each): self.codes[at % len(self.codes)] for at, each in enumerate(sorted(self.channels))}

    def place(self, channel: str) -> str:
        """Return what is closed with the channel: its workspace, or it alone."""
        number = int(channel.removeprefix(self.crowd.channel(0)[:-1]))
        return self.crowd.workspace(number) if self.whole else channel


async def refused(closing: Closing) -> Outcome:
    """Post to everybody, and judge."""
    crowd, begun = closing.crowd, monotonic()
    behaviour = Behaviour(seed=closing.seed, takes=(0.001, 0.01), remembers=REMEMBERED)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "broadsheet.db"
        await plant(database, crowd)
        async with stand(behaviour, crowd, tiers=False) as fake:
            # Nothing fails here but what is refused: the true times, and the limits of thirty times as much.
            work = replace(TRUE, speed=SCALE, nonce_window=120.0, finds=True)
            store = SqliteStore(database, exclusive=True)
            await store.open()
            given = replace(work, database=str(database), url=fake.url).of(crowd)
            async with messenger_of(given, store) as messenger:
                service = Service(replace(work, database=str(database), url=fake.url).of(crowd), store, messenger)
                await _posted(service, fake, closing, store)
                owners = await _owners(store, crowd)
            await store.close()
        rows = await ledger(database, crowd.deliveries())
        return _judged(closing, fake, rows, owners, monotonic() - begun)


async def _posted(service: Service, fake: Any, closing: Closing, store: SqliteStore) -> None:
    """Run the service until all is posted, and everybody is told or nobody was for long; what closes closes meanwhile."""
    refusing = fake.faults.refusing if closing.crowd.platform == "slack" else fake.refusing
    codes, many, latest = closing.codes_of(), len(closing.crowd.deliveries()), (0, monotonic())

    async def is_told() -> bool:
        nonlocal latest
        told = _told(fake)
        if len(told) > latest[0]:
            latest = len(told), monotonic()
        return monotonic() - latest[1] > _PATIENCE or set(told) >= await _owners(store, closing.crowd)

    if not closing.begins:
        refusing.update(codes)
    working = asyncio.create_task(service.run(is_told))
    while not working.done() and len(fake.committed) < closing.begins * many:  # noqa: ASYNC110 - another's count
        await asyncio.sleep(_STEP)
    refusing.update(codes)
    await working


async def _owners(store: SqliteStore, crowd: Crowd) -> set[str]:
    """Return who subscribed what is paused now."""
    places = {crowd.workspace(number) for number in range(min(crowd.channels, crowd.workspaces))}
    return {each.made_by for place in places for each in await store.workspaces.subscriptions(place) if each.paused}


def _judged(closing: Closing, fake: Any, rows: Mapping[str, Delivery], owners: set[str], seconds: float) -> Outcome:
    codes, told = closing.codes_of(), _told(fake)
    others = [each for each in closing.crowd.deliveries() if each.channel not in codes]
    here = {each.id for each in others}
    known = {name: row for name, row in rows.items() if name in here}
    verdict = judged(others, [each for each in fake.committed if each.marker in here], known, sound=True)
    calls = Counter[str]()
    for channel, number in _refused_posts(fake, codes).items():
        calls[closing.place(channel)] += number
    return Outcome(
        verdict=verdict,
        most_calls=max(calls.values(), default=0),
        owed=len(owners),
        told=sum(told[each] == 1 for each in owners),
        wrongly_told=sum(number - (person in owners) for person, number in told.items()),
        seconds=seconds,
    )


def _refused_posts(fake: Any, codes: Mapping[str, object]) -> Counter[str]:
    """Return how many posts each channel refused."""
    if isinstance(fake, FakeSlack):
        failed = (str(each.args["channel"]) for each in fake.requests if each.method == "chat.postMessage" and each.error)
        return Counter(each for each in failed if each in codes)
    asked = Counter(each.part["channel_id"] for each in fake.calls if each.method == "POST" and "channel_id" in each.part)
    posted = Counter(each.channel for each in fake.committed)
    return Counter({channel: asked[channel] - posted[channel] for channel in codes})


def _told(fake: Any) -> Counter[str]:
    """Return how often each person was told something."""
    if isinstance(fake, FakeSlack):
        sent = (each.channel for each in fake.world.history if each.is_app and each.channel.startswith("D"))
        return Counter(f"U{channel[1:]}" for channel in sent)
    private = [each for each in fake.channels.values() if each.recipient is not None]
    return Counter({str(each.recipient.id): len(fake.of_bot(each)) for each in private})


async def every_code(ask: Ask) -> Row:
    """Close so many channels, or workspaces, with each code."""
    wrong, most_channel, most_workspace, told, others = [], 0, 0, 0, 0
    for at, (platform, code, whole) in enumerate(CODES):
        many = ask.size + 10  # workspaces
        crowd = Crowd(5 * many, due_just_now(), (2,) if platform == "slack" else (1,), platform, many)
        closed = [each for each in range(crowd.channels) if (each % many if whole else crowd.channels - 1 - each) < ask.size]
        found = await refused(
            Closing(crowd=crowd, channels=frozenset(closed), codes=(code,), whole=whole, seed=ask.seed + at)
        )
        most_channel = max(most_channel, 0 if whole else found.most_calls)
        most_workspace = max(most_workspace, found.most_calls if whole else 0)
        told, others = told + found.told, others + found.verdict.expected
        if not found.is_right:
            wrong.append(
                f"{code}: {found.verdict.figures()}, {found.told} of {found.owed} told once, {found.wrongly_told} wrongly"
            )
    measured = (
        f"{told:,} owners told once, {others:,} deliveries of others unaffected; at most {most_channel} refused call of a"
        f" channel, {most_workspace} of a workspace, which were on their way at once"
        + "".join(f"; {each}" for each in wrong)
    )
    kept = not wrong and most_channel <= 1 and most_workspace <= _IN_FLIGHT
    what = "refused for good in the middle of posting: archived, kicked, not found, token revoked, permission lost …"
    target = "stops within 1 call, others unaffected, owner told once"
    return Row(what, f"{len(CODES)} codes × {ask.size}", target, measured, kept)


async def every_owner(ask: Ask) -> Row:
    """The gate: everybody refuses, with known permanent codes."""
    crowd = Crowd(ask.size, due_just_now(), (2,), "slack")
    found = await refused(
        Closing(crowd=crowd, channels=frozenset(range(ask.size)), codes=_ARCHIVED, seed=ask.seed, begins=0.0)
    )
    measured = (
        f"{found.told:,} of {ask.size:,} owners told once, {found.wrongly_told} again or wrongly; at most"
        f" {found.most_calls} refused call of a channel"
    )
    kept = found.told == ask.size and not found.wrongly_told and found.most_calls <= 1
    return Row(
        "every channel refuses with a known permanent code",
        f"{ask.size:,} refusals",
        "every owner told once",
        measured,
        kept,
    )
