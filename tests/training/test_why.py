"""How the weights of why it matters are learned, and what is shipped of them."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np

from bot.summarise.choice.why import KINDS, SHIPPED, SIGNS, read_weights
from training.why import fit_signs, learn, marked, read, write

HASHES = Path(__file__).parents[2] / "training" / "hashes.json"


def test_what_is_shipped_is_what_was_learned() -> None:
    hashes = json.loads(HASHES.read_text(encoding="utf-8"))
    assert sha256(SHIPPED.read_bytes()).hexdigest() == hashes["bot/summarise/models/why.json"]


def test_the_marks_are_of_sentences_and_words_that_are_there() -> None:
    for record in marked():
        assert len(record["marks"]["l"]) == len(record["sentences"])
        for span in record["marks"]["w"]:
            assert len(span) == 1 or span[1] in record["sentences"][span[0]]


def test_a_marked_clause_is_a_consequence_though_its_sentence_is_lettered_otherwise() -> None:
    said = ["We propose Tidy.", "Tidy is a cache that sizes itself, enabling large caches without an operator."]
    marks = {"l": "AD", "w": [[1, "enabling large caches without an operator"]]}
    text = read({"sentences": said, "title": "Tidy", "marks": marks})
    told = {each.kind: KINDS[row.argmax()] for each, row in zip(text.found, text.may_be, strict=True) if each.place == 1}
    assert told["consequence"] == "consequence"
    assert told["rest"] == "method detail"


def test_the_learned_weights_tell_the_marked_ones_and_read_back_as_written(tmp_path: Path) -> None:
    texts = [read(record) for record in marked()[:60]]
    weights = learn(texts)
    write(weights, tmp_path / "why.json")
    again = read_weights(tmp_path / "why.json")
    assert np.array_equal(again.rows, weights.rows)
    assert np.array_equal(again.start, weights.start)
    assert np.array_equal(again.signs, weights.signs)
    assert again.signs_start == weights.signs_start


def test_what_is_shown_is_learned_to_be_right_from_what_was_right() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, len(SIGNS)))
    right = table[:, 0] + table[:, 4] > 0
    found = fit_signs(table, right, np.ones(400))
    odds = table @ found["signs"] + found["signs_start"]
    assert ((odds > 0) == right).mean() > 0.95
