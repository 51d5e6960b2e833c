"""Which function answers which command: a handler says it of itself, and no list names it again."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

from bot.commands import Command
from bot.handlers.context import HandlerContext
from bot.models import Actor, Reply

C = TypeVar("C", bound=Command)
Handler = Callable[[HandlerContext, C, Actor, datetime], Awaitable[Reply]]

HANDLERS: dict[type[Command], Handler[Any]] = {}  # filled as the modules of the handlers are imported


def handles(command: type[C]) -> Callable[[Handler[C]], Handler[C]]:
    """Make the function the one that answers the command; raises ValueError where another one does already."""

    def answered_by(handler: Handler[C]) -> Handler[C]:
        if HANDLERS.setdefault(command, handler) is not handler:
            raise ValueError(f"{command.__name__} is answered by {HANDLERS[command].__qualname__} already")
        return handler

    return answered_by
