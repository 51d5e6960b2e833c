"""One request as a handler sees it, and the table of who answers what."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fakes.discord.description import Flaw

if TYPE_CHECKING:
    from tests.fakes.discord.world import World

NOTHING = (204, None)
Reply = tuple[int, Any]
"""A status and a JSON body; None: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request."""

    method: str
    path: str  # as Discord's description writes it
    at: float  # the event loop's time when it came, in seconds
    part: Mapping[str, str] = field(default_factory=dict)  # what stands in the path, by its name there
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def major(self) -> str:
        """What each has a rate limit of its own for: the channel, server, or webhook with its token (topics/rate-limits)."""
        token = self.part.get("webhook_token") or self.part.get("interaction_token") or ""
        return token or next((self.part[name] for name in ("channel_id", "guild_id", "webhook_id") if name in self.part), "")

    def number(self, name: str) -> int:
        return int(self.part[name])


def as_json(body: Any, status: int, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a reply as Discord gives it: its content type names no charset."""
    return web.Response(body=json.dumps(body).encode(), status=status, headers=headers, content_type="application/json")


Handler = Callable[["World", Call], Awaitable[Reply]]
Rules = Callable[[Call], Sequence[Flaw]]


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers."""

    method: str
    path: str
    handler: Handler
    rules: Rules | None
    posts: bool  # whether a message comes of it: such requests meet the faults that are drawn by the seed
    secret: bool  # whether the bot's token must come with it; elsewhere one stands in the path


ROUTES: list[Route] = []


def route(
    method: str, path: str, rules: Rules | None = None, *, posts: bool = False, secret: bool = True
) -> Callable[[Handler], Handler]:
    """Let the function answer these requests; `rules` tell what is wrong with a body beyond the description."""

    def known(handler: Handler) -> Handler:
        ROUTES.append(Route(method, path, handler, rules, posts, secret))
        return handler

    return known
