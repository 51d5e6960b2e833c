"""The law of the query language on the index beside the database, and that what it finds is what FTS5 finds."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.models import And, Item, Label, Not, Number, Or, Term, Tree
from bot.query.fields import LABEL, TEXT
from bot.query.match import matches
from bot.query.parse import DEEPEST
from bot.store.index.documents import document, opened, schema
from bot.store.index.view import View
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
@given(any_trees(), st.sampled_from((0.0, 0.1, 1.0, 20.0)))
def test_what_is_left_of_a_tree_that_costs_too_much_finds_no_less(tree: Tree, most: float) -> None:
    assert keys_in(view(), view().affordable(tree, most), records()) >= keys_in(view(), tree, records())
