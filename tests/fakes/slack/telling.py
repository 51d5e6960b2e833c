"""How the app is told of anything, and what becomes of what it does not acknowledge."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from tests.fakes.patience import PATIENCE
from tests.fakes.slack import payloads
from tests.fakes.slack.answers import Answers
from tests.fakes.slack.exchange import Deliver, Exchange, until
from tests.fakes.slack.rights import Rights
from tests.fakes.slack.state import Channel, Json, Message, Person, Team
from tests.fakes.slack.world import World

T = TypeVar("T")


class NotAcknowledged(AssertionError):  # noqa: N818 - the name says what happened
    """The app did not acknowledge in time: a person reads that it did not respond."""


class NotHeard(AssertionError):  # noqa: N818 - the name says what happened
    """Nobody listens: a person reads that the app did not respond."""


class Teller:
    """Sends commands, presses and events, and waits until they are acknowledged."""

    anna: Person
    general: Channel

    def __init__(self, world: World, answers: Answers) -> None:
        self.world = world
        self.rights = Rights()
        self.missed: list[tuple[str, Json]] = []  # what was not acknowledged in time, of which kind
        self.patience = PATIENCE  # Slack's own is three seconds, on a machine that is not busy
        self.retries: tuple[float, ...] = (0.0, 60.0, 300.0)  # seconds before an event is sent again
        self.accepted: list[tuple[str, float]] = []  # kind, and after how many seconds it was acknowledged
        self._answers = answers
        self._deliver: Deliver
        self._later: set[asyncio.Task[None]] = set()

    # --- events

    async def event(
        self,
        what: Json,
        *,
        team: Team | None = None,
        event_id: str = "",
        shared: Channel | None = None,
        seen_by: Person | None = None,
    ) -> str:
        """Send an event, and again where it is not acknowledged, later; return its id. One that is not to be sent is not.

        `team` is the workspace whose installation may see it; `shared` the channel, where that belongs to several;
        `seen_by` the person of whom it tells, where it is they who may see it and not the app's own user.
        """
        where = team or self.world.teams[self.general.team]
        payload = payloads.event(where, what, event_id=event_id, at=self.world.now)
        if seen_by is not None:
            payload["authorizations"] = [
                each | {"user_id": seen_by.id, "is_bot": False} for each in payload["authorizations"]
            ]
        if shared is not None and shared.shared_with:
            payload |= payloads.shared(where, self.world.teams[shared.team], what)
        if self.rights.allows_event(what, self._grants(where)):
            await self._event(payload)
        return str(payload["event_id"])

    async def _event(self, payload: Json) -> None:
        if not await self._event_arrives(payload, 0):
            task = asyncio.create_task(self._again(payload))
            self._later.add(task)
            task.add_done_callback(self._later.discard)

    async def _again(self, payload: Json) -> None:
        for attempt, wait in enumerate(self.retries, start=1):
            await asyncio.sleep(wait)
            if await self._event_arrives(payload, attempt):
                return

    async def _event_arrives(self, payload: Json, attempt: int) -> bool:
        try:
            return await self._send("events_api", payload, attempt, "timeout" if attempt else "") is not None
        except NotHeard:
            self.missed.append(("events_api", payload))
            return False

    def known(self, name: str) -> Person:
        """Return somebody of any workspace."""
        return next(each.people[name] for each in self.world.teams.values() if name in each.people)

    # --- how it gets there

    async def until(self, found: Callable[[], T | None], within: float = PATIENCE) -> T:
        """Return what `found` gives as soon as it is anything true; raises TimeoutError."""
        return await until(self.world, found, within)

    def _exchange(
        self,
        kind: str,
        person: Person,
        channel: Channel | None,
        *,
        team: Team,
        view: str = "",
        original: Message | None = None,
    ) -> tuple[Exchange, str]:
        """Begin what somebody does with the app of a workspace."""
        url, key = self._answers.way(kind, person.id, channel, original, team=team.id) if channel else ("", "")
        trigger = self.world.trigger(person.id, team.id, view)
        begun = self.world.times.count()
        return Exchange(self.world, user=person.id, key=key, trigger=trigger, begun=begun), url

    async def _acknowledge(self, kind: str, payload: Json, exchange: Exchange) -> None:
        begun = time.monotonic()
        ack = await self._send(kind, payload, 0, "")
        exchange.seconds = time.monotonic() - begun
        exchange.acknowledged = self.world.times.count()
        if ack is None:
            raise NotAcknowledged(f"{payload.get('command', payload.get('type'))} was not acknowledged")
        exchange.ack = ack

    async def _send(self, kind: str, payload: Json, attempt: int, reason: str) -> Json | None:
        begun = time.monotonic()
        try:
            ack = await self._deliver(kind, payload, self.patience, attempt, reason)
        except LookupError as error:
            raise NotHeard(str(error)) from error
        if ack is None:
            self.missed.append((kind, payload))
        else:
            self.accepted.append((kind, time.monotonic() - begun))
        return ack

    def _grants(self, team: Team) -> frozenset[str]:
        """Return the scopes that the app has in a workspace."""
        every = [each.scopes for each in self.world.grants.values() if team in self.world.reachable(each)]
        return frozenset().union(*every)
