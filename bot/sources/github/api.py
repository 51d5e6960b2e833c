"""GitHub's REST interface: what is asked, and what its refusals mean.

Limits (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api): 60 requests an hour and address without a
token, 5,000 with one; searches on their own budget, 10 a minute without and 30 with a token. Beyond that there are secondary
limits, answered with 403 or 429, with or without Retry-After, and without touching the counters in the headers.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bot.errors import SourceChanged, SourceUnavailable
from bot.http.client import Http, Request, Response
from bot.http.pace import Sleep, retry_after
from bot.models import Pace
from bot.sources.json_answers import folded, read_json

SECONDARY_WAIT = timedelta(minutes=1)  # "wait for at least one minute", where the answer does not say
PRIMARY_WAIT = timedelta(hours=1)  # the length of the window, where the answer does not say when it ends
SPARE_WAIT = timedelta(minutes=15)  # before it is looked again whether there are more
_LONGEST_REFUSAL = 2**16  # bytes that are looked into for a reason
LONGEST_PAUSE = timedelta(seconds=90)  # the search budget is filled up every minute
_MINUTE = timedelta(minutes=1)
_SEARCHES = "github searches"  # the name under which processes on one database share them

# What means something here; a redirect is followed, anything else is for the HTTP door to try again or to refuse.
_READABLE = frozenset({200, 304, 401, 403, 404, 409, 410, 422, 429, 451})
_SECONDARY_SIGNS = ("secondary rate limit", "abuse detection", "abuse-rate-limits")
_PRIMARY_SIGNS = ("api rate limit exceeded", "rate limit exceeded")
_REFUSED_AS_A_WHOLE = ("administrative rules", "user agent", "user-agent")


class Exhausted(SourceUnavailable):
    """The hour's requests are used up; searches may still be answered, they are counted on their own."""


class GitHubApi:
    """Asks, and turns every refusal that concerns more than the one request into a SourceUnavailable."""

    def __init__(self, http: Http, base_url: str, token: str, sleep: Sleep = asyncio.sleep) -> None:
        self._http = http
        self._url = base_url.rstrip("/")
        self._token = token
        self._sleep = sleep
        self._pause = timedelta()  # before the next search
        self.left: int | None = None  # requests in this hour, searches apart; None while GitHub has not said

    async def get(self, path: str, params: Sequence[tuple[str, str]] = (), etag: str = "") -> Response:
        """Return the answer: 200, 304, or a refusal of just this (404, 409, 410, 422, 451, or 403 for this resource)."""
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if etag:
            headers["If-None-Match"] = etag
        request = Request(url=self._url + path, params=tuple(params), headers=headers)
        response = await self._http.fetch(request, accept=_READABLE)
        if not path.startswith("/search/"):
            self.left = _remaining(response)
        if response.status == 401:
            whom = "the token" if self._token else "to answer without a token"
            raise SourceUnavailable(f"GitHub refused {whom}: {message_of(response) or 'status 401'}")
        if response.status in (403, 429):
            _raise_limit(response)
        return response

    async def keep_spare(self, spare: int) -> None:
        """Raise Exhausted where fewer requests than that are left in this hour; asking costs none of them."""
        response = await self.get("/rate_limit")
        if response.status != 200:
            return  # a server of one's own may count nothing
        left, _ = limits_of(response)
        if left is not None and left < spare:
            raise Exhausted("GitHub's few requests of this hour are kept for what is collected", retry_after=SPARE_WAIT)

    async def search(self, params: Sequence[tuple[str, str]]) -> Response:
        """Ask the repository search, waiting first where its budget is used up; raises SourceUnavailable."""
        if self._pause > LONGEST_PAUSE:
            raise SourceUnavailable("GitHub allows no more searches for now", retry_after=self._pause)
        if self._pause:
            await self._sleep(self._pause.total_seconds())
            self._pause = timedelta()
        if self._http.turns:
            await self._http.turns.moment(_SEARCHES, self._search_pace)
        try:
            response = await self.get("/search/repositories", params)
        except SourceUnavailable as error:
            if self._http.turns and error.retry_after:
                await self._http.turns.rest(_SEARCHES, error.retry_after, "a limit")
            if isinstance(error, Exhausted):
                raise SourceUnavailable("GitHub allows no more searches for now", retry_after=error.retry_after) from error
            raise
        if response.headers.get("x-ratelimit-remaining") == "0":
            self._pause = _until_reset(response) or SECONDARY_WAIT
            if self._http.turns:
                await self._http.turns.rest(_SEARCHES, self._pause, "the minute's searches are used up")
        return response

    @property
    def _search_pace(self) -> Pace:
        """The minute's searches, of which all may come at once."""
        apart = _MINUTE / (30 if self._token else 10)
        return Pace(f"host:{_SEARCHES}", apart, _MINUTE - apart)


