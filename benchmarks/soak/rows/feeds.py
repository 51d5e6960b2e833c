"""R8: feeds made to break their reader.

Real feeds, whole and cut to an entry or two, are changed by a plain mutator (no coverage guides it): bits, slices, tokens
of XML, JSON and HTML, dates, nesting, attributes, encodings, by a seed. Nearly all are read as the reading process does,
by its own function under limits of memory and processor time, and what it gives is checked and made into items as the
service does, many one after the other in one process. One in 500, and fifteen cases written by hand, go the whole way:
over a socket through the guarded client, a process of its own for each, while a ticker watches this process's event loop.
"""

import asyncio
import gzip
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from benchmarks.loop_lag import watched
from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import ROOT, Ask
from bot.errors import SourceError
from bot.http.client import Http, Politeness
from bot.models import SourceState
from bot.settings.sources import FeedSettings
from bot.sources.feeds.child import MEMORY, SECONDS, NotAFeed, read_feed
from bot.sources.feeds.entries import FeedAnswer, items_of
from bot.sources.feeds.source import FeedSource, fault_of
from tests.fakes.web import Answer, serving

_BROUGHT = (*ROOT.glob("tests/payloads/feeds/*.*"), *ROOT.glob("tests/payloads/arxiv/feed-*.xml"))
_ENDINGS = (".xml", ".rss", ".atom", ".json", ".xml.gz", ".json.gz", ".atom.gz")
_LARGEST = 200_000  # bytes of a feed that is changed
_CHUNK = 500  # executions after which a process reports
_WHOLE = 500  # of so many, one goes the whole way
_TOO_LONG = 11.0  # seconds: what takes ten is ended, which takes a moment
_LAG = 100.0  # milliseconds
_GROWTH = (
    16 * 2**20
)  # bytes that the service's process may grow by: a feed, its answer and its items, and pages kept for more
_NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
_ENTRY = re.compile(rb"<(item|entry)[\s>].*?</\1>", re.DOTALL)
_TOKENS = (
    *(b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?xml version='1.0' encoding='utf-7'?>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>"),
    *(
        b"&a;",
        b"&#0;",
        b"&#xD800;",
        b"&#x110000;",
        b"&amp;amp;",
        b"&lt;script>",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ),
    *(b"<item>", b"</item>", b"<entry>", b"</channel>", b"<rss version='9'>", b"<a xmlns:a='x'>", b"xml:base='http://[::1'"),
    *(
        b"<link href='javascript:alert(1)'/>",
        b"<link>http://[</link>",
        b"<guid>file:///etc/passwd</guid>",
        b"<id>\x1b]0;x\x07</id>",
    ),
    *(
        b"<pubDate>Mon, 99 Foo 99999 99:99:99 +9999</pubDate>",
        b"<updated>-0001-13-32T25:61:61Z</updated>",
        b"0000-00-00",
        b"1e999",
    ),
    *(
        b"<content type='xhtml'>",
        b"<content type='application/zip'>UEsDB",
        b"<media:content url='x'/>",
        b"<itunes:duration>NaN",
    ),
    *(
        b"<dc:creator/>",
        b"<author><name/></author>",
        b"<category term=''/>",
        b"<math><svg><style>",
        b"<table><tr>",
        b"{",
        b"[[",
        b'":null,',
    ),
    *(b'"items":[', b"\\ud800", b"\\u0000", b"-1", b"1e400", b"true", b"99999999999999999999"),
)


# --- what is tried


def seeds(folder: Path | None) -> list[bytes]:
    """Return the real feeds, each also as parts of an entry or two, none larger than some hundred kilobytes."""
    paths = [*_BROUGHT, *(sorted(folder.rglob("*")) if folder else ())]
    found = [_unpacked(path) for path in paths if path.name.endswith(_ENDINGS)]
    return [part for whole in found if whole for part in _cut(whole)]


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _cut(whole: bytes) -> Iterator[bytes]:
    if len(whole) <= _LARGEST:
        yield whole
    entries = list(_ENTRY.finditer(whole))[:200]
    if entries:
        head, tail = whole[: entries[0].start()][:4000], whole[entries[-1].end() :][-500:]
        for each in entries:
            yield head + each[0] + tail


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return one of them with one to eight accidents; small ones are taken more often than large ones."""
    body = bytearray(min(chance.sample(seeds, min(3, len(seeds))), key=len))
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
        chance.choice(_ACCIDENTS)(chance, body, seeds)
    return bytes(body[: 2 * 2**20])


def _flip(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    for _time in range(chance.choice((1, 4, 32))):
        if body:
            body[chance.randrange(len(body))] = chance.randrange(256)


def _delete(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    start, size = _slice(chance, body)
    del body[start : start + size]


def _double(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    start, size = _slice(chance, body)
    body[start:start] = body[start : start + min(size, 2000)] * chance.choice((1, 2, 20))


def _insert(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    place = _at_a_tag(chance, body)
    body[place:place] = chance.choice(_TOKENS) * chance.choice((1, 1, 1, 50))


def _splice(chance: random.Random, body: bytearray, seeds: Sequence[bytes]) -> None:
    other = chance.choice(seeds)
    start, size = _slice(chance, bytearray(other[:20_000]))
    place = _at_a_tag(chance, body)
    body[place:place] = other[start : start + min(size, 4000)]


def _truncate(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    del body[chance.randrange(len(body) + 1) :]


def _nest(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    place = _at_a_tag(chance, body)
    body[place:place] = chance.choice((b"<b>", b"<div><p>", b"[", b'{"a":', b"<item>")) * chance.choice((10, 100, 1000))


def _attributes(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    place = body.find(b">", chance.randrange(len(body) + 1))
    if place >= 0:
        body[place:place] = b"".join(b' a%d="%d"' % (number, number) for number in range(chance.choice((2, 50, 500))))


def _letters(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    place = _at_a_tag(chance, body)
    text = "".join(
        chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x250), chance.randrange(0xD7FF)))) for _ in range(40)
    )
    body[place:place] = text.encode()


def _encode(chance: random.Random, body: bytearray, _: Sequence[bytes]) -> None:
    body[:] = (
        bytes(body)
        .decode("utf-8", "replace")
        .encode(chance.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037")), "replace")
    )


_ACCIDENTS = (
    _flip,
    _flip,
    _delete,
    _double,
    _insert,
    _insert,
    _insert,
    _splice,
    _truncate,
    _nest,
    _attributes,
    _letters,
    _encode,
)


def _slice(chance: random.Random, body: bytearray) -> tuple[int, int]:
    start = chance.randrange(len(body) + 1)
    return start, min(len(body) - start, int(chance.expovariate(1 / 60)) + 1)


def _at_a_tag(chance: random.Random, body: bytearray) -> int:
    """Return a place after the next tag's end, often, or any."""
    place = chance.randrange(len(body) + 1)
    found = body.find(b">", place)
    return found + 1 if found >= 0 and chance.random() < 0.7 else place


# --- reading, in a process of a pool


@dataclass(slots=True)
class Tally:
    """What became of so many feeds."""

    feeds: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0  # seconds of processor time
    crashes: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count the other too."""
        self.feeds += other.feeds
        self.outcomes += other.outcomes
        self.longest = max(self.longest, other.longest)
        self.crashes = [*self.crashes, *other.crashes][:10]


class _UsedUp(BaseException):
    """The processor time of one feed is used up."""


def _end(_number: int, _frame: object) -> None:
    raise _UsedUp


_SEEDS: list[bytes] = []


def _prepare(folder: Path | None) -> None:
    _SEEDS[:] = seeds(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + 2**28, MEMORY + 2**28))  # it holds the service's modules as well
    signal.signal(signal.SIGPROF, _end)


def _chunk(seed: int, number: int) -> Tally:
    chance, tally = random.Random(seed), Tally()
    for _ in range(number):
        body = mutated(chance, _SEEDS)
        begun = time.process_time()
        found = outcome(body)
        tally.longest = max(tally.longest, time.process_time() - begun)
        tally.feeds += 1
        tally.outcomes[found.partition(":")[0]] += 1
        if found.startswith("crash"):
            tally.crashes.append(f"{found} (seed {seed}) of {body[:200]!r}")
    return tally


def outcome(body: bytes, read: Callable[[bytes, str, str], Mapping[str, object]] = read_feed) -> str:
    """Do with the bytes what FeedSource and its process do; return what became of them."""
    if fault_of(body):
        return "refused unread"
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        made = json.dumps(read(body, "https://a.example/feed", ""), ensure_ascii=False).encode("utf-8", "replace")
    except NotAFeed:
        return "no feed"
    except (_UsedUp, MemoryError):
        return "ended by a limit"
    except Exception as error:  # noqa: BLE001 - what is looked for
        return f"crash of the reader: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    try:
        items_of(FeedAnswer.model_validate_json(made).entries, "feed:x", _NOW)
    except ValidationError:
        return "refused: what the reader gave"
    except Exception as error:  # noqa: BLE001 - as above
        return f"crash of the service: {type(error).__name__}: {error}"
    return "read"


def _in_pool(ask: Ask, number: int) -> Tally:
    total = Tally()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_prepare, initargs=(ask.feeds,)) as pool:
        sizes = [min(_CHUNK, number - at) for at in range(0, number, _CHUNK)]
        for found in pool.map(_chunk, (ask.seed * 10**9 + at for at in range(len(sizes))), sizes):
            total.add(found)
    return total


# --- the whole way


def cases() -> dict[str, bytes]:
    """Return fifteen feeds written to break a reader."""
    rss = b"<rss version='2.0'><channel><title>x</title>%s</channel></rss>"
    item = b"<item><title>%s</title><link>https://a.example/%d</link></item>"
    laughs = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    return {
        "billion laughs": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">' + laughs + b"]>" + rss % b"&j;",
        "external entity": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + rss % b"&a;",
        "32,000 attributes": rss % (b"<item " + b" ".join(b'a%d="1"' % n for n in range(32_000)) + b"/>"),
        "2 MB of attributes": rss % (b"<item " + b" ".join(b'a%d="1"' % n for n in range(150_000)) + b"/>"),
        "200,000 nested tags": rss % (b"<item><description>" + b"<b>" * 200_000),
        "40,000 items": rss % b"".join(item % (b"t", n) for n in range(40_000))[: 19 * 10**5],
        "a title of 2 MB": rss % (item % (b"t" * 19 * 10**5, 1)),
        "10 MB": rss % (b" " * 10**7),
        "inflates to 200 MB": gzip.compress(b"\0" * 2 * 10**8),
        "deep JSON": b'{"items": ' + b"[" * 100_000,
        "4 million objects": b'{"items": [' + b'{"":0},' * 280_000 + b"1]}",
        "hostile links": rss % b"<item><title>&lt;!channel&gt; @everyone</title><link>javascript:alert(1)</link></item>",
        "NUL and lone surrogates": rss % (item % (b"\0&#xD800;\xed\xa0\x80", 1)),
        "UTF-16 that lies": b"\xff\xfe" + (rss % (item % (b"x", 1))),
        "nothing": b"",
    }


async def _whole_way(ask: Ask, number: int) -> tuple[Tally, float, float, int]:
    """Return what became of them, how late a tick came and how long the loop was kept at most (ms), the growth in bytes."""
    chance, parts, tally, grown = random.Random(ask.seed), seeds(ask.feeds), Tally(), 0
    written = [*cases().values()]
    bodies = [*(written if ask.size >= _WHOLE else written[-5:]), *(mutated(chance, parts) for _ in range(number))]
    now_answered: list[Answer] = []
    async with serving() as web:
        web.rule(lambda _: now_answered[0])
        http = Http(
            user_agent="x",
            guarded=True,
            allow=frozenset({"127.0.0.1"}),
            timeout=60,
            politeness={web.url.removeprefix("http://"): Politeness(seconds_between=0, retries=0)},
        )
        source = FeedSource(http, FeedSettings(name="x", url=f"{web.url}/feed"))
        async with watched() as lag:
            for place, body in enumerate(bodies):
                packed = {"Content-Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else {}
                now_answered[:] = [Answer(body, headers=packed)]
                await _one(source, tally)
                web.asked.clear()
                if place == 20:
                    grown = -_resident()
        grown = grown + _resident() if len(bodies) > 20 else 0
        await http.close()
    return tally, max(lag.late, default=0.0), max(lag.busy, default=0.0), grown


async def _one(source: FeedSource, tally: Tally) -> None:
    begun = time.monotonic()
    try:
        async for _ in source.collect(SourceState(name=source.name), _NOW):
            pass
        outcome = "read"
    except SourceError:
        outcome = "refused, with a sentence"
    except Exception as error:  # noqa: BLE001 - what is looked for
        outcome = "crash of the service"
        tally.crashes.append(f"{type(error).__name__}: {error}")
    tally.feeds += 1
    tally.outcomes[outcome] += 1
    tally.longest = max(tally.longest, time.monotonic() - begun)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def hostile_feeds(ask: Ask) -> Row:
    """Read them all."""
    whole = max(2, ask.size // _WHOLE)
    far, late, busy, grown = await _whole_way(ask, whole)
    near = await asyncio.to_thread(_in_pool, ask, ask.size)
    crashes = [*far.crashes, *near.crashes]
    outcomes = ", ".join(f"{number:,} {what}" for what, number in near.outcomes.most_common())
    measured = (
        f"{len(crashes)} crashes; {outcomes}; longest {near.longest:.1f} s of processor time; the whole way: {far.feeds:,},"
        f" longest {far.longest:.1f} s, the loop kept for {busy:.0f} ms at most (a tick late by {late:.0f}), grown by"
        f" {grown / 2**20:+.1f} MiB" + "".join(f"; {each}" for each in crashes[:3])
    )
    kept = not crashes and max(near.longest, far.longest) < _TOO_LONG and busy < _LAG and grown < _GROWTH
    target = "0 crash, 0 over 10 s, memory of the parent flat, loop lag < 100 ms"
    sizes = f"{far.feeds - whole} cases, {near.feeds:,} mutations of {len(seeds(ask.feeds))} feeds and parts of feeds"
    return Row("hostile feeds", sizes, target, measured, kept)
