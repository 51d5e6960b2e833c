"""Whose a subscription is: who is told what becomes of it. When that person leaves, another takes it over."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.commands import Transfer
from bot.commands.words import clean
from bot.errors import Unclear, UsageError
from bot.handlers.context import HandlerContext, change_by, handles, retry_on_conflict
from bot.handlers.subscriptions.subscription_change import about_subscription, on_record, subscription_named
from bot.handlers.wording.replies import button, mentioning, title_of
from bot.models import Actor, Reply, ReplyEntry, Subscription, is_mail
from bot.models.people import SERVICE
from bot.wording import counted

_ME = frozenset({"me", "myself"})
_NOBODY = "nobody"  # made by nobody whom the store knows
_OF = re.compile(r" \(of (\S+)\)\Z")  # how the audit says whose it was, and is
_LOOKED_AT = 500  # of the audit's latest lines
_SHOWN = 20


@handles(Transfer)
async def transfer(context: HandlerContext, command: Transfer, actor: Actor, now: datetime) -> Reply:
    """Show whose subscriptions there are, give those that are meant to another person, or take a transfer back.

    Those in private channels that the person is not in are neither told nor changed.
    """
    await context.check_may_manage(actor)
    if command.back:
        return await _taken_back(context, actor, command.back, now)
    if not (command.topic or command.former):
        return await _overview(context, actor)
    meant, hidden = await _meant(context, command, actor)
    to = await _person(context, command.to or "me", actor)
    theirs = [each for each in meant if each.made_by != to]
    if not theirs:
        nothing = "Nothing of theirs is subscribed where you see it." if not meant else "Nothing was changed."
        return mentioning(Reply(title="Nothing to transfer", text=(nothing,)), people=[to])
    moved = [each for each in theirs if await _give(context, each, to, actor, now)]
    return await _told(context, moved, to, hidden, actor, now)


async def _person(context: HandlerContext, typed: str, actor: Actor) -> str:
    """Return the identifier of the person who is meant, of those who did something here; raises UsageError for another.

    A name is no identifier: what a client leaves of a mention as "@anna" could be anybody's, and nobody would be told.
    """
    bare = clean(typed).text.strip().lstrip("@!")  # an option of Discord holds "<@123>" as it was sent
    if bare.lower() in _ME or bare == actor.person:
        return actor.person
    workspaces = context.store.workspaces
    known = {each.made_by for each in await workspaces.subscriptions(actor.workspace)}
    known |= {each.person for each in await workspaces.changes(actor.workspace, limit=_LOOKED_AT)}
    if bare and bare in known - {SERVICE}:
        return bare
    raise UsageError(
        "I know nobody here whom that names.",
        hint="Who is to have it gives *transfer*, and presses *Take over*; or mention who changed something here before.",
    )


async def _seen(context: HandlerContext, actor: Actor) -> tuple[list[Subscription], int]:
    """Return the subscriptions of the workspace that the person may know of, and how many others there are."""
    of_all = await context.store.workspaces.subscriptions(actor.workspace)
    every = [each for each in of_all if not is_mail(each.channel)]  # an address is one person's, and stays theirs
    visible = {actor.channel, *await context.visible_channels(actor, {each.channel for each in every})}
    seen = [each for each in every if each.channel in visible]
    return seen, len(every) - len(seen)


async def _meant(context: HandlerContext, command: Transfer, actor: Actor) -> tuple[list[Subscription], int]:
    """Return what is to be transferred, and how many subscriptions of the workspace this person may not know of."""
    seen, hidden = await _seen(context, actor)
    if command.topic:
        seen, hidden = await _of_topic(context, command.topic, actor), 0
    if not command.former:
        return seen, hidden
    is_nobodys = command.former.lower() == _NOBODY and any(not each.made_by for each in seen)
    former = "" if is_nobodys else await _person(context, command.former, actor)
    return [each for each in seen if each.made_by == former], hidden


async def _of_topic(context: HandlerContext, name: str, actor: Actor) -> list[Subscription]:
    """Return the channel's subscriptions to the topic, of every rhythm; raises UsageError where there is none."""
    try:
        topic = (await subscription_named(context, actor, name)).topic
    except Unclear:  # which of several does not matter: they are all meant
        topic = (await context.topic_named(actor.workspace, name)).name
    return list(await context.subscriptions_here(actor, topic))


