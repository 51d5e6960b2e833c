"""Feeds of labs and journals: RSS, Atom and JSON Feed.

A feed's address and its content are both foreign: the address is asked through a guarded `Http`, the content is read in a
process of its own (`bot.sources.feeds.child`), and what that process says is checked before it is believed.
"""

import json
import re
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, StringConstraints, ValidationError

from bot.child_process import run_module
from bot.errors import ProcessFailed, SourceChanged, SourceUnavailable
from bot.http.client import Http, Request, Response
from bot.models import Batch, Item, SourceState
from bot.redact import redacted
from bot.settings.sources import FeedSettings
from bot.sources.feeds.entries import FeedAnswer, items_of
from bot.sources.reading import read_in_turn

MAX_BYTES = 2 * 2**20  # what a feed may weigh, inflated
WALL_CLOCK = 10.0  # seconds for reading one
MAX_OUTPUT = 8 * 2**20  # bytes of what is made of it
AT_ONCE = 2  # processes that read; each may take half a GiB

_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.9,"
    " text/xml;q=0.8, */*;q=0.1"
)
_CONDITIONS = {"etag": "If-None-Match", "modified": "If-Modified-Since"}


class _Watermark(BaseModel):
    """What a feed wants to be told next time, for the address that said it.

    No date stands here: every answer hands out all its entries, and what is known already is recognised by its key.
    """

    url: str = ""
    etag: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{0,300}$")] = ""
    modified: Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{0,100}$")] = ""

    @classmethod
    def read(cls, text: str, url: str) -> "_Watermark":
        """An unreadable watermark, or another address's, is none: the feed is then read whole, which costs one answer."""
        try:
            mark = cls.model_validate_json(text or "{}")
        except ValidationError:
            return cls(url=url)
        return mark if mark.url == url else cls(url=url)

    @classmethod
    def of(cls, response: Response, url: str) -> "_Watermark":
        """Keep what the answer gave; a validator that could not be sent back is left out."""
        given = {"url": url, "etag": response.headers.get("etag", ""), "modified": response.headers.get("last-modified", "")}
        return cls.read(json.dumps(given), url)


class FeedSource:
    """One feed, as a source named `feed:<name>`. `http` must be guarded: the address came from a person."""

    def __init__(self, http: Http, settings: FeedSettings) -> None:
        self._http = http
        self._url = settings.url
        self.name = f"feed:{settings.name}"
        self.title = settings.title or settings.name

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield the feed's entries in one batch, or an empty one when it has not changed; raises SourceError."""
        mark = _Watermark.read(state.watermark, self._url)
        response = await self._ask({header: value for part, header in _CONDITIONS.items() if (value := getattr(mark, part))})
        if response.status == 304:
            yield Batch(done=1, total=1)
            return
        items, skipped = await self._read(response, now)
        watermark = _Watermark.of(response, self._url).model_dump_json(exclude_defaults=True)
        yield Batch(items=items, watermark=watermark, skipped=skipped, done=1, total=1)

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return the time after the usual interval; a feed that has not changed answers in one line."""
        return (state.asked or now) + every

    async def check(self, now: datetime) -> str:
        """Read the feed once and say how it stands; raises SourceError."""
        response = await self._ask({})
        items, skipped = await self._read(response, now)
        newest = max((item.appeared for item in items if item.appeared), default=None)
        words = f"{len(items)} entries" + (f", the newest of {newest:%Y-%m-%d}" if newest else "")
        if skipped:
            words += f"; {skipped} could not be read"
        return words + (f"; it has moved to {redacted(response.url)}" if response.url != self._url else "")

    async def _ask(self, conditions: dict[str, str]) -> Response:
        request = Request(url=self._url, headers={"Accept": _ACCEPT, **conditions})
        accept = frozenset({200, 304}) if conditions else frozenset({200})
        return await self._http.fetch(request, accept=accept, max_bytes=MAX_BYTES)

    async def _read(self, response: Response, now: datetime) -> tuple[tuple[Item, ...], int]:
        host = urlsplit(response.url).hostname or self.title
        if fault := await read_in_turn(fault_of, response.body):
            raise SourceChanged(f"{host} sent {fault} instead of a feed")
        try:
            made = await read_in_process(response.body, response.url, response.headers.get("content-type", "")[:200])
            answer = await read_in_turn(FeedAnswer.model_validate_json, made)
        except ValidationError as error:
            raise SourceChanged(f"{host} sent a feed that could not be read") from error
        if answer.error:
            raise SourceChanged(f"{host} sent {answer.error} instead of a feed")
        items = await read_in_turn(items_of, answer.entries, self.name, now)
        return items, answer.skipped + len(answer.entries) - len(items)


_BETWEEN = re.compile(rb"(?:\s+|\xef\xbb\xbf|\xff\xfe|\xfe\xff)*")
_ASIDE = {b"<?": b"?>", b"<!--": b"-->"}  # how what may stand before the first element begins, and ends


def fault_of(body: bytes) -> str:
    """Say what the bytes are when they must not even be parsed, "" when they may.

    No feed needs a document type; it is where entities that multiply, or that name files, are declared. It can only stand
    before the first element, so a post that shows one in its text is not refused. NUL bytes are dropped first: in UTF-16 and
    UTF-32 they stand between the letters.
    """
    text = body.replace(b"\0", b"")
    if not text.strip():
        return "nothing"
    start = _end_of_prolog(text)
    opening = text[start : start + 20].lower()
    if opening.startswith((b"<html", b"<!doctype html", b"<head", b"<body")):
        return "a web page"
    return "a document with a DOCTYPE, which is refused," if opening.startswith(b"<!") else ""


def _end_of_prolog(text: bytes) -> int:
    start = 0
    while True:
        between = _BETWEEN.match(text, start)
        start = between.end() if between else start
        opening = next((each for each in _ASIDE if text.startswith(each, start)), b"")
        end = text.find(_ASIDE[opening], start + len(opening)) if opening else -1
        if end < 0:
            return start
        start = end + len(_ASIDE[opening])


async def read_in_process(data: bytes, address: str, content_type: str, *, wall_clock: float = WALL_CLOCK) -> bytes:
    """Return the JSON that a process of its own made of the feed.

    Raises SourceChanged when the feed is too much for it, SourceUnavailable when the machine is too busy to tell.
    """
    given = (json.dumps([address, content_type]).encode() + b"\n", data)
    try:
        return await run_module(
            "bot.sources.feeds.child", data=given, wall_clock=wall_clock, most=MAX_OUTPUT, at_once=AT_ONCE
        )
    except ProcessFailed as error:
        if error.is_temporary:
            raise SourceUnavailable(f"the process that reads feeds failed: {error}") from error
        raise SourceChanged("reading the feed took more time or memory than any feed should need") from error
