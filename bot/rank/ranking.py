"""The score of every item of a day for one topic, and its reasons."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.errors import UsageError
from bot.models import Item, Ranked, ScorePart, Term, Topic, Tree
from bot.rank import reasons
from bot.rank.clauses import Claims, Clause, leaves_of
from bot.rank.corpus import Ints
from bot.rank.edition import ItemIndex
from bot.rank.feedback import FeedbackEffect, lean
from bot.rank.learning import MarkedItem
from bot.rank.meaning import NO_VECTORS
from bot.rank.vectors import Floats
from bot.rank.weights import DIGITS, EXAMPLES_SHARE, FAR, HALF, NEAR, NEAREST, RELEVANCE
from bot.rank.wishes import Held, WeightedClause, WeightedMatches

_KEY = re.compile(r"[a-z]+:\S+").fullmatch


@dataclass(frozen=True, slots=True)
class _Close:
    """An example, and the closeness of every item of the edition to it, as a cosine."""

    example: Item | str
    cosines: Floats
    telling: Floats  # from which cosine on each item is told to be close


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a topic asks for: its clauses, its examples, and what it learned."""

    wishes: Sequence[WeightedClause]
    pulls: WeightedMatches
    close: Sequence[_Close]
    feedback: FeedbackEffect | None


@dataclass(frozen=True, slots=True)
class _Scores:
    """The parts that depend on the topic, for every admitted item, and the sum of all."""

    phrases: Floats
    examples: Floats
    feedback: Floats
    total: Floats


@dataclass(frozen=True, slots=True)
class Scored:
    """The items that a topic admits, best first: their places in the edition. Reasons are found for those that are told."""

    edition: ItemIndex
    numbers: list[int]
    _order: list[int]  # the place of each among the admitted
    _asked: _Asked
    _scores: _Scores

    def bare(self) -> list[Ranked]:
        """Return the items with their scores alone."""
        totals = self._scores.total[self._order].tolist()
        items = self.edition.items
        return [Ranked(items[number], total) for number, total in zip(self.numbers, totals, strict=True)]

    def told(self, ranks: Sequence[int] | None = None) -> list[Ranked]:
        """Return those of these ranks, the best being 0, with the parts of their scores and the reasons; None for all."""
        ranks = range(len(self.numbers)) if ranks is None else ranks
        numbers, order = [self.numbers[rank] for rank in ranks], [self._order[rank] for rank in ranks]
        held = self._asked.pulls.held(numbers)
        return [_ranked(self.edition, self._asked, self._scores, *each) for each in zip(order, numbers, held, strict=True)]

    def holding(self, tree: Tree) -> Claims:
        """Return for each of them whether the tree holds, of its score too."""
        scores = np.full(len(self.edition.items), np.nan)
        scores[self.numbers] = self._scores.total[self._order]
        claims: Claims = self.edition.admits(tree, scores)[self.numbers]
        return claims


def rank(
    edition: ItemIndex,
    topic: Topic,
    *,
    examples: Sequence[Item | str] = (),
    lessons: Sequence[MarkedItem] = (),
    vectors: Mapping[str, bytes] = NO_VECTORS,
    top: int | None = None,
) -> list[Ranked]:
    """Return the items that `score` gives, each with its reasons; `top` is how many are wanted, None for all."""
    scored = score(edition, topic, examples=examples, lessons=lessons, vectors=vectors)
    return scored.told(range(len(scored.numbers))[:top])


def score(
    edition: ItemIndex,
    topic: Topic,
    *,
    examples: Sequence[Item | str] = (),
    lessons: Sequence[MarkedItem] = (),
    vectors: Mapping[str, bytes] = NO_VECTORS,
    among: Claims | None = None,
) -> Scored:
    """Return the items that the topic's query and sources admit, best first; equal ones newest first, then by key.

    `examples` are the topic's, looked up: an item, or a text. A key that nobody knows (`arxiv:2606.01234`) is left out.
    `lessons` are the items that people marked for this topic; without any a score has no part named feedback.
    `vectors` are those of examples and marked items that the edition does not have, by key, and of texts, by the text.
    `among` says of every item of the edition whether it is asked about; None for all. The score says how much speaks for an
    item by itself: it depends on the other items of the edition only through how rare words are and how many votes are many.

    Raises UsageError when a clause of an interest cannot be read.
    """
    claims = _admitted(edition, topic)
    admitted = np.flatnonzero(claims if among is None else claims & among)
    wishes = _wishes(edition, topic)
    close = [_closeness(edition, each, vectors) for each in examples if _says_something(edition, each)]
    asked = _Asked(
        wishes, WeightedMatches(wishes, len(edition.items)), close, lean(edition, lessons, vectors) if lessons else None
    )
    scores = _score(edition, admitted, asked)
    order = np.lexsort((edition.places[admitted], -scores.total))
    return Scored(edition, admitted[order].tolist(), order.tolist(), asked, scores)


