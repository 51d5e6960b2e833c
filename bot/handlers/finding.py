"""Searching, and finding what is close to an item."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands import Less, More, Save, Search, Similar, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.items import called, item_named
from bot.handlers.lookup import order_of, shown, subscription_here, topic_named
from bot.handlers.meant import close_ones, near_item, near_query
from bot.handlers.places import Place, read_place, write_place
from bot.handlers.registry import handles
from bot.handlers.searched import WINDOW, Searched, has_several_words, newest_of_any, read_search, why_found
from bot.models import Actor, Button, Item, Page, Query, Ranked, Reply, ReplyEntry

PAGE = 5  # entries: with their buttons, as many as one message takes on every platform
RANKED = 200  # of what is found, the newest, that are ranked for a topic
_FURTHEST = 10_000  # entries: nobody leafs so far
_ORDERS = {"new": "newest first", "best": "best match first", "stars": "most stars first", "upvotes": "most upvotes first"}
_HOUR = timedelta(hours=1)


@handles(Search)
async def search(context: HandlerContext, command: Search, actor: Actor, now: datetime) -> Reply:
    """Search everything collected, newest first and in the last 90 days unless the query says otherwise."""
    asked = read_search(command.query)
    start = Place(0, now.replace(microsecond=0))
    place = read_place(command.page, asked.text) if command.page else start
    if place.offset > _FURTHEST or place.asked > now + _HOUR:
        raise UsageError("Nobody leafs so far.", hint="Narrow the search: a category, a date, another word.")
    found = await _found(context, asked, place, actor)
    items = [hit.item for hit in found.page.hits]
    if not items:
        return await _nothing(context, asked, place)
    gists = await context.gists(items)
    return Reply(
        title=f"Found for: {shown(command.query)}",
        text=(_in_words(asked, found),),
        entries=tuple(_entry(item, gist, _line(asked, item, found, place)) for item, gist in zip(items, gists, strict=True)),
        first=place.offset + 1,
        next_steps=_next_steps(asked, command) if not place.offset else (),
        buttons=_leafing(asked, place, found.page),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A page; where a topic ranks, its title and what it makes of each item that enters it."""

    page: Page
    topic: str = ""
    ranked: dict[str, Ranked] | None = None
    close: frozenset[str] = frozenset()  # the keys of those that are close to what is sought


async def _found(context: HandlerContext, asked: Searched, place: Place, actor: Actor) -> _Found:
    query, at = asked.query, place.asked
    near = await near_query(context, query)
    if not query.topic_of:
        page = await context.store.search(query, at, limit=PAGE, offset=place.offset, mark=place.mark, near=near)
        return _Found(page, close=await close_ones(context, near, [hit.item for hit in page.hits]))
    topic = await topic_named(context, actor.workspace, query.topic_of)
    order = await order_of(context, actor, topic, await subscription_here(context, actor, topic.name))
    page = await context.store.search(query, at, limit=RANKED, mark=place.mark, near=near)
    items, last = [hit.item for hit in page.hits], place.offset + PAGE
    ranked = {each.item.key: each for each in await context.previewer.score(order, items, at, first=place.offset, last=last)}
    # What the topic lets in comes first, the best leading; the rest stays as it was found.
    hits = sorted(page.hits, key=lambda hit: -ranked[hit.item.key].score if hit.item.key in ranked else 1.0)
    here = hits[place.offset : place.offset + PAGE]
    return _Found(Page(tuple(here), len(hits) > place.offset + PAGE, page.mark), topic.title, ranked)


def _entry(item: Item, gist: str, line: str) -> ReplyEntry:
    buttons = (
        Button("More like this", write(More(item.key))),
        Button("Less", write(Less(item.key))),
        Button("Save", write(Save(item.key))),
        Button("Similar", write(Similar(item.key))),
    )
    return ReplyEntry(item, gist=gist, lines=tuple(filter(None, (line,))), buttons=buttons)


def _line(asked: Searched, item: Item, found: _Found, place: Place) -> str:
    if found.ranked is not None:
        each = found.ranked.get(item.key)
        return "; ".join((f"score {each.score:.2f}", *each.reasons)) if each else f"outside {found.topic}"
    return why_found(asked.said.tree, item, place.asked, close=item.key in found.close)


def _in_words(asked: Searched, found: _Found) -> str:
    order = f"Ranked for {found.topic}: of what is found, the {RANKED} newest" if found.topic else _ORDERS[asked.said.sort]
    order = order[:1].upper() + order[1:]
    if not asked.windowed:
        return f"{order}."
    return f"{order}, in the last {WINDOW.days} days (repositories of any age); add *published:1y* for more."


