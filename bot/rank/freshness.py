"""How new an item is: 1 now, a half after one half-life."""

from datetime import datetime, timedelta

from bot.models import Item, Kind
from bot.rank.community import age
from bot.rank.weights import PAPER_HALF_LIFE, PUSH_HALF_LIFE, PUSH_SHARE, REPO_HALF_LIFE

_WEEK = 7


def moment(item: Item) -> datetime | None:
    """Return since when the item is there to be read: for a new version of a paper, since its first."""
    shown = item.published if item.announce.startswith("replace") and item.published else item.appeared
    if item.kind is Kind.REPO:
        return item.published or item.seen
    return shown or item.published or item.seen


def value(item: Item, now: datetime) -> float:
    """Return the freshness in 0–1; 0 when no date is known."""
    if item.kind is not Kind.REPO:
        return _halved(moment(item), PAPER_HALF_LIFE, now)
    pushed = PUSH_SHARE * _halved(item.updated, PUSH_HALF_LIFE, now)
    return max(_halved(moment(item), REPO_HALF_LIFE, now), pushed)


def reason(item: Item, now: datetime) -> str:
    """Say it in words, in days of UTC; "" when it is no news."""
    if item.kind is not Kind.REPO:
        days = _days(moment(item), now)
        return "" if days is None else f"{days} days old" if days > 1 else f"new {_ago(days)}"
    created, pushed = _days(item.published, now), _days(item.updated, now)
    if created is not None:
        return f"created {_ago(created)}"
    return "" if pushed is None else f"last push {_ago(pushed)}"


def _halved(when: datetime | None, half_life: timedelta, now: datetime) -> float:
    days = age(when, now)
    return 0.0 if days is None else float(2 ** (-days / (half_life / timedelta(days=1))))


def _days(when: datetime | None, now: datetime) -> int | None:
    """Whole days of the calendar since then, when they are at most a week."""
    if when is None:
        return None
    days = max((now.date() - when.date()).days, 0)
    return days if days <= _WEEK else None


def _ago(days: int) -> str:
    return "today" if days == 0 else "yesterday" if days == 1 else f"{days} days ago"
