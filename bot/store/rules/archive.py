"""What several channels were posted alike is read as one. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from bot.models import ArchivedDigest, Digest, Entry


def as_one(same: Sequence[ArchivedDigest]) -> ArchivedDigest:
    """Return digests of one mark, in the order in which they were saved, as one with the places of all of them."""
    channels = tuple(channel for each in same for channel in each.channels)
    return replace(same[0], channels=channels, links=tuple(link for each in same for link in each.links))


def entry_of(digest: Digest, key: str) -> Entry | None:
    """Return the entry that shows the item, by itself or beside another one; None where none does."""
    for entry in digest.entries:
        if key in (entry.ranked.item.key, entry.partner.key if entry.partner else ""):
            return entry
    return None
