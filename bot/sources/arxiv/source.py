"""arXiv: every day's announcement, read from the feed in one request, and the days that were missed.

One request every three seconds and one connection over the feed, the API and OAI-PMH together are what arXiv's terms ask for
(info.arxiv.org/help/api/tou.html); `bot.http.client` keeps them when the three hosts share one Politeness.
"""

import hashlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from urllib.parse import urlsplit

from bot.errors import SourceChanged, SourceError
from bot.http.client import Http, Politeness
from bot.keys import arxiv_id
from bot.models import Batch, Item, SourceState
from bot.settings.arxiv_categories import CATEGORIES
from bot.settings.sources import ArxivSettings
from bot.sources.arxiv import announcement_feed, search_api
from bot.sources.arxiv.announcement_feed import Feed
from bot.sources.arxiv.calendar import (
    EASTERN,
    day_after,
    days_between,
    in_words,
    is_usual_holiday,
    is_weekend,
    last_day,
    on_or_before,
    rebuilt,
)
from bot.sources.arxiv.catch_up import ArxivClient, CatchUp, all_failed
from bot.sources.reading import read_in_turn

log = logging.getLogger(__name__)

MAX_CATCH_UP = timedelta(days=366)
AGAIN = timedelta(minutes=20)  # after an announcement that should be there and was not


@dataclass(frozen=True, slots=True)
class _Watermark:
    """The last day that was read whole, and for which categories."""

    day: date | None = None
    categories: str = ""  # their names with a space in between; before they could change by themselves, their hash
    papers: str = ""  # the hash of the example papers that were looked up


@dataclass(frozen=True, slots=True)
class _Plan:
    """`due` is the newest day that should be there, `done` the last one that was read.

    `added` are the categories that are read for the first time; earlier days are caught up on for the others alone.
    """

    due: date
    done: date
    first: bool  # nothing was read before
    today: date
    notes: tuple[str, ...]
    papers: str = ""  # as in the watermark
    categories: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: bool = False  # there were other categories

    @property
    def before(self) -> tuple[str, ...]:
        """The categories that were read before, all where none was."""
        return tuple(each for each in self.categories if each not in self.added) or self.categories


