"""What a chat platform is to the service, and what the service is to a chat platform.

A platform's room in adapters/ offers `opened(settings, context)`, an async context manager that yields a Platform. Of what
a process is for, `context.roles`, it opens that part alone: what posts is always there, what hears only where it is meant.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.errors import BotError
from bot.handlers.context import HandlerContext
from bot.ports.chats import Chats
from bot.ports.messenger import Messenger
from bot.ports.runner import Watch
from bot.ports.shared.processes import Budgets, Leases, Processes
from bot.service.supervise import keep_going
from bot.settings.sections import ROLES, Role

log = logging.getLogger(__name__)

ChannelClosed = Callable[[str, str, str], Awaitable[None]]
ChannelOpened = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Cluster:
    """By what a process and the others on the same database agree who does what."""

    process: str  # the id of this one, which holds its leases
    leases: Leases
    budgets: Budgets
    processes: Processes


@dataclass(frozen=True, slots=True)
class PlatformContext:
    """What a chat platform is given to work with."""

    handler_context: HandlerContext
    chats: Chats
    clock: Callable[[], datetime]  # aware UTC
    channel_closed: ChannelClosed
    """Called with a workspace, a channel of it ("" for all) and a sentence, when something tells that nothing can be posted
    there any more: unless the platform shows that it can, what is subscribed there is paused, and its owners are told."""
    channel_opened: ChannelOpened
    """Called with a workspace and a channel of it ("" for all), when something may be posted there again: what the service
    paused there is asked about. A platform's word with the colon (`slack:`) stands for all of its workspaces."""
    unreadable: Counter[str] = field(default_factory=Counter)  # events that could not be read, by platform; to be counted up
    untold: Counter[str] = field(default_factory=Counter)  # answers that reached nobody, by platform; to be counted up
    web_url: str = ""  # where our pages are read from outside; "" where there are none
    roles: Collection[Role] = ROLES
    """What this process is for: people are heard over HTTP and Slack's sockets by a `front`, Discord's shards are held by a
    `gateway`; what has neither role posts alone."""
    cluster: Cluster | None = None  # None where one process at a time works on the database


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
        """Return why nobody is heard now, or where nobody can be, why nothing is sent; "" while all is well."""
        ...


Opening = Callable[[], AbstractAsyncContextManager[Platform]]


class PendingPlatform:
    """A platform that could not be opened when the service began: it is tried again until it can be, and joins it then."""

    def __init__(self, name: str, opening: Opening, messengers: MutableMapping[str, Messenger], reason: str) -> None:
        """`reason` is why it could not, in a sentence; once it is open, its messenger stands among the `messengers`."""
        self.name = name
        self._opening = opening
        self._messengers = messengers
        self._reason = reason
        self._platform: Platform | None = None

    @property
    def watches(self) -> Sequence[Watch]:
        """What tries to open it, and then listens."""
        return (Watch(f"opening {self.name}", self._run),)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        return self._platform.trouble(now) if self._platform is not None else self._reason

    async def _run(self) -> None:
        try:
            async with self._opening() as platform:
                self._join(platform)
                try:
                    await _side_by_side(platform.watches)
                finally:
                    self._leave(platform)
        except Exception as error:
            self._reason = why_closed(error)
            raise

    def _join(self, platform: Platform) -> None:
        self._platform = platform
        self._messengers[platform.messenger.platform] = platform.messenger
        log.info("%s could be opened now", self.name)

    def _leave(self, platform: Platform) -> None:
        self._platform = None
        self._messengers.pop(platform.messenger.platform, None)


def why_closed(error: Exception) -> str:
    """Return in a sentence why a platform could not be opened."""
    if isinstance(error, TimeoutError):
        return "It did not open in time."
    return str(error) if isinstance(error, BotError) else f"It cannot be opened ({type(error).__name__}); the log says more."


async def _side_by_side(watches: Sequence[Watch]) -> None:
    """Keep them going until this is cancelled."""
    tasks = [asyncio.ensure_future(keep_going(watch)) for watch in watches]
    try:
        await asyncio.Event().wait()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
