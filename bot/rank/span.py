"""Which items of an index are asked about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.models import Item
from bot.rank.clauses import Claims
from bot.rank.edition import ItemIndex


@dataclass(frozen=True, slots=True)
class Candidates:
    """The items of a digest's time, and the index in which they are ranked.

    The index may hold others; `among` says of each item of it whether it is one of the time. What was no news when it was
    first seen is not in it.
    """

    items: Sequence[Item]  # the newest first
    edition: ItemIndex
    among: Claims


def all_items(edition: ItemIndex) -> Candidates:
    """Return all items of an edition."""
    return Candidates(edition.items, edition, np.ones(len(edition.items), bool))
