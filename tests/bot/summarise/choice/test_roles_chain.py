"""The chain over the sentences, held against every chain counted one by one."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.choice.roles import Matrix, marginals

KINDS = 3
WEIGHTS = st.floats(-20, 20)


def counted(emissions: Matrix, transitions: Matrix) -> dict[tuple[int, ...], float]:
    """Every chain with its share of all."""
    weights = {
        kinds: float(
            np.exp(
                sum(emissions[at, kind] for at, kind in enumerate(kinds))
                + sum(transitions[one, other] for one, other in itertools.pairwise(kinds))
            )
        )
        for kinds in itertools.product(range(KINDS), repeat=len(emissions))
    }
    total = sum(weights.values())
    return {kinds: weight / total for kinds, weight in weights.items()}


@st.composite
def chains(draw: st.DrawFn) -> tuple[Matrix, Matrix]:
    count = draw(st.integers(1, 4))
    rows = st.lists(WEIGHTS, min_size=KINDS, max_size=KINDS)
    emissions = draw(st.lists(rows, min_size=count, max_size=count))
    transitions = draw(st.lists(rows, min_size=KINDS, max_size=KINDS))
    return np.array(emissions), np.array(transitions)


@given(chains())
def test_a_sentence_is_as_likely_of_a_kind_as_the_chains_in_which_it_is(chain: tuple[Matrix, Matrix]) -> None:
    shares = counted(*chain)
    found = marginals(*chain)
    for at, kind in itertools.product(range(len(found)), range(KINDS)):
        assert np.isclose(found[at, kind], sum(share for kinds, share in shares.items() if kinds[at] == kind), atol=1e-9)


def test_a_long_text_of_sure_sentences_does_not_run_out_of_numbers() -> None:
    found = marginals(np.tile([700.0, 0.0, -700.0], (500, 1)), np.zeros((KINDS, KINDS)))
    assert np.allclose(found, [1, 0, 0])
