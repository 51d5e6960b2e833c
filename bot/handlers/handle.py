"""Which function answers which command, and what is told when one fails."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from bot.commands import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Pause,
    Profile,
    Resume,
    Save,
    Search,
    Settings,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Unsave,
    Unsubscribe,
    Why,
    parse,
)
from bot.errors import BotError, Unclear, UsageError
from bot.handlers import (
    editing,
    failures,
    filters,
    finding,
    guide,
    pauses,
    previews,
    profiles,
    saving,
    service,
    settled,
    subscriptions,
    taste,
    topics,
    why,
)
from bot.handlers.context import HandlerContext
from bot.models import Actor, Reply

log = logging.getLogger(__name__)

Handler = Callable[
    [HandlerContext, Any, Actor, datetime], Awaitable[Reply]
]  # the command is of the class that it stands under

HANDLERS: Mapping[type, Handler] = {
    # finding
    Search: finding.search,
    Similar: finding.similar,
    Why: why.why,
    Now: previews.preview,
    # subscriptions
    Subscribe: subscriptions.subscribe,
    Unsubscribe: subscriptions.unsubscribe,
    ListSubscriptions: subscriptions.list_subscriptions,
    Pause: pauses.pause,
    Resume: pauses.resume,
    # topics
    ListTopics: topics.list_topics,
    ShowTopic: topics.show_topic,
    CreateTopic: topics.create_topic,
    EditTopic: editing.edit_topic,
    DeleteTopic: topics.delete_topic,
    Filter: filters.filter_topic,
    # taste
    More: taste.more,
    Less: taste.less,
    Profile: profiles.profile_topic,
    # saved
    Save: saving.save,
    Unsave: saving.unsave,
    ListSaved: saving.list_saved,
    # the service
    Status: service.status,
    Settings: settled.settings,
    History: service.history,
    Help: guide.help_,
}


async def answer(context: HandlerContext, asked: str | Command, actor: Actor, now: datetime) -> Reply:
    """Do what a text asks, or a command as a platform's own form made it, and return what to tell, failures too.

    Raises nothing: what nobody foresaw is logged whole, and told with a reference to the log.
    """
    command: Command | None = None
    try:
        command = parse(asked) if isinstance(asked, str) else asked
        return await handle(context, command, actor, now)
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        return failed(error, asked, command)


def failed(error: Exception, asked: str | Command, command: Command | None = None) -> Reply:
    """Return what to tell of a failure: of a command, or of a form, for which `asked` is the command that does the same.

    What is not the person's to mend is logged; what nobody foresaw is logged whole, and told with a reference to the log.
    """
    if isinstance(error, Unclear) and command is not None:
        return failures.unclear(error, command)
    if isinstance(error, UsageError):
        return failures.not_done(error, asked, command)
    what = "a form" if command is None else type(command).__name__
    if isinstance(error, BotError):
        log.warning("%s failed: %s", what, error)
        return failures.broken(failures.in_words(error))
    reference = secrets.token_hex(4)
    log.error("%s failed [%s]", what, reference, exc_info=error)
    return failures.unforeseen(reference)


async def handle(context: HandlerContext, command: Command, actor: Actor, now: datetime) -> Reply:
    """Do what the command asks and return what to tell; raises BotError, and UsageError where the person can mend it."""
    return await HANDLERS[type(command)](context, command, actor, now)
