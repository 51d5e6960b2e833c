"""The first five that a search shows for each of sixty queries, for judging by reading; and whether it says "nothing here".

    python -m benchmarks.searched --corpus recent.jsonl.xz --out answers.jsonl [--judged grades.jsonl] [--full CACHE]

The queries are those of benchmarks/quality/searched, typed as they stand as the command `search`, over the papers of the
corpus with quick vectors, as a backlog has them; with `--full` with the transformer's, which are kept in that folder. A line
of the answers has the query's `id`, what the reply says, and its `keys` and `titles`. Judged lines have `id`, `key` and
`good`. Printed are how often something is shown where something is there and where nothing is, and with judgements the
precision of the first five of what is there: an empty place is a miss.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.quality.embedding import Embedding
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
FIRST = 5
_ADA = Actor(platform="local", workspace="local", channel="terminal", person="ada")
_BATCH = 2000
Line = dict[str, Any]


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
    context = HandlerContext(store, Publisher(store, Extractive(), {}), {}, {}, gists, embedder=LocalEmbedder())
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


def report(queries: Sequence[Line], found: Sequence[Line], judged: Sequence[Line]) -> None:
    """Print the figures."""
    there = {query["id"]: query["there"] for query in queries}
    empty = [line["query"] for line in found if there[line["id"]] and not line["keys"]]
    told = [line["query"] for line in found if not there[line["id"]] and line["keys"]]
    print(f"nothing shown where something is there: {len(empty)} of {sum(there.values())} {empty}")
    print(f"something shown where nothing is there: {len(told)} of {len(there) - sum(there.values())} {told}")
    if judged:
        good = {(line["id"], line["key"]) for line in judged if line["good"]}
        known = {(line["id"], line["key"]) for line in judged}
        shares = [sum((line["id"], key) in good for key in line["keys"]) / FIRST for line in found if there[line["id"]]]
        unjudged = sum((line["id"], key) not in known for line in found for key in line["keys"])
        print(f"P@5 {sum(shares) / len(shares):.3f} of {len(shares)} queries; {unjudged} results are not judged")


async def run(asked: argparse.Namespace) -> None:
    """Fill a store, ask everything, write and print."""
    queries = lines(QUERIES)
    items = corpus.papers(asked.corpus)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "searched.db")
        await store.open()
        await fill(store, items, Embedding(LocalEmbedder(), asked.full) if asked.full else None)
        found = await answers(store, queries)
        await store.close()
    asked.out.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in found), encoding="utf-8")
    report(queries, found, lines(asked.judged) if asked.judged else ())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--full", type=Path)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
