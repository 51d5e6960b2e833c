"""What arXiv announced on days whose feed is gone: by its search API, or by OAI-PMH when that is down or the gap is long."""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from bot.errors import SourceChanged, SourceError, SourceUnavailable
from bot.http.client import Http, Request, Response
from bot.models import Batch, Item
from bot.settings.sources import ArxivSettings
from bot.sources.arxiv import oai_pmh, search_api
from bot.sources.arxiv.calendar import EASTERN, announced, in_words, window
from bot.sources.reading import read_in_turn

log = logging.getLogger(__name__)

LONG_GAP = 15  # days of announcements, three weeks: beyond it OAI-PMH takes fewer requests than the API
HELD_BACK = timedelta(days=4)  # how much earlier than the rest moderation may have let a paper be submitted
BELIEVED_AFTER = timedelta(days=3)  # a day on which the API lists no papers at all; until then it is read again
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=15), timedelta(hours=2)
MOST_RESULTS = 30_000  # of one query (info.arxiv.org/help/api/user-manual.html)
MOST_PARTS = 400  # parts of one OAI-PMH list

_READABLE = frozenset({200, 400, 429})


class ArxivClient:
    """Asks one of arXiv's services. `failures` in a row make the wait after "Rate exceeded" longer."""

    def __init__(self, http: Http, failures: int) -> None:
        self._http = http
        self._failures = failures

    async def ask(self, request: Request, who: str, max_bytes: int) -> Response:
        """Return an answer worth parsing; raises SourceUnavailable."""
        response = await self._http.fetch(request, accept=_READABLE, max_bytes=max_bytes)
        if response.status == 429 or response.body[:40].strip() == b"Rate exceeded.":
            # Plain text, no Retry-After, for hours, to everyone: the whole service is loaded, not only we are too fast.
            raise SourceUnavailable(f"{who} is overloaded and asks to come back later", retry_after=self.wait)
        return response

    @property
    def wait(self) -> timedelta:
        """How long to leave arXiv alone after it said so: a quarter of an hour, doubled each time up to two hours."""
        return min(FIRST_WAIT * (1 << min(self._failures, 10)), LONGEST_WAIT)