class ArxivSource:
    """arXiv as a Source.

    `papers` are identifiers of further papers to know: the topics' examples, which are looked up once. `requested` is asked
    before each collection for more of them, those of workspaces' topics; `wanted` for the categories that topics need beside
    those of the settings. The watermark is the last day of which everything before was read, too. A category that is new
    begins with the announcement of the day: neither it nor the others look as if days were missing.
    """

    name = "arxiv"
    title = "arXiv"

    def __init__(
        self,
        http: Http,
        settings: ArxivSettings,
        *,
        papers: Collection[str] = (),
        requested: Callable[[], Awaitable[Collection[str]]] | None = None,
        wanted: Callable[[], Awaitable[Collection[str]]] | None = None,
    ) -> None:
        self._http = http
        self._categories = tuple(dict.fromkeys(settings.categories))
        self._settings = settings
        self._kinds = frozenset(settings.kinds)
        self._holidays = frozenset(settings.holidays)
        self._backfill = timedelta(days=settings.backfill_days)
        self._papers = tuple(sorted(set(papers)))
        self._requested = requested
        self._wanted = wanted

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield the newest announcement, then the missed ones, oldest first; raises SourceUnavailable or SourceChanged.

        The newest comes first because only its feed is gone tomorrow; the watermark passes it when all is read.
        """
        plan = self._plan(state.watermark, await self._categories_now(), now)
        papers = sorted({*self._papers, *(await self._requested() if self._requested else ())})
        if papers and plan.papers != fingerprint(papers):
            batch = await self._examples(papers, state.watermark)
            plan = plan if batch.partial else replace(plan, papers=fingerprint(papers))
            yield batch
        if not plan.categories:
            yield Batch(
                notes=(*plan.notes, "no category is collected: neither the settings nor a subscribed topic name any")
            )
            return
        client = ArxivClient(self._http, state.failures)
        if plan.done >= plan.due:
            yield await self._nothing_due(client, plan, now)
            return
        feed, failure = await self._feed_or_why_not(client, plan.categories)
        batch, missed, reached = self._first_steps(plan, feed, failure, now)
        last = batch if missed else replace(batch, watermark=self._watermark(reached, plan))
        yield last
        async for batch in self._catch_up(CatchUp(client, self._settings, plan.before), missed, reached, plan, failure, now):
            yield batch

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return when the next announcement is out, or soon, when the newest is still missing.

        In between arXiv is asked for the topics' new examples only; without any, collecting makes no request.
        """
        asked, plan = state.asked or now, self._plan(state.watermark, None, now)
        if plan.done >= plan.due:
            return min(rebuilt(day_after(plan.due)), asked + every)
        return max(rebuilt(plan.due), asked + min(every, AGAIN))

    async def _categories_now(self) -> tuple[str, ...]:
        """Return the settings' categories, and what topics need beside them: one that arXiv has not would spoil all."""
        wanted = sorted(await self._wanted()) if self._wanted else []
        return tuple(dict.fromkeys((*self._categories, *(each for each in wanted if each in CATEGORIES))))

    async def _nothing_due(self, client: ArxivClient, plan: _Plan, now: datetime) -> Batch:
        """Return what the newest announcement has of the categories that were added since it was read.

        Which these are is not told: what one workspace's topic names is not the others' affair.
        """
        notes = (*plan.notes, _nothing_new(plan, now))
        if not plan.added:
            return Batch(notes=notes, watermark=self._watermark(plan.done, plan) if plan.dropped else None)
        feed = await self._feed(client, plan.added)
        items = self._of_kinds(feed) if feed.day is not None and feed.day >= plan.done else ()
        return Batch(items=items, skipped=feed.skipped, notes=notes, watermark=self._watermark(plan.done, plan))

    def _of_kinds(self, feed: Feed) -> tuple[Item, ...]:
        return tuple(item for item in feed.items if item.announce in self._kinds or not item.announce)

    async def check(self, now: datetime) -> str:
        """Read the feed of one category and say what stands in it; raises SourceError."""
        first = (*self._categories, *CATEGORIES)[:1]
        feed = await self._feed(ArxivClient(self._http, 0), first)
        when = f" of {in_words(feed.day)}" if feed.day else ""
        return f"answers; the feed{when} lists {feed.entries:,} entries in {first[0]}"

    def has_keys_like(self, key: str) -> bool:
        """Say whether it is an arXiv identifier's: what is none of these is never put into an address."""
        return key.startswith("arxiv:") and arxiv_id(key.removeprefix("arxiv:")) == key.removeprefix("arxiv:")

    async def look_up(self, key: str) -> Sequence[Item]:
        """Return the paper of the key; () where arXiv knows none, or takes the identifier for none. Raises SourceError."""
        try:
            return tuple((await self.numbered([key.removeprefix("arxiv:")])).values())
        except search_api.RequestRefused:
            return ()

    async def numbered(self, numbers: Sequence[str]) -> dict[str, Item]:
        """Return the papers of these identifiers by their keys; one that arXiv does not know is absent."""
        client, found = ArxivClient(self._http, 0), dict[str, Item]()
        for start in range(0, len(numbers), search_api.IDS):
            request = search_api.by_identifier(self._settings.api_url, numbers[start : start + search_api.IDS])
            response = await client.ask(request, "arXiv's API", search_api.MAX_BYTES)
            results = await read_in_turn(search_api.parse, response.body)
            found |= {item.key: item for item in results.items}
        return found

    async def _examples(self, papers: Sequence[str], watermark: str) -> Batch:
        """Look up the example papers; when that fails, say so and try again with the next collection.

        What one workspace's topic names is not told to the others.
        """
        try:
            found = await self.numbered(papers)
        except SourceError as error:
            return Batch(notes=(f"the topics' example papers could not be looked up: {error}",), partial=True)
        mark, _ = _read_watermark(watermark)
        unknown = [number for number in self._papers if f"arxiv:{number}" not in found]
        notes = (f"arXiv does not know the example {', '.join(unknown)}",) if unknown else ()
        return Batch(items=tuple(found.values()), watermark=_written(replace(mark, papers=fingerprint(papers))), notes=notes)

    # --- planning

    def _plan(self, watermark: str, categories: tuple[str, ...] | None, now: datetime) -> _Plan:
        """Return what is to be read, for these categories; None for those of the last time."""
        mark, notes = _read_watermark(watermark)
        read = self._read_before(mark)
        categories = read or self._categories if categories is None else categories
        today, due = now.astimezone(EASTERN).date(), last_day(now)
        before_due = on_or_before(due - timedelta(days=1))
        if mark.day is None:
            start = on_or_before(due - max(self._backfill, timedelta(days=1)))
            return _Plan(due, start, True, today, notes, mark.papers, categories)
        added = tuple(each for each in categories if each not in read) if read else ()
        ahead = mark.day > today + timedelta(days=1)  # no feed is: the clock had run ahead when this was written
        done = min(mark.day, due)
        if ahead or (not read and done >= due):
            done = before_due  # read the day again, then go on from there; or as nobody knows what it was read for
        oldest = on_or_before(due - MAX_CATCH_UP)
        if done < oldest:
            done, notes = oldest, (*notes, f"announcements before {in_words(oldest)} were left out")
        dropped = bool(read) and not set(read) <= set(categories)
        return _Plan(due, done, False, today, notes, mark.papers, categories, added, dropped)

    def _read_before(self, mark: _Watermark) -> tuple[str, ...]:
        """Return the categories that were read so far, () where that is not known."""
        if mark.categories == fingerprint(self._categories):
            return self._categories
        return tuple(each for each in mark.categories.split() if each in CATEGORIES or each in self._categories)

    def _first_steps(
        self, plan: _Plan, feed: Feed | None, failure: SourceError | None, now: datetime
    ) -> tuple[Batch, tuple[date, ...], date]:
        """Return what the feed brings, the days to catch up on, and the day that is reached with them."""
        if feed is None:
            return Batch(notes=plan.notes), days_between(plan.done, plan.due), plan.due
        batch = Batch(
            items=self._of_kinds(feed),
            skipped=feed.skipped,
            notes=(*plan.notes, *self._full(feed)),
            partial=bool(self._full(feed)),
        )
        if feed.entries:
            return self._read_day(plan, feed, batch)
        if is_weekend(now) or plan.due < plan.today:
            return batch, days_between(plan.done, plan.due), plan.due
        if is_usual_holiday(plan.due, self._holidays):
            note = f"arXiv announced nothing for {in_words(plan.due)} (holiday)"
            return replace(batch, notes=(*batch.notes, note)), _before(plan.done, plan.due), plan.due
        note = f"arXiv's feed of {in_words(plan.due)} is empty so far"
        reached = on_or_before(plan.due - timedelta(days=1))
        return replace(batch, notes=(*batch.notes, note), partial=True), days_between(plan.done, reached), reached

    def _read_day(self, plan: _Plan, feed: Feed, batch: Batch) -> tuple[Batch, tuple[date, ...], date]:
        day = feed.day
        if day is None or day > plan.today + timedelta(days=1):
            note = "arXiv's feed does not say of which day it is"
            return replace(batch, notes=(*batch.notes, note), partial=True), days_between(plan.done, plan.due), plan.due
        if feed.entries >= announcement_feed.MOST:  # what was cut off is looked for by submission date
            return batch, days_between(plan.done, day), max(day, plan.done)
        if day < plan.due:
            fresh = plan.first or day > plan.done
            batch = batch if fresh else replace(batch, items=())
            note = f"the announcement for {in_words(plan.due)} is not out yet"
            return replace(batch, notes=(*batch.notes, note)), _before(plan.done, day), max(day, plan.done)
        return batch, _before(plan.done, day), day

    def _full(self, feed: Feed) -> tuple[str, ...]:
        if feed.entries < announcement_feed.MOST:
            return ()
        return (f"arXiv's feed is cut off at {announcement_feed.MOST:,} entries",)

    # --- reading

    async def _feed_or_why_not(
        self, client: ArxivClient, categories: Sequence[str]
    ) -> tuple[Feed | None, SourceError | None]:
        try:
            return await self._feed(client, categories), None
        except SourceError as error:
            return None, error

    async def _feed(self, client: ArxivClient, categories: Sequence[str]) -> Feed:
        """Read the feed of the categories together; one that is full is asked for again in halves."""
        request = announcement_feed.request(self._settings.feed_url, categories)
        response = await client.ask(request, "arXiv's feed", announcement_feed.MAX_BYTES)
        if response.status != 200:
            raise SourceChanged(f"arXiv's feed refused the categories (status {response.status})")
        feed = await read_in_turn(announcement_feed.parse, response.body)
        if feed.entries < announcement_feed.MOST or len(categories) == 1:
            return feed
        middle = len(categories) // 2
        halves = [await self._feed(client, part) for part in (categories[:middle], categories[middle:])]
        return announcement_feed.joined(halves)

    async def _catch_up(
        self, earlier: CatchUp, days: Sequence[date], reached: date, plan: _Plan, failure: SourceError | None, now: datetime
    ) -> AsyncGenerator[Batch, None]:
        if not days:
            return
        notes = self._why(days, plan, failure)
        try:
            async for batch, complete in earlier.read(days, now):
                done = reached if complete == days[-1] else complete
                yield replace(batch, watermark=self._watermark(done, plan) if done else None, notes=(*notes, *batch.notes))
                notes = ()
        except SourceError as error:
            raise all_failed([failure, error] if failure else [error]) from error

    def _why(self, days: Sequence[date], plan: _Plan, failure: SourceError | None) -> tuple[str, ...]:
        if failure is not None:
            log.warning("arXiv's feed was not read: %s", failure)
            return ("arXiv's feed did not answer as it should: read by submission date instead",)
        if plan.first and len(days) == 1:
            return ()
        verb = "went back" if plan.first else "caught up on"
        return (f"{verb} {len(days)} {'day' if len(days) == 1 else 'days'}, by submission date",)

    def _watermark(self, day: date, plan: _Plan) -> str | None:
        if day < plan.done:
            return None
        return _written(_Watermark(day, " ".join(plan.categories), plan.papers))


