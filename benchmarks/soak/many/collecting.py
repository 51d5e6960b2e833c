"""R3: processes that collect beside each other, killed again and again, lose nothing and store no work twice.

Two processes of `broadsheet run` with the role `collect`, each source under a lease, and two loops of `broadsheet collect`,
which asks without one, read the same sources on the same database. Two processes that search, one that makes digests and one
that hears people, keep a copy of what is collected. Each of the six is killed at random and started again, the two that
search on what they had, and now and then a connection is ended. A day is over when a collection has been let alone for long
enough to read all sources; everybody who collects is killed then, and begins the next day with another time.
"""

import asyncio
import json
import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic

import psycopg

from adapters.cli.exits import Exit
from benchmarks.soak.many.kills import TERMINATE
from benchmarks.soak.many.place import Place, Running, placed
from benchmarks.soak.many.sources import Told, World, at, telling, weekdays
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.models import Item
from bot.query import parse
from bot.query.match import matches
from bot.store.postgres.store import PostgresStore
from bot.store.records import item_to_text
from bot.store.sqlite.connections import Connections
from bot.store.sqlite.copy.search_copy import COPY
from bot.store.sqlite.search.index import SqliteIndex
from tests.fakes.platform import Behaviour

_A_DAY = 6  # kills
_CONNECTIONS = 4  # of so many kills, one is followed by the end of a connection
_APART = (0.2, 4.0)  # seconds between two kills
_LATER = 12  # minutes by which the time is later for each process that is started
_LONGEST = 240.0  # seconds that the collection at a day's end may take, tried again where it fails
_LEVEL = 60.0  # seconds until a copy that is followed has everything
_FOLLOWERS = ("make", "front")
_QUERIES = (
    "sparse kernels sort:new",
    "title:numbered sort:new",
    "kind:repo sort:new",
    "kind:post sort:new",
    "source:huggingface has:code sort:new",
    "source:feed sort:new",
    "author:lovelace -author:turing sort:new",
    "upvotes:>8 sort:new",
    "stars:>110 sort:new",
    "published:<2026-04-02 sort:new",
)
# What is known of a work only ever grows here, so each write of it is held against what it replaces: what one process lost
# another one might bring again before anybody looks.
_GUARD = """
    create table soak_lost (id bigint, was text, became text);
    create function soak_guard() returns trigger language plpgsql as $$
    declare was jsonb := old.data; became jsonb := new.data; begin
        if not coalesce(became->'sources', '[]') @> coalesce(was->'sources', '[]')
            or not coalesce(became->'aliases', '[]') @> coalesce(was->'aliases', '[]')
            or coalesce((became->>'upvotes')::int, 0) < coalesce((was->>'upvotes')::int, 0)
        then insert into soak_lost values (old.id, old.data, new.data); end if;
        return new;
    end $$;
    create trigger soak_guard before update on records for each row execute function soak_guard()"""


