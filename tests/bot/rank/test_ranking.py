import random
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.models import Interest, Item, Link, Query, Ranked, Reading, Topic, Tree
from bot.models.vectors import pack
from bot.query import matches, unparse_tree
from bot.rank import ItemIndex, MarkedItem, TopicInputs, description_text, diversify, rank, score
from bot.rank.weights import BY_EXAMPLES, BY_PHRASES, RELEVANCE
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, repo, topic
from tests.conftest import tries

days = st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key)
weights = st.sampled_from((-3.0, -1.0, 0.5, 1.0, 2.5))
interests = st.builds(Interest, generate.clauses(score=False).map(unparse_tree), weights)
topics = st.builds(
    Topic,
    name=st.just("t"),
    title=st.just("T"),
    query=st.just(Query("")) | generate.trees().map(lambda tree: Query("", tree)),
    interests=st.lists(interests, max_size=4).map(tuple),
)
examples = st.lists(
    generate.items() | st.sampled_from(("sparse attention", "KV cache of GPUs", "arxiv:2606.01234", "")), max_size=4
)
laws = settings(deadline=None, max_examples=tries(80))


PARTS = ("phrases", "labels", "description", "examples", "feedback", "community", "freshness")


def scores(index: ItemIndex, wanted: Topic) -> dict[str, float]:
    return {each.item.key: each.score for each in rank(index, wanted)}


# --- laws


@laws
@given(days, topics, examples)
def test_a_score_lies_between_0_and_1_and_is_the_sum_of_its_parts(
    items: list[Item], wanted: Topic, close: list[Item | str]
) -> None:
    for each in rank(ItemIndex(items, {}, NOW), wanted, examples=close):
        assert 0 <= each.score <= 1
        assert sum(part.value for part in each.parts) == pytest.approx(each.score, abs=1e-9)
        names = [part.name for part in each.parts]
        assert [name for name in PARTS if name in names] == names
        assert {"phrases", "examples", "community", "freshness"} <= set(names)
        assert all(part.value >= 0 for part in each.parts if part.name not in ("phrases", "labels"))
        assert 0 <= each.relevance <= RELEVANCE


@laws
@given(days, topics, examples)
def test_what_is_ranked_is_what_the_query_admits_best_first(
    items: list[Item], wanted: Topic, close: list[Item | str]
) -> None:
    ranked = rank(ItemIndex(items, {}, NOW), wanted, examples=close)
    assert {each.item.key for each in ranked} == {item.key for item in items if matches(wanted.query.tree, item, NOW)}
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)


@laws
@given(days, topics, examples, st.randoms(use_true_random=False))
def test_the_order_in_which_items_and_examples_come_changes_nothing(
    items: list[Item], wanted: Topic, close: list[Item | str], chance: random.Random
) -> None:
    ranked = rank(ItemIndex(items, {}, NOW), wanted, examples=close)
    chance.shuffle(items)
    chance.shuffle(close)
    again = rank(ItemIndex(items, {}, NOW), wanted, examples=close)
    assert [(each.item, each.score) for each in again] == [(each.item, each.score) for each in ranked]


@laws
@given(days, topics, generate.clauses(score=False).map(unparse_tree), st.sampled_from((0.5, 1.0, 3.0)))
def test_one_more_interest_never_lowers_a_score(items: list[Item], wanted: Topic, clause: str, weight: float) -> None:
    index = ItemIndex(items, {}, NOW)
    wanted = replace(wanted, interests=(*wanted.interests, Interest("attention", 1.0)))
    before = scores(index, wanted)
    after = scores(index, replace(wanted, interests=(*wanted.interests, Interest(clause, weight))))
    assert all(after[key] >= before[key] - 1e-9 for key in before)


