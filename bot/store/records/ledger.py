"""Occurrences and deliveries as JSON text and back, as in bot.store.records.items. What a message says is kept beside it."""

import json
from datetime import date, datetime
from typing import Any

from bot.models import Delivery, DeliveryState, Occurrence, OccurrenceState
from bot.store.records.items import iso, micros, or_damaged, told_fields

_NEVER = 2**63 - 1  # the largest number that SQLite keeps
_OCCURRENCE_TIMES = ("due", "next_at")
_DELIVERY_TIMES = ("due", "next_at", "lease_until", "first_try", "last_try", "made_at")
_NO_LETTER = b"\xff"  # stands in no UTF-8


def occurrence_to_text(occurrence: Occurrence) -> str:
    """Return the occurrence as one line of JSON."""
    return _encode(told_fields(occurrence))


@or_damaged
def occurrence_from_text(text: str) -> Occurrence:
    """Return the occurrence that `occurrence_to_text` wrote; raises StoreError for anything else."""
    record = _with_times(json.loads(text), _OCCURRENCE_TIMES)
    record["day"] = date.fromisoformat(record["day"])
    record["state"] = OccurrenceState(record.get("state", OccurrenceState.DUE))
    return Occurrence(**record)


def delivery_to_text(delivery: Delivery) -> str:
    """Return the delivery without what it says as one line of JSON."""
    record = told_fields(delivery)
    record.pop("payload", None)
    record.pop("if_late", None)
    return _encode(record)


@or_damaged
def delivery_from_text(text: str, payload: bytes | None) -> Delivery:
    """Return the delivery that `delivery_to_text` and `payloads_to_bytes` wrote; raises StoreError for anything else.

    A damaged payload is returned as it is left; the delivery's seal tells.
    """
    record = _with_times(json.loads(text), _DELIVERY_TIMES)
    subscription, day, slot = record["occurrence"]
    record["occurrence"] = (subscription, date.fromisoformat(day), slot)
    record["state"] = DeliveryState(record.get("state", DeliveryState.PENDING))
    said, _, if_late = (payload or b"").partition(_NO_LETTER)
    return Delivery(payload=payload_from_bytes(said), if_late=payload_from_bytes(if_late), **record)


def payloads_to_bytes(payload: str, if_late: str) -> bytes:
    """Return what a delivery says, and behind it what it says once it is late, where that is another thing."""
    return _NO_LETTER.join(payload_to_bytes(each) for each in (payload, if_late) if each)


def payload_to_bytes(payload: str) -> bytes:
    """Return the payload as UTF-8, half of a character too, which a source's broken escape can bring."""
    return payload.encode("utf-8", "surrogatepass")


def wakes(paused: bool, until: datetime | None) -> int:
    """Return when a pause ends, in microseconds as `micros` gives: 0 where there is none, never where it has no end."""
    if not paused:
        return 0
    return _NEVER if until is None else micros(until)


def payload_from_bytes(payload: bytes) -> str:
    """Return what `payload_to_bytes` was given; what is damaged is shown so, never raised."""
    try:
        return payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return payload.decode("utf-8", "replace")


def _with_times(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**record, **{name: datetime.fromisoformat(record[name]) for name in names if name in record}}


def _plain(value: date) -> str:
    return iso(value) if isinstance(value, datetime) else value.isoformat()


_encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
