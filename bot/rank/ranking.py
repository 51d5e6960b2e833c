"""The score of every item of a day for one topic, with its reasons; and which near twins give way.

Of two entries that say the same, the better placed one stays.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.errors import UsageError
from bot.models import And, Item, Ranked, ScorePart, Term, Topic, Tree
from bot.rank import reasons
from bot.rank.clauses import (
    Claims,
    Clause,
    Held,
    WeightedClause,
    WeightedMatches,
    besides_words,
    in_words,
    leaves_of,
)
from bot.rank.corpus import Floats, Ints
from bot.rank.feedback import FeedbackEffect, MarkedItem, feedback_effect
from bot.rank.item_index import ItemIndex
from bot.rank.meaning import NO_VECTORS
from bot.rank.weights import BY_DESCRIPTION, BY_EXAMPLES, BY_PHRASES, DIGITS, ENTERS, FAR, HALF, NEAR, NEAREST, RELEVANCE

_KEY = re.compile(r"[a-z]+:\S+").fullmatch


@dataclass(frozen=True, slots=True)
class _Close:
    """An example, and the closeness of every item of the index to it, as a cosine."""

    example: Item | str
    cosines: Floats
    reason_threshold: Floats  # from which cosine on each item is told to be close
    compared: Claims  # which items were compared by their vectors too


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a topic asks for: its clauses, its description, its examples, and what it learned."""

    weighted_clauses: Sequence[WeightedClause]
    weighted_matches: WeightedMatches
    topical_matches: WeightedMatches  # of the words alone: what an item is or has beside them does not make it relevant
    described: Sequence[_Close]  # one, or none
    close: Sequence[_Close]
    feedback: FeedbackEffect | None


@dataclass(frozen=True, slots=True)
class _Scores:
    """The parts that depend on the topic, for every admitted item, and the sum of all; relevance is that of the topical."""

    phrases: Floats
    labels: Floats
    description: Floats
    examples: Floats
    feedback: Floats
    relevance: Floats
    total: Floats


@dataclass(frozen=True, slots=True)
class Scored:
    """The items that a topic admits, best first: their places in the index. Reasons are found for those that are told."""

    index: ItemIndex
    numbers: list[int]
    _order: list[int]  # the place of each among the admitted
    _asked: _Asked
    _scores: _Scores

    def without_reasons(self) -> list[Ranked]:
        """Return the items with their scores alone."""
        totals, relevance = self._scores.total[self._order].tolist(), self._scores.relevance[self._order].tolist()
        items = self.index.items
        pairs = zip(self.numbers, totals, relevance, strict=True)
        return [Ranked(items[number], total, relevance=share) for number, total, share in pairs]

    def with_reasons(self, ranks: Sequence[int] | None = None) -> list[Ranked]:
        """Return those of these ranks, the best being 0, with the parts of their scores and the reasons; None for all."""
        ranks = range(len(self.numbers)) if ranks is None else ranks
        numbers, order = [self.numbers[rank] for rank in ranks], [self._order[rank] for rank in ranks]
        held = self._asked.weighted_matches.held(numbers)
        return [_ranked(self.index, self._asked, self._scores, *each) for each in zip(order, numbers, held, strict=True)]

    def matching(self, tree: Tree) -> Claims:
        """Return for each of them whether the tree holds, of its score too."""
        scores = np.full(len(self.index.items), np.nan)
        scores[self.numbers] = self._scores.total[self._order]
        claims: Claims = self.index.admits(tree, scores)[self.numbers]
        return claims


def rank(
    index: ItemIndex,
    topic: Topic,
    *,
    examples: Sequence[Item | str] = (),
    marked: Sequence[MarkedItem] = (),
    vectors: Mapping[str, bytes] = NO_VECTORS,
    top: int | None = None,
) -> list[Ranked]:
    """Return the items that `score` gives, each with its reasons; `top` is how many are wanted, None for all."""
    scored = score(index, topic, examples=examples, marked=marked, vectors=vectors)
    return scored.with_reasons(range(len(scored.numbers))[:top])


def score(
    index: ItemIndex,
    topic: Topic,
    *,
    examples: Sequence[Item | str] = (),
    marked: Sequence[MarkedItem] = (),
    vectors: Mapping[str, bytes] = NO_VECTORS,
    among: Claims | None = None,
) -> Scored:
    """Return the items that enter the topic, best first; equal ones newest first, then by key.

    An item enters by the topic's query, or, where it has a vector, by being near to the topic's description and examples:
    then it meets what the query asks for besides words (`besides_words`). The topic's sources hold for all.

    `examples` are the topic's, looked up: an item, or a text. A key that nobody knows (`arxiv:2606.01234`) is left out.
    `marked` are the items that people marked for this topic; without any a score has no part named feedback.
    `vectors` are those of examples and marked items that the index does not have, by key, and of texts, by the text.
    `among` says of every item of the index whether it is asked about; None for all. The score says how much speaks for an
    item by itself: it depends on the other items of the index only through how rare words are and how many votes are many.

    Raises UsageError when a clause of an interest cannot be read.
    """
    described, close = _closenesses(index, topic, examples, vectors)
    claims = _admitted(index, topic, described, close)
    admitted = np.flatnonzero(claims if among is None else claims & among)
    weighted_clauses = _weighted_clauses(index, topic)
    asked = _Asked(
        weighted_clauses,
        WeightedMatches(weighted_clauses, len(index.items)),
        WeightedMatches(_topical(index, weighted_clauses), len(index.items)),
        described,
        close,
        feedback_effect(index, marked, vectors) if marked else None,
    )
    scores = _score(index, admitted, asked)
    order = np.lexsort((index.places[admitted], -scores.total))
    return Scored(index, admitted[order].tolist(), order.tolist(), asked, scores)