@laws
@given(days, topics, generate.clauses(score=False).map(unparse_tree), st.sampled_from((-0.5, -1.0, -3.0)))
def test_what_speaks_against_an_item_never_raises_its_score(
    items: list[Item], wanted: Topic, clause: str, weight: float
) -> None:
    index = ItemIndex(items, {}, NOW)
    before = scores(index, wanted)
    after = scores(index, replace(wanted, interests=(*wanted.interests, Interest(clause, weight))))
    assert all(after[key] <= before[key] + 1e-9 for key in before)


@laws
@given(days, topics, examples)
def test_the_first_few_are_the_first_of_all(items: list[Item], wanted: Topic, close: list[Item | str]) -> None:
    index = ItemIndex(items, {}, NOW)
    assert rank(index, wanted, examples=close, top=2) == rank(index, wanted, examples=close)[:2]


@laws
@given(days, topics, topics)
def test_topics_do_not_touch_each_other(items: list[Item], wanted: Topic, other: Topic) -> None:
    index = ItemIndex(items, {}, NOW)
    rank(index, other)
    assert rank(index, wanted) == rank(ItemIndex(items, {}, NOW), wanted)


@st.composite
def inputs(draw: st.DrawFn, items: list[Item]) -> TopicInputs:
    """A topic with examples and marks, of the day's items too, and with vectors of some of them."""
    wanted = replace(draw(topics), description=draw(st.sampled_from(("", "Sparse attention on GPUs."))))
    known = st.lists(st.sampled_from(items), max_size=3) if items else st.just([])
    close = [*draw(examples), *draw(known)]
    marked = [MarkedItem(item, *draw(st.sampled_from(((1, 0), (0, 1), (2, 1))))) for item in draw(known)]
    names = [each if isinstance(each, str) else each.key for each in close] + [description_text(wanted)]
    vectors = {name: packed(draw(st.integers(0, 9))) for name in names if draw(st.booleans())}
    among = draw(st.none() | st.lists(st.booleans(), min_size=len(items), max_size=len(items)))
    sources = draw(st.sampled_from(((), ("arxiv",), ("feed",))))
    claims = None if among is None else np.array(among, bool)
    return TopicInputs(replace(wanted, sources=sources), close, marked, vectors, claims)


def packed(number: int) -> bytes:
    (vector,) = pack(np.random.default_rng(number).normal(size=(1, 16)).astype(np.float32))
    return vector


@laws
@given(days, st.data(), st.sets(st.integers(0, 5)))
def test_many_topics_are_scored_together_as_each_is_alone(
    items: list[Item], data: st.DataObject, embedded: set[int]
) -> None:
    asked = data.draw(st.lists(inputs(items), max_size=5))
    vectors = {item.key: packed(number) for number, item in enumerate(items) if number in embedded}
    together = score(ItemIndex(items, {}, NOW, vectors=vectors), asked)
    for each, found in zip(asked, together, strict=True):
        (alone,) = score(ItemIndex(items, {}, NOW, vectors=vectors), [each])
        assert found.numbers.tolist() == alone.numbers.tolist()
        assert found.with_reasons() == alone.with_reasons()
        assert found.without_reasons(2) == alone.without_reasons()[:2]


@settings(deadline=None, max_examples=tries(80))
@given(st.lists(st.text(), min_size=3, max_size=3), st.text(), st.text())
def test_any_text_can_be_ranked(texts: list[str], title: str, abstract: str) -> None:
    items = [paper(text, abstract, key=f"url:{number}") for number, text in enumerate(texts)]
    assert (
        len(rank(ItemIndex(items, {}, NOW), topic("", "gpu"), examples=[paper(title, abstract, key="url:x"), abstract])) == 3
    )


# --- edges


def test_a_day_without_items_has_an_empty_ranking() -> None:
    assert rank(ItemIndex([], {}, NOW), topic("gpu", "cuda"), examples=["a text"]) == []


def test_a_query_that_nothing_meets_gives_an_empty_ranking() -> None:
    assert rank(ItemIndex([paper("A")], {}, NOW), topic("nothing")) == []


