"""Plain words for what abstracts say by custom, a test per rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.plain import plainer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We conduct detailed experiments, demonstrating that X wins.", "Detailed experiments demonstrate that X wins."),
        ("We perform experiments on Y, showing that X wins.", "Experiments on Y show that X wins."),
        ("We conduct a large study of Y, revealing the cost.", "A large study of Y reveals the cost."),
        ("We conduct an analysis which show that X wins.", "An analysis shows that X wins."),
        ("We conduct tests on Y, and the results show that X wins.", "Tests on Y show that X wins."),
        ("Experiments are conducted on Y, showing that X wins.", "Experiments on Y show that X wins."),
        (
            "We run tests on two sets, namely Y and Z, showing that X wins.",
            "Tests on two sets, namely Y and Z, show that X wins.",
        ),
        ("We run tests on two sets, Y and Z, showing that X wins.", "Tests on two sets, Y and Z, show that X wins."),
        ("We run tests on data sets, Y and Z, showing that X wins.", "Tests on data sets, Y and Z, show that X wins."),
        ("We run tests with Y and Z, two sets, showing that X wins.", "Tests with Y and Z, two sets, show that X wins."),
        (
            "We run tests on two sets (i.e., Y and Z), showing that X wins.",
            "Tests on two sets (i.e., Y and Z) show that X wins.",
        ),
        ("We run tests on Y, Z, and W, showing that X wins.", "Tests on Y, Z, and W show that X wins."),
        ("We run tests on Y, Z and W, showing that X wins.", "Tests on Y, Z and W show that X wins."),
    ],
)
def test_what_trials_tell_is_told_by_them(before: str, after: str) -> None:
    assert plainer(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "We conduct detailed experiments to demonstrate that X wins.",
        "Experiments were carried out to validate the efficiency of X.",
        "We conduct experiments to establish a baseline.",
        "We conduct experiments to validate the model.",
        "We conduct experiments on Y, showing that X wins and find that Z loses.",
        "We conduct experiments on Y and show that X wins.",
        "Experiments are conducted on Y.",
        "We conduct interviews, showing that X wins.",
    ],
)
def test_what_they_are_only_meant_to_tell_stays(sentence: str) -> None:
    assert plainer(sentence) == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We address this gap by proposing X.", "We propose X."),
        ("We tackle these key challenges by jointly applying X and building Y.", "We jointly apply X and build Y."),
        ("Maestro solves this problem by establishing Y.", "Maestro establishes Y."),
        ("We address the above issues by applying X.", "We apply X."),
        ("This study addresses this gap by introducing X.", "This study introduces X."),
        ("We propose X, which addresses this by studying Y.", "We propose X, which studies Y."),
        ("We address this gap by proposing X, which is fast and growing.", "We propose X, which is fast and growing."),
    ],
)
def test_what_is_done_about_something_said_elsewhere_is_done(before: str, after: str) -> None:
    assert plainer(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "We address the lack of data by proposing X.",
        "We address this gap with X.",
        "We address this gap by sketching X.",
        "We address this gap by proposing X, building Y, and testing Z.",
        "We address this gap by proposing X and sketching Y.",
    ],
)
def test_it_stays_where_the_form_of_a_verb_is_not_certain(sentence: str) -> None:
    assert plainer(sentence) == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We propose in this paper a cache.", "We propose a cache."),
        ("To save time, in this work, we sleep.", "To save time, we sleep."),
        ("A cache is proposed herein.", "A cache is proposed."),
        ("A cache is studied in this work.", "A cache is studied."),
        ("We present Maestro, a cache in this paper.", "We present Maestro, a cache."),
        ("The cost of the the cache is high.", "The cost of the cache is high."),
        ("An average average cost is high.", "An average cost is high."),
        ("Duran Duran is played.", "Duran Duran is played."),
        ("We know that that cost is high.", "We know that that cost is high."),
        ("We introduce Maestro in this work, a cache.", "We introduce Maestro, a cache."),
        ("They sleep in in-memory caches.", "They sleep in in-memory caches."),
        ("It compares to the cache introduced in this work.", "It compares to the cache introduced in this work."),
        ("The goal of this paper is sleep.", "The goal of this paper is sleep."),
    ],
)
def test_in_this_paper_is_known(before: str, after: str) -> None:
    assert plainer(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It allows us to win.", "It makes it possible to win."),
        ("Enables us to win.", "Makes it possible to win."),
        ("It is fast, enabling us to win.", "It is fast, making it possible to win."),
        ("Caches let us win.", "Caches make it possible to win."),
        ("It helped us to win.", "It helped to win."),
        ("It provides us with a cache.", "It provides a cache."),
        ("It gives us new insights.", "It gives new insights."),
        ("It brings us closer to it.", "It brings us closer to it."),
        ("It gives us hope.", "It gives hope."),
    ],
)
def test_whom_it_helps_need_not_be_known(before: str, after: str) -> None:
    assert plainer(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We present X (We use the word as all players do.), a cache.", "We present X, a cache."),
        ("We present X (we use the word as 3 players do), a cache.", None),
        ("We present X (a cache that we use each day), a cache.", None),
        (
            "To the best of our knowledge, we are the first to show X.",
            "To the best of our knowledge, this work is the first to show X.",
        ),
        ("To our knowledge, we are the first to show that we win.", None),
        ("To our knowledge, we are the first of the house.", None),
    ],
)
def test_what_the_authors_say_of_themselves_is_told_of_the_work_where_that_is_safe(before: str, after: str | None) -> None:
    assert plainer(before) == (after or before)


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
    kept = [word for word in plainer(text).split() if word in {"3", "X"}]
    rest = iter(text.split())
    assert all(word in rest for word in kept)
