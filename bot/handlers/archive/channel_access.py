"""Which channels somebody may know of who asks from a browser, and which are open to everybody: asked of the platforms."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from bot.errors import Delayed, DeliveryError
from bot.models import Actor, is_mail
from bot.ports.messenger import Visibility

HELD = 300.0  # seconds for which it holds that a channel is open to everybody
SEEN_HELD = 55.0  # and what a person may know: whose feeds are read one after the other is asked for once
FAILURE_HELD = 5.0  # and that nobody can tell
_WORKSPACE = frozenset({""})  # stands for the workspace itself among its channels
_MOST = 1_000  # of either that are held


@dataclass(slots=True)
class _Answer:
    until: float = 0.0
    rooms: frozenset[str] = frozenset()
    failed: str = ""  # why nobody could tell
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # who asks meanwhile waits for the answer


class ChannelAccess:
    """Asks the platforms that are connected now; of one that is not, nothing is known."""

    def __init__(
        self, platform: Callable[[str], Visibility | None], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`platform` gives one by its word before the colon of its workspaces' names."""
        self._platform = platform
        self._monotonic = monotonic
        self._held: OrderedDict[tuple[str, str | None, frozenset[str]], _Answer] = OrderedDict()

    async def visible(self, actor: Actor, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the actor may know of, as of a minute ago at the earliest.

        Of a workspace that is of no platform it is all. Raises DeliveryError where nobody can tell now.
        """
        workspace, person, rooms = actor.workspace, actor.person, frozenset(channels)
        if ":" not in workspace:
            return channels
        if not rooms:
            return rooms
        return await self._told(
            (workspace, person, rooms), SEEN_HELD, lambda: self._asked(workspace).visible_to(workspace, person, rooms)
        )

    async def is_member(self, actor: Actor) -> bool:
        """Return whether the actor is still in their workspace, as of a minute ago at the earliest.

        In one that is of no platform everybody is. Raises DeliveryError where nobody can tell now.
        """
        workspace, person = actor.workspace, actor.person
        if ":" not in workspace:
            return True

        async def asked() -> Collection[str]:
            return _WORKSPACE if await self._asked(workspace).is_member(workspace, person) else ()

        return bool(await self._told((workspace, person, _WORKSPACE), SEEN_HELD, asked))

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that everybody in the workspace may read, as of five minutes ago at the earliest.

        An address never is. Raises DeliveryError where nobody can tell now.
        """
        rooms = frozenset(each for each in channels if not is_mail(each))
        if ":" not in workspace:
            return rooms
        return await self._told((workspace, None, rooms), HELD, lambda: self._asked(workspace).open_to_all(workspace, rooms))

    async def _told(
        self, of: tuple[str, str | None, frozenset[str]], held: float, ask: Callable[[], Awaitable[Collection[str]]]
    ) -> frozenset[str]:
        """Return what the platform said lately of these channels, to the person or None, everybody; else ask it."""
        answer = self._held.setdefault(of, _Answer())
        self._held.move_to_end(of)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        async with answer.turn:
            if self._monotonic() >= answer.until:
                try:
                    answer.rooms, answer.failed = of[2] & frozenset(await ask()), ""
                except DeliveryError as error:
                    answer.failed, held = str(error) or type(error).__name__, FAILURE_HELD
                answer.until = self._monotonic() + held
            if answer.failed:
                raise Delayed(answer.failed)
        return answer.rooms

    def _asked(self, workspace: str) -> Visibility:
        found = self._platform(workspace.partition(":")[0])
        if found is None:
            raise Delayed("Nobody can tell now which channels there are.")
        return found


NO_ACCESS = ChannelAccess(lambda _platform: None)
