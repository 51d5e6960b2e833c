"""Stand in for arXiv, Hugging Face and GitHub with their recorded answers, so that the demo needs no network.

The demo's settings point every base URL here; from there on everything is the real path: requests over a real socket,
parsing, storing, ranking. What was not recorded is answered as the real service answers when it has nothing.
"""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar
from xml.sax.saxutils import escape

from aiohttp import web

_ENTRY = re.compile(r"  <entry>.*?</entry>\n", re.DOTALL)
_TERM = re.compile(r'<category term="([^"]+)"/>')
_PAGE = 100  # the most that GitHub and Hugging Face give at once
_BOUND = re.compile(r"(stars|forks|pushed|created|archived|fork|is):(\S+)")
_RANGE = re.compile(r"(>=|<=|>|<)?([^.]+?)?(?:\.\.(.+))?$")

_Value = TypeVar("_Value", int, str)
Repository = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recordings:
    """What was recorded, in memory: the feed's head and entries, Daily Papers by day, repositories by search."""

    feed_head: str
    feed_entries: tuple[tuple[frozenset[str], str, str], ...]  # all categories, the primary one, the entry as it stands
    days: Mapping[str, Sequence[object]]
    searches: Mapping[frozenset[str], Sequence[Repository]]


def recorded() -> Recordings:
    """Read the package's recordings; blocks, so call it in a thread."""
    feed = _unpacked("arxiv.atom.gz")
    entries = [(_TERM.findall(entry), entry) for entry in _ENTRY.findall(feed)]
    searches = json.loads(_unpacked("github.json.gz"))
    return Recordings(
        feed_head=feed[: feed.index("  <entry>")],
        feed_entries=tuple((frozenset(terms), terms[0], entry) for terms, entry in entries if terms),
        days=json.loads(_unpacked("huggingface.json.gz")),
        searches={frozenset(words.split()): found for words, found in searches.items()},
    )


def _unpacked(name: str) -> str:
    return gzip.decompress((files("adapters.cli.demo") / "recordings" / name).read_bytes()).decode()


