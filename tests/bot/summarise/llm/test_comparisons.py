"""Who is said to be ahead of whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.llm.claim_features import FEATURES, features, read
from bot.summarise.llm.comparisons import OTHERS, OWN, Comparison, against, comparisons, own_names

TEXT = (
    "Sieve: a cache for long contexts\n"
    "We propose Sieve and its variant SieveTwo. Our method outperforms strong baselines on five tasks. "
    "Static tables are faster than learned ones. Uniform sampling has lower error than greedy search."
)
SOURCE = read(TEXT)


def exchanged(said: str) -> float:
    return float(features(read(said), SOURCE)[0][FEATURES.index("parties exchanged")])


def of(words: str) -> list[Comparison]:
    return list(comparisons(words.split(), words.split()))


def test_names_of_what_is_proposed_are_read_from_title_and_text() -> None:
    assert own_names(TEXT) == {"sieve"}
    assert own_names("A cache\nWe introduce PagedKeys, a cache.") == {"pagedkeys"}


def test_the_sides_of_a_comparison_are_read() -> None:
    assert of("sieve clearly outperforms tables on tasks") == [
        Comparison(frozenset({"sieve"}), frozenset({"tables"}), SCALE)
    ]
    assert of("tables trail sieve")[0].ahead == {"sieve"}
    (lower,) = of("sieve has lower error than tables")
    assert lower.ahead == {"tables"}
    assert lower.behind == {"sieve"}
    assert of("existing work outperforms our cache")[0].ahead == {OTHERS, "work"}
    assert OWN in of("existing work outperforms our cache")[0].behind
    assert of("sieve outperforms") == []


SCALE = of("one outperforms two")[0].scales


@pytest.mark.parametrize(
    "said",
    [
        "Strong baselines outperform Sieve on five tasks.",
        "Existing methods outperform it.",
        "Learned tables are faster than static ones.",
        "Greedy search has lower error than uniform sampling.",
        "Uniform sampling has higher error than greedy search.",
    ],
)
def test_a_comparison_the_other_way_around_is_seen(said: str) -> None:
    assert exchanged(said) > 0.4


@pytest.mark.parametrize(
    "said",
    [
        "Sieve outperforms strong baselines.",
        "Strong baselines are outperformed.",
        "Static tables are faster than learned ones.",
        "Greedy search has higher error than uniform sampling.",
        "Sieve is a cache.",
    ],
)
def test_a_comparison_as_told_is_not(said: str) -> None:
    assert exchanged(said) == 0.0


def test_parties_that_were_never_compared_are_told_apart_from_those_exchanged() -> None:
    claim = Comparison(frozenset({"a"}), frozenset({"b"}), SCALE)
    assert against(claim, []) == (0.0, 1.0)
    assert against(claim, [claim]) == (0.0, 0.0)
    assert against(claim, [Comparison(claim.behind, claim.ahead, SCALE)]) == (1.0, 0.0)


SOME = ("a", "b", "than", "outperforms", "faster", "lower", "compared", "to", "over", ",", "our", "baselines")


@given(st.lists(st.sampled_from(SOME), max_size=60))
def test_no_sentence_has_more_comparisons_than_words(words: list[str]) -> None:
    assert len(list(comparisons(words, words))) <= len(words)