@dataclass(slots=True)
class _Rounds:
    """What goes on."""

    place: Place
    world: World
    dice: random.Random
    roles: dict[str, Running] = field(default_factory=dict)  # by what each is for
    folders: dict[str, Path] = field(default_factory=dict)
    started: int = 0  # on this day
    kills: int = 0
    cut: int = 0
    collections: int = 0  # commands that ended by themselves
    is_over: bool = False  # whether nobody is to begin a collection of this day any more

    async def through(self, kills: int) -> None:
        """Live through all days, with so many kills."""
        for name in _FOLLOWERS:
            await self._start(name)
        days = len(self.world.days)
        for place in range(days):
            self.world.place, self.started, self.is_over = place, 0, False
            loops = [asyncio.create_task(self._again_and_again(name)) for name in ("command 1", "command 2")]
            for name in ("collector 1", "collector 2"):
                await self._start(name)
            for number in range(kills * place // days, kills * (place + 1) // days):
                await self._disturbed(number)
            await self._read_whole()
            await self._evening(loops)

    async def _start(self, name: str) -> Running:
        folder = self._folder(name)
        now, self.started = at(self.world.today, _LATER * self.started), self.started + 1
        if name.startswith("command"):
            made = await self.place.command(["collect", "--json"], folder, now)
        elif name in _FOLLOWERS:
            made = await self.place.start((name,), folder=folder)
        else:
            made = await self.place.start(("collect",), folder=folder, now=now)
        self.roles[name] = made
        return made

    async def _again_and_again(self, name: str) -> None:
        """Collect, and begin anew when that has ended, by itself or by a kill."""
        while not self.is_over:
            process = await self._start(name)
            await process.process.communicate()
            self.collections += process.process.returncode in (Exit.OK, Exit.SOURCE)
            self.place.running.remove(process)

    async def _disturbed(self, number: int) -> None:
        """Kill one of them, after a while; a connection may be ended, too."""
        await asyncio.sleep(self.dice.uniform(*_APART))
        name = self.dice.choice([each for each, process in self.roles.items() if process.is_alive])
        await self._killed(name)
        if not name.startswith("command"):
            await self._start(name)
        if number % _CONNECTIONS == 0:
            self.cut += len(await self.place.sql(TERMINATE))

    async def _killed(self, name: str) -> None:
        process = self.roles[name]
        process.process.kill()
        await process.process.wait()
        self.kills += 1
        if not name.startswith("command"):  # whose loop reads what it wrote
            await process.process.communicate()
            self.place.running.remove(process)

    async def _read_whole(self) -> None:
        """Let a collection of all sources come to its end beside the others; raises RuntimeError where none does."""
        until = monotonic() + _LONGEST
        while True:
            process = await self.place.command(
                ["collect", "--force", "--json"], self._folder("a day's last"), self._latest()
            )
            written, said = await process.process.communicate()
            self.place.running.remove(process)
            if process.process.returncode == Exit.OK:
                return
            if monotonic() > until:
                raise RuntimeError(f"No collection came to its end: {written.decode()[-600:]} {said.decode()[-600:]}")

    def _folder(self, name: str) -> Path:
        """Return the folder of whoever is for that, which stays the same however often it is killed."""
        if name not in self.folders:
            self.folders[name] = self.place.new_folder()
        return self.folders[name]

    def _latest(self) -> datetime:
        self.started += 1
        return at(self.world.today, _LATER * self.started)

    async def _evening(self, loops: Sequence[asyncio.Task[None]]) -> None:
        """End whoever collects, before anything is told that is another day's."""
        self.is_over = True
        for name in [each for each in self.roles if each not in _FOLLOWERS]:
            process = self.roles.pop(name)
            process.process.kill()
            await process.process.wait()
        await asyncio.gather(*loops)
        self.place.running[:] = [each for each in self.place.running if each.is_alive]


async def collected(ask: Ask) -> Row:
    """Let so many processes be killed; a day has six kills, and there are four days at least, so that a weekend may be."""
    world = World(weekdays(max(4, ask.size // _A_DAY)))
    nobody = Crowd(0, datetime.now(UTC), (1,), "slack", workspaces=1)
    begun = monotonic()
    async with telling(world) as settings, placed(nobody, Behaviour(seed=ask.seed), sources=settings) as place:
        await _guarded(place.address)
        rounds = _Rounds(place, world, random.Random(ask.seed))
        await rounds.through(ask.size)
        store = PostgresStore(place.address, place.folder / "judge", most=2)
        await store.connections.open()
        try:
            wrong = await _taken_away(place.address)
            wrong += await _wrong_in_database(store, world)
            wrong += [each for name in _FOLLOWERS for each in await _wrong_in_copy(store, rounds, name)]
            works = (await store.items.counts())["items"]
        finally:
            await store.connections.close()
    measured = (
        f"{works} works stored of {len(world.told().keys)} told, {rounds.collections} collections besides those killed;"
        f" {len(wrong)} faults{''.join(f'; {each[:300]}' for each in wrong[:5])}; {monotonic() - begun:.0f} s"
    )
    size = f"{len(world.days)} days of five sources, {rounds.kills} kills of six processes, {rounds.cut} connections ended"
    target = "every work once, by every name; votes, stars, releases and watermarks as told last; each copy as the database"
    return Row("two processes collect, and copies follow", size, target, measured, not wrong and rounds.kills >= ask.size)


# --- what must be so in the end


async def _guarded(address: str) -> None:
    """Note every write that takes away what was known of a work."""

    def guard() -> None:
        with psycopg.connect(address, autocommit=True) as db:
            db.execute(_GUARD.encode())

    await asyncio.to_thread(guard)


async def _taken_away(address: str) -> list[str]:
    """Return which writes did that."""

    def noted() -> list[tuple[str, str]]:
        with psycopg.connect(address) as db:
            return db.execute("select was, became from soak_lost order by id").fetchall()

    return [f"a write took away: {was} became {became}" for was, became in await asyncio.to_thread(noted)]


async def _wrong_in_database(store: PostgresStore, world: World) -> list[str]:
    """Return what is not as it was told."""
    told = world.told()
    found = await store.items.find(told.names)
    items = [item for _, item in await store.items.arrived(0)]
    named = await store.items.find({alias for item in items for alias in item.aliases})
    wrong = [f"{name} is not known" for name in told.names if name not in found]
    wrong += [
        f"{name} finds {found[name].key}" for name, key in told.names.items() if name in found and found[name].key != key
    ]
    wrong += [f"{each.key} is more than was told" for each in items if each.key not in told.keys]
    wrong += [
        f"{alias} does not find {item.key}"
        for item in items
        for alias in item.aliases
        if alias not in named or named[alias].key != item.key
    ]
    wrong += [
        f"{each.key} has the sources {', '.join(each.sources)}"
        for each in items
        if frozenset(each.sources) != told.sources.get(each.key, frozenset())
    ]
    wrong += _wrong_counts({item.key: item for item in items}, told)
    return wrong + await _wrong_watermarks(store, world)


def _wrong_counts(items: Mapping[str, Item], told: Told) -> list[str]:
    """Return whose votes, stars and releases are not those that were told last."""
    known = [(items[key], "votes", items[key].upvotes, number) for key, number in told.upvotes.items() if key in items]
    known += [(items[key], "stars", items[key].stars, number) for key, number in told.stars.items() if key in items]
    wrong = [f"{item.key} has {has} {what}, not {number}" for item, what, has, number in known if has != number]
    releases = {key: each.release.tag if (each := items.get(key)) and each.release else "none" for key in told.releases}
    return wrong + [f"{key} has the release {releases[key]}" for key, tag in told.releases.items() if releases[key] != tag]


async def _wrong_watermarks(store: PostgresStore, world: World) -> list[str]:
    """Return which watermarks are behind what is stored, or ahead of what was told."""
    marks = {name: (await store.source_states.get(name)).watermark for name in ("arxiv", "huggingface", "github")}
    arxiv, listed = (date.fromisoformat(json.loads(marks[name])["day"]) for name in ("arxiv", "huggingface"))
    searched = [datetime.fromisoformat(each).date() for each in json.loads(marks["github"])["searches"].values()]
    is_right = arxiv == world.today and listed == world.today - timedelta(days=1) and searched == [world.today]
    return [] if is_right else [f"the watermarks are {marks}"]


async def _wrong_in_copy(store: PostgresStore, rounds: _Rounds, name: str) -> list[str]:
    """Let a process that searches follow for as long as it may take, end it, and hold its copy against the database."""
    path = rounds.folders[name] / COPY
    until, last = monotonic() + _LEVEL, await store.items.last_change()
    while (reached := await asyncio.to_thread(_reached, path)) != last and monotonic() < until:  # noqa: ASYNC110 - another's
        await asyncio.sleep(0.2)
    await rounds.roles[name].stop()
    arrived = await store.items.arrived(0)
    copied = await asyncio.to_thread(_rows_of, path)
    wrong = [] if reached == last else [f"the copy of {name} is behind: {reached} of {last}"]
    rows = {number: (item.key, item_to_text(item)) for number, item in arrived}
    if differing := [number for number in rows.keys() | copied.keys() if rows.get(number) != copied.get(number)]:
        wrong.append(f"the copy of {name} has {len(differing)} rows that differ from the {len(rows)} of the database")
    return wrong + await _wrong_hits(path, name, [item for _, item in arrived])


def _reached(path: Path) -> int | None:
    """Return the number of the change up to which a copy has everything; None while it looks through all items."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        position = json.loads(db.execute("select value from facts where name = 'copy'").fetchone()[0])
        return int(position["number"]) if position["is_complete"] and position["reached"] is None else None
    except (sqlite3.Error, TypeError):
        return None
    finally:
        db.close()


def _rows_of(path: Path) -> dict[int, tuple[str, str]]:
    db = sqlite3.connect(path)
    try:
        rows = db.execute("select items.id, key, data from items left join records using (id)").fetchall()
        return {number: (key, data) for number, key, data in rows}
    finally:
        db.close()


async def _wrong_hits(path: Path, name: str, items: Sequence[Item]) -> list[str]:
    """Return which queries find in the copy what they do not hold for, or do not find what they hold for."""
    connections, now = Connections(path, durable=False), datetime.now(UTC)
    connections.open()
    index = SqliteIndex(connections)
    try:
        wrong = []
        for text in _QUERIES:
            query = parse(text)
            page = await index.search(query, now, limit=len(items) + 1)
            wanted = {item.key for item in items if matches(query.tree, item, now)}
            if {hit.item.key for hit in page.hits} != wanted or not wanted:
                wrong.append(f"{text!r} finds {len(page.hits)} of {len(wanted)} in the copy of {name}")
        return wrong
    finally:
        await index.close()
        await connections.close()
