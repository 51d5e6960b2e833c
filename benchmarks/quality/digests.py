"""The digests of the sixteen shipped topics on judged days: what is posted, how much of it is off topic, and what is missed.

`judged/README.md` says what was judged and how. Each topic's digest of a day is chosen by `bot.digest.selection.select` as
for a channel that was posted nothing before. The days for tuning are left out, unless they are asked for by
BROADSHEET_JUDGED=tuning. Beside it stands what the ranking that shipped before would have posted.

A digest's recall is how many of the papers that are worth it were posted, of as many as there was room for.
"""

import asyncio
import csv
import json
import lzma
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from benchmarks.quality.embedding import Embedding
from benchmarks.quality.figures import Figure, of_shares
from benchmarks.quality.inputs import Inputs
from bot.digest.selection import SelectionContext, select
from bot.models import DigestRequest, Item, Kind, Limits, Link, Topic
from bot.models.vectors import pack
from bot.rank import ItemIndex, all_items, description_text
from bot.settings.topic_packs import load_packs

DAYS: Mapping[str, tuple[str, ...]] = {
    "tuning": ("2026-03-10", "2026-03-24"),
    "figures": ("2026-03-17", "2026-03-31"),
}
_FOLDER = Path(__file__).parent / "judged"
_OFF, _WORTH = 0, 2
_OFF_TOPIC = 0.10
_THIN = 2  # entries
_NOON = timedelta(hours=12)

Share = Callable[["Judged"], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A digest of a topic on a day: the keys it posts, those over the bar, and the grades of that topic and day by key."""

    topic: str
    day: str
    posted: Sequence[str]
    over: Collection[str]
    grades: Mapping[str, int]

    @property
    def graded(self) -> list[int]:
        """The grades of what was posted, where there is one."""
        return [self.grades[key] for key in self.posted if key in self.grades]

    @property
    def worth(self) -> frozenset[str]:
        """What is worth it."""
        return frozenset(key for key, grade in self.grades.items() if grade == _WORTH)


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures of all topics, and the shares that are off topic and that are found of each."""
    days = DAYS[os.environ.get("BROADSHEET_JUDGED", "figures")]
    ours, before = made(days, load_packs(), given.embedding), shipped_before(days)
    yield from _figures("judged days", ours, before)
    for topic in sorted({each.topic for each in ours}):
        its, earlier = ([each for each in some if each.topic == topic] for some in (ours, before))
        yield from list(_figures(f"judged days, {topic}", its, earlier))[:3]


def made(days: Sequence[str], topics: Mapping[str, Topic], embedding: Embedding | None) -> list[Judged]:
    """Return the digests that the topics make of the days."""
    found = []
    for day in days:
        items, now = papers(day), datetime.fromisoformat(day).replace(tzinfo=UTC) + _NOON
        vectors = asyncio.run(embedding.packed(items)) if embedding else {}
        index = ItemIndex(items, {}, now, vectors=vectors)
        for name, topic in sorted(topics.items()):
            context = SelectionContext(examples=topic.examples, vectors=_of_texts(topic, embedding))
            chosen = select(DigestRequest(topic, "local", "here", limits=Limits()), all_items(index), context)
            posted = [card.ranked.item.key for card in chosen.cards]
            over = {each.item.key for each in chosen.ranked if each.relevance >= topic.min_score}
            found.append(Judged(name, day, posted, over, grades().get((day, name), {})))
    return found


def _of_texts(topic: Topic, embedding: Embedding | None) -> dict[str, bytes]:
    texts = [*filter(None, [description_text(topic)]), *topic.examples]
    return dict(zip(texts, pack(asyncio.run(embedding.texts(texts))), strict=True)) if embedding else {}


def shipped_before(days: Sequence[str]) -> list[Judged]:
    """Return what was posted before; what was over the bar then was not kept."""
    posted: dict[tuple[str, str], list[str]] = {}
    for row in _rows("before.tsv"):
        posted.setdefault((row["day"], row["topic"]), []).append(f"arxiv:{row['id']}")
    return [
        Judged(topic, day, posted.get((day, topic), []), (), of_it)
        for (day, topic), of_it in sorted(grades().items())
        if day in days
    ]


def papers(day: str) -> list[Item]:
    """Return the papers of a judged day, as its sources would make them, without authors."""
    with lzma.open(_FOLDER / "papers.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [_paper(row) for row in map(json.loads, lines) if row["day"] == day]


def _paper(row: Mapping[str, object]) -> Item:
    day = datetime.fromisoformat(str(row["day"])).replace(tzinfo=UTC)
    code = str(row.get("code") or "")
    upvotes, categories, keywords = row.get("upvotes"), row["categories"], row.get("keywords") or ()
    assert isinstance(categories, list)
    assert isinstance(keywords, list | tuple)
    return Item(
        key=f"arxiv:{row['id']}",
        kind=Kind.PAPER,
        title=str(row["title"]),
        abstract=str(row["abstract"]),
        categories=tuple(categories),
        keywords=tuple(keywords),
        sources=("arxiv", "huggingface") if upvotes is not None else ("arxiv",),
        links=(Link("abstract", f"https://arxiv.org/abs/{row['id']}"), *([Link("code", code)] if code else [])),
        published=day,
        appeared=day,
        seen=day,
        comment=str(row.get("comment") or ""),
        upvotes=upvotes if isinstance(upvotes, int) else None,
    )


@cache
def grades() -> Mapping[tuple[str, str], Mapping[str, int]]:
    """Return the grades by day and topic, each by the paper's key."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in _rows("grades.tsv"):
        found.setdefault((row["day"], row["topic"]), {})[f"arxiv:{row['id']}"] = int(row["grade"])
    return found


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


# --- figures


def _figures(about: str, ours: Sequence[Judged], before: Sequence[Judged]) -> Iterator[Figure]:
    def both(name: str, share: Share, *, lower: bool = False, reach: float | None = None) -> Figure:
        mine, earlier = (
            of_shares(method, [share(each) for each in some]) for method, some in (("ours", ours), ("before", before))
        )
        return Figure(about, name, [mine], [earlier], len(ours), "digests", reach, percent=True, lower=lower)

    yield both("off topic, of what is posted", _off, lower=True, reach=_OFF_TOPIC)
    yield both("worth it, of what is posted", _worth)
    yield both("posted, of what is worth it and there was room for", _found)
    over = of_shares("ours", [_over(each) for each in ours])
    yield Figure(about, "over the bar, of what is worth it", [over], [], len(ours), "digests", percent=True)
    yield both("entries, of seven", lambda each: (len(each.posted), 7.0))
    yield both("digests of two entries or fewer", lambda each: (float(len(each.posted) <= _THIN), 1.0))
    yield both("posted, not judged", lambda each: (len(each.posted) - len(each.graded), len(each.posted)), lower=True)


def _off(digest: Judged) -> tuple[float, float]:
    return sum(grade == _OFF for grade in digest.graded), len(digest.graded)


def _worth(digest: Judged) -> tuple[float, float]:
    return sum(grade == _WORTH for grade in digest.graded), len(digest.graded)


def _found(digest: Judged) -> tuple[float, float]:
    return len(digest.worth & set(digest.posted)), min(len(digest.worth), Limits().entries)


def _over(digest: Judged) -> tuple[float, float]:
    return len(digest.worth & set(digest.over)), len(digest.worth)
