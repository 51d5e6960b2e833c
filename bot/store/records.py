"""Values as the text that stores keep, and back: JSON, times as numbers, bytes that hold any text.

Only what differs from a field's default is written, so that a field added later reads as its default from older records.
Whatever is read and is not what was written raises StoreError.
"""

import base64
import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pydantic_core import from_json

from bot.errors import Reach, StoreError, UsageError
from bot.models import (
    Change,
    Coverage,
    Delivery,
    DeliveryState,
    Digest,
    Entry,
    Feedback,
    Health,
    Interest,
    Item,
    Kind,
    Layout,
    LeftOut,
    Link,
    Notice,
    Occurrence,
    OccurrenceState,
    PastDigest,
    Preferences,
    Query,
    Ranked,
    Refusal,
    Release,
    Schedule,
    ScorePart,
    SourceReport,
    SourceState,
    Subscription,
    Summary,
    SummaryPart,
    Topic,
    Window,
)
from bot.query import parse
from bot.rank.events import posted_marks, posted_names

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
T = TypeVar("T")

_ENTRIES = 256  # whose texts are kept: many channels are posted the same few
_MADE_AGAIN = ("card", "why_here")  # from what else is kept of an entry

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
    """Return a time or a date as its text, anything else as it is."""
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, date) else value


