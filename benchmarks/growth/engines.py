"""What is asked, and who answers: the whole path of either search engine, and either engine alone."""

import random
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from sqlite_utils import Database
from tantivy import Query as TantivyQuery

from benchmarks.search import NOW, SPACE, queries, statements
from benchmarks.suggestions import ACTOR, TYPED, context_of, term
from bot.embed import shipped
from bot.handlers.surfaces.suggestions import suggest
from bot.models import And, Item, Near, Query
from bot.models.vectors import NEAR, pack, text_of_item
from bot.query.fields import BY_NAME
from bot.query.parse import parse
from bot.store.index.compile import Compiler, all_of, any_of, beside
from bot.store.index.documents import BEST, BY, LABEL, opened, schema
from bot.store.rules.labels import LABELS
from bot.store.rules.search_terms import split
from bot.store.sqlite.search.meaning import Meaning, VectorCopy
from bot.store.sqlite.search.similar import asked as asked_of
from bot.store.sqlite.store import SqliteStore, index_folder

LIMIT = 10
_TERMS = 10_000  # words that begin as what is typed, at most, that tantivy is asked for


def half_typed(text: str) -> Query:
    """Return the query with the first half of its last word, of three letters or more, as a prefix."""
    *words, last = text.split()
    return parse(" ".join([*words, f"{last[: max(3, len(last) // 2)]}*"]))


def _alternatives(text: str) -> Query:
    return parse(" OR ".join([*text.split(), "model"]))


