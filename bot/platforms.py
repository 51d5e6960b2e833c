"""What a chat platform is to the service, and what the service is to a chat platform.

A platform's room in adapters/ offers `opened(settings, line)`, an async context manager that yields a Platform.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.handlers.desk import Desk
from bot.ports import Watch
from bot.ports_chat import Chats
from bot.ports_ledger import Messenger

Gone = Callable[[str, str, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Line:
    """What a chat platform is given to work with."""

    desk: Desk
    chats: Chats
    clock: Callable[[], datetime]  # aware UTC
    gone: Gone
    """Called with a workspace, a channel of it ("" for all) and a sentence, when nothing can be posted there any more:
    what is subscribed there is paused, and its owners are told once."""


class Platform(Protocol):
    """A chat platform that is connected, or tries to be."""

    @property
    def messenger(self) -> Messenger:
        """What posts for the ledger; may be used before and while nobody is heard."""
        ...

    @property
    def watches(self) -> Sequence[Watch]:
        """What listens. Each goes on until it is cancelled, and is begun again when it fails."""
        ...

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        ...
