"""Finds where a smooth convex function is least: L-BFGS (Nocedal and Wright, "Numerical optimization", 2006, 7.2)."""

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]  # a point to the value there and the gradient

_REMEMBERED = 8  # steps
_ENOUGH = 1e-4  # of the decrease that the slope promises
_HALVINGS = 30


def minimise(function: Function, start: Vector, steps: int) -> Vector:
    """Return a point near the least value of `function`: `steps` steps from `start`, fewer when none goes down any more."""
    point, past = start, deque[tuple[Vector, Vector]](maxlen=_REMEMBERED)
    value, gradient = function(point)
    for _ in range(steps):
        way = -_scaled(gradient, past)
        slope = _inner(gradient, way)
        length = 1.0 if past else 1.0 / max(1.0, float(np.sqrt(_inner(gradient, gradient))))
        for _ in range(_HALVINGS):
            reached = point + length * way
            value_there, gradient_there = function(reached)
            if value_there <= value + _ENOUGH * length * slope:
                break
            length /= 2
        else:
            return point
        step, change = reached - point, gradient_there - gradient
        point, value, gradient = reached, value_there, gradient_there
        if _inner(step, change) <= 0:
            return point  # flat to the last digit
        past.append((step, change))
    return point


def _scaled(gradient: Vector, past: deque[tuple[Vector, Vector]]) -> Vector:
    """The gradient times what the past steps say of the inverse of the curvature (algorithm 7.4)."""
    way, shares = gradient.copy(), []
    for step, change in reversed(past):
        share = _inner(step, way) / _inner(step, change)
        shares.append(share)
        way -= share * change
    if past:
        step, change = past[-1]
        way *= _inner(step, change) / _inner(change, change)
    for (step, change), share in zip(past, reversed(shares), strict=True):
        way += (share - _inner(change, way) / _inner(step, change)) * step
    return way


def _inner(one: Vector, other: Vector) -> float:
    # Not the dot product of the linear algebra library: its order of summing differs from processor to processor.
    return float(np.sum(one * other))
