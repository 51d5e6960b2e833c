import re
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.choice import cue_phrases, why_cues
from bot.summarise.english.prefilter import (
    AnyScreened,
    Needle,
    Prefiltered,
    Screened,
    Screens,
    alternatives,
    needles,
    shapes,
)

CUES = [*cue_phrases.CUES.values(), *why_cues.CUES.values(), why_cues.MAY_SAY, why_cues.NEVER, cue_phrases.WITHDRAWN]
PIECES = (
    *("cache", "caches", "a", "no", "to", "re", "st"),
    *(r"\b", r"\w*", r"\w+", r"\d", r"\s", ".*", "^", "$", "-", " ", ",? ", "%", "[sz]", "[^,]", "[a-z-]", r"[\w-]", "[’']"),
    *("(?:the |a )?", "(?:s|es)?", "(?=a)", "(?!the )", "(?<=a )", "(?<!no )", "(us)", "x{2}", "(?:no ){0,2}", "e+?"),
)


@cache
def together() -> Prefiltered:
    return Prefiltered(CUES)


def patterns() -> st.SearchStrategy[str]:
    """Patterns of the pieces that this room's are made of, one behind the other and one beside the other."""
    one = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
    return st.lists(one, min_size=1, max_size=3).map(lambda each: f"(?:{'|'.join(each)})") | one


def texts() -> st.SearchStrategy[str]:
    signs = (*"caest z -,%’'23|~*#^xusno", "cache", "the ", "no ", "ſ", "é", "\n")
    return st.lists(st.sampled_from(signs), max_size=14).map("".join)


@given(st.lists(patterns(), min_size=1, max_size=4), texts())
def test_what_the_words_tell_is_what_the_patterns_tell(found: list[str], text: str) -> None:
    tried = [re.compile(each) for each in found]
    assert Prefiltered(tried).found(text) == [each.search(text) is not None for each in tried]


@given(patterns(), texts())
def test_a_pattern_is_in_a_text_where_one_of_its_alternatives_is(pattern: str, text: str) -> None:
    ways = [re.compile(way) for way in alternatives(pattern)]
    assert any(way.search(text) for way in ways) == (re.search(pattern, text) is not None)


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        (r"cache|\b(?:two|th(?:is|at))\b", ["cache", r"\btwo\b", r"\bth(?:is|at)\b"]),
        (r"^(?:this|it)\b|[|)]$", [r"^this\b", r"^it\b", "[|)]$"]),
        (r"(?:a|b)(?:c|d)", ["(?:a|b)(?:c|d)"]),
        (r"(?:a|b)+", ["(?:a|b)+"]),
        (r"\(a\||\)", [r"\(a\|", r"\)"]),
    ],
)
def test_alternatives_stand_between_bars_that_no_bracket_holds(pattern: str, ways: list[str]) -> None:
    assert alternatives(pattern) == ways


@given(
    st.text("acAEQſıİKßéΣ -%", max_size=10), st.sampled_from(["[A-Z]a", r"\Wa|E\B", "k|É", r"(?P<Q>q)\S", "[^A-K]", "ss"])
)
def test_a_pattern_that_ignores_case_finds_the_same_in_any_letters(text: str, pattern: str) -> None:
    plain, screened = re.compile(pattern, re.IGNORECASE), Screened(pattern, re.IGNORECASE, Screens())
    assert [each.span() for each in screened.finditer(text)] == [each.span() for each in plain.finditer(text)]
    assert bool(screened.match(text)) == bool(plain.match(text))
    assert screened.is_in(text) == bool(plain.search(text))


@given(patterns(), texts(), st.sampled_from([0, re.IGNORECASE]), st.sampled_from([str, str.upper, str.title]))
def test_a_screened_pattern_finds_what_the_pattern_does(
    pattern: str, text: str, flags: int, written: Callable[[str], str]
) -> None:
    plain, screened, text = re.compile(pattern, flags), Screened(pattern, flags, Screens()), written(text)
    assert [each.span() for each in screened.finditer(text)] == [each.span() for each in plain.finditer(text)]
    assert screened.findall(text) == plain.findall(text)
    assert screened.sub("!", text) == plain.sub("!", text)
    for ours, theirs in ((screened.search, plain.search), (screened.match, plain.match)):
        found, other = ours(text), theirs(text)
        assert (found and found.span()) == (other and other.span())


@given(patterns(), texts(), st.sampled_from([re.NOFLAG, re.IGNORECASE]), st.sampled_from([str, str.upper]))
def test_any_alternative_is_in_a_text_where_the_pattern_is(
    pattern: str, text: str, flags: re.RegexFlag, written: Callable[[str], str]
) -> None:
    screened, told = AnyScreened(pattern, flags, Screens()), written(text)
    assert screened.is_in(told) == (re.search(pattern, told, flags) is not None)


@given(st.lists(st.sampled_from(sorted({run.run for each in CUES for run in needles(each.pattern) or ()})), max_size=12))
def test_the_cues_are_told_of_any_of_their_words(words: list[str]) -> None:
    text = " ".join(words)
    assert together().found(text) == [each.search(text) is not None for each in CUES]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (r"\b(?:limit(?:s|ed)?)\b", {("limit", True), ("limits", True), ("limited", True)}),
        (r"\bignor\w*\b", {("ignor", True)}),
        (r"\bignor\w+", {("ignor", False)}),
        (r"\bpaves the way", {("paves", False)}),
        (r"\d\s?(?:%|percent)", {("#", False), ("percent", False)}),
    ],
)
def test_a_single_word_decides_and_part_of_a_match_does_not(pattern: str, told: set[tuple[str, bool]]) -> None:
    assert {(each.run, each.decides) for each in needles(pattern) or ()} == told


def test_a_pattern_that_can_match_anything_has_no_needles() -> None:
    assert needles(r"(?:cache)?") is None
    assert needles(r"[a-z]+") is None
    assert needles(r"cache|.") is None


def test_what_stands_at_the_beginning_of_a_text_is_known() -> None:
    assert needles("^this ") == frozenset([Needle("this", begins=True, ends=True, first=True, decides=False)])


@pytest.mark.parametrize("pattern", ["(?i:cache)", "(cache", "[cache", "cache)"])
def test_syntax_that_is_not_known_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|group|class"):
        shapes(pattern)


def test_nearly_all_cues_need_not_be_tried_on_a_sentence_without_their_words() -> None:
    assert sum(needles(each.pattern) is None for each in CUES) <= 1