def politeness(settings: ArxivSettings) -> Mapping[str, Politeness]:
    """Return how arXiv wants to be asked, by host: one object for all of them, so that they count as one."""
    shared = Politeness(seconds_between=settings.seconds_between, connections=1, retries=2, shared="arxiv")
    return {urlsplit(url).netloc: shared for url in (settings.feed_url, settings.api_url, settings.oai_url)}


def fingerprint(names: Collection[str]) -> str:
    """Return a short text that differs when the names do, in whatever order; the watermark tells by it what it is for."""
    return hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:12]


def _written(mark: _Watermark) -> str:
    return json.dumps({"day": mark.day and mark.day.isoformat(), "categories": mark.categories, "papers": mark.papers})


def _read_watermark(watermark: str) -> tuple[_Watermark, tuple[str, ...]]:
    if not watermark:
        return _Watermark(), ()
    try:
        stored = json.loads(watermark)
        day = stored["day"] and date.fromisoformat(stored["day"])
        return _Watermark(day, str(stored.get("categories", "")), str(stored.get("papers", ""))), ()
    except (ValueError, TypeError, KeyError, AttributeError):
        return _Watermark(), ("it was forgotten how far arXiv had been read",)


def _before(done: date, day: date) -> tuple[date, ...]:
    return tuple(each for each in days_between(done, day) if each < day)


def _nothing_new(plan: _Plan, now: datetime) -> str:
    if is_weekend(now):
        return "arXiv announces nothing on Saturday and Sunday"
    return f"nothing new since the announcement for {in_words(plan.done)}"
