import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.english.alternation import one_of
from bot.summarise.english.third_person import FINITE, finite_verbs

WORDS = st.text("abc-.^", min_size=1, max_size=5)


@given(st.sets(WORDS, min_size=1, max_size=12), st.text("abc-.^ ", max_size=20), st.sampled_from([0, re.IGNORECASE]))
def test_it_finds_the_longest_of_the_words_at_each_place(words: set[str], text: str, flags: int) -> None:
    plain = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    assert re.findall(one_of(words), text, flags) == re.findall(plain, text, flags)


@given(st.sets(WORDS, min_size=1, max_size=12), WORDS)
def test_it_matches_its_words_and_nothing_else(words: set[str], other: str) -> None:
    pattern = re.compile(one_of(words))
    assert all(pattern.fullmatch(word) for word in words)
    assert (pattern.fullmatch(other) is not None) == (other in words)


@given(st.lists(st.sampled_from([*sorted(finite_verbs()), "fine-tune", "a", "ed", "s", "-", ", "]), max_size=8))
def test_the_verbs_are_found_as_by_a_plain_list_of_them(pieces: list[str]) -> None:
    plain = f"\\b(?:{'|'.join(sorted(finite_verbs()))})\\b"
    for text in ("".join(pieces), " ".join(pieces)):
        assert re.findall(rf"\b{FINITE}\b", text) == re.findall(plain, text)


def test_no_words_have_no_pattern() -> None:
    with pytest.raises(ValueError, match="no words"):
        one_of([])
