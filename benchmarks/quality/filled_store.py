"""The real store, filled with judged papers and their vectors."""

import re
import tempfile
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.quality.embedding import Embedding
from benchmarks.quality.metrics import TOP
from benchmarks.quality.records import Record
from bot.models import And, Item, Kind, Near, Query, Term
from bot.models.vectors import pack
from bot.store.sqlite.store import SqliteStore

NOW = datetime(2026, 4, 1, tzinfo=UTC)
_BATCH = 2000


def paper_of(record: Record) -> Item:
    """Return a judged document as a paper."""
    text = record.get("text") or record.get("abstract") or " ".join(record.get("sents") or record.get("source") or ())
    key = record.get("id") or record["paper_id"]
    return Item(key=str(key), kind=Kind.PAPER, title=record.get("title") or "", abstract=text)


@asynccontextmanager
async def filled_store(
    papers: Sequence[Item], embedding: Embedding | None, quick: Collection[str] = ()
) -> AsyncIterator[SqliteStore]:
    """Yield a store that holds the papers with their vectors; those of the `quick` keys are made the quick way."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.db")
        await store.open()
        try:
            for at in range(0, len(papers), _BATCH):
                await store.items.add(papers[at : at + _BATCH], NOW)
            if embedding:
                for hurried in (False, True):
                    await _embed(
                        store, [each for each in papers if (each.key in quick) == hurried], embedding, quick=hurried
                    )
            yield store
        finally:
            await store.close()


async def _embed(store: SqliteStore, papers: Sequence[Item], embedding: Embedding, *, quick: bool) -> None:
    packed = await embedding.packed(papers, quick=quick)
    for at in range(0, len(papers), _BATCH):
        batch = papers[at : at + _BATCH]
        await store.vectors.save(embedding.space, batch, [packed[each.key] for each in batch], quick=quick)


async def near(embedding: Embedding | None, texts: Sequence[str]) -> list[Near | None]:
    """Return what each text is to be close to."""
    if embedding is None:
        return [None] * len(texts)
    return [Near(embedding.space, row, embedding.embedder.enough) for row in pack(await embedding.texts(texts))]


async def search(store: SqliteStore, questions: Sequence[str], where: Sequence[Near | None]) -> list[list[str]]:
    """Return the keys of the ten that the store finds for each question, every word of it a bare word."""
    trees = [And(tuple(Term(word) for word in re.findall(r"[\w-]*\w", text))) for text in questions]
    pairs = zip(trees, where, strict=True)
    pages = [await store.index.search(Query("", tree), NOW, limit=TOP, near=close) for tree, close in pairs]
    return [[hit.item.key for hit in page.hits] for page in pages]


async def both_ways(
    papers: Sequence[Item], questions: Sequence[str], embedding: Embedding | None, quick: Collection[str] = ()
) -> dict[str, list[list[str]]]:
    """Return what is found with vectors, where there are any, and by words alone."""
    async with filled_store(papers, embedding, quick) as store:
        found = {"words alone": await search(store, questions, [None] * len(questions))}
        if embedding:
            found = {"ours": await search(store, questions, await near(embedding, questions)), **found}
        return found
