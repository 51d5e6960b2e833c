"""Forgetting an address: all that is kept of it is erased, but for a hash that keeps it from being written to again."""

from collections.abc import Sequence
from datetime import datetime

from bot.commands import Forget
from bot.commands.words import is_mail_place
from bot.digest.due import describe
from bot.handlers.addresses.places import NamedAddress, administers, named_address, no_such_address
from bot.handlers.context import HandlerContext, handles
from bot.handlers.topics.topic_change import forget_unused
from bot.handlers.wording.replies import button, title_of
from bot.models import EMAIL, Actor, Reply, Subscription
from bot.models.people import SERVICE
from bot.wording import counted, some


@handles(Forget)
async def forget(context: HandlerContext, command: Forget, actor: Actor, now: datetime) -> Reply:
    """Ask whether an address is to be forgotten, and erase it: one's own, or as an administrator anybody's."""
    place = command.address if is_mail_place(command.address) else f"email:{command.address}"
    named = await named_address(context, actor, place)
    if named.recipient is None:
        return await _erase_unconfirmed(context, named, actor, now)
    held = await context.store.workspaces.subscriptions(actor.workspace, channel=named.recipient.channel)
    if not command.surely:
        return await _ask(context, named, held, actor)
    await context.store.recipients.forget(actor.workspace, named.address, now)
    topics = await context.topics(actor.workspace)
    for each in held:
        await forget_unused(context, topics.get(each.topic), each, actor, now)
    ended = f" {counted(len(held), 'subscription')} ended with it." if held else ""
    return Reply(
        title=f"{named.shown} is forgotten",
        text=(f"Nothing more is sent there, and the address is erased.{ended}", _REMEMBERED),
    )


_REMEMBERED = "That it was forgotten is remembered by a hash from which no address can be read."


async def forget_everywhere(context: HandlerContext, address: str, now: datetime) -> int:
    """Erase the address from all workspaces, for who runs the service; return how many subscriptions ended with it.

    Raises ValueError for what is no address.
    """
    store = context.store
    held = [
        each
        for recipient in await store.recipients.everywhere(address)
        for each in await store.workspaces.subscriptions(recipient.workspace, channel=recipient.channel)
    ]
    await store.recipients.forget("", address, now)
    for each in held:
        there = _service(each)
        topics = await context.topics(each.workspace)
        await forget_unused(context, topics.get(each.topic), each, there, now)
    return len(held)


def _service(ended: Subscription) -> Actor:
    return Actor(platform=EMAIL, workspace=ended.workspace, channel=ended.channel, person=SERVICE, may_administer=True)


async def _erase_unconfirmed(context: HandlerContext, named: NamedAddress, actor: Actor, now: datetime) -> Reply:
    """Erase what waits to be confirmed there: an administrator all of it, whoever else what they asked for themselves."""
    if not administers(actor):
        return await _take_back(context, named, actor)
    await context.store.recipients.forget(actor.workspace, named.address, now)
    said = "No digests were sent there; what waited to be confirmed is erased."
    return Reply(title=f"{named.address} is forgotten", text=(said, _REMEMBERED))


async def _take_back(context: HandlerContext, named: NamedAddress, actor: Actor) -> Reply:
    if not await context.store.recipients.take_back(actor.workspace, actor.person, named.address):
        raise no_such_address()
    said = "The code that you asked for holds no longer, and nothing is sent there for it."
    return Reply(title=f"{named.address} is forgotten", text=(said,))


async def _ask(context: HandlerContext, named: NamedAddress, held: Sequence[Subscription], actor: Actor) -> Reply:
    topics = await context.topics(actor.workspace)
    titles = [f"{title_of(topics, each.topic)}, {describe(each.schedule)}" for each in held]
    ends = f"No more is sent there: that ends {some(titles, 10, '; ')}." if held else "No digest is sent there now."
    surely = Forget(named.recipient.channel if named.recipient else named.address, surely=True)
    return Reply(
        title=f"Forget {named.shown}?",
        text=(ends, "The address is erased. That cannot be undone: to go on, it is confirmed again by a new code."),
        buttons=(button("Forget it", surely, danger=True),),
    )