class CatchUp:
    """Reads past days of announcements."""

    def __init__(self, client: ArxivClient, settings: ArxivSettings, categories: Sequence[str]) -> None:
        self._client = client
        self._settings = settings
        self._categories = tuple(categories)

    async def read(self, days: Sequence[date], now: datetime) -> AsyncIterator[tuple[Batch, date | None]]:
        """Yield batches, and beside each the day that is complete with it, None in the middle of one.

        Tries the other service where the first does not answer; raises what the last one said.
        """
        left = list(days)
        ways = [self._by_api, self._by_oai] if len(days) <= LONG_GAP else [self._by_oai, self._by_api]
        said: list[SourceError] = []
        for way in ways:
            try:
                async for batch, day in way(tuple(left), now):
                    yield _with_note(batch, bool(said)), day
                    left = [each for each in left if day is None or each > day]
            except SourceError as error:
                log.warning("arXiv is read by another of its services: %s", error)
                said.append(error)
            else:
                return
        raise all_failed(said)

    async def _by_api(self, days: Sequence[date], now: datetime) -> AsyncIterator[tuple[Batch, date | None]]:
        is_told = True  # whether each day so far has papers, or may be believed to have none
        for number, day in enumerate(days):
            first, last = window(day)
            async for batch, is_last in self._submitted(first - HELD_BACK if number == 0 else first, last, day):
                is_told = is_told and (not batch.partial or now - announced(day) > BELIEVED_AFTER)
                yield replace(batch, done=number, total=len(days)), day if is_last and is_told else None

    async def _submitted(self, first: datetime, last: datetime, day: date) -> AsyncIterator[tuple[Batch, bool]]:
        """Read the slices of one window; the API's order is not relied on, its dates are checked."""
        seen, start, total = set[str](), 0, 0
        while True:
            results = await self._slice(first, last, start)
            total = max(total, results.total or 0)
            start += results.entries
            over = start >= total if results.total is not None else not results.entries
            if not over and not results.entries:
                raise SourceUnavailable(f"arXiv's API says {total:,} papers and shows {start:,}")
            fresh = [item for item in _within(results.items, first, last) if item.key not in seen]
            seen |= {item.key for item in results.items}
            if start > MOST_RESULTS or (results.items and len(seen) * 2 < start):
                raise SourceUnavailable("arXiv's API gives the same papers again and again")
            yield _slice(fresh, results, day, start), over
            if over:
                return

    async def _slice(self, first: datetime, last: datetime, start: int) -> search_api.Results:
        """Ask for a slice; an empty one is asked for once more, for the API is known to hiccup."""
        request = search_api.by_submission(self._settings.api_url, self._categories, first, last, start)
        for _ in range(2):
            response = await self._client.ask(request, "arXiv's API", search_api.MAX_BYTES)
            results = await read_in_turn(search_api.parse, response.body)
            if results.entries:
                break
        return results

    async def _by_oai(self, days: Sequence[date], now: datetime) -> AsyncIterator[tuple[Batch, date | None]]:
        first, last = window(days[0])[0] - HELD_BACK, window(days[-1])[1]
        since = announced(days[0]).astimezone(EASTERN).date()
        sets = oai_pmh.sets_of(self._categories)
        for number, wanted in enumerate(sets, start=1):
            async for records in self._harvest(wanted, since):
                items = tuple(self._announced(item, days) for item in records.items if self._wants(item, first, last))
                yield Batch(items=items, skipped=records.skipped, done=number - 1, total=len(sets)), None
        yield Batch(done=len(sets), total=len(sets)), days[-1]

    async def _harvest(self, wanted: str, since: date) -> AsyncIterator[oai_pmh.Records]:
        request, seen = oai_pmh.list_records(self._settings.oai_url, wanted, since), set[str]()
        for _ in range(MOST_PARTS):
            try:
                records = await self._part(request)
            except oai_pmh.TokenExpired as error:
                raise SourceUnavailable(f"{error}; it starts again next time") from error
            yield records
            if not records.token or records.token in seen:
                return
            seen.add(records.token)
            request = oai_pmh.more_records(self._settings.oai_url, records.token)
        raise SourceUnavailable(f"arXiv's OAI-PMH service lists more than {MOST_PARTS} parts for {wanted}")

    async def _part(self, request: Request) -> oai_pmh.Records:
        response = await self._client.ask(request, "arXiv's OAI-PMH service", oai_pmh.MAX_BYTES)
        return await read_in_turn(oai_pmh.parse, response.body)

    def _wants(self, item: Item, first: datetime, last: datetime) -> bool:
        """A record is new when its first version is of these days: old papers come again whenever their record changes."""
        archives = {category.partition(".")[0] for category in item.categories}
        named = any(category in item.categories or category in archives for category in self._categories)
        return (named or not item.categories) and oai_pmh.is_within(item, first, last)

    def _announced(self, item: Item, days: Sequence[date]) -> Item:
        submitted = item.published
        day = next((day for day in days if submitted is not None and window(day)[1] >= submitted), days[-1])
        return _dated(item, day)


def _within(items: Sequence[Item], first: datetime, last: datetime) -> tuple[Item, ...]:
    """Keep what was submitted in the window, to the minute; where next to nothing was, the API ignores what it is asked."""
    minute = timedelta(minutes=1)
    kept = tuple(item for item in items if item.published and first - minute <= item.published < last + minute)
    if len(items) >= 10 and len(kept) * 2 < len(items):
        raise SourceUnavailable("arXiv's API ignores the dates that it is asked for")
    return kept


def _slice(kept: Sequence[Item], results: search_api.Results, day: date, read: int) -> Batch:
    nothing = f"arXiv's API lists no papers for {in_words(day)}"
    return Batch(
        items=tuple(_dated(item, day) for item in kept),
        skipped=results.skipped,
        notes=() if read else (nothing,),
        partial=not read,
    )


def _dated(item: Item, day: date) -> Item:
    return replace(item, appeared=announced(day), announce="new")


def _with_note(batch: Batch, failed: bool) -> Batch:
    note = "arXiv was read by another of its services, as one did not answer as it should"
    return replace(batch, notes=(*batch.notes, note)) if failed else batch


def all_failed(said: Sequence[SourceError]) -> SourceError:
    """Return one error for several ways that failed: SourceChanged when all of them changed."""
    text = "; ".join(str(error) for error in said)
    waits = [error.retry_after for error in said if isinstance(error, SourceUnavailable) and error.retry_after]
    if all(isinstance(error, SourceChanged) for error in said):
        return SourceChanged(text)
    return SourceUnavailable(text, retry_after=max(waits, default=None))
