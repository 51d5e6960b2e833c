"""BERT's word pieces, held against what the `tokenizers` library (0.23.3) made of the same texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.embed.wordpiece import WordPieces

GOLDEN = Path(__file__).parents[2] / "payloads" / "wordpiece.jsonl"
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SMALL = WordPieces([*MARKS, "g", "p", "##p", "##u", "gpu", "##s", "kernel", "中", "é", "e", "-", ",", "k", "##v", "##k"])


def test_the_pieces_are_those_of_the_library() -> None:
    lines = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    pieces = list(dict.fromkeys([*MARKS, *(piece for line in lines for piece in line["pieces"]), *lines[0]["others"]]))
    words = WordPieces(pieces)
    for line in lines:
        assert [pieces[at] for at in words.numbers(line["text"], 4096)] == line["pieces"], line["text"]
    assert len(lines) > 100


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("GPUs", [8, 9]),
        ("gpu-kernels, é", [8, 14, 10, 9, 15, 13]),  # accents go, punctuation stands alone
        ("gp", [4, 6]),  # a piece that is not there is cut into shorter ones
        ("kernelz", [1]),  # a letter that is not there at all
        ("gpu中gpu", [8, 11, 8]),
        ("g\u200bpu\x00", [8]),  # what cannot be seen is not there
        ("k" * 101, [1]),
        ("\ud800gpu", [8]),
        ("kv\u00a0gpu\u2028gpu", [16, 17, 8, 8]),
    ],
)
def test_a_text_is_cut_as_the_model_was_taught(text: str, numbers: list[int]) -> None:
    assert SMALL.numbers(text) == [2, *numbers, 3]


def test_a_long_text_ends_at_the_last_piece_that_is_read() -> None:
    assert SMALL.numbers("gpu " * 500, 10) == [2, *[8] * 8, 3]
    assert len(SMALL.numbers("gpu kernels, " * 100_000)) == 256


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    numbers = SMALL.numbers(text)
    assert (numbers[0], numbers[-1]) == (2, 3)
    assert len(numbers) <= 256
    assert SMALL.numbers(text.upper().lower()) == SMALL.numbers(text.upper().lower().lower())
