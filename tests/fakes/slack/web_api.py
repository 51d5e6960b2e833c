"""The Web API: who asks, may they, is it too often, does it go wrong; then the method."""

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from aiohttp import web

from tests.fakes.platform import EVERYWHERE
from tests.fakes.slack import arguments, scopes, wire
from tests.fakes.slack.call import Asked, Call
from tests.fakes.slack.faults import Course, Failure, Faults
from tests.fakes.slack.state import Grant, Json
from tests.fakes.slack.tiers import Tiers
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

Method = Callable[[World, Call], Json]
_ON_THE_WAY = 0.1  # seconds: what comes so soon after a 429 was asked before that was heard
_NOT_ACCEPTABLE = frozenset(
    {
        *("invalid_arguments", "invalid_blocks", "msg_blocks_too_long", "msg_too_long", "no_text", "unknown_method"),
        *("invalid_metadata_format", "metadata_too_large", "view_too_large", "missing_scope", "missing_argument"),
        *("invalid_limit", "invalid_cursor", "invalid_types", "expired_trigger_id", "exchanged_trigger_id"),
        *("invalid_trigger_id", "push_limit_reached", "thread_not_found", "parameter_validation_failed"),
        *("function_execution_not_found", "execution_not_in_running_state"),
    }
)


class WebApi:
    """POST or GET /api/{method}."""

    def __init__(self, world: World, methods: Mapping[str, Method], faults: Faults, tiers: Tiers | None) -> None:
        self.asked: deque[Asked] = deque(maxlen=100_000)
        self.counts: Counter[str] = Counter()
        self._world = world
        self._methods = methods
        self._faults = faults
        self._tiers = tiers
        # since when and until when a channel, or a workspace, may not be posted to
        self._rests: dict[str, tuple[float, float]] = {}
        self._working: set[asyncio.Task[Json]] = set()
        self._looked: dict[tuple[str, str], float] = {}  # by method and workspace: when a history was given last

    @property
    def rejected(self) -> list[Asked]:
        """What was asked in a way in which nobody should ask."""
        return [each for each in self.asked if each.error in _NOT_ACCEPTABLE]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method, token = request.match_info["method"], _token(request)
        asked = Asked(method=method, args={}, token=token, at=self._world.now)
        self.asked.append(asked)
        self.counts[method] += 1
        grant = self._world.grants.get(token)
        headers = {"X-OAuth-Scopes": ",".join(sorted(grant.scopes))} if grant else {}
        try:
            asked.args = await arguments.read(request)
            token = asked.token = str(asked.args.pop("token", token))
            refused = self._faults.refused(str(asked.args.get("channel", EVERYWHERE)))
            if refused is not None and not refused.error:
                return await self._failed(request, refused, None, asked)
            call = self._call(method, token, asked.args)
            asked.args = call.args
            self._world.changed()
            if (rest := self._rest(call)) is not None:
                asked.error = "ratelimited"
                return rest
            marker = str((call.args.get("metadata") or {}).get("event_payload", {}).get("d", ""))
            return await self._go(request, call, self._faults.course(method, marker), asked, headers)
        except Wrong as wrong:
            asked.error, asked.told = wrong.error, wrong.told
            return web.json_response(_answer(wrong), headers=headers)

    def _call(self, method: str, token: str, given: Json) -> Call:
        if method not in self._methods or not arguments.is_known(method):
            raise Wrong("unknown_method")
        grant = self._grant(method, token)
        if (grant.kind == "app") != (method == "apps.connections.open") and method not in ("auth.test", "oauth.v2.access"):
            raise Wrong("not_allowed_token_type")
        args = arguments.checked(method, given)
        if refused := self._faults.refused(str(args.get("channel", EVERYWHERE))):
            raise Wrong(refused.error)
        if grant.kind != "app":
            scopes.demand(grant, method)
        return Call(method, grant, args)

    def _grant(self, method: str, token: str) -> Grant:
        if method == "oauth.v2.access":
            return Grant(token=token, kind="client", teams=())
        if not token:
            raise Wrong("not_authed")
        grant = self._world.grants.get(token)
        if grant is None:
            raise Wrong("invalid_auth")
        if grant.trouble:
            raise Wrong(grant.trouble)
        if grant.expires is not None and self._world.now >= grant.expires:
            raise Wrong("token_expired")
        return grant

    # --- how it goes

    async def _go(
        self, request: web.Request, call: Call, course: Course, asked: Asked, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        failure = course.failure
        if failure is not None and failure.retry_after is not None:
            asked.error = "ratelimited"
            channel = str(call.args.get("channel", ""))
            scope = self._world.team_of(channel) if failure.everywhere else channel
            return self._limited(scope if call.method == "chat.postMessage" else None, failure.retry_after)
        working = None if course.done is None else self._begin(self._done(call, course.done))
        if course.takes:
            await asyncio.sleep(course.takes)
        if failure is not None:
            return await self._failed(request, failure, working, asked)
        assert working is not None
        return web.json_response({"ok": True, **await asyncio.shield(working)}, headers=headers)

    def _begin(self, work: Coroutine[Any, Any, Json]) -> asyncio.Task[Json]:
        """Let the work go on whatever becomes of the request."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def _done(self, call: Call, after: float) -> Json:
        if after:
            await asyncio.sleep(after)
        return self._methods[call.method](self._world, call)

    async def _failed(
        self, request: web.Request, failure: Failure, working: asyncio.Task[Json] | None, asked: Asked
    ) -> web.StreamResponse:
        if working is not None:
            await asyncio.wait([working])
            working.exception()  # what could not be done is not done
        if failure.error and failure.cut is None:
            asked.error = failure.error
            return web.json_response({"ok": False, "error": failure.error})
        asked.error = f"HTTP {failure.status or 504}"
        return await wire.broken(request, failure)

    # --- limits

    def _rest(self, call: Call) -> web.Response | None:
        """Refuse what comes too early or too often."""
        now, channel = self._world.now, str(call.args.get("channel", ""))
        if call.method == "chat.postMessage":
            said, until = max(
                (self._rests.get(scope, (0.0, 0.0)) for scope in (self._world.team_of(channel), channel)),
                key=lambda rest: rest[1],
            )
            if until > now:
                self.counts["inside" if now - said > _ON_THE_WAY else "on the way"] += 1
                return self._limited(None, until - now)
        asked = str(call.args.get("team_id", ""))
        team = self._world.team_of(channel) or asked or next(iter(call.grant.teams), call.grant.enterprise)
        if self._tiers is not None and (wait := self._tiers.wait(call.method, team, channel, now)) > 0:
            self.counts["too often"] += 1
            return self._limited(None, wait)
        return self._looks_too_soon(call.method, team, now)

    def _looks_too_soon(self, method: str, team: str, now: float) -> web.Response | None:
        """Refuse a look so soon after the last; an app that is distributed outside the Marketplace has one a minute."""
        between = self._faults.behaviour.between_looks
        if not between or method not in ("conversations.history", "conversations.replies"):
            return None
        if (left := self._looked.get((method, team), -between) + between - now) > 0:
            self.counts["looks too soon"] += 1
            return self._limited(None, left)
        self._looked[method, team] = now
        return None

    def _limited(self, channel: str | None, seconds: float) -> web.Response:
        """Answer 429. Slack gives whole seconds; where a channel or workspace is named, nothing is taken there before."""
        self.counts["429"] += 1
        whole = max(1, math.ceil(seconds))
        if channel is not None:
            _, until = self._rests.get(channel, (0.0, 0.0))
            self._rests[channel] = self._world.now, max(until, self._world.now + whole)
        return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(whole)})


def _token(request: web.Request) -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if kind in ("Bearer", "Basic") else ""


def _answer(wrong: Wrong) -> Json:
    found: Json = {"ok": False, "error": wrong.error}
    if wrong.needed:
        found |= {"needed": wrong.needed, "provided": wrong.provided}
    if wrong.told:
        found["response_metadata"] = {"messages": list(wrong.told)}
    return found
