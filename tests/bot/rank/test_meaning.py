"""Closeness by words and vectors together. Vectors stand at angles that are given, so that each cosine is known."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Ranked
from bot.models.vectors import pack
from bot.rank import ItemIndex, MarkedItem, diversify, rank
from bot.rank.meaning import Embeddings
from bot.rank.weights import ALIKE, ALIKE_A_TEXT, ALIKE_IN_WORDS, LOWER, MEASURED_FROM, RAISE, RELEVANCE
from tests.bot.rank.make import NOW, paper, topic
from tests.bot.rank.test_feedback import marked
from tests.bot.rank.test_ranking import days, examples, topics
from tests.conftest import tries

laws = settings(deadline=None, max_examples=tries(60))

CACHE = paper("Paging the KV cache", "Attention keeps keys and values in pages.", key="url:cache")
MEMORY = paper("Decoding without waste", "Tensors of earlier tokens are stored in blocks.", key="url:memory")
PANELS = paper("Causal panels", "Missing outcomes under staggered adoption.", key="url:panels")
DAY = [CACHE, MEMORY, PANELS]


def at(angle: float, size: int = 8) -> bytes:
    """A vector at this angle from the first axis, in radians; two of them have the cosine of the angle between."""
    row = np.zeros((1, size), np.float32)
    row[0, :2] = cos(angle), sin(angle)
    return pack(row)[0]


VECTORS = {"url:cache": at(0.0), "url:memory": at(0.5), "url:panels": at(1.5)}

angles = st.floats(0.0, 3.1)


def some_vectors(items: Sequence[Item], drawn: Sequence[float | None]) -> dict[str, bytes]:
    return {item.key: at(angle) for item, angle in zip(items, drawn, strict=False) if angle is not None}


vectored = st.lists(st.none() | angles, max_size=6)


# --- without vectors nothing changes


@laws
@given(days, topics, examples, marked, st.lists(angles, max_size=4))
def test_without_vectors_of_its_items_a_day_is_ranked_by_words_alone(
    items: list[Item], wanted: object, close: list[Item | str], with_vectors: list[MarkedItem], drawn: list[float]
) -> None:
    told = [*close, *(each.item for each in with_vectors)]
    strangers = {each if isinstance(each, str) else each.key: at(angle) for each, angle in zip(told, drawn, strict=False)}
    plain = rank(ItemIndex(items, {}, NOW), wanted, examples=close, marked=with_vectors)  # type: ignore[arg-type]
    assert rank(ItemIndex(items, {}, NOW), wanted, examples=close, marked=with_vectors, vectors=strangers) == plain  # type: ignore[arg-type]
    nowhere = ItemIndex(items, {}, NOW, vectors={"url:elsewhere": at(0.0)})
    assert rank(nowhere, wanted, examples=close, marked=with_vectors, vectors=strangers) == plain  # type: ignore[arg-type]


@laws
@given(days, topics, examples, vectored)
def test_an_item_without_a_vector_keeps_the_score_of_its_words(
    items: list[Item], wanted: object, close: list[Item | str], drawn: list[float | None]
) -> None:
    vectors = some_vectors(items, drawn)
    plain = {each.item.key: each.score for each in rank(ItemIndex(items, {}, NOW), wanted, examples=close)}  # type: ignore[arg-type]
    for each in rank(ItemIndex(items, {}, NOW, vectors=vectors), wanted, examples=close):  # type: ignore[arg-type]
        if each.item.key not in vectors:
            assert each.score == plain[each.item.key]


# --- laws of scores with vectors


@laws
@given(days, topics, examples, marked, vectored)
def test_with_vectors_too_a_score_is_the_sum_of_its_parts_and_what_was_marked_is_bounded(
    items: list[Item], wanted: object, close: list[Item | str], with_vectors: list[MarkedItem], drawn: list[float | None]
) -> None:
    index = ItemIndex(items, {}, NOW, vectors=some_vectors(items, drawn))
    marked = {each.item.key: at(0.3 * number) for number, each in enumerate(with_vectors)}
    before = {each.item.key: each.score for each in rank(index, wanted, examples=close, vectors=marked)}  # type: ignore[arg-type]
    for each in rank(index, wanted, examples=close, marked=with_vectors, vectors=marked):  # type: ignore[arg-type]
        assert 0 <= each.score <= 1
        assert sum(part.value for part in each.parts) == pytest.approx(each.score, abs=1e-9)
        assert each.score <= before[each.item.key] + RAISE * RELEVANCE + 1e-6
        assert each.score >= (1 - LOWER) * before[each.item.key] - 1e-6


@laws
@given(days, topics, examples, vectored, st.randoms(use_true_random=False))
def test_the_order_of_items_changes_no_score_with_vectors(
    items: list[Item], wanted: object, close: list[Item | str], drawn: list[float | None], chance: random.Random
) -> None:
    vectors = some_vectors(items, drawn)
    ranked = rank(ItemIndex(items, {}, NOW, vectors=vectors), wanted, examples=close)  # type: ignore[arg-type]
    chance.shuffle(items)
    again = rank(ItemIndex(items, {}, NOW, vectors=vectors), wanted, examples=close)  # type: ignore[arg-type]
    assert [(each.item, each.score) for each in again] == [(each.item, each.score) for each in ranked]


@laws
@given(st.integers(1, 40), st.integers(1, 400), st.integers(0, 9))
def test_a_cosine_is_the_same_to_the_last_bit_by_itself_and_among_others(count: int, size: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    packed = pack(rows)
    keys = [str(number) for number in range(count)]
    every = Embeddings(keys, dict(zip(keys, packed, strict=True)))
    vectors = [vector for number in range(count) if (vector := every.of_item(number))]
    together = every.cosines(vectors)
    for number, vector in enumerate(vectors):
        alone = Embeddings(["0"], {"0": packed[number]})
        assert together[number].tolist() == every.cosines([vector])[0].tolist()
        assert [row[number] for row in together.tolist()] == alone.cosines(vectors)[:, 0].tolist()


# --- how close


def close_to(example: Item | str, vectors: Mapping[str, bytes], packed: bytes | None = None) -> dict[str, float]:
    index = ItemIndex(DAY, {}, NOW, vectors=vectors)
    return {item.key: float(value) for item, value in zip(DAY, index.closeness(example, packed), strict=True)}


def test_what_means_the_same_in_other_words_is_close() -> None:
    by_words, by_both = close_to(CACHE, {}), close_to(CACHE, VECTORS)
    assert by_words["url:memory"] < 0.05 < 0.12 < by_both["url:memory"]
    assert by_both["url:panels"] < 0.05
    assert by_both["url:cache"] == 0.0


def test_a_text_and_a_stranger_are_close_by_the_vector_that_is_given() -> None:
    for example in ("an entirely different text", paper("An entirely different text", key="url:other")):
        assert close_to(example, VECTORS, at(0.1))["url:cache"] > 0.2 > close_to(example, VECTORS)["url:cache"]


def test_the_same_text_with_the_same_vector_is_as_close_as_can_be() -> None:
    again = paper(CACHE.title, CACHE.abstract, key="url:again")
    index = ItemIndex([CACHE, again], {}, NOW, vectors={"url:cache": at(0.0), "url:again": at(0.0)})
    assert index.closeness(CACHE)[1] == pytest.approx(1.0, abs=1e-6)


def test_the_scale_of_both_grows_with_each_and_ends_where_that_of_words_does() -> None:
    for scale in (ALIKE, ALIKE_A_TEXT):
        assert list(scale) == sorted(scale)
        assert (scale[0], scale[-1], len(scale)) == (0, 1, len(ALIKE_IN_WORDS))
    assert list(ALIKE_IN_WORDS) == sorted(ALIKE_IN_WORDS)
    assert (ALIKE_IN_WORDS[0], ALIKE_IN_WORDS[-1]) == (0, 1)


def test_a_vector_of_another_size_and_one_of_zeros_say_nothing() -> None:
    nothing = pack(np.zeros((1, 8), np.float32))[0]
    assert close_to("cache", VECTORS, at(0.0, size=9)) == close_to("cache", VECTORS) == close_to("cache", VECTORS, nothing)
    assert close_to(CACHE, {**VECTORS, "url:memory": nothing})["url:memory"] == close_to(CACHE, {})["url:memory"]


def test_of_another_model_it_counts_how_much_nearer_than_unrelated_a_text_is() -> None:
    """The same vectors, all moved towards one direction: as close as they were, once it is taken from the items."""
    rows = np.random.default_rng(1).normal(size=(MEASURED_FROM + 10, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[1] = rows[0] * 0.8 + rows[1] * 0.6  # two that are near
    moved = np.hstack([rows * np.float32(np.sqrt(0.3)), np.full((len(rows), 1), np.sqrt(0.7), np.float32)])
    items = [paper(f"Word{number}", key=f"url:{number}") for number in range(len(rows))]

    def nearness(table: np.ndarray, *, measured: bool) -> list[float]:
        vectors = {item.key: row for item, row in zip(items, pack(table), strict=True)}
        return list(map(float, ItemIndex(items, {}, NOW, vectors=vectors, measured=measured).closeness(items[0])))

    first, shifted, taken = nearness(rows, measured=True), nearness(moved, measured=True), nearness(moved, measured=False)
    assert shifted[1] == pytest.approx(first[1], abs=0.02)
    assert min(taken[2:]) > max(shifted[2:])


def test_of_another_model_with_too_few_items_words_alone_decide() -> None:
    index = ItemIndex(DAY, {}, NOW, vectors=VECTORS, measured=True)
    assert index.closeness(CACHE).tolist() == ItemIndex(DAY, {}, NOW).closeness(CACHE).tolist()


def test_an_index_can_be_given_other_vectors() -> None:
    first = ItemIndex(DAY, {}, NOW)
    rank(first, topic("", "cache"), examples=[CACHE])
    told = first.with_vectors(VECTORS)
    made = ItemIndex(DAY, {}, NOW, vectors=VECTORS)
    for index, other in ((told, made), (told.with_vectors({}), first), (told.at(NOW, {}), made)):
        assert rank(index, topic("", "cache"), examples=[CACHE]) == rank(other, topic("", "cache"), examples=[CACHE])


def test_items_beside_others_are_close_to_these_by_their_vectors() -> None:
    stranger = paper("Blocks of tensors", key="url:blocks")
    index = ItemIndex(DAY, {}, NOW, vectors=VECTORS)
    (near,) = index.beside([stranger], {}, {"url:blocks": at(0.1)}).closeness("url:cache")
    (by_words,) = index.beside([stranger], {}).closeness("url:cache")
    assert near > 0.3 > by_words


def test_an_item_has_the_same_score_beside_the_index_as_in_it() -> None:
    index = ItemIndex(DAY, {}, NOW, vectors=VECTORS)
    asked = {"examples": [CACHE, "pages of tensors"], "marked": [MarkedItem(CACHE, 1, 0)]}
    texts = {"pages of tensors": at(0.4)}
    inside = {each.item.key: each for each in rank(index, topic("", "tensors"), vectors=texts, **asked)}  # type: ignore[arg-type]
    alone = index.beside([MEMORY], {}, VECTORS)
    (beside,) = rank(alone, topic("", "tensors"), vectors=texts, **asked)  # type: ignore[arg-type]
    assert beside == inside["url:memory"]


# --- what was marked, and twins


def ranked(
    with_vectors: list[MarkedItem], vectors: Mapping[str, bytes], marked: Mapping[str, bytes] | None = None
) -> dict[str, Ranked]:
    index = ItemIndex(DAY[1:], {}, NOW, vectors=vectors)
    return {each.item.key: each for each in rank(index, topic(), marked=with_vectors, vectors=marked or VECTORS)}


def test_more_raises_what_means_the_same_and_names_what_was_liked() -> None:
    plain, with_vectors = ranked([], VECTORS), ranked([MarkedItem(CACHE, 1, 0)], VECTORS)
    assert with_vectors["url:memory"].score > plain["url:memory"].score + 0.03
    assert with_vectors["url:panels"].score == pytest.approx(plain["url:panels"].score, abs=0.01)
    assert 'close to "Paging the KV cache" you liked' in with_vectors["url:memory"].reasons


def test_less_lowers_what_means_the_same() -> None:
    index = ItemIndex(DAY[1:], {}, NOW, vectors=VECTORS)
    wanted = topic("", "tensors", "outcomes")
    plain = {each.item.key: each.score for each in rank(index, wanted)}
    with_vectors = rank(index, wanted, marked=[MarkedItem(CACHE, 0, 3)], vectors=VECTORS)
    scores = {each.item.key: each for each in with_vectors}
    assert scores["url:memory"].score < plain["url:memory"] - 0.02
    assert 'close to "Paging the KV cache" you wanted less of' in scores["url:memory"].reasons


def test_vectors_have_their_part_of_what_a_dozen_marks_teach_and_less_of_what_more_do() -> None:
    plain = ranked([], VECTORS)["url:memory"].score

    def raised(count: int) -> float:
        liked = [paper("Pages", "Keys and values.", key=f"url:liked-{number}") for number in range(count)]
        alike = VECTORS | {each.key: at(0.5) for each in liked}
        return ranked([MarkedItem(each, 1, 0) for each in liked], alike, alike)["url:memory"].score - plain

    assert raised(12) > raised(1) > 0
    assert 0 < raised(24) < raised(12) * 0.6


def test_a_marked_item_without_a_vector_teaches_by_its_words() -> None:
    assert ranked([MarkedItem(CACHE, 1, 0)], VECTORS, {"url:x": at(0.0)}) == ranked([MarkedItem(CACHE, 1, 0)], {})


def test_two_studies_in_other_words_are_twins_by_their_vectors() -> None:
    text = "A base station turns its antennas to serve the users of its cell, and learns from echoes where they are."
    first = paper("Antennas that rotate at base stations", text, key="url:a")
    second = paper(
        "Rotating antennas in cells",
        "We steer antennas of a cell by turning them, and a learner finds users in the echoes that come back.",
        key="url:b",
    )
    items = [first, second, PANELS]

    def kept(vectors: Mapping[str, bytes]) -> list[str]:
        index = ItemIndex(items, {}, NOW, vectors=vectors)
        return [each.item.key for each in diversify(index, [Ranked(item, 0.5) for item in items]).kept]

    without = ItemIndex(items, {}, NOW)
    given = without.with_vectors({"url:a": at(0.0), "url:b": at(0.05)})
    assert [index.sameness(0)[1] >= 1 for index in (without, given, without)] == [False, True, False]
    assert kept({}) == ["url:a", "url:b", "url:panels"]
    assert kept({"url:a": at(0.0), "url:b": at(0.05)}) == ["url:a", "url:panels"]


# --- entering by meaning


def entered(query: str, **more: object) -> list[str]:
    """The keys of what enters a topic about the first of the day: by its query, or by being near to an example."""
    wanted = replace(topic(query), **more)  # type: ignore[arg-type]
    index = ItemIndex(DAY, {}, NOW, vectors=VECTORS)
    return [each.item.key for each in rank(index, wanted, examples=["A text"], vectors={"A text": at(0.0), **DESCRIBED})]


DESCRIBED = {"T. All about caches": at(0.1)}


def test_what_is_near_to_the_examples_enters_without_the_words_of_the_query() -> None:
    assert set(entered('"KV cache"')) == {"url:cache", "url:memory"}


def test_what_is_near_to_the_description_enters_too_and_is_told_to_be() -> None:
    wanted = replace(topic('"KV cache"'), description="All about caches")
    ranked = rank(ItemIndex(DAY, {}, NOW, vectors=VECTORS), wanted, vectors=DESCRIBED)
    assert [each.item.key for each in ranked] == ["url:cache", "url:memory"]
    assert "close to the topic's description" in ranked[1].reasons


@pytest.mark.parametrize("query", ['"KV cache" -blocks', '"KV cache" kind:repo', '"KV cache" stars:>5'])
def test_meaning_lets_in_nothing_that_the_query_asks_for_besides_words_keeps_out(query: str) -> None:
    assert "url:memory" not in entered(query)


def test_meaning_lets_in_nothing_from_a_source_that_the_topic_leaves_out() -> None:
    assert entered('"KV cache"', sources=("github",)) == []


def test_without_a_vector_nothing_enters_by_meaning() -> None:
    index = ItemIndex(DAY, {}, NOW)
    ranked = rank(index, topic('"KV cache"'), examples=["Tensors of earlier tokens are stored in blocks."])
    assert [each.item.key for each in ranked] == ["url:cache"]
