"""Near twins give way: of two entries that say the same, the better placed one stays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bot.models import Ranked
from bot.rank.edition import ItemIndex


@dataclass(frozen=True, slots=True)
class Dropped:
    """An entry that gives way, and the near twin that stays in its place."""

    ranked: Ranked
    twin: Ranked


@dataclass(frozen=True, slots=True)
class Diversified:
    """What stays, in the order it came, what gives way, and what found no room; together they are what was given."""

    kept: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]
    over: tuple[Ranked, ...] = ()


def diversify(edition: ItemIndex, ranked: Sequence[Ranked], fits: Callable[[Ranked], bool] = lambda _: True) -> Diversified:
    """Go down the list, best first, and keep what is no near twin of what is kept, where there is room for it.

    Two entries are near twins when their texts are as near as `weights.TWIN` says, or `TWIN_BOTH` where both have vectors.
    An entry that is not of the edition is nobody's twin. `fits` is asked once of each entry that is no twin, in order.
    Nothing is reordered: who reads "third best" should find the third best.
    """
    kept: list[Ranked] = []
    dropped: list[Dropped] = []
    over: list[Ranked] = []
    nearest = np.zeros(len(edition.items))  # to anything kept, and
    whose = np.zeros(len(edition.items), np.int64)  # to which of them
    for entry in ranked:
        number = edition.number(entry.item.key)
        if number is not None and nearest[number] >= 1:
            dropped.append(Dropped(entry, kept[whose[number]]))
        elif not fits(entry):
            over.append(entry)
        else:
            if number is not None:
                sameness = edition.sameness(number)
                closer = sameness > nearest
                nearest[closer], whose[closer] = sameness[closer], len(kept)
            kept.append(entry)
    return Diversified(tuple(kept), tuple(dropped), tuple(over))
