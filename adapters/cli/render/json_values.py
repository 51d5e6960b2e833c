"""Digests and answers as plain values for `--json`.

The field names are a promise to scripts: they are added to, never renamed. Times are ISO 8601 in UTC, days ISO dates;
what is unknown is null (numbers, times) or empty (text, lists). Texts are as the core holds them, not made harmless for a
terminal: JSON escapes control characters by itself.

    digest    topic, title, day, since, until, minutes, entries[], left_out[], carried[], coverage
    entry     number, item, gist, card[] (name, text, found, quotes[]), why_here, score, reasons[], score_parts[], summary,
              partner (an item or null)
    left_out  key, reason, place, score, relevance, other, since, arrival; so too what was carried on
    item      key, kind, title, abstract, authors[], org, categories[], keywords[], sources[], links[], aliases[],
              published, updated, appeared, seen, announce, version, comment, license, language, stars, forks, upvotes,
              comments, withdrawn, archived, fork, release (tag, published, name, prerelease, notes; or null), releases_read,
              releases_confirmed, repo, paper
    summary   parts[] (name, text, found, quotes[]), read, made_by, note
    coverage  line, seen, kept, dropped[] (reason, count), sources[] (name, health, items, note,
              of_digest), notes[]
    reply     title, text[], quoted[], fields[] (name, value), charts[], entries[], cards[], digests[],
              attachment (name, media_type, text; or null), next_steps[], buttons[] (label, command, danger)
              a chart: name, kind (columns, bars, line), title, values[] (label, value, said, before, day), source, alt
              an entry: number, item (or null), title, gist, lines[], post (an address, or ""), buttons[]
"""

import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import date

from adapters.text import safe_url
from adapters.words import coverage_line
from bot.models import Button, Digest, Entry, Item, Reply, ReplyEntry, Summary

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]
_HALVES = re.compile("[\ud800-\udfff]")  # half a character cannot be written as UTF-8
_LEFT_OUT = {"readme"}  # long, and of use to the summariser alone


def digest_value(digest: Digest) -> dict[str, Value]:
    """Return the digest as values that `json.dumps` takes."""
    return {
        "topic": _plain(digest.topic),
        "title": _plain(digest.title),
        "day": digest.day.isoformat(),
        "since": digest.since.isoformat(),
        "until": digest.until.isoformat(),
        "minutes": digest.minutes,
        "entries": [_entry(number, entry) for number, entry in enumerate(digest.entries, start=1)],
        "left_out": _plain(digest.left_out),
        "carried": _plain(digest.carried),
        "coverage": _coverage(digest),
    }


def reply_value(reply: Reply) -> dict[str, Value]:
    """Return the answer to a command as values that `json.dumps` takes."""
    attached = reply.attachment
    return {
        "title": _plain(reply.title),
        "text": _plain(reply.text),
        "quoted": _plain(reply.quoted),
        "fields": _plain(reply.fields),
        "charts": _plain(reply.charts),
        "entries": [_reply_entry(number, entry) for number, entry in enumerate(reply.entries, start=reply.first)],
        "cards": [_entry(number, each) for number, each in enumerate(reply.cards, start=1)],
        "digests": [digest_value(each) for each in reply.digests],
        "attachment": _plain(attached) if attached else None,
        "next_steps": _plain(reply.next_steps),
        "buttons": _buttons(reply.buttons),
    }


def _reply_entry(number: int, entry: ReplyEntry) -> Value:
    return {
        "number": number,
        "item": item_value(entry.item) if entry.item else None,
        "title": _plain(entry.title),
        "gist": _plain(entry.gist),
        "lines": _plain(entry.lines),
        "post": safe_url(entry.post),
        "buttons": _buttons(entry.buttons),
    }


def item_value(item: Item) -> dict[str, Value]:
    """Return an item as values that `json.dumps` takes."""
    return {field.name: _plain(getattr(item, field.name)) for field in fields(item) if field.name not in _LEFT_OUT}


def _buttons(buttons: Sequence[Button]) -> Value:
    return [{"label": _plain(each.label), "command": _plain(each.command), "danger": each.danger} for each in buttons]


def _plain(value: object) -> Value:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return _HALVES.sub("\ufffd", str(value)) if isinstance(value, str) else value  # an enum's member becomes its text
    return {name: _plain(getattr(value, name)) for name in getattr(value, "__slots__", ())}


def _entry(number: int, entry: Entry) -> dict[str, Value]:
    return {
        "number": number,
        "item": item_value(entry.ranked.item),
        "gist": _plain(entry.gist),
        "card": _plain(entry.card),
        "why_here": _plain(entry.why_here),
        "score": round(entry.ranked.score, 4),
        "reasons": _plain(entry.ranked.reasons),
        "score_parts": _plain(entry.ranked.parts),
        "summary": _summary(entry.summary),
        "partner": item_value(entry.partner) if entry.partner else None,
    }


def _summary(summary: Summary) -> dict[str, Value]:
    return {"parts": _plain(summary.parts), "read": summary.read, "made_by": summary.made_by, "note": summary.note}


def _coverage(digest: Digest) -> dict[str, Value]:
    coverage = digest.coverage
    return {
        "line": coverage_line(digest),
        "seen": coverage.seen,
        "kept": coverage.kept,
        "dropped": [{"reason": reason, "count": count} for reason, count in coverage.dropped],
        "sources": _plain(coverage.sources),
        "notes": _plain((*filter(None, (coverage.span,)), *coverage.notes)),
    }
