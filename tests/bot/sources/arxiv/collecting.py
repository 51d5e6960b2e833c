"""Collecting from an arXiv that answers on the loopback interface."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import SourceUnavailable
from bot.http.client import Http
from bot.models import Batch, SourceState
from bot.settings.sources import ArxivSettings
from bot.sources.arxiv.source import ArxivSource, fingerprint
from tests.bot.sources.arxiv.answers import results
from tests.fakes.web import Answer, Asked, Web

TODAY, TUESDAY = "2026-04-01", "2026-03-31"
NEW = [("2603.30001v1", "new"), ("2603.20001v1", "cross"), ("2501.00001v3", "replace")]
LIMIT = Answer("Rate exceeded.", status=429)


def make(web: Web, http: Http, **changed: object) -> ArxivSource:
    parts = {name: changed.pop(name) for name in ("papers", "requested", "wanted") if name in changed}
    urls = {"feed_url": f"{web.url}/atom", "api_url": f"{web.url}/api", "oai_url": f"{web.url}/oai"}
    settings = ArxivSettings.model_validate({"categories": ("cs.AI", "cs.CL"), **urls, **changed})
    return ArxivSource(http, settings, **parts)  # type: ignore[arg-type]


def serve(
    web: Web, *, feed: Answer | bytes | None = None, api: Answer | bytes | None = None, oai: Answer | bytes | None = None
) -> None:
    """Answer at each service; one that is not named answers 500."""
    for path, answer in (("/atom/cs.AI+cs.CL", feed), ("/api", api), ("/oai", oai)):
        web.answer(path, Answer(answer) if isinstance(answer, bytes) else answer or Answer(status=500))


def by_window(papers: Callable[[str, str], list[tuple[str, str]]], web: Web) -> None:
    """Answer the API's date query by what `papers` gives for the window's ends (YYYYMMDDHHMM)."""

    def rule(asked: Asked) -> Answer | None:
        if asked.path != "/api":
            return None
        first, last = asked.query["search_query"].rpartition("[")[2].rstrip("]").split(" TO ")
        found = papers(first, last)
        start = int(asked.query["start"])
        return Answer(results(found[start : start + int(asked.query["max_results"])], len(found)))

    web.rule(rule)


def one_paper_a_day(first: str, last: str) -> list[tuple[str, str]]:
    """A paper an hour before each window's end, under an identifier made of its date."""
    end = datetime.strptime(last, "%Y%m%d%H%M").replace(tzinfo=UTC) - timedelta(hours=1)
    return [(f"2603.{end:%m%d}0", end.isoformat())]


def mark(day: str, source: ArxivSource) -> str:
    return json.dumps({"day": day, "categories": fingerprint(("cs.AI", "cs.CL")), "papers": ""})


async def collect(source: ArxivSource, now: datetime, day: str = "", failures: int = 0) -> list[Batch]:
    state = SourceState(name="arxiv", watermark=mark(day, source) if day else "", failures=failures)
    return [batch async for batch in source.collect(state, now)]


async def collect_until_error(
    source: ArxivSource, now: datetime, day: str = "", failures: int = 0
) -> tuple[list[Batch], SourceUnavailable]:
    batches: list[Batch] = []
    state = SourceState(name="arxiv", watermark=mark(day, source) if day else "", failures=failures)
    try:
        async for batch in source.collect(state, now):
            batches.append(batch)
    except SourceUnavailable as error:
        return batches, error
    pytest.fail("arXiv was expected not to answer")


def reached(batches: list[Batch]) -> str:
    marks = [json.loads(batch.watermark)["day"] for batch in batches if batch.watermark]
    assert marks == sorted(marks)
    return marks[-1] if marks else ""


def keys(batches: list[Batch]) -> list[str]:
    return [item.key for batch in batches for item in batch.items]


def notes(batches: list[Batch]) -> str:
    return "; ".join(dict.fromkeys(note for batch in batches for note in batch.notes))


def paths(web: Web) -> list[str]:
    return [asked.path for asked in web.asked]
