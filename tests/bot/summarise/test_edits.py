"""Light edits: each leaves meaning, numbers and names as they are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.edits import LONGEST, edited
from bot.summarise.sentences import split
from tests.fakes.edition import items


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  We   show\nit.  ", "Shows it."),
        ("- The cost is high.", "The cost is high."),
        ("2) The cost is high.", "The cost is high."),
        ("However, the cost is high.", "The cost is high."),
        ("To this end, vLLM pages memory.", "vLLM pages memory."),
        ("To address these challenges, Maestro predicts lengths.", "Maestro predicts lengths."),
        ("Based on this observation, we propose ReSET, a method.", "Proposes ReSET, a method."),
        ("In this paper, we propose nomp: a framework.", "Proposes nomp: a framework."),
        ("We empirically study drift.", "Empirically studies drift."),
        ("We address it.", "Addresses it."),
        ("We finally demonstrate gains.", "Demonstrates gains."),
        ("This paper proposes a method.", "Proposes a method."),
        ("In this work, this paper presents a method.", "Presents a method."),
        ("The cost is high", "The cost is high."),
        ("Is it fast?", "Is it fast?"),
    ],
)
def test_an_edit_is_made(before: str, after: str) -> None:
    assert edited(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "We propose X and evaluate it on two machines.",
        "We design, train and open-source a model.",
        "We introduce our second system.",
        "We show that we can do it.",
        "This paper presents a method and shows that it works.",
        "We do not propose it.",
        "Yet another benchmark is here.",
        "Although it helps, the cost is high.",
    ],
)
def test_a_sentence_that_would_not_read_well_afterwards_stays(sentence: str) -> None:
    assert edited(sentence) == sentence


def test_a_name_in_lower_case_keeps_it_at_the_beginning() -> None:
    assert edited("However, nomp is fast.", frozenset({"nomp"})) == "nomp is fast."
    assert edited("However, k-means is fast.") == "K-means is fast."
    assert edited("However, GPUs are fast.") == "GPUs are fast."


def test_a_very_long_sentence_is_cut_at_a_clause_border() -> None:
    long = "The system " + "moves data between hosts " * 8 + "at night, while " + "users sleep and wait and dream " * 4 + "."
    assert edited(long).endswith("at night …")


def test_a_figure_in_the_tail_keeps_a_long_sentence_whole() -> None:
    long = (
        "The system " + "moves data between hosts " * 8 + "at night, while " + "users sleep and wait " * 4 + "for 12 hours."
    )
    assert edited(long) == long


def test_a_cut_never_leaves_a_bracket_open() -> None:
    long = "The system " + "moves data " * 10 + "(at night, while " + "users sleep and wait " * 8 + ")."
    assert edited(long) == long


def test_no_edit_of_a_real_abstract_makes_or_changes_a_number_or_a_word() -> None:
    for item in items():
        for sentence in split(item.abstract):
            text = edited(sentence)
            assert set(re.findall(r"\d[\d.,]*", text)) <= set(re.findall(r"\d[\d.,]*", sentence))
            added = set(re.findall(r"\w+", text.lower())) - set(re.findall(r"\w+", sentence.lower()))
            assert len(added) <= 1  # propose → proposes
            assert len(text.split()) <= max(LONGEST, len(sentence.split()))


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    assert set(re.findall(r"\d", edited(text))) <= set(re.findall(r"\d", text))


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Our code is available at https://github.com/lab/fast.", "Our code is available."),
        ("Code and data: https://lab.example/a_(b).", "Code and data."),
        ("All models are released (https://lab.example/models).", "All models are released."),
        ("See https://lab.example.", "See https://lab.example."),
        ("The site https://lab.example hosts the data.", "The site https://lab.example hosts the data."),
    ],
)
def test_an_address_at_the_end_goes_when_a_sentence_is_left(sentence: str, shown: str) -> None:
    assert edited(sentence) == shown
