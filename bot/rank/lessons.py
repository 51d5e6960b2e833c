"""What people said of items for a topic, as the lessons that ranking takes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from bot.models import Feedback, Item
from bot.rank.learning import MarkedItem


def lessons_of(given: Sequence[Feedback], known: Mapping[str, Item]) -> list[MarkedItem]:
    """Return a lesson for every item that somebody spoke of: how many people want more like it, and how many less.

    `given` is the oldest first, `known` the items by the keys that it names. What was said of an item under an older key
    of it counts for the item, and a person's last word alone; an item that is not known any more teaches nothing.
    """
    last = {(known[each.key].key, each.person): each.more for each in given if each.key in known}
    counts = Counter((key, more) for (key, _), more in last.items())
    items = {known[each.key].key: known[each.key] for each in given if each.key in known}
    return [MarkedItem(item, counts[key, True], counts[key, False]) for key, item in items.items()]
