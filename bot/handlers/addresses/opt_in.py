"""Saying yes: a code is sent to an address, and typed where it was asked for; before that nothing is sent there.

Where there are pages, a link in the same mail does it too, as only who reads the mail has it.
What is asked for is kept beside the code and done once it is typed. The limits keep anybody from having mail sent to others:
they count what was asked, whatever became of it. What others asked there, and whether its reader wants none, is told nobody:
then no letter is written, and the answer is the one that it always is.
"""

import hmac
import re
import secrets
from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands import Command, Confirm, Follow, Subscribe, read, write
from bot.digest.resumption import begun_afresh
from bot.errors import Delayed, DeliveryError, Uncertain, Unclear, UsageError
from bot.handlers.addresses.places import (
    NO_EMAIL,
    NamedAddress,
    acting_for,
    administers,
    named_address,
)
from bot.handlers.context import HANDLERS, HandlerContext, handles
from bot.handlers.links import LinkSigner
from bot.handlers.subscriptions.follow import check_followed
from bot.handlers.subscriptions.subscribe import checked
from bot.handlers.subscriptions.subscription_change import change_subscription, unpaused
from bot.handlers.wording.elsewhere import for_channel, told_elsewhere
from bot.handlers.wording.failures import in_one_line, which_one
from bot.handlers.wording.replies import title_of
from bot.models import (
    CODE_HOLDS,
    EMAIL,
    MAIL,
    MOST_TRIES,
    Actor,
    Asked,
    OptIn,
    Recipient,
    Reply,
    Subscription,
    Suppression,
    code_kept,
    folded_address,
    mail_channel,
)
from bot.wording import listed, span_in_words

MOST_ADDRESSES = 3  # of one person
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_APART = timedelta(minutes=10)  # codes to one address
_BY_PERSON_HOURLY, _BY_PERSON_DAILY = 3, 6
_BY_PERSON_TO_ADDRESS_DAILY = 3
_TO_ADDRESS_DAILY, _TO_ADDRESS_AGAIN = (
    12,
    6,
)  # at anybody's wish; those after a person's first that day count up to the lesser
_IN_WORKSPACE_DAILY = 50
_IN_ALL_DAILY = 500  # of the whole installation: its sender's reputation is everybody's


async def ask_to_confirm(
    context: HandlerContext, command: Subscribe | Follow, named: NamedAddress, actor: Actor, now: datetime
) -> Reply:
    """Send a code to the address and keep what was asked for; raises UsageError where that may not be."""
    if not context.letters.can_be_sent:
        raise UsageError(NO_EMAIL)
    await context.check_may_manage(actor)
    await _check_may_have(context, actor, named)
    standing = await context.store.recipients.at(actor.workspace, named.address)
    is_anothers = standing is not None and not _is_of(standing, actor, named)
    if named.recipient is not None:
        _check_is_not(is_anothers)
        await _check_no_complaint(context, actor, named.address)
    command = command.placed("")
    if isinstance(command, Subscribe):
        await context.topic_named(actor.workspace, command.topic)
        await checked(command)
    else:
        await check_followed(context, command, actor, now)
    code = f"{secrets.randbelow(10**6):06}"
    kept = await _kept(context, actor, code)
    async with context.letters.one_by_one:
        await _check_limits(context, actor, named.address, now)
        opt_in = _opt_in(command, named, actor, kept, now)
        is_written = await _may_be_written(context, actor, named.address, now)
        if is_anothers:
            opt_in = replace(opt_in, code=secrets.token_hex(32))  # which nobody has
        await context.store.recipients.ask(opt_in if is_written else replace(opt_in, until=now))
    if not is_written:
        return _told_sent(named.address)
    letter = _LETTER_OF_ANOTHERS if is_anothers else _letter(code, await _link(context, opt_in))
    try:
        return await _sent(context, named.address, letter)
    except Delayed as error:  # nothing was sent, and whoever runs Broadsheet has to mend it: that is no asking of theirs
        await context.store.recipients.withdraw(opt_in)
        return _not_sent(error)


