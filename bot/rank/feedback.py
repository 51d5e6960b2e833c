"""What more and less do to the scores of one day, and how it is told.

"More" fills a share of what an item's relevance lacks, "less" takes a share of the score it has: an item that is near to
nothing that was marked keeps its score, no label can lift a score above 1 or bring it to 0, and however many there are, none
can lift an item past what full relevance gives. So a `min_score` goes on meaning what it meant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest

import numpy as np

from bot.models import Item
from bot.rank import reasons
from bot.rank.corpus import Ints
from bot.rank.edition import ItemIndex
from bot.rank.learning import Learned, MarkedItem, answered, learn
from bot.rank.meaning import NO_VECTORS, products
from bot.rank.spelling import spelled
from bot.rank.vectors import Floats
from bot.rank.weights import BY_MEANING, DIGITS, FEW, LESS, LOWER, NEAREST, POWER, RAISE, RELEVANCE, RIDGE, SURE

_WORDS = 3  # that a reason names, and
_SAID = 0.03  # the least that a part adds or takes before anything is said


@dataclass(frozen=True)
class FeedbackEffect:
    """What was learned, and what it says for every item of the edition, above 0, or against it."""

    edition: ItemIndex
    learned: Learned
    found: Floats
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # of the marked items

    @cached_property
    def leans(self) -> Floats:
        """How every item leans: 1 at most for it, -1 at most against it."""
        return np.where(self.found > 0, self.found / SURE, self.found / (LESS * SURE)).clip(-1.0, 1.0)

    def part(self, admitted: Ints, relevance: Floats, total: Floats) -> Floats:
        """Return what is added to, or taken from, the scores of the admitted items."""
        leans = self.leans[admitted]
        raised = RAISE * leans * (RELEVANCE - relevance.clip(0.0, RELEVANCE))
        return np.round(np.where(leans > 0, raised, LOWER * leans * total), DIGITS).astype(float, copy=False)

    def reason(self, number: int, value: float) -> str:
        """Say what the item at this place has in common with what was marked, when that changed its score by `value`."""
        if abs(value) < _SAID:
            return ""
        item, liked = self.edition.items[number], value > 0
        names = {item.key, *item.aliases}
        if any(each.item.key in names and _agrees(each, liked=liked) for each in self.learned.lessons):
            return reasons.of_feedback([], [], liked=liked, itself=True)
        near = self._near(number, liked=liked)
        words = [] if near else spelled(self._words(number, liked=liked), item)
        return reasons.of_feedback(near, words, liked=liked)

    @cached_property
    def _cosines(self) -> Floats:
        """Every lesson's with every item; made for the first reason."""
        return np.stack(
            [self.edition.closeness(each.item, self.vectors.get(each.item.key)) for each in self.learned.lessons]
        )

    @cached_property
    def _telling(self) -> Floats:
        """From which of these on an item is told to be close."""
        return np.stack([self.edition.telling(each.item, self.vectors.get(each.item.key)) for each in self.learned.lessons])

    @cached_property
    def _shares(self) -> Callable[[int], list[tuple[float, str]]]:
        return self.edition.shares(self.learned.weights)

    def _near(self, number: int, *, liked: bool) -> list[Item]:
        """The marked items of one side that the item is close to, the closest first."""
        cosines, least = self._cosines[:, number], self._telling[:, number]
        order = (int(place) for place in np.argsort(-cosines, kind="stable") if cosines[place] >= least[place])
        lessons = (self.learned.lessons[place] for place in order)
        return [each.item for each in lessons if _agrees(each, liked=liked)][:NEAREST]

    def _words(self, number: int, *, liked: bool) -> list[str]:
        """The words of the item that speak most for it, or against it."""
        sign = 1.0 if liked else -1.0
        strongest = nlargest(_WORDS, ((sign * share, word) for share, word in self._shares(number)))
        return [word for share, word in strongest if share > 0]


def lean(
    edition: ItemIndex, lessons: Sequence[MarkedItem], vectors: Mapping[str, bytes] = NO_VECTORS
) -> FeedbackEffect | None:
    """Return what the lessons do to the edition; None when they teach nothing.

    `vectors` are those of marked items that the edition does not have, by key.
    """
    learned = learn(lessons, edition.background)
    if not learned.lessons:
        return None
    by_words = edition.weigh(learned.weights)
    return FeedbackEffect(edition, learned, _with_meaning(edition, learned.lessons, vectors, by_words), vectors)


def _with_meaning(
    edition: ItemIndex, lessons: Sequence[MarkedItem], vectors: Mapping[str, bytes], by_words: Floats
) -> Floats:
    """What is learned of words, and of vectors for the items that have one.

    It is the same regression with a power of the cosine for the product of two vectors. An item without a vector, and all of
    them when no marked item has one, keep what their words say.
    """
    read = [(each, edition.vector(each.item, vectors.get(each.item.key))) for each in lessons]
    seen = [(each, vector) for each, vector in read if vector is not None]
    if not seen:
        return by_words
    rows = [vector for _, vector in seen]
    doubt = np.array([RIDGE / (each.more + each.less) for each, _ in seen])
    found = np.linalg.solve(products(rows) ** POWER + np.diag(doubt), answered([each for each, _ in seen]))
    cosines, known = edition.cosines(rows)
    share = BY_MEANING * min(1.0, FEW / len(lessons)) * len(seen) / len(lessons) * known
    return by_words * (1 - share) + (found @ cosines**POWER) * share


def _agrees(lesson: MarkedItem, *, liked: bool) -> bool:
    return lesson.more > lesson.less if liked else lesson.less > lesson.more
