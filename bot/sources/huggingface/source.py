"""Hugging Face Daily Papers: the papers that the community picked, day by day, and how many voted for them.

`GET /api/daily_papers?date=YYYY-MM-DD&limit=100&p=0…` answers a list. The service allows 500 requests per five minutes and
address, 1,000 with a token, and answers 429 with a `RateLimit` header beyond (huggingface.co/docs/hub/rate-limits).
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from bot.errors import SourceChanged, SourceUnavailable
from bot.http.client import Http, Request, Response
from bot.http.pace import retry_after
from bot.keys import arxiv_id
from bot.models import Batch, Item, Kind, SourceState
from bot.settings.sources import HuggingFaceSettings
from bot.sources.huggingface.daily_papers import Day, in_words, read_day, read_paper
from bot.sources.json_answers import read_json
from bot.sources.reading import read_in_turn

PAGE = 100  # the most that the service gives at once; without `limit` it gives 50
SHORT_PAGE = 50  # fewer than that is a last page, even where the service cuts `limit` down to its default
MAX_PAGES = 20
MAX_CATCH_UP = timedelta(days=366)
SATURDAY = 5
WEEKEND = timedelta(hours=6)  # between two collections on days on which nobody picks papers

_WAIT = re.compile(r"(?:^|,)\s*\"?[\w-]*\"?(?P<rest>(?:\s*;\s*\w+\s*=\s*\d{1,9})+)")
_FIELD = re.compile(r"(\w+)\s*=\s*(\d+)")
_READABLE = frozenset({200, 400, 401, 403, 404, 429})
_UNKNOWN = frozenset({400, 404})  # of a paper's own address


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which days to ask for, oldest first, and up to where all days were read before."""

    days: tuple[date, ...]
    complete: date | None
    today: date
    notes: tuple[str, ...]


class HuggingFaceSource:
    """Daily Papers as a Source.

    The watermark is the last day that was read after it had ended (UTC). The `reread_days` before today are read again
    every time, for their upvotes and for late picks; the first collection goes back `backfill_days`, if that is more.
    """

    name = "huggingface"
    title = "Hugging Face"

    def __init__(self, http: Http, settings: HuggingFaceSettings) -> None:
        self._http = http
        self._url = f"{settings.base_url}/api/daily_papers"
        self._papers_url = f"{settings.base_url}/api/papers"
        self._token = settings.token.get_secret_value()
        self._reread = timedelta(days=settings.reread_days)
        self._backfill = timedelta(days=settings.backfill_days)

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield one batch per day, the oldest first; raises SourceUnavailable or SourceChanged."""
        plan = self._plan(state.watermark, now.astimezone(UTC).date())
        complete = plan.complete
        for done, day in enumerate(plan.days, start=1):
            found = await self._day(day, plan.today)
            notes = _notes(day, found, plan)
            if day < plan.today and (complete is None or day > complete):
                complete = day
            yield Batch(
                items=found.items,
                watermark=None if complete is None else json.dumps({"day": complete.isoformat()}),
                skipped=found.skipped,
                notes=(*plan.notes, *notes) if done == 1 else notes,
                partial=bool(found.notes),
                done=done,
                total=len(plan.days),
            )

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return the time after the usual interval; on weekends, when only votes change, after six hours.

        Once a day has ended it is read whole, so that the next day's beginning (UTC) is the latest.
        """
        asked = (state.asked or now).astimezone(UTC)
        gap = max(every, WEEKEND) if asked.weekday() >= SATURDAY else every
        midnight = datetime.combine(asked.date() + timedelta(days=1), time(), UTC)
        return min(asked + gap, max(midnight, asked + every))

    async def check(self, now: datetime) -> str:
        """Ask for one paper and say when it was picked; raises SourceError."""
        response = await self._fetch((("limit", "1"),))
        day = await read_in_turn(_read, response, now.astimezone(UTC).date())
        papers = [item for item in day.items if item.kind is Kind.PAPER]
        newest = max((item.appeared for item in papers if item.appeared), default=None)
        return "answers, but lists no paper" if newest is None else f"answers; the newest paper is of {in_words(newest)}"

    def has_keys_like(self, key: str) -> bool:
        """Say whether it is an arXiv identifier's of since 2007: no older paper has a page there."""
        number = key.removeprefix("arxiv:")
        return number != key and "/" not in number and arxiv_id(number) == number

    async def look_up(self, key: str) -> Sequence[Item]:
        """Return the paper of the key, with its repository's stars; () where it has no page. Raises SourceError."""
        response = await self._fetch((), f"{self._papers_url}/{key.removeprefix('arxiv:')}")
        if response.status in _UNKNOWN:
            return ()
        items = await asyncio.to_thread(lambda: read_paper(read_json(response.body, "Hugging Face")))
        return items if items[0].key == key else ()

    def _plan(self, watermark: str, today: date) -> _Plan:
        complete, notes = _complete(watermark, today)
        if complete is None:
            first = today - max(self._reread, self._backfill)
            return _Plan(_days(first, today), None, today, notes)
        missed = (today - complete).days - 1
        if missed > 1:
            notes = (*notes, f"caught up on {missed} days since {in_words(complete)}")
        oldest = today - MAX_CATCH_UP
        if complete < oldest:
            notes = (*notes, f"days before {in_words(oldest)} were left out")
        first = max(min(complete + timedelta(days=1), today - self._reread), oldest)
        return _Plan(_days(first, today), complete, today, notes)

    async def _day(self, day: date, today: date) -> Day:
        """Read the pages of a day until one is short or brings nothing new."""
        whole = Day()
        for page in range(MAX_PAGES):
            response = await self._fetch((("date", day.isoformat()), ("limit", str(PAGE)), ("p", str(page))))
            if response.status == 400 and day == today:
                return whole  # our clock may be ahead of theirs: their day has not begun
            found = await read_in_turn(_read, response, day)
            known = {item.key for item in whole.items}
            fresh = tuple(item for item in found.items if item.key not in known)
            whole = replace(
                whole,
                items=(*whole.items, *fresh),
                entries=whole.entries + found.entries,
                skipped=whole.skipped + found.skipped,
                notes=tuple(dict.fromkeys((*whole.notes, *found.notes))),
            )
            if found.entries < SHORT_PAGE or not fresh:
                return whole
        return replace(whole, notes=(*whole.notes, f"{in_words(day)} has more than {MAX_PAGES * PAGE:,} papers"))

    async def _fetch(self, params: Sequence[tuple[str, str]], url: str = "") -> Response:
        """Return what the list of a day answers, or a paper's own address."""
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        response = await self._http.fetch(
            Request(url=url or self._url, params=tuple(params), headers=headers), accept=_READABLE
        )
        if response.status == 429:
            wait = limit_wait(response.headers.get("ratelimit", "")) or retry_after(response.headers)
            raise SourceUnavailable("Hugging Face allows no more requests for now", retry_after=wait)
        if response.status in (401, 403):
            whom = "the token" if self._token else "the request"
            raise SourceUnavailable(f"Hugging Face refused {whom} (status {response.status}{_reason(response)})")
        if response.status == 404 and not url:
            raise SourceChanged("Hugging Face has no Daily Papers at this address any more (status 404)")
        return response


