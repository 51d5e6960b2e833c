"""The trends command: how many items of a topic were published in each month, and which words rose in them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from weakref import WeakKeyDictionary

from bot import keys
from bot.child_process import run_module
from bot.commands import Status, Trending, Trends
from bot.errors import ProcessFailed, UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_named
from bot.handlers.trends.charts import MonthCount, Sides, Subject, terms_chart, volume_chart
from bot.handlers.trends.stars import stars_reply
from bot.handlers.wording.replies import button
from bot.models import Actor, And, Button, Chart, Item, Label, Or, Reply, Topic, Tree, When
from bot.ports.store import Store
from bot.query.fields import fold_label
from bot.rank.trends import RisingTerm, Text, question, terms_in

log = logging.getLogger(__name__)

MONTHS = 12  # at most, with the one that is not over
LATELY, BEFORE = timedelta(weeks=4), timedelta(weeks=24)  # the newest, and those before them
TEXTS = 1_500  # of either side that are read, a second of one processor; of more a sample
FEWEST = 20  # items of either side: with fewer nothing is held against anything
_SOURCES = 12  # that are asked for
_TOPICS = 4  # of the channel that are offered
_EVERYTHING: Tree = And(())
_FRESH = timedelta(minutes=15)
_PATIENCE = 30.0  # seconds for counting the terms, of which it takes a small part
_ANSWER = 2**20  # bytes, a hundred times what ten terms take
_PIECE = 2**16  # bytes that are handed over at a time
_NOT_COUNTED = "Which words rise could not be counted just now; ask again in a while."
_KEPT = 64  # of all workspaces, those that were asked for last

Made = tuple[tuple[Chart, ...], str]


@handles(Trends)
async def trends(context: HandlerContext, command: Trends, actor: Actor, now: datetime) -> Reply:
    """Show the chart of the months and that of the rising terms, or the stars of what an address or owner/name names.

    Raises UsageError for a topic that there is not, and as `item_named` where it is no topic's name.
    """
    meant = await _meant(context, actor, command.topic, now) if command.topic.strip() else None
    if isinstance(meant, Item):
        return await stars_reply(context, meant, now)
    topic = meant
    buttons = await _buttons(context, actor, topic)
    charts, said = await charts_of(context, topic, now)
    if not charts:
        return _nothing(topic, said, buttons)
    return Reply(
        title=f"Trends in {topic.title}" if topic else "Trends", text=(said,) if said else (), charts=charts, buttons=buttons
    )


async def _meant(context: HandlerContext, actor: Actor, text: str, now: datetime) -> Topic | Item:
    """Return the item that is known by the key in the text, else the topic of that name, else the item that it names."""
    wanted = keys.named_keys(text)
    known = await context.store.items.find(wanted) if wanted else {}
    if any(each in known for each in wanted):
        return next(known[each] for each in wanted if each in known)
    try:
        return await context.topic_named(actor.workspace, text)
    except UsageError:
        if not wanted:
            raise
    return await item_named(context, actor, text, fetch_at=now)


@dataclass
class KeptCharts:
    """The charts that were made last, while nothing that is stored changed, for a quarter of an hour at most."""

    made: dict[tuple[Topic | None, str], tuple[datetime, Made]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # who asks meanwhile waits for what is being made

    async def get(self, topic: Topic | None, mark: str, now: datetime, make: Callable[[], Awaitable[Made]]) -> Made:
        """Return what is kept, else what is made."""
        async with self.lock:
            at, charts = self.made.pop((topic, mark), (None, None))
            if at is None or charts is None or not timedelta(0) <= now - at < _FRESH:
                at, charts = now, await make()
            if charts[1] != _NOT_COUNTED:
                self.made[topic, mark] = at, charts
            if len(self.made) > _KEPT:
                del self.made[next(iter(self.made))]
            return charts


_KEPT_OF: WeakKeyDictionary[Store, KeptCharts] = WeakKeyDictionary()


async def charts_of(context: HandlerContext, topic: Topic | None, now: datetime) -> Made:
    """Return the charts of the topic, or of everything, and what is said of one that there is not.

    They are those of some minutes ago where nothing was stored since.
    """
    kept = _KEPT_OF.setdefault(context.store, KeptCharts())
    return await kept.get(topic, await context.store.items.mark(), now, lambda: _made(context, topic, now))


async def _made(context: HandlerContext, topic: Topic | None, now: datetime) -> Made:
    subject = Subject(topic.title, topic.name) if topic else Subject()
    tree = members(topic) if topic else _EVERYTHING
    months = await _months(context, tree, now)
    if not any(each.items for each in months):
        return (), f"Nothing that was published in the last {MONTHS} months and collected here enters it."
    sources = await _sources(context, _of(tree, _first_of(now, 1 - MONTHS), now), now)
    rising, said = await _rising(context, subject, tree, sources, now)
    volume = volume_chart(subject, months, sources, now.astimezone(UTC).date())
    return (volume, rising) if rising is not None else (volume,), said


def members(topic: Topic) -> Tree:
    """Return what holds for the items that enter the topic: its query, and the sources that it asks for."""
    sources = tuple(Label("source", fold_label(each)) for each in topic.sources)
    return And((topic.query.tree, Or(sources))) if sources else topic.query.tree


def _of(tree: Tree, since: datetime, until: datetime) -> Tree:
    return And((tree, When("published", after=since, before=until)))


def _first_of(now: datetime, months: int) -> datetime:
    """Return when the month began that is so many after that of `now`; before it, below 0."""
    year, month = divmod(12 * now.astimezone(UTC).year + now.astimezone(UTC).month - 1 + months, 12)
    return datetime.combine(date(year, month + 1, 1), time(), UTC)


async def _months(context: HandlerContext, tree: Tree, now: datetime) -> list[MonthCount]:
    """Return the last months, from the first of which anything was collected."""
    index, since = context.store.index, _first_of(now, 1 - MONTHS)
    of_all = await index.months(_of(_EVERYTHING, since, now), now)
    found: Mapping[date, int] = of_all if tree == _EVERYTHING else await index.months(_of(tree, since, now), now)
    months = [_first_of(now, at).date() for at in range(1 - MONTHS, 1)]
    begun = months.index(min(of_all)) if of_all else MONTHS
    return [MonthCount(each, found.get(each, 0), of_all.get(each, 0)) for each in months[begun:]]


async def _sources(context: HandlerContext, tree: Tree, now: datetime) -> list[str]:
    """Return the titles of the sources that saw any of the items, the source first that saw most of all there is."""
    titles = {fold_label(name): title for name, title in context.source_titles.items()}
    index = context.store.index
    known = [name for name, _ in await index.values("source", "", limit=_SOURCES) if name in titles]
    return [titles[name] for name in known if await index.count(And((tree, Label("source", name))), now)]


async def _rising(
    context: HandlerContext, subject: Subject, tree: Tree, sources: Sequence[str], now: datetime
) -> tuple[Chart | None, str]:
    """Return the chart of the terms that rose, else in a sentence why there is none."""
    index = context.store.index
    lately, before = _of(tree, now - LATELY, now), _of(tree, now - LATELY - BEFORE, now - LATELY)
    sides = Sides(await index.count(lately, now), await index.count(before, now), LATELY, BEFORE)
    if min(sides.lately, sides.before) < FEWEST:
        return None, f"Too few to tell what rises: {sides.said}. It takes {FEWEST} of each."
    texts = [await index.texts(each, now, limit=TEXTS) for each in (lately, before)]
    try:
        found = await _rising_terms(texts[0], texts[1])
    except ProcessFailed as error:
        log.warning("The words that rise in %s could not be counted: %s", subject.name, error)
        return None, _NOT_COUNTED
    sides = replace(sides, read_lately=len(texts[0]), read_before=len(texts[1]))
    if not found:
        return None, f"No word or phrase rose clearly: {sides.said}."
    return terms_chart(subject, found, sides, sources), ""


async def _rising_terms(lately: Sequence[Text], before: Sequence[Text]) -> list[RisingTerm]:
    """Return the terms that rose, as a process of its own counts them; raises ProcessFailed."""
    asked = await asyncio.to_thread(lambda: [*_joined(question(lately, before))])
    return terms_in(await run_module("bot.rank.trends", data=asked, wall_clock=_PATIENCE, most=_ANSWER))


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines in pieces of some size."""
    piece = bytearray()
    for line in lines:
        piece += line
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _nothing(topic: Topic | None, said: str, buttons: tuple[Button, ...]) -> Reply:
    if topic is not None:
        return Reply(title=f"Nothing in {topic.title} yet", text=(said,), buttons=buttons)
    return Reply(
        title="Nothing was collected yet", text=("Trends are counted in what was collected here.",), buttons=buttons
    )


async def _buttons(context: HandlerContext, actor: Actor, topic: Topic | None) -> tuple[Button, ...]:
    """Return the way to the topics of the channel, and to everything."""
    here = {each.name: each for each, _ in await context.topics_here(actor) if each != topic}
    offered = [button(each.title, Trends(each.name)) for each in list(here.values())[:_TOPICS]]
    everything = [button("Everything", Trends())] if topic else [button("Status", Status())]
    return (*offered, *everything, button("Trending", Trending()))
