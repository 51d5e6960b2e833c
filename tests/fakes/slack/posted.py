"""Signed deliveries over HTTP: docs.slack.dev/authentication/verifying-requests-from-slack."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp

from tests.fakes.slack.state import Json


def signed(secret: str, body: bytes, at: float) -> dict[str, str]:
    """Return the headers that say who sent the body, and when."""
    base = b"v0:%d:%s" % (int(at), body)
    signature = "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(int(at)), "X-Slack-Signature": signature}


def encoded(kind: str, payload: Json) -> tuple[bytes, str]:
    """Return the body and its content type, as each kind of request has them."""
    if kind == "events_api":
        return json.dumps(payload).encode(), "application/json"
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"


class Post:
    """What delivers to one address of the app."""

    def __init__(self, url: str, secret: str) -> None:
        self.url = url  # may be exchanged: a balancer before several processes sends each request to any of them
        self._secret = secret
        self._session: aiohttp.ClientSession | None = None
        self._why = ""  # the last delivery was not taken
        self.statuses: list[int] = []

    async def deliver(self, kind: str, payload: Json, within: float, attempt: int, reason: str) -> Json | None:
        """Post it; return what it was acknowledged with, None when it was not, or not in time.

        Raises LookupError when nobody answers at the address.
        """
        body, content_type = encoded(kind, payload)
        headers = {"Content-Type": content_type, **signed(self._secret, body, time.time())}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": self._why or reason}
        try:
            async with asyncio.timeout(within):
                status, said, told = await self.send(body, headers)
        except TimeoutError:
            self._why = "http_timeout"
            return None
        except aiohttp.ClientConnectorError as error:
            raise LookupError("nobody answers at the address") from error
        except aiohttp.ClientError:
            self._why = "connection_failed"
            return None
        self._why = "http_error"
        gives_up = told.get("X-Slack-No-Retry") == "1"
        return _read(said) if status == 200 or gives_up else None

    async def verify(self) -> bool:
        """Ask as Slack does when the address is set; say whether the challenge came back."""
        body = json.dumps({"token": "t", "challenge": "3eZbrw1aB", "type": "url_verification"}).encode()
        headers = {"Content-Type": "application/json", **signed(self._secret, body, time.time())}
        status, said, _ = await self.send(body, headers)
        return status == 200 and b"3eZbrw1aB" in said

    async def check_tls(self) -> int:
        """Ask as Slack does now and then, unsigned, to see that the certificate is good; return the status."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return (await self.send(b"ssl_check=1&token=t", headers))[0]

    async def send(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes, Mapping[str, str]]:
        """Post any body with any headers: forged, stale or replayed ones too."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        async with self._session.post(self.url, data=body, headers=headers) as response:
            said = await response.read()
            self.statuses.append(response.status)
            return response.status, said, response.headers

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _read(said: bytes) -> Json:
    try:
        found = json.loads(said) if said.strip() else {}
    except ValueError:
        return {"text": said.decode()}
    return found if isinstance(found, dict) else {}
