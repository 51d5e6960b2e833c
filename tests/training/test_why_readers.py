"""How it is learned which lines a reader would show as why a work matters, and what is shipped of it."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from bot.summarise.choice.why_readers import SHIPPED, odds_by, read_weights
from training.why_readers import graded, learn, read, texts_of, write

HASHES = Path(__file__).parents[2] / "training" / "hashes.json"
WITH_TEXT = [record for record in graded() if "sentences" in record]


def test_what_is_shipped_is_what_was_learned() -> None:
    hashes = json.loads(HASHES.read_text(encoding="utf-8"))
    assert sha256(SHIPPED.read_bytes()).hexdigest() == hashes["bot/summarise/models/why_readers.json"]


def test_no_abstract_is_graded_twice_and_every_grade_is_one_of_three() -> None:
    records = graded()
    assert len({record["id"] for record in records}) == len(records)
    assert {grade for record in records for _, grade in record["graded"]} == {0, 1, 2}


def test_most_of_the_graded_lines_could_be_shown_today() -> None:
    records = WITH_TEXT[:60]
    lines = sum(len(read(record, record["sentences"])) for record in records)
    assert lines >= 0.6 * sum(len(record["graded"]) for record in records)


def test_the_learned_weights_tell_the_lines_that_readers_would_show_and_read_back_as_written(tmp_path: Path) -> None:
    lines = [line for record in WITH_TEXT[:150] for line in read(record, record["sentences"])]
    weights = learn(lines)
    told = odds_by(np.array([line.signs for line in lines]), [line.text for line in lines], weights)
    shown = np.array([line.shown for line in lines])
    assert told[shown].mean() > told[~shown].mean() + 1
    write(weights, tmp_path / "why_readers.json")
    again = read_weights(tmp_path / "why_readers.json")
    assert np.array_equal(again.signs, weights.signs)
    assert again._replace(signs=weights.signs) == weights


def test_an_abstract_is_read_in_the_corpus_unless_it_stands_beside_its_grades() -> None:
    records = [{"id": "arxiv:1", "graded": []}, {"id": "arxiv:2", "graded": [], "sentences": ["It stands here."]}]
    papers = [{"id": "1", "abstract": "It stands\nthere. So it does."}, {"id": "2", "abstract": "Another."}]
    assert texts_of(records, papers) == {"arxiv:1": ["It stands there.", "So it does."], "arxiv:2": ["It stands here."]}
    with pytest.raises(SystemExit, match="1 graded abstracts are in none of the corpora"):
        texts_of(records, papers[1:])
