"""What is left of a question when its frame is taken away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.handlers.search.plain_words import PlainWords, may_be_a_name, read_plain


@pytest.mark.parametrize(
    ("text", "words", "filters", "name"),
    [
        ("what is new about speculative decoding?", "speculative decoding", (), ""),
        ("papers on KV cache compression by Mao", "KV cache compression", (), "Mao"),
        ("can you show me the latest papers on mixture of experts?", "mixture of experts", (), ""),
        ("any papers on sparse attention from last week", "sparse attention", ("published:7d",), ""),
        ("recent advances in protein folding in the last 3 months", "protein folding", ("published:90d",), ""),
        ("papers by Yann LeCun", "", (), "Yann LeCun"),
        ("what has Dan Jurafsky written lately?", "", (), "Dan Jurafsky"),
        ("Tri Dao's latest papers", "", (), "Tri Dao"),
        ("repos for speculative decoding", "speculative decoding", ("kind:repo",), ""),
        ("code for Mamba, please", "Mamba", ("has:code",), ""),
        ("I'm looking for papers about long context", "long context", (), ""),
        ("tell me about state space models", "state space models", (), ""),
        ("which papers use Triton", "Triton", (), ""),
    ],
)
def test_a_question_is_what_it_asks_for(text: str, words: str, filters: tuple[str, ...], name: str) -> None:
    assert read_plain(text) == PlainWords(words, filters, name, framed=True)


@pytest.mark.parametrize(
    "text",
    [
        "code generation benchmarks",
        "news recommendation",
        "research agents",
        "attention is all you need",
        "how to train a puppy",
        "paper reviewing with LLMs",
        "show me",
        "the latest",
    ],
)
def test_words_that_only_look_like_a_question_stay(text: str) -> None:
    assert read_plain(text) == PlainWords(text)


@given(st.text(max_size=400))
def test_whatever_is_typed_is_read_and_nothing_is_made_up(text: str) -> None:
    said = read_plain(text)
    assert (
        set(f"{said.words} {said.name}".split())
        <= set(text.split())
        | {word.rstrip("?!.") for word in text.split()}
        | {piece for word in text.split() for piece in (word.rstrip(","), word.rstrip("?!.,"), word.removesuffix("'s"))}
        or said.framed
    )


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("Tri Dao", True),
        ("Y. LeCun", True),
        ("O'Brien", True),
        ("李伟", True),
        ("GPT-4", True),
        ("4 bits", False),
        ("a b c d e", False),
    ],
)
def test_a_name_is_up_to_four_words_of_letters(text: str, is_name: bool) -> None:
    assert may_be_a_name(text) is is_name
