"""Ratios in words are held against the words and the numbers of the text."""

import pytest

from bot.summarise.llm.grounding import faults
from bot.summarise.llm.number_words import in_figures

SOURCE = "Tidy cuts the misses of 16 caches by 31%, runs 2.1x faster, and raises hits from 20 to 41 in 48% of all cases."


@pytest.mark.parametrize(
    "said",
    [
        "Tidy runs twice as fast.",
        "Tidy about doubles hits, from 20 to 41.",
        "In half of all cases hits are raised.",
        "Sixteen caches have fewer misses.",
        "In a third of cases misses of caches are cut.",
        "Tidy halves the time, as it runs 2.1x faster.",
    ],
)
def test_a_ratio_that_the_text_tells_otherwise_is_grounded(said: str) -> None:
    assert faults(said, SOURCE) == []


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("Tidy runs three times faster, a threefold gain.", "threefold"),
        ("Tidy runs an order of magnitude faster.", "order of magnitude"),
        ("Tidy is orders of magnitude faster.", "orders of magnitude"),
        ("Tidy runs tenfold faster.", "tenfold"),
        ("In three quarters of all cases hits are raised.", "three quarters"),
        ("In two-thirds of all cases hits are raised.", "two-thirds"),
        ("Tidy triples the hits.", "triples"),
    ],
)
def test_a_ratio_that_the_text_does_not_tell_is_found(said: str, fault: str) -> None:
    assert f"the number {fault}" in faults(said, SOURCE)


def test_misses_cut_in_half_are_no_31_percent() -> None:
    assert faults("Tidy cuts misses in half.", "Tidy cuts the misses of caches by 31%.") == ["the number half"]


@pytest.mark.parametrize(
    "said", ["A half-precision cache.", "A double-blind test of the cache.", "The third cache is tidy."]
)
def test_words_that_are_no_ratio_are_left_alone(said: str) -> None:
    assert not [
        fault for fault in faults(said, "A cache that is tidy, under test, blind and of precision.") if "number" in fault
    ]


def test_number_words_become_figures() -> None:
    assert in_figures("thirty-one of sixteen, not tenfold") == "31 of 16, not tenfold"
