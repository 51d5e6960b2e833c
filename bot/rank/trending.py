"""What trends: the repositories that gain stars fastest, and what papers gained in upvotes. Pure: stored facts in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.models import Item, Kind, Reading
from bot.rank.events import JUMP_DAYS, is_list
from bot.wording import counted

DAYS = timedelta(days=7)  # the last days
LEAST = 10  # stars gained in them: fewer are no trend

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rise:
    """What an item gained, and in words: "★ +1,200 in 3 days"."""

    item: Item
    a_day: float  # stars
    said: str


def rising(items: Sequence[Item], readings: Mapping[str, Sequence[Reading]], now: datetime) -> list[Rise]:
    """Return the repositories that gained stars in the last days, those that gained most a day first.

    What is counted are the stars read on two days, the later of them at most three days ago; of a repository that was
    created in the last days all of its stars. Lists of links, books and courses are none, nor are forks and archives.
    """
    found = [_rise(item, readings.get(item.key, ()), now) for item in items if _may_trend(item)]
    return sorted((each for each in found if each is not None), key=lambda each: (-each.a_day, each.item.key))


def _may_trend(item: Item) -> bool:
    return item.kind is Kind.REPO and not (item.withdrawn or item.fork or item.archived or is_list(item))


def _rise(item: Item, readings: Sequence[Reading], now: datetime) -> Rise | None:
    if item.published is not None and item.stars is not None and timedelta(0) <= now - item.published <= DAYS:
        return _gained(item, item.stars, max((now - item.published) / _DAY, 1.0), "since it was created")
    known = _counts(readings, now, "stars")
    if len(known) < 2 or (now - known[-1][0]) // _DAY > JUMP_DAYS:
        return None
    (first, stood), (last, count) = known[0], known[-1]
    days = (last - first).days
    return _gained(item, count - stood, days, f"in {counted(days, 'day')}")


def _gained(item: Item, stars: int, days: float, when: str) -> Rise | None:
    return Rise(item, stars / days, f"★ +{stars:,} {when}") if stars >= LEAST else None


def _counts(readings: Sequence[Reading], now: datetime, name: str) -> list[tuple[datetime, int]]:
    """Return what was counted on the last days, the oldest first."""
    read = ((datetime.combine(each.day, now.timetz()), getattr(each, name)) for each in readings)
    return sorted((day, count) for day, count in read if count is not None and now - DAYS <= day <= now + _DAY)


def upvotes_in_words(readings: Sequence[Reading], now: datetime) -> str:
    """Return what a paper gained, where its upvotes were read on two days: "▲ +40 in 2 days"; else "".

    How many it has stands among the item's facts.
    """
    known = _counts(readings, now, "upvotes")
    gained = known[-1][1] - known[0][1] if len(known) > 1 else 0
    return f"▲ +{gained:,} in {counted((known[-1][0] - known[0][0]).days, 'day')}" if gained > 0 else ""
