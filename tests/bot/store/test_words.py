"""Bare words and stems."""

import pytest

from bot.models import And, Label, Not, Or, Term
from bot.store.words import split, stems


def same(*words: str) -> bool:
    return len({stems(word) for word in words}) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("train", "training", "trained"),
        ("quantize", "quantization", "quantise", "quantisation", "quantised"),
        ("optimize", "optimise", "optimization", "optimisation", "optimised"),
        ("analyse", "analyze", "analysed"),
        ("behaviour", "behavior", "behavioural"),
        ("precise", "precision"),
        ("noise", "noising"),
    ],
)
def test_inflections_and_spellings_share_a_stem(words: tuple[str, ...]) -> None:
    assert same(*words)


@pytest.mark.parametrize(
    "words", [("our", "or"), ("four", "for"), ("noise", "noize"), ("h100", "h10"), ("gpu", "gp"), ("is", "iz")]
)
def test_short_words_and_codes_keep_to_themselves(words: tuple[str, ...]) -> None:
    assert not same(*words)


def test_a_stem_is_no_folded_token() -> None:
    assert stems("cache _6a21_ __ h100") == "_scach _s_6a21_ _s__ _sh100"


def test_bare_words_of_the_outermost_and_are_alternatives_and_the_rest_are_conditions() -> None:
    label, phrase = Label("kind", "paper"), Term("kv cache", quoted=True)
    either, no = Or((Term("a1"), Term("b1"))), Not(Term("c1"))
    tree = And((Term("caches"), label, phrase, Term("Serving"), either, no, Term("x", "title"), Term("y", prefix=True)))
    phrases, rest = split(tree)
    assert phrases == ("_scach", "_sserv")
    assert rest == And((label, phrase, either, no, Term("x", "title"), Term("y", prefix=True)))


def test_a_word_alone_is_an_alternative_and_no_word_gives_none() -> None:
    assert split(Term("cache")) == (("_scach",), And(()))
    assert split(And(())) == ((), And(()))
    assert split(Label("kind", "paper")) == ((), And((Label("kind", "paper"),)))


def test_a_word_that_folds_to_nothing_finds_nothing_yet_is_a_word() -> None:
    assert split(Term("…")) == (("",), And(()))
    assert split(And((Term("…"), Term("cache")))) == (("_scach",), And(()))


def test_a_hyphenated_word_is_looked_for_apart_and_joined() -> None:
    assert split(Term("pre-trained"))[0] == ("_spre _strain", "_spretrain")


def test_function_words_count_only_among_themselves() -> None:
    assert split(And((Term("The"), Term("cache"))))[0] == ("_scach",)
    assert split(And((Term("to"), Term("be"))))[0] == ("_sto", "_sbe")
