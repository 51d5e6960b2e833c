"""Rate limits as Discord has them: buckets told by headers, one limit over all, and a ban for who takes no notice."""

import asyncio
import hashlib
import math
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.fakes.discord.calls import Call, as_json

_BAN = """<!DOCTYPE html>
<html><head><title>Access denied | discord.com used Cloudflare to restrict access</title></head>
<body><h1>Error 1015</h1><h2>You are being rate limited</h2><p>error code: 1015</p></body></html>
"""
_MESSAGES = "/channels/{channel_id}/messages"
_WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
_SHARED = 40062  # "Service resource is being rate limited": the code of a limit that is nobody's own
_WINDOW = 600.0  # seconds over which invalid requests are counted
_INVALID = (401, 403, 429)


@dataclass(slots=True)
class Bucket:
    """How much is left, and when it is full again, in the loop's time."""

    left: int
    full_at: float


_ON_THE_WAY = 0.1  # seconds: what comes so soon after a 429 was asked before that was heard


class Limits:
    """What is counted. Discord tells no figures but those of its headers; the ones here are ours, short for tests."""

    def __init__(self, counts: Counter[str], per_second: int) -> None:
        self.counts = counts
        self.per_second = per_second  # for the bot; 0: any number
        # So many requests in so many seconds, by method and path; for each channel, server or webhook.
        self.buckets: dict[tuple[str, str], tuple[int, float]] = {
            ("POST", _MESSAGES): (5, 1.0),
            ("PUT", _MESSAGES + "/{message_id}/reactions/{emoji_name}/@me"): (1, 0.25),
            # Ten an hour, says Discord's own client where one publishes by hand.
            ("POST", _MESSAGES + "/{message_id}/crosspost"): (10, 3600.0),
            # Everything that is written by an interaction's token; five in two seconds is what webhooks were seen to take.
            ("POST", _WEBHOOK): (5, 2.0),
        }
        self.usual = (50, 1.0)
        self.invalid_most = 10_000  # in ten minutes; then there is a ban
        self.banned_until = 0.0
        self._open: dict[tuple[str, str, str], Bucket] = {}
        self._all: deque[float] = deque()
        self._rests: dict[str, tuple[float, float]] = {}  # since and until when, by bucket or "" for everything
        self._invalid: deque[float] = deque()

    def ban(self, seconds: float) -> None:
        """Let nobody in for so long."""
        self.banned_until = _now() + seconds

    def refuse(self, call: Call, *, exempt: bool) -> web.Response | None:
        """Refuse what comes too early or too fast; the interactions' requests are exempt from the limit over all."""
        if _now() < self.banned_until:
            return self.shut_out()
        scope = " ".join((*_bucket_of(call), call.major))
        for name in ("", scope):
            said, until = self._rests.get(name, (0.0, 0.0))
            if (left := until - _now()) > 0 and not (exempt and not name):
                self.counts["inside" if _now() - said > _ON_THE_WAY else "on the way"] += 1
                return self.limited(call, left, everywhere=not name)
        if not exempt and (left := self._over_all()) > 0:
            self.counts["too fast"] += 1
            return self.limited(call, left, everywhere=True)
        bucket = self._bucket(call)
        if bucket.left <= 0:
            self.counts["too fast"] += 1
            return self.limited(call, bucket.full_at - _now(), everywhere=False)
        bucket.left -= 1
        return None

    def shut_out(self, seconds: float = 3600.0) -> web.Response:
        """Return what Cloudflare answers in Discord's place."""
        self.counts["banned"] += 1
        headers = {"Retry-After": str(math.ceil(seconds))}
        return web.Response(status=429, text=_BAN, content_type="text/html", headers=headers)

    def limited(
        self, call: Call, seconds: float, *, everywhere: bool, via: bool = True, scope: str = "", rest: bool = True
    ) -> web.Response:
        """Return a 429, and have what it is about rest for so long."""
        self.counts["429"] += 1
        name = "" if everywhere else " ".join((*_bucket_of(call), call.major))
        if rest:
            said, until = self._rests.get(name, (_now(), 0.0))
            # Who asks inside a rest is told its end once more; it is as it was.
            self._rests[name] = (said if until > _now() else _now(), max(_now() + seconds, until))
        headers = {
            "Retry-After": str(math.ceil(seconds)),
            "X-RateLimit-Scope": scope or ("global" if everywhere else "user"),
        }
        headers |= {"X-RateLimit-Global": "true"} if everywhere else self.headers(call)
        headers |= {"Via": "1.1 google"} if via else {}
        wait = math.ceil(seconds * 1000) / 1000
        body: dict[str, Any] = {"message": "You are being rate limited.", "retry_after": wait, "global": everywhere}
        if scope == "shared":
            body |= {"message": "The resource is being rate limited.", "code": _SHARED}
        return as_json(body, 429, headers)

    def headers(self, call: Call) -> Mapping[str, str]:
        """Return what a reply says about its bucket."""
        bucket = self._bucket(call)
        left = max(0.0, bucket.full_at - _now())
        most, _ = self._size(call)
        name = hashlib.sha256(" ".join(_bucket_of(call)).encode()).hexdigest()[:32]
        return {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(max(0, bucket.left)),
            "X-RateLimit-Reset": f"{time.time() + left:.3f}",
            "X-RateLimit-Reset-After": f"{math.ceil(left * 1000) / 1000:.3f}",
            "X-RateLimit-Bucket": name,
        }

    def judge(self, status: int, *, shared: bool = False) -> None:
        """Count a reply that was the client's fault."""
        if status not in _INVALID or shared:
            return
        now = _now()
        self._invalid.append(now)
        self.counts["invalid"] += 1
        while self._invalid[0] <= now - _WINDOW:
            self._invalid.popleft()
        if len(self._invalid) >= self.invalid_most:
            self.ban(_WINDOW)

    def _over_all(self) -> float:
        """Return how long to wait for the limit over all, 0 when there is no need."""
        now = _now()
        while self._all and self._all[0] <= now - 1:
            self._all.popleft()
        if self.per_second and len(self._all) >= self.per_second:
            return self._all[0] + 1 - now
        self._all.append(now)
        return 0.0

    def _size(self, call: Call) -> tuple[int, float]:
        return self.buckets.get(_bucket_of(call), self.usual)

    def _bucket(self, call: Call) -> Bucket:
        key = (*_bucket_of(call), call.major)
        most, seconds = self._size(call)
        found = self._open.get(key)
        if found is None or found.full_at <= _now():
            found = self._open[key] = Bucket(most, _now() + seconds)
        return found


def _bucket_of(call: Call) -> tuple[str, str]:
    """Return the method and path by which the limit of a request is known, which several may share."""
    if call.method in ("POST", "PATCH", "DELETE") and call.path.startswith(_WEBHOOK):
        return "POST", _WEBHOOK
    return call.method, call.path


def _now() -> float:
    return asyncio.get_running_loop().time()
