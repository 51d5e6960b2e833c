"""The role of each sentence of an abstract."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.summarise.choice.roles import (
    READ,
    ROLES,
    SHIPPED,
    read_network,
    reading,
    role_model,
    role_probabilities,
    write_network,
)

ROOT = Path(__file__).parents[4]

PLAIN = [
    "Caches have become essential in large systems.",
    "However, existing caches remain expensive and difficult to size.",
    "We propose Tidy, a cache that predicts its own size.",
    "It uses a small model that is trained on access traces.",
    "Experiments show that Tidy reduces misses by 31% over the best baseline.",
    "This opens the way to caches that need no operator.",
]

MEDICAL = [
    "To determine whether a low dose of aspirin prevents headaches in elderly patients.",
    "We enrolled 212 patients at three hospitals between 2014 and 2016.",
    "Patients were randomly assigned to aspirin or placebo for twelve weeks.",
    "Headaches were reported by 31% of the aspirin group and 44% of the placebo group (p = 0.03).",
    "A low dose of aspirin may be recommended for elderly patients with frequent headaches.",
]


def test_each_row_is_a_distribution_over_the_roles() -> None:
    matrix = role_probabilities(PLAIN)
    assert matrix.shape == (len(PLAIN), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)


def test_the_plain_abstract_gets_the_roles_that_a_reader_gives_it() -> None:
    likeliest = [ROLES[at] for at in role_probabilities(PLAIN).argmax(axis=1)]
    assert likeliest[:2] == ["background", "background"]
    assert likeliest[2] in {"objective", "method"}
    assert likeliest[3:] == ["method", "result", "result"]


def test_an_abstract_of_medicine_is_read_by_its_own_customs() -> None:
    roles = [ROLES[at] for at in role_probabilities(MEDICAL).argmax(axis=1)]
    assert roles[0] in {"background", "objective"}
    assert roles[1:3] == ["method", "method"]
    assert roles[3:] == ["result", "result"]


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_is_taken(sentences: list[str]) -> None:
    matrix = role_probabilities(sentences)
    assert matrix.shape == (len(sentences), len(ROLES))
    assert np.allclose(matrix.sum(axis=1), 1.0)


def test_the_model_is_small() -> None:
    assert SHIPPED.stat().st_size <= 1_000_000


@pytest.mark.parametrize("name", ["bot/summarise/models/roles.npz", "training/words.npz"])
def test_the_files_are_those_that_were_built(name: str) -> None:
    hashes = json.loads((ROOT / "training" / "hashes.json").read_text(encoding="utf-8"))
    assert hashes[name] == sha256((ROOT / name).read_bytes()).hexdigest()


def test_no_sentences_give_no_rows() -> None:
    assert role_probabilities([]).shape == (0, len(ROLES))
    assert reading([]).read.shape == (0, sum(READ.values()))


def test_what_is_read_of_a_sentence_is_its_words_whatever_stands_beside_it() -> None:
    alone, among = (reading(sentences).read for sentences in (PLAIN[2:3], PLAIN))
    words = slice(-READ["words"], None)
    assert among.shape == (len(PLAIN), sum(READ.values()))
    assert np.allclose(alone[0, words], among[2, words], atol=1e-6)
    assert not np.allclose(alone[0, : READ["hidden"]], among[2, : READ["hidden"]], atol=0.01)


def test_a_network_of_other_layers_is_refused(tmp_path: Path) -> None:
    network = read_network(SHIPPED)
    fewer = network._replace(hidden=network.hidden[:, :-1], hidden_bias=network.hidden_bias[:-1])
    fewer = fewer._replace(out=network.out[1:], medical_out=network.medical_out[1:])
    write_network(fewer, tmp_path / "roles.npz")
    with pytest.raises(ValueError, match="layers of"):
        role_model(tmp_path / "roles.npz")