def test_a_single_item_without_dates_or_abstract_is_ranked() -> None:
    (only,) = rank(ItemIndex([paper("CUDA", published=None)], {}, NOW), topic("", "cuda"))
    assert only.reasons == ("matches *cuda*",)


def test_equal_scores_are_ordered_newest_first_then_by_key() -> None:
    old = NOW.replace(year=2020)
    items = [
        paper("X", key="url:b", published=old),
        paper("X", key="url:c", published=None),
        paper("X", key="url:a", published=old),
        paper("X", key="url:d", published=old.replace(month=7)),
    ]
    ranked = rank(ItemIndex(items, {}, NOW), topic("", "cuda"))
    assert [each.item.key for each in ranked] == ["url:d", "url:a", "url:b", "url:c"]


def test_only_the_sources_of_the_topic_count_and_feed_is_every_feed() -> None:
    items = [
        paper("A", sources=("arxiv",)),
        paper("B", sources=("feed:lab", "github")),
        paper("C", sources=("huggingface",)),
    ]
    index = ItemIndex(items, {}, NOW)
    assert set(scores(index, topic(sources=["feed"]))) == {"url:B"}
    assert set(scores(index, topic(sources=["arxiv", "feed:lab"]))) == {"url:A", "url:B"}


def test_an_interest_that_cannot_be_read_is_named() -> None:
    with pytest.raises(UsageError, match=r'The interest "colour:red" cannot be read'):
        rank(ItemIndex([paper("A")], {}, NOW), topic("", "colour:red"))


# --- what counts


def test_a_heavier_interest_counts_more() -> None:
    index = ItemIndex([paper("CUDA"), paper("ROCm")], {}, NOW)
    assert [each.item.title for each in rank(index, topic("", ("cuda", 1), ("rocm", 2)))] == ["ROCm", "CUDA"]


def test_a_topic_without_interests_is_ranked_by_the_words_of_its_query() -> None:
    index = ItemIndex([paper("A", "A cache."), paper("B", "The KV cache. A KV cache on a GPU.")], {}, NOW)
    ranked = rank(index, topic('"KV cache" OR cache OR gpu -survey'))
    assert [each.item.title for each in ranked] == ["B", "A"]
    assert ranked[0].reasons[0] == "matches *KV cache* ×2, *cache* ×2, *gpu*"


def test_what_speaks_against_an_item_takes_it_down_but_not_below_nothing() -> None:
    index = ItemIndex([paper("A survey of CUDA"), paper("CUDA")], {}, NOW)
    good, bad = rank(index, topic("", "cuda", ("survey", -10)))
    assert (good.item.title, bad.score) == ("CUDA", 0)


def test_relevance_comes_before_popularity() -> None:
    popular = paper("Something", sources=("huggingface",), upvotes=500, published=NOW)
    index = ItemIndex([popular, paper("CUDA for GPU kernels", "CUDA", published=NOW.replace(year=2025))], {}, NOW)
    assert rank(index, topic("", "cuda", "gpu"))[0].item.title == "CUDA for GPU kernels"


def test_popularity_orders_what_is_equally_relevant() -> None:
    index = ItemIndex([paper("CUDA", key="url:a"), paper("CUDA", key="url:b", upvotes=40)], {}, NOW)
    assert rank(index, topic("", "cuda"))[0].item.key == "url:b"


def test_closeness_to_examples_is_that_to_the_nearest_three() -> None:
    items = [paper("Serving language models with a paged cache"), paper("Causal panels"), paper("Other things entirely")]
    index = ItemIndex(items, {}, NOW)
    near = ["Serving models with a paged cache"] * 3
    far = ["Robots that fold laundry", "Proteins and their folds", "Markets of electricity"]
    with_noise = rank(index, topic(), examples=[*far, *near])
    assert with_noise == rank(index, topic(), examples=near)
    assert with_noise[0].item is items[0]


