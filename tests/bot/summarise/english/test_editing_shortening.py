"""Cutting at clause borders, a test per rule."""

import pytest

from bot.summarise.english.editing import edit, shorten
from tests.effort import effort

HEAD = "The system " + "moves data between two hosts " * 4 + "at night"


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (", enabling " + "quick and quiet work " * 3 + "for all", "."),
        (", thereby cutting " + "the cost of much of the work " * 2, "."),
        (", which makes " + "quick and quiet work " * 3 + "easy", "."),
    ],
)
def test_what_follows_from_a_long_sentence_goes(tail: str, kept: str) -> None:
    assert shorten(f"{HEAD}{tail}.", 30) == HEAD + kept


def test_what_stands_beside_it_goes_from_a_very_long_one_only() -> None:
    aside = f"{HEAD}, which its users like {'and praise ' * 5}."
    assert shorten(aside, 30) == aside
    longer = f"{HEAD}, which its users like {'and praise ' * 12}."
    assert shorten(longer, 30) == f"{HEAD}."


def test_what_turns_against_it_leaves_an_ellipsis() -> None:
    assert shorten(f"{HEAD}, while users sleep {'and wait and dream ' * 5}.") == f"{HEAD} …"


@pytest.mark.parametrize(
    "tail",
    [
        ", enabling it to save 12 hours of the work that it did",
        ", enabling Maestro to save hours of the work that it did",
        ", if users sleep and wait and dream of it and of much more",
        ", enabling it to save, and then to sleep and to dream and more",
    ],
)
def test_a_figure_a_name_a_condition_and_a_count_hold_it(tail: str) -> None:
    assert shorten(f"{HEAD}{tail}.", 30) == f"{HEAD}{tail}."


def test_what_is_not_meant_is_never_all_that_is_left() -> None:
    long = f"{HEAD} and what makes it slow is not the size of the data, but {'the noise and the long way ' * 6}at night."
    assert shorten(long) == long
    assert shorten(long.replace("not", "in part")).endswith("data …")


def test_a_name_that_was_said_before_does_not_hold_it() -> None:
    head = HEAD.replace("The system", "The system Maestro")
    assert shorten(f"{head}, enabling Maestro to save hours of the work that it did.", 30) == f"{head}."


def test_a_cut_never_leaves_a_bracket_open() -> None:
    long = "The system " + "moves data " * 10 + "(at night, while " + "users sleep and wait " * 8 + ")."
    assert shorten(long) == long


@pytest.mark.parametrize("dash", ["–", "—", "-"])
def test_a_cut_is_never_at_one_of_two_dashes(dash: str) -> None:
    long = f"The system {'moves data ' * 16}{dash} by day and by night {dash} to hosts whose {'users sleep and wait ' * 8}."
    assert shorten(long) == long
    assert shorten(long.replace(f"{dash} by", "by").replace(dash, "—")).endswith("by night.")


def test_a_cut_leaves_most_of_the_sentence() -> None:
    long = "The system moves data from here to there and back each night, which " + "users like and praise " * 12 + "."
    assert shorten(long) == long


def test_a_list_that_says_how_many_it_has_keeps_all_of_them() -> None:
    parts = ("reading " + "word after word " * 7, "sorting " + "page after page " * 7, "and telling what is there")
    text = f"The method of this paper has three stages: {'; '.join(part.strip() for part in parts)}."
    assert shorten(text) == text
    assert shorten(text.replace("three stages", "stages")) != text.replace("three stages", "stages")


def test_what_is_endless_is_left_as_it_is_and_takes_no_longer_for_it() -> None:
    plain = "Tidy reduces the misses of the caches by 31%, which helps all of the others to be read again; " * 210
    once = effort(lambda: edit(plain), tries=1)
    for tail in (", which enables caches", "; then", ", while two", " - it", ", but not", " — which (Tidy"):
        endless = f"We built Tidy{tail * (20_000 // len(tail))}."
        assert shorten(endless) == endless
        assert effort(lambda text=endless: edit(text), tries=1) < 20 * once  # type: ignore[misc]
