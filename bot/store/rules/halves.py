"""A paper and its repository as one result of a search. Pure, and shared by every store."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from bot.models import Item, Kind

K = TypeVar("K")


class Card(NamedTuple):
    """What leads a result, as its place in the list names it; how well it fits; and its other half."""

    lead: Item
    relevance: float
    other: Item | None = None


def half_named(item: Item) -> str:
    """Return the key of the item's other half as the item names it, "" without one."""
    return item.repo if item.kind is Kind.PAPER else item.paper


def together(
    found: Iterable[tuple[K, float]],
    items: Mapping[K, Item],
    halves: Mapping[str, K],
    fits: Callable[[Item], bool],
    shown: Collection[K] = (),
) -> list[tuple[K, Card]]:
    """Return what was found, in its order, a paper and its repository once: where the first of them stands.

    The paper leads where it fits what was asked too. `items` are those that were found and their other halves, `halves`
    what the latter are called in the list, by key. What belongs to one that was `shown` before is left out.
    """
    cards: list[tuple[K, Card]] = []
    taken: set[K] = set()
    for name, relevance in found:
        item = items.get(name)
        if item is None or name in taken:
            continue
        at = halves.get(half_named(item))
        other = None if at is None else items.get(at)
        if at is None or other is None or not _belong(item, other):
            cards.append((name, Card(item, relevance)))
        elif at in shown:
            continue
        elif at in taken:  # a repository goes with one paper
            cards.append((name, Card(item, relevance)))
        elif item.kind is Kind.REPO and fits(other):
            cards.append((at, Card(other, relevance, item)))
            taken.add(at)
        else:
            cards.append((name, Card(item, relevance, other)))
            taken.add(at)
        taken.add(name)
    return cards


def _belong(item: Item, other: Item) -> bool:
    return other.kind is not item.kind and not other.withdrawn and half_named(other) in ("", item.key)
