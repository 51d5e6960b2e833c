"""R15: a day on which one source fails, in twenty ways, and the day after.

arXiv, Hugging Face, GitHub and a lab's feed answer on the loopback interface, with papers and repositories drawn by the
seed; the real sources, collector and publisher read them into a database. On the first day all is well; on the second one
source fails, and the digest must be made all the same, and its footer, or the collection, must name the gap; on the third
it answers again, and then everything of both days must be known, whichever of its services tells of it.
"""

import json
import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.collect.collector import Collected, Collector
from bot.digest.publisher import Publisher
from bot.http.client import Http, Politeness
from bot.models import Digest, DigestRequest, Health, Limits, Topic
from bot.ports.source import Source
from bot.query import parse
from bot.settings.sources import FeedSettings, GitHubSettings, HuggingFaceSettings
from bot.sources.arxiv.calendar import window
from bot.sources.feeds.source import FeedSource
from bot.sources.github.source import GitHubSource
from bot.sources.huggingface.source import HuggingFaceSource
from bot.sources.registry import AUTHORITY
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.bot.sources.arxiv import answers, collecting
from tests.bot.sources.replay import recorded, repository
from tests.fakes.web import Answer, Asked, Web, serving

DAYS = (date(2026, 3, 31), date(2026, 4, 1), date(2026, 4, 2))  # Tuesday to Thursday
_AT = timedelta(hours=7)
_ARXIV = ("/atom/cs.AI+cs.CL", "/api", "/oai")
_HF, _GITHUB, _FEED = "/api/daily_papers", "/search/repositories", "/feed"
_OLD = answers.recorded("api-page.xml.gz")  # what was answered on the day when arXiv ignored sorting and dates
_LIMIT = Answer("Rate exceeded.", status=429)
_TITLES = {"arxiv": "arXiv", "huggingface": "Hugging Face", "github": "GitHub", "feed:lab": "The Lab"}


@dataclass(frozen=True, slots=True)
class Fault:
    """What a source does on the second day: by path, the answer; None: it answers as ever, with its bytes changed."""

    name: str
    source: str
    answers: dict[str, Answer]
    cut: float = 0.0  # of the usual answer of the first path, so much is sent
    is_said: bool = True  # whether anybody can know that there is a gap


def _faults() -> tuple[Fault, ...]:
    feed, api, oai = _ARXIV
    down, page = Answer(status=503), Answer("<html><body>Sorry</body></html>")
    empty = Answer(answers.results([], 0))
    return (
        Fault("arXiv: the feed is down", "arxiv", {feed: down}),
        Fault("arXiv: everything is down", "arxiv", {feed: down, api: down, oai: down}),
        Fault("arXiv: too many requests", "arxiv", {feed: _LIMIT, api: _LIMIT, oai: _LIMIT}),
        Fault("arXiv: the feed is empty", "arxiv", {feed: Answer(answers.feed(DAYS[1].isoformat(), []))}),
        Fault("arXiv: empty feed, empty page", "arxiv", {feed: Answer(answers.feed(DAYS[1].isoformat(), [])), api: empty}),
        Fault("arXiv: no feed, empty page", "arxiv", {feed: down, api: empty, oai: down}),
        Fault("arXiv: sorting and dates ignored", "arxiv", {feed: down, api: Answer(_OLD), oai: down}),
        Fault("arXiv: truncated XML", "arxiv", {api: down, oai: down}, cut=0.6),
        Fault("arXiv: web pages instead", "arxiv", {feed: page, api: page, oai: page}),
        Fault("arXiv: connections cut", "arxiv", {each: Answer(reset=True) for each in _ARXIV}),
        Fault("Hugging Face: down", "huggingface", {_HF: down}),
        Fault("Hugging Face: too many requests", "huggingface", {_HF: Answer("{}", 429, {"Retry-After": "60"})}),
        Fault("Hugging Face: another shape", "huggingface", {_HF: Answer(json.dumps({"papers": []}))}),
        Fault("Hugging Face: truncated JSON", "huggingface", {_HF: Answer('[{"paper": {"id": "2604.1')}),
        Fault("Hugging Face: an empty day", "huggingface", {_HF: Answer("[]")}, is_said=False),
        Fault("GitHub: 403, a secondary limit", "github", {_GITHUB: recorded("secondary-limits")[0].answer()}),
        Fault("GitHub: too many requests", "github", {_GITHUB: Answer("{}", 429, {"Retry-After": "60"})}),
        Fault("GitHub: another shape", "github", {_GITHUB: Answer(json.dumps({"things": []}))}),
        Fault("feed: down", "feed:lab", {_FEED: down}),
        Fault("feed: a web page instead", "feed:lab", {_FEED: Answer("<!DOCTYPE html><html><body>Sorry</body></html>")}),
    )


