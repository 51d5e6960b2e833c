"""Which function answers which command."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from bot.commands.verbs import Command
from bot.handlers.desk import Desk
from bot.models import Actor, Reply

Handler = Callable[[Desk, Any, Actor, datetime], Awaitable[Reply]]  # the command is of the class that it stands under

HANDLERS: Mapping[type, Handler] = {}


async def handle(desk: Desk, command: Command, actor: Actor, now: datetime) -> Reply:
    """Do what the command asks and return what to tell; raises BotError, and UsageError where the person can mend it."""
    return await HANDLERS[type(command)](desk, command, actor, now)
