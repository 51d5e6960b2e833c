"""A part of a store of which some methods do something else: fail, or take their time."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


def instead(part: T, **methods: Callable[..., Any]) -> T:
    """Return the part with these methods in place of its own."""
    return cast(T, _Instead(part, methods))


class _Instead:
    def __init__(self, part: object, methods: dict[str, Callable[..., Any]]) -> None:
        self._part = part
        self.__dict__.update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)
