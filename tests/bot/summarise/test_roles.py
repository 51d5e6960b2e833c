"""The rule-based role scorer and the choice of the parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import PARTS
from bot.summarise.fitness import EVIDENCE, METHOD, PROBLEM, WHY
from bot.summarise.parts import choose
from bot.summarise.roles import ROLES, score
from bot.summarise.sentences import split

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "This opens the way to caches that need no operator.",
]


def test_each_row_is_a_distribution_over_the_roles() -> None:
    matrix = score(PLAIN)
    assert matrix.shape == (len(PLAIN), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)


def test_the_plain_abstract_gets_the_roles_that_a_reader_gives_it() -> None:
    likeliest = [ROLES[at] for at in score(PLAIN).argmax(axis=1)]
    assert likeliest == ["background", "background", "method", "method", "result", "result"]


def test_no_sentences_give_no_rows() -> None:
    assert score([]).shape == (0, len(ROLES))


def test_the_parts_of_the_plain_abstract_are_its_sentences_in_order() -> None:
    assert choose(PLAIN) == {PROBLEM: (1,), METHOD: (2, 3), EVIDENCE: (4,), WHY: (5,)}


def test_a_part_that_is_not_there_is_left_out() -> None:
    assert choose(PLAIN[:4])[EVIDENCE] == ()
    assert choose(PLAIN[2:5])[PROBLEM] == ()


def test_evidence_prefers_figures() -> None:
    sentences = [*PLAIN[:4], "The results show that Tidy is effective.", PLAIN[4]]
    assert 5 in choose(sentences)[EVIDENCE]


def test_available_code_is_a_reason_to_care_when_there_is_no_other() -> None:
    sentences = [*PLAIN[:5], "Our code is available at https://example.org/tidy."]
    assert choose(sentences)[WHY] == (5,)


def test_a_withdrawal_notice_stands_for_nothing() -> None:
    notice = "This paper has been withdrawn by the author due to a crucial error in equation 3."
    assert choose([notice]) == dict.fromkeys(PARTS, ())


def test_a_text_without_any_cue_is_taken_as_what_the_work_is() -> None:
    assert choose(["Turtles of the southern seas."])[METHOD] == (0,)


WORDS = st.sampled_from(
    [
        "we",
        "propose",
        "however",
        "results",
        "show",
        "31%",
        "enables",
        "the",
        "cache",
        "this",
        "available",
        "code",
        ". ",
        "\n",
    ]
)


@given(st.lists(WORDS, max_size=80).map(" ".join))
def test_no_sentence_stands_for_two_parts_and_none_has_more_than_two(text: str) -> None:
    sentences = split(text)
    chosen = [at for places in choose(sentences).values() for at in places]
    assert len(chosen) == len(set(chosen))
    assert all(len(places) <= 2 for places in choose(sentences).values())


@pytest.mark.parametrize("count", [1, 2, 500])
def test_any_number_of_sentences_is_taken(count: int) -> None:
    assert set(choose(["We propose a method that uses caches."] * count)) == set(PARTS)
