"""`broadsheet doctor`: try every setting, the database, every source and every chat platform, and say what to mend."""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from adapters.chat.connection import Advice, CheckResult
from adapters.cli.platforms import check_platforms, configured, send_test_mail
from bot.app import LOCAL, App, backups_of
from bot.errors import BotError, NetworkFault, SourceUnavailable, StoreError
from bot.models import EMAIL, DeliveryState, Item, Kind, Subscription, Topic, is_mail
from bot.ports.facts import HEARTBEAT, time_of_fact
from bot.ports.items import Making
from bot.ports.vectors import Embedder
from bot.private_files import Exposed, exposed, files_of, tighten
from bot.settings.arxiv_categories import not_collected
from bot.settings.load import holds_secrets
from bot.settings.topic_packs import load_packs, new_in_pack
from bot.summarise.extractive import Extractive
from bot.wording import counted

LITTLE_SPACE = 500 * 2**20  # bytes
MANY_ITEMS = 200_000  # from where on the best of the last months take FTS5 longer than a person waits: decision 107
SILENCE = timedelta(minutes=10)  # `run` writes a heartbeat with every tick
_SAMPLE = Item(key="url:example.org", kind=Kind.PAPER, title="A test", abstract="We propose a test.")


class Grade(StrEnum):
    """How a check came out."""

    GOOD = "ok"
    NOTE = "note"  # works, but worth knowing
    BAD = "mend"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried."""

    name: str
    grade: Grade
    text: str
    fault: NetworkFault | None = None  # of the network, where what was tried could not be reached


async def examine(
    app: App, now: datetime, file: Path | None, *, offline: bool = False, test_mail: str = ""
) -> list[Finding]:
    """Try everything that can be tried; `file` is that of the settings, `offline` leaves out what needs a network.

    A test message is sent to the address `test_mail`, where one is given.
    """
    found = [*_settings(app), *_email(app), *await _database(app), *await asyncio.to_thread(lambda: [*_files(app, file)])]
    found += [*_topics(app), *await _lacking(app), *await _service(app, now), *await _shipped(app, now)]
    if not offline:
        asked = await asyncio.gather(*(_tried(source.title, source.check(now)) for source in app.sources))
        chats = await check_platforms(app.settings, now, app.store.chats)
        asked += [_finding(each) for each in chats]
        outside = _network(asked, app.settings.proxy)
        found = [*outside, *found] if outside else [*found, *asked]
        found += await _model(app, now) + await _embeddings(app)
        found += [_finding(await send_test_mail(app.settings.email, test_mail, now))] if test_mail else []
    return found


def _finding(result: CheckResult) -> Finding:
    grade = Grade.NOTE if isinstance(result, Advice) else Grade.GOOD if result.well else Grade.BAD
    return Finding(result.name, grade, result.text, result.fault)


# What to look at, in the order in which it is told.
_ADVICE: Mapping[NetworkFault, str] = {
    NetworkFault.NAME: "no name could be resolved: check this machine's DNS, in a container also its network",
    NetworkFault.CONNECTION: "every connection failed: check this machine's network and its firewall",
    NetworkFault.TIMEOUT: "no answer came in time: check this machine's network and its firewall",
    NetworkFault.TLS: "no encrypted connection came about: check this machine's clock, and whether something between"
    " opens what is encrypted",
    NetworkFault.PROXY: "the proxy let nothing through: check what it allows",
}


def _network(asked: Sequence[Finding], proxy: str) -> list[Finding]:
    """Return one sentence about the network in place of all, where none of several could be reached; else nothing."""
    if len(asked) < 2 or not all(each.fault for each in asked):
        return []
    faults = {each.fault for each in asked}
    said = "; ".join(advice for fault, advice in _ADVICE.items() if fault in faults)
    through = "; sources are asked through the `proxy` of the settings" if proxy else ""
    names = ", ".join(each.name for each in asked)
    told = f"nothing outside was reached ({names}), and no token was tried. {said[0].upper()}{said[1:]}{through}"
    return [Finding("network", Grade.BAD, told)]


async def _service(app: App, now: datetime) -> list[Finding]:
    """What `run` has done: its last sign of life, what stands in the ledger, and what it had to pause."""
    try:
        beat = await time_of_fact(app.store.facts, HEARTBEAT)
        counts = await app.store.ledger.counts()
        subscriptions = await app.store.ledger.every_subscription()
    except StoreError as error:
        return [Finding("service", Grade.BAD, str(error))]
    # That it does not run is no fault: `doctor` is also for who has not started it yet.
    alive = await healthy(app, now)
    found = [replace(alive, grade=Grade.NOTE) if alive.grade is Grade.BAD else alive] if beat or subscriptions else []
    told = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
    found += [Finding("deliveries", _graded(counts), told)] if told else []
    found += await _backups(app, now)
    found += _unconnected(app, subscriptions)
    return found + [_paused(each) for each in subscriptions if each.is_held_by_service]


def _unconnected(app: App, subscriptions: Sequence[Subscription]) -> Iterable[Finding]:
    """Name the platforms that are switched off in the settings while something is subscribed there."""
    known = configured(app.settings)
    places = Counter(EMAIL if is_mail(each.channel) else each.workspace.partition(":")[0] for each in subscriptions)
    for name, missing in _SWITCHED_ON_BY.items():
        if name not in known and places[name]:
            said = f"{counted(places[name], 'subscription')} there, and nothing is sent: set {missing} under [{name}] again"
            yield Finding(name, Grade.BAD, f"{said}, as docs/{name}.md says")


_SWITCHED_ON_BY = {"slack": "the tokens", "discord": "the token", EMAIL: "`host` and `sender`"}


async def _backups(app: App, now: datetime) -> list[Finding]:
    """Whether the newest backup is as new as it should be, where they are made."""
    backups = backups_of(app.settings)
    if backups is None:
        return []
    made = await asyncio.to_thread(backups.made)
    if not made:
        return [Finding("backups", Grade.NOTE, f"there is none in {backups.folder} yet")]
    age = now - made[-1][0]
    grade = Grade.GOOD if age < 2 * backups.every else Grade.BAD
    return [
        Finding("backups", grade, f"{len(made)} in {backups.folder}, the newest made {age.total_seconds() / 3600:.0f} h ago")
    ]


def _graded(counts: Mapping[str, int]) -> Grade:
    """What may have been posted or not, or was refused, is for a person to know; `status` tells it by name."""
    return Grade.NOTE if counts[DeliveryState.AMBIGUOUS] or counts[DeliveryState.FAILED] else Grade.GOOD


def _paused(each: Subscription) -> Finding:
    name = f"{each.topic} in {each.channel}" + (f" of {each.workspace}" if each.workspace != LOCAL else "")
    lifted = "until the address is confirmed again" if is_mail(each.channel) else "which tries again by itself"
    return Finding(name, Grade.BAD, f"paused by the service, {lifted}: {each.paused_because}")


async def healthy(app: App, now: datetime) -> Finding:
    """Tell whether a running service shows signs of life: its heartbeat stands in the database."""
    beat = await time_of_fact(app.store.facts, HEARTBEAT)
    if beat is None:
        return Finding("service", Grade.BAD, "no heartbeat yet: `broadsheet run` has not been started on this database")
    age = now - beat
    grade = Grade.GOOD if age < SILENCE else Grade.BAD
    return Finding("service", grade, f"last heartbeat {max(0, round(age.total_seconds()))} s ago")


def _settings(app: App) -> Iterable[Finding]:
    if app.settings.contact:
        yield Finding("settings", Grade.GOOD, f"contact {app.settings.contact}")
    else:
        yield Finding(
            "settings", Grade.NOTE, "`contact` is empty: give sources an address to write to before they block you"
        )
    for sentence in app.settings.retired:
        yield Finding("settings", Grade.NOTE, sentence)
    if not app.settings.github.token.get_secret_value() and app.settings.github.enabled:
        yield Finding("settings", Grade.NOTE, "no `github.token`: 10 searches a minute and 60 other requests an hour")


def _email(app: App) -> Iterable[Finding]:
    """What is missing for who reads by e-mail to end it by their mail program, and for bounces to be read."""
    email, web = app.settings.email, app.settings.web
    if not email.enabled:
        return
    if not web.url.startswith("https://"):
        by_mail = "it writes a mail to `inbox`" if email.inbox else "it offers none"
        said = f"a mail program's button needs `web.url` with https:// to unsubscribe at once (RFC 8058); now {by_mail}"
        yield Finding("unsubscribing", Grade.NOTE, said)
    if not email.inbox:
        said = "`inbox` under [email] is empty: bounces and complaints go to the sender and are not counted"
        yield Finding("bounces", Grade.NOTE, said)


async def _database(app: App) -> list[Finding]:
    path = app.settings.database_path
    try:
        # Something must be written: a database that can be read only would fail at the first collection.
        await app.store.facts.set("doctor", "was here")
        faults = await app.maintenance.check()
        counts = await app.maintenance.statistics()
        where = str(path) if app.database is None else await app.database.described()
    except StoreError as error:
        return [Finding("database", Grade.BAD, str(error))]
    if faults:
        return [Finding("database", Grade.BAD, fault) for fault in faults]
    found = [
        Finding("database", Grade.GOOD, f"{where}: sound, {counts['items']:,} items, {counts['bytes'] / 2**20:,.0f} MiB")
    ]
    aside = await app.maintenance.put_aside()
    if aside:
        names = ", ".join(aside)
        found.append(Finding("database", Grade.NOTE, f"put aside beside it, to be removed when nobody misses it: {names}"))
    found += search_finding(app.settings.search.engine, counts["items"], await app.store.index.making())
    return found + await asyncio.to_thread(_disk, path)


def search_finding(engine: str, items: int, making: Making | None) -> list[Finding]:
    """Return how far the search copy or the index beside it is, or that one would be worth it for so many items."""
    if engine == "fts5":
        if making is not None:
            far = f"{making.done:,} of {making.of:,}"
            return [Finding("search", Grade.NOTE, f"the search copy is made, so far {far}; until then what it has is found")]
        said = f"{items:,} items are more than FTS5 finds quickly in: `engine` under [search], as docs/running.md says"
        return [Finding("search", Grade.NOTE, said)] if items > MANY_ITEMS else []
    if making is None:
        return [Finding("search", Grade.GOOD, "the index of tantivy has all items")]
    far = f"{making.done:,} of {making.of:,}"
    said = f"the index of tantivy is made while the service runs, so far {far}; until then FTS5 answers"
    return [Finding("search", Grade.NOTE, said)]


def _disk(path: Path) -> list[Finding]:
    free = shutil.disk_usage(path.parent).free
    if free >= LITTLE_SPACE:
        return []
    return [Finding("disk", Grade.BAD, f"only {free / 2**20:,.0f} MiB are free beside the database")]


def _files(app: App, settings: Path | None) -> Iterable[Finding]:
    """Which files others can read that hold secrets or what people follow, and which folders others can change."""
    database, backups = app.settings.database_path, backups_of(app.settings)
    ours = [*files_of(database), *(path for _, path in (backups.made() if backups else ()))]
    tighten(ours)
    if left := " ".join(str(path) for path in ours if _exposure(path)):
        how = "give them to the service's account and chmod 600; where modes cannot be changed, mount with umask=077"
        yield Finding("files", Grade.NOTE, f"others can read {left}: {how}")
    settings = settings.expanduser() if settings else None
    if settings and (whose := _exposure(settings)) and holds_secrets(settings):
        how = f"chmod 600 {settings}" if whose is Exposed.OURS else f"its owner should chmod o=,g-w {settings}"
        yield Finding("files", _GRADES[whose], f"others can read the secrets in {settings}: {how}")
    for folder in dict.fromkeys([database.parent, *([backups.folder] if backups else [])]):
        if whose := _exposure(folder):
            yield Finding("files", _GRADES[whose], f"others can replace what lies in {folder}: chmod go-w {folder}")


# Of a mounted volume, it may be that nobody here can mend it.
_GRADES = {Exposed.OURS: Grade.BAD, Exposed.THEIRS: Grade.NOTE}


def _exposure(path: Path) -> Exposed | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return exposed(found.st_mode, found.st_uid, os.geteuid())


def _topics(app: App) -> Iterable[Finding]:
    for name in app.settings.topics:
        if name in app.topics:
            yield Finding(f"topic {name}", Grade.GOOD, f"{len(app.topics[name].interests)} interests")
        else:
            yield Finding(f"topic {name}", Grade.BAD, "there is no such topic; `broadsheet topics` lists those there are")


async def _lacking(app: App) -> list[Finding]:
    """What keeps topics from posting what is on topic: what newer packs have, bars, categories that are not collected."""
    try:
        subscribed = await app.store.ledger.every_subscription()
        places = {(each.workspace, each.topic) for each in subscribed}
        own = {workspace: await app.store.workspaces.topics(workspace) for workspace, _ in places}
    except StoreError:
        return []  # told with the database
    topics = [app.topics[name] for name in app.settings.topics if name in app.topics]
    found = [*await asyncio.to_thread(_packs, app), *_copies(app, own), *_bars(app, own, subscribed)]
    topics += [topic for workspace, name in sorted(places) if (topic := own[workspace].get(name) or app.topics.get(name))]
    said = {topic.name: text for topic in topics if (text := not_collected(topic, app.settings.arxiv))}
    return found + [Finding(f"topic {name}", Grade.NOTE, text.rstrip(".")) for name, text in said.items()]


def _packs(app: App) -> list[Finding]:
    """Which packs in the operator's folder take the place of one that comes with Broadsheet, and lack what it has."""
    folder = app.settings.topics_dir
    if folder is None:
        return []
    lacks = {name: new_in_pack(app.topics[name], pack) for name, pack in load_packs().items()}
    how = f"add it, or remove the file in {folder} to take what comes with Broadsheet"
    return [
        Finding(f"topic {name}", Grade.NOTE, f"your own pack lacks what the included one has: {said}; {how}")
        for name, said in lacks.items()
        if said
    ]


