"""What is done for a command, and what is told when it fails."""

import logging
import pkgutil
import secrets
from dataclasses import replace
from datetime import datetime
from importlib import import_module

from bot import handlers
from bot.commands import (
    Command,
    Follow,
    Group,
    Help,
    Less,
    ListSaved,
    More,
    Now,
    Pause,
    Rest,
    Resume,
    Save,
    Search,
    Show,
    Similar,
    Subscribe,
    Trending,
    Trends,
    Unreadable,
    Unsave,
    Unsubscribe,
    Why,
    read,
    search_meant,
)
from bot.commands.words import is_mail_place
from bot.errors import BotError, SourceError, Unclear, UsageError
from bot.handlers.addresses.opt_in import ask_to_confirm
from bot.handlers.addresses.places import acting_for, named_address, needs_code, with_addresses_told
from bot.handlers.context import HANDLERS, HandlerContext, check_is_member
from bot.handlers.items import posted_above
from bot.handlers.search.search import is_for_one_item
from bot.handlers.wording import failures
from bot.handlers.wording.elsewhere import for_channel, told_elsewhere
from bot.handlers.wording.replies import button
from bot.keys import is_owner_and_name
from bot.models import Actor, Delivery, Reply
from bot.wording import some

log = logging.getLogger(__name__)

for _module in pkgutil.walk_packages(handlers.__path__, f"{handlers.__name__}."):
    import_module(_module.name)  # each says which commands it answers; none of them imports this one


# What a digest's reader may ask who is no member of the workspace: it tells and changes nothing of how that is set up.
_FOR_READERS = (Help, Less, ListSaved, More, Now, Rest, Save, Search, Show, Similar, Trending, Trends, Unsave, Why)


async def answer(context: HandlerContext, asked: Command | Unreadable, actor: Actor, now: datetime, line: str = "") -> Reply:
    """Do what was asked and return what to tell, failures and what could not be read too.

    `line` is what was typed, where it was a line of words: one that cannot be done may have been meant as a search. Raises
    nothing: what nobody foresaw is logged whole, and told with a reference to the log.
    """
    if isinstance(asked, Unreadable):
        return await _or_search(context, failed(asked.error, asked.text), asked.error, asked.text, actor, now)
    try:
        return await handle(context, asked, actor, now)
    except UsageError as error:
        told = await with_addresses_told(context, await _failed(context, error, asked, actor), actor)
        return await _or_search(context, told, error, line, actor, now)
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        return await _failed(context, error, asked, actor)


async def _or_search(
    context: HandlerContext, told: Reply, error: UsageError, line: str, actor: Actor, now: datetime
) -> Reply:
    """Return what is found where a line that cannot be done was meant as a search; else what is told, and the search.

    Where a topic's name stands behind the verb the command was meant, and nothing else is offered.
    """
    meant = search_meant(line, error)
    if meant is None:
        return told
    offered = replace(told, buttons=(*told.buttons, button("Search for it", meant.search)))
    try:
        if await _is_a_topic(context, actor, meant.rest):
            return told
        if not meant.at_once:
            return offered
        reply = await _found(context, meant.search, actor, now)
    except Exception as failure:  # noqa: BLE001 - as above
        log.warning("a line was not searched for: %s", failure)
        return offered
    return failures.searched_instead(reply, meant) if reply.entries else told


async def _failed(context: HandlerContext, error: Exception, asked: Command, actor: Actor) -> Reply:
    """Return what to tell of a failure; buttons carry the identifier of who is sent to, never an address."""
    if not is_mail_place(asked.place):
        return failed(error, asked)
    try:
        named = await named_address(context, actor, asked.place)
    except BotError:
        named = None
    if named is not None and named.recipient is not None:
        return failed(error, asked.placed(named.recipient.channel))
    told = failed(error, asked)
    again = [each for each in told.buttons if isinstance(read(each.command), type(asked))]  # they would carry the address
    labels = some([each.label for each in again])
    text = (*told.text, f"Name one of them: {labels}.") if isinstance(error, Unclear) and again else told.text
    return replace(told, text=text, buttons=tuple(each for each in told.buttons if each not in again))


async def _is_a_topic(context: HandlerContext, actor: Actor, rest: str) -> bool:
    """Say whether the words behind a verb begin with a topic's name, or nearly: then the command was meant."""
    try:
        await context.topic_named(actor.workspace, rest.partition(" ")[0])
    except UsageError as error:
        return error.hint.startswith("Did you mean")
    return True


