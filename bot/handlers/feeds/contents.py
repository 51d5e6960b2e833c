"""What is in a feed, and whose it is: asked anew at every reading, as who may know what changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import TypeVar

from bot.errors import DeliveryError
from bot.handlers.archive.reading import archived_days, archived_topics, digests_of_day, viewer_of
from bot.handlers.context import HandlerContext
from bot.handlers.feeds.addresses import token_kept
from bot.handlers.items import post_links
from bot.handlers.saved import here_entry, kept_and_gists, own_entry
from bot.models import Actor, ArchivedDay, ArchivedDigest, FeedAccess, ReplyEntry, Saved, SavedInChannel, Viewer

MOST = 50  # entries that are asked for

Held = TypeVar("Held", Saved, SavedInChannel)


@dataclass(frozen=True, slots=True)
class FeedReader:
    """Who reads feeds by a token, and what they may know of now."""

    access: FeedAccess
    actor: Actor
    viewer: Viewer


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """An item of a list, as the list shows it."""

    key: str
    at: datetime  # when it was saved last
    entry: ReplyEntry


async def access_by(context: HandlerContext, token: str) -> FeedAccess | None:
    """Return what the token is for; None for one that was never given, or was revoked."""
    return await context.store.people.feeds_by(token_kept(token))


async def reader_of(context: HandlerContext, access: FeedAccess) -> FeedReader | None:
    """Return who reads by a token, and what they may know of now; None for who is in the workspace no more.

    That they asked in a channel once says nothing of today, unless it is their own. Where nobody can tell now whether they
    are there, the viewer is partial.
    """
    actor = Actor(
        platform=access.platform,
        workspace=access.workspace,
        channel=access.channel if access.is_direct else "",
        person=access.person,
        is_direct=access.is_direct,
    )
    try:
        if not await context.channel_access.is_member(actor):
            return None
    except DeliveryError:
        return FeedReader(access, actor, Viewer(workspace=actor.workspace, person=actor.person, is_partial=True))
    return FeedReader(access, actor, await viewer_of(context, actor))


async def feed_titles(context: HandlerContext, viewer: Viewer) -> dict[str, str]:
    """Return the titles of the topics of which the viewer may read digests, by their names, in the order of the titles."""
    found = {each.name: each.title for each in await archived_topics(context, viewer)}
    return dict(sorted(found.items(), key=lambda each: (each[1].casefold(), each[0])))


async def newest_days(context: HandlerContext, viewer: Viewer, topic: str) -> tuple[ArchivedDay, ...]:
    """Return the newest days of the topic of which the viewer may read digests, as many as MOST entries need.

    As long as they are the same, so are their digests: what was posted stays.
    """
    days = await archived_days(context, viewer, topic, limit=MOST)
    before = accumulate((max(each.digests, each.entries) for each in days), initial=0)
    return tuple(day for day, entries in zip(days, before, strict=False) if entries < MOST)


async def digests_of_days(
    context: HandlerContext, viewer: Viewer, topic: str, days: Sequence[ArchivedDay]
) -> Sequence[ArchivedDigest]:
    """Return the topic's digests of these days, the newest first."""
    found = [digest for each in days for digest in await digests_of_day(context, viewer, topic, each.day)]
    return sorted(found, key=lambda each: each.saved_at, reverse=True)


async def own_list(context: HandlerContext, workspace: str, person: str) -> Sequence[SavedEntry]:
    """Return what the person saved last, the latest first."""
    held = (await context.store.people.saved(workspace, person))[:MOST]
    known, gists = await kept_and_gists(context, [each.key for each in held])
    return [
        SavedEntry(each.key, each.at, own_entry(each, known.get(each.key), gists.get(each.key, ""), each.at))
        for each in held
    ]


async def channel_list(context: HandlerContext, reader: FeedReader) -> Sequence[SavedEntry] | None:
    """Return what anybody saved last in the channel, the latest first; None where the reader may not know of it any more."""
    workspace, channel = reader.access.workspace, reader.access.reading_list
    counts = (await context.store.workspaces.preferences(workspace)).activity
    if not channel or not counts or not await context.visible_channels(reader.actor, {channel}):
        return None
    held = (await context.store.people.saved_in(workspace, channel))[:MOST]
    known, gists = await kept_and_gists(context, [each.key for each in held])
    links = await post_links(context, workspace, {channel}, [*known.values()])
    return [
        SavedEntry(
            each.key,
            each.at,
            here_entry(each, known.get(each.key), gists.get(each.key, ""), links.get(each.key, ""), (), each.at),
        )
        for each in held
    ]