def _bars(app: App, own: Mapping[str, Mapping[str, Topic]], subscribed: Sequence[Subscription]) -> list[Finding]:
    """Which subscriptions have a bar above their topic's: little comes over it, and an empty digest is mostly not posted."""
    found = []
    for each in subscribed:
        topic = own[each.workspace].get(each.topic) or app.topics.get(each.topic)
        if topic is not None and each.min_score is not None and each.min_score > topic.min_score > 0:
            said = (
                f"`min {each.min_score:g}` asks for more relevance than the topic, {topic.min_score:g}: little comes over it"
            )
            text = f"{said}; `subscribe {each.topic} min usual` there takes the topic's"
            found.append(Finding(f"{each.topic} in {each.channel}", Grade.NOTE, text))
    return found


def _copies(app: App, own: Mapping[str, Mapping[str, Topic]]) -> list[Finding]:
    """Which workspaces have a copy of a pack that lacks what the pack has."""
    found = []
    for workspace, topics in own.items():
        for name, topic in topics.items():
            if name in app.topics and (said := new_in_pack(topic, app.topics[name])):
                text = f"the copy of {workspace} lacks what the included one has: {said}"
                found.append(Finding(f"topic {name}", Grade.NOTE, f"{text}; `topic delete {name}` there takes that"))
    return found


