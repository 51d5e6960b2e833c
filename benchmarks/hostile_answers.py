"""A web server that answers as a source would that means harm: what is large, deep, slow, packed or cut into pieces."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

HOST = "127.0.0.1"
_RSS = b'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>%s</channel></rss>'
_ATOM = b'<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">%s</feed>'
_LONGEST = 2 * 2**20  # bytes that a feed may have
_DRIP = 0.001  # seconds between two pieces

Body = Callable[[], bytes]


def _item(number: int, text: str) -> bytes:
    return (
        f"<item><title>Entry {number}</title><link>https://lab.example/{number}</link><guid>g{number}</guid>"
        f"<description>{text}</description></item>"
    ).encode()


def _full() -> bytes:
    words = "the model reads many words and answers " * 95
    return _RSS % b"".join(_item(number, words) for number in range(500))


def _entries() -> bytes:
    return _RSS % (b"<item><link>https://a.example/</link></item>" * 45_000)


def _attributes() -> bytes:
    return _RSS % (b"<item " + b" ".join(b'a%d=""' % number for number in range(100_000)) + b"/>")


def _entities() -> bytes:
    declared = b"".join(b'<!ENTITY e%d "%s">' % (each, b"&e%d;" % (each - 1) * 10) for each in range(1, 10))
    return b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">' + declared + b"]><rss>&e9;</rss>"


def _arxiv() -> bytes:
    """Return 2,000 entries, as many as arXiv's feed may have, each with many authors: 30 MB."""
    entry = (
        b"<entry><id>oai:arXiv.org:2606.%05dv1</id><title>A Paper</title><summary>arXiv:2606.%05dv1 Announce Type: new\n"
        b"Abstract: We show.</summary><category term='cs.LG'/><arxiv:announce_type xmlns:arxiv='http://arxiv.org/schemas/atom'>"
        b"new</arxiv:announce_type><dc:creator xmlns:dc='http://purl.org/dc/elements/1.1/'>%s</dc:creator></entry>"
    )
    authors = b", ".join(b"Name Of%d" % number for number in range(1000))
    return _ATOM % b"".join(entry % (number, number, authors) for number in range(2000))


def _papers() -> bytes:
    words = "words of an abstract " * 300
    paper = {"paper": {"id": "2606.00001", "title": "A paper", "summary": words, "authors": [{"name": "A B"}] * 20}}
    return json.dumps([paper] * 1000).encode()[: 8 * 2**20 - 2]


def _numbers() -> bytes:
    return b'{"total_count": 1, "items": [' + b",".join([b"[[],[]]"] * 900_000) + b"]}"


def _repositories() -> bytes:
    one = {"full_name": "owner/name", "description": "x" * 3000, "topics": ["a"] * 500, "owner": {"login": "owner"}}
    return json.dumps({"total_count": 1000, "items": [one] * 1300}).encode()


FEEDS: Mapping[str, Body] = {
    "full": _full,
    "entries": _entries,
    "attributes": _attributes,
    "deep": lambda: _RSS % (b"<item><description>" + b"&lt;div&gt;" * 100_000 + b"</description></item>"),
    "nested": lambda: b"<rss>" + b"<a>" * 300_000,
    "entities": _entities,
    "comments": lambda: b"<!-- a -->" * (_LONGEST // 10 - 10) + b"<rss/>",
    "blank": lambda: b" " * (_LONGEST - 10) + b"<rss/>",
    "nul": lambda: b"\0" * _LONGEST,
    "jsonfeed": lambda: b'{"version": "https://jsonfeed.org/version/1", "items": [' + b"[" * 100_000,
    "large": lambda: b"<rss>" + b" " * 50 * 2**20,
}
_OTHERS: Mapping[str, Body] = {"/arxiv": _arxiv, "/api/daily_papers": _papers, "/search/repositories": _repositories}
_PACKED = "bomb"  # a gzip file of 50 MB of nothing
_DRIPPED, _CUT = "drip", "pieces"  # slowly; in pieces of one byte


@asynccontextmanager
async def hostile_web() -> AsyncIterator[dict[str, Any]]:
    """Run the server; yield where it is, and what its feeds are called."""
    bodies = {path: make() for path, make in _bodies()}
    packed = gzip.compress(b" " * 50 * 2**20)

    async def answer(request: web.Request) -> web.StreamResponse:
        name = request.path.removeprefix("/")
        if name == _PACKED:
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
        if name in (_DRIPPED, _CUT):
            return await _in_pieces(request, bodies["/full"], slowly=name == _DRIPPED)
        body = bodies["/arxiv"] if name.startswith("arxiv") else bodies.get(request.path)
        return web.Response(status=404) if body is None else web.Response(body=body)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0).start()
    port = runner.addresses[0][1]
    try:
        names = [*FEEDS, _PACKED, _DRIPPED, _CUT]
        yield {"url": f"http://{HOST}:{port}", "host": f"{HOST}:{port}", "feeds": names}
    finally:
        await runner.cleanup()


def _bodies() -> Iterator[tuple[str, Body]]:
    yield from ((f"/{name}", make) for name, make in FEEDS.items())
    yield from _OTHERS.items()


async def _in_pieces(request: web.Request, body: bytes, *, slowly: bool) -> web.StreamResponse:
    """Send the body slowly, or as many pieces of one byte at once."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    size = 200 if slowly else 1
    transport = request.transport
    for at in range(0, len(body) if slowly else 200_000, size if slowly else 10_000):
        if transport is None or transport.is_closing():
            raise ConnectionResetError("nobody reads on")
        if slowly:
            await response.write(body[at : at + size])
            await asyncio.sleep(_DRIP)
        else:
            transport.write(b"".join(b"1\r\n%c\r\n" % each for each in body[at : at + 10_000]))
            await asyncio.sleep(0)
    await response.write_eof()
    return response
