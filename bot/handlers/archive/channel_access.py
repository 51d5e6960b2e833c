"""Which channels somebody may know of who asks from a browser, and which are open to everybody: asked of the platforms."""

import time
from collections.abc import Callable, Collection

from bot.errors import Delayed
from bot.models import Actor, is_mail
from bot.ports.messenger import Visibility

HELD = 300.0  # seconds for which it holds that a channel is open to everybody
_MOST = 1_000  # workspaces of which that is held


class ChannelAccess:
    """Asks the platforms that are connected now; of one that is not, nothing is known."""

    def __init__(
        self, platform: Callable[[str], Visibility | None], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`platform` gives one by its word before the colon of its workspaces' names."""
        self._platform = platform
        self._monotonic = monotonic
        self._open: dict[tuple[str, frozenset[str]], tuple[float, frozenset[str]]] = {}

    async def visible(self, actor: Actor, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that the actor may know of; of a workspace that is of no platform, all.

        Raises DeliveryError where nobody can tell now.
        """
        if ":" not in actor.workspace:
            return channels
        return await self._asked(actor.workspace).visible_to(actor.workspace, actor.person, channels)

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those of the channels that everybody in the workspace may read, as of five minutes ago at the earliest.

        An address never is. Raises DeliveryError where nobody can tell now.
        """
        rooms = frozenset(each for each in channels if not is_mail(each))
        if ":" not in workspace:
            return rooms
        until, found = self._open.get((workspace, rooms), (0.0, frozenset[str]()))
        if self._monotonic() >= until:
            found = rooms & frozenset(await self._asked(workspace).open_to_all(workspace, rooms))
            if len(self._open) >= _MOST:
                self._open.clear()
            self._open[workspace, rooms] = (self._monotonic() + HELD, found)
        return found

    def _asked(self, workspace: str) -> Visibility:
        found = self._platform(workspace.partition(":")[0])
        if found is None:
            raise Delayed("Nobody can tell now which channels there are.")
        return found


NO_ACCESS = ChannelAccess(lambda _platform: None)
