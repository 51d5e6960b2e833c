"""What more and less do to the scores of one day, and how it is told.

"More" fills a share of what an item's relevance lacks, "less" takes a share of the score it has: an item that is near to
nothing that was marked keeps its score, no label can lift a score above 1 or bring it to 0, and however many there are, none
can lift an item past what full relevance gives. So a `min_score` goes on meaning what it meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.models import Item
from bot.rank import reasons
from bot.rank.corpus import Ints
from bot.rank.edition import Edition
from bot.rank.learning import Learned, Lesson, learn
from bot.rank.vectors import Floats
from bot.rank.weights import DIGITS, LESS, LOWER, NEAREST, RAISE, RELEVANCE, SURE, TELL

_WORDS = 3  # that a reason names, and
_SAID = 0.03  # the least that a part adds or takes before anything is said


@dataclass(frozen=True, slots=True)
class Leaning:
    """What was learned, and how every item of the edition leans: 1 at most for it, -1 at most against it."""

    learned: Learned
    leans: Floats

    def part(self, admitted: Ints, relevance: Floats, total: Floats) -> Floats:
        """Return what is added to, or taken from, the scores of the admitted items."""
        leans = self.leans[admitted]
        raised = RAISE * leans * (RELEVANCE - relevance.clip(0.0, RELEVANCE))
        return np.round(np.where(leans > 0, raised, LOWER * leans * total), DIGITS).astype(float, copy=False)

    def reason(self, item: Item, value: float) -> str:
        """Say what the item has in common with what was marked, when that changed its score by `value`."""
        if abs(value) < _SAID:
            return ""
        liked = value > 0
        near = [lesson.item for lesson, cosine in self.learned.likeness(item) if cosine >= TELL and _agrees(lesson, liked)]
        words = () if near else self.learned.words_of(item, liked=liked, most=_WORDS)
        return reasons.of_feedback(item, near[:NEAREST], words, liked=liked)


def lean(edition: Edition, lessons: Sequence[Lesson]) -> Leaning | None:
    """Return what the lessons do to the edition; None when they teach nothing."""
    learned = learn(lessons, edition.background)
    if not learned.lessons:
        return None
    found = edition.weigh(learned.weights)
    return Leaning(learned, np.where(found > 0, found / SURE, found / (LESS * SURE)).clip(-1.0, 1.0))


def _agrees(lesson: Lesson, liked: bool) -> bool:
    return lesson.more > lesson.less if liked else lesson.less > lesson.more