@asynccontextmanager
async def replay() -> AsyncIterator[str]:
    """Serve the recordings on a free port of 127.0.0.1 and give the address, without a slash at its end.

    `/atom/<categories>`, `/api/query` and `/oai` are arXiv's, `/api/daily_papers` is Hugging Face's and
    `/search/repositories` is GitHub's; every other path is a 404.
    """
    runner = web.AppRunner(_app(await asyncio.to_thread(recorded)), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def _app(known: Recordings) -> web.Application:
    async def announcements(request: web.Request) -> web.Response:
        return _xml(feed_of(known, request.match_info["categories"]), "application/atom+xml")

    async def query(request: web.Request) -> web.Response:
        return _xml(no_results(request.query_string), "application/atom+xml")

    async def oai(request: web.Request) -> web.Response:
        return _xml(no_records(dict(request.query)), "text/xml")

    async def daily_papers(request: web.Request) -> web.Response:
        return web.json_response(papers_of(known, request.query))

    async def search(request: web.Request) -> web.Response:
        return web.json_response(repositories_of(known, request.query))

    async def elsewhere(request: web.Request) -> web.Response:
        return web.json_response({"message": "Not Found", "status": "404"}, status=404)

    app = web.Application()
    app.router.add_get("/atom/{categories}", announcements)
    app.router.add_get("/api/query", query)
    app.router.add_get("/oai", oai)
    app.router.add_get("/api/daily_papers", daily_papers)
    app.router.add_get("/search/repositories", search)
    app.router.add_route("*", "/{rest:.*}", elsewhere)
    return app


def _xml(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8")


# --- arXiv ---------------------------------------------------------------------------------------------------------


def feed_of(known: Recordings, categories: str) -> str:
    """Return the announcement feed for `cs.AI+cs.CL`, a paper whose primary category is not asked for as a cross-list."""
    asked = frozenset(re.split(r"[+ ]", categories))
    head = known.feed_head.replace("CATEGORIES", escape(categories.replace(" ", "+"), {'"': "&quot;"}))
    return head + "".join(_announced(entry, primary in asked) for _, primary, entry in _listed(known, asked)) + "</feed>\n"


def _listed(known: Recordings, asked: frozenset[str]) -> list[tuple[frozenset[str], str, str]]:
    return [found for found in known.feed_entries if found[0] & asked]


def _announced(entry: str, primary: bool) -> str:
    if primary:
        return entry
    return entry.replace("Announce Type: new ", "Announce Type: cross ", 1).replace(
        "<arxiv:announce_type>new<", "<arxiv:announce_type>cross<", 1
    )


def no_results(asked: str) -> str:
    """Return what arXiv's API answers when a query finds nothing."""
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" \
xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/none</id>
  <title>arXiv Query: {escape(asked)}</title>
  <updated>2026-04-01T04:00:00Z</updated>
  <opensearch:itemsPerPage>0</opensearch:itemsPerPage>
  <opensearch:totalResults>0</opensearch:totalResults>
  <opensearch:startIndex>0</opensearch:startIndex>
</feed>
"""


def no_records(asked: Mapping[str, str]) -> str:
    """Return what an OAI-PMH server answers when nothing matches (openarchives.org, error `noRecordsMatch`)."""
    verb = escape(asked.get("verb", ""), {'"': "&quot;"})
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">
  <responseDate>2026-04-01T04:00:00Z</responseDate>
  <request verb="{verb}">http://oaipmh.arxiv.org/oai</request>
  <error code="noRecordsMatch">No records match this request.</error>
</OAI-PMH>
"""


# --- Hugging Face --------------------------------------------------------------------------------------------------


def papers_of(known: Recordings, asked: Mapping[str, str]) -> Sequence[object]:
    """Return a page of a day's papers; a day that was not recorded has none."""
    return known.days.get(asked.get("date", ""), ())[_slice(_whole(asked.get("p"), 0), _whole(asked.get("limit"), 50))]


# --- GitHub --------------------------------------------------------------------------------------------------------


def repositories_of(known: Recordings, asked: Mapping[str, str]) -> dict[str, object]:
    """Return a page of a search. Its bounds on stars, forks and pushes hold; a bound on a time not recorded matches none."""
    text = asked.get("q", "")
    bounds = _BOUND.findall(text)
    found = [each for each in known.searches.get(words_of(text), ()) if all(_within(each, *bound) for bound in bounds)]
    field = {"stars": "stargazers_count", "forks": "forks_count", "updated": "pushed_at"}.get(asked.get("sort", ""))
    if field:
        found.sort(key=lambda each: each[field], reverse=asked.get("order") != "asc")
    page = _slice(max(_whole(asked.get("page"), 1) - 1, 0), _whole(asked.get("per_page"), 30))
    return {"total_count": len(found), "incomplete_results": False, "items": found[page]}


def words_of(search: str) -> frozenset[str]:
    """Return the words by which a search was recorded: without its bounds on numbers, times and states."""
    return frozenset(_BOUND.sub(" ", search).lower().split())


def _within(repository: Repository, field: str, bound: str) -> bool:
    name = {"stars": "stargazers_count", "forks": "forks_count", "pushed": "pushed_at", "created": "created_at"}.get(field)
    if name is None:  # archived:false and its like: not recorded, and nothing recorded is known to be otherwise
        return True
    value = repository.get(name)
    parts = _RANGE.match(bound)
    if value is None or parts is None:
        return False
    sign, low, high = parts.groups()
    return _compares(value, sign or (">=" if ".." in bound else ""), low) and (not high or _compares(value, "<=", high))


def _compares(value: int | str, sign: str, bound: str | None) -> bool:
    if bound is None or bound == "*":
        return True
    if isinstance(value, int):
        order = _sign(value, _whole(bound, 0))
    else:
        order = _sign(value[: len(bound)], bound)  # `pushed:2026-03` means the month
    return {">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0}.get(sign, order == 0)


def _sign(left: _Value, right: _Value) -> int:
    return (left > right) - (left < right)


def _slice(page: int, size: int) -> slice:
    size = max(1, min(size, _PAGE))
    return slice(page * size, (page + 1) * size)


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else otherwise
