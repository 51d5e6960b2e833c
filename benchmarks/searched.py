"""The first five that a search shows for each of sixty queries, and how good they are by judgements made by reading.

    python -m benchmarks.searched --corpus recent.jsonl.xz --out answers.jsonl [--full CACHE]
    python -m benchmarks.searched --answers benchmarks/quality/searched/answers.*.jsonl
    python -m benchmarks.searched --queries benchmarks/quality/searched/development/queries.jsonl --corpus … --out …

The queries are those of benchmarks/quality/searched, typed as they stand as the command `search`, over the papers of the
corpus with quick vectors, as a backlog has them; with `--full` with the transformer's, which are kept in that folder. A line
of the answers has the query's `id`, what the reply says, and its `keys` and `titles`. `--answers` measures such files as
they are, without a search. `--queries` names other queries, with the `judged.jsonl` beside them or what `--judged` names.

Printed are how often nothing is shown where something is there, and where nothing is; the precision of the first five of
what is there (grades 1 and 2, then 2 alone; an empty place is a miss), the same of as many as could be right, of what is
shown alone, and how often one of the five is right, with intervals of 1,000 bootstrap draws of queries; and how many results
nobody judged.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import corpus
from benchmarks.quality.embedding import Embedding
from benchmarks.searched_figures import FIRST, Line, report
from bot.commands import parse
from bot.digest.publisher import Publisher
from bot.embed import shipped
from bot.embed.shipped import LocalEmbedder
from bot.errors import BotError
from bot.handlers.context import HandlerContext
from bot.handlers.handle import handle
from bot.models import Actor, Item, Reply
from bot.models.vectors import pack, text_of_item
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
QUERIES = Path(__file__).parent / "quality" / "searched" / "queries.jsonl"
_ADA = Actor(platform="local", workspace="local", channel="terminal", person="ada")
_BATCH = 2000


def lines(path: Path) -> list[Line]:
    """Return the records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def fill(store: SqliteStore, items: Sequence[Item], full: Embedding | None) -> None:
    """Store the items with their vectors, quick ones where no others are given."""
    await corpus.store_all(store, items, NOW)
    for at in range(0, len(items), _BATCH):
        batch = items[at : at + _BATCH]
        if full is None:
            packed = list(pack(shipped.table().encode([text_of_item(item) for item in batch])))
        else:
            packed = [*(await full.packed(batch)).values()]
        await store.vectors.save(LocalEmbedder().space, batch, packed, quick=full is None)


async def answers(store: SqliteStore, queries: Sequence[Line]) -> list[Line]:
    """Return a line of what the command shows for each query."""
    embedder = LocalEmbedder()
    await embedder.embed(["read the model"])  # a search waits for its vector a moment only, and the first reads the model
    context = HandlerContext(store, Publisher(store, Extractive(), {}), {}, {}, gists, embedder=embedder)
    found = []
    for query in queries:
        try:
            reply = await handle(context, parse(f"search {query['query']}"), _ADA, NOW)
        except BotError as error:
            reply = Reply(title="Nothing found", text=(str(error),))
        shown = [entry.item for entry in reply.entries if entry.item] + [card.ranked.item for card in reply.cards]
        found.append(
            {
                "id": query["id"],
                "query": query["query"],
                "said": [reply.title, *reply.text],
                "keys": [item.key for item in shown[:FIRST]],
                "titles": [item.title for item in shown[:FIRST]],
            }
        )
    return found


async def ask(queries: Sequence[Line], asked: argparse.Namespace) -> None:
    """Fill a store, ask everything, and write the answers."""
    items = corpus.papers(asked.corpus)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "searched.db")
        await store.open()
        await fill(store, items, Embedding(LocalEmbedder(), asked.full) if asked.full else None)
        found = await answers(store, queries)
        await store.close()
    asked.out.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in found), encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--answers", type=Path, nargs="+", default=[])
    parser.add_argument("--queries", type=Path, default=QUERIES)
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--full", type=Path)
    asked = parser.parse_args()
    if bool(asked.corpus and asked.out) == bool(asked.answers):
        parser.error("give --corpus and --out to search, or --answers to measure")
    queries, judged = lines(asked.queries), lines(asked.judged or asked.queries.with_name("judged.jsonl"))
    if asked.corpus:
        asyncio.run(ask(queries, asked))
    for path in asked.answers or [asked.out]:
        print("\n".join([f"{path.name}:", *report(queries, lines(path), judged), ""]))


if __name__ == "__main__":
    main()
