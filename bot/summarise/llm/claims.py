"""Judges whether a text bears out what a model said of it: a small network over what `claim_features` finds.

It is read from `bot/summarise/models/claims.json`; training/claims.py makes it, and decision 60 says how well it judges.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bot.summarise.choice.model_file import read_model
from bot.summarise.english.language import reads_as_english
from bot.summarise.llm.claim_features import FEATURES, Floats, Reading, features, read

SHIPPED = Path(__file__).parents[1] / "models" / "claims.json"


@dataclass(frozen=True, slots=True)
class Judge:
    """A network with one hidden layer: (features, hidden), (hidden,), (hidden,), and from which height on it refuses."""

    hidden: Floats
    hidden_bias: Floats
    out: Floats
    bar: float

    def heights(self, rows: Floats) -> Floats:
        """Return how much speaks against each of some sentences, given their rows of FEATURES."""
        found: Floats = np.tanh(rows @ self.hidden + self.hidden_bias) @ self.out
        return found


class Source:
    """A text that claims are held against; one that does not read as English bears everything out, as no rule knows it."""

    def __init__(self, text: str) -> None:
        self._reading: Reading | None = read(text) if reads_as_english(text) else None

    def bears_out(self, claim: str) -> bool:
        """Say whether no sentence of the claim is refused; raises SummaryUnavailable where the network cannot be read."""
        if self._reading is None:
            return True
        judge = _judge()
        return bool((judge.heights(features(read(claim), self._reading)) < judge.bar).all())


def read_judge(path: Path) -> Judge:
    """Return the network that training/claims.py wrote to `path`; raises ValueError where it is not of its shape."""
    table = json.loads(path.read_text(encoding="ascii"))
    hidden = np.array([table["features"][name] for name in FEATURES], float)
    bias, out = np.array(table["hidden_bias"], float), np.array(table["out"], float)
    if bias.ndim != 1 or hidden.shape != (len(FEATURES), len(bias)) or out.shape != bias.shape:
        raise ValueError(f"weights of {hidden.shape}, {bias.shape} and {out.shape}")
    return Judge(hidden, bias, out, float(table["bar"]))


@cache
def _judge() -> Judge:
    return read_model(SHIPPED, read_judge)
