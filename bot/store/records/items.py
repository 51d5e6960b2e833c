"""Items and the states of sources as JSON text and back."""

import dataclasses
import json
from datetime import datetime
from typing import Any

from bot.models import Health, Item, Kind, Link, Release, SourceState
from bot.store.records.encoding import EPOCH, changed_fields, decode, encode, iso, or_damaged, plain

_ITEM_DEFAULTS = [(field.name, field.default) for field in dataclasses.fields(Item)]
_TUPLES = ("authors", "categories", "keywords", "sources", "aliases")
_TIMES = ("published", "updated", "appeared", "seen", "releases_read", "releases_confirmed")


def newness(item: Item) -> tuple[datetime, str]:
    """Return what "newest first" sorts a stored item by: when it appeared, else was published, else seen; then its key."""
    return item.appeared or item.published or item.seen or EPOCH, item.key


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
        record["release"] = {**changed_fields(item.release), "published": iso(item.release.published)}
    return encode(record)


@or_damaged
def item_from_text(text: str) -> Item:
    """Return the item that `item_to_text` wrote; raises StoreError for anything else."""
    record = decode(text)
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
    return encode({field.name: plain(getattr(state, field.name)) for field in dataclasses.fields(state)})


@or_damaged
def state_from_text(text: str) -> SourceState:
    """Return the state that `state_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    record["health"] = Health(record["health"])
    for name in _STATE_TIMES:
        if record.get(name) is not None:
            record[name] = datetime.fromisoformat(record[name])
    return SourceState(**record)
