"""Bare words and stems."""

from dataclasses import replace

import pytest

from bot.models import And, Label, Not, Or, Term
from bot.query.fields import TEXT, text_of
from bot.store.rules.search_terms import folded_texts, split, stem_of, stemmed, stems
from tests.contract.records import records


def same(*words: str) -> bool:
    return len({stem_of(word) for word in words}) == 1


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


def test_only_words_that_are_not_their_own_stem_have_one_beside_them() -> None:
    assert stems("train training cache _6a21_ __ h100") == "train cach"
    assert stemmed(("the cache", "a trained model __ pretrained", "", "")) == ("cach", "train pretrain")


def test_bare_words_of_the_outermost_and_are_alternatives_and_the_rest_are_conditions() -> None:
    label, phrase = Label("kind", "paper"), Term("kv cache", quoted=True)
    either, no = Or((Term("a1"), Term("b1"))), Not(Term("c1"))
    tree = And((Term("caches"), label, phrase, Term("Serving"), either, no, Term("x", "title"), Term("y", prefix=True)))
    words, rest = split(tree)
    assert words == (("cach",), ("serv",))
    assert rest == And((label, phrase, either, no, Term("x", "title"), Term("y", prefix=True)))


def test_a_word_alone_is_an_alternative_and_no_word_gives_none() -> None:
    assert split(Term("cache")) == ((("cach",),), And(()))
    assert split(And(())) == ((), And(()))
    assert split(Label("kind", "paper")) == ((), And((Label("kind", "paper"),)))


def test_a_word_that_folds_to_nothing_finds_nothing_yet_is_a_word() -> None:
    assert split(Term("…")) == (((),), And(()))
    assert split(And((Term("…"), Term("cache")))) == ((("cach",),), And(()))


def test_a_hyphenated_word_is_looked_for_as_a_phrase_and_joined_by_its_stem() -> None:
    assert split(Term("pre-trained"))[0] == (("pre trained", "pretrain"),)


def test_function_words_count_only_among_themselves() -> None:
    assert split(And((Term("The"), Term("cache"))))[0] == (("cach",),)
    assert split(And((Term("to"), Term("be"))))[0] == (("to",), ("be",))


def test_folded_texts_are_those_of_the_item_in_every_field_whatever_else_it_says() -> None:
    for item in records():
        texts = tuple(text_of(item, field) for field in TEXT)
        for said in (item, replace(item, upvotes=7)):
            assert folded_texts(said) == (texts, *stemmed(texts))