def description_text(topic: Topic) -> str:
    """Return what a topic says that it is about, as a text to be close to; "" where it says nothing beyond its title."""
    return f"{topic.title}. {topic.description}" if topic.description.strip() else ""


def _closenesses(
    index: ItemIndex, topic: Topic, examples: Sequence[Item | str], vectors: Mapping[str, bytes]
) -> tuple[list[_Close], list[_Close]]:
    """How close all items are to the topic's description, where it has one, and to each example."""
    text = description_text(topic)
    described = [_closeness(index, text, vectors)] if text else []
    return described, [_closeness(index, each, vectors) for each in examples if _says_something(index, each)]


def _says_something(index: ItemIndex, example: Item | str) -> bool:
    """Say whether an example is an item, the key of a known one, or a text."""
    return not isinstance(example, str) or index.knows(example) or (example.strip() != "" and not _KEY(example))


def _closeness(index: ItemIndex, example: Item | str, vectors: Mapping[str, bytes]) -> _Close:
    packed = vectors.get(example if isinstance(example, str) else example.key)
    compared = index.compared(example, packed)
    return _Close(example, index.closeness(example, packed), index.reason_threshold(example, packed), compared)


def _weighted_clauses(index: ItemIndex, topic: Topic) -> list[WeightedClause]:
    """What the topic weighs: its interests, or, when none of them speaks for an item, the words of its query too."""
    weighted_clauses = [
        WeightedClause(_look_up(index, each.clause), each.weight, each.clause) for each in topic.interests if each.weight
    ]
    if not any(weighted.weight > 0 for weighted in weighted_clauses):
        words = (leaf for leaf in leaves_of(topic.query.tree) if isinstance(leaf, Term) or leaf.field == "category")
        weighted_clauses += [WeightedClause(index.clause(word), 1.0, "") for word in words]
    return weighted_clauses


def _look_up(index: ItemIndex, clause: str) -> Clause:
    try:
        return index.clause(clause)
    except UsageError as error:
        sentence = f'The interest "{clause}" cannot be read: {error}'
        raise UsageError(sentence, position=error.position, hint=error.hint) from error


def _topical(index: ItemIndex, weighted_clauses: Sequence[WeightedClause]) -> list[WeightedClause]:
    """The same clauses by their words alone, where any has words; a label such as `has:code` makes nothing relevant."""
    found = []
    for each in weighted_clauses:
        tree = in_words(each.clause.tree)
        if tree is not None:
            clause = each.clause if tree == each.clause.tree else index.clause(tree)
            found.append(WeightedClause(clause, each.weight, each.text))
    return found if any(each.weight > 0 for each in found) else list(weighted_clauses)


def _admitted(index: ItemIndex, topic: Topic, described: Sequence[_Close], close: Sequence[_Close]) -> Claims:
    """Which items enter: by the query, or by meaning where they meet what the query asks for besides words."""
    admitted, tree = index.admits(topic.query.tree), topic.query.tree
    if (described or close) and tree != And(()):
        admitted = admitted | (_enters_by_meaning(index, described, close) & index.admits(besides_words(tree)))
    return admitted & index.from_sources(frozenset(topic.sources)) if topic.sources else admitted


def _enters_by_meaning(index: ItemIndex, described: Sequence[_Close], close: Sequence[_Close]) -> Claims:
    """Which items are so near to the topic, compared by vectors, that they enter it whatever their words are."""
    every = np.arange(len(index.items))
    shares = ((BY_DESCRIPTION, described), (BY_EXAMPLES, close))
    near = np.sum([share * _nearness(every, each) for share, each in shares], axis=0)
    near /= sum(share for share, each in shares if each)
    entered: Claims = np.all([each.compared for each in (*described, *close)], axis=0) & (near >= ENTERS)
    return entered


