"""The details that no listing has: of some repositories the opening of their README and their latest release."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from bot.errors import SourceChanged, SourceUnavailable
from bot.http.client import Response
from bot.models import Item
from bot.settings.sources import GitHubSettings
from bot.sources.github.api import Exhausted, GitHubApi
from bot.sources.github.releases import PAGE, read_releases
from bot.sources.github.repositories import read_readme, with_readme
from bot.sources.github.watermark import LastAnswer, Watermark
from bot.sources.json_answers import read_json
from bot.sources.reading import read_in_turn

NEW = timedelta(days=30)  # a younger repository is new: its README and its releases are read
AGAIN = timedelta(days=7)  # a new one's releases are asked for again; and a draft may come out so long after the last push
SPARE = 20  # requests left in the hour from which on releases wait: the watched names come first


class DetailReader:
    """Asks for what belongs to repositories, as many READMEs and lists of releases as the settings say, and notes it.

    A limit met here does not cost the items: it ends the reading, and stands in `refusal` where it concerns all requests.
    """

    def __init__(self, api: GitHubApi, watermark: Watermark, now: datetime, settings: GitHubSettings) -> None:
        self._api, self._now = api, now
        self._readmes, self._releases = dict(watermark.readmes), dict(watermark.releases)
        self._readmes_left, self._releases_left = settings.readmes, settings.releases
        self._limited = False
        self.refusal: SourceUnavailable | None = None

    def noted(self, watermark: Watermark) -> Watermark:
        """Return the watermark with what has been asked for."""
        return watermark.after_reading(self._readmes, self._releases)

    async def with_details(self, items: Sequence[Item], *, watched: bool = False) -> tuple[Item, ...]:
        """Return the items, those that are new or watched with README and release, the most starred first.

        A README is read once; releases are asked for once a day where the repository is watched, else once a week, as long
        as it moves.
        """
        read: dict[str, Item] = {}
        for item in sorted(items, key=lambda item: -(item.stars or 0)):
            read[item.key] = await self._with_release(await self._with_readme(item, watched), watched)
        return tuple(read[item.key] for item in items)

    async def _with_readme(self, item: Item, watched: bool) -> Item:
        if not self._readmes_left or item.key in self._readmes or not (watched or self._is_new(item)):
            return item
        self._readmes_left -= 1
        response = await self._ask(f"/repos/{item.title}/readme")
        if response is None:
            return item
        self._readmes[item.key] = self._now.date()
        return await read_in_turn(readme_of, item, response)

    async def _with_release(self, item: Item, watched: bool) -> Item:
        if not self._releases_left or not self._is_release_due(item, watched):
            return item
        if self._api.left is not None and self._api.left < SPARE:
            return item
        self._releases_left -= 1
        before = self._releases.get(item.key, LastAnswer(day=self._now.date()))
        response = await self._ask(f"/repos/{item.title}/releases", (("per_page", str(PAGE)),), before.etag)
        if response is None and self._limited:
            return item
        read = await read_in_turn(_released, item, response, self._now, before.etag)
        # The ETag of what could not be read would have GitHub say from then on that nothing has changed.
        taken = response is not None and read.releases_read is not None
        etag = response.headers.get("etag", "")[:200] if response is not None and taken else before.etag
        # What could not be had, as too long a list, is not asked for at once again: it would stand in the others' way.
        self._releases[item.key] = LastAnswer(etag=etag if watched else "", day=self._now.date())
        return read

    def _is_release_due(self, item: Item, watched: bool) -> bool:
        seen = self._releases.get(item.key)
        if seen is None:
            return watched or self._is_new(item)
        moved = item.updated is None or item.updated >= datetime.combine(seen.day, time(), UTC) - AGAIN
        waited = self._now.date() - seen.day
        return moved and (waited >= timedelta(days=1) if watched else self._is_new(item) and waited >= AGAIN)

    def _is_new(self, item: Item) -> bool:
        return item.published is not None and self._now - item.published <= NEW

    async def _ask(self, path: str, params: Sequence[tuple[str, str]] = (), etag: str = "") -> Response | None:
        """Return the answer, or None where none is to be had; then nothing further is read."""
        try:
            return await self._api.get(path, params, etag)
        except Exhausted:
            self._limited = True
        except SourceUnavailable as refusal:
            # Without a time to wait it may be about this one answer; if not, the next ordinary request says so.
            self._limited = refusal.retry_after is not None
            self.refusal = refusal if self._limited else None
        self._readmes_left = self._releases_left = 0
        return None


def readme_of(item: Item, response: Response) -> Item:
    """Read a README into the item; an answer that holds none, or cannot be read, costs the README and nothing else."""
    if response.status != 200:
        return item
    try:
        return with_readme(item, read_readme(read_json(response.body, "GitHub")))
    except SourceChanged:
        return item


def _released(item: Item, response: Response | None, now: datetime, etag: str) -> Item:
    """Read the latest release into the item, or that the one known by the ETag still is the latest.

    An answer that cannot be read leaves open whether there is one.
    """
    if response is not None and response.status == 304 and etag:
        return replace(item, releases_confirmed=now)
    if response is None or response.status != 200:
        return item
    try:
        return replace(item, release=read_releases(read_json(response.body, "GitHub"), now), releases_read=now)
    except SourceChanged:
        return item
