"""Learns how much a statement of an abstract tells somebody who has read the title and reads no further.

From statements of arXiv abstracts (metadata CC0) of which a reader, who saw the title, said whether they are worth showing
(`gists.jsonl`): 2, what the work is, does or found, beyond the title; 1, of some use; 0, none: background, a step that says
nothing of the work, praise in vague words, half a sentence, what only the text before it explains. A logistic regression
with a penalty on squared weights. Statements that the rules for shortening make no more are left out.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bot.summarise.choice.roles import Matrix
from bot.summarise.choice.telling import FEATURES, Vector, Weights
from bot.summarise.short_gist import statements_of
from training.lbfgs import minimise

MARKED = Path(__file__).parent / "gists.jsonl"

_WORTH = {0: 0.02, 1: 0.4, 2: 0.98}  # how likely a statement of that grade is worth showing
_PENALTY = 24.0  # by ten-fold cross-validation 8 to 32 were alike
_ROOM = 0.1  # added to each feature's spread, so that one which hardly varies is not blown up
_STEPS = 200
_DIGITS = 3


class Text(NamedTuple):
    """The statements of a text that were graded: a row of features and a grade for each."""

    features: Matrix
    grades: Vector


def build(sources: Any, target: Path) -> None:
    """Learn from the graded statements, which need none of `sources`, and write the weights to `target`."""
    write(learn([text for text in map(read, marked()) if len(text.grades)]), target)


def marked() -> list[Mapping[str, Any]]:
    """Return the records: `title`, `abstract`, and for each statement that was graded its text and its grade."""
    return [json.loads(line) for line in MARKED.read_text(encoding="utf-8").splitlines()]


def read(record: Mapping[str, Any]) -> Text:
    """Return the features and grades of a record's statements, as far as they are made today."""
    grades = dict(record["graded"])
    made = {told.text: told.features for told in statements_of(record["title"], record["abstract"]) if told.text in grades}
    return Text(
        np.array([*made.values()], float).reshape(len(made), len(FEATURES)), np.array([grades[text] for text in made])
    )


def learn(texts: Sequence[Text]) -> Weights:
    """Return the weights that make the grades likeliest."""
    table = np.concatenate([text.features for text in texts])
    wanted = np.array([_WORTH[int(grade)] for text in texts for grade in text.grades])
    spread = table.std(axis=0) + _ROOM
    mean = table.mean(axis=0)
    rows = (table - mean) / spread

    def loss(point: Vector) -> tuple[float, Vector]:
        sums = rows @ point[:-1] + point[-1]
        off = 1 / (1 + np.exp(-sums)) - wanted
        value = float((np.logaddexp(0.0, sums) - wanted * sums).sum() + _PENALTY * (point[:-1] ** 2).sum())
        return value, np.append(rows.T @ off + 2 * _PENALTY * point[:-1], off.sum())

    point = minimise(loss, np.zeros(len(FEATURES) + 1), _STEPS)
    signs = point[:-1] / spread
    return Weights(signs.round(_DIGITS), round(float(point[-1] - mean @ signs), _DIGITS))


def write(weights: Weights, target: Path) -> None:
    """Write `weights` as JSON, one line per feature, which `telling.read_weights` reads back."""
    rows = (
        f"    {json.dumps(name)}: {json.dumps(weight)}" for name, weight in zip(FEATURES, weights.rows.tolist(), strict=True)
    )
    text = f'{{\n  "start": {json.dumps(weights.start)},\n  "signs": {{\n' + ",\n".join(rows) + "\n  }\n}\n"
    target.write_text(text, encoding="ascii", newline="\n")
