"""The score of every item of a day for one topic, and its reasons."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.errors import UsageError
from bot.models import Item, Ranked, ScorePart, Term, Topic
from bot.rank import reasons
from bot.rank.clauses import Claims, Clause, leaves_of
from bot.rank.edition import Edition
from bot.rank.reasons import Wish
from bot.rank.vectors import Floats
from bot.rank.weights import DIGITS, EXAMPLES_SHARE, FAR, HALF, NEAR, NEAREST, RELEVANCE, TELL

_KEY = re.compile(r"[a-z]+:\S+").fullmatch


@dataclass(frozen=True, slots=True)
class _Scores:
    """The parts that depend on the topic, for every item of the edition, and the sum of all."""

    phrases: Floats
    examples: Floats
    total: Floats


def rank(edition: Edition, topic: Topic, *, examples: Sequence[Item | str] = (), top: int | None = None) -> list[Ranked]:
    """Return the items that the topic's query and sources admit, best first; equal ones newest first, then by key.

    `examples` are the topic's, looked up: an item, or a text. A key that nobody knows (`arxiv:2606.01234`) is left out.
    `top` is how many are wanted, each with its reasons; None for all. The score says how much speaks for an item by itself:
    it depends on the other items of the day only through how rare words are and how many votes are many.

    Raises UsageError when a clause of an interest cannot be read.
    """
    admitted = np.flatnonzero(_admitted(edition, topic))
    wishes = _wishes(edition, topic)
    known = [each for each in examples if not isinstance(each, str) or edition.knows(each) or not _KEY(each)]
    scores = _score(edition, wishes, known)
    order = np.lexsort((edition.places[admitted], -scores.total[admitted]))
    chosen = admitted[order][:top]
    return [_ranked(edition, wishes, known, scores, int(number)) for number in chosen]


def _wishes(edition: Edition, topic: Topic) -> list[Wish]:
    """What the topic weighs: its interests, or, when none of them speaks for an item, the words of its query too."""
    wishes = [Wish(_asked(edition, each.clause), each.weight, each.clause) for each in topic.interests if each.weight]
    if not any(wish.weight > 0 for wish in wishes):
        words = (leaf for leaf in leaves_of(topic.query.tree) if isinstance(leaf, Term) or leaf.field == "category")
        wishes += [Wish(edition.clause(word), 1.0, "") for word in words]
    return wishes


def _asked(edition: Edition, clause: str) -> Clause:
    try:
        return edition.clause(clause)
    except UsageError as error:
        raise UsageError(
            f'The interest "{clause}" cannot be read: {error}', position=error.position, hint=error.hint
        ) from error


def _admitted(edition: Edition, topic: Topic) -> Claims:
    admitted = edition.admits(topic.query.tree)
    return admitted & edition.from_sources(frozenset(topic.sources)) if topic.sources else admitted


def _score(edition: Edition, wishes: Sequence[Wish], examples: Sequence[Item | str]) -> _Scores:
    of_phrases, of_examples = _shares(wishes, examples)
    near = np.round(_nearness(edition, examples) * of_examples, DIGITS)
    others = edition.by_itself + near
    # Negative interests may take everything that speaks for an item, and no more: a score is never below 0.
    phrases = np.maximum(np.round(_fit(edition, wishes) * of_phrases, DIGITS), -others)
    return _Scores(phrases, near, np.round(phrases + others, DIGITS))


def _shares(wishes: Sequence[Wish], examples: Sequence[Item | str]) -> tuple[float, float]:
    """How much phrases and examples may add."""
    if not examples:
        return RELEVANCE, 0.0
    if not any(wish.weight > 0 for wish in wishes):
        return RELEVANCE if wishes else 0.0, RELEVANCE
    return RELEVANCE * (1 - EXAMPLES_SHARE), RELEVANCE * EXAMPLES_SHARE


def _fit(edition: Edition, wishes: Sequence[Wish]) -> Floats:
    """How well the phrases fit, between -1 and 1: S / (|S| + HALF), S the weighted sum of their strengths."""
    sums = np.zeros(len(edition.items))
    for wish in wishes:
        sums[wish.clause.items] += wish.weight * wish.clause.strengths
    return sums / (np.abs(sums) + HALF)


def _nearness(edition: Edition, examples: Sequence[Item | str]) -> Floats:
    """How near the closest examples are, in 0–1."""
    if not examples:
        return np.zeros(len(edition.items))
    close = np.stack([edition.closeness(example) for example in examples])
    nearest = np.sort(close, axis=0)[-NEAREST:].mean(axis=0)
    scaled: Floats = np.clip((nearest - FAR) / (NEAR - FAR), 0.0, 1.0)
    return scaled


def _ranked(
    edition: Edition, wishes: Sequence[Wish], examples: Sequence[Item | str], scores: _Scores, number: int
) -> Ranked:
    item = edition.items[number]
    phrases = ScorePart("phrases", float(scores.phrases[number]), reasons.of_phrases(item, number, wishes))
    near = ScorePart("examples", float(scores.examples[number]), reasons.of_examples(_close(edition, examples, number)))
    return Ranked(item, float(scores.total[number]), (phrases, near, *edition.parts(number)))


def _close(edition: Edition, examples: Sequence[Item | str], number: int) -> list[tuple[float, Item | str]]:
    """The examples that the item is close to, the closest first."""
    measured = [(float(edition.closeness(example)[number]), example) for example in examples]
    return sorted((each for each in measured if each[0] >= TELL), key=lambda each: -each[0])[:NEAREST]
