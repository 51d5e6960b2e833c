"""Chooses which sentences of a text stand for each of the four parts.

Every sentence gets a fitness per part from its role, its cues and its figures (`bot.summarise.fitness`); the four
are then chosen together, so that no sentence stands for two parts and the whole is fittest. A part whose best sentence
stays under its bar is left out: the text does not say.
"""

import itertools
import re
from collections.abc import Sequence

import numpy as np

from bot.models import PARTS
from bot.summarise.fitness import EVIDENCE, METHOD, PROBLEM, SHOWS, UNFIT, WHY, Fitness, fit

Choice = dict[str, tuple[int, ...]]  # per part the places of its sentences in the text, empty when it is not there

_CANDIDATES = 5  # per part, for the joint choice: 5^4 combinations at most
_PAIR_WORDS = 70  # two sentences of one part are no longer than this together

_BARS = {PROBLEM: 0.75, METHOD: 0.55, EVIDENCE: 0.85, WHY: 0.85}
_SECOND = {METHOD: 0.35, EVIDENCE: 1.3}  # how fit a second sentence must be

_AVAILABLE = re.compile(
    r"\b(?:code|models?|weights|data|data ?sets?|kernel|implementation|software|tool|library|benchmark|framework|demo)\b"
    r".{0,80}\b(?:available|open[- ]sourced?|released)\b|"
    r"\b(?:release|open[- ]source)\b.{0,40}\b(?:code|models?|weights|data)\b",
    re.IGNORECASE,
)


def choose(sentences: Sequence[str]) -> Choice:
    """Return for each part the places (0-based) of the sentences that stand for it: none, one or two, in reading order."""
    fitness = fit(sentences)
    chosen = _together(fitness)
    _fill(chosen, sentences, fitness)
    taken = set(chosen.values())
    choice: Choice = dict.fromkeys(PARTS, ())
    for part, first in chosen.items():
        second = _second(part, first, sentences, fitness, taken)
        choice[part] = (first,) if second is None else (min(first, second), max(first, second))
        taken.update(choice[part])
    return choice


def _fill(chosen: dict[str, int], sentences: Sequence[str], fitness: Fitness) -> None:
    """Add what is better than nothing: the first sentence as what the work is, available code as a reason to care."""
    usable = [at for at in range(len(fitness)) if fitness[at, 0] > UNFIT and at not in chosen.values()]
    if PROBLEM not in chosen and METHOD not in chosen and usable:
        chosen[METHOD] = usable.pop(0)
    if WHY not in chosen:
        at = next((at for at in usable if _AVAILABLE.search(sentences[at])), None)
        if at is not None:
            chosen[WHY] = at


def _together(fitness: Fitness) -> dict[str, int]:
    """One sentence per part, no sentence twice, the sum of what they lie above their bars as large as can be."""
    options: list[list[tuple[float, int | None]]] = []
    for column, part in enumerate(PARTS):
        best = np.argsort(-fitness[:, column], kind="stable")[:_CANDIDATES]
        above = [(float(fitness[at, column]) - _BARS[part], int(at)) for at in best]
        options.append([(gain, at) for gain, at in above if gain > 0] + [(0.0, None)])
    best_of_all = max(itertools.product(*options), key=_worth)
    return {part: at for part, (_, at) in zip(PARTS, best_of_all, strict=True) if at is not None}


def _worth(combination: Sequence[tuple[float, int | None]]) -> float:
    places = [at for _, at in combination if at is not None]
    if len(set(places)) < len(places):
        return -1.0
    return sum(gain for gain, _ in combination)


def _second(part: str, first: int, sentences: Sequence[str], fitness: Fitness, taken: set[int]) -> int | None:
    """A second sentence that adds to the first: for the method its mechanism, for the evidence further figures."""
    if part not in _SECOND:
        return None
    column = PARTS.index(part)
    room = _PAIR_WORDS - len(sentences[first].split())
    free = [at for at in range(len(fitness)) if at not in taken and len(sentences[at].split()) <= room]
    if part == METHOD:
        free = [at for at in free if first < at <= first + 3 and SHOWS["mechanism"].search(sentences[at])]
    else:
        free = [at for at in free if SHOWS["figure"].search(sentences[at]) and abs(at - first) <= 2]
    best = max(free, key=lambda at: (fitness[at, column], -at), default=None)
    return best if best is not None and fitness[best, column] >= _SECOND[part] else None