READ: Mapping[str, Callable[[str], Query]] = {
    "words": parse,
    "category": lambda text: parse(f"{text} category:cs.LG"),
    "newest": lambda text: parse(f"{text} sort:new"),
    "phrase": lambda text: parse(f'"{text}"'),
    "dated": lambda text: parse(f"{text} published:90d"),
    "prefix": half_typed,
    "OR": _alternatives,
    "(a* OR b*)": lambda _: parse("(a* OR b*) cat:cs.CR published:7d"),
    "hybrid": parse,
    "hybrid, dated": lambda text: parse(f"{text} published:90d"),
}
MEANT = ("hybrid", "hybrid, dated")  # are asked for what they mean, too
ENGINES = ("FTS5", "tantivy", "raw FTS5", "raw tantivy", "nearest")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in every way: words of a title with their vector, half a query as it is typed, a paper with its own."""

    text: str
    near: Near
    typed: str
    item: Item
    item_near: Near


class Shown(NamedTuple):
    """The keys or ids that are shown, and whether they were taken from a part."""

    names: Sequence[object] = ()
    partial: bool = False


Ask = Callable[[], Awaitable[Shown]]


class Engine(Protocol):
    """Who answers."""

    def ask(self, kind: str, question: Question) -> Ask | None:
        """Return what asks, made ready as far as that is not to be measured; None for what is never asked of it."""
        ...

    def close(self) -> None:
        """Let go of what it reads."""
        ...


def questions(items: Sequence[Item], number: int) -> tuple[list[Question], list[float]]:
    """Return so many questions, the same for the same items; and what their vectors took, in milliseconds of a processor."""
    texts = queries(items, number)
    chance = random.Random(5)
    typed = chance.choices([text[:end] for text in TYPED for end in range(1, len(text) + 1)], k=number)
    papers = chance.choices(items, k=number)
    near, spent = _encoded(texts)
    close = _near(pack(shipped.table().encode([text_of_item(item) for item in papers])))
    return [Question(*each) for each in zip(texts, near, typed, papers, close, strict=True)], spent


def _encoded(texts: Sequence[str]) -> tuple[list[Near], list[float]]:
    """Return a vector of each text, made one by one as people ask, and what each took."""
    model, near, spent = shipped.minilm(), list[Near](), list[float]()
    model.encode(texts[:1])
    for text in texts:
        begin = time.process_time()
        near += _near(pack(model.encode([text])))
        spent.append(1000 * (time.process_time() - begin))
    return near, spent


def _near(vectors: Sequence[bytes]) -> list[Near]:
    return [Near(SPACE, vector, NEAR) for vector in vectors]


class Whole:
    """The whole path: text, parse, search, ten whole items."""

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._context = store, context_of(store)

    def ask(self, kind: str, question: Question) -> Ask | None:
        """As in the protocol; suggestions go through their handler."""
        if kind in READ:
            return lambda: self._search(kind, question)
        return {"suggestions": lambda: self._suggest(question), "similar": lambda: self._similar(question)}.get(kind)

    def close(self) -> None:
        """Leave the store to who opened it."""

    async def _search(self, kind: str, question: Question) -> Shown:
        near = question.near if kind in MEANT else None
        page = await self._store.index.search(READ[kind](question.text), NOW, limit=LIMIT, near=near)
        return Shown([hit.item.key for hit in page.hits], bool(page.examined))

    async def _suggest(self, question: Question) -> Shown:
        return Shown([each.value for each in await suggest(self._context, "query", question.typed, ACTOR, NOW)])

    async def _similar(self, question: Question) -> Shown:
        hits = await self._store.index.similar(question.item, NOW, limit=LIMIT, near=question.item_near)
        return Shown([hit.item.key for hit in hits])


class RawFts5:
    """The statements that the store runs for a query, alone on a plain connection, without any bound.

    For suggestions FTS5's own list of terms, for similar items its bm25 of the same telling words.
    """

    def __init__(self, path: Path) -> None:
        self._plain = Database(sqlite3.connect(path))
        self._plain.execute("pragma cache_size = -16000")
        self._plain.execute("create virtual table temp.terms using fts5vocab(main, words, row)")

    def ask(self, kind: str, question: Question) -> Ask | None:
        """As in the protocol."""
        if kind in MEANT:
            return None
        if kind in READ:
            made = statements(self._plain, READ[kind](question.text))
        elif kind == "suggestions":
            begin = term(question.typed)
            sql = "select term, doc from temp.terms where term >= ? and term < ? order by doc desc limit 25"
            made = [(sql, [begin, f"{begin}~"])]
        elif kind == "similar":
            words = " OR ".join(f'"{stem}"' for stem in asked_of(question.item).telling)
            made = [("select rowid, rank from words where words match ? order by rank limit 10", [words])]
        else:
            return None

        async def ask() -> Shown:
            found: list[tuple[object, ...]] = []
            for sql, values in made:
                found = self._plain.execute(sql, values).fetchall()
            return Shown([row[0] for row in found[:LIMIT]])

        return ask

    def close(self) -> None:
        """As in the protocol."""
        self._plain.close()


class RawTantivy:
    """The compiled query on a plain searcher: ten ids; best first those that have every word, by its own bm25.

    For suggestions its own list of terms, for similar items its bm25 of the same telling words.
    """

    def __init__(self, folder: Path) -> None:
        fields = schema()
        index = opened(str(folder), fields)
        index.reload()
        self._searcher, self._compiler = index.searcher(), Compiler(fields)

    def ask(self, kind: str, question: Question) -> Ask | None:
        """As in the protocol."""
        if kind in MEANT:
            return None
        if kind in READ:
            return self._searches(*self._compiled(READ[kind](question.text)))
        if kind == "similar":
            stems = asked_of(question.item).telling
            return self._searches(any_of(map(self._compiler.way, stems)), None)
        return (lambda: self._terms(question.typed)) if kind == "suggestions" else None

    def close(self) -> None:
        """Leave the index to the end of the process."""

    def _compiled(self, query: Query) -> tuple[TantivyQuery, str | None]:
        words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
        if not words:
            return self._compiler.tree(rest, NOW), BY[query.sort]
        conditions = [] if rest == And(()) else [beside(self._compiler.tree(rest, NOW))]
        return all_of([*(any_of(map(self._compiler.way, ways)) for ways in words), *conditions]), None

    def _searches(self, query: TantivyQuery, order: str | None) -> Ask:
        async def ask() -> Shown:
            found = self._searcher.search(query, LIMIT, count=False, order_by_field=order).hits
            return Shown(self._searcher.fast_field_values("id", [address for _, address in found]))

        return ask

    async def _terms(self, typed: str) -> Shown:
        name, colon, _ = typed.split()[-1].rpartition(":") if typed.strip() else ("", "", "")
        field = BY_NAME.get(name)
        of = LABEL if colon and field is not None and field.name in LABELS else BEST
        found = self._searcher.terms_with_prefix(of, term(typed), limit=_TERMS)
        return Shown(sorted(found, key=lambda pair: -pair[1])[:25])


class NearestAlone:
    """What is near a query's vector among those of all items: the part of a search for what is meant that words have not."""

    def __init__(self, path: Path) -> None:
        self._plain, self._copy = Database(sqlite3.connect(path)), VectorCopy(path)

    def ask(self, kind: str, question: Question) -> Ask | None:
        """As in the protocol."""
        if kind not in MEANT:
            return None

        async def ask() -> Shown:
            meaning = Meaning(self._copy, question.near)
            meaning.follow(self._plain)
            meaning.all_near(self._plain)
            return Shown()

        return ask

    def close(self) -> None:
        """As in the protocol."""
        self._plain.close()


def engines(plain: SqliteStore, indexed: SqliteStore) -> dict[str, Engine]:
    """Return all who answer by their names, of the same file opened without and with the index beside it."""
    path = plain.path
    every = (Whole(plain), Whole(indexed), RawFts5(path), RawTantivy(index_folder(path)), NearestAlone(path))
    return dict(zip(ENGINES, every, strict=True))
