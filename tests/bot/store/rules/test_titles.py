"""What an item is lifted by for its title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import And, Term
from bot.query.fold import tokens
from bot.query.parse import parse
from bot.store.rules.search_terms import STOPWORDS, Words, split
from bot.store.rules.titles import BEGINNING, NAME, WITHIN, has_every, lift

PLAIN = ("sparse", "attention", "kernels", "caches", "libraries", "training", "multi-head", "kv", "of", "the", "a", "is")
titles = st.lists(st.sampled_from(PLAIN), min_size=1, max_size=7)


def lifted(title: str, asked: str) -> float:
    return lifted_by(title, split(parse(asked).tree)[0])


def lifted_by(title: str, words: Words) -> float:
    return lift(title, words) if has_every(title, words) else 0.0


def telling(words: list[str]) -> list[str]:
    return [word for word in words if word not in STOPWORDS]


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("illusion of thinking", "The Illusion of Thinking: Understanding the Strengths of Reasoning"),
        ("why do language models hallucinate?", "Why Language Models Hallucinate"),
        ("qwen3-EMBEDDING", "Qwen3 Embedding: Advancing Text Embedding"),
        ("multi swe bench", "Multi-SWE-bench: A Multilingual Benchmark"),
        ("multiswebench", "Multi-SWE-bench: A Multilingual Benchmark"),
        ("is attention explanation", "Is Attention Explanation? An Answer"),
        ("große sprachmodelle", "Grosse Sprachmodelle – ein Überblick"),
    ],
)
def test_a_title_or_what_stands_before_its_colon_lifts_most(asked: str, title: str) -> None:
    assert lifted(title, asked) == NAME


@pytest.mark.parametrize(
    ("asked", "title", "by"),
    [
        ("speculative decoding", "Speculative Decoding Scaling Laws: Throughput", BEGINNING),
        ("speculative decoding", "On Faster Speculative Decoding", WITHIN),
        ("decoding speculative", "Speculative Decoding Scaling Laws", 0.0),
        ("speculative laws", "Speculative Decoding Scaling Laws", 0.0),
        ("speculative decoding trees", "Speculative Decoding", 0.0),
        ("attention", "Attention", 0.0),
        ("of the", "Of the", NAME),
        ("pretraining data", "Pre Training Data", 0.0),
        ("pretraining data", "Pre-Training Data", NAME),
    ],
)
def test_the_words_count_in_their_order_side_by_side_and_not_a_single_one(asked: str, title: str, by: float) -> None:
    assert lifted(title, asked) == by


def test_nothing_is_lifted_without_words_or_a_title() -> None:
    assert lifted_by("Sparse Attention", ()) == lifted_by("Sparse Attention", ((),)) == 0.0
    assert lifted_by("", (("spars",),)) == 0.0


@given(titles, st.integers(1, 7))
def test_whoever_types_the_beginning_of_a_title_without_repeated_words_lifts_it(title: list[str], number: int) -> None:
    words = list(dict.fromkeys(title))
    asked = words[:number]
    sought = split(And(tuple(map(Term, asked))))[0]
    by = lifted_by(" ".join(words).title(), sought)
    if len(tokens(" ".join(telling(asked)))) >= 2:
        assert by == (NAME if telling(asked) == telling(words) else BEGINNING)


@given(titles, titles)
def test_a_title_that_lacks_a_word_is_not_lifted(title: list[str], asked: list[str]) -> None:
    if not set(telling(asked)) <= set(title):
        assert lifted_by(" ".join(title), split(And(tuple(map(Term, asked))))[0]) == 0.0


@given(st.text(), st.text())
def test_any_text_is_lifted_by_one_of_four_values(title: str, asked: str) -> None:
    assert lifted_by(title, split(And(tuple(map(Term, asked.split()))))[0]) in (0.0, WITHIN, BEGINNING, NAME)
