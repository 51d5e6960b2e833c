"""An address as the place that a command is for: whose it is, and who acts there as what."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.commands.declaration import LIST
from bot.commands.words import mail_place, with_addresses
from bot.errors import BotError, UsageError
from bot.handlers.context import HandlerContext, no_followers, no_tags, nowhere_else
from bot.models import MAIL, Actor, Button, Recipient, Reply, Suppression, is_mail, normal_address

log = logging.getLogger(__name__)

NO_EMAIL = "No e-mail is set up here: whoever runs Broadsheet sets host and sender under [email], as docs/email.md says."
_STOPPED = {
    Suppression.UNSUBSCRIBED: "Who reads that address asked for no more mail.",
    Suppression.FORGOTTEN: "That address was forgotten.",
    Suppression.BOUNCED: "Mail to that address came back.",
    Suppression.COMPLAINED: "Who reads that address complained of mail from here.",
}


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """An address that somebody named, and the recipient where they may act for it."""

    address: str = field(repr=False)
    is_list: bool = False
    shown: str = field(
        default="", repr=False
    )  # as it is told who named it: masked, where they did not show that they know it
    recipient: Recipient | None = None  # None: there is none, or it is somebody else's, which nobody is told
    stopped: str = ""  # why nothing is sent there, in a sentence


async def named_address(context: HandlerContext, actor: Actor, place: str) -> NamedAddress:
    """Return what the place of a command names; raises UsageError for what is no address, without it in the text."""
    how, said = mail_place(place)
    recipients = context.store.recipients
    if is_mail(said):
        found = await recipients.named(said)
        if found is None or not may_act_for(actor, found):
            raise no_such_address()
        return await _known(context, found, shown_to(actor, found))
    try:
        address = normal_address(said)
    except ValueError:
        raise UsageError("That is no e-mail address.", hint="For example *list by email me@example.org*.") from None
    found = await recipients.at(actor.workspace, address)
    if found is None or not may_act_for(actor, found):
        return NamedAddress(address, is_list=how == LIST, shown=address)
    return await _known(context, found, found.address)


async def _known(context: HandlerContext, recipient: Recipient, shown: str) -> NamedAddress:
    suppressed = await context.store.recipients.suppression(recipient.workspace, recipient.address)
    stopped = recipient.stopped or (_STOPPED[suppressed] if suppressed else "")
    return NamedAddress(recipient.address, recipient.is_list, shown, recipient, stopped)


def no_such_address() -> UsageError:
    """Return the error for an address that is not there, or is somebody else's."""
    return UsageError(
        "No address of yours like that is confirmed here.",
        hint="*subscribe TOPIC by email me@example.org* sends a code to one.",
    )


def administers(actor: Actor) -> bool:
    """Say whether the actor administers a workspace of several: one's own conversation is no such thing."""
    return actor.may_administer and not actor.is_alone


def may_act_for(actor: Actor, recipient: Recipient) -> bool:
    """Say whether the actor may know of a recipient, and change what is sent there: their own, or as administrator."""
    if recipient.workspace != actor.workspace:
        return False
    return administers(actor) or (recipient.person == actor.person and not recipient.is_list)


def needs_code(named: NamedAddress, actor: Actor) -> bool:
    """Say whether somebody has to say yes there before anything more is sent: another person's yes is not theirs."""
    if named.recipient is None or named.stopped:
        return True
    return not named.is_list and named.recipient.person != actor.person


def acting_for(context: HandlerContext, named: NamedAddress, actor: Actor) -> tuple[HandlerContext, Actor]:
    """Return the context and the actor as acting for the recipient; raises UsageError where the actor may not."""
    recipient = named.recipient
    if recipient is None:
        raise no_such_address()

    async def obstacle(_actor: Actor) -> str:
        if named.stopped:
            return f"{named.stopped} *subscribe TOPIC by email me@example.org* sends a new code to an address."
        return "" if context.letters.can_be_sent else NO_EMAIL

    there = replace(
        actor,
        channel=recipient.channel,
        place=named.shown,
        parent="",
        post="",
        may_write=True,
        is_direct=not recipient.is_list,
    )
    by_mail = replace(context, obstacle=obstacle, forum_tags=no_tags, publishing=no_followers, elsewhere=nowhere_else)
    return by_mail, there


async def known_addresses(context: HandlerContext, actor: Actor) -> Mapping[str, str]:
    """Return by their channels the addresses that the actor may know of: their own, and masked all as administrator."""
    every = administers(actor)
    found = await context.store.recipients.of(actor.workspace, person="" if every else actor.person)
    known = [each for each in found if may_act_for(actor, each)]
    return {each.channel: shown_to(actor, each) for each in known}


async def own_addresses(context: HandlerContext, actor: Actor) -> Mapping[str, str]:
    """Return by their channels the actor's own addresses where nobody else reads the answer; elsewhere none."""
    alone = actor.is_direct and not actor.place
    return await known_addresses(context, replace(actor, may_administer=False)) if alone else {}


async def with_addresses_told(context: HandlerContext, reply: Reply, actor: Actor) -> Reply:
    """Return the answer whose buttons tell the addresses whose identifiers they carry, where who asks alone reads it.

    What the actor knows of as masked only is told as such by nobody: the identifier is what can be typed.
    """
    carried = [each.command for each in (*reply.buttons, *(one for entry in reply.entries for one in entry.buttons))]
    if not (reply.private or actor.is_direct) or all(MAIL not in each for each in carried):
        return reply
    try:
        all_known = await known_addresses(context, actor)
    except BotError as error:  # what was asked is done
        log.warning("the addresses of an answer are not told: %s", error)
        return reply
    known = {channel: shown for channel, shown in all_known.items() if "…" not in shown}

    def told(buttons: tuple[Button, ...]) -> tuple[Button, ...]:
        return tuple(
            each if (said := with_addresses(each.command, known)) == each.command else replace(each, told=said)
            for each in buttons
        )

    entries = tuple(replace(each, buttons=told(each.buttons)) for each in reply.entries)
    return replace(reply, buttons=told(reply.buttons), entries=entries)


def shown_to(actor: Actor, recipient: Recipient) -> str:
    """Return the address as the actor is told it: whole where it is theirs, or a list's."""
    return recipient.address if recipient.is_list or recipient.person == actor.person else masked(recipient.address)


def masked(address: str) -> str:
    """Return the address so that who knows it recognises it, and nobody else can write there: "m…@example.org"."""
    name, _, domain = address.rpartition("@")
    return f"{name[:1]}…@{domain}"
