"""The values that label fields have, each with the number of items that have it: for what is suggested while a person types.

The search index knows them too, but would have to count through its lists for every question. So a table keeps the counts,
in step with the index.
"""

from collections.abc import Iterable

from bot.models import Item
from bot.query.fields import fold_label, labels_of

Value = tuple[str, str]  # the field, and the value as it is compared

_FIELDS = ("category", "source", "language", "license")
_LONGEST = 100  # characters; a longer value is no name, and no list of suggestions can show it


def values_of(item: Item) -> tuple[Value, ...]:
    """Return the item's values, each once: its labels, and its keywords as values of `topic`."""
    labels = [(field, value) for field in _FIELDS for value in labels_of(item, field)]
    keywords = [("topic", fold_label(keyword)) for keyword in item.keywords]
    return tuple(
        pair for pair in dict.fromkeys([*labels, *keywords]) if 0 < len(pair[1]) <= _LONGEST and pair[1].isprintable()
    )


def commonest(counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    """Return the values with the highest counts, those of one count in the order of the alphabet."""
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]