@functools.cache
def _names(kind: type["DataclassInstance"]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _fields(value: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a value by name, none of them copied."""
    return {name: getattr(value, name) for name in _names(type(value))}


def _encodable(value: Any) -> Any:
    """Return what JSON has for what it knows not: of a time or a date its text, of a dataclass its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return plain(value)


# ASCII only: a lone surrogate, which a source's broken escape can bring, survives this way and not as UTF-8.
encode = json.JSONEncoder(separators=(",", ":"), default=_encodable).encode


def text_to_bytes(text: str) -> bytes:
    """Return the text as UTF-8, half of a character too, which a source's broken escape can bring."""
    return text.encode("utf-8", "surrogatepass")


def bytes_to_text(given: bytes) -> str:
    """Return what `text_to_bytes` was given; what is damaged is shown so, never raised."""
    try:
        return given.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return given.decode("utf-8", "replace")


# --- items and the states of sources

_ITEM_DEFAULTS = [(field.name, field.default) for field in dataclasses.fields(Item)]
_TUPLES = ("authors", "categories", "keywords", "sources", "aliases")
_ITEM_TIMES = ("published", "updated", "appeared", "seen", "releases_read", "releases_confirmed")


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
    for name in _ITEM_TIMES:
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
    return _item(decode(text))


def _item(record: dict[str, Any]) -> Item:
    """Return the item of a record that `item_to_text` made, or that stands in a digest: there every field is written."""
    record["kind"] = Kind(record["kind"])
    for name in _TUPLES:
        if name in record:
            record[name] = tuple(record[name])
    for name in _ITEM_TIMES:
        if record.get(name) is not None:
            record[name] = datetime.fromisoformat(record[name])
    if "links" in record:
        links = (each.values() if isinstance(each, dict) else each for each in record["links"])
        record["links"] = tuple(Link(rel, url) for rel, url in links)
    if record.get("release") is not None:
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


# --- digests and summaries


def summary_to_text(summary: Summary) -> str:
    """Return a summary as JSON."""
    return encode(dataclasses.asdict(summary))


@or_damaged
def summary_from_text(text: str) -> Summary:
    """Return the summary that `summary_to_text` wrote; raises StoreError for anything else."""
    return _summary(json.loads(text))


def _summary(record: dict[str, Any]) -> Summary:
    parts = tuple(SummaryPart(**{**part, "quotes": tuple(part["quotes"])}) for part in record["parts"])
    return Summary(**{**record, "parts": parts})


def digest_to_text(digest: Digest) -> str:
    """Return a whole digest as JSON, its items with it, so that it can be read when they are gone.

    Of what its entries show the gists are kept; the rest is left out: it can be made again from them.
    """
    texts = {name: encode(value) for name, value in _fields(digest).items() if name != "entries"}
    texts["entries"] = f"[{','.join(map(_entry_to_text, digest.entries))}]"
    return f"{{{','.join(f'{encode(name)}:{texts[name]}' for name in _names(Digest))}}}"


@functools.lru_cache(_ENTRIES)
def _entry_to_text(entry: Entry) -> str:
    return encode({name: value for name, value in _fields(entry).items() if name not in _MADE_AGAIN})


def shown_mark(digest: Digest) -> str:
    """Return 22 characters of [0-9A-Za-z_-] that two digests have in common where they show their readers the same.

    It is 128 bits of a SHA-256 over what a message or a page says of it.
    """
    entries = [
        (
            item.key,
            item.title,
            entry.gist,
            item.stars,
            item.upvotes,
            entry.partner and entry.partner.key,
            entry.ranked.reasons,
        )
        for entry in digest.entries
        for item in (entry.ranked.item,)
    ]
    shown = [
        digest.topic,
        digest.title,
        digest.day,
        digest.news,
        digest.others,
        entries,
        digest.coverage,
    ]
    said = encode([*shown, [each.key for each in digest.left_out]])
    return base64.urlsafe_b64encode(hashlib.sha256(said.encode()).digest()[:16]).decode().rstrip("=")


@or_damaged
def digest_from_text(text: str) -> Digest:
    """Return the digest that `digest_to_text` wrote, its entries without their cards; raises StoreError for anything else.

    What an older version did not note is as the field's default.
    """
    record = _with_times(decode(text), ("since", "until"))
    coverage = record["coverage"]
    reports = tuple(SourceReport(**{**each, "health": Health(each["health"])}) for each in coverage["sources"])
    dropped = tuple((reason, count) for reason, count in coverage["dropped"])
    given = {**coverage, "sources": reports, "dropped": dropped, "notes": tuple(coverage.get("notes") or ())}
    for name in ("left_out", "carried"):  # of what was carried on an older version kept the keys alone
        listed = (each for each in record.get(name) or () if isinstance(each, dict))
        record[name] = tuple(LeftOut(**_with_times(each, ("since",))) for each in listed)
    record["day"] = date.fromisoformat(record["day"])
    record["entries"] = tuple(_entry(each) for each in record["entries"])
    record["window"] = Window(**(record.get("window") or {}))
    record["again"] = tuple(record.get("again") or ())
    known = {name: value for name, value in record.items() if name in _DIGEST_FIELDS}
    return Digest(**{**known, "coverage": Coverage(**given)})


_DIGEST_FIELDS = frozenset(field.name for field in dataclasses.fields(Digest))  # an older version had others, too


def _entry(record: dict[str, Any]) -> Entry:
    ranked, partner = record["ranked"], record.get("partner")
    parts = tuple(ScorePart(**part) for part in ranked["parts"])
    return Entry(
        Ranked(**{**ranked, "item": _item(ranked["item"]), "parts": parts}),
        _summary(record["summary"]),
        _item(partner) if partner else None,
        gist=record.get("gist", ""),
    )


@or_damaged
def past_from_text(text: str, saved: datetime) -> PastDigest:
    """Return what is remembered of a digest that `digest_to_text` wrote; raises StoreError for anything else.

    Before it was noted what a digest left out, nothing of it is known.
    """
    record = decode(text)
    known = {name: record[name] for name in ("others", "above", "cap", "min_score", "rhythm") if name in record}
    coverage = record["coverage"]
    return PastDigest(
        topic=record["topic"],
        title=record["title"],
        day=date.fromisoformat(record["day"]),
        saved=saved,
        entries=tuple(str(entry["ranked"]["item"]["key"]) for entry in record["entries"]),
        left_out=tuple(LeftOut(**_with_times(each, ("since",))) for each in record.get("left_out", ())),
        gists=tuple(str(entry.get("gist", "")) for entry in record["entries"]),
        seen=coverage["seen"],
        kept=coverage["kept"],
        dropped=tuple((reason, count) for reason, count in coverage["dropped"]),
        **known,
    )


def posted_scores(digest: Digest) -> dict[str, float | None]:
    """Return the keys that a digest posts, its entries' and their partners', in order, each with the score it had.

    A partner was not ranked for itself and has none; nor has what is kept of a repository's releases.
    """
    scores = {entry.ranked.item.key: entry.ranked.score for entry in digest.entries}
    shown = [item for entry in digest.entries for item in (entry.ranked.item, entry.partner) if item is not None]
    marks = {mark: None for item in shown for mark in posted_marks(item)}
    return {item.key: scores.get(item.key) for item in shown} | marks


def posted_once(digest: Digest) -> list[str]:
    """Return all names of what a digest posts and no other may have posted; of what it posts again, those of its release."""
    shown = [item for entry in digest.entries for item in (entry.ranked.item, entry.partner) if item is not None]
    return [name for item in shown for name in posted_names(item, is_again=item.key in digest.again)]


# --- occurrences and deliveries; what a message says is kept beside them

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
    record["shows"] = tuple(record.get("shows", ()))
    said, _, if_late = (payload or b"").partition(_NO_LETTER)
    return Delivery(payload=bytes_to_text(said), if_late=bytes_to_text(if_late), **record)


def payloads_to_bytes(payload: str, if_late: str) -> bytes:
    """Return what a delivery says, and behind it what it says once it is late, where that is another thing."""
    return _NO_LETTER.join(text_to_bytes(each) for each in (payload, if_late) if each)


def _with_times(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**record, **{name: datetime.fromisoformat(record[name]) for name in names if record.get(name)}}


# --- what is owed; whose it is stands beside it


def owed_to_text(owed: Notice | Refusal) -> str:
    """Return the notice or the refusal, without its workspace, as one line of JSON."""
    record = dataclasses.asdict(owed)
    del record["workspace"]
    return encode(record)


@or_damaged
def notice_from_text(workspace: str, text: str) -> Notice:
    """Return the notice that `owed_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    return Notice(workspace=workspace, **{**record, "since": datetime.fromisoformat(record["since"])})


@or_damaged
def refusal_from_text(workspace: str, text: str) -> Refusal:
    """Return the refusal that `owed_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    at = record.get("at")
    times = {"at": datetime.fromisoformat(at) if at else None}
    return Refusal(workspace=workspace, **{**record, **times, "reach": Reach(record["reach"])})


# --- what a workspace made; a query is kept as it was typed, and parsed again when it is read

_NEVER = 2**63 - 1  # the largest number that SQLite keeps
_SUBSCRIPTION_TIMES = ("baseline", "paused_until", "paused_at", "made_at", "lifted_at")


def to_text(value: Topic | Subscription | Preferences | Change) -> str:
    """Return the value as one line of JSON."""
    return _encode_setting(changed_fields(value))


@or_damaged
def topic_from_text(text: str) -> Topic:
    """Return the topic that `to_text` wrote; raises StoreError for anything else."""
    record = _with_queries(json.loads(text), "query", "filter")
    for name in ("examples", "sources", "categories", "repositories"):
        record[name] = tuple(record.get(name, ()))
    interests = tuple(Interest(**interest) for interest in record.pop("interests", ()))
    return Topic(interests=interests, **record)


@or_damaged
def subscription_from_text(text: str) -> Subscription:
    """Return the subscription that `to_text` wrote; raises StoreError for anything else."""
    record = _with_queries(json.loads(text), "filter")
    for name in _SUBSCRIPTION_TIMES:
        if name in record:
            record[name] = datetime.fromisoformat(record[name])
    record["layout"] = _layout(record)
    return Subscription(schedule=_schedule(record.pop("schedule")), **record)


def _layout(record: Mapping[str, Any]) -> Layout | None:
    return Layout(record["layout"]) if record.get("layout") else None


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
    record["layout"] = _layout(record)
    for name in ("prefer_duplicate", "publish", "public"):
        record[name] = tuple(record.get(name, ()))
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


def _plain_setting(value: Query | datetime | time | Interest | Schedule) -> object:
    if isinstance(value, Query):
        return value.text
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, time) else changed_fields(value)


# ASCII only: half of a character survives this way and not as UTF-8.
_encode_setting = json.JSONEncoder(separators=(",", ":"), default=_plain_setting).encode
