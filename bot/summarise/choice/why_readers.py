"""Tells whether a reader would show a line as why a work matters, by its words and by what is known of its sentence.

A logistic regression: what each sign of the line counts (`bot.summarise.choice.why.SIGNS`), and what each word and each
pair of neighbours does, divided by the root of their number, so that a long line has no more to say than a short one.
Learned by `training/why_readers.py` from lines that readers graded beside the title;
docs/decisions/0090-whys-that-readers-would-show.md has the figures.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.summarise.choice.model_file import read_model
from bot.summarise.choice.roles import Matrix

SHIPPED = Path(__file__).parents[1] / "models" / "why_readers.json"

_NUMBER = re.compile(r"\d[\d.,]*")
_TOKENS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|0|[^\w\s]").findall
_BEGINS, _ENDS = "<", ">"  # as if these were words


class Weights(NamedTuple):
    """What each sign counts, in the order of their names, what is added, and what each word or pair of words counts."""

    names: tuple[str, ...]
    signs: Matrix
    start: float
    words: Mapping[str, float]


def runs(text: str) -> frozenset[str]:
    """Return the words of a line in lower case, every number as 0, and the pairs of neighbours, its ends among them."""
    said = [_BEGINS, *_TOKENS(_NUMBER.sub("0", text.lower())), _ENDS]
    return frozenset([*said, *map(" ".join, pairwise(said))])


def odds(table: Matrix, texts: Sequence[str]) -> Matrix:
    """Return how likely a reader would show each line, as the logarithm of the odds: `table` has a row of signs for each."""
    return odds_by(table, texts, shipped())


def odds_by(table: Matrix, texts: Sequence[str], weights: Weights) -> Matrix:
    """Return what `odds` returns, by other weights."""
    said = np.array([_by_words(text, weights.words) for text in texts], float)
    told: Matrix = table @ weights.signs + said + weights.start
    return told


def _by_words(text: str, words: Mapping[str, float]) -> float:
    counted = sorted(words[run] for run in runs(text) if run in words)  # sums do not hang on the order of a set
    return sum(counted) / sqrt(len(counted)) if counted else 0.0


@cache
def shipped() -> Weights:
    """Return the weights that come with Broadsheet; raises SummaryUnavailable where their file is missing or damaged."""
    return read_model(SHIPPED, read_weights)


def read_weights(path: Path) -> Weights:
    """Return the weights that `training/why_readers.py` wrote to `path`; raises TypeError where they are not such."""
    table = json.loads(path.read_text(encoding="utf-8"))
    if not (isinstance(table["signs"], dict) and isinstance(table["words"], dict)):
        raise TypeError("weights without names")
    words = {str(run): float(weight) for run, weight in table["words"].items()}
    return Weights(tuple(table["signs"]), np.array([*table["signs"].values()], float), float(table["start"]), words)
