"""What no library expects: a value of JSON in which one thing is missing, null, of another type, unknown or enormous."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

Place = tuple[str | int, ...]
WRONG: Sequence[Any] = (None, True, -1, 0, 1.5, 10**30, "", "x", "9" * 30, [], [None], {}, {"id": None}, [[]])
ENORMOUS: Sequence[Any] = ([{}] * 5_000, [None] * 5_000, "x" * 50_000, {str(number): {} for number in range(5_000)})


def places(value: Any, here: Place = ()) -> list[Place]:
    """Return where something stands in it; of a list only the first two."""
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, Mapping):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value[:2]))
    return [here, *(place for name, each in inner for place in places(each, (*here, name)))]


def without(value: Any, place: Place) -> Any:
    """Return a copy that lacks what stands there."""
    made = deepcopy(value)
    del _holder(made, place)[place[-1]]
    return made


def put(value: Any, place: Place, other: Any) -> Any:
    """Return a copy with something else there."""
    if not place:
        return other
    made = deepcopy(value)
    _holder(made, place)[place[-1]] = other
    return made


def _holder(value: Any, place: Place) -> Any:
    for name in place[:-1]:
        value = value[name]
    return value


@st.composite
def malformed(draw: Any, shape: Any) -> Any:
    """Draw the shape with one thing wrong."""
    place = draw(st.sampled_from(places(shape)))
    is_missing = bool(place) and draw(st.booleans())
    return without(shape, place) if is_missing else put(shape, place, draw(st.sampled_from([*WRONG, *ENORMOUS])))
