"""What texts say of their abbreviations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.store.rules.abbreviations import abbreviations_in


def said(title: str, abstract: str = "") -> dict[str, str]:
    return dict(abbreviations_in(Item(key="arxiv:1", kind=Kind.PAPER, title=title, abstract=abstract)))


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Retrieval-Augmented Generation (RAG) for code", "rag", "retrieval augmented generation"),
        ("We use large language models (LLMs).", "llm", "large language model"),
        ("a Mixture-of-Experts (MoE) layer", "moe", "mixture of expert"),
        ("RAG (Retrieval Augmented Generation) helps", "rag", "retrieval augmented generation"),
        ("the chain of thought (CoT) of", "cot", "chain of thought"),
    ],
)
def test_what_stands_before_the_brackets_is_what_is_meant(text: str, short: str, long: str) -> None:
    assert said(text) == said("", text) == {short: long}


@pytest.mark.parametrize(
    "text", ["a survey (2024)", "fast (and cheap)", "a cache (see Section 3)", "results (ABC)", "(RAG)", "))(("]
)
def test_other_brackets_say_nothing(text: str) -> None:
    assert said(text) == {}


@given(st.text("Aa b()-.", max_size=60))
def test_no_text_can_fail(text: str) -> None:
    for short, long in said(text).items():
        assert " " not in short
        assert " " in long


def test_a_long_text_without_brackets_that_close_is_read_in_no_time() -> None:
    assert said("", "(" * 4000) == said("", "word " * 800 + "(") == {}
    assert said("", "words " * 700 + "of a mixture of experts (MoE)") == {}  # beyond what is read of a text
