"""What people saved in a channel, counted: shared by every store, so that all answer alike."""

from collections.abc import Iterable
from datetime import datetime

from bot.models import SavedInChannel


def counted_in_channel(rows: Iterable[tuple[str, str, datetime, str]]) -> list[SavedInChannel]:
    """Return each item once, the last saved first, from (key, person, when, link); several keys may have become one."""
    people: dict[str, set[str]] = {}
    latest: dict[str, tuple[datetime, str]] = {}
    for key, person, at, link in sorted(rows, key=lambda row: (row[2], row[3])):
        people.setdefault(key, set()).add(person)
        latest[key] = (at, link or latest.get(key, (at, ""))[1])
    counted = [SavedInChannel(key, at, len(people[key]), link) for key, (at, link) in latest.items()]
    return sorted(sorted(counted, key=lambda each: each.key), key=lambda each: each.at, reverse=True)