def _is_of(standing: Recipient, actor: Actor, named: NamedAddress) -> bool:
    """Say whether who asks may confirm the address, which is confirmed already: their own, or a list of all."""
    return standing.is_list == named.is_list and (standing.is_list or standing.person == actor.person)


def _check_is_not(anothers: bool) -> None:
    """Raise UsageError where the address is another person's here; for who may know it, or has shown that they read it."""
    if anothers:
        raise UsageError(
            "Another person here has confirmed that address, and has their digests there.",
            hint="An administrator takes it away by *forget me@example.org*; then it can be confirmed anew.",
        )


def _opt_in(command: Command, named: NamedAddress, actor: Actor, kept: str, now: datetime) -> OptIn:
    return OptIn(
        workspace=actor.workspace,
        person=actor.person,
        address=named.address,
        is_list=named.is_list,
        code=kept,
        command=write(command),
        asked_at=now,
        until=now + CODE_HOLDS,
    )


async def _kept(context: HandlerContext, actor: Actor, code: str) -> str:
    """Return how the person's code is kept: by the database's key, so that the link, which has it, tells not who asked."""
    kept = code_kept(actor.workspace, actor.person, code)
    return hmac.digest(await context.store.recipients.key(), kept.encode(), "sha256").hex()


async def _link(context: HandlerContext, opt_in: OptIn) -> str:
    """Return the link that confirms it; "" where there are no pages, and for a list, where one would say yes for all."""
    if not context.letters.web_url or opt_in.is_list:
        return ""
    signer = LinkSigner(await context.store.recipients.key(), context.letters.web_url)
    return signer.confirmation_url(opt_in.code)


async def _sent(context: HandlerContext, address: str, letter: tuple[str, str]) -> Reply:
    """Send the letter, and tell what to do with its code, or why none was sent; raises Delayed."""
    try:
        await context.letters.write(address, *letter)
    except Uncertain:
        unsure = f"The mail relay did not say whether it took the code for {address}."
        return _told("A code may have been sent", unsure)
    except Delayed:
        raise
    except DeliveryError as error:
        return _not_sent(error)
    return _told_sent(address)


def _not_sent(error: DeliveryError) -> Reply:
    return Reply(title="The code could not be sent", text=(str(error), "Nothing is subscribed. Please try again later."))


def _told_sent(address: str) -> Reply:
    """Tell that a code was sent: the same whether it was, or may not be."""
    return _told("A code was sent", f"It stands in the mail to {address}; look among what is sorted out, too. {_OR_NONE}")


_OR_NONE = (
    "None comes where its reader wants no mail from here, where another person has confirmed that address,"
    " or where many codes were asked for it today."
)


def _told(title: str, first: str) -> Reply:
    holds = f"It holds for {span_in_words(CODE_HOLDS)}. Before that nothing else is sent there."
    return Reply(
        title=title, text=(first, holds), next_steps=("*confirm 123456* here, with that code, does what you asked for.",)
    )


_ASKED = "Somebody asked Broadsheet, a daily paper of research papers, for digests at this address.\n\n"
_OF_ANOTHERS = (
    "Another person there has confirmed it already. So nothing was changed, and there is no code.\n\n"
    "If that was you under another name, have an administrator there give the command forget with this address;\n"
    "then ask for the digests once more.\n\n"
    "If it was not you, do nothing.\n"
)
_LETTER_OF_ANOTHERS = ("Digests were asked for at your address", f"{_ASKED}{_OF_ANOTHERS}")


def _letter(code: str, link: str) -> tuple[str, str]:
    """Return the subject and the text of the mail with the code; nothing of what somebody typed stands in it."""
    by_page = f"Or open this page, and press its button:\n\n    {link}\n\n" if link else ""
    holds = "The code and the page hold" if link else "The code holds"
    return f"Your code for Broadsheet: {code}", (
        f"{_ASKED}"
        f"If that was you, give this command where you asked for them:\n\n    confirm {code}\n\n"
        f"{by_page}{holds} for {span_in_words(CODE_HOLDS)}.\n\n"
        "If it was not you, do nothing: then nothing more is sent here.\n"
    )


