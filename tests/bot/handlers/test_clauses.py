import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.handlers.clauses import clauses_of, join_clauses, named_clauses, read_filter, with_clauses, without_clauses
from bot.models import And, Tree
from bot.query import parse, unparse_tree
from tests.bot.query.generate import trees

FILTER = parse("kind:paper -blockchain (vLLM OR SGLang) 2 3")


def test_a_filter_is_the_list_of_what_must_hold() -> None:
    assert [join_clauses([clause]).text for clause in clauses_of(FILTER)] == [
        "kind:paper",
        "-blockchain",
        "(vLLM OR SGLang)",
        "2",
        "3",
    ]
    assert clauses_of(parse("")) == ()
    assert len(clauses_of(parse("a OR b"))) == 1


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("2", "kind:paper (vLLM OR SGLang) 2 3"),
        ("#3", "kind:paper -blockchain 2 3"),
        ("vLLM OR SGLang", "kind:paper -blockchain 2 3"),
        ("(vLLM OR SGLang)", "kind:paper -blockchain 2 3"),
        ("type:papers", "-blockchain (vLLM OR SGLang) 2 3"),
        ('-"Blockchain"', "kind:paper (vLLM OR SGLang) 2 3"),
        ("kind:paper -blockchain", "(vLLM OR SGLang) 2 3"),
        ("4", "kind:paper -blockchain (vLLM OR SGLang) 3"),
    ],
)
def test_a_clause_is_removed_by_its_words_or_its_number(typed: str, left: str) -> None:
    assert without_clauses(FILTER, named_clauses(FILTER, typed)).text == left


def test_removing_what_is_not_there_suggests_what_is() -> None:
    with pytest.raises(UsageError, match='has no clause "kind:papers"') as raised:
        without_clauses(FILTER, named_clauses(FILTER, '"kind:papers"'))
    assert "kind:paper" in raised.value.hint
    with pytest.raises(UsageError, match="no filter to remove"):
        without_clauses(parse(""), named_clauses(parse(""), "1"))


def test_what_stands_in_a_filter_is_not_added_again() -> None:
    assert with_clauses(FILTER, "type:papers -blockchain") is FILTER
    assert with_clauses(FILTER, "a OR b").text == "kind:paper -blockchain (vLLM OR SGLang) 2 3 (a OR b)"


@pytest.mark.parametrize("typed", ["", " ", "*", "sort:new", "a topic-of:kv"])
def test_a_filter_says_something_and_orders_nothing(typed: str) -> None:
    with pytest.raises(UsageError):
        read_filter(typed)


@given(st.lists(trees(), min_size=1, max_size=4), trees())
def test_what_is_added_and_removed_again_leaves_the_filter_as_it_was(held: list[Tree], added: Tree) -> None:
    try:
        before = read_filter(" ".join(unparse_tree(tree, inside=And) for tree in held))
        after = with_clauses(before, unparse_tree(added))
    except UsageError:
        return
    fresh = clauses_of(after)[len(clauses_of(before)) :]
    assert clauses_of(after) == (*clauses_of(before), *fresh)
    if fresh:
        assert without_clauses(after, fresh).tree == before.tree


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(typed: str) -> None:
    with contextlib.suppress(UsageError):
        added = with_clauses(FILTER, typed)
        assert parse(added.text) == added
    with contextlib.suppress(UsageError):
        left = without_clauses(FILTER, named_clauses(FILTER, typed))
        assert parse(left.text) == left
