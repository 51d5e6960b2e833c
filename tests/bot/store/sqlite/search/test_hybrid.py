"""A search for words and their meaning where more has the words than both orders put together."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bot.models import And, Item, Kind, Label, Near, Not, Number, Query, Term, Tree, When
from bot.models.vectors import NEAR, Floats, pack, split, unpack
from bot.store.rules.answers import answering
from bot.store.rules.fusion import BY_WORDS, WIDENED, fuse
from bot.store.rules.nearest import EXACT, Close, Ids, Nearest, Table, signs_of
from bot.store.sqlite.store import SqliteStore

NOW = datetime(2026, 4, 1, tzinfo=UTC)
SPACE = "random-1"
MANY = BY_WORDS + 60
FAR = EXACT + 100


def rows(count: int, size: int = 8, seed: int = 3) -> Floats:
    made = np.random.default_rng(seed).standard_normal((count, size)).astype(np.float32)
    unit: Floats = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


async def filled(store: SqliteStore, cats: int, others: int) -> Near:
    """Store so many papers with the word, and others without it, each with a vector; return what one of the last means."""
    items = [Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Cats", categories=("cs.LG",)) for number in range(cats)]
    items += [Item(key=f"arxiv:9{number:04}", kind=Kind.PAPER, title="Felines") for number in range(others)]
    vectors = pack(rows(len(items)))
    await store.open()
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items, vectors, quick=False)
    return Near(SPACE, vectors[-1], NEAR)


@pytest.mark.parametrize("size", [7, 50, MANY])
async def test_what_is_not_among_the_best_by_words_follows_however_pages_are_cut(store: SqliteStore, size: int) -> None:
    near = await filled(store, MANY, 30)
    query = Query("", And((Term("cats"),)))
    keys: list[str] = []
    relevances: list[float] = []
    while True:
        page = await store.index.search(query, NOW, limit=size, offset=len(keys), near=near)
        keys += [hit.item.key for hit in page.hits]
        relevances += [hit.relevance for hit in page.hits]
        if not page.more:
            break
    words = {hit.item.key for hit in (await store.index.search(query, NOW, limit=2 * MANY)).hits}
    assert len(keys) == len(set(keys))
    assert words < set(keys)
    assert relevances == sorted(relevances, reverse=True)
    assert keys.index("arxiv:90029") < 20


async def test_a_list_with_a_mark_goes_on_behind_what_was_shown(store: SqliteStore) -> None:
    near = await filled(store, MANY, 30)
    query = Query("", And((Term("cats"),)))
    whole = [hit.item.key for hit in (await store.index.search(query, NOW, limit=2 * MANY, near=near)).hits]
    first = await store.index.search(query, NOW, limit=40, near=near)
    await store.items.add([Item(key="arxiv:77777", kind=Kind.PAPER, title="Cats, cats")], NOW)
    keys = [hit.item.key for hit in first.hits]
    while len(keys) < len(whole):
        page = await store.index.search(query, NOW, limit=40, offset=len(keys), mark=first.mark, near=near)
        keys += [hit.item.key for hit in page.hits]
    assert keys[:40] == whole[:40]
    assert sorted(keys) == sorted(whole)


async def test_no_more_is_found_by_its_meaning_than_is_worth_leafing_through(store: SqliteStore) -> None:
    items = [Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Felines", categories=("cs.LG",)) for number in range(1400)]
    (vector,) = pack(rows(1))
    await store.open()
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items, [vector] * len(items), quick=False)
    for parts in ((Term("cats"),), (Term("cats"), Label("category", "cs.lg"))):
        page = await store.index.search(Query("", And(parts)), NOW, limit=999, near=Near(SPACE, vector, NEAR))
        assert len(page.hits) == WIDENED


# Of everything, of most and of few; and of none of the closest 5,000, where what is measured first does not reach.
CONDITIONS: tuple[tuple[Tree, Callable[[int], bool]], ...] = (
    (And(()), lambda number: True),
    (Label("category", "cs.lg"), lambda number: number % 9 == 0),
    (Not(Label("category", "cs.lg")), lambda number: number % 9 != 0),
    (Term("paws", quoted=True), lambda number: number % 5 == 0),
    (When("published", oldest=60.0), lambda number: number % 100 <= 60),
    (When("published", youngest=98.5), lambda number: number % 100 == 99),
    (And((Label("category", "cs.lg"), When("published", oldest=9.5))), lambda number: number % 9 == 0 and number % 100 < 10),
    (Number("stars", low=1), lambda number: number >= FAR),
    (And((Number("stars", low=1), Not(Term("paws")))), lambda number: number >= FAR and number % 5 != 0),
    (Term("whiskers", quoted=True), lambda number: number >= FAR),
    (Term("tail", quoted=True), lambda number: False),
)


async def test_under_every_condition_the_closest_are_found_of_all_that_satisfy_it(store: SqliteStore) -> None:
    items = [
        Item(
            key=f"arxiv:{number}",
            kind=Kind.PAPER,
            title=f"Felines{' with paws' * (number % 5 == 0)}{' and whiskers' * (number >= FAR)}",
            categories=() if number % 9 else ("cs.LG",),
            published=NOW - timedelta(days=number % 100),
            stars=int(number >= FAR),
        )
        for number in range(FAR + 200)
    ]
    asked, *sides = rows(1 + len(items), 64)
    angles = np.linspace(0.1, 1.1, len(items))[:, None]  # the last of them has a cosine of .45
    across = np.stack(sides) - (np.stack(sides) @ asked)[:, None] * asked
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    vectors = pack((np.cos(angles) * asked + np.sin(angles) * across).astype(np.float32))
    near = Near(SPACE, pack(asked[None])[0], NEAR)
    cosines = unpack(vectors) @ unpack([near.vector])[0]
    await store.open()
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items, vectors, quick=False)
    for condition, holds in CONDITIONS:
        query = Query("", And((Term("cats"), *(condition.parts if isinstance(condition, And) else (condition,)))))
        for enough, end in product((NEAR, 0.7), (len(items), 2000)):
            mark = "" if end == len(items) else str(end)
            page = await store.index.search(query, NOW, limit=999, mark=mark, near=replace(near, enough=enough))
            found = {int(hit.item.key.removeprefix("arxiv:")) for hit in page.hits}
            right = {number for number in range(end) if holds(number) and cosines[number] >= enough}
            others = right.difference(found)
            assert found <= right
            assert len(found) == min(WIDENED, len(right))
            assert not others or cosines[list(found)].min() >= cosines[list(others)].max() - 1e-6


def test_the_first_pass_loses_next_to_nothing_of_what_is_closest() -> None:
    made = rows(2 * EXACT, 384)
    packed = pack(made)
    nearest = Nearest(384)
    for at in range(0, len(packed), 1000):
        nearest.put(np.arange(at + 1, at + 1001), packed[at : at + 1000])
    asked = unpack(packed[:20]) * 0.7 + rows(20, 384, seed=4) * 0.7
    kept = []
    for vector in asked.astype(np.float32):
        exact = np.argsort(-(made @ vector))[:10] + 1
        kept.append(len(np.intersect1d(exact, nearest.closest(vector, 10).ids)) / 10)
    assert np.mean(kept) > 0.9


def test_of_many_the_closest_ten_are_among_those_that_both_first_passes_leave() -> None:
    made = rows(12 * EXACT, 64)
    packed = pack(made)
    nearest = Nearest(64)
    nearest.put(np.arange(1, len(packed) + 1), packed)
    asked = unpack(packed[:20]) * 0.8 + rows(20, 64, seed=4) * 0.6
    kept = []
    for vector in asked.astype(np.float32):
        exact = np.argsort(-(made @ vector))[:10] + 1
        kept.append(len(np.intersect1d(exact, nearest.closest(vector, 10).ids)) / 10)
    assert np.mean(kept) > 0.9


@pytest.mark.parametrize("count", [9, 2 * EXACT, 5 * EXACT])
def test_vectors_of_a_table_and_beside_it_are_found_as_if_all_were_beside(count: int) -> None:
    """Some of the table were replaced or removed since; what is free, or was left, is nobody's."""
    first, later = pack(rows(count, 70)), pack(rows(count, 70, seed=5))
    ids = np.arange(count) * 2 + 3
    steps, scales = split(first)
    nearest = Nearest(70, ids, Table(steps, scales, np.ascontiguousarray(signs_of(steps))))
    replaced, added = np.arange(0, count, 3), np.arange(count // 2) * 2 + 4
    nearest.put(ids[replaced], [later[at] for at in replaced])
    nearest.put(added, later[: len(added)])
    gone = np.concatenate([ids[::4], added[::5]])
    nearest.remove(gone)
    now = dict(zip(ids.tolist(), first, strict=True))
    now |= {int(ids[at]): later[at] for at in replaced} | dict(zip(added.tolist(), later[: len(added)], strict=True))
    whole = Nearest(70)
    kept = sorted(now.keys() - set(gone.tolist()))
    whole.put(np.array(kept), [now[number] for number in kept])
    assert len(nearest) == len(whole) == len(kept)
    some = np.array(kept[:: 2 if count < EXACT else 1][: 4 * EXACT])
    for vector in unpack(pack(rows(8, 70, seed=6))):
        for found, right in (
            (nearest.closest(vector, 7), whole.closest(vector, 7)),
            (nearest.closest(vector, 7, some), whole.closest(vector, 7, some)),
            (nearest.near(vector, 0.2)[0], whole.near(vector, 0.2)[0]),
        ):
            assert found.ids.tolist() == right.ids.tolist()
            assert found.cosines.tolist() == right.cosines.tolist()
        assert nearest.near(vector, 0.2)[1] == whole.near(vector, 0.2)[1]
    assert np.allclose(nearest.together(some[:9]), whole.together(some[:9]), atol=1e-6)
    assert np.isnan(nearest.cosines(vector, gone)).all()


def test_where_much_of_what_is_measured_is_near_nobody_says_that_it_is_all() -> None:
    made = rows(1, 64) + 0.08 * rows(4 * EXACT, 64, seed=4)
    nearest = Nearest(64)
    nearest.put(np.arange(1, len(made) + 1), pack((made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)))
    (asked,) = rows(1, 64)
    close, complete = nearest.near(asked, 0.5)
    assert len(close.ids) >= EXACT
    assert not complete
    assert nearest.near(-asked, 0.5)[1]


def test_what_is_removed_is_not_found_and_its_place_is_used_again() -> None:
    nearest, (first, second) = Nearest(8), pack(rows(2))
    nearest.put(np.array([5, 3000]), [first, second])
    nearest.remove(np.array([5, 5, 7]))
    nearest.put(np.array([9]), [first])
    (asked,) = unpack([first])
    assert len(nearest) == 2
    assert nearest.closest(asked, 5).ids.tolist() == [9, 3000]
    assert np.isnan(nearest.cosines(asked, np.array([5, -1, 99_999]))).all()
    with pytest.raises(ValueError, match="4 numbers among those of 8"):
        nearest.put(np.array([1]), pack(rows(1, 4)))


def test_what_has_every_word_comes_before_what_is_a_little_closer() -> None:
    words = [(1, 5.0), (2, 5.0)]
    close = Close(np.array([2, 3]), np.array([0.6, 0.95], np.float32))
    cosines = np.array([0.45, 0.6], np.float32)

    def order(whole: int) -> list[int]:
        return [number for number, _ in fuse(words, whole, cosines, close, unlike, of_today, NOW)]

    assert order(0) == [2, 3, 1]
    assert order(1) == [1, 2, 3]
    assert order(2) == [2, 1, 3]


def test_without_a_word_or_a_vector_there_is_nothing_to_put_together() -> None:
    nothing = Close(np.empty(0, np.int64), np.empty(0, np.float32))

    def alike(first: Ids, ids: Ids) -> Floats:
        raise AssertionError("there is nothing to be like")

    assert fuse([], 0, np.empty(0, np.float32), nothing, alike, of_today, NOW) == []


def test_of_what_fits_alike_the_newer_comes_first_and_a_better_match_before_it() -> None:
    words = [(1, 5.0), (2, 5.0), (3, 5.0)]
    close = Close(np.empty(0, np.int64), np.empty(0, np.float32))
    ages = {1: 700, 2: 3, 3: 900}

    def new(ids: Ids) -> list[datetime]:
        return [NOW - timedelta(days=ages[number]) for number in ids.tolist()]

    def order(*cosines: float) -> list[int]:
        rows = np.array(cosines, np.float32)
        return [number for number, _ in fuse(words, 3, rows, close, unlike, new, NOW)]

    assert order(0.5, 0.5, 0.5) == [2, 1, 3]
    assert order(0.5, 0.5, 0.6) == [3, 2, 1]


def test_what_has_some_of_the_words_and_means_something_else_is_no_answer() -> None:
    cosines = np.array([0.1, 0.1, 0.35, np.nan, 0.35, 0.4, np.nan], np.float32)
    assert answering(cosines, 1, 3, 0.42).tolist() == [True, False, True, True, False, True, False]
    assert answering(cosines, 1, 3, 2.0).tolist() == [True] * 4 + [False] * 3


def unlike(_first: Ids, ids: Ids) -> Floats:
    return np.zeros(len(ids), np.float32)


def of_today(ids: Ids) -> list[datetime]:
    return [NOW] * len(ids)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(tmp_path / "hybrid.db")
    yield made
    await made.close()
