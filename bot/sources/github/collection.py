"""One collection from GitHub: what is asked in which order, and how far it has come."""

import logging
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from bot.errors import SourceError
from bot.http.client import Response
from bot.models import Batch, Item
from bot.settings.sources import GitHubSettings
from bot.sources.github.api import GitHubApi, message_of
from bot.sources.github.details import NEW, DetailReader
from bot.sources.github.repositories import Listed, read_list, read_repository, read_search
from bot.sources.github.search_query import queries
from bot.sources.github.watermark import read_watermark
from bot.sources.json_answers import read_json
from bot.sources.reading import read_in_turn

log = logging.getLogger(__name__)

PAGE = 100  # the most that GitHub gives at once
ACTIVE = timedelta(days=7)  # how far back activity counts the first time
OVERLAP = timedelta(days=1)  # what is read again the next time: the search's index lags behind
SEARCHES = 100  # in one collection, up to 400 requests: forty minutes without a token. The others come first the next time

NOT_MODIFIED = 304
_GONE = {404: "is not there any more, or never was", 410: "is gone", 451: "is blocked for legal reasons"}
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the operator asked for, and what topics search."""

    settings: GitHubSettings
    searches: tuple[str, ...]
    watch: tuple[str, ...]  # owner or owner/name
    pages: int
    requested: frozenset[str] = (
        frozenset()
    )  # of the searches and the watched, those of workspaces' topics: nothing of them is told to others

    def includes(self, item: Item) -> bool:
        """Tell whether a repository that nobody named is to be shown."""
        settings = self.settings
        enough = item.stars is None or item.stars >= settings.min_stars
        return enough and (settings.archived or not item.archived) and (settings.forks or not item.fork)


class _SearchError(SourceError):
    """GitHub does not take this one search."""


class Collection:
    """Yields what is asked for part by part. Each batch carries the watermark up to which everything has been yielded."""

    def __init__(self, api: GitHubApi, wanted: Wanted, watermark: str, now: datetime) -> None:
        self._api, self._wanted, self._now = api, wanted, now
        known, self._notes = read_watermark(watermark)
        self._watermark = known.trimmed(wanted.searches, wanted.watch, now.date())
        self._details = DetailReader(api, self._watermark, now, wanted.settings)
        self._yielded: set[str] = set()
        self._done, self._total = 0, min(len(wanted.searches), SEARCHES) + len(wanted.watch)

    async def repositories(self) -> AsyncGenerator[Batch, None]:
        """Yield each watched repository that changed since it was last read."""
        for name in self._longest_unread(name for name in self._wanted.watch if "/" in name):
            response = await self._ask(name, f"/repos/{name}")
            if response.status != 200:
                yield self._step(self._unanswered(name, response))
                continue
            item = await read_in_turn(repository_of, response, name)
            self._answered(name, response)
            if item is None:
                yield self._step(self._told(name, Batch(notes=(f"{name} is private and was left out",))))
                continue
            items = await self._details.with_details(self._once((item,)), watched=True)
            yield self._step(self._told(name, Batch(items=items, notes=_renamed(name, item))))
            self._stop_if_refused()

    async def owners(self) -> AsyncGenerator[Batch, None]:
        """Yield the repositories that watched owners created or pushed to since they were last read."""
        params = (("sort", "pushed"), ("direction", "desc"), ("per_page", str(PAGE)))
        for name in self._longest_unread(name for name in self._wanted.watch if "/" not in name):
            since = self._owner_since(name)
            response = await self._ask(name, f"/users/{name}/repos", params)
            if response.status != 200:
                yield self._step(self._unanswered(name, response))
                continue
            listed = await read_in_turn(_listed, response)
            self._answered(name, response)
            moved = tuple(item for item in listed.items if self._wanted.includes(item) and _latest(item) >= since)
            items = await self._details.with_details(self._once(moved), watched=True)
            yield self._step(Batch(items=items, skipped=listed.skipped))
            self._stop_if_refused()

    async def searches(self) -> AsyncGenerator[Batch, None]:
        """Yield what the searches find, the one that has waited longest first."""
        longest_unread = sorted(self._wanted.searches, key=lambda text: self._watermark.searches.get(text, _NEVER))
        for text in longest_unread[:SEARCHES]:
            try:
                for query in self._queries(text):
                    async for batch in self._pages(text, query):
                        yield batch
            except _SearchError as refusal:
                yield self._step(self._refused_search(text, refusal))
                continue
            self._watermark = self._watermark.after_search(text, self._now)
            yield self._step(Batch())

    def _unanswered(self, name: str, response: Response) -> Batch:
        """Say why a watched name has no news; of one that is a workspace's own affair the log alone tells it.

        Such a name waits then like one that was read.
        """
        batch = _refused(name, response)
        if name in self._wanted.requested and response.status != NOT_MODIFIED:
            log.warning("what a topic follows was left out: %s", *batch.notes)
            self._watermark = self._watermark.after_answer(name, "", self._now.date())
        return self._told(name, batch)

    def _told(self, name: str, batch: Batch) -> Batch:
        """Return the batch of a watched name without its notes where that is a workspace's own affair."""
        return replace(batch, notes=(), partial=False) if name in self._wanted.requested else batch

    def _refused_search(self, text: str, refusal: _SearchError) -> Batch:
        """Say so, or, where the text is a workspace's own affair, log it, and let it wait like one that was read."""
        if text not in self._wanted.requested:
            return Batch(notes=(str(refusal),), partial=True)
        log.warning("a topic's search was left out: %s", refusal)
        self._watermark = self._watermark.after_search(text, self._now)
        return Batch()

    async def _pages(self, text: str, query: str) -> AsyncGenerator[Batch, None]:
        """Yield the pages of one query; the watermark stays where it is until the whole search has been read."""
        read = 0
        for page in range(1, self._wanted.pages + 1):
            params = (("q", query), ("sort", "stars"), ("order", "desc"), ("per_page", str(PAGE)), ("page", str(page)))
            response = await self._api.search(params)
            if response.status != 200:
                raise _SearchError(f"GitHub cannot search for {text!r}: {message_of(response) or response.status}")
            found = await read_in_turn(_found, response)
            read += found.entries
            last = found.entries < PAGE or page == self._wanted.pages
            items = tuple(item for item in self._once(found.items) if self._wanted.includes(item))
            told = text not in self._wanted.requested
            yield Batch(
                items=await self._details.with_details(items),
                skipped=found.skipped,
                notes=_shortfall(text, found, read) if told and (last or found.incomplete) else (),
                partial=told and found.incomplete,
                done=self._done,
                total=self._total,
            )
            self._stop_if_refused()
            if last:
                return

    def _queries(self, text: str) -> tuple[str, ...]:
        last = self._watermark.searches.get(text)
        pushed = self._now - ACTIVE if last is None else last - OVERLAP
        settings, created = self._wanted.settings, min(self._now - NEW, pushed)
        return queries(
            text,
            created.date(),
            pushed.date(),
            min_stars=settings.min_stars,
            archived=settings.archived,
            forks=settings.forks,
        )

    # --- watched names

    def _longest_unread(self, names: Iterable[str]) -> list[str]:
        """Sort the names so that one cut off by a limit today comes first tomorrow, with its releases too."""
        seen, released = self._watermark.watched, self._watermark.releases

        def waited(name: str) -> tuple[bool, date, date]:
            asked = released.get(f"github:{name.lower()}")
            return name in seen, seen[name].day if name in seen else self._now.date(), asked.day if asked else date.min

        return sorted(names, key=waited)

    def _owner_since(self, name: str) -> datetime:
        seen = self._watermark.watched.get(name)
        return self._now - NEW if seen is None else datetime.combine(seen.day, time(), UTC) - OVERLAP

    async def _ask(self, name: str, path: str, params: Iterable[tuple[str, str]] = ()) -> Response:
        """Ask for what is watched; the first time in a day for all of it, so that every day has a reading of its stars."""
        seen = self._watermark.watched.get(name)
        etag = seen.etag if seen is not None and seen.day == self._now.date() else ""
        return await self._api.get(path, tuple(params), etag)

    def _answered(self, name: str, response: Response) -> None:
        self._watermark = self._watermark.after_answer(name, response.headers.get("etag", "")[:200], self._now.date())

    def _stop_if_refused(self) -> None:
        if self._details.refusal is not None:
            raise self._details.refusal

    # --- batches

    def _once(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return the items that have not been yielded yet."""
        fresh = tuple(item for item in items if item.key not in self._yielded)
        self._yielded.update(item.key for item in fresh)
        return fresh

    def _step(self, batch: Batch) -> Batch:
        """Finish one of the steps: the batch carries how far everything has been read."""
        self._done += 1
        notes, self._notes = (*self._notes, *batch.notes), ()
        return replace(
            batch, watermark=self._details.noted(self._watermark).text(), notes=notes, done=self._done, total=self._total
        )


def _refused(name: str, response: Response) -> Batch:
    """Say why a watched name has no news: nothing to say where it has not changed."""
    if response.status == NOT_MODIFIED:
        return Batch()
    why = _GONE.get(response.status) or f"cannot be read: {message_of(response) or response.status}"
    return Batch(notes=(f"{name} {why}",), partial=True)


def repository_of(response: Response, name: str) -> Item | None:
    """Read a repository, None where it is private; one that answers under another name keeps the old one as an alias."""
    item = read_repository(read_json(response.body, "GitHub"))
    old = f"github:{name.lower()}"
    return item if item is None or item.key == old else replace(item, aliases=(old,))


def _renamed(name: str, item: Item) -> tuple[str, ...]:
    return (f"{name} is now {item.title}",) if item.aliases else ()


def _listed(response: Response) -> Listed:
    return read_list(read_json(response.body, "GitHub"))


def _found(response: Response) -> Listed:
    return read_search(read_json(response.body, "GitHub"))


def _latest(item: Item) -> datetime:
    return max(item.published or _NEVER, item.updated or _NEVER)


def _shortfall(text: str, found: Listed, read: int) -> tuple[str, ...]:
    notes = []
    if found.incomplete:
        notes.append(f"GitHub ran out of time searching for {text!r}, some repositories may be missing")
    if found.total > read:
        notes.append(f"{text!r} matches {found.total:,} repositories, the {read:,} with the most stars were read")
    return tuple(notes)