async def _check_may_have(context: HandlerContext, actor: Actor, named: NamedAddress) -> None:
    """Raise UsageError where the person may not have digests sent there, whoever reads it."""
    if administers(actor):
        return
    if named.is_list:
        raise UsageError("Only administrators may have digests sent to a mailing list.", hint="Ask one of them.")
    held = await context.store.recipients.of(actor.workspace, person=actor.person)
    folded = folded_address(named.address)
    others = [each for each in held if not each.is_list and folded_address(each.address) != folded]
    if len(others) >= MOST_ADDRESSES:
        raise UsageError(
            f"{MOST_ADDRESSES} addresses of yours are confirmed here, as many as one may have.",
            hint="*list all* names them, and *forget me@example.org* takes one away.",
        )


async def _has_complained(context: HandlerContext, actor: Actor, address: str) -> bool:
    """Say whether who reads the address complained; an administrator may ask there all the same."""
    if administers(actor):
        return False
    return await context.store.recipients.suppression(actor.workspace, address) is Suppression.COMPLAINED


async def _check_no_complaint(context: HandlerContext, actor: Actor, address: str) -> None:
    """Raise UsageError where the reader complained; for who has shown that they read it."""
    if await _has_complained(context, actor, address):
        raise UsageError(
            "Who reads that address complained of mail from here.", hint="Only an administrator may ask there again."
        )


async def _may_be_written(context: HandlerContext, actor: Actor, address: str, now: datetime) -> bool:
    """Say whether a letter may be written there: what strangers asked leaves room for the reader's own first asking."""
    day = await context.store.recipients.asked(actor.workspace, actor.person, address, now - _DAY)
    most = _TO_ADDRESS_AGAIN if day.by_person_to_address else _TO_ADDRESS_DAILY
    refused = await context.store.recipients.refuses_letters(address, now) or await _has_complained(context, actor, address)
    return day.to_address < most and not refused


async def _check_limits(context: HandlerContext, actor: Actor, address: str, now: datetime) -> None:
    """Raise UsageError where this person, or this workspace, asked for too many codes lately."""

    async def since(span: timedelta) -> Asked:
        return await context.store.recipients.asked(actor.workspace, actor.person, address, now - span)

    hour, day = await since(_HOUR), await since(_DAY)
    if (await since(_APART)).by_person_to_address:
        raise UsageError(
            f"You asked for a code to that address less than {span_in_words(_APART)} ago.",
            hint="*confirm 123456* takes it while it holds, and does what you asked for then; later you may ask anew.",
        )
    if hour.by_person >= _BY_PERSON_HOURLY or day.by_person >= _BY_PERSON_DAILY:
        raise UsageError(
            f"One person is sent {_BY_PERSON_HOURLY} codes an hour and {_BY_PERSON_DAILY} a day at most.",
            hint="Try again later.",
        )
    if day.by_person_to_address >= _BY_PERSON_TO_ADDRESS_DAILY:
        raise UsageError(
            f"One person is sent {_BY_PERSON_TO_ADDRESS_DAILY} codes a day to one address at most.",
            hint="Try again tomorrow.",
        )
    if day.in_workspace >= _IN_WORKSPACE_DAILY:
        raise UsageError(
            f"In this {context.workspace_word} {_IN_WORKSPACE_DAILY} codes are sent a day at most.",
            hint="Try again tomorrow.",
        )
    if day.in_all >= _IN_ALL_DAILY:
        raise UsageError("As many codes were sent today as may be.", hint="Try again tomorrow.")


# --- the code, typed


@handles(Confirm)
async def confirm(context: HandlerContext, command: Confirm, actor: Actor, now: datetime) -> Reply:
    """Confirm the address to which this code was sent for this person, and do what they asked for."""
    kept = await _kept(context, actor, re.sub(r"\D", "", command.code, flags=re.ASCII))
    wanted = await context.store.recipients.opt_in(actor.workspace, actor.person, kept, now)
    if wanted is not None:
        await _check_may_have(context, actor, NamedAddress(wanted.address, wanted.is_list))
        await _check_no_complaint(context, actor, wanted.address)
    return await _confirmed(context, kept, wanted, actor, now)


