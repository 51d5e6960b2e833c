"""Occurrences and deliveries as JSON text and back. What a message says is kept beside it."""

import json
from datetime import date, datetime
from typing import Any

from bot.models import Delivery, DeliveryState, Occurrence, OccurrenceState
from bot.store.records.encoding import bytes_to_text, changed_fields, encode, or_damaged, text_to_bytes

_OCCURRENCE_TIMES = ("due", "next_at")
_DELIVERY_TIMES = ("due", "next_at", "lease_until", "first_try", "last_try", "made_at")
_NO_LETTER = b"\xff"  # stands in no UTF-8


def occurrence_to_text(occurrence: Occurrence) -> str:
    """Return the occurrence as one line of JSON."""
    return encode(changed_fields(occurrence))


@or_damaged
def occurrence_from_text(text: str) -> Occurrence:
    """Return the occurrence that `occurrence_to_text` wrote; raises StoreError for anything else."""
    record = _with_times(json.loads(text), _OCCURRENCE_TIMES)
    record["day"] = date.fromisoformat(record["day"])
    record["state"] = OccurrenceState(record.get("state", OccurrenceState.DUE))
    return Occurrence(**record)


def delivery_to_text(delivery: Delivery) -> str:
    """Return the delivery without what it says as one line of JSON."""
    record = changed_fields(delivery)
    record.pop("payload", None)
    record.pop("if_late", None)
    return encode(record)


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
    return Delivery(payload=bytes_to_text(said), if_late=bytes_to_text(if_late), **record)


def payloads_to_bytes(payload: str, if_late: str) -> bytes:
    """Return what a delivery says, and behind it what it says once it is late, where that is another thing."""
    return _NO_LETTER.join(text_to_bytes(each) for each in (payload, if_late) if each)


def _with_times(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**record, **{name: datetime.fromisoformat(record[name]) for name in names if name in record}}
