"""How quickly suggestions and similar items come, against FTS5 alone on the same file.

    python -m benchmarks.suggestions --corpus papers.jsonl.xz [--corpus2 more.jsonl.xz] [--number 200]

Measured with the first corpus stored, and again with the second one beside it. One in five papers is given a language, a
licence and keywords, so that those fields have values too. "Suggestions" are half-typed queries (`category:cs.`, `lang`,
`topic:kv`) through the handler and the store; FTS5 alone looks the same beginnings up in its own list of terms (fts5vocab),
which has neither keywords nor spelling. "Similar" are whole papers, ten closest each; FTS5 alone is asked for the same
telling words, joined by OR, best bm25 first. All are warm and take turns. For the kinds of what is completed the channel was
posted a digest of each of three topics on twenty days, which is as many as are looked at.
"""

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median

from benchmarks import corpus
from benchmarks.search import NOW, report
from bot.digest.left_out import MOST as LEFT_OUT
from bot.digest.publisher import Publisher
from bot.digest.selection import CAP
from bot.handlers.context import HandlerContext
from bot.handlers.surfaces.suggestions import suggest
from bot.models import Actor, Coverage, Digest, Entry, Item, LeftOut, Ranked, Summary
from bot.query.fields import BY_NAME, fold_label
from bot.query.parse import parse
from bot.settings.topic_packs import load_packs
from bot.store.rules.labels import LABELS, label_token
from bot.store.sqlite.search.similar import asked
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists

ACTOR = Actor(platform="terminal", workspace="local", channel="here", person="me")
LANGUAGES = ("Python", "C++", "Rust", "Jupyter Notebook", "Cuda", "Julia", "Go", "TypeScript")
LICENSES = ("MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0")
# What is typed, cut at every length: as many questions as keys are pressed.
TYPED = (
    "category:cs.LG",
    "kv cache cat:stat.ML",
    "language:jupyter",
    "lang:c++",
    "license:apache-2.0",
    "source:arxiv",
    "topic:attention",
    "topic:language",
    "quantisation published:90d",
    "sort:new",
)
_DAYS, _TOPICS, _ENTRIES = 20, 3, 7
# The kinds of what is completed; a topic's is what the others are held against.
KINDS = (
    ("topic", "gp"),
    ("time", "9"),
    ("until", "mo"),
    ("day", ""),
    ("item", ""),
    ("item", "atten"),
    ("setting", ""),
    ("query", "category:cs."),
    ("query", "author:wa"),
    ("query", "author:wang"),
    ("query", "org:goo"),
    ("followed", "yann le"),
)


def with_labels(items: Sequence[Item]) -> list[Item]:
    """Return the papers, one in five with a language, a licence, and runs of its title's words as keywords."""
    chance = random.Random(11)
    return [_labelled(item, chance) if number % 5 == 0 else item for number, item in enumerate(items)]


def _labelled(item: Item, chance: random.Random) -> Item:
    words = [word.lower() for word in item.title.split() if word.isalpha()]
    keywords = tuple("-".join(words[at : at + chance.choice((1, 2))]) for at in range(0, len(words), 2))
    return replace(item, keywords=keywords, language=chance.choice(LANGUAGES), license=chance.choice(LICENSES))


def context_of(store: SqliteStore) -> HandlerContext:
    """Return what the handlers need, with the shipped topics and two sources."""
    sources = {"arxiv": "arXiv", "github": "GitHub"}
    return HandlerContext(store, Publisher(store, Extractive(), {}), load_packs(), sources, gists)


async def time_suggestions(store: SqliteStore, number: int) -> tuple[list[float], list[float]]:
    """Return milliseconds per suggestion through the whole path, and of FTS5's list of terms."""
    context = context_of(store)
    plain = sqlite3.connect(store.path)
    plain.execute("create virtual table temp.terms using fts5vocab(main, words, row)")
    every = [text[:end] for text in TYPED for end in range(1, len(text) + 1)]
    chosen = random.Random(5).choices(every, k=number)
    whole: list[float] = []
    alone: list[float] = []
    for text in chosen:
        for times in ([], whole):  # the first run warms the cache
            start = time.perf_counter()
            await suggest(context, "query", text, ACTOR, NOW)
            times.append((time.perf_counter() - start) * 1000)
        beginning = term(text)
        for times in ([], alone):
            start = time.perf_counter()
            sql = "select term, doc from temp.terms where term >= ? and term < ? order by doc desc limit 25"
            plain.execute(sql, [beginning, f"{beginning}~"]).fetchall()
            times.append((time.perf_counter() - start) * 1000)
    plain.close()
    return whole, alone


