"""Digests that say what their readers pressed, while senders are killed and three of ten requests fail.

People press *More*, *Less*, *Save* and *Unsave* while digests are posted and long after that; the messages are edited by the
real Messengers, on the Slack and the Discord of the tests. Posting runs in the times of the tests with kills, edits on a
clock that is 200 times as fast. In the end every message stands once and says what the store counts, and no two edits of one
message were asked for within 5 minutes of that clock, whoever died in between.
"""

import asyncio
import json
import random
import re
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from benchmarks.soak.discord_stand import discord
from benchmarks.soak.faulty import Faulty, FaultyDiscord, FaultySlack, Kind
from benchmarks.soak.judge import Verdict, is_sound, judged
from benchmarks.soak.killed import BOTH, LAG, REMEMBERED
from benchmarks.soak.kills import LONGEST, end, ready, started
from benchmarks.soak.plant import Crowd, ledger, plant
from benchmarks.soak.presses import FAST
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import due_just_now
from benchmarks.soak.stands import slack_stand
from benchmarks.soak.work import SCALE, Work
from bot.models import Change, Delivery, DeliveryState, Preferences, Presses
from bot.store.sqlite.store import SqliteStore
from tests.fakes.discord import FakeDiscord
from tests.fakes.platform import Behaviour
from tests.fakes.slack import FakeSlack

