"""Says what each sentence of an abstract is for, by rules: cue words, place, and what the sentences around it say.

The rules reach about 65 % of sentences right on CSAbstruct's development part (always the commonest role: 31 %; one linear
model of all words with a chain over the sentences: 82 %). Whatever replaces them keeps `ROLES` and the shape of `score`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bot.summarise.cues import CUES, PATTERNS, PLACES, SETTINGS

ROLES = ("background", "objective", "method", "result", "other")

Matrix = npt.NDArray[np.float64]
Facts = npt.NDArray[np.bool_]

_NAMES = tuple(cue.name for cue in CUES)
_WEIGHTS: Matrix = np.array([cue.weights for cue in CUES])
_OPENING, _MIDDLE = 0.4, 0.7  # of the way through the text


def score(sentences: Sequence[str]) -> Matrix:
    """Return how likely each sentence has each role: one row per sentence, columns as in ROLES, rows sum to 1."""
    if not sentences:
        return np.zeros((0, len(ROLES)))
    shown: Facts = np.array([[bool(PATTERNS[name].search(s)) for name in _NAMES] for s in sentences], dtype=np.bool_)
    places = np.array([PLACES[_place(at, len(sentences))] for at in range(len(sentences))])
    likely = np.exp(shown @ _WEIGHTS + places + _setting(shown))
    normalised: Matrix = likely / likely.sum(axis=1, keepdims=True)
    return normalised


def _place(at: int, count: int) -> str:
    if at == 0:
        return "first"
    if at == count - 1:
        return "last"
    if at == 1:
        return "second"
    way = at / (count - 1)
    return "opening" if way < _OPENING else "middle" if way < _MIDDLE else "closing"


def _setting(shown: Facts) -> Matrix:
    """The weights that come from the sentences around each."""
    announces = _any(shown, "paper", "we_propose", "aim")
    shows = _any(shown, "show", "figure")
    facts = {
        "after own work": _before(announces | _any(shown, "we")),
        "before the contribution": _before(announces[::-1])[::-1],
        "after a result": _before(shows),
        "before a result": _before(_any(shown, "show")[::-1])[::-1],
        "after the announcement": _just_before(announces),
    }
    columns: Matrix = np.array([facts[name] for name in SETTINGS], dtype=np.float64).T
    total: Matrix = columns @ np.array(list(SETTINGS.values()))
    return total


def _any(shown: Facts, *cues: str) -> Facts:
    found: Facts = np.logical_or.reduce([shown[:, _NAMES.index(cue)] for cue in cues])
    return found


def _before(facts: Facts) -> Facts:
    """Whether any earlier sentence has the fact."""
    earlier: Facts = np.cumsum(facts, dtype=np.int64) > facts.astype(np.int64)
    return earlier


def _just_before(facts: Facts) -> Facts:
    """Whether the sentence before has the fact."""
    shifted = np.zeros_like(facts)
    shifted[1:] = facts[:-1]
    return shifted
