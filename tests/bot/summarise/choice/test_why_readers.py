"""Whether a reader would show a line: by its words and by what is known of its sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.choice.why import SIGNS
from bot.summarise.choice.why_readers import Weights, odds, odds_by, runs, shipped

NONE = Weights(("one", "two"), np.zeros(2), 0.0, {})


def test_words_pairs_numbers_and_ends_are_runs() -> None:
    assert runs("Cuts costs by 12.5%.") == {
        *("<", "cuts", "costs", "by", "0", "%", ".", ">"),
        *("< cuts", "cuts costs", "costs by", "by 0", "0 %", "% .", ". >"),
    }


def test_what_is_known_of_words_and_signs_is_added_and_words_are_shared_by_the_root_of_their_number() -> None:
    weights = NONE._replace(
        signs=np.array([2.0, 0.5]), start=-1.0, words={"enabling": 3.0, "phones": 1.0, "< enabling": 2.0}
    )
    told = odds_by(np.array([[1.0, 2.0], [0.0, 0.0]]), ["Enabling it on phones", "Enabling, enabling"], weights)
    assert told == pytest.approx([2.0 + 1.0 - 1.0 + 6.0 / 3**0.5, -1.0 + 5.0 / 2**0.5])


@given(st.text())
def test_whatever_a_line_says_it_is_told_in_numbers_and_without_a_known_word_by_its_signs_alone(text: str) -> None:
    table = np.zeros((1, len(SIGNS)))
    assert np.isfinite(odds(table, [text])).all()
    assert odds_by(np.zeros((1, 2)), [text], NONE) == pytest.approx([0.0])


def test_the_shipped_weights_are_of_the_signs_that_are_told() -> None:
    weights = shipped()
    assert weights.names == SIGNS
    assert len(weights.words) > 1_000


@pytest.mark.parametrize(
    ("shown", "not_shown"),
    [
        (
            "The method lets 70B models run on one consumer GPU.",
            "The findings highlight the potential of the approach for future research.",
        ),
        (
            "Misread labels cause a third of all dosing errors in hospitals.",
            "Large language models have attracted considerable attention in recent years.",
        ),
    ],
)
def test_a_concrete_line_is_preferred_to_one_that_any_paper_could_have(shown: str, not_shown: str) -> None:
    better, worse = odds(np.zeros((2, len(SIGNS))), [shown, not_shown])
    assert better > worse
