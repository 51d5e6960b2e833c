"""A program that reads feeds over a real socket, of a workspace where digests were posted."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from adapters.web.server import serving
from bot.errors import DeliveryError
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.links import LinkSigner
from bot.models import Digest, Reply
from tests.bot.handlers.askers import Asker
from tests.fakes.digests import GPU

HOUR = timedelta(hours=1)
BASE = "https://papers.lab.example"
GUARDED = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}


@dataclass(slots=True)
class Rooms:
    """What a platform says of who is in which channel; None while it does not answer."""

    of: dict[str, set[str]] | None = field(default_factory=dict)  # by person

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        if self.of is None:
            raise DeliveryError("The platform does not answer.")
        return self.of.get(person, set()) & {*channels}

    async def is_member(self, workspace: str, person: str) -> bool:
        if self.of is None:
            raise DeliveryError("The platform does not answer.")
        return person in self.of

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        """Return those in which everybody is of whom the platform knows."""
        return set.intersection(*[{*await self.visible_to(workspace, each, channels)} for each in self.of or ("",)])


def in_rooms(ada: Asker, rooms: Rooms) -> Asker:
    """Ada, where the platform knows these rooms and pages are read."""
    access = ChannelAccess(lambda platform: rooms, monotonic=count(0, 1_000).__next__)
    return replace(ada, context=replace(ada.context, channel_access=access, web_url=BASE))


async def post(ada: Asker, channel: str = "C1", ago: timedelta = timedelta(0), **said: Any) -> Digest:
    """Post a digest there, so long ago."""
    digest = replace(GPU, day=(ada.now - ago).date(), **said)
    await ada.context.store.digests.save(ada.actor.workspace, channel, digest, ada.now - ago)
    return digest


def addresses(reply: Reply) -> dict[str, str]:
    """The addresses that an answer gives, by what they are of."""
    return {each.name: each.value for each in reply.fields if each.value.startswith(BASE)}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]


class FeedReader:
    """Reads feeds of the server, which stands behind no proxy."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def get(self, address: str, method: str = "GET", **headers: str) -> Answer:
        """Return what is answered for an address, as it was given or below the server's own."""
        path = urlsplit(address)
        url = URL(f"{self._url}{path.path}" + (f"?{path.query}" if path.query else ""), encoded=True)
        async with self._session.request(method, url, headers=headers, allow_redirects=False) as response:
            answer = Answer(response.status, await response.read(), response.headers.copy())
        assert {name: answer.headers.get(name) for name in GUARDED} == GUARDED
        assert "Set-Cookie" not in answer.headers
        return answer


@asynccontextmanager
async def reading(ada: Asker, *, clock: Callable[[], datetime] | None = None, **limits: Any) -> AsyncIterator[FeedReader]:
    """Serve what Ada's context knows, and read it."""
    signer = LinkSigner(bytes(32), BASE)
    async with (
        serving(ada.context, signer, clock or (lambda: ada.now), "127.0.0.1", 0, **limits) as (host, port),
        aiohttp.ClientSession() as session,
    ):
        yield FeedReader(f"http://{host}:{port}", session)