def test_phrases_leave_the_examples_their_share() -> None:
    index = ItemIndex([paper("CUDA kernels")], {}, NOW)
    far = "A text about something else entirely, which nobody confuses with it"
    (alone,), (beside,) = rank(index, topic("", "cuda")), rank(index, topic("", "cuda"), examples=[far])
    assert beside.parts[0].value == pytest.approx(alone.parts[0].value * BY_PHRASES / (BY_PHRASES + BY_EXAMPLES), abs=1e-6)
    assert beside.parts[1].value == 0


def test_an_unknown_key_among_the_examples_changes_nothing() -> None:
    index = ItemIndex([paper("Serving models")], {}, NOW)
    assert rank(index, topic(), examples=["arxiv:2606.09999"]) == rank(index, topic())


def test_stars_gained_lift_a_repository_over_stars_that_stand() -> None:
    items = [repo("a/old", "CUDA", stars=3000), repo("b/rising", "CUDA", stars=900)]
    days = {
        "github:a/old": [Reading(NOW.date().replace(day=11), stars=2999), Reading(NOW.date(), stars=3000)],
        "github:b/rising": [Reading(NOW.date().replace(day=11), stars=488), Reading(NOW.date(), stars=900)],
    }
    first, _ = rank(ItemIndex(items, days, NOW), topic("", "cuda"))
    assert first.item.title == "b/rising"
    assert "★ +412 in 3 days" in first.reasons


# --- relevance


@laws
@given(days, examples, st.sampled_from((-3.0, -0.5, 2.0)), st.integers(0, 500), st.integers(0, 400))
def test_neither_votes_nor_age_change_how_relevant_an_item_is(
    items: list[Item], close: list[Item | str], weight: float, votes: int, hours: int
) -> None:
    wanted = topic("", "gpu", "cache", ("survey", weight), ("attention", weight))
    told = {each.item.key: each.relevance for each in rank(ItemIndex(items, {}, NOW), wanted, examples=close)}
    others = [replace(item, upvotes=votes, stars=votes) for item in items]
    again = rank(ItemIndex(others, {}, NOW + timedelta(hours=hours)), wanted, examples=close)
    assert {each.item.key: each.relevance for each in again} == pytest.approx(told, abs=1e-6)


def test_a_label_orders_what_is_relevant_and_makes_nothing_relevant() -> None:
    code = (Link("code", "https://github.com/a/b"),)
    items = [paper("CUDA", key="url:a"), paper("CUDA", key="url:b", links=code), paper("Rust", key="url:c", links=code)]
    ranked = rank(ItemIndex(items, {}, NOW), topic("", "cuda", ("has:code", 0.5)))
    assert [each.item.key for each in ranked] == ["url:b", "url:a", "url:c"]
    assert [each.relevance > 0 for each in ranked] == [True, True, False]
    assert ranked[0].relevance == ranked[1].relevance


def test_a_topic_that_states_labels_alone_takes_them_for_relevant() -> None:
    index = ItemIndex([paper("A", categories=("cs.DB",)), paper("B")], {}, NOW)
    (only,) = rank(index, topic("category:cs.DB"))
    assert only.relevance > 0


# --- asked of a part, at another time, and of its scores


@laws
@given(days, topics, generate.trees())
def test_a_filter_holds_of_what_is_scored_as_the_matcher_says(items: list[Item], wanted: Topic, tree: Tree) -> None:
    (scored,) = score(ItemIndex(items, {}, NOW), [TopicInputs(wanted)])
    assert scored.matching(tree).tolist() == [matches(tree, each.item, NOW, each.score) for each in scored.without_reasons()]


