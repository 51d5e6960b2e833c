"""Which sentences of a text stand for the four parts, and which one for the whole."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import PARTS
from bot.summarise.choice.candidates import SENTENCE, candidates
from bot.summarise.choice.parts import choose
from bot.summarise.choice.roles import READ
from bot.summarise.choice.scoring import (
    COLUMNS,
    EVIDENCE,
    FEATURES,
    METHOD,
    PAIRS,
    PROBLEM,
    SHIPPED,
    UNUSABLE,
    WHY,
    all_scores,
    features,
    part_scores,
    read_weights,
    whole_scores,
)
from bot.summarise.english.anaphora import Resolved
from bot.summarise.english.sentences import split

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "Our results enable hospitals to run large caches without an operator, reducing costs.",
]


def places(sentences: Sequence[str], told: Sequence[str] | None = None) -> dict[str, int | None]:
    """Where in the text each part was found."""
    explained = None if told is None else [Resolved(one, at) for at, one in enumerate(told)]
    return {part: shown and shown.candidate.place for part, shown in choose(sentences, "", explained).items()}


def test_the_parts_of_the_plain_abstract_are_its_sentences_in_order() -> None:
    assert places(PLAIN) == {PROBLEM: 1, METHOD: 2, EVIDENCE: 4, WHY: 5}


def test_a_part_that_is_not_there_is_left_out() -> None:
    assert choose(PLAIN[:4])[EVIDENCE] is None
    assert choose(PLAIN[2:5])[PROBLEM] is None


def test_evidence_prefers_figures() -> None:
    sentences = [*PLAIN[:4], "The results show that Tidy is effective.", PLAIN[4]]
    assert places(sentences)[EVIDENCE] == 5


def test_a_long_sentence_is_shown_in_a_complete_form_of_25_words() -> None:
    at_length = (
        "We propose Tidy, a cache that predicts its own size by a small model, which is trained on the access traces of a "
        "whole day and asked again whenever the load of the system has changed."
    )
    shown = choose([*PLAIN[:2], at_length, *PLAIN[3:]])[METHOD]
    assert shown is not None
    assert shown.text == "Proposes Tidy, a cache that predicts its own size by a small model."


def test_a_sentence_that_points_at_another_is_no_part() -> None:
    pointing = "This makes caches expensive, and their size remains difficult to predict."
    assert places([PLAIN[0], pointing, *PLAIN[2:]])[PROBLEM] != 1
    assert places([pointing, *PLAIN[2:]])[PROBLEM] is None


def test_one_sentence_says_what_was_done_and_what_was_found() -> None:
    both = (
        "We propose Tidy, a cache that predicts its own size, and show that it reduces misses by 31% over the best baseline."
    )
    chosen = choose([*PLAIN[:2], both])
    assert [shown and shown.text for shown in chosen.values()][1:3] == [
        "Proposes Tidy, a cache that predicts its own size.",
        "Shows that it reduces misses by 31% over the best baseline.",
    ]


def test_what_turns_against_what_stands_in_front_is_the_problem() -> None:
    turning = "While caches work well on traces of the past, existing caches remain expensive and difficult to size."
    shown = choose([turning, *PLAIN[2:]])[PROBLEM]
    assert shown is not None
    assert shown.text == "Existing caches remain expensive and difficult to size."


def test_a_sentence_whose_first_words_were_explained_may_stand_alone() -> None:
    said = "This lets hospitals run large caches without an operator, reducing costs."
    assert places([*PLAIN[:5], said])[WHY] is None
    assert places([*PLAIN[:5], said], [*PLAIN[:5], said.replace("This", "Tidy")])[WHY] == 5


@pytest.mark.parametrize(
    "sentence",
    [
        "Our code is available at https://example.org/tidy.",
        "We release the models and all data of this study.",
        "It is run with open-source models on publicly available data.",
    ],
)
def test_what_is_to_be_had_is_no_reason_to_care(sentence: str) -> None:
    assert choose([*PLAIN[:5], sentence])[WHY] is None


def test_what_announces_the_work_is_the_method_rather_than_what_is_nearly_as_fit() -> None:
    study = "This paper studies a cache for long prompts, which predicts its size with a small model learned from traces."
    sentences = [
        "Caches are essential.",
        study,
        "We present Tidy, which learns when to let go.",
        "Tidy reduces misses by 31%.",
    ]
    told = part_scores(sentences)[:, PARTS.index(METHOD)]
    assert 0 < told[1] - told[2] < 0.5
    assert places(sentences)[METHOD] == 2


def test_an_opening_claim_is_not_the_problem() -> None:
    claim = "Caches play a key role in large systems and have achieved remarkable success."
    assert places([claim, *PLAIN[1:]])[PROBLEM] == 1


def test_what_only_announces_experiments_is_not_the_evidence() -> None:
    announced = "Extensive experiments are conducted on traces of a bank."
    assert places([*PLAIN[:4], announced, *PLAIN[4:]])[EVIDENCE] == 5


def test_a_withdrawal_notice_stands_for_nothing() -> None:
    notice = "This paper has been withdrawn by the author due to a crucial error in equation 3."
    assert choose([notice]) == dict.fromkeys(PARTS)
    assert (part_scores([notice]) == UNUSABLE).all()


def test_a_text_without_any_cue_is_taken_as_what_the_work_is() -> None:
    assert places(["Turtles of the southern seas."])[METHOD] == 0


def test_the_sentence_for_the_whole_says_what_the_work_is_and_is_about_its_title() -> None:
    assert whole_scores(PLAIN, "Tidy: a cache that predicts its own size").argmax() == 2
    assert whole_scores([], "Tidy").shape == (0,)


def test_a_sign_is_a_number_for_each_sentence_and_counts_for_each_part() -> None:
    table = features(PLAIN, "Tidy caches")
    assert table.shape == (len(PLAIN), len(FEATURES) + len(PAIRS) + sum(READ.values()))
    assert np.isfinite(table).all()
    weights = read_weights(SHIPPED)
    assert weights.rows.shape == (len(FEATURES), len(COLUMNS))
    assert np.allclose(part_scores(PLAIN, "Tidy caches"), table @ weights.parts + weights.parts_start)
    by_name = table[:, : len(FEATURES)] @ weights.rows + weights.start
    assert np.allclose(all_scores(PLAIN, "Tidy caches"), by_name)
    assert np.array_equal(whole_scores(PLAIN, "Tidy caches"), all_scores(PLAIN, "Tidy caches")[:, -1])


def test_a_pair_of_signs_is_there_where_both_are() -> None:
    table = features(PLAIN)
    named = {name: table[:, at] for at, name in enumerate((*FEATURES, *PAIRS))}
    for pair in PAIRS:
        one, other = pair.split(" + ")
        assert np.array_equal(named[pair], named[one] * named[other])
    assert named["result + figure"].argmax() == 4


def test_a_clause_is_read_as_its_sentence_is() -> None:
    sentences = ["While caches are fast, existing caches remain expensive and difficult to size."]
    found = candidates([Resolved(sentences[0], 0)])
    clauses = [at for at, one in enumerate(found) if one.kind != SENTENCE]
    table, read = features(sentences, "Tidy", found), slice(-sum(READ.values()), None)
    assert clauses
    assert (table[clauses, read] == features(sentences, "Tidy")[0, read]).all()
    signs = FEATURES.index("gap")
    assert table[0, signs] == 1
    assert not table[clauses, signs].any()
    assert not table[clauses, len(FEATURES) + PAIRS.index("gap + lack")].any()


@pytest.mark.parametrize("name", ["pairs", "read", "start"])
def test_weights_that_are_not_so_many_are_refused(name: str, tmp_path: Path) -> None:
    table = json.loads(SHIPPED.read_text(encoding="ascii"))
    parts = table["parts"]
    parts[name] = {pair: [0.0] for pair in PAIRS} if name == "pairs" else parts[name][1:]
    (tmp_path / "parts.json").write_text(json.dumps(table), encoding="ascii")
    with pytest.raises(ValueError, match=r"weights of|inhomogeneous"):
        read_weights(tmp_path / "parts.json")


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
def test_no_words_stand_for_two_parts(text: str) -> None:
    sentences = split(text)
    chosen = [shown.candidate for shown in choose(sentences, text[:40]).values() if shown]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(chosen, 2))


@pytest.mark.parametrize("count", [1, 2, 500])
def test_any_number_of_sentences_is_taken(count: int) -> None:
    assert set(choose(["We propose a method that uses caches."] * count)) == set(PARTS)


def test_evidence_may_be_longer_where_its_figure_would_be_lost() -> None:
    # Of arXiv's 2505.14726.
    result = (
        "Our findings highlight the importance of targeted adaptation for medical applications and suggest that "
        "decoder-only fine-tuning offers a strong performance baseline with 5% lower training time than full fine-tuning, "
        "while full model fine-tuning still yields the best results overall."
    )
    told = choose(["We propose MedBLIP, a model of captions.", result])[EVIDENCE]
    assert told is not None
    assert "5% lower training time" in told.text


def test_evidence_is_shown_in_a_form_with_its_figure() -> None:
    long = (  # 2510.24702
        "We performed SFT on these data, and demonstrated an average performance gain of ~20% over corresponding "
        "base models, and delivers state-of-the-art or near-SOTA performance on standard coding, browsing, tool use, and "
        "research benchmarks, without domain-specific tuning."
    )
    told = choose(["We propose a framework for agents.", long])[EVIDENCE]
    assert told is not None
    assert "gain of ~20%" in told.text


def test_a_clause_with_the_figure_is_evidence_rather_than_its_sentence_without() -> None:
    long = (  # 2505.04175
        "Extensive experiments conducted on six benchmark datasets IC13, IC15, SVT, IIIT5K, SVTP, and CUTE80 validate the "
        "proposed method's efficacy, achieving notable accuracies: 97.32% on IC13, 58.26% on IC15, 88.10% on SVT, 74.13% on "
        "IIIT5K, 82.17% on SVTP, and 66.67% on CUTE80, resulting in an average accuracy of 77.77%."
    )
    context = (
        "This paper introduces a framework that combines ResNet and Vision Transformer backbones with advanced methods."
    )
    told = choose(["Text recognition in natural images remains a challenging task.", context, long])[EVIDENCE]
    assert told is not None
    assert told.text.startswith("Achieves notable accuracies: 97.32% on IC13")


@pytest.mark.parametrize(
    "last",
    [
        "The results of a case study with traces of two hospitals are presented and discussed.",
        "We evaluate the effectiveness of Tidy on traces of two hospitals and on public benchmarks.",
    ],
)
def test_what_was_done_without_an_outcome_is_no_evidence(last: str) -> None:
    assert choose([*PLAIN[:4], last])[EVIDENCE] is None
