"""What every record is made of: times as numbers, bytes that hold any text, and JSON of what is not as its default.

Only what differs from a field's default is written, so that a field added later reads as its default from older records.
"""

import dataclasses
import functools
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pydantic_core import from_json

from bot.errors import StoreError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def or_damaged(read: Callable[P, T]) -> Callable[P, T]:
    """Make a reader raise StoreError for everything that it did not expect."""

    @functools.wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise StoreError(
                f"A stored record is damaged ({type(error).__name__}: {error}); look through the database with"
                " `broadsheet db check`, and restore a backup with `broadsheet db restore`."
            ) from error

    return reading


def micros(time: datetime) -> int:
    """Return the time as whole microseconds since 1970 in UTC, exactly."""
    return (time - EPOCH) // _MICROSECOND


@or_damaged
def time_of(micros: int) -> datetime:
    """Return the time that `micros` gave; raises StoreError for what is none."""
    return EPOCH + micros * _MICROSECOND


def decode(text: str) -> Any:
    """Read JSON by a reader three times as quick as Python's, which alone takes half of a character (a lone surrogate)."""
    try:
        return from_json(text, cache_strings="keys")
    except ValueError:
        return json.loads(text)


def iso(time: datetime) -> str:
    """Return the time as text, in UTC."""
    return time.astimezone(UTC).isoformat()


def changed_fields(value: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a value that are not as their defaults, by name."""
    fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
    return {field.name: given for field, given in fields if given != field.default}


def plain(value: Any) -> Any:
    """Return a time or a date as its text, anything else as it is; for JSON encoders."""
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, date) else value


# ASCII only: a lone surrogate, which a source's broken escape can bring, survives this way and not as UTF-8.
encode = json.JSONEncoder(separators=(",", ":"), default=plain).encode


def text_to_bytes(text: str) -> bytes:
    """Return the text as UTF-8, half of a character too, which a source's broken escape can bring."""
    return text.encode("utf-8", "surrogatepass")


def bytes_to_text(given: bytes) -> str:
    """Return what `text_to_bytes` was given; what is damaged is shown so, never raised."""
    try:
        return given.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return given.decode("utf-8", "replace")
