"""The search that scores few items."""

import pytest

from bot.models import And, Item, Kind, Label, Term, Tree
from bot.store.rules.search_terms import split
from bot.store.sqlite.search.best import Span, find_best
from bot.store.sqlite.search.compile import compile_tree
from tests.bot.query.generate import NOW
from tests.contract.indexed import indexed


def paper(number: int, text: str) -> Item:
    return Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"P{number}", abstract=text)


def best(items: list[Item], tree: Tree, most: int, limit: int = 100, offset: int = 0) -> list[int]:
    """Return the numbers of the items, counted from 1 in the order in which they were stored."""
    return [number for number, _ in scored(items, tree, most, limit, offset)]


def scored(items: list[Item], tree: Tree, most: int, limit: int = 100, offset: int = 0) -> list[tuple[int, float]]:
    words, rest = split(tree)
    db = indexed(items, NOW)
    found = find_best(db, words, compile_tree(rest, NOW), Span(limit, offset), NOW, most=most)
    db.close()
    return found.scored


def test_of_too_many_items_with_a_word_those_stored_last_are_scored() -> None:
    items = [paper(number, "cache" + " filler" * number) for number in range(9)]
    assert best(items, Term("cache"), 4) == [6, 7, 8, 9]
    assert best(items, Term("cache"), 100) == list(range(1, 10))


def test_a_rare_word_finds_its_items_however_many_have_the_common_ones() -> None:
    items = [paper(0, "grafting of trees"), *(paper(number, "a model") for number in range(1, 30))]
    items.append(paper(30, "grafting onto a tree, with a model of a network"))
    items += [paper(number, "a network") for number in range(31, 60)]
    tree = And(tuple(map(Term, ("grafting", "model", "network"))))
    assert best(items, tree, 5) == best(items, tree, 100) == [31, 1]
    assert best(items, And((*tree.parts, Term("absent"))), 5) == [31]


@pytest.mark.parametrize("most", [3, 7, 50])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_are_parts_of_one_list_that_falls_in_relevance(most: int, size: int) -> None:
    texts = ("kv", "cache", "kv cache", "a kv cache for long contexts", "no such thing", "cached kv kv kv")
    items = [paper(number, texts[number % 6]) for number in range(30)]
    tree = And((Term("kv"), Term("cache"), Label("kind", "paper"), Term("kv", "abstract")))
    whole = scored(items, tree, most)
    assert [score for _, score in whole] == sorted((score for _, score in whole), reverse=True)
    pages = [scored(items, tree, most, size, offset) for offset in range(0, 30, size)]
    assert [pair for page in pages for pair in page] == whole


def test_a_search_of_very_many_words_is_answered() -> None:
    items = [paper(1, " ".join(f"word{number}" for number in range(1600))), paper(2, "word1 kernel")]
    tree = And((*(Term(f"word{number}") for number in range(2000)), Term("cache")))
    assert best(items, tree, 100) == [1]