def _score(index: ItemIndex, admitted: Ints, asked: _Asked) -> _Scores:
    of_phrases, of_description, of_examples = _shares(asked)
    description = np.round(_nearness(admitted, asked.described) * of_description, DIGITS)
    examples = np.round(_nearness(admitted, asked.close) * of_examples, DIGITS)
    near = description + examples
    others = index.by_itself[admitted] + near
    topical = np.round(_fit(asked.topical_matches.sums()[admitted]) * of_phrases, DIGITS)
    labels = np.round(_fit(asked.weighted_matches.sums()[admitted]) * of_phrases, DIGITS) - topical
    # Negative interests may take everything that speaks for an item, and no more: a score is never below 0.
    labels = np.round(labels.clip(min=-others), DIGITS).astype(float, copy=False)
    phrases = np.maximum(topical, -(others + labels))
    total = np.round(phrases + labels + others, DIGITS)
    relevance = np.round(phrases + near, DIGITS).astype(float, copy=False).clip(min=0.0)
    if asked.feedback is None:
        return _Scores(phrases, labels, description, examples, np.zeros(0), relevance, total)
    learned = asked.feedback.part(admitted, phrases + near, total)
    relevance = (relevance + learned).clip(min=0.0)
    return _Scores(phrases, labels, description, examples, learned, relevance, np.round(total + learned, DIGITS))


def _shares(asked: _Asked) -> tuple[float, float, float]:
    """How much phrases, description and examples may add: what a topic lacks, the others share."""
    speaks = any(weighted.weight > 0 for weighted in asked.weighted_clauses)
    shares = (
        BY_PHRASES if speaks else 0.0,
        BY_DESCRIPTION if asked.described else 0.0,
        BY_EXAMPLES if asked.close else 0.0,
    )
    if not any(shares):
        return (RELEVANCE if asked.weighted_clauses else 0.0), 0.0, 0.0
    phrases, description, examples = (RELEVANCE * share / sum(shares) for share in shares)
    # Where all that is weighed speaks against items, it may take all that closeness gives.
    return phrases if speaks or not asked.weighted_clauses else RELEVANCE, description, examples


def _fit(sums: Floats) -> Floats:
    """How well the phrases fit, between -1 and 1: S / (|S| + HALF), S the weighted sum of their strengths."""
    return sums / (np.abs(sums) + HALF)


def _nearness(admitted: Ints, close: Sequence[_Close]) -> Floats:
    """How near the closest of these are, in 0–1; 0 where there are none."""
    if not close:
        return np.zeros(len(admitted))
    cosines = np.stack([each.cosines[admitted] for each in close])
    nearest = np.sort(cosines, axis=0)[-NEAREST:].mean(axis=0)
    scaled: Floats = np.sqrt(np.clip((nearest - FAR) / (NEAR - FAR), 0.0, 1.0))
    return scaled


def _ranked(index: ItemIndex, asked: _Asked, scores: _Scores, place: int, number: int, held: Held) -> Ranked:
    """The item that has this place among the admitted and this number in the index; `held` holds for it."""
    item = index.items[number]
    near = reasons.of_examples(_near(asked.close, number)) if asked.close else ""
    parts = [
        ScorePart("phrases", float(scores.phrases[place]), reasons.of_phrases(item, number, held)),
        ScorePart("labels", float(scores.labels[place]), ""),
        ScorePart("description", float(scores.description[place]), _describes(asked.described, number)),
        ScorePart("examples", float(scores.examples[place]), near),
    ]
    parts = [part for part in parts if part.value or part.why or part.name in ("phrases", "examples")]
    if asked.feedback:
        value = float(scores.feedback[place])
        parts.append(ScorePart("feedback", value, asked.feedback.reason(number, value)))
    return Ranked(item, float(scores.total[place]), (*parts, *index.parts(number)), float(scores.relevance[place]))


def _describes(described: Sequence[_Close], number: int) -> str:
    near = any(each.cosines[number] >= each.reason_threshold[number] for each in described)
    return "close to the topic's description" if near else ""


def _near(close: Sequence[_Close], number: int) -> list[Item | str]:
    """The examples that the item is close to, the closest first."""
    measured = [
        (cosine, each.example) for each in close if (cosine := each.cosines[number]) >= each.reason_threshold[number]
    ]
    return [example for _, example in sorted(measured, key=lambda pair: -pair[0])[:NEAREST]]


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


def diversify(index: ItemIndex, ranked: Sequence[Ranked], fits: Callable[[Ranked], bool] = lambda _: True) -> Diversified:
    """Go down the list, best first, and keep what is no near twin of what is kept, where there is room for it.

    Two entries are near twins when their texts are as near as `weights.TWIN` says, or `TWIN_BOTH` where both have vectors.
    An entry that is not of the index is nobody's twin. `fits` is asked once of each entry that is no twin, in order.
    Nothing is reordered: who reads "third best" should find the third best.
    """
    kept: list[Ranked] = []
    dropped: list[Dropped] = []
    over: list[Ranked] = []
    nearest = np.zeros(len(index.items))  # to anything kept, and
    whose = np.zeros(len(index.items), np.int64)  # to which of them
    for entry in ranked:
        number = index.number(entry.item.key)
        if number is not None and nearest[number] >= 1:
            dropped.append(Dropped(entry, kept[whose[number]]))
        elif not fits(entry):
            over.append(entry)
        else:
            if number is not None:
                sameness = index.sameness(number)
                closer = sameness > nearest
                nearest[closer], whose[closer] = sameness[closer], len(kept)
            kept.append(entry)
    return Diversified(tuple(kept), tuple(dropped), tuple(over))
