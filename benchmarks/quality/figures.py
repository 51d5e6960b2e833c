"""A figure: what was measured of ours and of its baselines on the same units, with 95 % intervals of a paired bootstrap."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.quality.metrics import Floats, Ints, Truths

DRAWS = 1000
_SEED = 14
_HALVES = {
    "test": re.compile(r"\btest\b"),
    "set aside": re.compile(r"\b(?:aside|fresh)\b"),
    "development": re.compile(r"\b(?:train|dev|val|validation|development|further)\b"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one method reaches, and what it reaches on each of the draws, which are the same for every method."""

    method: str
    value: float
    draws: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """The 2.5th and the 97.5th percentile of the draws."""
        return _middle(self.draws)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure on one set. The first of `ours` is what ships; a `ceiling` is what no choice can exceed."""

    benchmark: str
    name: str
    ours: Sequence[Result]
    baselines: Sequence[Result]
    count: int
    units: str
    reach: float | None = None
    percent: bool = False
    lower: bool = False  # the lower, the better
    note: str = ""
    ceiling: Sequence[Result] = ()

    @property
    def half(self) -> str:
        """Which half of a set that was split for training it is of, by the name of its files; "" of a whole set."""
        return next((half for half, named in _HALVES.items() if named.search(self.benchmark)), "")

    @property
    def best(self) -> Result | None:
        """The best baseline."""
        sign = -1 if self.lower else 1
        return max(self.baselines, key=lambda each: sign * each.value, default=None)

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """How much higher ours is than the best baseline, draw by draw, with its interval."""
        if self.best is None:
            return None
        return (self.ours[0].value - self.best.value, *_middle(self.ours[0].draws - self.best.draws))

    @property
    def reached(self) -> bool | None:
        """Whether ours is as good as it was to be."""
        if self.reach is None:
            return None
        value = self.ours[0].value
        return value <= self.reach if self.lower else value >= self.reach


def of_values(method: str, values: Sequence[float] | Floats) -> Result:
    """Return the mean of one value per unit."""
    return of_sums(method, np.stack([np.asarray(values, float), np.ones(len(values))], axis=1), ratio)


def of_shares(method: str, pairs: Sequence[tuple[float, float]]) -> Result:
    """Return what was reached over what could be, both summed over the units."""
    return of_sums(method, np.asarray(pairs, float), ratio)


def of_sums(method: str, table: Floats, figure: Callable[[Floats], Floats]) -> Result:
    """Return a figure of the sums over units: `table` has a row per unit, `figure` takes rows of sums."""
    flat = table.reshape(len(table), -1)
    sums = np.concatenate([flat.sum(axis=0, keepdims=True), _counts(len(table)) @ flat])
    found = figure(sums.reshape(-1, *table.shape[1:]))
    return Result(method, float(found[0]), np.asarray(found[1:], float))


def of_choice(method: str, count: int, figure: Callable[[Ints], float]) -> Result:
    """Return a figure of chosen units, which takes their numbers."""
    drawn = np.array([figure(numbers) for numbers in _numbers(count)])
    return Result(method, figure(np.arange(count)), drawn)


def of_scores(method: str, scores: Floats, truths: Truths, figure: Callable[[Floats, Truths], float]) -> Result:
    """Return a figure of one score per unit and of what is true of it."""
    return of_choice(method, len(scores), lambda chosen: figure(scores[chosen], truths[chosen]))


def ratio(sums: Floats) -> Floats:
    """Return the first column over the second."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1e-12), float)


@lru_cache(maxsize=32)
def _numbers(count: int) -> Ints:
    """Which units are drawn: one row per draw. The same for every method, so that differences are paired."""
    return np.random.default_rng(_SEED).integers(0, count, (DRAWS, count))


@lru_cache(maxsize=8)
def _counts(count: int) -> Floats:
    """How often each draw has each unit."""
    return np.array([np.bincount(numbers, minlength=count) for numbers in _numbers(count)], float)


def _middle(draws: Floats) -> tuple[float, float]:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(low), float(high)
