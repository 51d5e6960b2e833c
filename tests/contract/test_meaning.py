"""Searching for what is meant: vectors reorder what has the words, and widen to what is near enough without them."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.models import And, Item, Kind, Label, Near, Not, Or, Query, Term, Tree, When
from bot.models.vectors import NEAR, pack
from bot.query import Folded, matches
from bot.store.rules.answers import LOOSELY
from tests.conftest import NOW, tries
from tests.contract.both import with_both
from tests.stores import AnyStore

SPACE = "plane-1"
at_ease = settings(deadline=None, max_examples=tries(25), suppress_health_check=[HealthCheck.too_slow])


def paper(number: int, title: str = "Cats", abstract: str = "", **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=title, abstract=abstract, seen=NOW)
    return replace(plain, **changes)  # type: ignore[arg-type]


def towards(degrees: float) -> bytes:
    """Return a vector of two numbers that points there."""
    angle = math.radians(degrees)
    return pack(np.array([[math.cos(angle), math.sin(angle)]], np.float32))[0]


def near(degrees: float = 0, space: str = SPACE) -> Near:
    return Near(space, towards(degrees), NEAR)


def best(*parts: Tree) -> Query:
    return Query("", And(parts))


async def fill(store: AnyStore, angles: Mapping[Item, float | None]) -> None:
    """Store the items, each with a vector that points so many degrees away from what is asked."""
    await store.items.add(list(angles), NOW)
    given_ = {item: angle for item, angle in angles.items() if angle is not None}
    await store.vectors.save(SPACE, list(given_), list(map(towards, given_.values())), quick=False)


async def found(store: AnyStore, query: Query, near_: Near | None = None, limit: int = 20) -> list[str]:
    page = await store.index.search(query, NOW, limit=limit, near=near_)
    relevances = [hit.relevance for hit in page.hits]
    assert relevances == sorted(relevances, reverse=True)
    return [hit.item.key.removeprefix("arxiv:") for hit in page.hits]


async def test_what_is_close_is_found_without_the_words_and_what_is_far_is_not(store: AnyStore) -> None:
    await fill(store, {paper(1, "Felines"): 10, paper(2, "Bridges"): 80, paper(3, "Tigers"): 40, paper(4, "Lions"): None})
    assert await found(store, best(Term("cats")), near()) == ["1", "3"]
    assert await found(store, best(Term("cats"))) == []


async def test_whatever_has_the_words_stays_found_however_far_it_is(store: AnyStore) -> None:
    await fill(store, {paper(1): 170, paper(2): None, paper(3, "Felines"): 0, paper(4): 5})
    everything = await found(store, best(Term("cats")), near())
    assert set(everything) == {"1", "2", "3", "4"}
    assert everything[0] == "4"
    assert everything[-1] == "1"


async def test_of_two_that_have_the_words_alike_the_closer_one_comes_first(store: AnyStore) -> None:
    await fill(store, {paper(1): 30, paper(2): 50, paper(3): 10})
    assert await found(store, best(Term("cats")), near()) == ["3", "1", "2"]
    assert await found(store, best(Term("cats")), near(60)) == ["2", "1", "3"]


async def test_without_any_vector_the_order_is_that_of_the_words(store: AnyStore) -> None:
    await fill(store, {paper(1, "Cats and dogs"): None, paper(2, "Dogs"): None, paper(3, "Cats, cats, dogs"): None})
    words = best(Term("cats"), Term("dogs"))
    assert await found(store, words, near()) == await found(store, words)
    await store.vectors.save("other-1", [paper(2, "Dogs")], [towards(0)], quick=False)
    assert await found(store, words, near()) == await found(store, words)


async def test_what_is_found_by_its_meaning_satisfies_everything_else(store: AnyStore) -> None:
    await fill(
        store,
        {
            paper(1, "Felines", "whiskers", categories=("cs.LG",)): 5,
            paper(2, "Felines", "whiskers", categories=("cs.CV",)): 5,
            paper(3, "Felines", "paws", categories=("cs.LG",)): 5,
            paper(4, "Felines", "whiskers and paws", categories=("cs.LG",)): 5,
            paper(5, "Felines", "whiskers", categories=("cs.LG",), published=NOW - timedelta(days=99)): 5,
        },
    )
    cats, whiskers = Term("cats"), Term("whiskers", quoted=True)
    assert await found(store, best(cats, Label("category", "cs.lg")), near()) == ["4", "3", "1", "5"]
    assert await found(store, best(cats, whiskers, Not(Term("paws"))), near()) == ["2", "1", "5"]
    assert await found(store, best(cats, Term("whiskers", "abstract"), Label("category", "cs.cv")), near()) == ["2"]
    assert await found(store, best(cats, When("published", oldest=100.0)), near()) == ["5"]
    assert await found(store, best(cats, Term("tail", quoted=True)), near()) == []


async def test_pages_by_meaning_are_not_those_of_the_same_words_alone(store: AnyStore) -> None:
    await fill(store, {paper(1, "Cats", published=NOW): 73, paper(2, "Birds", published=NOW): None})
    query = best(Term("cats"), Term("birds"))
    by_words = await store.index.search(query, NOW, limit=2)
    page = await store.index.search(query, NOW, limit=1, near=near())
    assert (len(by_words.hits), len(page.hits), page.more, page.mark) == (2, 1, False, by_words.mark)
    assert not (await store.index.search(query, NOW, limit=1, offset=1, mark=page.mark, near=near())).hits


@pytest.mark.parametrize("sort", ["new", "stars", "upvotes"])
async def test_in_another_order_the_meaning_says_nothing(store: AnyStore, sort: str) -> None:
    await fill(store, {paper(1, "Felines"): 0, paper(2): 80})
    assert await found(store, Query("", Term("cats"), sort), near()) == ["2"]


async def test_a_search_without_a_bare_word_is_not_widened(store: AnyStore) -> None:
    await fill(store, {paper(1, "Felines"): 0, paper(2): 80})
    for tree in (Term("cats", quoted=True), Term("cats", "title"), Term("cat", prefix=True), Term("!!!")):
        assert await found(store, best(tree), near()) == await found(store, best(tree))


async def test_a_vector_of_another_space_or_size_finds_nothing(store: AnyStore) -> None:
    await fill(store, {paper(1, "Felines"): 0, paper(2): 80})
    three = Near(SPACE, pack(np.array([[1, 0, 0]], np.float32))[0], NEAR)
    for other in (near(space="other-1"), three):
        assert await found(store, best(Term("cats")), other) == ["2"]
        assert [hit.item.key for hit in await store.index.similar(paper(9, "Dogs"), NOW, near=other)] == []


async def test_a_search_follows_what_becomes_of_the_vectors(store: AnyStore) -> None:
    items = [paper(number, f"Felines {number}") for number in range(1, 5)]
    await fill(store, dict.fromkeys(items, 0))
    cats = best(Term("cats"))
    assert await found(store, cats, near()) == ["4", "3", "2", "1"]
    await store.vectors.save(SPACE, items[:1], [towards(90)], quick=False)
    assert await found(store, cats, near()) == ["4", "3", "2"]
    await store.items.add([paper(2, "Lions")], NOW, retired=["arxiv:3"])
    assert await found(store, cats, near()) == ["4"]
    await store.vectors.save("other-1", items[3:], [towards(0)], quick=False)
    assert await found(store, cats, near()) == []
    assert await found(store, cats, near(space="other-1")) == ["4"]
    await store.maintenance.prune(items_before=NOW - timedelta(days=1), readings_before=NOW.date(), now=NOW)
    await store.vectors.save(SPACE, [paper(2, "Lions"), paper(5)], [towards(20), towards(0)], quick=True)
    assert await found(store, cats, near()) == ["2"]


async def test_what_is_similar_is_so_by_words_and_meaning(store: AnyStore) -> None:
    asked = paper(1, "Cats", "Whiskers and paws.")
    await fill(
        store, {asked: 0, paper(2, "Cats", "Whiskers and paws."): 60, paper(3, "Felines"): 5, paper(4, "Bridges"): 85}
    )
    hits = await store.index.similar(asked, NOW, near=near())
    assert [hit.item.key for hit in hits] == ["arxiv:2", "arxiv:3"]
    assert [round(hit.relevance, 2) for hit in hits] == [0.8, 0.4]
    assert [hit.item.key for hit in await store.index.similar(asked, NOW)] == ["arxiv:2"]
    (same,) = (hit for hit in await store.index.similar(paper(9, "Felines"), NOW, near=near(5)) if hit.item.key == "arxiv:3")
    assert same.relevance > 0.99


async def test_from_where_on_something_is_similar_goes_by_what_is_near_for_the_embedder(store: AnyStore) -> None:
    asked = paper(1, "Cats", "Whiskers and paws.")
    await fill(store, {asked: 0, paper(2, "Felines"): 50})
    for enough, similar in ((0.42, ["arxiv:2"]), (0.48, []), (0.7, []), (1.1, [])):
        hits = await store.index.similar(asked, NOW, near=replace(near(), enough=enough))
        assert [hit.item.key for hit in hits] == similar, "a cosine of .64, and no word in common"


# --- laws

WORDS = ("cats", "dogs", "birds")
items = st.builds(
    lambda number, words, category, days: paper(
        number, " ".join(words) or "none", categories=(category,), published=NOW - timedelta(days=days)
    ),
    st.integers(0, 25),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.sampled_from(("cs.LG", "cs.CV")),
    st.integers(0, 30),
)
angles = st.none() | st.integers(0, 180).filter(lambda angle: angle != 65)  # whose cosine is the floor, but for rounding
strict = st.sampled_from(
    (
        Label("category", "cs.lg"),
        Not(Term("dogs")),
        Term("birds", quoted=True),
        Term("cats", "title"),
        When("published", oldest=20.0),
    )
)


@at_ease
@given(st.lists(st.tuples(items, angles), max_size=20), st.lists(strict, max_size=2), st.integers(1, 4))
def test_every_store_finds_the_same_and_all_of_it_is_strict_and_pages_are_of_one_list(
    given_: Sequence[tuple[Item, float | None]], conditions: list[Tree], size: int
) -> None:
    last = {item.key: (item, angle) for item, angle in given_}
    query = best(Term("cats"), Term("birds"), *conditions)
    answers: list[list[str]] = []

    async def test(store: AnyStore) -> None:
        await fill(store, dict(last.values()))
        page = await store.index.search(query, NOW, limit=99, near=near())
        keys = [hit.item.key for hit in page.hits]
        assert len(keys) == len(set(keys))
        assert all(matches(And(tuple(conditions)), Folded(hit.item), NOW) for hit in page.hits)
        words = [hit.item.key for hit in (await store.index.search(query, NOW, limit=99)).hits]
        near_enough = {
            item.key for item, angle in last.values() if angle is not None and math.cos(math.radians(angle)) > NEAR
        }
        strictly = {item.key for item, _ in last.values() if matches(And(tuple(conditions)), Folded(item), NOW)}
        some = {item.key for item, _ in last.values() if matches(Or((Term("cats"), Term("birds"))), Folded(item), NOW)}
        assert near_enough & strictly <= set(keys) <= {*words, *some, *near_enough} & strictly
        assert {item.key for item, _ in last.values() if _has_all(item)} & strictly <= set(keys)
        assert all(_is_loosely_near(*last[key]) for key in keys)
        await _in_pages(store, query, size, keys)
        answers.append(sorted(keys))

    asyncio.run(with_both(test))
    assert answers[0] == answers[1]


def _has_all(item: Item) -> bool:
    return matches(And((Term("cats"), Term("birds"))), Folded(item), NOW)


def _is_loosely_near(item: Item, angle: float | None) -> bool:
    return _has_all(item) or angle is None or math.cos(math.radians(angle)) > LOOSELY * NEAR - 0.01


async def _in_pages(store: AnyStore, query: Query, size: int, keys: list[str]) -> None:
    first = await store.index.search(query, NOW, limit=size, near=near())
    for mark in ("", first.mark):
        pages = [
            await store.index.search(query, NOW, limit=size, offset=offset, mark=mark, near=near())
            for offset in range(0, len(keys) + size, size)
        ]
        assert [hit.item.key for page in pages for hit in page.hits] == keys
        assert [page.more for page in pages] == [offset + size < len(keys) for offset in range(0, len(keys) + size, size)]


async def test_nothing_is_found_by_its_meaning_alone_where_nobody_knows_what_is_near(store: AnyStore) -> None:
    await fill(store, {paper(1, "Felines"): 0, paper(2): 80})
    unknown = replace(near(), enough=math.inf)
    assert await found(store, best(Term("cats")), near()) == ["1", "2"]
    assert await found(store, best(Term("cats")), unknown) == ["2"]
