"""Learns which lines a reader would show as why a work matters.

From lines of abstracts that readers saw beside the title, as they would be shown, and graded (`why_shown.jsonl`): 2, a
concrete consequence or importance that they were glad of; 1, somewhat general, but better than no line; 0, would not show:
a result, a step, the problem, vague praise, half a sentence. Abstracts that stand in the corpora are read there by their
identifier (arXiv's metadata, CC0); others stand beside the grades (arXiv's metadata, as Hugging Face lists it; PubMedQA,
MIT).
A logistic regression with a penalty on squared weights. Lines that are no more made are left out.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.sources.markup.tex import readable
from bot.summarise.choice.candidates import candidates
from bot.summarise.choice.roles import Matrix
from bot.summarise.choice.why import SIGNS, lines_of
from bot.summarise.choice.why_readers import Weights, runs
from bot.summarise.english.anaphora import resolve
from bot.summarise.english.sentences import lower_case_names, split
from training.lbfgs import Vector, minimise

Numbers = NDArray[np.int64]

GRADED = Path(__file__).parent / "why_shown.jsonl"

_FEWEST = 4  # lines that have a run of words, or it is not weighed
_PENALTY = 0.1  # on the weights of runs; by five-fold cross-validation .05 to .2 were alike
_PENALTY_OF_SIGNS = 1.0
_ROOM = 0.1  # added to each sign's spread, so that one which hardly varies is not blown up
_STEPS = 200
_DIGITS = 2


class Line(NamedTuple):
    """A line that was graded: its text, its signs, and whether a reader would show it."""

    text: str
    signs: Vector
    shown: bool


def build(sources: Any, target: Path) -> None:
    """Learn from the graded lines, whose abstracts are in the corpora of `sources`, and write the weights to `target`."""
    records = graded()
    texts = texts_of(records, sources.papers())
    write(learn([line for record in records for line in read(record, texts[record["id"]])]), target)


def graded() -> list[Mapping[str, Any]]:
    """Return the records: `id`, for each line its text and grade, and `sentences` where no corpus has the abstract."""
    return [json.loads(line) for line in GRADED.read_text(encoding="utf-8").splitlines()]


def texts_of(records: Sequence[Mapping[str, Any]], papers: Iterable[Mapping[str, Any]]) -> dict[str, Sequence[str]]:
    """Return the sentences of each record by its identifier; raises SystemExit where a paper is missing."""
    texts: dict[str, Sequence[str]] = {record["id"]: record.get("sentences", ()) for record in records}
    for paper in papers:
        name = f"arxiv:{paper['id']}"
        if texts.get(name) == ():
            texts[name] = split(readable(" ".join(paper["abstract"].split())))
    if missing := sum(not text for text in texts.values()):
        raise SystemExit(
            f"{missing} graded abstracts are in none of the corpora: name all that the README of the data names."
        )
    return texts


def read(record: Mapping[str, Any], sentences: Sequence[str]) -> list[Line]:
    """Return the lines of a record that were graded, as far as they are made today."""
    grades: Mapping[str, int] = dict(record["graded"])
    names = lower_case_names(" ".join(sentences))
    told = resolve(sentences, names)
    lines, table = lines_of(told, candidates(told), names)
    return [
        Line(each.text, row, grades[each.text] > 0) for each, row in zip(lines, table, strict=True) if each.text in grades
    ]


def learn(lines: Sequence[Line]) -> Weights:
    """Return the weights that make it likeliest which lines readers would show."""
    said = [runs(line.text) for line in lines]
    counts = Counter(run for each in said for run in each)
    known = {run: at for at, run in enumerate(sorted(run for run, count in counts.items() if count >= _FEWEST))}
    table = np.array([line.signs for line in lines])
    spread = table.std(axis=0) + _ROOM
    shown = np.array([line.shown for line in lines], float)
    words, signs, start = _fit(_words(said, known), table / spread, shown, len(known))
    counted = {run: round(float(words[at]), _DIGITS) for run, at in known.items()}
    return Weights(SIGNS, (signs / spread).round(_DIGITS + 1), round(start, _DIGITS + 1), counted)


class _Words(NamedTuple):
    """The known runs of all lines: for each the number of its line, its own number, and its share in the line."""

    line: Numbers
    run: Numbers
    share: Vector


def _words(said: Sequence[frozenset[str]], known: Mapping[str, int]) -> _Words:
    own = [sorted(known[run] for run in each if run in known) for each in said]
    counts = np.array([len(each) for each in own])
    shares = 1 / np.sqrt(np.maximum(counts, 1))
    return _Words(
        np.repeat(np.arange(len(own)), counts),
        np.array([run for each in own for run in each], int),
        np.repeat(shares, counts),
    )


def _fit(words: _Words, table: Matrix, shown: Vector, known: int) -> tuple[Vector, Vector, float]:
    """Return what each run and each sign counts, and what is added."""
    signs = table.shape[1]
    penalty = np.concatenate([np.full(known, _PENALTY), np.full(signs, _PENALTY_OF_SIGNS), [0.0]])

    def loss(point: Vector) -> tuple[float, Vector]:
        said = np.bincount(words.line, point[words.run] * words.share, len(table))
        sums = said + table @ point[known:-1] + point[-1]
        value = float((np.logaddexp(0, sums) - shown * sums).sum() + (penalty * point**2).sum())
        over = 1 / (1 + np.exp(-sums)) - shown
        of_runs = np.bincount(words.run, over[words.line] * words.share, known)
        return value, np.concatenate([of_runs, table.T @ over, [over.sum()]]) + 2 * penalty * point

    point = minimise(loss, np.zeros(known + signs + 1), _STEPS)
    return point[:known], point[known:-1], float(point[-1])


def write(weights: Weights, target: Path) -> None:
    """Write `weights` as JSON, one line for each run of words, which `why_readers.read_weights` reads back."""
    signs = {name: float(weight) for name, weight in zip(weights.names, weights.signs, strict=True)}
    rows = (f"    {json.dumps(run, ensure_ascii=False)}: {weight}" for run, weight in weights.words.items())
    head = f'{{\n  "start": {weights.start},\n  "signs": {json.dumps(signs, indent=4)},\n  "words": {{\n'
    target.write_text(head + ",\n".join(rows) + "\n  }\n}\n", encoding="utf-8", newline="\n")
