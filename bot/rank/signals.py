"""What an item's score has whatever the topic: what the community thought of it, and how new it is.

Upvotes and stars are taken per day, on a logarithmic scale: counts of them grow like powers, so that the difference between
3 and 30 says about as much as that between 30 and 300. Freshness is 1 now and a half after one half-life: of a paper since
it is there to be read, of a repository since what happened to it last.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log1p

import numpy as np

from bot.models import Item, Kind, Reading
from bot.rank.events import Event, ago, in_words
from bot.rank.weights import (
    PAPER_HALF_LIFE,
    PICK,
    REPO_HALF_LIFE,
    STANDING_SHARE,
    STARS_FULL,
    STARS_STANDING,
    TOP,
    UPVOTES_FULL,
)
from bot.wording import counted

_DAY = timedelta(days=1)
_PICKED = "huggingface"  # the source whose every paper was picked by a person


@dataclass(frozen=True, slots=True)
class Gain:
    """How much was gained in the last days that were read."""

    count: int
    days: int

    @property
    def pace(self) -> float:
        """Per day."""
        return self.count / self.days


@dataclass(frozen=True, slots=True)
class CommunitySignals:
    """The paces of one item, per day; 0 where nothing is known."""

    upvotes: float
    stars: float
    gained: Gain | None  # the stars, when two readings show them


@dataclass(frozen=True, slots=True)
class DayScale:
    """What much is on this day, per day."""

    upvotes: float = UPVOTES_FULL
    stars: float = STARS_FULL


def community_signals(item: Item, readings: Sequence[Reading], now: datetime) -> CommunitySignals:
    """Return the item's paces: the larger of that over its whole life and that of the last days that were read."""
    lived = days_since(item.appeared or item.published or item.seen, now)
    voted = _gain([(each.day.toordinal(), each.upvotes) for each in readings]) if readings else None
    gained = _gain([(each.day.toordinal(), each.stars) for each in readings]) if readings else None
    created = days_since(item.published, now) if item.kind is Kind.REPO else None
    return CommunitySignals(
        upvotes=max(_pace(item.upvotes, lived), voted.pace if voted else 0.0),
        stars=gained.pace if gained else _pace(item.stars, created) if created is not None else 0.0,
        gained=gained,
    )


def day_scale(found: Iterable[CommunitySignals]) -> DayScale:
    """Return what much is among the items of a day: a quiet day does not make three upvotes much."""
    paces = list(found)
    return DayScale(
        upvotes=_top([each.upvotes for each in paces], UPVOTES_FULL),
        stars=_top([each.stars for each in paces], STARS_FULL),
    )


def community_value(item: Item, found: CommunitySignals, day: DayScale) -> float:
    """Return the community's word in 0–1: that of the signal which speaks loudest, and a step up for what was picked."""
    standing = STANDING_SHARE * _scale(item.stars or 0, STARS_STANDING)
    loudest = max(_scale(found.upvotes, day.upvotes), _scale(found.stars, day.stars), standing)
    return PICK + (1 - PICK) * loudest if _PICKED in item.sources else loudest


def community_reason(item: Item, found: CommunitySignals, happened: Sequence[Event] = ()) -> str:
    """Say it in words, from what was read; "" when there is nothing to say that what happened to it does not."""
    said = []
    if item.upvotes:
        said.append(f"{counted(item.upvotes, 'upvote')} on Hugging Face")
    elif _PICKED in item.sources:
        said.append("picked for Hugging Face Daily Papers")
    told = in_words(happened)
    if found.gained is not None and found.gained.count > 0:
        if "★ +" not in told:
            said.append(f"{counted(found.gained.count, 'star')} in {counted(found.gained.days, 'day')}")
    elif item.stars and "★" not in told:
        said.append(counted(item.stars, "star"))
    return ", ".join(said)


def days_since(moment: datetime | None, now: datetime) -> float | None:
    """Return how many days ago it was, never less than 0; None when nobody knows."""
    return None if moment is None else max((now - moment) / _DAY, 0.0)


def _pace(count: int | None, days: float | None) -> float:
    return max(count or 0, 0) / max(days if days is not None else 1.0, 1.0)


def _gain(readings: Sequence[tuple[int, int | None]]) -> Gain | None:
    """Between the first and the last reading that know the number; None when they are of one day."""
    known = sorted((day, count) for day, count in readings if count is not None)
    if not known or known[0][0] == known[-1][0]:
        return None
    (first, before), (last, after) = known[0], known[-1]
    return Gain(max(after - before, 0), last - first)


def _top(paces: Sequence[float], least: float) -> float:
    known = [pace for pace in paces if pace > 0]
    return max(float(np.percentile(known, TOP)), least) if known else least


def _scale(count: float, full: float) -> float:
    return min(log1p(max(count, 0)) / log1p(full), 1.0)


_WEEK = 7


def readable_since(item: Item) -> datetime | None:
    """Return since when the item is there to be read: for a new version of a paper, since its first."""
    shown = item.published if item.announce.startswith("replace") and item.published else item.appeared
    if item.kind is Kind.REPO:
        return item.published or item.seen
    return shown or item.published or item.seen


def freshness_value(item: Item, happened: Sequence[Event], now: datetime) -> float:
    """Return the freshness in 0–1; 0 when no date is known, and of a repository to which nothing `happened`."""
    if item.kind is not Kind.REPO:
        return _halved(readable_since(item), PAPER_HALF_LIFE, now)
    return max((_halved(event.when, REPO_HALF_LIFE, now) for event in happened), default=0.0)


def freshness_reason(item: Item, happened: Sequence[Event], now: datetime) -> str:
    """Say it in words, in days of UTC; "" when it is no news."""
    if item.kind is Kind.REPO:
        return in_words(happened)
    when = readable_since(item)
    days = None if when is None else max((now.date() - when.date()).days, 0)
    if when is None or days is None or days > _WEEK:
        return ""
    return f"{days} days old" if days > 1 else f"new {ago(when, now)}"


def _halved(when: datetime | None, half_life: timedelta, now: datetime) -> float:
    days = days_since(when, now)
    return 0.0 if days is None else float(2 ** (-days / (half_life / timedelta(days=1))))
