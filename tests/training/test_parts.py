"""How the weights for the parts are learned, and what is shipped of them."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np

from bot.models import PARTS
from bot.summarise.choice.scoring import EVIDENCE, FEATURES, PROBLEM, SHIPPED, part_scores, read_weights
from training.parts import cross_validated, learn, marked, of_sentences, of_spans, spans, write

HASHES = Path(__file__).parents[2] / "training" / "hashes.json"
# Of SciTLDR's form, in small.
RECORDS = [
    {
        "title": f"{name}: a cache that predicts its own size",
        "source": ["Caches are slow.", f"We propose {name}, a cache that predicts its own size.", "It saves 31% of memory."],
        "target": [f"{name} is a cache that predicts its own size."],
    }
    for name in ("Tidy", "Neat", "Trim", "Spare")
]


def test_what_is_shipped_is_what_was_learned() -> None:
    hashes = json.loads(HASHES.read_text(encoding="utf-8"))
    assert sha256(SHIPPED.read_bytes()).hexdigest() == hashes["bot/summarise/models/parts.json"]


def test_the_marks_are_of_sentences_that_are_there() -> None:
    for mark in marked():
        assert all(0 <= at < len(mark["sentences"]) for part in PARTS for at in mark[part])


def test_of_a_marked_clause_the_clause_is_worth_more_than_its_sentence() -> None:
    said = "While caches are fast, existing caches remain expensive and difficult to size."
    marks = {"p": [[0, "existing caches remain expensive and difficult to size"]], "m": [], "e": [], "w": []}
    made = of_spans({"title": "Tidy", "sentences": [said], "marks": marks})
    assert {one.kind: worth for one, worth in zip(made.candidates, made.worth[PROBLEM], strict=True)} == {
        "sentence": 0.5,
        "turn": 1.0,
    }


def test_the_marks_of_clauses_are_of_texts_that_are_there() -> None:
    assert all(record["sentences"] for record in spans())


def test_the_learned_weights_choose_the_marked_sentences_and_read_back_as_written(tmp_path: Path) -> None:
    weights = learn([*map(of_sentences, marked()[:40])], RECORDS)
    write(weights, tmp_path / "parts.json")
    again = read_weights(tmp_path / "parts.json")
    for one, other in zip(again, weights, strict=True):
        assert np.array_equal(one, other)
    assert weights.rows[FEATURES.index("figure"), PARTS.index(EVIDENCE)] > 0


def test_a_text_without_results_is_less_fit_for_evidence_than_one_with_them() -> None:
    fittest: dict[bool, list[float]] = {True: [], False: []}
    for mark in marked():
        fittest[bool(mark[EVIDENCE])].append(float(part_scores(mark["sentences"])[:, PARTS.index(EVIDENCE)].max()))
    assert np.median(fittest[True]) > 0 > np.median(fittest[False])


def test_the_sentence_for_the_whole_is_chosen_by_what_other_texts_taught() -> None:
    assert cross_validated(RECORDS, folds=2) == [1, 1, 1, 1]
