"""Pages as they were made, for as long as they would be made the same."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from aiohttp import web

HELD = 60.0  # seconds for which a page stays as it was made, at most: it says what day it is
_PAGES, _BYTES = 300, 16 << 20  # that are held

_POLICY = "Content-Security-Policy"


@dataclass(slots=True)
class _Page:
    body: bytes = b""
    policy: str = ""  # "" where it is that of every page
    of: int = -1  # the version of what it shows
    until: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # who asks meanwhile waits for it


class HeldPages:
    """Holds pages by a name of all that they depend on, but for the time and the version of what they show."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._pages: OrderedDict[Hashable, _Page] = OrderedDict()

    async def page(self, name: Hashable, of: int, make: Callable[[], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        """Return the page of that name and version as it was made, else make it; what is no page is not held.

        Raises what `make` does.
        """
        held = self._pages.setdefault(name, _Page())
        self._pages.move_to_end(name)
        try:
            async with held.turn:
                if held.of != of or held.until <= self._monotonic():
                    now, made = self._monotonic(), await make()
                    if not isinstance(made, web.Response) or made.content_type != "text/html":
                        return made
                    held.body, held.policy = made.body, made.headers.get(_POLICY, "")  # type: ignore[assignment]
                    held.of, held.until = of, now + HELD
        finally:
            self._tidy()
        headers = {_POLICY: held.policy} if held.policy else None
        return web.Response(body=held.body, headers=headers, content_type="text/html", charset="utf-8")

    def _tidy(self) -> None:
        """Let go of those that were asked for the longest ago, where there are too many."""
        size = sum(len(each.body) for each in self._pages.values())
        while len(self._pages) > _PAGES or (size > _BYTES and self._pages):
            size -= len(self._pages.popitem(last=False)[1].body)
