"""Which sentences of a text stand for the four parts, and which one for the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import PARTS
from bot.summarise.choice.parts import choose
from bot.summarise.choice.scoring import (
    COLUMNS,
    EVIDENCE,
    FEATURES,
    METHOD,
    PROBLEM,
    SHIPPED,
    UNUSABLE,
    WHY,
    features,
    part_scores,
    read_weights,
    whole_scores,
)
from bot.summarise.english.sentences import split

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "Tidy opens the way to caches that need no operator.",
]


def test_the_parts_of_the_plain_abstract_are_its_sentences_in_order() -> None:
    assert choose(PLAIN) == {PROBLEM: (1,), METHOD: (2, 3), EVIDENCE: (4,), WHY: (5,)}


def test_a_part_that_is_not_there_is_left_out() -> None:
    assert choose(PLAIN[:4])[EVIDENCE] == ()
    assert choose(PLAIN[2:5])[PROBLEM] == ()


def test_evidence_prefers_figures() -> None:
    sentences = [*PLAIN[:4], "The results show that Tidy is effective.", PLAIN[4]]
    assert 5 in choose(sentences)[EVIDENCE]


def test_further_figures_join_a_short_first_sentence() -> None:
    sentences = [*PLAIN[:5], "On traces of a bank, it reduces misses by 12% and energy by 8%."]
    assert choose(sentences)[EVIDENCE] == (4, 5)


def test_a_method_that_is_told_at_length_in_one_sentence_has_no_second() -> None:
    at_length = (
        "We propose Tidy, a cache that predicts its own size by a small model, which is trained on the access traces of a "
        "whole day and asked again whenever the load of the system has changed."
    )
    assert choose([*PLAIN[:2], at_length, *PLAIN[3:]])[METHOD] == (2,)


def test_a_sentence_that_points_at_another_comes_with_it_or_not_at_all() -> None:
    pointing = "This makes caches expensive, and their size remains difficult to predict."
    assert choose([PLAIN[0], pointing, *PLAIN[2:]])[PROBLEM] in {(0,), (0, 1)}
    assert choose([pointing, *PLAIN[2:]])[PROBLEM] == ()


def test_a_sentence_that_points_at_another_from_inside_comes_with_it_where_it_is_a_problem() -> None:
    pointing = "However, the high cost of such bottlenecks remains a challenge that no method solves."
    assert choose([PLAIN[0], pointing, *PLAIN[2:]])[PROBLEM] == (0, 1)
    assert choose([pointing, *PLAIN[2:]])[PROBLEM] == (0,)


def test_a_sentence_whose_first_words_were_explained_may_stand_alone() -> None:
    sentences = [*PLAIN[:5], "This opens the way to caches that need no operator."]
    assert choose(sentences)[WHY] == ()
    assert choose(sentences, "", [*PLAIN[:5], "Tidy opens the way to caches that need no operator."])[WHY] == (5,)


def test_available_code_is_a_reason_to_care_when_there_is_no_other() -> None:
    sentences = [*PLAIN[:5], "Our code is available at https://example.org/tidy."]
    assert choose(sentences)[WHY] == (5,)


def test_what_others_released_before_is_no_reason_to_care() -> None:
    others = "The recent surge in open-source models of caches has energised the community, yet they depend on private data."
    assert choose([others, *PLAIN[1:5]])[WHY] == ()


@pytest.mark.parametrize(
    ("sentence", "places"),
    [
        ("We release the models and all data of this study.", (5,)),
        ("Code will be available after the review.", (5,)),
        ("It is run with open-source models on publicly available data.", ()),
        ("We run it on 29 open-source and proprietary models.", ()),
    ],
)
def test_only_what_the_authors_make_available_is_a_reason_to_care(sentence: str, places: tuple[int, ...]) -> None:
    assert choose([*PLAIN[:5], sentence])[WHY] == places


def test_a_short_method_gets_the_sentence_that_tells_by_which_means() -> None:
    means = "Tidy uses a small model that is trained on access traces."
    sentences = [*PLAIN[:3], "The cache is called at night and by day.", means, *PLAIN[4:]]
    assert choose(sentences)[METHOD] == (2, 4)


def test_what_announces_the_work_is_the_method_rather_than_what_is_nearly_as_fit() -> None:
    study = "This paper studies a cache for long prompts, which predicts its size with a small model."
    sentences = [
        "Caches are essential.",
        study,
        "We present Tidy, which learns when to let go.",
        "Tidy reduces misses by 31%.",
    ]
    told = part_scores(sentences)[:, PARTS.index(METHOD)]
    assert 0 < told[1] - told[2] < 0.5
    assert choose(sentences)[METHOD] == (2,)


def test_an_opening_claim_is_not_the_problem() -> None:
    claim = "Caches play a key role in large systems and have achieved remarkable success."
    assert choose([claim, *PLAIN[1:]])[PROBLEM] == (1,)


def test_what_only_announces_experiments_is_not_the_evidence() -> None:
    announced = "Extensive experiments are conducted on traces of a bank."
    assert choose([*PLAIN[:4], announced, *PLAIN[4:]])[EVIDENCE] == (5,)


def test_a_withdrawal_notice_stands_for_nothing() -> None:
    notice = "This paper has been withdrawn by the author due to a crucial error in equation 3."
    assert choose([notice]) == dict.fromkeys(PARTS, ())
    assert (part_scores([notice]) == UNUSABLE).all()


def test_a_text_without_any_cue_is_taken_as_what_the_work_is() -> None:
    assert choose(["Turtles of the southern seas."])[METHOD] == (0,)


def test_the_sentence_for_the_whole_says_what_the_work_is_and_is_about_its_title() -> None:
    assert whole_scores(PLAIN, "Tidy: a cache that predicts its own size").argmax() == 2
    assert whole_scores([], "Tidy").shape == (0,)


def test_a_sign_is_a_number_for_each_sentence_and_counts_for_each_part() -> None:
    table = features(PLAIN, "Tidy caches")
    assert table.shape == (len(PLAIN), len(FEATURES))
    assert np.isfinite(table).all()
    weights = read_weights(SHIPPED)
    assert weights.rows.shape == (len(FEATURES), len(COLUMNS))
    assert np.array_equal(part_scores(PLAIN, "Tidy caches"), (table @ weights.rows + weights.start)[:, : len(PARTS)])


def test_a_title_says_which_sentence_is_about_the_work() -> None:
    told = features(PLAIN, "Tidy, a cache that predicts its size")[:, FEATURES.index("title told")]
    assert told.argmax() == 2
    assert not features(PLAIN)[:, FEATURES.index("title told")].any()


def test_a_sentence_is_told_by_what_stands_beside_it() -> None:
    table = features(PLAIN)
    beside = [FEATURES.index(sign) for sign in ("after what is announced", "before what is announced", "of others")]
    assert table[:, beside].T.tolist() == [[0, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]
    after = table[:, FEATURES.index("after a result")]
    assert after[5] == table[4, FEATURES.index("result")] > 0.5
    assert table[0, FEATURES.index("unannounced")] == 0
    assert features(PLAIN[:2])[:, FEATURES.index("unannounced")].all()


SAID = "we propose however results show 31% enables the cache this available code it"
WORDS = st.sampled_from([*SAID.split(), ". ", "\n", "\ud83d"])


@given(st.lists(WORDS, max_size=80).map(" ".join))
def test_no_sentence_stands_for_two_parts_and_none_has_more_than_two(text: str) -> None:
    sentences = split(text)
    choice = choose(sentences, text[:40])
    chosen = [at for places in choice.values() for at in places]
    assert len(chosen) == len(set(chosen))
    assert all(len(places) <= 2 and list(places) == sorted(places) for places in choice.values())


@pytest.mark.parametrize("count", [1, 2, 500])
def test_any_number_of_sentences_is_taken(count: int) -> None:
    assert set(choose(["We propose a method that uses caches."] * count)) == set(PARTS)
