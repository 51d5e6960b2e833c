import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import Item, Ranked
from bot.rank import ItemIndex, LearnedTerm, MarkedItem, profile, rank
from bot.rank.weights import LOWER, RAISE, RELEVANCE
from tests.bot.query import generate
from tests.bot.rank.make import NOW, paper, topic
from tests.bot.rank.test_ranking import days, examples, topics
from tests.conftest import tries

CACHES = paper(
    "Paging the KV cache of language models", "We page the KV cache so that GPU memory is not wasted.", key="arxiv:1"
)
KERNELS = paper("Fusing attention kernels", "Fused GPU kernels keep attention in on-chip memory.", key="arxiv:2")
VIDEO = paper(
    "Video diffusion with camera control", "A diffusion transformer makes videos that follow a camera.", key="arxiv:3"
)
PROTEINS = paper("Folding proteins from one sequence", "Protein structures from single sequences.", key="arxiv:4")
DAY = [
    paper("Compressing the KV cache", "We quantise the KV cache and save GPU memory.", key="url:cache"),
    paper("Editing videos by diffusion", "Diffusion models edit videos and keep the camera.", key="url:video"),
    paper("A survey of enzymes", "Enzymes and how they are found.", key="url:enzymes"),
]

marked = st.lists(st.builds(MarkedItem, generate.items(), st.integers(0, 3), st.integers(0, 3)), max_size=6)
laws = settings(deadline=None, max_examples=tries(80))


def ranked(taught: list[MarkedItem], *interests: str) -> dict[str, Ranked]:
    return {each.item.key: each for each in rank(ItemIndex(DAY, {}, NOW), topic("", *interests), marked=taught)}


def weights(taught: list[MarkedItem]) -> dict[str, float]:
    return {each.term: each.weight for each in profile(taught)}


# --- laws


@laws
@given(days, topics, examples, marked)
def test_with_marked_items_too_a_score_lies_between_0_and_1_and_is_the_sum_of_its_parts(
    items: list[Item], wanted: object, close: list[Item | str], taught: list[MarkedItem]
) -> None:
    for each in rank(ItemIndex(items, {}, NOW), wanted, examples=close, marked=taught):  # type: ignore[arg-type]
        assert 0 <= each.score <= 1
        assert sum(part.value for part in each.parts) == pytest.approx(each.score, abs=1e-9)


@laws
@given(days, topics, marked)
def test_what_marks_do_to_a_score_is_bounded(items: list[Item], wanted: object, taught: list[MarkedItem]) -> None:
    index = ItemIndex(items, {}, NOW)
    before = {each.item.key: each.score for each in rank(index, wanted)}  # type: ignore[arg-type]
    for each in rank(index, wanted, marked=taught):  # type: ignore[arg-type]
        assert each.score <= before[each.item.key] + RAISE * RELEVANCE + 1e-6
        assert each.score >= (1 - LOWER) * before[each.item.key] - 1e-6


@laws
@given(days, topics, marked, st.data())
def test_a_label_that_is_taken_back_was_never_given(
    items: list[Item], wanted: object, taught: list[MarkedItem], data: st.DataObject
) -> None:
    index = ItemIndex(items, {}, NOW)
    given_too = data.draw(st.sampled_from([*items, CACHES]))
    at = data.draw(st.integers(0, len(taught)))
    taken_back = [*taught[:at], MarkedItem(given_too, 0, 0), *taught[at:]]
    assert profile(taken_back) == profile(taught)
    assert [(each.item, each.score) for each in rank(index, wanted, marked=taken_back)] == [  # type: ignore[arg-type]
        (each.item, each.score)
        for each in rank(index, wanted, marked=taught)  # type: ignore[arg-type]
    ]


@laws
@given(days, topics, marked, st.randoms(use_true_random=False))
def test_the_order_in_which_labels_were_given_changes_nothing(
    items: list[Item], wanted: object, taught: list[MarkedItem], chance: random.Random
) -> None:
    index = ItemIndex(items, {}, NOW)
    before = rank(index, wanted, marked=taught)  # type: ignore[arg-type]
    learned = profile(taught)
    chance.shuffle(taught)
    assert rank(index, wanted, marked=taught) == before  # type: ignore[arg-type]
    assert profile(taught) == learned


@laws
@given(marked)
def test_a_profile_is_ordered_by_strength_and_counts_no_more_people_than_there_were(taught: list[MarkedItem]) -> None:
    learned = profile(taught)
    assert [abs(each.weight) for each in learned] == sorted((abs(each.weight) for each in learned), reverse=True)
    assert all(each.more <= sum(mark.more for mark in taught) for each in learned)
    assert all(each.less <= sum(mark.less for mark in taught) for each in learned)
    assert all(each.more + each.less > 0 for each in learned)


# --- what more and less do


def test_more_raises_what_is_near_and_leaves_the_rest() -> None:
    before, after = ranked([]), ranked([MarkedItem(CACHES, 1, 0)])
    assert after["url:cache"].score > before["url:cache"].score + 0.05
    assert after["url:enzymes"].score == pytest.approx(before["url:enzymes"].score, abs=0.01)


def test_less_lowers_what_is_near_and_leaves_the_rest() -> None:
    before, after = ranked([], "cache", "enzymes"), ranked([MarkedItem(CACHES, 0, 1)], "cache", "enzymes")
    assert after["url:cache"].score < before["url:cache"].score - 0.02
    assert after["url:enzymes"].score == pytest.approx(before["url:enzymes"].score, abs=0.01)


def test_the_marked_item_itself_moves_most() -> None:
    assert ranked([MarkedItem(DAY[0], 0, 1)])["url:cache"].score < ranked([MarkedItem(CACHES, 0, 1)])["url:cache"].score