async def _confirmed(context: HandlerContext, kept: str, wanted: OptIn | None, actor: Actor, now: datetime) -> Reply:
    recipients = context.store.recipients
    number = secrets.token_hex(8)
    channel = f"{MAIL}{number}.000000" if wanted is None else mail_channel(number, wanted.address)
    async with context.letters.one_by_one:  # who was first has it
        if wanted is not None and (standing := await recipients.at(actor.workspace, wanted.address)) is not None:
            _check_is_not(not _is_of(standing, actor, NamedAddress(wanted.address, wanted.is_list)))
        confirmed = await recipients.confirm(actor.workspace, actor.person, kept, channel, now)
    if confirmed is None:
        raise UsageError(
            f"That is not a code that holds: it is another one, was used, or is older than {span_in_words(CODE_HOLDS)}.",
            hint=f"After {MOST_TRIES} wrong ones none holds; {span_in_words(_APART)} after the last one was asked for,"
            " *subscribe TOPIC by email me@example.org* sends a new one.",
        )
    return await _done(context, confirmed.recipient, confirmed.command, actor, now)


async def _done(context: HandlerContext, recipient: Recipient, wanted: str, actor: Actor, now: datetime) -> Reply:
    """Do what was wanted for the recipient who is there now, and tell it with that; the address stays where it fails."""
    named = await named_address(context, actor, recipient.channel)
    by_mail, there = acting_for(context, named, actor)
    said = (f"{recipient.address} is confirmed.", *await _let_go_on(by_mail, there, now))
    command = read(wanted)
    if not isinstance(command, Command):
        return Reply(title="The address is confirmed", text=said)
    try:
        reply = await HANDLERS[type(command)](by_mail, command, there, now)
    except Unclear as error:
        reply = which_one(error, command)
    except UsageError as error:
        failed = f"What you asked for was not done: {for_channel(in_one_line(error), there)}"
        return Reply(title="The address is confirmed", text=(*said, failed))
    told = told_elsewhere(reply, there)
    return replace(told, text=(*said, *told.text))


async def _let_go_on(context: HandlerContext, there: Actor, now: datetime) -> tuple[str, ...]:
    """Resume what the service paused there, not what a person did; return what is told of that."""

    async def resumed(subscription: Subscription) -> Subscription:
        if not subscription.is_held_by_service:
            return subscription
        return unpaused(await begun_afresh(context.store, subscription, now))

    topics = await context.topics(there.workspace)
    lifted = []
    for each in await context.store.workspaces.subscriptions(there.workspace, channel=there.channel):
        if not each.is_held_by_service:
            continue
        try:
            await change_subscription(context, there, (each.topic, each.rhythm), resumed, now)
        except UsageError:  # it has ended meanwhile, or its schedule cannot be worked out
            continue
        lifted.append(title_of(topics, each.topic))
    names = listed(list(dict.fromkeys(lifted)))
    return (f"What was paused when mail could not be sent there goes on: {names}.",) if names else ()


# --- the link, followed


async def asked_by_link(context: HandlerContext, code: str, now: datetime) -> OptIn | None:
    """Return what a link confirms whose signature holds; None where it was confirmed already, or too long ago."""
    wanted = await context.store.recipients.opt_in_by_link(code, now)
    return None if wanted is None or wanted.is_list else wanted


async def confirm_by_link(context: HandlerContext, wanted: OptIn, now: datetime) -> Reply:
    """Confirm the address for who asked, and do what they asked for; raises UsageError where they may not have it."""
    actor = Actor(platform=EMAIL, workspace=wanted.workspace, channel="", person=wanted.person, is_direct=True)
    await _check_may_have(context, actor, NamedAddress(wanted.address))
    await _check_no_complaint(context, actor, wanted.address)
    # Whether they may subscribe was looked at when they asked; who they are in the chat now, a link does not tell.
    reply = await _confirmed(context, wanted.code, wanted, replace(actor, may_administer=True), now)
    answered = tuple(each for each in reply.text if not each.endswith("?"))  # what leads on from there is for the chat
    return replace(reply, text=answered, next_steps=(), buttons=())
