"""arXiv, Hugging Face, GitHub and two feeds, over sockets, which tell of the same works on several days.

What is told does not change within a day. A paper stands in arXiv's announcement, in the list of the day, which counts more
upvotes each day for as long as it is read again, in a lab's feed under an address of its own, and the day after in a
journal's feed, where nothing but title and author says which it is. Repositories have more stars each day, one of them has
a release each day, one was renamed. Every third announcement is not in the feed and has to be read by submission date.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from time import monotonic

from bot.sources.arxiv.calendar import window
from tests.bot.sources.arxiv import answers
from tests.bot.sources.replay import release, repository
from tests.fakes.web import Answer, Asked, Web, serving

PAPERS = 8  # of an announcement
PICKED = 5  # of them stand in the list of the day
REREAD = 3  # days for which a list is read again
_BEAT = 0.25  # seconds between moments at which all answer: what several bring of one work is then stored at once
_FIRST = date(2026, 3, 31)  # a Tuesday
_DAY = timedelta(days=1)
_NAMES = ("arxiv", "huggingface", "github", "lab", "journal")
_TITLE = re.compile(rb"<title>Paper (\d{4}\.\d{5})(?:v1)?</title>")
_WATCHED = "lab/tool0"
_OLD, _NEW = "lab/old", "lab/renamed"


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be known in the end: by a name under which a work was told, its key; and by key what was said last."""

    names: Mapping[str, str]
    sources: Mapping[str, frozenset[str]]  # all that told of it
    upvotes: Mapping[str, int]
    stars: Mapping[str, int]
    releases: Mapping[str, str]

    @property
    def keys(self) -> set[str]:
        """Return the keys of all works."""
        return set(self.names.values())


@dataclass(slots=True)
class World:
    """What all of them tell on a day; `place` is its place among `days`."""

    days: Sequence[date]
    place: int = 0

    @property
    def today(self) -> date:
        """Return which day it is."""
        return self.days[self.place]

    def announced(self, place: int) -> list[str]:
        """Return the numbers of what arXiv announces on a day."""
        return [_number(self.days[place], place, each) for each in range(1, PAPERS + 1)]

    def picked(self, place: int) -> list[str]:
        """Return the numbers of what Hugging Face lists on a day: some of those, and two that arXiv announced before."""
        return [*self.announced(place)[:PICKED], *(_number(self.days[place], place, 900 + each) for each in (1, 2))]

    def upvotes(self, place: int, today: date) -> int:
        """Return how many a list of a day counts for each of its papers."""
        return 5 + 3 * sum(self.days[place] < day <= today for day in self.days)

    def stars(self, place: int) -> int:
        """Return how many the repository of a day has."""
        return 100 + 10 * place + 7 * self.place

    def told(self) -> Told:
        """Return what is to be known when all of today is read."""
        upto, before = range(self.place + 1), range(self.place)
        by_source = {
            "arxiv": {f"arxiv:{number}" for place in upto for number in self.announced(place)},
            "huggingface": {f"arxiv:{number}" for place in upto for number in self.picked(place)},
            "github": {f"github:lab/tool{place}" for place in upto} | {f"github:{_NEW}"},
            "feed:lab": {key for _, link, guid in self._posts() for key in [guid.lower() or f"url:{link}"]},
            "feed:journal": {f"arxiv:{self.announced(place)[1]}" for place in before},
        }
        by_source["huggingface"] |= {f"github:lab/tool{place}" for place in upto}
        names = {key: key for keys in by_source.values() for key in keys}
        names |= {f"url:{link}": guid.lower() for _, link, guid in self._posts() if guid}
        names |= {f"url:{link}": f"arxiv:{self.announced(place)[1]}" for place, (_, link, _) in enumerate(self._said())}
        names[f"github:{_OLD}"] = f"github:{_NEW}"
        upvotes = {
            f"arxiv:{number}": self.upvotes(place, self._read_last(place)) for place in upto for number in self.picked(place)
        }
        stars = {f"github:lab/tool{place}": self.stars(place) for place in upto}
        sources = {key: frozenset(name for name, keys in by_source.items() if key in keys) for key in set(names.values())}
        return Told(names, sources, upvotes, stars, {f"github:{_WATCHED}": f"v{self.place}"})

    def _read_last(self, place: int) -> date:
        """Return the last day on which the list of a day was read again."""
        return max(day for day in self.days[: self.place + 1] if day - self.days[place] <= REREAD * _DAY)

    # --- what is answered

    def answer(self, asked: Asked) -> Answer | None:
        """Answer as the service does that is asked; whoever waits for an answer has it at the same moment."""
        found = self._answered(asked)
        return None if found is None else replace(found, delay=_BEAT - monotonic() % _BEAT)

    def _answered(self, asked: Asked) -> Answer | None:
        if asked.path.startswith("/atom/"):
            return Answer(status=503) if self.place % 3 == 1 else Answer(_titled(self._feed()))
        if asked.path == "/api":
            return Answer(_titled(self._by_date(asked)))
        if asked.path == "/api/daily_papers":
            return Answer(json.dumps(self._list(asked)))
        if asked.path in ("/lab", "/journal"):
            return Answer(_rss(self._posts() if asked.path == "/lab" else self._said()))
        found = self._of_github(asked.path)
        return None if found is None else Answer(json.dumps(found))

    def _feed(self) -> bytes:
        return answers.feed(self.today.isoformat(), [(f"{each}v1", "new") for each in self.announced(self.place)])

    def _by_date(self, asked: Asked) -> bytes:
        """Answer the query for what was submitted between two instants."""
        if "[" not in asked.query.get("search_query", ""):
            return answers.results([], 0)
        first, last = asked.query["search_query"].rpartition("[")[2].rstrip("]").split(" TO ")
        told = [
            (number, window(self.days[place])[1] - timedelta(hours=1))
            for place in range(self.place + 1)
            for number in self.announced(place)
        ]
        found = [(number, f"{at:%Y-%m-%dT%H:%M:%SZ}") for number, at in told if first <= f"{at:%Y%m%d%H%M}" <= last]
        start = int(asked.query["start"])
        return answers.results(found[start : start + int(asked.query["max_results"])], len(found))

    def _list(self, asked: Asked) -> list[object]:
        day = date.fromisoformat(asked.query["date"])
        if day not in self.days[: self.place + 1] or int(asked.query.get("p", "0")):
            return []
        place = self.days.index(day)
        return [{"paper": self._listed(place, number)} for number in self.picked(place)]

    def _listed(self, place: int, number: str) -> Mapping[str, object]:
        paper: dict[str, object] = {
            "id": number,
            "title": _title(number),
            "summary": f"We show {number}.",
            "authors": [{"name": "Alan Turing"}],
            "upvotes": self.upvotes(place, self.today),
            "ai_keywords": ["kernels"],
        }
        if number == self.picked(place)[0]:  # whose stars are known here at second hand, and late
            paper |= {"githubRepo": f"https://github.com/lab/tool{place}", "githubStars": 1}
        return paper

    def _posts(self) -> Iterator[tuple[str, str, str]]:
        for place in range(self.place + 1):
            yield f"What we did on day {place}", f"https://lab.example/post-{place}", ""
            for number in self.announced(place)[:2]:
                yield _title(number), f"https://lab.example/{number}", f"arXiv:{number}"

    def _said(self) -> Iterator[tuple[str, str, str]]:
        """What was announced before today: an entry that comes first is a work of its own, as it was for one process."""
        for place in range(self.place):
            number = self.announced(place)[1]
            yield _title(number), f"https://journal.example/{number}", ""

    def _of_github(self, path: str) -> object:
        if path == "/search/repositories":
            found = [self._repository(place) for place in range(self.place + 1)]
            return {"total_count": len(found), "incomplete_results": False, "items": found}
        if path == f"/repos/{_WATCHED}":
            return self._repository(0)
        if path == f"/repos/{_OLD}":
            return repository(_NEW, pushed_at=f"{self.today}T03:00:00Z")
        if path == f"/repos/{_WATCHED}/releases":
            return [release(f"v{place}", self.days[place].isoformat()) for place in range(self.place + 1)]
        return [] if path.endswith("/releases") else None

    def _repository(self, place: int) -> Mapping[str, object]:
        return repository(
            f"lab/tool{place}",
            created_at=f"{self.days[place]}T02:00:00Z",
            pushed_at=f"{self.today}T03:00:00Z",
            stargazers_count=self.stars(place),
            homepage=f"https://arxiv.org/abs/{self.picked(place)[0]}",
        )


