"""How far words are apart, and which of those that are known is nearest to one that is not."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.store.rules.spelling import distances, may_be_misspelt, misspelt_at_first, nearest, words_in

letters = st.text("abcde", min_size=1, max_size=8)


def slowly(one: str, other: str) -> int:
    """The same distance from its definition, a cell at a time."""
    table = [[row + column if not row * column else 0 for column in range(len(other) + 1)] for row in range(len(one) + 1)]
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            table[row][column] = min(
                table[row - 1][column] + 1,
                table[row][column - 1] + 1,
                table[row - 1][column - 1] + (one[row - 1] != other[column - 1]),
            )
            if row > 1 and column > 1 and one[row - 2 : row] == other[column - 2 : column][::-1]:
                table[row][column] = min(table[row][column], table[row - 2][column - 2] + 1)
    return table[-1][-1]


@settings(deadline=None)
@given(letters, st.lists(letters, min_size=1, max_size=9))
def test_all_distances_at_once_are_each_of_them(word: str, others: list[str]) -> None:
    assert distances(word, others).tolist() == [slowly(word, other) for other in others]


@given(st.text("abcde", min_size=4, max_size=7), letters)
def test_a_word_that_is_near_is_known_by_its_first_letter_or_by_all_but_it(word: str, other: str) -> None:
    if len(other) > 3 and nearest(word, [(other, 1)]):
        assert other[0] == word[0] or other in misspelt_at_first(word) or word[1] == other[0]


def test_the_nearest_comes_first_and_of_equals_the_commonest() -> None:
    known = [("discussion", 9), ("diffusion", 500), ("effusion", 1), ("fusion", 99)]
    assert nearest("difussion", known) == ("diffusion", "discussion")
    assert nearest("theorm", [("theory", 900), ("theorem", 5)]) == ("theorem", "theory")
    assert nearest("cahce", [("cache", 2), ("chase", 9)]) == ("cache",)
    assert nearest("sourdough", [("soundness", 9)]) == ()
    assert nearest("cache", [("cache", 9)]) == ()


def test_a_short_word_has_its_letters_in_the_wrong_order_at_most() -> None:
    assert nearest("modle", [("model", 900), ("mode", 5)]) == ("model",)
    assert nearest("stove", [("store", 900), ("stone", 900)]) == ()


def test_short_words_figures_and_other_scripts_are_not_told_apart() -> None:
    assert not any(map(may_be_misspelt, ("kv", "rag", "gpt4", "_6a21_", "x" * 99)))
    assert words_in(("kv cache gpt4 __ pretraining", "_6a21_")) == {"kv", "cache", "pretraining"}
