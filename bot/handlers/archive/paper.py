"""One item with its history: its card, where and when it was posted, how it rose, its versions, and what is close to it."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.handlers.archive.reading import with_card
from bot.handlers.context import HandlerContext
from bot.handlers.search.similar import meant_item
from bot.handlers.trends.stars import READ, readings_of
from bot.models import ArchivedPosting, Entry, Item, Kind, PaperHistory, Viewer

MOST_POSTINGS = 50  # that are told of an item
SIMILAR = 5  # items


@dataclass(frozen=True, slots=True)
class LastPosted:
    """An item, and where it was posted last, as far as the viewer may know; None where it was not."""

    item: Item
    posting: ArchivedPosting | None


async def paper_history(context: HandlerContext, viewer: Viewer, key: str, now: datetime) -> PaperHistory | None:
    """Return what is known of the item of that key, or alias, and where the viewer may know that it was posted.

    None where there is none; nor is there one for a stranger that was never posted where they may read: what else was
    collected is the workspace's own. Raises StoreError, as all of these do.
    """
    known = await _known(context, viewer, key, MOST_POSTINGS)
    if known is None:
        return None
    item, postings = known
    entry = await _entry(context, viewer, postings[0]) if postings else None
    return PaperHistory(
        item=item,
        entry=entry,
        summary=entry.summary if entry else await context.previewer.summary(item, now),
        postings=tuple(postings),
        readings=await readings_of(context, item, (now - READ).date()),
        versions=tuple(_versions(item)),
        similar=await _similar(context, viewer, item, now),
        saved=await _is_saved(context, viewer, item),
    )


async def last_posted(context: HandlerContext, viewer: Viewer, key: str) -> LastPosted | None:
    """Return of what `paper_history` tells the item and its last posting, by two small reads; None where that has none."""
    known = await _known(context, viewer, key, 1)
    return LastPosted(known[0], next(iter(known[1]), None)) if known else None


async def posted_gist(context: HandlerContext, viewer: Viewer, posting: ArchivedPosting) -> str:
    """Return the gist as it was posted there, "" where it cannot be read any more; it stays as long as the posting."""
    entry = await _entry(context, viewer, posting)
    return entry.gist if entry else ""


async def _known(
    context: HandlerContext, viewer: Viewer, key: str, most: int
) -> tuple[Item, Sequence[ArchivedPosting]] | None:
    """Return the item and its postings, the last first; None where the viewer may know of none."""
    item = (await context.store.items.find([key])).get(key)
    found = await _postings(context, viewer, item, most) if item else ()
    return (item, found) if item and (found or not viewer.is_stranger) else None


async def _postings(context: HandlerContext, viewer: Viewer, item: Item, most: int) -> Sequence[ArchivedPosting]:
    keys = (item.key, *item.aliases)
    return await context.store.archive.postings(viewer.workspace, viewer.channels, keys, limit=most)


async def _entry(context: HandlerContext, viewer: Viewer, posting: ArchivedPosting) -> Entry | None:
    """Return the entry as it was posted there, None where that cannot be read any more."""
    entry = await context.store.archive.posted_entry(viewer.workspace, posting)
    return await asyncio.to_thread(with_card, entry) if entry else None


def _versions(item: Item) -> Iterator[tuple[str, datetime]]:
    """Yield the versions whose time is known: of a paper the first and the latest, of a repository its last release."""
    if item.kind is Kind.PAPER and item.version and item.published:
        yield "v1", item.published
        if item.version > 1 and item.updated:
            yield f"v{item.version}", item.updated
    if item.release is not None:
        yield item.release.tag, item.release.published


async def _similar(context: HandlerContext, viewer: Viewer, item: Item, now: datetime) -> tuple[Item, ...]:
    """Return what is close to it; for a stranger, of that what was posted where they may read."""
    near = (await meant_item(context, item)).near
    hits = await context.store.index.similar(item, now, limit=SIMILAR, near=near)
    close = [hit.item for hit in hits]
    if not viewer.is_stranger:
        return tuple(close)
    return tuple([each for each in close if await _postings(context, viewer, each, 1)])


async def _is_saved(context: HandlerContext, viewer: Viewer, item: Item) -> bool:
    if viewer.is_stranger:
        return False
    held = {each.key for each in await context.store.people.saved(viewer.workspace, viewer.person)}
    return bool(held & {item.key, *item.aliases})
