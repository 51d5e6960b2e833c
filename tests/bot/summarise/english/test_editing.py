"""Light edits: each leaves meaning, numbers and names as they are."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.anaphora import resolve
from bot.summarise.english.editing import LONGEST, edit
from bot.summarise.english.sentences import split
from tests.fakes.edition import items

RECORDS = Path(__file__).parents[3] / "payloads" / "records.jsonl.gz"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  We   show\nit.  ", "Shows it."),
        ("However, the cost is high.", "The cost is high."),
        ("Methods: To this end, we study drift.", "Studies drift."),
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
    assert edit(before) == after


@pytest.mark.parametrize("sentence", ["Yet another benchmark is here.", "Although it helps, the cost is high."])
def test_a_sentence_that_stands_by_itself_stays(sentence: str) -> None:
    assert edit(sentence) == sentence


def test_a_name_in_lower_case_keeps_it_at_the_beginning() -> None:
    assert edit("However, nomp is fast.", frozenset({"nomp"})) == "nomp is fast."
    assert edit("However, k-means is fast.") == "K-means is fast."
    assert edit("However, GPUs are fast.") == "GPUs are fast."


NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z])\w+")
OURS = {"The", "They", "It", "Its"}  # with a capital because they begin


def in_order(some: list[str], all_of_them: list[str]) -> bool:
    rest = iter(all_of_them)
    return all(each in rest for each in some)


def texts() -> list[str]:
    """The abstracts of a real day, and of real records chosen for what is odd in them."""
    with gzip.open(RECORDS, "rt", encoding="utf-8") as lines:
        odd = [str(json.loads(line).get("abstract", "")) for line in lines]
    return [*(item.abstract for item in items()), *odd]


def test_every_number_and_name_of_an_edit_stands_in_its_source_in_the_same_order() -> None:
    for abstract in texts():
        sentences = split(abstract)
        for at, told in enumerate(resolve(sentences)):
            text = edit(told.text, longest=30)
            source = sentences[at] if told.source == at else f"{sentences[told.source]} {sentences[at]}"
            assert in_order(NUMBER.findall(text), NUMBER.findall(source)), text
            names = [name for name in NAME.findall(text.split(" ", 1)[-1]) if name not in OURS]
            assert in_order(names, NAME.findall(source)), text


def test_an_edit_adds_no_word_but_those_for_the_authors() -> None:
    for abstract in texts():
        for sentence in split(abstract):
            text = edit(sentence)
            added = set(re.findall(r"\w+", text.lower())) - set(re.findall(r"\w+", sentence.lower()))
            other = added - {"the", "authors", "they", "their", "them"} - {"it", "possible", "among"}
            assert len(other) <= 3, text  # propose → proposes, a second verb, allows → makes
            assert len(text.split()) <= max(LONGEST, len(sentence.split()) + 4), text  # we → the authors


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    assert set(re.findall(r"\d", edit(text))) <= set(re.findall(r"\d", text))


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Our code is available at https://github.com/lab/fast.", "The code is available."),
        ("Code and data: https://lab.example/a_(b).", "Code and data."),
        ("All models are released (https://lab.example/models).", "All models are released."),
        ("See https://lab.example.", "See https://lab.example."),
        ("A guide, superseded by https://lab.example/new", "A guide, superseded by https://lab.example/new."),
        ("It is fast (code at https://lab.example/fast).", "It is fast (code at https://lab.example/fast)."),
        ("The site https://lab.example hosts the data.", "The site https://lab.example hosts the data."),
        ("Code is available at github.com/lab/fast .", "Code is available."),
        ("Code available at https://lab.example/a.", "Code is available."),
        ("Code and data are available at https://lab.example/a.", "Code and data are available."),
        ("Code and model will be available at https://lab.example/a.", "Code and model will be available."),
        ("Source code and data set is available: https://lab.example/a.", "Source code and data set is available."),
        ("Code and data available: https://lab.example/a", "Code and data are available."),
        ("Code is available at the link.", "Code is available."),
        ("Code is available at the following link: https://lab.example/a", "Code is available."),
        ("The data are available here.", "The data are available."),
        ("The work found the link between them.", "The work found the link between them."),
        ("Code is available at (https://lab.example/a).", "Code is available."),
        ("We release it at https://lab.example/a, to help others.", "Releases it, to help others."),
        ("Data (https://lab.example/a) and code are here.", "Data and code are here."),
        ("We present https://lab.example, the first of them.", "Presents https://lab.example, the first of them."),
    ],
)
def test_an_address_at_the_end_goes_when_a_sentence_is_left(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "We conduct detailed experiments, demonstrating that X wins.",
            "Conducts detailed experiments, demonstrating that X wins.",
        ),
        ("We perform experiments on Y, showing that X wins.", "Performs experiments on Y, showing that X wins."),
        ("We conduct a large study of Y, revealing the cost.", "Conducts a large study of Y, revealing the cost."),
        ("We conduct an analysis which show that X wins.", "Conducts an analysis which show that X wins."),
        (
            "We conduct tests on Y, and the results show that X wins.",
            "Conducts tests on Y, and the results show that X wins.",
        ),
        ("Experiments are conducted on Y, showing that X wins.", "Experiments are conducted on Y, showing that X wins."),
        (
            "We run tests on two sets, namely Y and Z, showing that X wins.",
            "The authors run tests on two sets, namely Y and Z, showing that X wins.",
        ),
        (
            "We run tests on two sets, Y and Z, showing that X wins.",
            "The authors run tests on two sets, Y and Z, showing that X wins.",
        ),
        (
            "We run tests on data sets, Y and Z, showing that X wins.",
            "The authors run tests on data sets, Y and Z, showing that X wins.",
        ),
        (
            "We run tests with Y and Z, two sets, showing that X wins.",
            "The authors run tests with Y and Z, two sets, showing that X wins.",
        ),
        (
            "We run tests on two sets (i.e., Y and Z), showing that X wins.",
            "The authors run tests on two sets (i.e., Y and Z), showing that X wins.",
        ),
        ("We run tests on Y, Z, and W, showing that X wins.", "The authors run tests on Y, Z, and W, showing that X wins."),
        ("We run tests on Y, Z and W, showing that X wins.", "The authors run tests on Y, Z and W, showing that X wins."),
    ],
)
def test_that_trials_were_made_is_said_as_the_authors_say_it(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "We conduct detailed experiments to demonstrate that X wins.",
            "Conducts detailed experiments to demonstrate that X wins.",
        ),
        (
            "Experiments were carried out to validate the efficiency of X.",
            "Experiments were carried out to validate the efficiency of X.",
        ),
        ("We conduct experiments to establish a baseline.", "Conducts experiments to establish a baseline."),
        ("We conduct experiments to validate the model.", "Conducts experiments to validate the model."),
        (
            "We conduct experiments on Y, showing that X wins and find that Z loses.",
            "The authors conduct experiments on Y, showing that X wins and find that Z loses.",
        ),
        ("We conduct experiments on Y and show that X wins.", "Conducts experiments on Y and shows that X wins."),
        ("Experiments are conducted on Y.", "Experiments are conducted on Y."),
        ("We conduct interviews, showing that X wins.", "Conducts interviews, showing that X wins."),
    ],
)
def test_what_trials_are_meant_to_show_becomes_no_claim(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("We address this gap by proposing X.", "Addresses this gap by proposing X."),
        (
            "We tackle these key challenges by jointly applying X and building Y.",
            "Tackles these key challenges by jointly applying X and building Y.",
        ),
        ("Maestro solves this problem by establishing Y.", "Maestro solves this problem by establishing Y."),
        ("We address the above issues by applying X.", "Addresses the above issues by applying X."),
        ("This study addresses this gap by introducing X.", "Addresses this gap by introducing X."),
        ("We propose X, which addresses this by studying Y.", "Proposes X, which addresses this by studying Y."),
        (
            "We address this gap by proposing X, which is fast and growing.",
            "Addresses this gap by proposing X, which is fast and growing.",
        ),
    ],
)
def test_why_something_is_done_stays_beside_it(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("We address the lack of data by proposing X.", "Addresses the lack of data by proposing X."),
        ("We address this gap with X.", "Addresses this gap with X."),
        ("We address this gap by sketching X.", "Addresses this gap by sketching X."),
        (
            "We address this gap by proposing X, building Y, and testing Z.",
            "Addresses this gap by proposing X, building Y, and testing Z.",
        ),
        ("We address this gap by proposing X and sketching Y.", "Addresses this gap by proposing X and sketching Y."),
    ],
)
def test_by_which_means_stays_as_it_is_said(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("We propose in this paper a cache.", "Proposes in this paper a cache."),
        ("To save time, in this work, we sleep.", "To save time, in this work, the authors sleep."),
        ("A cache is proposed herein.", "A cache is proposed herein."),
        ("A cache is studied in this work.", "A cache is studied in this work."),
        ("We present Maestro, a cache in this paper.", "Presents Maestro, a cache in this paper."),
        ("The cost of the the cache is high.", "The cost of the the cache is high."),
        ("An average average cost is high.", "An average average cost is high."),
        ("Duran Duran is played.", "Duran Duran is played."),
        ("We know that that cost is high.", "We know that that cost is high."),
        ("We introduce Maestro in this work, a cache.", "Introduces Maestro in this work, a cache."),
        ("They sleep in in-memory caches.", "They sleep in in-memory caches."),
        ("It compares to the cache introduced in this work.", "It compares to the cache introduced in this work."),
        ("The goal of this paper is sleep.", "The goal of this paper is sleep."),
    ],
)
def test_no_word_goes_from_the_middle_of_a_sentence(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "We present X (We use the word as all players do.), a cache.",
            "The authors present X (they use the word as all players do.), a cache.",
        ),
        (
            "We present X (we use the word as 3 players do), a cache.",
            "The authors present X (they use the word as 3 players do), a cache.",
        ),
        (
            "We present X (a cache that we use each day), a cache.",
            "The authors present X (a cache that they use each day), a cache.",
        ),
        (
            "To the best of our knowledge, we are the first to show X.",
            "To the best of the authors' knowledge, the authors are the first to show X.",
        ),
        (
            "To our knowledge, we are the first to show that we win.",
            "To the authors' knowledge, the authors are the first to show that they win.",
        ),
        (
            "To our knowledge, we are the first of the house.",
            "To the authors' knowledge, the authors are the first of the house.",
        ),
    ],
)
def test_what_the_authors_say_of_themselves_is_told_of_them(sentence: str, shown: str) -> None:
    assert edit(sentence) == shown


WORDS = st.sampled_from(
    [
        *[
            "We conduct",
            "perform",
            "experiments",
            "a study",
            "on",
            "to demonstrate",
            "showing",
            "that",
            "We address this gap by",
        ],
        *[
            "proposing",
            "building",
            "and",
            ",",
            "X",
            "wins",
            "3",
            "in this paper",
            "are conducted",
            "allows us to",
            "lets us",
        ],
    ]
)


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_no_number_or_name_comes_in_or_changes_its_place(text: str) -> None:
    def named(some: str) -> list[str]:
        return [word for word in re.findall(r"\w+", some) if word in {"3", "X"}]

    assert in_order(named(edit(text)), named(text))
