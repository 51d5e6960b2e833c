"""Near twins give way: of two entries that say the same, the better placed one stays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.models import Ranked
from bot.rank.edition import Edition
from bot.rank.weights import TWIN

# Why an entry was dropped.
NEAR_TWIN, OVER_CAP, LOW_SCORE = "near twin", "cap", "score"


@dataclass(frozen=True, slots=True)
class Dropped:
    """An entry that is left out: why (near twin, cap or score), in words, and for a near twin the entry that stays."""

    ranked: Ranked
    reason: str
    why: str
    twin: Ranked | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What stays, in the order it came, and what does not; together they are what was given."""

    kept: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]


def diversify(edition: Edition, ranked: Sequence[Ranked], *, limit: int | None = None, min_score: float = 0.0) -> Selection:
    """Go down the list, best first, and keep what has the score, is no near twin of what is kept, and fits under the limit.

    Two entries are near twins when the cosine of their texts is at least `weights.TWIN`. An entry that is not of the edition
    is nobody's twin. Nothing is reordered: who reads "third best" should find the third best. Empty in, empty out; when
    nothing has `min_score`, nothing is kept, and that is an answer.
    """
    kept: list[Ranked] = []
    dropped: list[Dropped] = []
    nearest = np.zeros(len(edition.items))  # to anything kept, and
    whose = np.zeros(len(edition.items), np.int64)  # to which of them
    for entry in ranked:
        number = edition.number(entry.item.key)
        if entry.score < min_score:
            dropped.append(Dropped(entry, LOW_SCORE, f"{entry.score:.2f} is below {min_score:.2f}"))
        elif number is not None and nearest[number] >= TWIN:
            twin = kept[whose[number]]
            dropped.append(Dropped(entry, NEAR_TWIN, f'near twin of "{twin.item.title}"', twin))
        elif limit is not None and len(kept) >= limit:
            dropped.append(Dropped(entry, OVER_CAP, f"only {limit} are shown"))
        else:
            if number is not None:
                likeness = edition.likeness(number)
                closer = likeness > nearest
                nearest[closer], whose[closer] = likeness[closer], len(kept)
            kept.append(entry)
    return Selection(tuple(kept), tuple(dropped))
