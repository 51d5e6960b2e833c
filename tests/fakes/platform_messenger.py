"""The Messenger of tests.fakes.platform: like Discord's (nonces), like Slack's (history), like both, or like neither."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import aiohttp

from bot.errors import Delayed, Reach, Refused, Rejected, Uncertain
from bot.models import ABSENT, Abilities, Delivery, Digest, Layout, Look, Presses

MINUTE = timedelta(minutes=1)
_FOR_GOOD = ("Unknown Channel", "Missing Access")


class PlatformMessenger:
    """bot.ports.messenger.Messenger over HTTP. It never tries again by itself; `timeout` is in seconds."""

    platform = "fake"

    def __init__(self, url: str, abilities: Abilities, *, timeout: float = 15.0) -> None:
        self.abilities = abilities
        self._url = url
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0)
        self._session = aiohttp.ClientSession(connector=connector, timeout=self._timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """One message for each entry, one at least."""
        title = f"{digest.title} of {digest.day}{' (late)' if late else ''}"
        entries = [each.ranked.item.title for each in digest.entries] or ["Nothing new."]
        return [f"{title}: {each}" for each in entries]

    async def send(self, delivery: Delivery) -> str:
        nonce = delivery.id if self.abilities.nonce_window else ""
        body = {"marker": delivery.id, "nonce": nonce, "text": delivery.payload}
        answer = await self._ask("POST", f"/channels/{delivery.channel}/messages", json=body)
        return str(answer["id"])

    async def find(self, delivery: Delivery) -> Look:
        since = ((delivery.first_try or delivery.due) - MINUTE).timestamp()
        asked = {"since": f"{since:.6f}", "begin": delivery.cursor or "0"}
        answer = await self._ask("GET", f"/channels/{delivery.channel}/messages", params=asked)
        found = next((str(each["id"]) for each in answer["messages"] if each["marker"] == delivery.id), "")
        if found:
            return Look(message=found)
        return Look(cursor=str(answer["next"])) if answer["next"] else ABSENT

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        raise Rejected("The platform edits nothing.", failure="no edits")

    async def publish(self, posted: Delivery) -> None:
        raise Rejected("The platform has no followers.", failure="no followers")

    def link(self, delivery: Delivery) -> str:
        return f"https://chat.example/{delivery.channel}/{delivery.message}"

    async def tell(self, workspace: str, person: str, text: str) -> None:
        await self._ask("POST", f"/people/{person}/messages", json={"text": text})

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        await self._ask("POST", f"/channels/{channel}/notices", json={"text": text})

    async def obstacle(self, workspace: str, channel: str) -> str:
        try:
            await self._ask("GET", f"/channels/{channel}")
        except Refused as error:
            return str(error)
        return ""

    async def _ask(self, method: str, path: str, **more: Any) -> Mapping[str, Any]:
        assert self._session is not None
        try:
            async with self._session.request(method, self._url + path, **more) as response:
                status, said = response.status, await response.read()
            if 400 <= status < 500 and response.content_type != "application/json":
                raise Delayed(f"Something on the way answered {status}.", reach=Reach.PLATFORM)
            answer = json.loads(said)
        except aiohttp.ClientConnectorError as error:
            raise Delayed("The platform could not be reached.", reach=Reach.PLATFORM) from error
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            raise Uncertain("The platform's answer was lost.") from error
        return _read(status, answer)


def _read(status: int, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if status == 200:
        return answer
    if status == 429:
        reach = Reach.PLATFORM if answer["global"] else Reach.CHANNEL
        rest = timedelta(seconds=answer["retry_after"])
        raise Delayed("The platform asked for a pause.", reach=reach, retry_after=rest)
    if answer.get("error") in _FOR_GOOD:
        raise Refused(f"The platform refused: {answer['error']}.")
    if status < 500:
        failure = f"status {status}, {answer['error']}"
        raise Rejected(f"The platform did not take it ({failure}).", failure=failure)
    raise Uncertain(f"The platform answered {status}.")