@dataclass(slots=True)
class World:
    """What there is on each day, by source: the keys that must be known, and how they are told."""

    chance: random.Random
    web: Web
    day: int = 0
    fault: Fault | None = None
    papers: dict[date, list[str]] = field(default_factory=dict)
    daily: dict[date, list[str]] = field(default_factory=dict)
    repositories: list[str] = field(default_factory=list)
    posts: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Draw what there is, and answer."""
        for number, day in enumerate(DAYS):
            self.papers[day] = [f"{day:%y%m}.{number + 1}{each:04}" for each in self._some(3, 12)]
            self.daily[day] = [f"{day:%y%m}.{number + 5}{each:04}" for each in self._some(1, 6)]
        self.web.rule(self.answer)

    def _some(self, least: int, most: int) -> list[int]:
        return self.chance.sample(range(1, 9999), self.chance.randint(least, most))

    def keys(self, source: str, day: date) -> set[str]:
        """Return what a source told first on a day."""
        if source == "arxiv":
            return {f"arxiv:{each}" for each in self.papers[day]}
        if source == "huggingface":
            return {f"arxiv:{each}" for each in self.daily[day]}
        number = DAYS.index(day)
        return {f"github:lab/tool{number}"} if source == "github" else {f"url:https://lab.example/{number}"}

    def answer(self, asked: Asked) -> Answer | None:
        """Answer as the service does on this day, or as the fault has it."""
        usual = self._usual(asked)
        fault = self.fault
        if fault is None or usual is None:
            return usual
        if fault.cut and asked.path == _ARXIV[0]:
            body = usual.body if isinstance(usual.body, bytes) else usual.body.encode()
            return Answer(body[: int(len(body) * fault.cut)])
        return fault.answers.get(asked.path, usual)

    def _usual(self, asked: Asked) -> Answer | None:
        today = DAYS[self.day]
        if asked.path == _ARXIV[0]:
            return Answer(answers.feed(today.isoformat(), [(f"{each}v1", "new") for each in self.papers[today]]))
        if asked.path == _ARXIV[1]:
            return self._api(asked)
        if asked.path == _ARXIV[2]:
            return Answer(status=503)
        if asked.path == _HF:
            return Answer(json.dumps(self._daily(asked)))
        if asked.path == _GITHUB:
            found = [
                repository(f"lab/tool{number}", pushed_at=f"{DAYS[number]}T03:00:00Z") for number in range(self.day + 1)
            ]
            return Answer(json.dumps({"total_count": len(found), "incomplete_results": False, "items": found}))
        if asked.path == _FEED:
            return Answer(self._feed())
        return None

    def _api(self, asked: Asked) -> Answer:
        if "[" not in asked.query.get("search_query", ""):
            return Answer(answers.results([], 0))
        first, last = asked.query["search_query"].rpartition("[")[2].rstrip("]").split(" TO ")
        told = {number: window(day)[1] - timedelta(hours=1) for day in DAYS[: self.day + 1] for number in self.papers[day]}
        found = [(number, f"{at:%Y-%m-%dT%H:%M:%SZ}") for number, at in told.items() if first <= f"{at:%Y%m%d%H%M}" <= last]
        start = int(asked.query["start"])
        return Answer(answers.results(found[start : start + int(asked.query["max_results"])], len(found)))

    def _daily(self, asked: Asked) -> list[object]:
        day = date.fromisoformat(asked.query["date"])
        if day not in DAYS[: self.day + 1] or int(asked.query.get("p", "0")):
            return []
        return [
            {"paper": {"id": each, "title": f"Paper {each}", "upvotes": 3, "summary": "We show it."}}
            for each in self.daily[day]
        ]

    def _feed(self) -> str:
        items = "".join(
            f"<item><title>Post {number}</title><link>https://lab.example/{number}</link></item>"
            for number in range(self.day + 1)
        )
        return f"<rss version='2.0'><channel><title>Lab</title>{items}</channel></rss>"


async def failing(ask: Ask) -> Row:
    """Let each fault happen so many times."""
    faults, wrong, done = _faults(), [], 0
    for turn in range(ask.size):
        for number, fault in enumerate(faults):
            found = await _three_days(fault, ask.seed * 10_000 + turn * 100 + number)
            done += 1
            if found:
                wrong.append(f"{fault.name}: {found}")
    measured = f"{done - len(wrong)} of {done} right" + "".join(f"; {each}" for each in dict.fromkeys(wrong[:50]))[:600]
    target = "the digest is made, the gap is named, nothing is lost the next day"
    return Row("source faults", f"{len(faults)} faults × {ask.size}", target, measured, not wrong)


async def _three_days(fault: Fault, seed: int) -> str:
    """Return what was wrong, "" when nothing was."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "b.db")
        await store.open()
        async with serving() as web, _sources(web) as sources:
            world = World(random.Random(seed), web)
            world.begin()
            await _one_day(world, store, sources)
            world.day, world.fault = 1, fault
            collected, digest = await _one_day(world, store, sources)
            world.day, world.fault = 2, None
            await _one_day(world, store, sources)
        wanted = {key for day in DAYS for name in _TITLES for key in world.keys(name, day)}
        known = await store.items.find(sorted(wanted))
        await store.close()
    found = [] if digest.entries else ["the digest of that day is empty"]
    if fault.is_said and not _is_said(fault, collected, digest):
        found.append("nobody said that there was a gap")
    if lost := wanted - set(known):
        found.append(f"{len(lost)} of {len(wanted)} were never known: {sorted(lost)[:3]}")
    return ", ".join(found)


