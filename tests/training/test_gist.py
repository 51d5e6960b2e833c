"""How the weights of a gist's statements are learned, and what is shipped of them."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np

from bot.summarise.choice.telling import SHIPPED, read_weights
from training.gist import learn, marked, read, write

HASHES = Path(__file__).parents[2] / "training" / "hashes.json"


def test_what_is_shipped_is_what_was_learned() -> None:
    hashes = json.loads(HASHES.read_text(encoding="utf-8"))
    assert sha256(SHIPPED.read_bytes()).hexdigest() == hashes["bot/summarise/models/gist.json"]


def test_nearly_all_of_the_graded_statements_are_made_today() -> None:
    records = marked()[:40]
    graded, made = sum(len(record["graded"]) for record in records), sum(len(read(record).grades) for record in records)
    assert made >= 0.85 * graded
    assert {grade for record in records for _, grade in record["graded"]} == {0, 1, 2}


def test_the_learned_weights_prefer_what_was_graded_better_and_read_back_as_written(tmp_path: Path) -> None:
    texts = [text for text in map(read, marked()[:60]) if len(text.grades)]
    weights = learn(texts)
    best = [text.grades[(text.features @ weights.rows).argmax()] for text in texts]
    assert np.mean(best) > np.mean([text.grades.mean() for text in texts]) + 0.4
    write(weights, tmp_path / "gist.json")
    again = read_weights(tmp_path / "gist.json")
    assert np.array_equal(again.rows, weights.rows)
    assert again.start == weights.start
