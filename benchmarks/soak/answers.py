"""Commands and digests while three of ten requests fail, in both chats at once, with the true times and limits.

`broadsheet run` is one process, on one database, in the Slack and the Discord of the tests. People give commands of every
kind, by the clock; meanwhile digests fall due every minute, each in a channel of its own, and to some channels is posted at
once what a collection brought. Of all requests that are not part of connecting, three of ten fail, in every way that the
platforms document; for one minute nothing at all succeeds. Some channels really are closed, and are opened again. When all
that was given is answered and all that was due is posted, the platforms' own records are judged.
"""

import asyncio
import itertools
import json
import signal
import socket
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from benchmarks.soak.discord_stand import marker
from benchmarks.soak.faulty import FaultyDiscord, FaultySlack
from benchmarks.soak.judge import is_sound, judged
from benchmarks.soak.people import GOOD, Chat, DiscordPeople, Outcome, SlackPeople, doubled, lines_of
from benchmarks.soak.plant import LONG_BEFORE, Crowd, ledger
from benchmarks.soak.row import Row, Size
from benchmarks.soak.rows.service import Place
from bot.delivery import delivery_id
from bot.models import Change, Delivery, DeliveryState, Item, Schedule, Subscription
from bot.ports.facts import COLLECTED
from bot.store.sqlite.store import SqliteStore
from tests.e2e.stage import OLD, about
from tests.fakes import discord, slack
from tests.fakes.platform import Behaviour