def message_of(response: Response) -> str:
    """Return the reason that GitHub gives in a refusal, with its details, as one short line; "" when it gives none."""
    try:
        answer = read_json(response.body, "GitHub") if len(response.body) <= _LONGEST_REFUSAL else None
    except SourceChanged:
        return ""
    if not isinstance(answer, dict) or not isinstance(answer.get("message"), str):
        return ""
    errors = answer.get("errors")
    details = [error.get("message") for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    told = [answer["message"], *(detail for detail in details if isinstance(detail, str))]
    return folded(": ".join(told), 300).rstrip(". ")


def limits_of(response: Response) -> tuple[int | None, int | None]:
    """Return how many requests are left of this hour's, and how many these are, as `/rate_limit` says; None for unknown."""
    answer = read_json(response.body, "GitHub")
    resources = answer.get("resources") if isinstance(answer, dict) else None
    core = resources.get("core") if isinstance(resources, dict) else None
    told = (core.get("remaining"), core.get("limit")) if isinstance(core, dict) else (None, None)
    left, limit = (each if isinstance(each, int) else None for each in told)
    return left, limit


def _raise_limit(response: Response) -> None:
    """Raise when a 403 or 429 is a rate limit, or a refusal of all that we ask; return when it is about one resource."""
    message = message_of(response)
    said = (message or response.body[:1000].decode("utf-8", "replace")).lower()
    wait = retry_after(response.headers)
    secondary = any(sign in said for sign in _SECONDARY_SIGNS) or "gh-limited-by" in response.headers
    if response.headers.get("x-ratelimit-remaining") == "0" and not secondary:
        wait = wait or _until_reset(response) or PRIMARY_WAIT
        raise Exhausted("GitHub allows no more requests for now: the hour's are used up", retry_after=wait)
    if secondary or wait is not None or response.status == 429:
        raise SourceUnavailable("GitHub asks us to slow down (a secondary rate limit)", retry_after=wait or SECONDARY_WAIT)
    if any(sign in said for sign in _PRIMARY_SIGNS):
        raise Exhausted("GitHub allows no more requests for now: the hour's are used up", retry_after=PRIMARY_WAIT)
    if any(sign in said for sign in _REFUSED_AS_A_WHOLE) or not message:
        raise SourceUnavailable(f"GitHub refused the request (status {response.status}): {message or 'no reason given'}")


def _remaining(response: Response) -> int | None:
    told = response.headers.get("x-ratelimit-remaining", "")
    return int(told) if told.isdecimal() and len(told) < 10 else None


def _until_reset(response: Response) -> timedelta | None:
    """Return how long it is until the counter is filled up again, by GitHub's own clock; None when it does not say."""
    try:
        reset = datetime.fromtimestamp(int(response.headers["x-ratelimit-reset"]), UTC)
        now = parsedate_to_datetime(response.headers["date"])
        return max(reset - now.astimezone(UTC), timedelta()) + timedelta(seconds=1)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