SHARE = 0.3  # of the requests, so many fail
_STALL = 0.8  # seconds: longer than the service waits, and over before the same message is edited again
_APART = 300.0 / FAST
_JITTER = 0.05  # seconds: by so much a request may come later than the one before it did
_SOONEST = 0.2  # seconds after its start that a process is killed at
_PER_PRESS = 0.1  # seconds
# Timeouts, 5xx, 429, and what is done though its answer is lost: refusals that stand in no list end a message's edits.
_WAYS = {Kind.RESET: 4, Kind.LOST: 4, Kind.HALF: 2, Kind.STALL: 2, Kind.BROKEN: 6, Kind.LIMITED: 4, Kind.EMPTY: 1}
_READERS = re.compile(r"Readers: (?:(\d+)\xa0more)?(?: · )?(?:(\d+)\xa0saved)?")
_EDIT = re.compile(r"/api/v10/channels/\d+/messages/\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run."""

    platform: str
    channels: int
    presses: int
    kills: int
    seed: int
    share: float = SHARE


@dataclass(slots=True)
class Watch:
    """What was asked to be edited, and when, by the message."""

    asked: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def middleware(self) -> Middleware:
        """Return what notes it, before anything can fail."""

        @web.middleware
        async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.path == "/api/chat.update":
                said = await (request.json() if request.content_type == "application/json" else request.post())
                self.asked[" ".join((str(said["channel"]), str(said["ts"])))].append(time.monotonic())
            elif request.method == "PATCH" and _EDIT.fullmatch(request.path):
                self.asked[request.path].append(time.monotonic())
            return await handler(request)

        return note

    def too_soon(self) -> int:
        """Return how many edits were asked for within 5 minutes of the one before."""
        gaps = (later - sooner for times in self.asked.values() for sooner, later in pairwise(times))
        return sum(gap < _APART - _JITTER for gap in gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    verdict: Verdict
    kills: int
    seconds: float
    edits: int
    too_soon: int
    failed: int
    told: int  # messages that say what was pressed, or that nothing was
    wrong: Sequence[str]  # what messages say that is not so

    @property
    def is_kept(self) -> bool:
        """Whether everything was as it should be."""
        return self.verdict.is_clean and not (self.too_soon or self.wrong)

    def figures(self) -> str:
        """Return it in words."""
        told = (
            f"{self.verdict.figures()}; {self.told:,} of {self.told + len(self.wrong):,} messages say what the store counts;"
            f" {self.edits:,} edits asked for, {self.too_soon} too soon; {self.failed:,} requests failed;"
            f" {self.seconds:.0f} s"
        )
        return told + "".join(f"; {each}" for each in self.wrong[:5])


async def in_slack(size: Size) -> Sequence[Row]:
    """Return the row of Slack."""
    return [await _row("Slack", _plan("slack", size))]


async def in_discord(size: Size) -> Sequence[Row]:
    """Return the row of Discord."""
    return [await _row("Discord", _plan("discord", size))]


def _plan(platform: str, size: Size) -> Plan:
    return Plan(
        platform=platform,
        channels=size.deliveries // 40,
        presses=size.deliveries // 2,
        kills=size.kills,
        seed=size.seed,
    )


async def _row(name: str, plan: Plan) -> Row:
    outcome = await run(plan)
    sizes = f"{outcome.verdict.expected} deliveries, {plan.presses:,} presses, {outcome.kills} kills"
    target = "0 lost, 0 duplicate; every message says what the store counts, edited every 5 minutes at most"
    what = f"{name}: digests say what is pressed, `kill -9`, {plan.share:.0%} of the requests fail"
    return Row(what, sizes, target, outcome.figures(), outcome.is_kept and outcome.kills >= plan.kills)


async def run(plan: Plan) -> Outcome:
    """Post, press and edit it all, and judge."""
    crowd = Crowd(plan.channels, due_just_now(), (2, 3, 2) if plan.platform == "slack" else (1, 2, 1), plan.platform, 3)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "broadsheet.db"
        await plant(database, crowd)
        await _switch_on(database, crowd)
        watch = Watch()
        async with _standing(plan, crowd, watch) as (fake, faulty):
            work = replace(
                BOTH,
                speed=SCALE,
                database=str(database),
                url=fake.url,
                presses=plan.presses,
                presses_take=plan.presses * _PER_PRESS,
                presses_begin=time.time(),
            ).of(crowd)
            kills = await _live(work, plan, faulty)
            rows = await ledger(database, crowd.deliveries())
            # In Discord a thread has a card for each entry, more messages than the crowd knows of.
            made = [*{each.id: each for each in (*crowd.deliveries(), *rows.values())}.values()]
            wrong = [*_wrong(fake, database, rows)]
            verdict = judged(made, fake.committed, rows, sound=is_sound(database))
    done = sum(each.state is DeliveryState.DONE for each in rows.values())
    return Outcome(
        verdict=verdict,
        kills=kills,
        seconds=time.monotonic() - begun,
        edits=sum(map(len, watch.asked.values())),
        too_soon=watch.too_soon(),
        failed=faulty.failed.total(),
        told=done - len(wrong),
        wrong=wrong,
    )


async def _switch_on(database: Path, crowd: Crowd) -> None:
    store = SqliteStore(database)
    await store.open()
    for workspace in sorted({crowd.workspace(number) for number in range(crowd.channels)}):
        change = Change(workspace=workspace, at=crowd.due, person="U1", what="settings")
        await store.workspaces.save_preferences(workspace, Preferences(activity=True), change)
    await store.close()


@asynccontextmanager
async def _standing(plan: Plan, crowd: Crowd, watch: Watch) -> AsyncIterator[tuple[FakeSlack | FakeDiscord, Faulty]]:
    behaviour = Behaviour(lag=LAG, remembers=REMEMBERED / SCALE, seed=plan.seed)
    faulty = (FaultySlack if plan.platform == "slack" else FaultyDiscord)(plan.seed, _STALL)
    faulty.weights, faulty.share = _WAYS, plan.share
    before = (watch.middleware(), faulty.middleware())
    opened = slack_stand(behaviour, crowd, False, before) if plan.platform == "slack" else discord(behaviour, crowd, before)
    async with opened as fake:
        yield fake, faulty


async def _live(work: Work, plan: Plan, faulty: Faulty) -> int:
    """Run workers, kill each but the last, and return how many were killed; then let nothing fail any more."""
    dice = random.Random(plan.seed)
    mean = plan.presses * _PER_PRESS / max(plan.kills, 1)
    async with asyncio.timeout(LONGEST):
        for _ in range(plan.kills):
            process = await started(work)
            try:
                await ready(process)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_SOONEST + dice.expovariate(1 / mean)):
                        await process.wait()
                if process.returncode is not None:
                    raise RuntimeError(f"A worker ended with {process.returncode} before it was killed.")
            finally:
                await end(process)
        last = await started(work)
        try:
            await ready(last)
            asyncio.get_running_loop().call_later(_APART, setattr, faulty, "share", 0.0)
            if await last.wait():
                raise RuntimeError(f"A worker ended with {last.returncode}.")
        finally:
            await end(last)
    return plan.kills


# --- the judgement


def _wrong(fake: FakeSlack | FakeDiscord, database: Path, rows: Mapping[str, Delivery]) -> list[str]:
    """Return what messages say that the store does not count, or what is not said though it counts."""
    says = _says(fake)
    db = sqlite3.connect(database)
    try:
        kept = dict(db.execute("select id, data from standing").fetchall())
        found = []
        for each in rows.values():
            if each.state is not DeliveryState.DONE:
                continue
            stands = _stands(db, each) if each.id in kept else "nothing that may be edited"
            if says.get(each.id) != stands:
                found.append(f"{each.id} in {each.channel} says {says.get(each.id)}, and {stands} stands")
    finally:
        db.close()
    return found


def _stands(db: sqlite3.Connection, posted: Delivery) -> Presses:
    """Count, plainly, the people who pressed something of what a message lists."""
    keys, since = db.execute("select keys, since from standing where id = ?", [posted.id]).fetchone()
    said = db.execute(
        "select key, person from feedback where workspace = ? and channel = ? and topic = ? and more and at >= ?",
        [posted.workspace, posted.channel, posted.topic, since],
    ).fetchall()
    saved = db.execute(
        "select key, person from saved_in where workspace = ? and channel = ? and at >= ?",
        [posted.workspace, posted.channel, since],
    ).fetchall()
    listed = set(json.loads(keys))
    return Presses(*(len({person for key, person in pressed if key in listed}) for pressed in (said, saved)))


def _says(fake: FakeSlack | FakeDiscord) -> dict[str, Presses]:
    """Return what each message of a digest says of what was pressed, by its delivery."""
    if isinstance(fake, FakeDiscord):
        texts = {str(number): each.text for where in fake.channels.values() for number, each in where.messages.items()}
        return {each.marker: _read(texts[each.id]) for each in fake.committed if each.marker}
    every = ((each.text, (each.metadata or {}).get("event_payload", {}).get("d")) for each in fake.world.history)
    return {str(marker): _read(text) for text, marker in every if marker}


def _read(text: str) -> Presses:
    found = _READERS.findall(text)
    more, saved = found[-1] if found else ("", "")
    return Presses(int(more or 0), int(saved or 0))
