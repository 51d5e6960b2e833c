"""Who asks in Slack, and what the workspace says of them."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.slack.client.clients import Clients
from adapters.slack.client.failures import reason
from adapters.slack.listeners.answers import TROUBLES
from adapters.slack.workspaces import PLATFORM
from bot.models import Actor

log = logging.getLogger(__name__)

_HOLDS = timedelta(minutes=10)  # so long does a person stay what users.info said: a new administrator waits at most that
_MOST = 10_000  # people remembered
_ADMINISTERS = ("is_admin", "is_owner", "is_primary_owner")


@dataclass(frozen=True, slots=True)
class Profile:
    """What the workspace says of a person."""

    may_administer: bool = False
    zone: str = ""  # an IANA name


class Actors:
    """Asks Slack about each person once in ten minutes."""

    def __init__(self, clients: Clients, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._clock = clock
        self._asked: dict[tuple[str, str], tuple[datetime, asyncio.Task[Profile | None]]] = {}

    async def actor(self, workspace: str, channel: str, person: str) -> Actor:
        """Return who asks; a person of whom Slack says nothing now may administer nothing."""
        profile = await self._profile(workspace, person) or Profile()
        return Actor(
            platform=PLATFORM,
            workspace=workspace,
            channel=channel,
            person=person,
            may_administer=profile.may_administer,
            zone=profile.zone,
        )

    async def _profile(self, workspace: str, person: str) -> Profile | None:
        key, now = (workspace, person), self._clock()
        until, asking = self._asked.get(key, (now, None))
        if asking is None or until <= now:
            asking = asyncio.create_task(self._ask(workspace, person))
            self._asked.pop(key, None)  # to the end of the row: the one that was asked for longest ago goes first
            self._asked[key] = (now + _HOLDS, asking)
            if len(self._asked) > _MOST:
                del self._asked[next(iter(self._asked))]
        profile = await asyncio.shield(asking)
        if profile is None:
            self._asked.pop(key, None)
        return profile

    async def _ask(self, workspace: str, person: str) -> Profile | None:
        try:
            client = await self._clients.client(workspace)
            user = (await client.users_info(user=person))["user"]
        except TROUBLES as error:
            log.warning("Slack says nothing of a person in %s now: %s", workspace, reason(error))
            return None
        return profile_of(user)


def profile_of(user: Mapping[str, Any]) -> Profile:
    """Return what a user object of users.info says. Somebody of another organisation administers nothing here."""
    administers = any(user.get(name) is True for name in _ADMINISTERS) and user.get("is_stranger") is not True
    return Profile(administers, str(user.get("tz") or ""))
