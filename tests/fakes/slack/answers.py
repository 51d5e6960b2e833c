"""response_url: docs.slack.dev/interactivity/handling-user-interaction#message_responses."""

import asyncio
import math
import secrets
from dataclasses import dataclass

from aiohttp import web

from tests.fakes.slack import blocks, wire
from tests.fakes.slack.faults import RESPONSE_URL, Failure, Faults
from tests.fakes.slack.state import Channel, Json, Message
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

_USES = 5
_LIVES = 1800.0  # seconds


@dataclass(slots=True)
class Way:
    """One address to answer at."""

    key: str
    user: str
    channel: Channel
    team: str  # whose app answers
    at: float
    original: Message | None  # the message whose button was pressed
    uses: int = 0


class Answers:
    """The addresses, and what is posted to them."""

    def __init__(self, world: World, faults: Faults) -> None:
        self.url = ""
        self.ways: dict[str, Way] = {}
        self.refused: list[tuple[str, Json]] = []  # what was not taken, and why
        self._world = world
        self._faults = faults
        self._working: set[asyncio.Task[web.Response]] = set()

    def way(
        self, kind: str, user: str, channel: Channel, original: Message | None = None, *, team: str = ""
    ) -> tuple[str, str]:
        """Return a new address and its key; `team` is whose app answers there, the channel's where none is named."""
        key, team = secrets.token_urlsafe(12), team or channel.team
        self.ways[key] = Way(key, user, channel, team, self._world.now, original)
        return f"{self.url}/{kind}/{team}/{key}", key

    async def handle(self, request: web.Request) -> web.StreamResponse:
        key, said = request.match_info["key"], await request.json()
        course = self._faults.course(RESPONSE_URL, "")
        failure = course.failure
        if failure is not None and failure.retry_after is not None:
            return web.Response(
                status=429, text="rate_limited", headers={"Retry-After": str(math.ceil(failure.retry_after))}
            )
        working = None if course.done is None else asyncio.create_task(self._answered(key, said, course.done))
        if working is not None:  # it goes on whatever becomes of the request
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        if course.takes:
            await asyncio.sleep(course.takes)
        if failure is None:
            assert working is not None
            return await asyncio.shield(working)
        return await self._failed(request, failure, working)

    async def _answered(self, key: str, said: Json, after: float) -> web.Response:
        if after:
            await asyncio.sleep(after)
        way = self.ways.get(key)
        try:
            if way is None:
                raise Wrong("invalid_url")
            if self._world.now - way.at > _LIVES:
                raise Wrong("expired_url")
            if way.uses >= _USES:
                raise Wrong("used_url")
            way.uses += 1
            self.take(way, said)
        except Wrong as wrong:
            self.refused.append((wrong.error, said))
            return web.Response(status=404 if wrong.error.endswith("_url") else 400, text=wrong.error)
        return web.Response(text="ok")

    async def _failed(
        self, request: web.Request, failure: Failure, working: asyncio.Task[web.Response] | None
    ) -> web.StreamResponse:
        if working is not None:
            await asyncio.wait([working])
        if failure.error and failure.cut is None:
            return web.Response(status=failure.status or 404, text=failure.error)
        return await wire.broken(request, failure)

    def take(self, way: Way, said: Json) -> None:
        """Do what an answer says; raises Wrong.

        Where a button was pressed, its message is replaced unless the answer says that it is not to be (slack-go/slack#428).
        What answers a command stays as it is, whatever is said later (slackapi/bolt-js#2287, slackapi/bolt-python#1268).
        """
        changed = way.original
        if said.get("delete_original"):
            if changed is not None:
                changed.is_deleted = True
                self._world.touch(changed)
            return
        if not said.get("text") and not said.get("blocks"):
            raise Wrong("no_text")
        blocks.check_message(said.get("text", ""), said.get("blocks", []))
        if said.get("replace_original", way.original is not None) and changed is not None:
            changed.text, changed.blocks = said.get("text", ""), said.get("blocks", [])
            changed.is_edited, changed.asked, changed.answers = True, said, way.key
            self._world.touch(changed)
            return
        self._world.post(self._made(way, said))

    def _made(self, way: Way, said: Json) -> Message:
        in_channel = said.get("response_type") == "in_channel"
        return Message(
            ts=self._world.times.ts(),
            channel=way.channel.id,
            team=way.team,
            user=self._world.teams[way.team].app_user.id,
            at=self._world.now,
            text=said.get("text", ""),
            blocks=said.get("blocks", []),
            shown_to="" if in_channel else way.user,
            answers=way.key,
            thread=said.get("thread_ts", ""),
            asked=said,
        )
