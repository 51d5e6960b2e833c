"""A part of a store whose calls are counted by their names: what a law says of how much is asked is counted, not timed."""

from collections import Counter
from typing import Any, TypeVar, cast

T = TypeVar("T")


def counted(part: T, calls: Counter[str]) -> T:
    """Return the part; each call of a method of it is counted."""
    return cast(T, _Counted(part, calls))


class _Counted:
    def __init__(self, part: object, calls: Counter[str]) -> None:
        self._part = part
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        if not callable(method):
            return _Counted(method, self._calls)

        def call(*given: Any, **more: Any) -> Any:
            self._calls[name] += 1
            return method(*given, **more)

        return call
