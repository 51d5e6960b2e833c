"""A web server on the loopback interface that answers as it is told and remembers what it was asked.

Stands for arXiv, Hugging Face, GitHub, a lab's feed or an LLM endpoint: the code under test speaks to it over a real socket.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What to send back: after `delay` seconds, once `held` is set; `reset` cuts the connection instead."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False
    held: asyncio.Event | None = None


Rule = Callable[[Asked], Answer | None]


class Web:
    """Rules are tried newest first; a rule that returns None passes the request on. No rule: 404."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self._rules: list[Rule] = []

    def rule(self, rule: Rule) -> None:
        """Answer by a function of the request."""
        self._rules.insert(0, rule)

    def answer(self, path: str, *answers: Answer) -> None:
        """Answer requests for `path` with these, one after the other, the last one for ever."""
        left = list(answers)

        def rule(asked: Asked) -> Answer | None:
            if asked.path != path:
                return None
            return left.pop(0) if len(left) > 1 else left[0]

        self.rule(rule)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(
            request.method,
            request.path,
            dict(request.query),
            {name.lower(): value for name, value in request.headers.items()},
            await request.read(),
        )
        self.asked.append(asked)
        answer = next((found for rule in self._rules if (found := rule(asked)) is not None), Answer(status=404))
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if answer.held is not None:
            await answer.held.wait()
        if answer.reset:
            assert request.transport is not None
            request.transport.abort()
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        return web.Response(status=answer.status, body=body, headers=dict(answer.headers))


@asynccontextmanager
async def serving() -> AsyncIterator[Web]:
    """Run a Web on a free port of 127.0.0.1."""
    fake = Web()
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_route("*", "/{rest:.*}", fake.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    fake.url = f"http://127.0.0.1:{port}"
    try:
        yield fake
    finally:
        await runner.cleanup()