def test_two_people_teach_more_than_one() -> None:
    once, twice = ranked([MarkedItem(CACHES, 1, 0)]), ranked([MarkedItem(CACHES, 2, 0)])
    assert twice["url:cache"].score > once["url:cache"].score


def test_two_people_who_disagree_about_one_item_teach_nothing_of_it() -> None:
    before, after = ranked([], "cache"), ranked([MarkedItem(CACHES, 1, 1)], "cache")
    assert {key: each.score for key, each in after.items()} == {key: each.score for key, each in before.items()}
    assert profile([MarkedItem(CACHES, 1, 1)]) == ()


def test_one_less_on_everything_shown_still_leaves_half_of_every_score() -> None:
    before, after = (
        ranked([], "cache", "videos", "enzymes"),
        ranked([MarkedItem(DAY[0], 0, 1)], "cache", "videos", "enzymes"),
    )
    assert all(after[key].score >= (1 - LOWER) * before[key].score for key in before)


def test_one_more_does_not_flood_a_digest_with_what_is_not_near() -> None:
    after = ranked([MarkedItem(PROTEINS, 1, 0)], "cache")
    before = ranked([], "cache")
    assert after["url:video"].score - before["url:video"].score < 0.02


def test_marks_on_one_item_are_added_up() -> None:
    assert profile([MarkedItem(CACHES, 1, 0), MarkedItem(CACHES, 1, 0)]) == profile([MarkedItem(CACHES, 2, 0)])


def test_an_item_that_the_day_does_not_have_teaches_all_the_same() -> None:
    alone = rank(ItemIndex(DAY[:1], {}, NOW), topic(""), marked=[MarkedItem(CACHES, 1, 0)])
    assert alone[0].score > rank(ItemIndex(DAY[:1], {}, NOW), topic(""))[0].score


def test_an_item_without_any_word_teaches_nothing() -> None:
    empty = paper("", "", key="url:empty")
    assert profile([MarkedItem(empty, 1, 0)]) == ()
    assert [each.score for each in ranked([MarkedItem(empty, 1, 0)]).values()] == [
        each.score for each in ranked([]).values()
    ]


def test_a_day_without_items_can_be_ranked_with_marked_items() -> None:
    assert rank(ItemIndex([], {}, NOW), topic(""), marked=[MarkedItem(CACHES, 1, 0)]) == []


def test_without_marked_items_a_score_has_no_part_for_them() -> None:
    (part_names,) = {tuple(part.name for part in each.parts) for each in ranked([]).values()}
    assert part_names == ("phrases", "examples", "community", "freshness")
    (part_names,) = {tuple(part.name for part in each.parts) for each in ranked([MarkedItem(CACHES, 1, 0)]).values()}
    assert part_names == ("phrases", "examples", "feedback", "community", "freshness")


# --- what is told


def test_a_profile_names_words_as_they_were_written_and_who_taught_them() -> None:
    learned = {
        each.term: each for each in profile([MarkedItem(CACHES, 2, 0), MarkedItem(KERNELS, 1, 0), MarkedItem(VIDEO, 0, 1)])
    }
    assert learned["KV"] == LearnedTerm("KV", learned["KV"].weight, 2, 0)
    assert (learned["GPU"].more, learned["GPU"].less) == (3, 0)
    assert (learned["diffusion"].more, learned["diffusion"].less) == (0, 1)
    assert learned["KV"].weight > 0 > learned["diffusion"].weight
    assert "caches" not in learned
    assert "cache" in learned


def test_a_word_of_every_paper_is_learned_less_than_a_rare_one() -> None:
    learned = weights([MarkedItem(paper("Sketches of models", key="url:1"), 1, 0)])
    assert learned["Sketches"] > learned["models"] + 0.2


def test_a_reason_names_the_liked_items_that_are_close_the_closest_first() -> None:
    again = paper("Compressing the KV cache of GPUs", "We quantise the KV cache.", key="arxiv:9")
    told = ranked([MarkedItem(CACHES, 1, 0), MarkedItem(again, 1, 0), MarkedItem(VIDEO, 0, 1)])["url:cache"].reasons
    assert told[0] == 'close to "Compressing the KV cache of GPUs" and 1 more you liked'


def test_where_nothing_marked_is_close_a_reason_names_the_words_in_common() -> None:
    long = "Robots grasp cups, bottles, boxes, tools and fruit in kitchens, offices and warehouses, from depth and touch."
    seen = paper("Grasping by touch", f"{long} Cameras fail in the dark.", key="arxiv:8")
    other = paper(
        "Cutting vegetables",
        "Knives, boards and onions; sauces and soups of ordinary kitchens, and how long they keep.",
        key="url:knives",
    )
    (told,) = rank(ItemIndex([other], {}, NOW), topic(""), marked=[MarkedItem(seen, 3, 0)])
    assert "shares *kitchens* with what you liked" in told.reasons


def test_a_reason_names_what_people_wanted_less_of() -> None:
    told = ranked([MarkedItem(VIDEO, 0, 1)], "videos")["url:video"].reasons
    assert told[-1] == 'close to "Video diffusion with camera control" you wanted less of'


def test_an_item_that_was_marked_itself_says_so() -> None:
    assert "is what you liked" in ranked([MarkedItem(DAY[0], 1, 0)])["url:cache"].reasons


def test_what_changed_a_score_by_nothing_to_speak_of_is_not_told() -> None:
    told = ranked([MarkedItem(PROTEINS, 1, 0)])["url:video"].reasons
    assert not any("liked" in each for each in told)
