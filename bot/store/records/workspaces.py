"""What a workspace made as JSON text and back. A query is kept as it was typed, and parsed again when it is read."""

import json
from datetime import datetime, time
from typing import Any

from bot.errors import StoreError, UsageError
from bot.models import Change, Feedback, Interest, Preferences, Query, Schedule, Subscription, Topic
from bot.query import parse
from bot.store.records.encoding import changed_fields, iso, micros, or_damaged, time_of

_NEVER = 2**63 - 1  # the largest number that SQLite keeps
_TIMES = ("baseline", "paused_until", "made_at")


def to_text(value: Topic | Subscription | Preferences | Change) -> str:
    """Return the value as one line of JSON."""
    return _encode(changed_fields(value))


@or_damaged
def topic_from_text(text: str) -> Topic:
    """Return the topic that `to_text` wrote; raises StoreError for anything else."""
    record = _with_queries(json.loads(text), "query", "filter")
    for name in ("examples", "sources", "repositories"):
        record[name] = tuple(record.get(name, ()))
    interests = tuple(Interest(**interest) for interest in record.pop("interests", ()))
    return Topic(interests=interests, **record)


@or_damaged
def subscription_from_text(text: str) -> Subscription:
    """Return the subscription that `to_text` wrote; raises StoreError for anything else."""
    record = _with_queries(json.loads(text), "filter")
    for name in _TIMES:
        if name in record:
            record[name] = datetime.fromisoformat(record[name])
    return Subscription(schedule=_schedule(record.pop("schedule")), **record)


def _schedule(record: dict[str, Any]) -> Schedule:
    if "weekdays" in record:
        record["weekdays"] = tuple(record["weekdays"])
    if "at" in record:
        record["at"] = time.fromisoformat(record["at"])
    return Schedule(**record)


@or_damaged
def preferences_from_text(text: str) -> Preferences:
    """Return the preferences that `to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    for name in ("quiet_from", "quiet_until"):
        if name in record:
            record[name] = time.fromisoformat(record[name])
    record["prefer_duplicate"] = tuple(record.get("prefer_duplicate", ()))
    return Preferences(**record)


@or_damaged
def change_from_text(text: str) -> Change:
    """Return the change that `to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    return Change(at=datetime.fromisoformat(record.pop("at")), **record)


@or_damaged
def feedback_from_row(workspace: str, topic: str, row: tuple[str, str, int, int, str]) -> Feedback:
    """Return the feedback of a row: person, key, more, at, channel; raises StoreError for anything else."""
    person, key, more, at, channel = row
    return Feedback(
        workspace=workspace, topic=topic, person=person, key=key, more=bool(more), at=time_of(at), channel=channel
    )


def wakes(paused: bool, until: datetime | None) -> int:
    """Return when a pause ends, in microseconds as `micros` gives: 0 where there is none, never where it has no end."""
    if not paused:
        return 0
    return _NEVER if until is None else micros(until)


def _with_queries(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """Put the parsed queries of these names in the place of their texts."""
    return {**record, **{name: _query(record[name]) for name in names if name in record}}


def _query(text: str) -> Query:
    try:
        return parse(text)
    except UsageError as error:
        raise StoreError(
            f"The stored query {text!r} cannot be read any more ({error}); restore a backup with `broadsheet db restore`,"
            " or ask for help with this sentence."
        ) from error


def _plain(value: Query | datetime | time | Interest | Schedule) -> object:
    if isinstance(value, Query):
        return value.text
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, time) else changed_fields(value)


# ASCII only: half of a character survives this way and not as UTF-8.
_encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
