"""Says how fit each sentence is for each of the four parts, and to stand for the whole text, from its signs.

The weights stand in `models/parts.json`, one line per sign, and can be read: what a sign adds to the logarithm of how much
likelier this sentence is the part's than that the text has none. They were learned by `training/parts.py`, which says how.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.models import PARTS
from bot.summarise.chain import Matrix
from bot.summarise.cues import WITHDRAWN
from bot.summarise.shipped import read_from
from bot.summarise.signs import SIGNS, signs

PROBLEM, METHOD, EVIDENCE, WHY = PARTS
WHOLE = "Whole"  # the column of the sentence that says it all
COLUMNS = (*PARTS, WHOLE)

Fitness = Matrix

SHIPPED = Path(__file__).parent / "models" / "parts.json"

UNFIT = -99.0  # of a notice or a fragment: no part may have it
_FRAGMENT = 3  # words; fewer say nothing
_LONGEST = 1_500  # characters; a longer "sentence" is none, and no pattern is tried on more
SCANNED = 60  # sentences of a longer text that are looked at; an abstract has 5 to 15


class Weights(NamedTuple):
    """What each sign counts: a row per sign of SIGNS, columns as in COLUMNS, and what is added to each column."""

    rows: Matrix
    start: Matrix


def fit(sentences: Sequence[str], title: str = "") -> Fitness:
    """Return how fit each sentence is for each part: one row per sentence, columns as in PARTS.

    0 is as likely the part's sentence as that the text has none for it.
    """
    return _fitness(sentences, title, _weights())[:, : len(PARTS)]


def best(sentences: Sequence[str], title: str = "") -> int:
    """Return the place (0-based) of the sentence that says most of what the whole text says; 0 when there is none."""
    return place(sentences, title, _weights())


def whole(sentences: Sequence[str], title: str = "") -> Matrix:
    """Return how fit each sentence is to stand for the whole text; of a notice or a fragment, UNFIT."""
    return _fitness(sentences, title, _weights())[:, COLUMNS.index(WHOLE)]


def place(sentences: Sequence[str], title: str, weights: Weights) -> int:
    """Return what `best` returns, by other weights."""
    fitness = _fitness(sentences, title, weights)
    return int(fitness[:, COLUMNS.index(WHOLE)].argmax()) if len(fitness) else 0


def read(path: Path) -> Weights:
    """Return the weights that `training/parts.py` wrote to `path`; raises ValueError where they are not so many."""
    table = json.loads(path.read_text(encoding="ascii"))
    rows, start = np.array([table["signs"][sign] for sign in SIGNS], float), np.array(table["start"], float)
    if rows.shape != (len(SIGNS), len(COLUMNS)) or start.shape != (len(COLUMNS),):
        raise ValueError(f"weights of {rows.shape} and {start.shape}")
    return Weights(rows, start)


@cache
def _weights() -> Weights:
    return read_from(SHIPPED, read)


def _fitness(sentences: Sequence[str], title: str, weights: Weights) -> Fitness:
    looked_at = [sentence[:_LONGEST] for sentence in sentences[:SCANNED]]
    fitness = np.full((len(sentences), len(COLUMNS)), UNFIT)
    for at, fits in enumerate(signs(looked_at, title) @ weights.rows + weights.start):
        if not _says_nothing(looked_at[at]):
            fitness[at] = fits
    return fitness


def _says_nothing(sentence: str) -> bool:
    words = len(sentence.split())
    return words < _FRAGMENT or len(sentence) == _LONGEST or WITHDRAWN.search(sentence.lower()) is not None