SHARE = 0.3  # of the requests, so many fail
TOPIC = "gpu-systems"
_TAKES = (0.005, 0.06)
_REMEMBERS = 180.0  # seconds for which Discord knows a nonce
_PER_SECOND = 50
_ACKNOWLEDGED = 3.0  # seconds that Slack waits
_PATIENCE = 900.0  # seconds that a person waits: as long as Discord takes an answer
_DRAIN = 720.0  # seconds after the last command in which all must be settled
_LOOK = 5.0  # seconds between two looks into the database
_PAUSED = 240.0  # seconds for which is waited until what is closed is paused, before it is opened
_TOLD_EVERY = 12  # looks
_GUILDS = 5
_SAVES = "2603.00002"
_ITEMS = 4  # as many as one message holds in either chat
_AT_ONCE = 9  # of so many channels one is posted at once what the collection brought
_CLOSED, _OPENED, _DOWN = 0.1, 0.55, 0.4  # of the time: when the closed channels are due and opened, when nothing succeeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is done, and for how long; times in seconds from the first command on."""

    commands: int
    deliveries: int
    minutes: float
    seed: int
    share: float = SHARE

    @property
    def span(self) -> float:
        """Return for how long commands are given."""
        return 60 * self.minutes

    @property
    def closed(self) -> int:
        """Return how many channels of each chat are closed."""
        return max(2, self.deliveries // 100)


@dataclass(frozen=True, slots=True)
class Post:
    """A digest that falls due, in a channel of its own."""

    subscription: str
    workspace: str
    channel: str
    owner: str
    due: datetime
    is_closed: bool  # whether the channel is, when it is due
    is_at_once: bool  # whether it is due because a collection has ended

    def subscribed(self) -> Subscription:
        """Return the subscription of which it comes."""
        long_before = self.due - timedelta(hours=23)
        daily = Schedule(at=time(self.due.hour, self.due.minute))
        return Subscription(
            id=self.subscription,
            workspace=self.workspace,
            channel=self.channel,
            topic=TOPIC,
            schedule=Schedule(weekdays=(), at_once=True) if self.is_at_once else daily,
            baseline=long_before,
            baseline_arrival=0 if self.is_at_once else None,
            always=True,
            made_by=self.owner,
            made_at=long_before,
        )

    def delivery(self) -> Delivery:
        """Return what should be posted."""
        day, slot = self.due.date(), _ITEMS if self.is_at_once else 0
        return Delivery(
            id=delivery_id(self.subscription, day, slot, 1),
            occurrence=(self.subscription, day, slot),
            workspace=self.workspace,
            channel=self.channel,
            topic=TOPIC,
            part=1,
            parts=1,
            payload="",
            due=self.due,
            next_at=self.due,
        )


@dataclass(slots=True)
class Stage:
    """Both chats with what stands before them, the service, and what was seen of its database."""

    slack: slack.FakeSlack
    discord: discord.FakeDiscord
    faulty: tuple[FaultySlack, FaultyDiscord]
    chats: tuple[SlackPeople, DiscordPeople]
    posts: Sequence[Post] = ()
    place: Place | None = None
    paused: dict[str, str] = field(default_factory=dict)  # subscriptions that ever were, and why
    held: set[str] = field(default_factory=set)  # those that are now

    def committed(self) -> list[str]:
        """Return the marker of every digest that was posted."""
        return [each.marker for each in (*self.slack.committed, *self.discord.committed)]


async def answered(size: Size) -> list[Row]:
    """Run it at this size."""
    plan = Plan(commands=size.commands, deliveries=size.commands // 2, minutes=size.minutes, seed=size.seed)
    if size.keep is not None:
        return [await run(plan, size.keep)]
    with tempfile.TemporaryDirectory() as folder:
        return [await run(plan, Path(folder))]


async def run(plan: Plan, folder: Path) -> Row:
    """Run it in a folder, where its database and its log stay."""
    async with _staged(plan, folder) as stage:
        assert stage.place is not None
        service = await stage.place.start()
        try:
            await stage.place.ready(service)
            await stage.slack.connected(within=60)
            await stage.discord.gateway.heard(60)
            looking = asyncio.create_task(_watch(stage))
            seconds = await _happen(plan, stage)
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        finally:
            service.send_signal(signal.SIGTERM)
            said = b"".join(await service.communicate())
            await asyncio.to_thread((folder / "service.log").write_bytes, said)
        return await _row(plan, stage, said.decode(errors="replace"), seconds)


# --- what stands there


@asynccontextmanager
async def _staged(plan: Plan, folder: Path) -> AsyncIterator[Stage]:
    faulty = FaultySlack(plan.seed), FaultyDiscord(plan.seed + 1)
    behaviour = Behaviour(seed=plan.seed, takes=_TAKES, remembers=_REMEMBERS, per_second=_PER_SECOND)
    async with (
        slack.running(behaviour, tiers=True, before=[faulty[0].middleware()]) as one,
        discord.running(behaviour, before=[faulty[1].middleware()]) as other,
    ):
        one.patience = _ACKNOWLEDGED
        other.read_marker = marker
        guilds = [other.guild(f"Server {number}") for number in range(_GUILDS)]
        place = other.channel(guilds[0], "papers")
        patience = min(_PATIENCE, max(180.0, plan.span))
        chats = SlackPeople(one, faulty[0], patience), DiscordPeople(other, place, faulty[1], patience)
        stage = Stage(one, other, faulty, chats)
        begins = datetime.now(UTC) + timedelta(seconds=15)
        stage.posts = [*_posts(plan, stage, guilds, begins)]
        await _plant(folder / "b.sqlite3", stage.posts, _items(datetime.now(UTC)))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        text = _settings(folder / "b.sqlite3", port, one, other)
        await asyncio.to_thread((folder / "broadsheet.toml").write_text, text, encoding="utf-8")
        stage.place = Place(folder, Crowd(0, begins), one, port)
        yield stage


def _posts(plan: Plan, stage: Stage, guilds: Sequence[discord.Guild], begins: datetime) -> Iterator[Post]:
    """Make the channels, and yield what falls due in them: every minute as many, by turns in each chat."""
    first = begins.replace(second=0, microsecond=0) + timedelta(minutes=1)
    minutes = max(1, round(plan.minutes))
    for number in range(plan.deliveries + 2 * plan.closed):
        is_closed = number >= plan.deliveries
        wave = round(_CLOSED * minutes) if is_closed else number * minutes // plan.deliveries
        is_at_once = not is_closed and number % _AT_ONCE == 0
        name, due = f"sub{number}", begins if is_at_once else first + timedelta(minutes=wave)
        if number % 2:
            guild = guilds[number // 2 % _GUILDS]
            channel, owner = stage.discord.channel(guild, f"digest-{number}"), stage.discord.user(f"Owner {number}")
            yield Post(name, f"discord:{guild.id}", str(channel.id), str(owner.id), due, is_closed, is_at_once)
        else:
            person = stage.slack.add_person(f"U8N{number}", f"owner{number}")
            kind = slack.Kind.PRIVATE if is_closed and number % 4 else slack.Kind.PUBLIC
            made = stage.slack.add_channel(f"C8N{number}", f"digest-{number}", joined=True, kind=kind)
            yield Post(name, f"slack:{made.team}", made.id, person.id, due, is_closed, is_at_once)


def _items(now: datetime) -> Iterator[Item]:
    """Yield what was collected; one has so many authors that its entry in a bibliography fits into no message."""
    for each in about(1, OLD[:_ITEMS], now):
        yield replace(each, authors=tuple(f"Author Number {n}" for n in range(150))) if each.key.endswith(_SAVES) else each


async def _plant(path: Path, posts: Sequence[Post], items: Iterable[Item]) -> None:
    store, now = SqliteStore(path), datetime.now(UTC)
    await store.open()
    await store.facts.set("last tick", (now - LONG_BEFORE).isoformat())
    await store.items.add(tuple(items), now)
    await store.facts.set(COLLECTED, str(await store.items.last_arrival()))
    for each in posts:
        made = each.subscribed()
        change = Change(workspace=made.workspace, at=now, person=made.made_by, what="subscription")
        await store.workspaces.save_subscription(made, change, replaces=0)
    await store.close()


def _settings(database: Path, port: int, one: slack.FakeSlack, other: discord.FakeDiscord) -> str:
    off = "".join(f"[{name}]\nenabled = false\n" for name in ("arxiv", "huggingface", "github"))
    in_slack = f'[slack]\nbot_token = "{one.bot_token}"\napp_token = "{one.app_token}"\napi_url = "{one.api_url}"\n'
    in_discord = (
        f'[discord]\ntoken = "{other.token}"\napi_url = "{other.api_url}"\n'
        f'gateway_url = "{other.gateway_url}"\ncdn_url = "{other.cdn_url}"\n'
    )
    return f'database = "{database}"\ntopics = ["{TOPIC}"]\n[health]\nport = {port}\n{off}{in_slack}{in_discord}'


# --- what happens


async def _happen(plan: Plan, stage: Stage) -> float:
    """Let it all happen, and return after how many seconds it was settled."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for each in stage.faulty:
        each.share = plan.share
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_close_and_open(plan, stage))
        tasks.create_task(_go_down(plan, stage))
        tasks.create_task(_give(plan, stage))
    await _settle(stage, begun + plan.span + _DRAIN)
    return loop.time() - begun


async def _give(plan: Plan, stage: Stage) -> None:
    """Let people come by the clock, in each chat by turns, and return when all that they asked is answered."""
    people, loop = [*_people(plan)], asyncio.get_running_loop()
    begun, each_takes = loop.time(), plan.span / len(people)
    async with asyncio.TaskGroup() as tasks:
        for number, does in enumerate(people):
            await asyncio.sleep(max(0.0, begun + number * each_takes - loop.time()))
            tasks.create_task(does(stage.chats[number % 2], number))


def _people(plan: Plan) -> Iterator[Callable[[Chat, int], Coroutine[Any, Any, None]]]:
    """Yield what each does, until that comes to so many commands."""
    # How many commands each comes to at least, in Slack and in Discord: what is not opened is not filled in.
    kinds = ((_lives, 6, 6), (_searches, 3, 3), (_reads, 3, 3), (_fills, 2, 2), (_exports, 2, 2), (_types, 1, 3))
    given = number = 0
    while given < plan.commands:
        does, *many = kinds[number // 2 % len(kinds)]
        given, number = given + many[number % 2], number + 1
        yield does


async def _lives(chat: Chat, number: int) -> None:
    """Make a topic, follow it, and let it go: six commands that everybody in the channel sees."""
    person, name = chat.newcomer(number), f"topic-{chat.name.lower()}-{number:04}"
    for line in ("topic create {} gpu OR cuda", "subscribe {} weekdays at 03:17", "pause {}", "resume {}", "unsubscribe {}"):
        await chat.say(person, line.format(name), everybody=name)
    await chat.say(person, f"topic delete {name}", everybody=name)


async def _searches(chat: Chat, number: int) -> None:
    """Search, and press what stands below an item."""
    person = chat.newcomer(number)
    await chat.say(person, "search gpu")
    for at in range(3):
        await chat.press(person, number + at)


async def _reads(chat: Chat, number: int) -> None:
    """Ask what changes nothing."""
    person = chat.newcomer(number)
    for line in lines_of(number, _SAVES):
        await chat.say(person, line)


async def _fills(chat: Chat, number: int) -> None:
    """Make a topic in a form, and delete it."""
    person, name = chat.newcomer(number), f"form-{chat.name.lower()}-{number:04}"
    if await chat.fill(person, name) is Outcome.ANSWERED:
        await chat.say(person, f"topic delete {name}", everybody=name)


async def _exports(chat: Chat, number: int) -> None:
    """Save an item, and take the list home as a file."""
    person = chat.newcomer(number)
    await chat.say(person, f"save {_SAVES}")
    await chat.say(person, "saved bibtex", file="Saved" in chat.last_words(person))


async def _types(chat: Chat, number: int) -> None:
    """Type into an option that is completed, and then give the command."""
    person = chat.newcomer(number)
    for _ in range(2):
        await chat.type(person)
    await chat.say(person, f"topic show {TOPIC}")


async def _close_and_open(plan: Plan, stage: Stage) -> None:
    closed = [each for each in stage.posts if each.is_closed]
    for each in closed:
        await _close(stage, each, is_open=False)
    await asyncio.sleep(_OPENED * plan.span)
    end = asyncio.get_running_loop().time() + _PAUSED
    while not {each.subscription for each in closed} <= stage.paused.keys() and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 - what is looked up
        await asyncio.sleep(_LOOK)
    for each in closed:
        await _close(stage, each, is_open=True)


async def _close(stage: Stage, post: Post, *, is_open: bool) -> None:
    """Archive the channel, remove us from it, or take a right from us; or the other way round."""
    if post.workspace.startswith("discord"):
        place, number = stage.discord.channels[int(post.channel)], int(post.subscription[3:])
        right = discord.Permission.SEND_MESSAGES if number % 4 == 1 else discord.Permission.VIEW_CHANNEL
        stage.discord.let(place, **{"may" if is_open else "may_not": right})
        return
    channel = stage.slack.team.channels[post.channel]
    if channel.kind is slack.Kind.PRIVATE:
        await (stage.slack.invite if is_open else stage.slack.kick)(channel)
    else:
        await (stage.slack.unarchive if is_open else stage.slack.archive)(channel)


async def _go_down(plan: Plan, stage: Stage) -> None:
    """Let nothing succeed for a minute, or a tenth of the time where that is less."""
    await asyncio.sleep(_DOWN * plan.span)
    for each in stage.faulty:
        each.is_down = True
    await asyncio.sleep(min(60.0, plan.span / 10))
    for each in stage.faulty:
        each.is_down = False


async def _settle(stage: Stage, until: float) -> None:
    """Wait until all that was due is posted, or listed as not to be, and what was closed is not held any more.

    Half of that time on, nothing fails any more.
    """
    loop = asyncio.get_running_loop()
    loop.call_at((until + loop.time()) / 2, _succeed, stage)
    due = {each.delivery().id for each in stage.posts if not each.is_closed}
    while loop.time() < until and (  # noqa: ASYNC110 - another's records
        stage.held or due - set(stage.committed()) - await _ended_of(stage)
    ):
        await asyncio.sleep(_LOOK)


def _succeed(stage: Stage) -> None:
    for each in stage.faulty:
        each.share = 0.0


# --- what is seen


async def _watch(stage: Stage) -> None:
    """Look again and again which subscriptions are paused, until cancelled."""
    begun, shown = asyncio.get_running_loop().time(), Counter[str]()
    for number in itertools.count():
        rows = await _query(stage, "select id, data from subscriptions")
        paused = {str(name): json.loads(data) for name, data in rows}
        stage.held = {name for name, found in paused.items() if found.get("paused") and name.startswith("sub")}
        stage.paused |= {name: str(paused[name].get("paused_because", "")) for name in stage.held}
        if number % _TOLD_EVERY == 0:
            given = sum(chat.tally.given.total() for chat in stage.chats)
            pending = sum(chat.tally.pending for chat in stage.chats)
            posted = len({each.delivery().id for each in stage.posts} & set(stage.committed()))
            told = f"{given:,} commands given, {pending} waiting; {posted:,} posted; {len(stage.held)} held"
            print(f"{asyncio.get_running_loop().time() - begun:5.0f} s: {told}", file=sys.stderr, flush=True)
            for chat in stage.chats:
                for each in chat.tally.bad[shown[chat.name] :]:
                    print(f"        {each}", file=sys.stderr, flush=True)
                shown[chat.name] = len(chat.tally.bad)
        await asyncio.sleep(_LOOK)


async def _ended_of(stage: Stage) -> set[str]:
    """Return the deliveries of which nothing more will come."""
    rows = await _query(stage, "select id from deliveries where state in ('failed', 'expired')")
    return {str(name) for (name,) in rows}


async def _query(stage: Stage, sql: str) -> list[tuple[str, ...]]:
    assert stage.place is not None
    return await asyncio.to_thread(_read, stage.place.database, sql)


def _read(database: Path, sql: str) -> list[tuple[str, ...]]:
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


# --- the judgement


async def _row(plan: Plan, stage: Stage, said: str, seconds: float) -> Row:
    assert stage.place is not None
    database = stage.place.database
    expected = [each.delivery() for each in stage.posts if not each.is_closed]
    rows = await ledger(database, [each.delivery() for each in stage.posts])
    known = {each.id for each in expected}
    posted = [each for each in (*stage.slack.committed, *stage.discord.committed) if each.marker in known]
    verdict = judged(expected, posted, {name: row for name, row in rows.items() if name in known}, sound=is_sound(database))
    closed = {each.subscription for each in stage.posts if each.is_closed}
    # Of what may have been posted before the channel was closed nobody can tell: it is listed, and the next digest pauses.
    unknown = {each.subscription for each in stage.posts if each.is_closed and _is_unknown(rows.get(each.delivery().id))}
    wrongly = {name: why for name, why in stage.paused.items() if name not in closed}
    twice = [text for chat in stage.chats for text in doubled(chat)]
    bad = [each for chat in stage.chats for each in chat.tally.bad]
    flaws = [*_flaws(stage)]
    given = sum(chat.tally.given.total() for chat in stage.chats)
    is_right = (
        not (verdict.lost or verdict.duplicate or verdict.unclaimed or wrongly or twice or bad or flaws)
        and verdict.sound
        and closed <= stage.paused.keys() | unknown
        and not stage.held
        and "Traceback" not in said
    )
    reasons = Counter(each.reason for name, each in rows.items() if name in known and each.state in ("failed", "expired"))
    told = (
        f"{_commands(stage)}; {len(twice)} twice in public; of {len(expected):,} deliveries {verdict.figures()}"
        + "".join(f" ({number} × {why})" for why, number in reasons.most_common(5))
        + f"; {len(wrongly)} paused that should not be; of {len(closed)} closed channels {len(closed & stage.paused.keys())}"
        f" paused, {len(closed & stage.paused.keys()) - len(stage.held & closed)} lifted, {_told(stage)};"
        f" {_failures(stage)};"
        f" {said.count('Traceback')} tracebacks; {seconds:.0f} s"
    )
    examples = [*bad, *twice, *(f"{name} paused: {why}" for name, why in wrongly.items()), *flaws]
    told += "".join(f"; {each}" for each in examples[:12])
    sizes = (
        f"{given:,} commands and {len(expected):,} deliveries in {plan.minutes:g} min, {plan.share:.0%} of the requests fail"
    )
    target = (
        "every command answered or told, none twice in public; 0 lost, 0 duplicate; paused only what is closed, and lifted"
    )
    return Row("answers and digests while requests fail, Slack and Discord", sizes, target, told, is_right)


def _is_unknown(row: Delivery | None) -> bool:
    return row is not None and row.state is DeliveryState.AMBIGUOUS


def _flaws(stage: Stage) -> Iterator[str]:
    """Yield what no platform would have taken; that a window was opened by a try whose answer was lost is no flaw."""
    for each in stage.slack.rejected:
        if each.error not in ("exchanged_trigger_id", "expired_trigger_id"):
            yield f"{each.method}: {each.error} {each.told}"
    yield from (str(each)[:160] for each in (*stage.discord.wrong, *stage.slack.mentions, *stage.discord.mentions))


def _told(stage: Stage) -> str:
    """Return how many owners of closed channels were told of it."""
    private = [each.channel for each in stage.slack.world.history if each.is_app and each.channel.startswith("D8")]
    told = Counter(f"U{channel[1:]}" for channel in private)
    for each in stage.discord.channels.values():
        if each.recipient is not None and each.recipient.name.startswith("Owner"):
            told[str(each.recipient.id)] = len(stage.discord.of_bot(each))
    owners = {each.owner for each in stage.posts if each.is_closed}
    others = sum(number for owner, number in told.items() if owner not in owners)
    return f"{sum(told[owner] > 0 for owner in owners)} owners told, {others} others"


def _commands(stage: Stage) -> str:
    """Return what came of the commands, by kind."""
    came = sum((chat.tally.came for chat in stage.chats), Counter[tuple[str, Outcome]]())
    waited = sorted(each for chat in stage.chats for each in chat.tally.waited)
    kinds = []
    for kind in dict.fromkeys(kind for kind, _ in came):
        outcomes = (f"{came[kind, each]:,} {each}" for each in Outcome if came[kind, each])
        kinds.append(f"{kind} {', '.join(outcomes)}")
    good = sum(number for (_, outcome), number in came.items() if outcome in GOOD)
    p50, p99 = (waited[round(share * (len(waited) - 1))] for share in (0.5, 0.99)) if waited else (0.0, 0.0)
    return f"{good:,} of {came.total():,} commands answered or told ({'; '.join(kinds)}; after {p50:.1f} s, p99 {p99:.0f} s)"


def _failures(stage: Stage) -> str:
    """Return how many requests failed how, and what was asked."""
    said = []
    for chat, faulty in zip(stage.chats, stage.faulty, strict=True):
        kinds, asked = Counter[str](), Counter[str]()
        for (what, kind), number in faulty.failed.items():
            kinds[kind] += number
            asked[what] += number
        ways = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
        whats = ", ".join(f"{number:,} of {faulty.asked[what]:,} {what}" for what, number in asked.most_common())
        said.append(
            f"{chat.name}: {asked.total():,} of {faulty.asked.total():,} requests failed ({ways}; {whats};"
            f" {faulty.inside:,} inside a Retry-After)"
        )
    return "; ".join(said)