async def _one_day(world: World, store: SqliteStore, sources: Sequence[Source]) -> tuple[Collected, Digest]:
    """Collect and make the digest of the day; return what became of the source in question, and the digest."""
    now = datetime.combine(DAYS[world.day], datetime.min.time(), UTC) + _AT
    collected = await Collector(store, AUTHORITY).collect(sources, now, force=True)
    topic = Topic(name="all", title="All", query=parse("paper OR post OR kernels"))
    publisher = Publisher(store, Extractive(), _TITLES)
    request = DigestRequest(topic, "slack:T1", "C1", limits=Limits(entries=100))
    (digest,) = await publisher.publish([request], now, record=True)
    name = world.fault.source if world.fault else "arxiv"
    return next(each for each in collected if each.state.name == name), digest


def _is_said(fault: Fault, collected: Collected, digest: Digest) -> bool:
    report = next((each for each in digest.coverage.sources if each.name == _TITLES[fault.source]), None)
    in_the_footer = report is not None and (report.health is not Health.OK or bool(report.note))
    return in_the_footer or collected.state.health is not Health.OK or bool(collected.state.note)


@asynccontextmanager
async def _sources(web: Web) -> AsyncIterator[list[Source]]:
    """Yield the four sources, which ask without waiting, and never twice."""
    quick = {web.url.removeprefix("http://"): Politeness(seconds_between=0, connections=1, retries=0)}
    http = Http(user_agent="Broadsheet/soak", timeout=60, politeness=quick)
    guarded = Http(user_agent="Broadsheet/soak", guarded=True, allow=frozenset({"127.0.0.1"}), timeout=60, politeness=quick)
    try:
        yield [
            collecting.make(web, http),
            HuggingFaceSource(http, HuggingFaceSettings.model_validate({"base_url": web.url, "reread_days": 2})),
            GitHubSource(
                http,
                GitHubSettings.model_validate({"base_url": web.url, "readmes": 0, "releases": 0, "searches": ["kernels"]}),
                sleep=_no_wait,
            ),
            FeedSource(guarded, FeedSettings(name="lab", url=f"{web.url}{_FEED}", title="The Lab")),
        ]
    finally:
        await http.close()
        await guarded.close()


async def _no_wait(seconds: float) -> None:
    """Waits for nothing."""
