"""What a topic weighs, and how much that says for or against every item of a day."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.rank.clauses import Clause
from bot.rank.corpus import Ints
from bot.rank.vectors import Floats


@dataclass(frozen=True, slots=True)
class WeightedClause:
    """One clause that a topic weighs; `text` is it as the person wrote it."""

    clause: Clause
    weight: float
    text: str


Held = list[tuple[float, WeightedClause]]  # wishes that hold for an item, each with its weighted strength


class WeightedMatches:
    """The weighted strengths of all of a topic's wishes in one row: wish by wish, each in the order of its items."""

    def __init__(self, wishes: Sequence[WeightedClause], count: int) -> None:
        """`count` is how many items there are."""
        self._wishes = wishes
        self._count = count
        clauses = [wish.clause for wish in wishes]
        weights = np.array([wish.weight for wish in wishes], float)
        self._which: Ints = np.repeat(np.arange(len(wishes)), [len(clause.items) for clause in clauses])
        self._items: Ints = np.concatenate([np.empty(0, np.int64), *(clause.items for clause in clauses)])
        strengths = np.concatenate([np.empty(0), *(clause.strengths for clause in clauses)])
        self._values: Floats = weights[self._which] * strengths

    def sums(self) -> Floats:
        """Return the sum for every item."""
        return np.bincount(self._items, weights=self._values, minlength=self._count).astype(float, copy=False)

    def held(self, numbers: Sequence[int]) -> list[Held]:
        """Return for each of these items, all different, the wishes that hold, in their order."""
        found: list[Held] = [[] for _ in numbers]
        places = np.full(self._count, -1)
        places[numbers] = np.arange(len(numbers))
        here = places[self._items]
        asked = (here >= 0).nonzero()[0]
        rows = zip(here[asked].tolist(), self._which[asked].tolist(), self._values[asked].tolist(), strict=True)
        for place, wish, value in rows:
            found[place].append((value, self._wishes[wish]))
        return found
