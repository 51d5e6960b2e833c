"""The score of every item of a day for one topic, with its reasons; and which near twins give way.

Of two entries that say the same, the better placed one stays.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain

import numpy as np

from bot.errors import UsageError
from bot.models import And, Interest, Item, Ranked, ScorePart, Term, Topic, Tree
from bot.rank import reasons
from bot.rank.clauses import (
    Claims,
    ClauseRow,
    HeldClause,
    Phrase,
    WeightedClause,
    WeightedMatches,
    besides_words,
    clause_row,
    in_words,
    leaves_of,
    phrases_in,
    weighted,
)
from bot.rank.corpus import Floats, Ints
from bot.rank.feedback import FeedbackEffect, MarkedItem, feedback_effect
from bot.rank.item_index import ItemIndex, tree_of
from bot.rank.meaning import NO_VECTORS
from bot.rank.weights import (
    BY_DESCRIPTION,
    BY_EXAMPLES,
    BY_PHRASES,
    DIGITS,
    ENTERS,
    FAR,
    HALF,
    NEAR,
    NEAREST,
    RELEVANCE,
    TELL,
)

_AT_ONCE = 400_000  # scores of topics for items that are worked out together; each takes some 8 bytes several times over
_KEY = re.compile(r"[a-z]+:\S+").fullmatch


@dataclass(frozen=True, slots=True)
class TopicInputs:
    """A topic to be scored, with what is known besides.

    `examples` are the topic's, looked up: an item, or a text. A key that nobody knows (`arxiv:2606.01234`) is left out.
    `marked` are the items that people marked for this topic; without any a score has no part named feedback.
    `vectors` are those of examples and marked items that the index does not have, by key, and of texts, by the text.
    `among` says of every item of the index whether it is asked about; None for all.
    """

    topic: Topic
    examples: Sequence[Item | str] = ()
    marked: Sequence[MarkedItem] = ()
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    among: Claims | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Compiled:
    """What a topic weighs and asks for, read once for all days."""

    clauses: ClauseRow
    topical: ClauseRow  # by words alone: what an item is or has beside them does not make it relevant
    speaks: bool  # whether any of them speaks for an item
    any_of: tuple[Phrase, ...]  # of which the query asks for any; none, where it asks for something else
    phrases: tuple[Phrase, ...]  # all that are looked up for it
    besides: Tree  # what its query asks for besides words


@dataclass(frozen=True, slots=True)
class _Close:
    """An example, and the closeness of the admitted items to it, as a cosine, in their order."""

    example: Item | str
    packed: bytes | None  # its vector, where the index has none
    cosines: Floats


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a topic asks for on this day, and which items it admits."""

    compiled: _Compiled
    admitted: Ints
    described: Sequence[_Close]  # one, or none
    close: Sequence[_Close]
    feedback: FeedbackEffect | None


@dataclass(frozen=True, slots=True)
class _Scores:
    """The parts that depend on the topic, and the sum of all; relevance is that of the topical.

    Each is a row for the admitted items of some topics, topic by topic.
    """

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
    numbers: Ints
    _order: Ints  # the place of each in the rows of the scores
    _start: int  # where the topic's begin there
    _asked: _Asked
    _scores: _Scores
    _held: Callable[[Sequence[int]], list[list[HeldClause]]]

    def without_reasons(self, top: int | None = None) -> list[Ranked]:
        """Return the items with their scores alone, the best of them where only so many are wanted."""
        order = self._order[:top]
        totals, relevance = self._scores.total[order].tolist(), self._scores.relevance[order].tolist()
        items = self.index.items
        pairs = zip(self.numbers[:top].tolist(), totals, relevance, strict=True)
        return [Ranked(items[number], total, relevance=share) for number, total, share in pairs]

    def with_reasons(self, ranks: Sequence[int] | None = None) -> list[Ranked]:
        """Return those of these ranks, the best being 0, with the parts of their scores and the reasons; None for all."""
        wanted = np.arange(len(self.numbers)) if ranks is None else np.array(ranks, np.int64)
        numbers = self.numbers[wanted].tolist()
        places = zip(self._order[wanted].tolist(), numbers, self._held(numbers), strict=True)
        return [self._ranked(*each) for each in places]

    def matching(self, tree: Tree) -> Claims:
        """Return for each of them whether the tree holds, of its score too."""
        scores = np.full(len(self.index.items), np.nan)
        scores[self.numbers] = self._scores.total[self._order]
        claims: Claims = self.index.admits(tree, scores)[self.numbers]
        return claims

    def _ranked(self, place: int, number: int, held: Sequence[HeldClause]) -> Ranked:
        """The item that has this place in the rows and this number in the index; `held` hold for it."""
        item, scores, asked, own = self.index.items[number], self._scores, self._asked, place - self._start
        near = reasons.of_examples(_near(self.index, asked.close, own, number)) if asked.close else ""
        about = "close to the topic's description" if _near(self.index, asked.described, own, number) else ""
        parts = [
            ScorePart("phrases", float(scores.phrases[place]), reasons.of_phrases(item, number, held)),
            ScorePart("labels", float(scores.labels[place]), ""),
            ScorePart("description", float(scores.description[place]), about),
            ScorePart("examples", float(scores.examples[place]), near),
        ]
        parts = [part for part in parts if part.value or part.why or part.name in ("phrases", "examples")]
        if asked.feedback:
            value = float(scores.feedback[place])
            parts.append(ScorePart("feedback", value, asked.feedback.reason(number, value)))
        return Ranked(item, float(scores.total[place]), (*parts, *self.index.parts(number)), float(scores.relevance[place]))


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
    (scored,) = score(index, [TopicInputs(topic, examples, marked, vectors)])
    return scored.with_reasons(range(len(scored.numbers))[:top])


