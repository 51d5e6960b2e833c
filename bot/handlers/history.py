"""Who changed what in a workspace."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from bot.commands import History
from bot.handlers.addresses.places import known_addresses
from bot.handlers.context import HandlerContext, handles, slug
from bot.handlers.subscriptions.times import in_zone
from bot.handlers.wording.replies import excerpt, mentioning
from bot.models import Actor, Change, Reply, ReplyEntry, is_mail
from bot.models.people import SERVICE
from bot.wording import shortened, time_in_words

_CHANGES = 20  # lines of a history
_LOOKED_AT = 500  # of the latest changes, for those that one may see, and those of one topic
_CUT = 200  # characters of what stood before and after


@handles(History)
async def history(context: HandlerContext, command: History, actor: Actor, now: datetime) -> Reply:
    """Tell who changed what in the workspace, or in one topic.

    What others said of items is not told, nor what is subscribed in private channels that the person is not in. Raises
    UsageError for a topic that is not there and never was.
    """
    named = slug(command.topic)
    known = [each for each in await _changes(context, named, actor) if _may_see(each, actor)]
    subscribing = {channel for each in known for channel in _subscribing(each)}
    chats = {channel for channel in subscribing if not is_mail(channel)}
    seen = {*await context.visible_channels(actor, chats), *await known_addresses(context, actor)}
    told = [each for each in known if seen.issuperset(_subscribing(each))]
    where = f"of {excerpt(command.topic)}" if named else f"in this {context.workspace_word}"
    if not told:
        if named:
            await context.topic_named(actor.workspace, command.topic)
        return Reply(
            title=f"Nothing was changed {where} yet",
            next_steps=(f"*history* without a topic tells every change in this {context.workspace_word}.",) if named else (),
        )
    shown_here = told[:_CHANGES]
    reply = Reply(
        title=f"The latest changes {where}", entries=tuple([await _entry(each, actor, now) for each in shown_here])
    )
    channels = [channel for each in shown_here for channel in _channels_of(each)]
    return mentioning(reply, channels=channels, people=[each.person for each in shown_here if each.person != SERVICE])


async def _changes(context: HandlerContext, named: str, actor: Actor) -> Sequence[Change]:
    """All changes, or those of a topic and its subscription here, and among the latest those in other channels."""
    latest = await context.store.workspaces.changes(actor.workspace, limit=_LOOKED_AT)
    if not named:
        return latest
    found = {each: None for each in latest if named in each.what.split()[:3]}  # behind it stands a rhythm
    for about in (f"topic {named}", f"subscription {actor.channel} {named}"):
        found.update(dict.fromkeys(await context.store.workspaces.changes(actor.workspace, about=about, limit=_CHANGES)))
    return sorted(found, key=lambda each: each.at, reverse=True)


def _may_see(change: Change, actor: Actor) -> bool:
    """What one person said of one item is that person's; that a topic's whole profile was reset is everybody's."""
    of_an_item = change.what.startswith("feedback ") and len(change.what.split()) > 2
    return not of_an_item or change.person == actor.person


def _subscribing(change: Change) -> Collection[str]:
    """Return the channel whose subscription was changed, nothing for any other change."""
    return tuple(_channels_of(change)) if change.what.startswith("subscription ") else ()


async def _entry(change: Change, actor: Actor, now: datetime) -> ReplyEntry:
    at = await in_zone(change.at, actor.zone or "UTC")
    who = "you" if change.person == actor.person else "Broadsheet" if change.person == SERVICE else change.person
    what = " ".join("by e-mail" if is_mail(word) else word for word in change.what.split(" "))
    return ReplyEntry(title=what, lines=(f"{time_in_words(at, now)}, by {who}", *_difference(change)))


def _difference(change: Change) -> Sequence[str]:
    # A topic that is gone is kept with how each channel subscribed to it, which is theirs.
    was = change.before.partition("\nIn ")[0] if change.what.startswith("topic ") else change.before
    before, after = shortened(was, _CUT), shortened(change.after, _CUT)
    if before and after:
        return (f"before: {before}", f"now: {after}")
    return (f"made: {after}",) if after else (f"gone: {before}",) if before else ()


def _channels_of(change: Change) -> Iterator[str]:
    """Yield the channels that a line of the audit names."""
    about, *rest = change.what.split()
    if about == "subscription":
        yield from rest[:1]
    elif change.what in ("settings alerts", "settings duplicates"):
        said = f"{change.before}, {change.after}".split(", ")
        yield from (each for each in said if each and " " not in each)
