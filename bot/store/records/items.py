"""Our values as JSON text and back, for stores that keep text.

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
from bot.models import Digest, Health, Item, Kind, Link, Release, SourceState, Summary, SummaryPart

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ITEM_DEFAULTS = [(field.name, field.default) for field in dataclasses.fields(Item)]
_TUPLES = ("authors", "categories", "keywords", "sources", "aliases")
_TIMES = ("published", "updated", "appeared", "seen", "releases_read", "releases_confirmed")
# ASCII only: a lone surrogate, which a source's broken escape can bring, survives this way and not as UTF-8.
_encode = json.JSONEncoder(separators=(",", ":")).encode


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
    return (time - _EPOCH) // _MICROSECOND


@or_damaged
def time_of(micros: int) -> datetime:
    """Return the time that `micros` gave; raises StoreError for what is none."""
    return _EPOCH + micros * _MICROSECOND


def newness(item: Item) -> tuple[datetime, str]:
    """Return what "newest first" sorts a stored item by: when it appeared, else was published, else seen; then its key."""
    return item.appeared or item.published or item.seen or _EPOCH, item.key


def _decode(text: str) -> Any:
    """Read JSON by a reader three times as quick as Python's, which alone takes half of a character (a lone surrogate)."""
    try:
        return from_json(text, cache_strings="keys")
    except ValueError:
        return json.loads(text)


def iso(time: datetime) -> str:
    """Return the time as text, in UTC."""
    return time.astimezone(UTC).isoformat()


def told_fields(value: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a value that are not as their defaults, by name."""
    fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
    return {field.name: given for field, given in fields if given != field.default}


def item_to_text(item: Item) -> str:
    """Return the item as one line of JSON."""
    record: dict[str, Any] = {}
    for name, default in _ITEM_DEFAULTS:
        value = getattr(item, name)
        if value != default:
            record[name] = value
    for name in _TIMES:
        if name in record:
            record[name] = iso(record[name])
    if item.links:
        record["links"] = [(link.rel, link.url) for link in item.links]
    if item.release is not None:
        record["release"] = {**told_fields(item.release), "published": iso(item.release.published)}
    return _encode(record)


@or_damaged
def item_from_text(text: str) -> Item:
    """Return the item that `item_to_text` wrote; raises StoreError for anything else."""
    record = _decode(text)
    record["kind"] = Kind(record["kind"])
    for name in _TUPLES:
        if name in record:
            record[name] = tuple(record[name])
    for name in _TIMES:
        if name in record:
            record[name] = datetime.fromisoformat(record[name])
    if "links" in record:
        record["links"] = tuple(Link(rel, url) for rel, url in record["links"])
    if "release" in record:
        given = record["release"]
        record["release"] = Release(**{**given, "published": datetime.fromisoformat(given["published"])})
    return Item(**record)


_STATE_TIMES = tuple(field.name for field in dataclasses.fields(SourceState) if "datetime" in str(field.type))


def state_to_text(state: SourceState) -> str:
    """Return a source's state as JSON."""
    return _encode({name: _plain(value) for name, value in _fields(state)})


@or_damaged
def state_from_text(text: str) -> SourceState:
    """Return the state that `state_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    record["health"] = Health(record["health"])
    for name in _STATE_TIMES:
        if record.get(name) is not None:
            record[name] = datetime.fromisoformat(record[name])
    return SourceState(**record)


def summary_to_text(summary: Summary) -> str:
    """Return a summary as JSON."""
    return _encode(dataclasses.asdict(summary))


@or_damaged
def summary_from_text(text: str) -> Summary:
    """Return the summary that `summary_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    parts = tuple(SummaryPart(**{**part, "quotes": tuple(part["quotes"])}) for part in record.pop("parts"))
    return Summary(parts=parts, **record)


def digest_to_text(digest: Digest) -> str:
    """Return a whole digest as JSON, its items with it, so that it can be read when they are gone."""
    return json.dumps(dataclasses.asdict(digest), separators=(",", ":"), default=_plain)


@or_damaged
def entries_from_text(text: str) -> list[str]:
    """Return the keys of the entries of a digest that `digest_to_text` wrote; raises StoreError for anything else."""
    return [str(entry["ranked"]["item"]["key"]) for entry in json.loads(text)["entries"]]


def posted_scores(digest: Digest) -> dict[str, float | None]:
    """Return the keys that a digest posts, its entries' and their partners', in order, each with the score it had.

    A partner was not ranked for itself and has none.
    """
    scores = {entry.ranked.item.key: entry.ranked.score for entry in digest.entries}
    shown = [item for entry in digest.entries for item in (entry.ranked.item, entry.partner) if item is not None]
    return {item.key: scores.get(item.key) for item in shown}


def _fields(value: SourceState) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    return value
