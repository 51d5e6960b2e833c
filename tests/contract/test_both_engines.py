"""Searching by FTS5 and by the index beside the database: the same items, totals and pages, whatever is asked."""

import asyncio
import gzip
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.models import Item, Query
from bot.query.parse import parse
from bot.store.index.follower import IndexFollower
from bot.store.records import item_from_text
from bot.store.sqlite.store import SqliteStore
from tests.bot.query import generate
from tests.bot.query.generate import NOW
from tests.conftest import stride, tries
from tests.contract.records import records
from tests.contract.test_query_agreement import any_trees, made_up

_PAYLOADS = Path(__file__).parents[1] / "payloads" / "queries"
_ALL = 300  # more than there are
_FURTHER = 3  # of so many queries one is asked in pages, too, counted, and for what is young
ORDERS = ("best", "new", "stars", "upvotes")
at_some_ease = settings(deadline=None, max_examples=tries(10), suppress_health_check=[HealthCheck.too_slow])


def real_items() -> list[Item]:
    """Return some two hundred real papers and repositories."""
    asked_for = gzip.decompress((_PAYLOADS / "items.jsonl.gz").read_bytes()).decode().splitlines()
    return [*records(), *map(item_from_text, asked_for)]


def written() -> list[Query]:
    """Return the written queries in the orders they name, and some in another."""
    texts = (_PAYLOADS / "of_every_kind.txt").read_text("utf-8").splitlines()
    queries = [parse(text) for text in texts if not text.startswith("# ")]
    others = [replace(query, sort=order) for query, order in zip(queries, cycle(ORDERS), strict=False)]
    return list(dict.fromkeys([*queries, *others[:: stride()]]))


def generated(number: int) -> list[Query]:
    """Return so many queries of words of the real items and of made-up ones, always the same."""
    found: list[Query] = []

    @settings(max_examples=number, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.builds(Query, st.just(""), st.one_of(any_trees(), generate.trees()), st.sampled_from(ORDERS)))
    def collect(query: Query) -> None:
        found.append(query)

    collect()
    return found


async def _of_both(items: Sequence[Item], queries: Sequence[Query]) -> None:
    """Expect of both that they find the same, in the same order where it is not by relevance."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        plain = SqliteStore(Path(folder) / "a.db")
        beside = SqliteStore(Path(folder) / "b.db", follower=IndexFollower)
        await plain.open()
        await beside.open()
        assert beside.follower is not None
        await beside.follower.built()
        for store in (plain, beside):
            await store.items.add(items, NOW)
        for at, query in enumerate(queries):
            first, second = [await store.index.search(query, NOW, limit=_ALL) for store in (plain, beside)]
            found = [[hit.item.key for hit in page.hits] for page in (first, second)]
            assert (sorted(found[0]) == sorted(found[1])) if query.sort == "best" else (found[0] == found[1]), query
            assert (first.total, first.more) == (second.total, second.more), query
            if at % _FURTHER:
                continue
            paged = [hit.item.key for hit in (await beside.index.search(query, NOW, limit=7)).hits]
            rest = await beside.index.search(query, NOW, limit=_ALL, offset=7, mark=second.mark)
            assert paged + [hit.item.key for hit in rest.hits] == found[1], query
            counts = [await store.index.count(query.tree, NOW) for store in (plain, beside)]
            assert counts[0] == counts[1], query
            young = [await store.index.matching(query.tree, NOW, since=NOW) for store in (plain, beside)]
            assert young[0] == young[1], query
        assert beside.follower.answered == beside.follower.asked
        assert not beside.follower.doubted
        for store in (plain, beside):
            await store.close()


def test_written_queries_of_every_kind_find_the_same_by_both_engines() -> None:
    queries = written()
    assert len(queries) > 200
    asyncio.run(_of_both(real_items(), queries))


@pytest.mark.hypothesis
def test_generated_queries_find_the_same_among_real_items_by_both_engines() -> None:
    asyncio.run(_of_both(real_items(), generated(1_000 // stride() ** 2)))


@at_some_ease
@given(made_up(), st.lists(generate.queries(), min_size=1, max_size=9))
def test_any_queries_find_the_same_by_both_engines(items: list[Item], queries: list[Query]) -> None:
    asyncio.run(_of_both(items, queries))
