"""Search: what is asked, the pages of what is found, and what its words mean as a vector."""

import asyncio
import hashlib
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from bot.commands import Search, write
from bot.digest.topic_vectors import PATIENCE
from bot.errors import EmbeddingUnavailable, UsageError
from bot.handlers.context import HandlerContext, handles
from bot.handlers.wording.replies import button, excerpt, item_buttons
from bot.models import (
    Actor,
    And,
    Button,
    Item,
    Label,
    Near,
    Not,
    Or,
    Page,
    Query,
    Ranked,
    Reply,
    ReplyEntry,
    Term,
    Tree,
    When,
)
from bot.models.vectors import LONGEST as LONGEST_TEXT
from bot.models.vectors import pack, unpack
from bot.query import Folded, match, parse, unparse
from bot.query.parse import LONGEST, TYPED
from bot.rank.common_words import STOPWORDS
from bot.wording import counted

log = logging.getLogger(__name__)

# --- pages

LONGEST_TOKEN = 60  # characters of a token, so that it fits wherever a platform lets a button carry a command
_PAGE_TOKEN = re.compile(r"([0-9a-f]{1,4})\.([0-9a-f]{8})\.((?:[0-9a-f]{2}){0,18})\.([0-9a-f]{6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a list: behind how many entries, of the list as it stood when it was first asked for."""

    offset: int
    asked: datetime  # whole seconds: ages are reckoned from here on every page
    mark: str = ""  # the store's, of the first page


def write_page_token(position: Position, of: str) -> str:
    """Return the token, of at most LONGEST_TOKEN characters; `of` names the list: its query."""
    said = f"{position.offset:x}.{int(position.asked.timestamp()):08x}.{position.mark.encode().hex()}"
    return f"{said}.{_check(said, of)}"


def read_page_token(token: str, of: str) -> Position:
    """Return the position; raises UsageError for a token that is damaged, made up, or of another list."""
    found = _PAGE_TOKEN.fullmatch(token)
    if found is None or found[4] != _check(token.rpartition(".")[0], of):
        raise UsageError(
            "That page cannot be found: its address is damaged, or of another search.",
            hint="Search again without *page=*, and go on with the buttons.",
        )
    mark = bytes.fromhex(found[3]).decode("utf-8", "replace")
    return Position(int(found[1], 16), datetime.fromtimestamp(int(found[2], 16), UTC), mark)


def _check(said: str, of: str) -> str:
    """Six figures that tell a slip of the finger and another list; no secret, since a page shows what a search shows."""
    return hashlib.sha256(f"{said}\n{of}".encode("utf-8", "replace")).hexdigest()[:6]


# --- the query, its defaults filled in

WINDOW = timedelta(days=90)  # a search that sets no time looks back so far: fast at any size, and what is asked for most
_EXAMPLE = 'search "kv cache" has:code'
# `sort:best` reads as the default does. Outside of quotation marks it can only be the directive: elsewhere it is refused.
_SAYS_BEST = re.compile(r'(?i)(?:^|[\s")])sort:\s*"?(?:best|relevance)\b')
_QUOTED = re.compile(r'(?i)(?<!sort:)"[^"]*"')
_WITHIN = Or((When("published", oldest=float(WINDOW.days)), Label("kind", "repo")))
_TOLD = 3  # clauses that the line of an entry names
_SAY_NOTHING = STOPWORDS | {"does"}  # every word that a search for the best match leaves out, and more


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search as it is carried out: newest first and in the last 90 days, unless it says otherwise."""

    said: Query  # as it was asked, its sort filled in
    windowed: bool

    @property
    def query(self) -> Query:
        """The query for the store."""
        return replace(self.said, tree=_also(self.said.tree, _WITHIN)) if self.windowed else self.said

    @property
    def text(self) -> str:
        """The search as canonical text, which says its sort."""
        return _written(self.said, self.said.sort)

    @property
    def needs_all_words(self) -> bool:
        """Whether an item must have each of several words, of which a search for the best match would take any."""
        bare = [part for part in _parts(self.said.tree) if isinstance(part, Term) and not (part.field or part.quoted)]
        return len(bare) > 1 and self.said.sort != "best"

    def sorted(self, sort: str) -> str:
        """Return the text of the same search in another order, "" when it would be too long to be asked."""
        return _short(_written(self.said, sort))

    def of_all_time(self, sort: str = "") -> str:
        """Return the text of the same search over everything, in its own order or another; "" as above."""
        everything = replace(self.said, tree=_also(self.said.tree, When("published")))
        return _short(_written(everything, sort or self.said.sort))


def read_search(text: str) -> SearchQuery:
    """Return the search that the text says; raises UsageError when it is empty or no query."""
    if not text.strip():
        raise UsageError("What are you looking for?", hint=f"For example: *{_EXAMPLE}*")
    query = parse(text)
    if query.sort == "best" and not _SAYS_BEST.search(_QUOTED.sub('""', text.translate(TYPED))):
        query = replace(query, sort="new")
    return SearchQuery(
        query, windowed=not any(map(_sets_time, _clauses(query.tree))) and not _is_of_repositories(query.tree)
    )


def _why_found(tree: Tree, item: Item, now: datetime, *, close: bool = False) -> str:
    """Return which clauses of the query the item satisfies: 'title has "kv cache"; category is cs.DC'.

    Of an item that is `close` to what the words mean, and has none of them as they stand, that is said first.
    """
    folded = Folded(item)
    parts = [part for part in _parts(tree) if not isinstance(part, Not)]
    verdicts = [match(part, folded, now) for part in parts]
    told = list(dict.fromkeys(verdict.why for verdict in verdicts if verdict.matched))
    if close and not any(verdict.matched for part, verdict in zip(parts, verdicts, strict=True) if _is_bare(part)):
        told.insert(0, "close in meaning")
    return "; ".join(told[:_TOLD]) + (f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else "")


def newest_of_any(query: Query) -> Query | None:
    """Return a search for the newest item that has one of the query's telling words, of a search for the best match.

    What it finds, the query finds too; the query may find more: it takes words by their stems. None without such words.
    """
    if query.sort != "best":
        return None
    words = [part for part in _parts(query.tree) if _is_bare(part)]
    telling = tuple(part for part in words if isinstance(part, Term) and part.text.casefold() not in _SAY_NOTHING)
    rest = tuple(part for part in _parts(query.tree) if part not in words)
    return replace(query, sort="new", tree=And((*rest, Or(telling)))) if telling else None


def _is_bare(part: Tree) -> bool:
    return isinstance(part, Term) and not (part.field or part.quoted or part.prefix)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, And) else (tree,)


def _also(tree: Tree, further: Tree) -> Tree:
    return And((*_parts(tree), further))


def _clauses(tree: Tree) -> Iterator[Tree]:
    match tree:
        case Not(part):
            yield from _clauses(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _clauses(part)
        case _:
            yield tree


def _sets_time(clause: Tree) -> bool:
    return isinstance(clause, When) or (isinstance(clause, Label) and clause.field == "id")


def _is_of_repositories(tree: Tree) -> bool:
    return Label("kind", "repo") in _parts(tree)


def _written(query: Query, sort: str) -> str:
    """The query with its sort, also the one that a text need not say."""
    body = unparse(replace(query, sort="new", topic_of="")).removesuffix("sort:new")
    return f"{body}sort:{sort}" + (f" topic-of:{query.topic_of}" if query.topic_of else "")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else ""


# --- what words mean


@dataclass(frozen=True, slots=True)
class Meant:
    """What a text means, None where it has no vector; and what to say where not everything can be compared with it."""

    near: Near | None = None
    notes: tuple[str, ...] = ()


BY_WORDS = "By words alone this time: what was asked for could not be compared by its meaning."


async def _meant_query(context: HandlerContext, query: Query) -> Meant:
    """Return what the words of a search for the best match mean; any other goes by its words."""
    text = _words(query.tree)
    return await meant_text(context, text) if query.sort == "best" and text else Meant()


async def meant_text(context: HandlerContext, text: str, *, patience: float = PATIENCE) -> Meant:
    """Return what a text means, as far as an item's is read.

    Words alone decide where no vector can be had in so many seconds; a note says so.
    """
    if context.embedder is None:
        return Meant()
    try:
        async with asyncio.timeout(patience):
            rows = await context.embedder.embed([text[:LONGEST_TEXT]])
    except (EmbeddingUnavailable, TimeoutError) as error:
        log.warning("a search goes by its words alone: %s", str(error) or "no vector in time")
        return Meant(notes=(BY_WORDS,))
    if not rows.any():
        return Meant()
    return await meant_vector(context, Near(context.embedder.space, pack(rows)[0], context.embedder.enough))


async def meant_vector(context: HandlerContext, near: Near) -> Meant:
    """Return what has this vector, with a note while items have none to be compared with it."""
    lacking = (await context.store.vectors.embedded(near.space)).lacking
    if not lacking:
        return Meant(near)
    have = "has" if lacking == 1 else "have"
    return Meant(near, (f"{counted(lacking, 'item')} {have} no vector yet, and can be found by words alone.",))


async def close_in_meaning(context: HandlerContext, near: Near | None, items: Sequence[Item]) -> frozenset[str]:
    """Return the keys of those items whose meaning is near enough for them to be found by it alone."""
    stored = await context.store.vectors.find(near.space, [item.key for item in items]) if near is not None else {}
    if near is None or not stored:
        return frozenset()
    rows = unpack([near.vector, *stored.values()])
    cosines = rows[1:] @ rows[0]
    return frozenset(np.array(list(stored))[cosines >= near.enough].tolist())


def _words(tree: Tree) -> str:
    """Return the bare words and the phrases that must not be in a field, as they were typed; "" without a bare word."""
    terms = [part for part in _parts(tree) if isinstance(part, Term) and not part.field]
    bare = any(not (term.quoted or term.prefix) for term in terms)
    return " ".join(term.text for term in terms) if bare else ""


# --- the command

PAGE = 5  # entries: with their buttons, as many as one message takes on every platform
_RANKED = 200  # of what is found, the newest, that are ranked for a topic
_FURTHEST = 10_000  # entries: nobody leafs so far
_ORDERS = {"new": "newest first", "best": "best match first", "stars": "most stars first", "upvotes": "most upvotes first"}
_HOUR = timedelta(hours=1)


@handles(Search)
async def search(context: HandlerContext, command: Search, actor: Actor, now: datetime) -> Reply:
    """Search everything collected, newest first and in the last 90 days unless the query says otherwise."""
    asked = read_search(command.query)
    start = Position(0, now.replace(microsecond=0))
    position = read_page_token(command.page, asked.text) if command.page else start
    if position.offset > _FURTHEST or position.asked > now + _HOUR:
        raise UsageError("Nobody leafs so far.", hint="Narrow the search: a category, a date, another word.")
    found = await _found(context, asked, position, actor)
    items = [hit.item for hit in found.page.hits]
    if not items:
        return await _nothing(context, asked, position, found)
    gists = await context.gists(items)
    return Reply(
        title=f"Found for: {excerpt(command.query)}",
        text=(_in_words(asked, found), *found.notes),
        entries=tuple(
            found_entry(item, gist, _line(asked, item, found, position)) for item, gist in zip(items, gists, strict=True)
        ),
        first=position.offset + 1,
        next_steps=_next_steps(asked, command) if not position.offset else (),
        buttons=_leafing(asked, position, found.page),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A page; where a topic ranks, its title and what it makes of each item that enters it."""

    page: Page
    topic: str = ""
    ranked: dict[str, Ranked] | None = None
    close: frozenset[str] = frozenset()  # the keys of those that are close to what is sought
    notes: tuple[str, ...] = ()  # what was left out of the search


async def _found(context: HandlerContext, asked: SearchQuery, position: Position, actor: Actor) -> _Found:
    query, at = asked.query, position.asked
    meant = await _meant_query(context, query)
    limit, offset = (_RANKED, 0) if query.topic_of else (PAGE, position.offset)
    page = await context.store.index.search(query, at, limit=limit, offset=offset, mark=position.mark, near=meant.near)
    items, notes = [hit.item for hit in page.hits], (*_in_part(asked, page), *meant.notes)
    if not query.topic_of:
        return _Found(page, close=await close_in_meaning(context, meant.near, items), notes=notes)
    topic = await context.topic_named(actor.workspace, query.topic_of)
    request = await context.request(actor, topic, next(iter(await context.subscriptions_here(actor, topic.name)), None))
    last = position.offset + PAGE
    ranked = {
        each.item.key: each for each in await context.previewer.score(request, items, at, first=position.offset, last=last)
    }
    # What the topic lets in comes first, the best leading; the rest stays as it was found.
    hits = sorted(page.hits, key=lambda hit: -ranked[hit.item.key].score if hit.item.key in ranked else 1.0)
    shown = replace(page, hits=tuple(hits[position.offset : last]), more=len(hits) > last)
    return _Found(shown, topic.title, ranked, notes=notes)


def found_entry(item: Item, gist: str, line: str) -> ReplyEntry:
    """Return what was found as a list tells it, with a line that says why, and its buttons."""
    return ReplyEntry(item, gist=gist, lines=tuple(filter(None, (line,))), buttons=item_buttons(item))


def _line(asked: SearchQuery, item: Item, found: _Found, position: Position) -> str:
    if found.ranked is not None:
        each = found.ranked.get(item.key)
        return "; ".join((f"score {each.score:.2f}", *each.reasons)) if each else f"outside {found.topic}"
    return _why_found(asked.said.tree, item, position.asked, close=item.key in found.close)


def _in_words(asked: SearchQuery, found: _Found) -> str:
    order = f"Ranked for {found.topic}: of what is found, the {_RANKED} newest" if found.topic else _ORDERS[asked.said.sort]
    order = order[:1].upper() + order[1:]
    if not asked.windowed:
        return f"{order}."
    return f"{order}, in the last {WINDOW.days} days (repositories of any age); add *published:1y* for more."


def _in_part(asked: SearchQuery, page: Page) -> tuple[str, ...]:
    """Say where a search was answered in part."""
    if not page.examined:
        return ()
    were = "was" if page.examined == 1 else "were"
    looked_at = f"{counted(page.examined, 'item')} alone {were} looked at, {_ORDERS[asked.said.sort]}"
    narrow = "A category, a date or longer beginnings of words narrow the search, and it is answered in full."
    return (f"In part: all of it would take too much effort, so {looked_at}. {narrow}",)


def _next_steps(asked: SearchQuery, command: Search) -> tuple[str, ...]:
    if asked.said.topic_of or len(command.query) > 100 or "*" in command.query or "sort:" in command.query:
        return ()
    return (f"*topic create NAME {command.query.strip()}* makes a topic of it, to be posted on a schedule.",)


def _leafing(asked: SearchQuery, position: Position, page: Page) -> tuple[Button, ...]:
    """Earlier and later pages, the other order, and everything instead of the last 90 days."""
    offers = []
    if position.offset:
        offers.append(("Back", _page(asked, position, max(position.offset - PAGE, 0), page.mark)))
    if page.more and position.offset + PAGE <= _FURTHEST:
        offers.append((f"Next {PAGE}", _page(asked, position, position.offset + PAGE, page.mark)))
    if not asked.said.topic_of:
        label, sort = ("Newest first", "new") if asked.said.sort != "new" else ("Best match first", "best")
        offers.append((label, _again(asked.sorted(sort))))
    if asked.windowed:
        offers.append(("All time", _again(asked.of_all_time())))
    return tuple(Button(label, text) for label, text in offers if text)


def _again(text: str) -> str:
    return write(Search(text)) if text else ""


def _page(asked: SearchQuery, position: Position, offset: int, mark: str) -> str:
    return write(Search(asked.text, write_page_token(replace(position, offset=offset, mark=mark), asked.text)))


# --- nothing found


async def _nothing(context: HandlerContext, asked: SearchQuery, position: Position, found: _Found) -> Reply:
    """Say so, and offer those wider searches that find something."""
    if position.offset:
        return Reply(
            title="There are no more",
            text=("The list ends here.", *found.notes),
            buttons=(button("From the beginning", Search(asked.text)),),
        )
    if found.page.examined:
        return Reply(title="Nothing found", text=("None of the items that were looked at fits.", *found.notes))
    offers = await _offers(context, asked, position.asked)
    if not offers and not (await context.store.index.search(Query(""), now=position.asked, limit=1)).hits:
        return Reply(title="Nothing has been collected yet", text=("The first items come with the first collection.",))
    span = f" in the last {WINDOW.days} days" if asked.windowed else ""
    said = f"No item has all of these words{span}." if asked.needs_all_words else f"No item fits{span}."
    return Reply(
        title="Nothing found",
        text=(said, *(() if offers else ("A wider search finds nothing either.",)), *found.notes),
        next_steps=() if offers else ("*help search* shows what a search can say.",),
        buttons=tuple(button(label, Search(text)) for label, text in offers),
    )


async def _offers(context: HandlerContext, asked: SearchQuery, now: datetime) -> list[tuple[str, str]]:
    """Labels and texts of those wider searches that find something. The widest one finds what any other does."""
    *nearer, widest = _wider(asked) or [("", "")]
    wider = [offer for offer in nearer if offer[1]]
    found = await asyncio.gather(*(_finds(context, text, now) for _, text in wider))
    offers = [offer for offer, finds in zip(wider, found, strict=True) if finds]
    return [*offers, widest] if widest[1] and (offers or await _finds(context, widest[1], now)) else offers


def _wider(asked: SearchQuery) -> list[tuple[str, str]]:
    """Labels and texts of wider searches, the nearest first."""
    wider = []
    if asked.windowed:
        wider.append(("All time", asked.of_all_time()))
    if asked.needs_all_words:
        wider.append(("Any of the words", asked.sorted("best")))
    if asked.windowed and asked.needs_all_words:
        wider.append(("Any of the words, all time", asked.of_all_time("best")))
    return wider


async def _finds(context: HandlerContext, text: str, now: datetime) -> bool:
    """Say whether the search finds something, or may: of one that is answered in part nobody knows that it finds nothing."""
    query = read_search(text).query
    newest = newest_of_any(query)
    if newest is not None and (await context.store.index.search(newest, now, limit=1)).hits:
        return True  # found without weighing everything that has one of the words
    near = (await _meant_query(context, query)).near
    page = await context.store.index.search(query, now, limit=1, near=near)
    return bool(page.hits or page.examined)