@laws
@given(days, topics, examples, st.integers(0, 63))
def test_some_items_are_scored_as_among_all_of_them(
    items: list[Item], wanted: Topic, close: list[Item | str], some: int
) -> None:
    index = ItemIndex(items, {}, NOW)
    among = np.array([bool(some >> number & 1) for number in range(len(items))], bool)
    every = rank(index, wanted, examples=close)
    (found,) = score(index, [TopicInputs(wanted, close, among=among)])
    asked = {item.key for item, here in zip(items, among, strict=True) if here}
    assert found.with_reasons() == [each for each in every if each.item.key in asked]
    assert found.without_reasons() == [Ranked(each.item, each.score, (), each.relevance) for each in found.with_reasons()]


@laws
@given(days, topics, st.sampled_from((-30, 0, 1, 90, 5000)))
def test_an_index_at_another_time_ranks_as_one_made_then(items: list[Item], wanted: Topic, hours: int) -> None:
    index, then = ItemIndex(items, {}, NOW), NOW + timedelta(hours=hours)
    rank(index, wanted)
    assert rank(index.at(then, {}), wanted) == rank(ItemIndex(items, {}, then), wanted)


# --- near twins


FIRST = "We serve language models with a paged cache on many accelerators and measure the throughput of requests."
SECOND = "We serve language models with a paged cache on some accelerators and measure the latency of requests."
OTHER = "Causal inference for panel data with missing outcomes and staggered adoption."


def day() -> tuple[ItemIndex, list[Ranked]]:
    items = [paper("Paged serving", FIRST, upvotes=50), paper("Paged serving again", SECOND), paper("Panels", OTHER)]
    index = ItemIndex(items, {}, NOW)
    return index, rank(index, topic("", "serving"))


def test_of_two_near_twins_the_better_placed_one_stays() -> None:
    index, ranked = day()
    chosen = diversify(index, ranked)
    assert [each.item.title for each in chosen.kept] == ["Paged serving", "Panels"]
    (gone,) = chosen.dropped
    assert gone.ranked is ranked[1]
    assert gone.twin is chosen.kept[0]


def test_a_twin_of_what_was_dropped_is_no_twin() -> None:
    """Three links of a chain: the second gives way to the first, the third is like the second alone."""
    words = [f"{letter}ion" for letter in "abcdefghijklmnopqrstuvwx"]
    texts = [" ".join(words[at : at + 12]) for at in (0, 5, 10)]
    index = ItemIndex([paper(f"Part {at}", text, key=f"url:{at}") for at, text in enumerate(texts)], {}, NOW)
    chosen = diversify(index, [Ranked(item, 0.5) for item in index.items])
    assert [each.item.key for each in chosen.kept] == ["url:0", "url:2"]
    assert [each.twin.item.key for each in chosen.dropped] == ["url:0"]


def test_identical_items_are_twins() -> None:
    items = [paper("Paged serving", FIRST, key=f"url:{number}") for number in range(4)]
    index = ItemIndex(items, {}, NOW)
    assert len(diversify(index, rank(index, topic())).kept) == 1


def test_items_without_words_are_nobodys_twins() -> None:
    items = [paper("", key=f"url:{number}") for number in range(3)]
    index = ItemIndex(items, {}, NOW)
    assert len(diversify(index, rank(index, topic())).kept) == 3


def test_an_entry_of_another_day_is_kept() -> None:
    index, _ = day()
    foreign = Ranked(paper("Elsewhere"), 0.5)
    assert diversify(index, [foreign]).kept == (foreign,)


@settings(deadline=None, max_examples=tries(80))
@given(st.lists(generate.items(), max_size=6, unique_by=lambda item: item.key))
def test_everything_is_kept_or_dropped_in_order(items: list[Item]) -> None:
    index = ItemIndex(items, {}, NOW)
    ranked = rank(index, topic("", "gpu", "cache"))
    chosen = diversify(index, ranked)
    left = {id(each.ranked) for each in chosen.dropped}
    assert [each for each in ranked if id(each) not in left] == list(chosen.kept)
    assert len(chosen.kept) + len(chosen.dropped) == len(ranked)
    assert all(each.twin in chosen.kept for each in chosen.dropped)