def weekdays(number: int) -> list[date]:
    """Return so many days on which arXiv announces, one after the other."""
    days = (_FIRST + number * _DAY for number in range(2 * number + 7))
    return [day for day in days if day.weekday() < 5][:number]


@asynccontextmanager
async def telling(world: World) -> AsyncIterator[str]:
    """Run all five while the block lasts; yield the settings by which they are asked."""
    async with AsyncExitStack() as stack:
        webs = {name: await stack.enter_async_context(serving()) for name in _NAMES}
        for web in webs.values():
            web.rule(world.answer)
        yield _settings(webs)


def _settings(webs: Mapping[str, Web]) -> str:
    """Each is a host of its own: what paces one holds up no other."""
    arxiv, hugging_face, github, lab, journal = (webs[name].url for name in _NAMES)
    return f"""
[feed_guard]
allow_hosts = ["127.0.0.1"]
[arxiv]
categories = ["cs.AI"]
seconds_between = 0
feed_url = "{arxiv}/atom"
api_url = "{arxiv}/api"
oai_url = "{arxiv}/oai"
[huggingface]
reread_days = {REREAD}
base_url = "{hugging_face}"
[github]
token = "ghp_of_the_soak"
searches = ["kernels created:>2026-01-01"]
watch = ["{_WATCHED}", "{_OLD}"]
base_url = "{github}"
[[feeds]]
name = "lab"
url = "{lab}/lab"
[[feeds]]
name = "journal"
url = "{journal}/journal"
"""


def at(day: date, minutes: int) -> datetime:
    """Return an instant of a day on which the announcement is out."""
    return datetime(day.year, day.month, day.day, 7, tzinfo=UTC) + timedelta(minutes=min(minutes, 15 * 60))


def _number(day: date, place: int, each: int) -> str:
    return f"{day:%y%m}.{place:02}{each:03}"


def _title(number: str) -> str:
    return f"A study of sparse kernels numbered {number}"


def _titled(answer: bytes) -> bytes:
    """Give arXiv's papers the titles by which the journal knows them."""
    return _TITLE.sub(lambda found: f"<title>{_title(found[1].decode())}</title>".encode(), answer)


def _rss(entries: Iterator[tuple[str, str, str]]) -> str:
    told = "".join(
        f"<item><title>{title}</title><link>{link}</link><dc:creator>Ada Lovelace</dc:creator>"
        f"<guid isPermaLink='false'>{guid or link}</guid></item>"
        for title, link, guid in entries
    )
    head = "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>A feed</title>"
    return f"{head}{told}</channel></rss>"