async def _tried(name: str, work: Awaitable[str], otherwise: str = "") -> Finding:
    """Say how the work came out; what fails is told with what happens until it is mended."""
    try:
        return Finding(name, Grade.GOOD, await work)
    except BotError as error:
        fault = error.fault if isinstance(error, SourceUnavailable) else None
        return Finding(name, Grade.BAD, f"{str(error).rstrip('.')}{otherwise}" if otherwise else str(error), fault)


async def _model(app: App, now: datetime) -> list[Finding]:
    if app.model is None:
        return []
    return [await _tried("LLM", app.model.check(now), "; until it is mended, summaries are extracted")]


async def _shipped(app: App, now: datetime) -> list[Finding]:
    """Whether the models that come with Broadsheet can be read, those that are used."""
    found = [await _tried("summaries", _summarised(now))]
    if app.embedder is not None and not app.settings.embeddings.base_url:
        found.append(await _tried("embeddings", _embedded(app.embedder), "; until then words alone decide"))
    return found


async def _embeddings(app: App) -> list[Finding]:
    """Whether an endpoint that is to make the vectors does."""
    chosen, embedder = app.settings.embeddings, app.embedder
    if embedder is None or not chosen.base_url:
        return []

    async def embedded() -> str:
        await embedder.embed(["A test."])
        return f"{chosen.model} answers; {embedder.size:,} numbers for a text"

    return [await _tried("embeddings", embedded(), "; until it is mended, words alone decide")]


async def _summarised(now: datetime) -> str:
    await Extractive().summarise(_SAMPLE, now)
    return "their models can be read"


async def _embedded(embedder: Embedder) -> str:
    await embedder.embed(["A test."])
    return "their model can be read"
