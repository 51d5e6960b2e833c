"""The archive by topic and day, as its viewer may read it: what was posted, in its order, with its numbers."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from bot.digest import card
from bot.errors import BotError
from bot.handlers.context import HandlerContext, all_channels
from bot.models import Actor, ArchivedDay, ArchivedDigest, ArchivedTopic, Entry, Viewer, is_mail

MOST_ON_FRONT = 12  # topics
MOST_OF_DAY = 50  # channels' digests of a topic on one day
MOST_DAYS = 100  # that are listed at a time

_NEW = timedelta(days=7)  # what the front shows
_KEPT = 2_000  # entries whose cards are held: some megabytes


async def viewer_of(context: HandlerContext, actor: Actor) -> Viewer:
    """Return the actor as a reader: of the channels that they may know of, and of their own addresses.

    Where nobody can tell now of which, it is that alone in which they asked, and the viewer is partial. Who may know of
    that one no more, as they have left it since, reads in none. Raises StoreError.
    """
    posted = {each for each in await context.store.archive.channels(actor.workspace) if not is_mail(each)}
    own = await context.store.recipients.of(actor.workspace, person=actor.person) if actor.person else ()
    here = {actor.channel} - {""}
    found, is_partial = await _seen(context, actor, posted | here)
    seen = here if is_partial else {*found}  # where they asked a little while ago
    return Viewer(
        workspace=actor.workspace,
        person=actor.person,
        channel=actor.channel if actor.channel in seen else "",
        channels=tuple(sorted({*(seen & posted), *(each.channel for each in own if each.person == actor.person)})),
        is_partial=is_partial,
    )


async def _seen(context: HandlerContext, actor: Actor, posted: Collection[str]) -> tuple[Collection[str], bool]:
    """Return of which of the channels the actor may know, and whether that could not be told.

    A platform has private channels: where nothing else says which, it is asked.
    """
    asked = context.channel_access.visible if context.visible_channels is all_channels else context.visible_channels
    try:
        return await asked(actor, posted), False
    except BotError:
        return (), True


async def front(context: HandlerContext, viewer: Viewer, now: datetime) -> Sequence[ArchivedDigest]:
    """Return the newest digest of each topic of the last week, else of each topic; the newest first.

    Of several on one day it is the last. Raises StoreError.
    """
    found = []
    for topic in await front_topics(
        context, viewer, now
    ):  # one by one: many threads that compute would hold up the event loop
        digests = await _digests(context, viewer, topic.name, topic.last)
        found += [max(digests, key=lambda each: each.saved_at)] if digests else []
    newest = sorted(found, key=lambda each: each.saved_at, reverse=True)
    return await asyncio.to_thread(lambda: [*map(_with_cards, newest)])


async def front_topics(context: HandlerContext, viewer: Viewer, now: datetime) -> Sequence[ArchivedTopic]:
    """Return the topics whose newest digests are the front's. Raises StoreError."""
    topics = await archived_topics(context, viewer)
    return ([each for each in topics if each.last > (now - _NEW).date()] or topics)[:MOST_ON_FRONT]


async def archived_topics(context: HandlerContext, viewer: Viewer) -> Sequence[ArchivedTopic]:
    """Return the topics of which the viewer may read digests, also those that stand no more. Raises StoreError."""
    return await context.store.archive.topics(viewer.workspace, viewer.channels)


async def archived_days(
    context: HandlerContext, viewer: Viewer, topic: str, *, before: date | None = None, limit: int = 31
) -> Sequence[ArchivedDay]:
    """Return the days with digests of the topic before that one, the last first; at most MOST_DAYS. Raises StoreError."""
    most = min(limit, MOST_DAYS)
    return await context.store.archive.days(viewer.workspace, viewer.channels, topic, before=before, limit=most)


async def digests_of_day(context: HandlerContext, viewer: Viewer, topic: str, day: date) -> Sequence[ArchivedDigest]:
    """Return the topic's digests of a day in the order in which they were posted, with their cards. Raises StoreError."""
    found = await _digests(context, viewer, topic, day)
    return await asyncio.to_thread(lambda: [*map(_with_cards, found)])


async def _digests(context: HandlerContext, viewer: Viewer, topic: str, day: date) -> Sequence[ArchivedDigest]:
    return await context.store.archive.digests(viewer.workspace, viewer.channels, topic, day, limit=MOST_OF_DAY)


def _with_cards(archived: ArchivedDigest) -> ArchivedDigest:
    entries = tuple(with_card(each) for each in archived.digest.entries)
    return replace(archived, digest=replace(archived.digest, entries=entries))


@lru_cache(_KEPT)
def with_card(entry: Entry) -> Entry:
    """Return an entry that was kept without its card as it was shown: with the gist that was posted, where it is known.

    It computes for some milliseconds: not on the event loop.
    """
    made = card.entry(entry.ranked, entry.summary, entry.partner)
    return replace(made, gist=entry.gist) if entry.gist else made