def _next_steps(asked: Searched, command: Search) -> tuple[str, ...]:
    if asked.said.topic_of or len(command.query) > 100 or "*" in command.query or "sort:" in command.query:
        return ()
    return (f"*topic create NAME {command.query.strip()}* makes a topic of it, to be posted on a schedule.",)


def _leafing(asked: Searched, place: Place, page: Page) -> tuple[Button, ...]:
    """Earlier and later pages, the other order, and everything instead of the last 90 days."""
    offers = []
    if place.offset:
        offers.append(("Back", _page(asked, place, max(place.offset - PAGE, 0), page.mark)))
    if page.more and place.offset + PAGE <= _FURTHEST:
        offers.append((f"Next {PAGE}", _page(asked, place, place.offset + PAGE, page.mark)))
    if not asked.said.topic_of:
        label, sort = ("Newest first", "new") if asked.said.sort != "new" else ("Best match first", "best")
        offers.append((label, _again(asked.sorted(sort))))
    if asked.windowed:
        offers.append(("All time", _again(asked.of_all_time())))
    return tuple(Button(label, text) for label, text in offers if text)


def _again(text: str) -> str:
    return write(Search(text)) if text else ""


def _page(asked: Searched, place: Place, offset: int, mark: str) -> str:
    return write(Search(asked.text, write_place(replace(place, offset=offset, mark=mark), asked.text)))


# --- nothing found


async def _nothing(context: HandlerContext, asked: Searched, place: Place) -> Reply:
    """Say so, and offer those wider searches that find something."""
    if place.offset:
        return Reply(
            title="There are no more",
            text=("The list ends here.",),
            buttons=(Button("From the beginning", write(Search(asked.text))),),
        )
    offers = await _offers(context, asked, place.asked)
    if not offers and not (await context.store.search(Query(""), now=place.asked, limit=1)).hits:
        return Reply(title="Nothing has been collected yet", text=("The first items come with the first collection.",))
    span = f" in the last {WINDOW.days} days" if asked.windowed else ""
    several = has_several_words(asked.said.tree) and asked.said.sort != "best"
    said = f"No item has all of these words{span}." if several else f"No item fits{span}."
    return Reply(
        title="Nothing found",
        text=(said, *(() if offers else ("A wider search finds nothing either.",))),
        next_steps=() if offers else ("*help search* shows what a search can say.",),
        buttons=tuple(Button(label, write(Search(text))) for label, text in offers),
    )


async def _offers(context: HandlerContext, asked: Searched, now: datetime) -> list[tuple[str, str]]:
    """Labels and texts of those wider searches that find something. The widest one finds what any other does."""
    *nearer, widest = _wider(asked) or [("", "")]
    wider = [offer for offer in nearer if offer[1]]
    found = await asyncio.gather(*(_finds(context, text, now) for _, text in wider))
    offers = [offer for offer, finds in zip(wider, found, strict=True) if finds]
    return [*offers, widest] if widest[1] and (offers or await _finds(context, widest[1], now)) else offers


def _wider(asked: Searched) -> list[tuple[str, str]]:
    """Labels and texts of wider searches, the nearest first."""
    wider = []
    loose = has_several_words(asked.said.tree) and asked.said.sort != "best"
    if asked.windowed:
        wider.append(("All time", asked.of_all_time()))
    if loose:
        wider.append(("Any of the words", asked.sorted("best")))
    if asked.windowed and loose:
        wider.append(("Any of the words, all time", asked.of_all_time("best")))
    return wider


async def _finds(context: HandlerContext, text: str, now: datetime) -> bool:
    query = read_search(text).query
    newest = newest_of_any(query)
    if newest is not None and (await context.store.search(newest, now, limit=1)).hits:
        return True  # found without weighing everything that has one of the words
    return bool((await context.store.search(query, now, limit=1, near=await near_query(context, query))).hits)


# --- similar


@handles(Similar)
async def similar(context: HandlerContext, command: Similar, actor: Actor, now: datetime) -> Reply:
    """Find what is close to an item, or to the item behind a link."""
    item = await item_named(context, actor, command.item)
    hits = await context.store.similar(item, now, limit=PAGE, near=await near_item(context, item))
    if not hits:
        return Reply(
            title=f"Nothing is close to {shown(called(item))}",
            text=("Its text has too little in common with everything else that was collected.",),
        )
    gists = await context.gists([hit.item for hit in hits])
    return Reply(
        title=f"Close to {called(item)}",
        entries=tuple(
            _entry(hit.item, gist, f"closeness {hit.relevance:.2f}, where 1 is the same text")
            for hit, gist in zip(hits, gists, strict=True)
        ),
        next_steps=(f"*topic edit NAME example {item.key}* teaches a topic what it is about.",),
    )
