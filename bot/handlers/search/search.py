"""The search command: a page of what is found, how it was looked for, and what to do next."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands import Search, names_item, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.search.asked import Asked, as_typed, with_abbreviations
from bot.handlers.search.meaning import close_in_meaning, meant_query
from bot.handlers.search.nothing import nothing_found
from bot.handlers.search.pages import Position, read_page_token, write_page_token
from bot.handlers.search.query import SearchQuery, read_search, why_found
from bot.handlers.wording.replies import excerpt, item_buttons, title_or_key
from bot.keys import is_owner_and_name, named_keys
from bot.models import Actor, Behind, Button, Hit, Item, Kind, Page, Ranked, Reply, ReplyEntry
from bot.models.queries import COUNTED
from bot.wording import counted, listed, span_in_words

PAGE = 5  # entries: with their buttons, as many as one message takes on every platform
_RANKED = 200  # of what is found, the first, that are ranked for a topic
_HINTED = 100  # characters of a search that stands in a hint
_FURTHEST = 10_000  # entries: nobody leafs so far
_ORDERS = {"new": "newest first", "best": "best match first", "stars": "most stars first", "upvotes": "most upvotes first"}
_FIRST = {"new": "newest", "best": "best matches", "stars": "with most stars", "upvotes": "with most upvotes"}
_HOUR = timedelta(hours=1)


@handles(Search)
async def search(context: HandlerContext, command: Search, actor: Actor, now: datetime) -> Reply:
    """Search everything collected, best match first unless the query says otherwise."""
    return await first_found(context, command, actor, now, PAGE)


async def first_found(context: HandlerContext, command: Search, actor: Actor, now: datetime, most: int) -> Reply:
    """Return a page of what is found, of so many entries; the buttons that lead on are those of a page of `PAGE`."""
    read, position = await _read(context, command, now)
    asked = read.search
    found = await _found(context, asked, position, actor, most)
    if not found.page.hits:
        return await nothing_found(context, read, position, found.page, found.notes)
    gists = await context.gists([hit.item for hit in found.page.hits])
    return Reply(
        title=f"Found for: {excerpt(command.query)}",
        text=(*read.said, _in_words(asked, found), *found.notes),
        entries=tuple(
            found_entry(hit, gist, _line(asked, hit.item, found, position))
            for hit, gist in zip(found.page.hits, gists, strict=True)
        ),
        first=position.offset + 1,
        next_steps=_next_steps(asked) if actor.may_write and not position.offset else (),
        buttons=_leafing(asked, position, found.page),
    )


async def _read(context: HandlerContext, command: Search, now: datetime) -> tuple[Asked, Position]:
    """Return what is asked for, and where in its list; a further page is of the search as it was carried out."""
    if not command.page:
        return await as_typed(context, command.query, now), Position(0, now.replace(microsecond=0))
    search = read_search(command.query)
    position = read_page_token(command.page, search.text)
    if position.offset > _FURTHEST or position.asked > now + _HOUR:
        raise UsageError("Nobody leafs so far.", hint="Narrow the search: a category, a date, another word.")
    return Asked(await with_abbreviations(context, search)), position


async def is_for_one_item(context: HandlerContext, search: Search) -> bool:
    """Say whether nothing but a link or an identifier is searched for; `owner/name` may be words where it is not known."""
    if search.page or not names_item(search.query):
        return False
    return not is_owner_and_name(search.query) or bool(await context.store.items.find(named_keys(search.query)))


@dataclass(frozen=True, slots=True)
class _Found:
    """A page; where a topic ranks, its title and what it makes of each item that enters it."""

    page: Page
    topic: str = ""
    ranked: dict[str, Ranked] | None = None
    close: frozenset[str] = frozenset()  # the keys of those that are close to what is sought
    notes: tuple[str, ...] = ()  # what was left out of the search


async def _found(context: HandlerContext, asked: SearchQuery, position: Position, actor: Actor, most: int) -> _Found:
    query, at = asked.query, position.asked
    meant = await meant_query(context, query)
    limit, offset = (_RANKED, 0) if query.topic_of else (most, position.offset)
    page = await context.store.index.search(
        query, at, limit=limit, offset=offset, mark=position.mark, near=meant.near, cards=True
    )
    items, notes = [hit.item for hit in page.hits], (*_in_part(page), *meant.notes)
    if not query.topic_of:
        return _Found(page, close=await close_in_meaning(context, meant.near, items), notes=notes)
    topic = await context.topic_named(actor.workspace, query.topic_of)
    request = await context.request(actor, topic, next(iter(await context.subscriptions_here(actor, topic.name)), None))
    last = position.offset + most
    ranked = {
        each.item.key: each for each in await context.previewer.score(request, items, at, first=position.offset, last=last)
    }
    # What the topic lets in comes first, the best leading; the rest stays as it was found.
    hits = sorted(page.hits, key=lambda hit: -ranked[hit.item.key].score if hit.item.key in ranked else 1.0)
    shown = replace(page, hits=tuple(hits[position.offset : last]), more=len(hits) > last)
    return _Found(shown, topic.title, ranked, notes=notes)


def found_entry(hit: Hit, gist: str, line: str) -> ReplyEntry:
    """Return what was found as a list tells it, with its other half, a line that says why, and its buttons."""
    lines = (_half(hit.other) if hit.other is not None else "", line)
    return ReplyEntry(hit.item, gist=gist, lines=tuple(filter(None, lines)), buttons=item_buttons(hit.item))


def _half(other: Item) -> str:
    if other.kind is not Kind.REPO:
        return f"Paper: {title_or_key(other)}"
    stars = "" if other.stars is None else f", ★{other.stars:,}"
    return f"Code: {other.key.removeprefix('github:')}{stars}"


def _line(asked: SearchQuery, item: Item, found: _Found, position: Position) -> str:
    if found.ranked is not None:
        each = found.ranked.get(item.key)
        return "; ".join((f"score {each.score:.2f}", *each.reasons)) if each else f"outside {found.topic}"
    return why_found(asked.query.tree, item, position.asked, close=item.key in found.close)


def _in_words(asked: SearchQuery, found: _Found) -> str:
    """Say how many there are, in which order they come, and which filters hold."""
    total = _total(found.page)
    filters = listed([f"*{each}*" for each in asked.conditions_in_words()])
    told = f"with {filters}" if filters else ""
    if found.topic:
        order = f"ranked for {found.topic}: of what is found, the {_RANKED} {_FIRST[asked.order]}"
    else:
        order = _ORDERS[asked.order]
    said = ", ".join(filter(None, (total, told, order)))
    return f"{said[:1].upper()}{said[1:]}."


def _total(page: Page) -> str:
    """Return "12 found", "about 340 found"; "" where it is not known."""
    if page.total is None:
        return ""
    if page.total > COUNTED:
        return f"more than {COUNTED:,} found"
    return f"{'about ' if page.about else ''}{max(page.total, len(page.hits)):,} found"


def _in_part(page: Page) -> tuple[str, ...]:
    """Say where a search was answered in part."""
    late = () if page.behind is None else (_behind(page.behind),)
    if not page.examined:
        return late
    were = "was" if page.examined == 1 else "were"
    looked_at = f"{counted(page.examined, 'item')} alone {were} looked at"
    narrow = "A category, a date or longer beginnings of words narrow the search, and it is answered in full."
    return (f"In part: all of it would take too much effort, so {looked_at}. {narrow}", *late)


def _behind(behind: Behind) -> str:
    """Say what the index lacks of what was collected."""
    lacks = f": {counted(behind.arrivals, 'item')} to go" if behind.arrivals else ""
    if behind.is_being_made:
        return f"In part: the search index is being made{lacks}. In some minutes there may be more."
    return f"The search index is {span_in_words(behind.span)} behind{lacks}. What was collected last may be missing."


def _next_steps(asked: SearchQuery) -> tuple[str, ...]:
    text = asked.text
    if asked.query.topic_of or len(text) > _HINTED or "*" in text or "sort:" in text:
        return ()
    return (f"*follow {text}* posts here what is new of it.",)


def _leafing(asked: SearchQuery, position: Position, page: Page) -> tuple[Button, ...]:
    """Earlier and later pages, and the other order."""
    offers = []
    if position.offset:
        offers.append(("Back", _page(asked, position, max(position.offset - PAGE, 0), page.mark)))
    if page.more and position.offset + PAGE <= _FURTHEST:
        offers.append((f"Next {PAGE}", _page(asked, position, position.offset + PAGE, page.mark)))
    if asked.words and not asked.query.topic_of:
        label, sort = ("Newest first", "new") if asked.order != "new" else ("Best match first", "best")
        offers.append((label, _again(asked.sorted(sort))))
    return tuple(Button(label, text) for label, text in offers if text)


def _again(text: str) -> str:
    return write(Search(text)) if text else ""


def _page(asked: SearchQuery, position: Position, offset: int, mark: str) -> str:
    return write(Search(asked.text, write_page_token(replace(position, offset=offset, mark=mark), asked.text)))
