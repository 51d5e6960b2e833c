"""The law of the query language: the tree compiled to SQL finds exactly what the matcher accepts."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from bot.models import And, Item, Label, Not, Number, Or, Query, Term, Tree
from bot.query.fields import LABEL, TEXT, labels_of
from bot.query.match import Folded, matches
from bot.query.parse import DEEPEST
from bot.store.sqlite.copy import rows
from bot.store.sqlite.search.best import Span
from bot.store.sqlite.search.compile import among, compile_tree, count_of, each_of, satisfying, to_where
from bot.store.sqlite.search.effort import Effort
from bot.store.sqlite.search.find import find, find_within
from bot.store.sqlite.search.index import Listing, SqliteIndex
from bot.store.sqlite.search.window import Window
from tests.bot.query import generate
from tests.bot.query.generate import NOW
from tests.conftest import tries
from tests.contract.indexed import indexed
from tests.contract.records import records
from tests.stores.direct import Direct, answer
from tests.stores.memory import MemoryStore

# Slow machines are no fault of the code, and the fixtures that every test gets hold nothing between examples.
at_ease = settings(deadline=None, max_examples=tries(250), suppress_health_check=[HealthCheck.too_slow])


@lru_cache
def folded() -> tuple[Folded, ...]:
    return tuple(map(Folded, records()))


@lru_cache
def database() -> Database:
    return indexed(records(), NOW)


@lru_cache
def copied() -> Database:
    """A copy of a database that has the same items under other ids."""
    db = Database(memory=True)
    rows.make_ready(db)
    given = {7 * number: replace(item, seen=item.seen or NOW) for number, item in enumerate(records(), 1)}
    rows.put_items(db, rows.prepared(given, {}))
    return db


def keys_by_sql(db: Database, tree: Tree) -> set[str]:
    return {key for (key,) in db.execute(*to_where(compile_tree(tree, NOW)).select("key"))}


def keys_by_match(tree: Tree) -> set[str]:
    return {each.item.key for each in folded() if matches(tree, each, NOW)}


@lru_cache
def real_words() -> tuple[str, ...]:
    found = {
        word for item in records() for word in f"{item.title} {item.abstract[:300]} {' '.join(item.authors[:3])}".split()
    }
    return tuple(sorted(found))


def real_terms() -> st.SearchStrategy[Tree]:
    """Give words, phrases and beginnings as they stand in the real records, signs and all."""
    words = st.sampled_from(real_words())
    texts = st.one_of(words, st.lists(words, min_size=2, max_size=3).map(" ".join), st.builds(_phrase, st.data()))
    return st.builds(Term, texts, st.sampled_from(("", "", *TEXT)), st.booleans(), st.booleans())


def _phrase(data: st.DataObject) -> str:
    words = data.draw(st.sampled_from(records())).abstract.split() or ["none"]
    at = data.draw(st.integers(0, len(words) - 1))
    return " ".join(words[at : at + data.draw(st.integers(1, 4))])


def real_labels() -> st.SearchStrategy[Tree]:
    pairs = sorted({(field, value) for item in records() for field in LABEL for value in labels_of(item, field)})
    whole = st.sampled_from(pairs).map(lambda pair: Label(*pair))
    opened = st.builds(
        lambda pair, cut: Label(pair[0], pair[1][:cut], prefix=True), st.sampled_from(pairs), st.integers(0, 8)
    )
    return st.one_of(whole, opened)


def any_trees() -> st.SearchStrategy[Tree]:
    clause = st.one_of(real_terms(), real_labels(), generate.clauses())

    def grow(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(part, max_size=4).map(tuple)
        return st.one_of(part.map(Not), several.map(And), several.map(Or))

    return st.recursive(clause, grow, max_leaves=12)


@at_ease
@given(any_trees())
@example(And(()))
@example(Or(()))
@example(Not(And(())))
@example(And((Not(Term("the")), Not(Term("of")))))
@example(Or((Not(Term("the")), Term("of"))))
def test_sql_finds_what_the_matcher_accepts_among_real_records(tree: Tree) -> None:
    assert keys_by_sql(database(), tree) == keys_by_match(tree)
    assert keys_by_sql(copied(), tree) == keys_by_match(tree)


@at_ease
@given(any_trees(), st.integers(0, 90), st.integers(0, 90))
@example(Or((And((Number("stars", 5), Not(Term("model")))), Not(Label("kind", "repo")))), 10, 70)
def test_a_part_of_the_items_is_asked_for_in_whatever_way_with_the_same_answer(tree: Tree, after: int, last: int) -> None:
    condition, window = compile_tree(tree, NOW), Window(after, last)
    found = np.sort(satisfying(database(), condition))
    within = found[(found > after) & (found <= last)]
    assert np.sort(satisfying(database(), condition, window)).tolist() == within.tolist()
    assert count_of(database(), condition, window) == len(within)
    assert count_of(database(), condition) == len(found)
    asked = np.arange(after + 1, last + 1)
    for way in (each_of, among):
        assert np.sort(way(database(), condition, asked)).tolist() == within.tolist()


@at_ease
@given(st.text(max_size=30), st.sampled_from(("", *TEXT)), st.booleans(), st.sampled_from(LABEL))
@example('"', "", True, "id")
@example("a\x00b", "title", False, "source")
@example("\ud83d", "", False, "category")
def test_sql_and_the_matcher_agree_on_any_text_whatsoever(text: str, field: str, prefix: bool, label: str) -> None:
    for tree in (Term(text, field, prefix), Term(text, field, prefix, quoted=True), Label(label, text, prefix)):
        assert keys_by_sql(database(), tree) == keys_by_match(tree)


def made_up() -> st.SearchStrategy[list[Item]]:
    return st.lists(generate.items(), max_size=5, unique_by=lambda item: item.key)


@at_ease
@given(made_up(), st.lists(generate.trees(), min_size=1, max_size=6))
def test_sql_finds_what_the_matcher_accepts_among_made_up_items(items: list[Item], trees: list[Tree]) -> None:
    db = indexed(items, NOW)
    for tree in trees:
        assert keys_by_sql(db, tree) == {item.key for item in items if matches(tree, item, NOW)}
    db.close()


@at_ease
@given(made_up(), st.lists(generate.queries(), min_size=1, max_size=4), st.integers(0, 30))
def test_both_stores_answer_a_search_alike(items: list[Item], queries: list[Query], days: int) -> None:
    async def by_memory() -> list[tuple[list[str], Sequence[Item]]]:
        store = MemoryStore()
        await store.items.add(items, NOW)
        return [
            (
                [hit.item.key for hit in (await store.index.search(query, NOW, limit=9)).hits],
                await store.index.matching(query.tree, NOW, since=old),
            )
            for query in queries
        ]

    old = NOW - timedelta(days=days)
    db = indexed(items, NOW)
    index = SqliteIndex(Direct(db))
    for query, (keys, young) in zip(queries, asyncio.run(by_memory()), strict=True):
        found = [hit.item.key for hit in Listing(query, NOW, Span(9)).page(db)[0].hits]
        # Sorted best, each store has its own measure of relevance.
        assert (sorted(found) == sorted(keys)) if query.sort == "best" else (found == keys)
        assert answer(index.count(query.tree, NOW, since=old)) == len(young)
        assert answer(index.matching(query.tree, NOW, since=old)) == young
    db.close()


@at_ease
@given(
    st.builds(Query, st.just(""), any_trees(), st.sampled_from(("best", "new", "stars", "upvotes"))),
    st.integers(1, 9),
    st.integers(0, 9),
)
@example(Query("", Term("the"), "new"), 5, 0)
@example(Query("", And((Label("kind", "paper"), Not(Term("model")))), "new"), 5, 2)
@example(Query("", And((Not(Term("model")), Not(Number("stars", 5)))), "stars"), 9, 2)
def test_a_list_is_the_same_whichever_way_it_is_looked_for(query: Query, limit: int, offset: int) -> None:
    span = Span(limit, offset, last=90, without=(3, 5, 7))
    along = find(database(), query, NOW, span, counted=1)
    assert along.scored == find(database(), query, NOW, span).scored
    assert along.examined == 0


@at_ease
@given(st.builds(Query, st.just(""), st.tuples(generate.whens(), any_trees()).map(And), st.sampled_from(("best", "new"))))
def test_within_dates_the_same_is_found_as_by_looking_everywhere(query: Query) -> None:
    everywhere = Span(10**6, window=Window(0, 1000))
    assert find(database(), query, NOW, Span(10**6)) == find(database(), query, NOW, everywhere)


def efforts() -> st.SearchStrategy[Effort]:
    return st.builds(
        Effort,
        st.sampled_from((0, 40_000, 10**9)),
        st.sampled_from((0, 3, 10**6)),
        st.sampled_from((0, 1, 8_000)),
        st.sampled_from((1, 20, 500)),
        st.sampled_from((0, 100_000)),
    )


@at_ease
@given(st.builds(Query, st.just(""), any_trees(), st.sampled_from(("best", "new", "stars"))), efforts(), st.integers(0, 9))
@example(Query("", And((Term("model", prefix=True), Label("category", "cs.lg"))), "new"), Effort(10**9, 0, items=500), 2)
@example(Query("", And((Term("the"), Term("model"), Not(Term("m", prefix=True)))), "best"), Effort(0, 0, items=20), 0)
def test_whatever_the_effort_nothing_is_found_that_the_query_does_not_find(
    query: Query, effort: Effort, offset: int
) -> None:
    span = Span(7, offset)
    (found, *_), examined = find_within(database(), query, NOW, span, effort)
    every = find(database(), query, NOW, Span(10**6)).scored
    ids = [number for number, _ in found]
    assert len(set(ids)) == len(ids) <= 7
    assert set(ids) <= {number for number, _ in every}
    if query.sort != "best":
        assert ids == [number for number, _ in every if number in ids], "what is found stands in the order of the search"
    if not examined:
        assert len(ids) == len(every[offset:][:7])
        if query.sort != "best":
            assert found == every[offset:][:7]


def test_a_tree_deeper_than_can_be_typed_is_compiled() -> None:
    tree: Tree = Term("model")
    for depth in range(3 * DEEPEST):
        tree = And((Or((tree, Not(Number("stars", depth)))), Not(Term(f"x{depth}")), Or((Term("the"), Number("forks", 1)))))
    assert keys_by_sql(database(), tree) == keys_by_match(tree)


def test_a_tree_of_many_clauses_is_compiled() -> None:
    words = tuple(Term(word) for word in real_words()[::50])
    for tree in (And((Or(words), Not(And(words)))), Or(tuple(map(Not, words))), And(tuple(map(Not, words)))):
        assert keys_by_sql(database(), tree) == keys_by_match(tree)
