"""Digests and summaries as JSON text and back."""

import dataclasses
import json

from bot.models import Digest, Summary, SummaryPart
from bot.store.records.encoding import encode, or_damaged


def summary_to_text(summary: Summary) -> str:
    """Return a summary as JSON."""
    return encode(dataclasses.asdict(summary))


@or_damaged
def summary_from_text(text: str) -> Summary:
    """Return the summary that `summary_to_text` wrote; raises StoreError for anything else."""
    record = json.loads(text)
    parts = tuple(SummaryPart(**{**part, "quotes": tuple(part["quotes"])}) for part in record.pop("parts"))
    return Summary(parts=parts, **record)


def digest_to_text(digest: Digest) -> str:
    """Return a whole digest as JSON, its items with it, so that it can be read when they are gone."""
    return encode(dataclasses.asdict(digest))


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
