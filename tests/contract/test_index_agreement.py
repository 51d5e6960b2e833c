"""The law of the query language on the index beside the database, and that what it finds is what FTS5 finds."""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.models import And, Item, Label, Not, Number, Or, Query, Term, Tree
from bot.query.fields import LABEL, TEXT
from bot.query.match import matches
from bot.query.parse import DEEPEST, parse
from bot.store.index.documents import document, opened, schema
from bot.store.index.follower import IndexFollower
from bot.store.index.view import View
from bot.store.sqlite.store import SqliteStore
from tests.bot.query import generate
from tests.bot.query.generate import NOW
from tests.conftest import tries
from tests.contract.records import records
from tests.contract.test_query_agreement import any_trees, keys_by_match, made_up, real_words

at_ease = settings(deadline=None, max_examples=tries(250), suppress_health_check=[HealthCheck.too_slow])
at_some_ease = settings(deadline=None, max_examples=tries(10), suppress_health_check=[HealthCheck.too_slow])
_HEAP = 15_000_000  # the least that tantivy takes


def viewed(items: Sequence[Item], folder: str) -> View:
    """Return an index of the items, whose ids count from 1."""
    index = opened(folder, schema())
    index.config_reader("manual")
    writer = index.writer(_HEAP, 1)
    for number, item in enumerate(items, 1):
        writer.add_document(document(number, replace(item, seen=item.seen or NOW)))
    writer.commit()
    index.reload()
    return View(index)


_open = ExitStack()


@lru_cache
def view() -> View:
    return viewed(records(), _open.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))


def keys_in(index: View, tree: Tree, items: Sequence[Item]) -> set[str]:
    return {items[number - 1].key for number in index.ids(index.condition(tree, NOW))}


@at_ease
@given(any_trees())
@example(And(()))
@example(Or(()))
@example(Not(And(())))
@example(And((Not(Term("the")), Not(Term("of")))))
@example(Or((Not(Term("the")), Term("of"))))
@example(Label("id", "", prefix=True))
def test_the_index_finds_what_the_matcher_accepts_among_real_records(tree: Tree) -> None:
    assert keys_in(view(), tree, records()) == keys_by_match(tree)


@at_ease
@given(st.text(max_size=30), st.sampled_from(("", *TEXT)), st.booleans(), st.sampled_from(LABEL))
@example('"', "", True, "id")
@example("a\x00b", "title", False, "source")
@example("\ud83d", "", False, "category")
@example(".*", "", True, "id")
def test_the_index_and_the_matcher_agree_on_any_text_whatsoever(text: str, field: str, prefix: bool, label: str) -> None:
    for tree in (Term(text, field, prefix), Term(text, field, prefix, quoted=True), Label(label, text, prefix)):
        assert keys_in(view(), tree, records()) == keys_by_match(tree)


@at_some_ease
@given(made_up(), st.lists(generate.trees(), min_size=1, max_size=9))
def test_the_index_finds_what_the_matcher_accepts_among_made_up_items(items: list[Item], trees: list[Tree]) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        index = viewed(items, folder)
        for tree in trees:
            assert keys_in(index, tree, items) == {item.key for item in items if matches(tree, item, NOW)}


def test_a_tree_of_any_depth_and_of_many_clauses_is_compiled() -> None:
    deep: Tree = Term("model")
    for depth in range(3 * DEEPEST):
        deep = And((Or((deep, Not(Number("stars", depth)))), Not(Term(f"x{depth}")), Or((Term("the"), Number("forks", 1)))))
    words = tuple(Term(word) for word in real_words()[::50])
    for tree in (deep, And((Or(words), Not(And(words)))), Or(tuple(map(Not, words))), And(tuple(map(Not, words)))):
        assert keys_in(view(), tree, records()) == keys_by_match(tree)


@at_ease
@given(any_trees(), st.sampled_from((0, 3, 50)))
def test_what_is_left_of_a_tree_of_wide_beginnings_finds_no_less(tree: Tree, widest: int) -> None:
    assert keys_in(view(), view().affordable(tree, widest), records()) >= keys_in(view(), tree, records())


# Of every kind that is typed: words, phrases, fields, beginnings, negations, alternatives, dates, numbers, labels.
WRITTEN = (
    "language models",
    "efficient inference of large language models",
    "gpu kernels attention memory scheduling",
    '"large language models"',
    '"attention is all"',
    "title:attention",
    'abstract:"we propose"',
    "author:wang",
    "org:nvidia OR org:google",
    "topic:llm",
    "trans*",
    "title:effic* model",
    '"language mod*"',
    "a* OR b*",
    "model -language",
    "-model -language",
    "NOT (model OR language) kind:paper",
    "(cache OR kernel) AND (gpu OR memory)",
    "model published:30d",
    "published:2026-01-01..2026-03-31 learning",
    "updated:>=2026-03-01",
    "published:>2w model",
    "stars:>500",
    "stars:10..50 OR upvotes:>=20",
    "-stars:>0",
    "cat:cs.*",
    "cat:cs.LG model",
    "lang:python OR lang:c++",
    "license:apache-2.0",
    "has:code",
    "has:pdf -has:summary",
    "source:github kind:repo",
    "id:2603.01234",
    "kv-cache",
    "c++",
    "gpt-4",
    "the of and",
    "Größe 大小",
    "(a* OR b*) cat:cs.CR published:7d",
)


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
        for query in queries:
            first, second = [await store.index.search(query, NOW, limit=200) for store in (plain, beside)]
            found = [[hit.item.key for hit in page.hits] for page in (first, second)]
            assert (sorted(found[0]) == sorted(found[1])) if query.sort == "best" else (found[0] == found[1]), query
            assert (first.total, first.more) == (second.total, second.more), query
            paged = [hit.item.key for hit in (await beside.index.search(query, NOW, limit=7)).hits]
            rest = await beside.index.search(query, NOW, limit=200, offset=7, mark=second.mark)
            assert paged + [hit.item.key for hit in rest.hits] == found[1], query
            counts = [await store.index.count(query.tree, NOW) for store in (plain, beside)]
            assert counts[0] == counts[1], query
            young = [await store.index.matching(query.tree, NOW, since=NOW) for store in (plain, beside)]
            assert young[0] == young[1], query
        assert beside.follower.answered == beside.follower.asked
        assert not beside.follower.doubted
        for store in (plain, beside):
            await store.close()


def test_written_queries_find_the_same_by_both_engines_in_every_order() -> None:
    orders = ("best", "new", "stars", "upvotes")
    asyncio.run(_of_both(records(), [replace(parse(text), sort=order) for text in WRITTEN for order in orders]))


@at_some_ease
@given(made_up(), st.lists(generate.queries(), min_size=1, max_size=9))
def test_any_queries_find_the_same_by_both_engines(items: list[Item], queries: list[Query]) -> None:
    asyncio.run(_of_both(items, queries))