def _says_something(edition: ItemIndex, example: Item | str) -> bool:
    """Say whether an example is an item, the key of a known one, or a text."""
    return not isinstance(example, str) or edition.knows(example) or (example.strip() != "" and not _KEY(example))


def _closeness(edition: ItemIndex, example: Item | str, vectors: Mapping[str, bytes]) -> _Close:
    packed = vectors.get(example if isinstance(example, str) else example.key)
    return _Close(example, edition.closeness(example, packed), edition.telling(example, packed))


def _wishes(edition: ItemIndex, topic: Topic) -> list[WeightedClause]:
    """What the topic weighs: its interests, or, when none of them speaks for an item, the words of its query too."""
    wishes = [
        WeightedClause(_look_up(edition, each.clause), each.weight, each.clause) for each in topic.interests if each.weight
    ]
    if not any(wish.weight > 0 for wish in wishes):
        words = (leaf for leaf in leaves_of(topic.query.tree) if isinstance(leaf, Term) or leaf.field == "category")
        wishes += [WeightedClause(edition.clause(word), 1.0, "") for word in words]
    return wishes


def _look_up(edition: ItemIndex, clause: str) -> Clause:
    try:
        return edition.clause(clause)
    except UsageError as error:
        sentence = f'The interest "{clause}" cannot be read: {error}'
        raise UsageError(sentence, position=error.position, hint=error.hint) from error


def _admitted(edition: ItemIndex, topic: Topic) -> Claims:
    admitted = edition.admits(topic.query.tree)
    return admitted & edition.from_sources(frozenset(topic.sources)) if topic.sources else admitted


def _score(edition: ItemIndex, admitted: Ints, asked: _Asked) -> _Scores:
    of_phrases, of_examples = _shares(asked.wishes, asked.close)
    near = np.round(_nearness(admitted, asked.close) * of_examples, DIGITS)
    others = edition.by_itself[admitted] + near
    # Negative interests may take everything that speaks for an item, and no more: a score is never below 0.
    phrases = np.maximum(np.round(_fit(asked.pulls.sums()[admitted]) * of_phrases, DIGITS), -others)
    total = np.round(phrases + others, DIGITS)
    if asked.feedback is None:
        return _Scores(phrases, near, np.zeros(0), total)
    learned = asked.feedback.part(admitted, phrases + near, total)
    return _Scores(phrases, near, learned, np.round(total + learned, DIGITS))


def _shares(wishes: Sequence[WeightedClause], close: Sequence[_Close]) -> tuple[float, float]:
    """How much phrases and examples may add."""
    if not close:
        return RELEVANCE, 0.0
    if not any(wish.weight > 0 for wish in wishes):
        return RELEVANCE if wishes else 0.0, RELEVANCE
    return RELEVANCE * (1 - EXAMPLES_SHARE), RELEVANCE * EXAMPLES_SHARE


def _fit(sums: Floats) -> Floats:
    """How well the phrases fit, between -1 and 1: S / (|S| + HALF), S the weighted sum of their strengths."""
    return sums / (np.abs(sums) + HALF)


def _nearness(admitted: Ints, close: Sequence[_Close]) -> Floats:
    """How near the closest examples are, in 0–1."""
    if not close:
        return np.zeros(len(admitted))
    cosines = np.stack([each.cosines[admitted] for each in close])
    nearest = np.sort(cosines, axis=0)[-NEAREST:].mean(axis=0)
    scaled: Floats = np.clip((nearest - FAR) / (NEAR - FAR), 0.0, 1.0)
    return scaled


def _ranked(edition: ItemIndex, asked: _Asked, scores: _Scores, place: int, number: int, held: Held) -> Ranked:
    """The item that has this place among the admitted and this number in the edition; `held` holds for it."""
    item = edition.items[number]
    near = reasons.of_examples(_near(asked.close, number)) if asked.close else ""
    parts = [
        ScorePart("phrases", float(scores.phrases[place]), reasons.of_phrases(item, number, held)),
        ScorePart("examples", float(scores.examples[place]), near),
    ]
    if asked.feedback:
        value = float(scores.feedback[place])
        parts.append(ScorePart("feedback", value, asked.feedback.reason(number, value)))
    return Ranked(item, float(scores.total[place]), (*parts, *edition.parts(number)))


def _near(close: Sequence[_Close], number: int) -> list[Item | str]:
    """The examples that the item is close to, the closest first."""
    measured = [(cosine, each.example) for each in close if (cosine := each.cosines[number]) >= each.telling[number]]
    return [example for _, example in sorted(measured, key=lambda pair: -pair[0])[:NEAREST]]