async def post_digests(store: SqliteStore, items: Sequence[Item]) -> None:
    """Note that the channel was posted three topics' digests on each of twenty days, of seven entries and many left out."""
    chance = random.Random(7)
    for days in range(_DAYS):
        at = NOW - timedelta(days=days)
        for topic in sorted(load_packs())[:_TOPICS]:
            chosen = chance.sample(items, _ENTRIES + LEFT_OUT)
            entries = tuple(Entry(Ranked(each, 0.5), Summary((), "abstract", "extractive")) for each in chosen[:_ENTRIES])
            others = tuple(LeftOut(each.key, CAP, place, 0.4) for place, each in enumerate(chosen[_ENTRIES:], _ENTRIES + 1))
            digest = Digest(
                topic, topic, at.date(), at, at, entries, Coverage((), 500, _ENTRIES), rhythm="daily", left_out=others
            )
            await store.digests.save(ACTOR.workspace, ACTOR.channel, digest, at)


async def time_kinds(store: SqliteStore, number: int) -> dict[str, list[float]]:
    """Return milliseconds per suggestion of each kind of what people type, a half-typed text each."""
    context = context_of(store)
    times: dict[str, list[float]] = {f"{kind} {text}": [] for kind, text in KINDS}
    for _ in range(number):
        for kind, text in KINDS:
            start = time.perf_counter()
            await suggest(context, kind, text, ACTOR, NOW)
            times[f"{kind} {text}"].append((time.perf_counter() - start) * 1000)
    return times


def term(text: str) -> str:
    """Return the beginning that FTS5 has for a half-typed last word."""
    name, colon, value = text.split()[-1].rpartition(":") if text.strip() else ("", "", "")
    field = BY_NAME.get(name)
    if colon and field is not None and field.name in LABELS:
        return label_token(field.name, fold_label(value))
    return fold_label(value)


async def time_similar(store: SqliteStore, items: Sequence[Item]) -> tuple[list[float], list[float]]:
    """Return milliseconds per item through the whole path, and of FTS5's bm25 for the same words."""
    plain = sqlite3.connect(store.path)
    whole: list[float] = []
    alone: list[float] = []
    for item in items:
        start = time.perf_counter()
        await store.index.similar(item, NOW)
        whole.append((time.perf_counter() - start) * 1000)
        words = " OR ".join(f'"{stem}"' for stem in asked(item).telling)
        start = time.perf_counter()
        plain.execute("select rowid, rank from words where words match ? order by rank limit 10", [words]).fetchall()
        alone.append((time.perf_counter() - start) * 1000)
    plain.close()
    return whole, alone


async def run(corpora: Sequence[Sequence[Item]], number: int, path: Path) -> None:
    """Store one corpus after the other, and each time measure both."""
    store = SqliteStore(path)
    await store.open()
    every: list[Item] = []
    for items in corpora:
        await corpus.store_all(store, with_labels(items), NOW)
        every += items
        print(f"{await store.index.count(parse('').tree, NOW)} papers, {number} questions of each kind, milliseconds")
        print(f"{'':24}{'whole':>8}{'':16}{'FTS5':>8}")
        print(" " * 24 + f"{'p50':>8}{'p95':>8}{'p99':>8}" * 2 + f"   {'ratio p50':>7}{'p95':>5}")
        report("suggestions", *await time_suggestions(store, number))
        report("similar", *await time_similar(store, random.Random(5).sample(every, number)))
        if items is corpora[0]:
            await post_digests(store, every)
        kinds = {name: median(times) for name, times in (await time_kinds(store, 20)).items()}
        for name, middle in kinds.items():
            print(f"{name:24}{middle:8.2f}, {middle / kinds['topic gp']:.1f} of that of a topic")
    await store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--corpus2", type=Path)
    parser.add_argument("--number", type=int, default=200)
    given = parser.parse_args()
    corpora = [corpus.papers(path) for path in (given.corpus, given.corpus2) if path is not None]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(corpora, given.number, Path(folder) / "suggestions.db"))


if __name__ == "__main__":
    main()
