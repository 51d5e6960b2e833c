"""The role of each sentence of an abstract."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.roles import ROLES, SHIPPED, reports_results, score

ROOT = Path(__file__).parents[3]

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "This opens the way to caches that need no operator.",
]


def test_each_row_is_a_distribution_over_the_roles() -> None:
    matrix = score(PLAIN)
    assert matrix.shape == (len(PLAIN), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)


def test_the_plain_abstract_gets_the_roles_that_a_reader_gives_it() -> None:
    likeliest = [ROLES[at] for at in score(PLAIN).argmax(axis=1)]
    assert likeliest[:2] == ["background", "background"]
    assert likeliest[2] in {"objective", "method"}
    assert likeliest[3:] == ["method", "result", "result"]


def test_results_are_reported_where_a_sentence_gives_them() -> None:
    assert reports_results(PLAIN) > 0.9
    assert reports_results(PLAIN[:4]) < reports_results(PLAIN)
    assert reports_results(PLAIN[:2]) < 0.5
    assert reports_results([]) == 0.0


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_is_taken(sentences: list[str]) -> None:
    matrix = score(sentences)
    assert matrix.shape == (len(sentences), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)
    assert 0.0 <= reports_results(sentences) <= 1.0


def test_the_model_is_small() -> None:
    assert SHIPPED.stat().st_size <= 1_000_000


@pytest.mark.parametrize("name", ["bot/summarise/models/roles.npz", "training/words.npz"])
def test_the_files_are_those_that_were_built(name: str) -> None:
    hashes = json.loads((ROOT / "training" / "hashes.json").read_text(encoding="utf-8"))
    assert hashes[name] == sha256((ROOT / name).read_bytes()).hexdigest()


def test_no_sentences_give_no_rows() -> None:
    assert score([]).shape == (0, len(ROLES))