def _days(first: date, last: date) -> tuple[date, ...]:
    return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))


def _complete(watermark: str, today: date) -> tuple[date | None, tuple[str, ...]]:
    """Return the last day that is done; never today or later, lest a clock that once ran ahead hides days."""
    if not watermark:
        return None, ()
    try:
        day = date.fromisoformat(json.loads(watermark)["day"])
    except (ValueError, TypeError, KeyError):
        return None, ("it was forgotten how far it had been read",)
    return min(day, today - timedelta(days=1)), ()


def _notes(day: date, found: Day, plan: _Plan) -> tuple[str, ...]:
    """Say of a day without papers why, the first time that it is read."""
    if found.entries or (plan.complete is not None and day <= plan.complete):
        return found.notes
    if day.weekday() >= SATURDAY:
        return (*found.notes, f"no papers on {day:%A}, {day.day} {day:%B} (weekend)")
    if day == plan.today:
        return (*found.notes, "no papers yet today")
    return (*found.notes, f"no papers on {day:%A}, {day.day} {day:%B}")


def _read(response: Response, day: date) -> Day:
    if response.status == 400:
        raise SourceChanged(f"Hugging Face refused to list {in_words(day)} (status 400{_reason(response)})")
    return read_day(read_json(response.body, "Hugging Face"), day)


def _reason(response: Response) -> str:
    """`: …`, the reason that a refusal gives, "" when it gives none."""
    try:
        answer = read_json(response.body, "")
    except SourceChanged:
        return ""
    reason = answer.get("error") if isinstance(answer, dict) else None
    return f": {reason[:200]}" if isinstance(reason, str) and reason else ""


def limit_wait(header: str) -> timedelta | None:
    """Return how long to wait by a `RateLimit` header (`"api";r=0;t=55`), None when it does not say.

    draft-ietf-httpapi-ratelimit-headers: `r` is what is left, `t` the seconds until it is filled up again; of several
    limits the exhausted ones count.
    """
    limits = [dict(_FIELD.findall(match["rest"])) for match in _WAIT.finditer(header[:1000])]
    waits = [int(limit["t"]) for limit in limits if "t" in limit and int(limit.get("r", "0")) == 0]
    return timedelta(seconds=max(waits)) if waits else None