def score(index: ItemIndex, asked: Sequence[TopicInputs]) -> list[Scored]:
    """Return for each topic the items that enter it, best first; equal ones newest first, then by key.

    An item enters by the topic's query, or, where it has a vector, by being near to the topic's description and examples:
    then it meets what the query asks for besides words (`besides_words`). The topic's sources hold for all.

    The score says how much speaks for an item by itself: it depends on the other items of the index only through how rare
    words are and how many votes are many, and not on what other topics are asked about with it. A topic among many takes
    about a third of what it takes alone.

    Raises UsageError when a clause of an interest cannot be read.
    """
    step = max(_AT_ONCE // max(len(index.items), 1), 1)
    parts = (asked[at : at + step] for at in range(0, len(asked), step))
    return [scored for part in parts for scored in _score_together(index, part)]


def _score_together(index: ItemIndex, inputs: Sequence[TopicInputs]) -> Iterator[Scored]:
    compiled = [_compiled(each.topic.query.tree, each.topic.interests) for each in inputs]
    index.look_up(chain.from_iterable(each.phrases for each in compiled))
    texts = [_texts(index, each) for each in inputs]
    admitted_by = [_admitted(index, *each) for each in zip(inputs, compiled, texts, strict=True)]
    asked = _asked(index, inputs, compiled, texts, admitted_by)
    matches = index.weigh_clauses([each.clauses for each in compiled])
    scores = _score(index, asked, matches)
    sizes = [len(each.admitted) for each in asked]
    admitted = np.concatenate([each.admitted for each in asked])
    order = _best_first(np.repeat(np.arange(len(asked)), sizes), scores.total, index.places[admitted])
    numbers, start = admitted[order], 0
    for row, (each, size) in enumerate(zip(asked, sizes, strict=True)):
        end = start + size
        yield Scored(index, numbers[start:end], order[start:end], start, each, scores, partial(matches.held, row))
        start = end


def _best_first(rows: Ints, totals: Floats, places: Ints) -> Ints:
    """The order row by row, the largest total first, then by place; one sort, since totals have few digits and end at 1."""
    steps = 10**DIGITS
    behind = 2 * steps - np.rint(totals * steps).astype(np.int64)
    order: Ints = np.argsort((rows * (2 * steps + 1) + behind) * (int(places.max(initial=0)) + 1) + places)
    return order


def description_text(topic: Topic) -> str:
    """Return what a topic says that it is about, as a text to be close to; "" where it says nothing beyond its title."""
    return f"{topic.title}. {topic.description}" if is_described(topic) else ""


def is_described(topic: Topic) -> bool:
    """Say whether a topic says what it is about beyond its title."""
    return topic.description.strip() != ""


@lru_cache(maxsize=1 << 14)
def _compiled(query: Tree, interests: Sequence[Interest]) -> _Compiled:
    """Topics ask the same of every day: each is read once, in the life of the service; about 4 kB each."""
    clauses = _weighted_clauses(query, interests)
    topical = _topical(clauses)
    phrases = dict.fromkeys(phrases_in(query))
    for each in {*clauses, *topical}:
        phrases |= dict.fromkeys(each.phrases or phrases_in(each.tree))
    row = clause_row(clauses)
    return _Compiled(
        clauses=row,
        topical=row if topical is clauses or topical == clauses else clause_row(topical),
        speaks=any(each.weight > 0 for each in clauses),
        any_of=weighted(query, 1.0, "").phrases,
        phrases=tuple(phrases),
        besides=besides_words(query),
    )


def _weighted_clauses(query: Tree, interests: Sequence[Interest]) -> tuple[WeightedClause, ...]:
    """What the topic weighs: its interests, or, when none of them speaks for an item, the words of its query too."""
    clauses = [weighted(_tree_of(each.clause), each.weight, each.clause) for each in interests if each.weight]
    if not any(each.weight > 0 for each in clauses):
        words = (leaf for leaf in leaves_of(query) if isinstance(leaf, Term) or leaf.field == "category")
        clauses += [weighted(word, 1.0, "") for word in words]
    return tuple(clauses)


def _tree_of(clause: str) -> Tree:
    try:
        return tree_of(clause)
    except UsageError as error:
        sentence = f'The interest "{clause}" cannot be read: {error}'
        raise UsageError(sentence, position=error.position, hint=error.hint) from error


def _topical(clauses: tuple[WeightedClause, ...]) -> tuple[WeightedClause, ...]:
    """The same clauses by their words alone, where any has words; a label such as `has:code` makes nothing relevant."""
    found = []
    for each in clauses:
        tree = in_words(each.tree)
        if tree is not None:
            found.append(each if tree == each.tree else weighted(tree, each.weight, each.text))
    return tuple(found) if any(each.weight > 0 for each in found) else clauses


def _texts(index: ItemIndex, inputs: TopicInputs) -> list[Item | str]:
    """What items are close to where they are close to the topic: its description, where it has one, then its examples."""
    described = [text] if (text := description_text(inputs.topic)) else []
    return [*described, *(each for each in inputs.examples if _says_something(index, each))]


def _admitted(index: ItemIndex, inputs: TopicInputs, compiled: _Compiled, texts: Sequence[Item | str]) -> Ints:
    """Which items enter: by the query, or by meaning where they meet what the query asks for besides words."""
    topic = inputs.topic
    claims = index.having(compiled.any_of) if compiled.any_of else index.admits(topic.query.tree)
    if texts and topic.query.tree != And(()) and index.compares():
        claims = claims | (_enters_by_meaning(index, inputs, texts) & index.admits(compiled.besides))
    if topic.sources:
        claims = claims & index.from_sources(frozenset(topic.sources))
    return np.flatnonzero(claims if inputs.among is None else claims & inputs.among)


def _asked(
    index: ItemIndex,
    inputs: Sequence[TopicInputs],
    compiled: Sequence[_Compiled],
    texts: Sequence[Sequence[Item | str]],
    admitted: Sequence[Ints],
) -> list[_Asked]:
    """What the topics ask for, the texts measured on the admitted items alone."""
    compared = [row for row, each in enumerate(texts) if each]
    closeness = index.closeness_of([admitted[row] for row in compared])
    close: list[list[_Close]] = [[] for _ in inputs]
    for place, row in enumerate(compared):
        for each in texts[row]:
            packed = _packed(each, inputs[row].vectors)
            close[row].append(_Close(each, packed, closeness(place, each, packed)))
    return [
        _Asked(
            each,
            admitted[row],
            close[row][: is_described(one.topic)],
            close[row][is_described(one.topic) :],
            feedback_effect(index, one.marked, one.vectors) if one.marked else None,
        )
        for row, (each, one) in enumerate(zip(compiled, inputs, strict=True))
    ]


def _says_something(index: ItemIndex, example: Item | str) -> bool:
    """Say whether an example is an item, the key of a known one, or a text."""
    return not isinstance(example, str) or index.knows(example) or (example.strip() != "" and not _KEY(example))


def _packed(example: Item | str, vectors: Mapping[str, bytes]) -> bytes | None:
    return vectors.get(example if isinstance(example, str) else example.key)


def _enters_by_meaning(index: ItemIndex, inputs: TopicInputs, texts: Sequence[Item | str]) -> Claims:
    """Which items are so near to the topic, compared by vectors, that they enter it whatever their words are."""
    pairs = [(each, _packed(each, inputs.vectors)) for each in texts]
    cosines, described = [index.closeness(*each) for each in pairs], is_described(inputs.topic)
    shares = [(BY_DESCRIPTION, cosines[:described]), (BY_EXAMPLES, cosines[described:])]
    near = np.sum([share * _nearness(each) for share, each in shares if each], axis=0)
    near /= sum(share for share, each in shares if each)
    entered: Claims = np.all([index.compared(*each) for each in pairs], axis=0) & (near >= ENTERS)
    return entered


def _score(index: ItemIndex, asked: Sequence[_Asked], matches: WeightedMatches) -> _Scores:
    """Score the admitted items of all these topics in one row."""
    admitted = np.concatenate([each.admitted for each in asked])
    sizes = [len(each.admitted) for each in asked]
    of_phrases, of_description, of_examples = np.repeat(np.array([_shares(each) for each in asked]), sizes, axis=0).T
    description = np.round(_near_rows([each.described for each in asked], sizes) * of_description, DIGITS)
    examples = np.round(_near_rows([each.close for each in asked], sizes) * of_examples, DIGITS)
    near = description + examples
    others = index.by_itself[admitted] + near
    rows = np.repeat(np.arange(len(asked)), sizes)
    sums = matches.sums()[rows, admitted]
    topical = np.round(_fit(_topical_sums(index, asked, sums)) * of_phrases, DIGITS)
    labels = np.round(_fit(sums) * of_phrases, DIGITS) - topical
    # Negative interests may take everything that speaks for an item, and no more: a score is never below 0.
    labels = np.round(labels.clip(min=-others), DIGITS).astype(float, copy=False)
    phrases = np.maximum(topical, -(others + labels))
    total = np.round(phrases + labels + others, DIGITS)
    relevance = np.round(phrases + near, DIGITS).astype(float, copy=False).clip(min=0.0)
    scores = _Scores(phrases, labels, description, examples, np.zeros(len(total)), relevance, total)
    _learn(asked, scores)
    return scores


def _topical_sums(index: ItemIndex, asked: Sequence[_Asked], sums: Floats) -> Floats:
    """The sums of the clauses by their words alone; of most topics they are the same."""
    others = [row for row, each in enumerate(asked) if each.compiled.topical is not each.compiled.clauses]
    if not others:
        return sums
    found = index.weigh_clauses([asked[row].compiled.topical for row in others]).sums()
    edges = np.cumsum([0, *(len(each.admitted) for each in asked)])
    sums = sums.copy()
    for place, row in enumerate(others):
        sums[edges[row] : edges[row + 1]] = found[place, asked[row].admitted]
    return sums


def _learn(asked: Sequence[_Asked], scores: _Scores) -> None:
    """Add what the topics learned to the relevance and the total of their items."""
    start = 0
    for each in asked:
        here = slice(start, start + len(each.admitted))
        start = here.stop
        if each.feedback is not None:
            near = scores.phrases[here] + (scores.description[here] + scores.examples[here])
            learned = each.feedback.part(each.admitted, near, scores.total[here])
            scores.feedback[here] = learned
            scores.relevance[here] = (scores.relevance[here] + learned).clip(min=0.0)
            scores.total[here] = np.round(scores.total[here] + learned, DIGITS)


def _shares(asked: _Asked) -> tuple[float, float, float]:
    """How much phrases, description and examples may add: what a topic lacks, the others share."""
    speaks = asked.compiled.speaks
    shares = (
        BY_PHRASES if speaks else 0.0,
        BY_DESCRIPTION if asked.described else 0.0,
        BY_EXAMPLES if asked.close else 0.0,
    )
    if not any(shares):
        return (RELEVANCE if asked.compiled.clauses.clauses else 0.0), 0.0, 0.0
    phrases, description, examples = (RELEVANCE * share / sum(shares) for share in shares)
    # Where all that is weighed speaks against items, it may take all that closeness gives.
    return phrases if speaks or not asked.compiled.clauses.clauses else RELEVANCE, description, examples


def _fit(sums: Floats) -> Floats:
    """How well the phrases fit, between -1 and 1: S / (|S| + HALF), S the weighted sum of their strengths."""
    return sums / (np.abs(sums) + HALF)


def _near_rows(close: Sequence[Sequence[_Close]], sizes: Sequence[int]) -> Floats:
    """How near the admitted items of each topic are to what stands for it; 0 where nothing does."""
    rows = [
        _nearness([one.cosines for one in each]) if each else np.zeros(size) for each, size in zip(close, sizes, strict=True)
    ]
    return np.concatenate(rows)


def _nearness(cosines: Sequence[Floats]) -> Floats:
    """How near items are to the closest of some examples, in 0–1, by how close they are to each."""
    nearest = np.sort(np.stack(cosines), axis=0)[-NEAREST:].mean(axis=0)
    scaled: Floats = np.sqrt(np.clip((nearest - FAR) / (NEAR - FAR), 0.0, 1.0))
    return scaled


def _near(index: ItemIndex, close: Sequence[_Close], place: int, number: int) -> list[Item | str]:
    """The examples that the item is close to, the closest first."""
    measured = [
        (cosine, each.example)
        for each in close
        if (cosine := each.cosines[place]) >= TELL and cosine >= index.reason_threshold_of(number, each.example, each.packed)
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
