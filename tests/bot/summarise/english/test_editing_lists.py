"""Lists of which a sentence has only a part, a test per rule."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.editing import mend_list


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The cache has three stages: (1) a quick one.", "The cache has stages, among them a quick one."),
        ("We find two key results: 1) Caches are slow.", "We find key results: Caches are slow."),
        ("It rests on two ideas: (1) the authors sleep.", "It rests on ideas: the authors sleep."),
        ("It rests on two ideas: First, a cache that sleeps.", "It rests on ideas, among them a cache that sleeps."),
        ("Two limits remain, namely: (i) caches sleep.", "Limits remain: caches sleep."),
        (
            "It is composed of two key parts: 1) A night cache of type A or so.",
            "It is composed of key parts: a night cache of type A or so.",
        ),
        (
            "It goes in two stages: 1) Night Sleep: the authors sleep.",
            "It goes in stages, among them Night Sleep: the authors sleep.",
        ),
        (
            "The authors make the following contributions: (i) the authors sleep.",
            "The authors make contributions: they sleep.",
        ),
        (
            "The authors make two contributions: (i) The authors sleep.",
            "The authors make contributions: they sleep.",
        ),
        (
            "It is a pipeline for 5 large hosts of the Tibet Plateau: (1) a cache.",
            "It is a pipeline for 5 large hosts of the Tibet Plateau: a cache.",
        ),
        ("We present a framework with three contributions.", "We present a framework with contributions."),
        (  # 2602.16855
            "GUI-Owl-1.5 incorporates several innovations: (1) a flywheel of data.",
            "GUI-Owl-1.5 incorporates several innovations, among them a flywheel of data.",
        ),
        ("We test it in three domains.", "We test it in three domains."),
        ("All of them suffer from: (1) noise.", "All of them suffer from: noise."),
        ("The results are as follows: (1) caches sleep.", "The results are as follows: caches sleep."),
        ("The cache is small and quick; 2) sorting; 3) telling.", "The cache is small and quick."),
        ("The cache is small and quick here; iii.).", "The cache is small and quick here."),
        ("The cache is small and quick; and (ii) the tests are long.", "The cache is small and quick."),
    ],
)
def test_a_part_of_a_list_is_told_as_a_part(before: str, after: str) -> None:
    assert mend_list(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "The cache has two stages: (1) reading, and (2) writing.",
        "The cache has two stages: first, it reads; then, it writes.",
        "The cache works in a process: first, it reads.",
        "The cache, first, reads.",
        "It costs O(1) time: a constant.",
        "The score (F1) is high: 0.7.",
        "Small; 2) sorting.",
    ],
)
def test_a_whole_list_and_what_is_none_stay(sentence: str) -> None:
    assert mend_list(sentence) == sentence


WORDS = st.lists(st.sampled_from(["reads", "a", "Maestro", "7", "(2)", "2)", ";", "then", "caches", "of"]), max_size=12)


def bare(text: str) -> list[str]:
    """The words without what stands around them."""
    return re.sub(r"[:;,.]", " ", text).split()


@given(
    st.sampled_from(["It has two", "The cache knows three", "It rests on the", "All of them suffer from"]),
    st.sampled_from(["stages:", "ideas, namely:", "stages,", "noise:"]),
    st.sampled_from(["(1)", "(i)", "1)", "First,"]),
    WORDS,
)
def test_a_list_loses_its_marks_and_count_and_no_other_word(head: str, join: str, mark: str, words: list[str]) -> None:
    text = " ".join([head, join, mark, *words]) + "."
    mended = bare(mend_list(text))
    marked = bare(text)
    unmarked = [*bare(f"{head} {join}"), *bare(" ".join(words))]
    among = [*bare(f"{head} {join}"), "among", "them", *bare(" ".join(words))]
    uncounted = [[word for word in each if word not in ("two", "three")] for each in (unmarked, among)]
    assert "namely" in text or mended in (marked, unmarked, among, *uncounted)
