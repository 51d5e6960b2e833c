"""Digests and search results as plain values for `--json`.

The field names are a promise to scripts: they are added to, never renamed. Times are ISO 8601 in UTC, days ISO dates;
what is unknown is null (numbers, times) or empty (text, lists). Texts are as the core holds them, not made harmless for a
terminal: JSON escapes control characters by itself.

    digest    topic, title, day, since, until, entries[], coverage
    entry     number, item, score, reasons[], score_parts[], summary, partner (an item or null)
    item      key, kind, title, abstract, authors[], org, categories[], keywords[], sources[], links[], aliases[],
              published, updated, appeared, seen, announce, version, comment, license, language, stars, forks, upvotes,
              withdrawn, archived, fork, repo, paper
    summary   parts[] (name, text, found, quotes[]), read, made_by, note
    coverage  line, seen, kept, dropped[] (reason, count), sources[] (name, health, items, note), notes[]
    page      hits[] (item, relevance), more
"""

import re
from dataclasses import fields
from datetime import date

from adapters.words import coverage_line
from bot.models import Coverage, Digest, Entry, Item, Page, Summary

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
        "entries": [_entry(number, entry) for number, entry in enumerate(digest.entries, start=1)],
        "coverage": _coverage(digest.coverage),
    }


def page_value(page: Page) -> dict[str, Value]:
    """Return search results as values that `json.dumps` takes."""
    hits: list[Value] = [{"item": item_value(hit.item), "relevance": round(hit.relevance, 4)} for hit in page.hits]
    return {"hits": hits, "more": page.more}


def item_value(item: Item) -> dict[str, Value]:
    """Return an item as values that `json.dumps` takes."""
    return {field.name: _plain(getattr(item, field.name)) for field in fields(item) if field.name not in _LEFT_OUT}


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
        "score": round(entry.ranked.score, 4),
        "reasons": _plain(entry.ranked.reasons),
        "score_parts": _plain(entry.ranked.parts),
        "summary": _summary(entry.summary),
        "partner": item_value(entry.partner) if entry.partner else None,
    }


def _summary(summary: Summary) -> dict[str, Value]:
    return {"parts": _plain(summary.parts), "read": summary.read, "made_by": summary.made_by, "note": summary.note}


def _coverage(coverage: Coverage) -> dict[str, Value]:
    return {
        "line": coverage_line(coverage),
        "seen": coverage.seen,
        "kept": coverage.kept,
        "dropped": [{"reason": reason, "count": count} for reason, count in coverage.dropped],
        "sources": _plain(coverage.sources),
        "notes": _plain(coverage.notes),
    }