def failed(error: Exception, asked: Command | str) -> Reply:
    """Return what to tell of a failure: of a command, of a text that is none, or of a form, by the words of its command.

    What is not the person's to mend is logged; what nobody foresaw is logged whole, and told with a reference to the log.
    """
    command = asked if isinstance(asked, Command) else None
    if isinstance(error, Unclear) and command is not None:
        return failures.which_one(error, command)
    if isinstance(error, UsageError):
        return failures.usage_failure(error, asked)
    what = "what was asked" if command is None else type(command).__name__
    if isinstance(error, SourceError) and command is not None:
        return failures.not_fetched(error, command)
    if isinstance(error, BotError):
        log.warning("%s failed: %s", what, error)
        return failures.failure_reply(failures.failure_in_words(error))
    reference = secrets.token_hex(4)
    log.error("%s failed [%s]", what, reference, exc_info=error)
    return failures.unforeseen_failure(reference)


async def handle(context: HandlerContext, command: Command, actor: Actor, now: datetime) -> Reply:
    """Do what the command asks and return what to tell; raises BotError, and UsageError where the person can mend it."""
    return await with_addresses_told(context, await _handled(context, command, actor, now), actor)


async def _handled(context: HandlerContext, command: Command, actor: Actor, now: datetime) -> Reply:
    if not isinstance(command, _FOR_READERS):
        check_is_member(actor)
    if is_mail_place(command.place):
        return await _handle_by_mail(context, command, actor, now)
    if command.place:
        return await _handle_elsewhere(context, command, actor, now)
    if command.usage.group in _OF_A_DIGEST and (posted := await posted_above(context, actor)) is not None:
        actor, command = replace(actor, channel=posted.channel), await _of_topic(context, command, posted)
    if isinstance(command, Search):
        return await _found(context, command, actor, now)
    return await HANDLERS[type(command)](context, command, actor, now)


# Below a digest they are about it, and "here" is where it was posted; what sets up what is posted is for the thread itself.
_OF_A_DIGEST = frozenset({Group.FINDING, Group.FEEDBACK, Group.SAVED})


async def _of_topic(context: HandlerContext, command: Command, posted: Delivery) -> Command:
    """Return the command for the digest's topic, where it is about an item and names no topic."""
    if not isinstance(command, More | Less | Show | Why) or command.topic.strip():
        return command
    known = posted.topic in await context.topics(posted.workspace)
    return replace(command, topic=posted.topic) if known else command


async def _handle_elsewhere(context: HandlerContext, command: Command, actor: Actor, now: datetime) -> Reply:
    """Do what is asked for another channel: nobody else is told, and what one may do next is for that channel too."""
    there = await context.acting_in(actor, command.place)
    if there.channel == actor.channel:
        return await _handled(context, command.placed(""), actor, now)
    return await _handle_there(context, command, there, now)


# What comes to one's own inbox is one's own to pause and to end, whoever may change what is posted in channels.
_OF_ONES_OWN_INBOX = (Pause, Resume, Unsubscribe)


async def _handle_by_mail(context: HandlerContext, command: Command, actor: Actor, now: datetime) -> Reply:
    """Do what is asked for an address; what is to be sent to one where nobody has said yes waits for a code."""
    named = await named_address(context, actor, command.place)
    if isinstance(command, Subscribe | Follow) and needs_code(named, actor):
        return await ask_to_confirm(context, command, named, actor, now)
    by_mail, there = acting_for(context, named, actor)
    if isinstance(command, _OF_ONES_OWN_INBOX) and there.person == (named.recipient.person if named.recipient else ""):
        there = replace(there, may_administer=True)
    return await _handle_there(by_mail, command, there, now)


async def _handle_there(context: HandlerContext, command: Command, there: Actor, now: datetime) -> Reply:
    try:
        reply = await _handled(context, command.placed(""), there, now)
    except UsageError as error:
        error.hint = for_channel(error.hint, there)
        raise
    return told_elsewhere(reply, there)


async def _found(context: HandlerContext, command: Search, actor: Actor, now: datetime) -> Reply:
    """Return what is found, or the card of what a link or an identifier names; `owner/name` that finds nothing leads on."""
    if await is_for_one_item(context, command):
        return await handle(context, Show(command.query), actor, now)
    reply = await HANDLERS[Search](context, command, actor, now)
    if reply.entries or context.fetcher is None or not is_owner_and_name(command.query):
        return reply
    return replace(reply, buttons=(button("Look on GitHub", Show(command.query.strip())), *reply.buttons))