async def _give(context: HandlerContext, subscription: Subscription, to: str, actor: Actor, now: datetime) -> bool:
    """Make it the person's; False where it is gone, or is somebody else's by now."""

    async def attempt() -> bool:
        here = await context.store.workspaces.subscriptions(
            subscription.workspace, channel=subscription.channel, topic=subscription.topic
        )
        found = next((each for each in here if each.id == subscription.id), None)
        if found is None or found.made_by != subscription.made_by:
            return False
        what = about_subscription(found.channel, found.topic, found.rhythm)
        before, after = (f"{on_record(found)} (of {owner or _NOBODY})" for owner in (found.made_by, to))
        change = change_by(actor, what, before, after, now)
        await context.store.workspaces.save_subscription(replace(found, made_by=to), change, replaces=found.revision)
        return True

    return await retry_on_conflict(attempt)


async def _overview(context: HandlerContext, actor: Actor) -> Reply:
    """Tell whose subscriptions there are, with a button that takes over those of each other person."""
    seen, hidden = await _seen(context, actor)
    topics = await context.topics(actor.workspace)
    owners = {each.made_by: [one for one in seen if one.made_by == each.made_by] for each in seen}
    entries = []
    for owner, theirs in sorted(owners.items(), key=lambda each: (each[0] != actor.person, each[0]))[:_SHOWN]:
        named = [f"{title_of(topics, each.topic)} in {each.channel}" for each in theirs[:_SHOWN]]
        more = (f"and {len(theirs) - _SHOWN} more",) if len(theirs) > _SHOWN else ()
        takes = () if owner == actor.person else (button("Take over", Transfer(former=owner or _NOBODY, to="me")),)
        entries.append(ReplyEntry(title=owner or "Nobody any more", lines=(*named, *more), buttons=takes))
    reply = Reply(
        title="Whose the subscriptions are" if seen else "Nothing is subscribed where you see it",
        text=("Who it is of is told when something cannot be posted there.", *_hidden(hidden)),
        entries=tuple(entries),
    )
    return mentioning(reply, channels=[each.channel for each in seen], people=[owner for owner in owners if owner])


def _hidden(count: int) -> tuple[str, ...]:
    return (f"{count:,} more in private channels that you are not in.",) if count else ()


async def _told(
    context: HandlerContext, moved: Sequence[Subscription], to: str, hidden: int, actor: Actor, now: datetime
) -> Reply:
    topics = await context.topics(actor.workspace)
    whose = "yours" if to == actor.person else f"of {to}"
    lines = [f"{title_of(topics, each.topic)} in {each.channel}, of {each.made_by or _NOBODY} before" for each in moved]
    reply = Reply(
        title=f"{counted(len(moved), 'subscription')} {'is' if len(moved) == 1 else 'are'} {whose} now",
        text=(*lines[:_SHOWN], *([f"And {len(lines) - _SHOWN} more."] if len(lines) > _SHOWN else []), *_hidden(hidden)),
        buttons=(button("Undo", Transfer(back=now.isoformat())),) if moved else (),
        private=False,
    )
    people = [to, *(each.made_by for each in moved)]
    return mentioning(reply, channels=[each.channel for each in moved], people=[each for each in people if each])


async def _taken_back(context: HandlerContext, actor: Actor, moment: str, now: datetime) -> Reply:
    """Give back what the person transferred at that moment, as far as it is still as it was left then."""
    given = {}
    for change in await context.store.workspaces.changes(actor.workspace, about="subscription", limit=_LOOKED_AT):
        before, after = _OF.search(change.before), _OF.search(change.after)
        if before and after and change.person == actor.person and change.at.isoformat() == moment:
            given[change.what] = ("" if before[1] == _NOBODY else before[1], after[1])
    seen, _ = await _seen(context, actor)
    moved = []
    for each in seen:
        former, to = given.get(about_subscription(each.channel, each.topic, each.rhythm), ("", ""))
        if to and each.made_by == to and await _give(context, each, former, actor, now):
            moved.append((each, former))
    topics = await context.topics(actor.workspace)
    lines = [f"{title_of(topics, each.topic)} in {each.channel}, of {former or _NOBODY} again" for each, former in moved]
    reply = Reply(
        title="The transfer is taken back" if moved else "There is nothing to take back",
        text=tuple(lines[:_SHOWN]),
        private=False,
    )
    people = [former for _, former in moved if former]
    return mentioning(reply, channels=[each.channel for each, _ in moved], people=people)
