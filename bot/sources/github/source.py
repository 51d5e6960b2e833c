"""GitHub: repositories that a search finds new or active, and repositories and owners that are watched.

Stars per day come from our own readings of every day, since the interface gives no history of them to go by; whatever is
collected carries its stars, and each watched repository is read whole at least once a day.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.errors import SourceError, UsageError
from bot.http.client import Http
from bot.http.pace import Sleep
from bot.keys import github_repo
from bot.models import Batch, Item, SourceState
from bot.settings.sources import GitHubSettings
from bot.sources.github.api import Exhausted, GitHubApi, limits_of
from bot.sources.github.collection import Collection, Wanted, repository_of
from bot.sources.github.details import SPARE, readme_of
from bot.sources.github.search_query import check_search

log = logging.getLogger(__name__)

_README_SECONDS = 3.0  # for which who asks for one repository waits for its README
MAX_PAGES = 10  # of 100: more than the first 1,000 results of a search cannot be had

_FOLLOWED = re.compile(r"(?:repo|user|org):([\w.-]+(?:/[\w.-]+)?)", re.ASCII)
_WATCHED = re.compile(
    r"(?:https?://github\.com/)?([A-Za-z0-9][A-Za-z0-9_-]{0,38})(?:/(?!\.{1,2}/?$)([\w.-]{1,100}?)(?:\.git)?)?/?", re.ASCII
)


class GitHubSource:
    """GitHub as a Source.

    `searches` are the followed topics', in GitHub's own search language; those of the settings come after them. Of each
    search `pages` of 100 are read, the most starred first. `requested` is asked before each collection for further searches,
    those of workspaces' topics; one that asks for a repository or an owner alone, `repo:owner/name` or `user:owner`, is
    watched instead. Raises UsageError for a search that GitHub would not take, and for a name that is none; a requested
    search that it would not take is left out.
    """

    name = "github"
    title = "GitHub"

    def __init__(
        self,
        http: Http,
        settings: GitHubSettings,
        *,
        searches: Sequence[str] = (),
        requested: Callable[[], Awaitable[Sequence[str]]] | None = None,
        pages: int = 2,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        searches = (*searches, *settings.searches)
        for search in searches:
            check_search(search, min_stars=settings.min_stars)
        self._http, self._base_url, self._sleep = http, settings.base_url, sleep
        self._token = settings.token.get_secret_value()
        self._requested = requested
        self._is_short = False  # whether few of the hour's requests were left, as far as look-ups know
        self._wanted = Wanted(
            settings,
            searches=tuple(dict.fromkeys(search.strip() for search in searches)),
            watch=tuple({name.lower(): name for name in map(watched_name, settings.watch)}.values()),
            pages=min(pages, MAX_PAGES),
        )

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield watched repositories, what watched owners did, and what searches found.

        Raises SourceUnavailable or SourceChanged. When the hour's requests run out, the searches, which have a budget of
        their own, are still made, and the failure is raised at the end.
        """
        collection = Collection(self._api(), await self._wanted_now(), state.watermark, now.astimezone(UTC))
        exhausted: Exhausted | None = None
        for part in (collection.repositories(), collection.owners(), collection.searches()):
            try:
                async for batch in part:
                    yield batch
            except Exhausted as error:
                exhausted = error
        if exhausted is not None:
            raise exhausted

    async def _wanted_now(self) -> Wanted:
        """Return what the operator asked for, and what workspaces' topics request."""
        requested = [text.strip() for text in await self._requested()] if self._requested else []
        watched = {name.lower(): name for name in map(_followed, requested) if name}
        known = {name.lower() for name in self._wanted.watch}
        names = [name for lower, name in watched.items() if lower not in known]
        searches = (text for text in requested if not _followed(text) and text not in self._wanted.searches)
        further = dict.fromkeys(text for text in searches if self._is_taken(text))
        return replace(
            self._wanted,
            searches=(*self._wanted.searches, *further),
            watch=(*self._wanted.watch, *names),
            requested=frozenset((*further, *names)),
        )

    def _is_taken(self, search: str) -> bool:
        try:
            check_search(search, min_stars=self._wanted.settings.min_stars)
        except UsageError as error:
            log.warning("a topic's search was left out: %s", error)
            return False
        return True

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return the time after the usual interval: repositories change at any time."""
        return (state.asked or now) + every

    async def check(self, now: datetime) -> str:
        """Ask for the limits, which costs nothing, and say what is left of them; raises SourceError."""
        response = await self._api().get("/rate_limit")
        how = "with the token" if self._token else "without a token"
        if response.status != 200:  # a server of one's own may count nothing
            return f"answers {how}"
        left, limit = limits_of(response)
        if left is None or limit is None:
            return f"answers {how}"
        return f"answers {how}; {left:,} of {limit:,} requests are left this hour"

    def has_keys_like(self, key: str) -> bool:
        """Say whether it is a repository's: what is no `owner/name` is never put into an address."""
        return key.startswith("github:") and github_repo(f"https://github.com/{key.removeprefix('github:')}") == key[7:]

    async def look_up(self, key: str) -> Sequence[Item]:
        """Return the repository of the key with the opening of its README; () where there is none that everybody may see.

        One that has been renamed has the key as its alias. Raises SourceError: Exhausted where the last requests of the
        hour are left to collections.
        """
        api, name = self._api(), key.removeprefix("github:")
        if self._is_short:
            await api.keep_spare(SPARE)
        response = await api.get(f"/repos/{name}")
        self._is_short = api.left is not None and api.left < SPARE
        item = await asyncio.to_thread(repository_of, response, name) if response.status == 200 else None
        if item is None:
            return ()
        with contextlib.suppress(SourceError, TimeoutError):
            async with asyncio.timeout(_README_SECONDS):
                readme = await api.get(f"/repos/{item.title}/readme")
                item = await asyncio.to_thread(readme_of, item, readme)
        return (item,)

    def _api(self) -> GitHubApi:
        return GitHubApi(self._http, self._base_url, self._token, self._sleep)


def _followed(search: str) -> str:
    """Return the `owner` or `owner/name` for which alone a search asks; "" for any other search."""
    found = _FOLLOWED.fullmatch(search)
    name = found[1] if found else ""
    return name if _WATCHED.fullmatch(name) and ("/" in name) == search.startswith("repo:") else ""


def watched_name(text: str) -> str:
    """Return `owner` or `owner/name` from either, or from a repository's address; raises UsageError."""
    match = _WATCHED.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text[:200]!r} is no GitHub owner or repository; write owner or owner/name")
    return f"{match[1]}/{match[2]}" if match[2] else match[1]
