"""What becomes of every item of a digest's time: a place in it, or the one reason why it has none. Pure.

`select` decides; `outcome` and `try_filters` say of single items what it decided and which clause it was.

Every item is kept or dropped for exactly one reason, so that the footer can say where everything went.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np

from bot.models import And, DigestRequest, FilterTest, Item, ItemOutcome, Kind, Limits, Ranked, TestedItem, Tree
from bot.query import match, matches
from bot.rank import Candidates, ItemIndex, MarkedItem, Scored, TopicInputs, diversify, score
from bot.rank.clauses import Claims
from bot.rank.events import has_unposted_release
from bot.rank.reasons import is_one_phrase_alone

# Why an item is not in the digest, in the order in which the rules are asked; the footer names them in these words.
OLD = "too old"
WITHDRAWN = "withdrawn"
POSTED = "already posted"
SHOWN = "in a digest above"  # of the same hour and channel, for another topic
SOURCE = "from a source the topic leaves out"
QUERY = "outside the topic"
NO_EVENT = "repositories without an event"  # bot/rank/events.py says what is one
FILTER = "filtered out"
SCORE = "below the bar"
JOINED = "on one card with another"
TWIN = "near twins"
CAP = "over the cap"
REASONS = (OLD, WITHDRAWN, POSTED, SHOWN, SOURCE, QUERY, NO_EVENT, FILTER, SCORE, JOINED, TWIN, CAP)

# Of what is on topic, or was found to be.
ON_TOPIC = frozenset({POSTED, SHOWN, FILTER, TWIN, CAP})

# Why the next digest does not even look at an item: it arrived before. No footer says so: none counts what it has not seen.
NOT_IN_TIME = "not in its time"


@dataclass(frozen=True, slots=True)
class Card:
    """A chosen item and its other half, which is shown on the same card."""

    ranked: Ranked
    partner: Item | None = None


@dataclass(frozen=True, slots=True)
class SelectionContext:
    """What is known besides the items of the time.

    `posted` are the keys that the channel was sent before, `shown` those that another digest made with this one shows.
    `vectors` are those of examples and marked items, by key, and of texts, as far as there are any. `partners` are the other
    halves of items by key, of the time or not.
    """

    posted: Collection[str] = frozenset()
    shown: Collection[str] = frozenset()
    examples: Sequence[Item | str] = ()
    marked: Sequence[MarkedItem] = ()
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    partners: Mapping[str, Item] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen, and why each of the others was not, by key.

    `instead` is, for what was left out in favour of another item, that item: the better near twin, or the other half of
    the card on which the two were put.
    """

    cards: tuple[Card, ...]
    passed: tuple[Card, ...]  # these and those that were over the cap or near twins, best first, without reasons
    dropped: Mapping[str, str]
    ranked: tuple[Ranked, ...]  # all that enter the topic, best first, without reasons
    scored: Scored  # which finds the reasons
    instead: Mapping[str, Item]


class ToSelect(NamedTuple):
    """What a digest is selected from, and by what."""

    request: DigestRequest
    candidates: Candidates
    context: SelectionContext


def select(request: DigestRequest, candidates: Candidates, context: SelectionContext) -> Selection:
    """Give every candidate a place in the digest or the one reason why it has none, as of the index's time."""
    (selection,) = select_together([ToSelect(request, candidates, context)])
    return selection


def select_together(asked: Sequence[ToSelect]) -> list[Selection]:
    """Do the same for several digests of one index: what each would get alone, in less time."""
    dropped = [_turned_away(*each) for each in asked]
    inputs = [
        _inputs(each.request, _without_old(each.candidates, gone), each.context)
        for each, gone in zip(asked, dropped, strict=True)
    ]
    scored = score(asked[0].candidates.index, inputs) if asked else []
    return [_selection(*each) for each in zip(asked, dropped, scored, strict=True)]


def _selection(asked: ToSelect, dropped: dict[str, str], scored: Scored) -> Selection:
    request, candidates, context = asked
    ranked = scored.without_reasons()
    judged = {each.item.key for each in ranked} | dropped.keys()
    # What was no news when it came is not in the index.
    dropped |= {key: QUERY if known else OLD for key, known in candidates.is_indexed.items() if key not in judged}
    passed = []
    for each, passes in zip(ranked, scored.matching(filtering(request)).tolist(), strict=True):
        if each.item.key in dropped:
            continue
        if not _is_news(each.item, candidates.index):
            dropped[each.item.key] = NO_EVENT
        elif not passes:
            dropped[each.item.key] = FILTER
        elif each.relevance < least(request):
            dropped[each.item.key] = SCORE
        else:
            passed.append(each)
    cards, joined = pair_halves(passed, _still_to_show(context))
    kept, late, twins = _diversified(request, candidates.index, cards)
    # The half that does not lead is on its card, where that is shown; otherwise it shares what became of the card, unless
    # it was out before.
    halves = {key: dropped.get(key, late[lead.key]) if lead.key in late else JOINED for key, lead in joined.items()}
    chosen = _first_by_more(_with_reasons(kept, scored, ranked))
    return Selection(chosen, tuple(cards), dropped | late | halves, tuple(ranked), scored, twins | joined)


def _turned_away(request: DigestRequest, candidates: Candidates, context: SelectionContext) -> dict[str, str]:
    """Why each of those is not to be ranked that are not, by key; most are asked about no further."""
    now, max_age, sources = candidates.index.now, request.limits.max_age, request.topic.sources
    before = frozenset(context.posted).union(context.shown)
    asked = (
        item
        for item in candidates.items
        if sources or item.withdrawn or item.key in before or item.aliases or item.is_old(max_age, now)
    )
    reasons = ((item.key, turned_away(item, request, context, now)) for item in asked)
    return {key: reason for key, reason in reasons if reason}


def _scored(request: DigestRequest, index: ItemIndex, among: Claims, context: SelectionContext) -> Scored:
    (scored,) = score(index, [_inputs(request, among, context)])
    return scored


def _inputs(request: DigestRequest, among: Claims, context: SelectionContext) -> TopicInputs:
    return TopicInputs(request.topic, context.examples, context.marked, context.vectors, among)


def _without_old(candidates: Candidates, dropped: Mapping[str, str]) -> Claims:
    """What became too old since it was first seen is not ranked."""
    old = [candidates.index.number(key) for key, reason in dropped.items() if reason == OLD]
    among = candidates.among.copy()
    among[[number for number in old if number is not None]] = False
    return among


def _is_news(item: Item, index: ItemIndex) -> bool:
    number = index.number(item.key)
    return number is None or index.is_news(number)


def _with_reasons(cards: Sequence[Card], scored: Scored, ranked: Sequence[Ranked]) -> tuple[Card, ...]:
    """The cards with the reasons of what leads them."""
    ranks = {id(each): rank for rank, each in enumerate(ranked)}
    told = scored.with_reasons([ranks[id(card.ranked)] for card in cards])
    return tuple(Card(each, card.partner) for each, card in zip(told, cards, strict=True))


def _first_by_more(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """The cards, the first of them one for which more speaks than one phrase alone, where there is any.

    Who opens a digest reads its first entry: it is none that only mentions a word.
    """
    at = next((at for at, card in enumerate(cards) if not is_one_phrase_alone(card.ranked)), 0)
    return (*cards[at : at + 1], *cards[:at], *cards[at + 1 :])


def least(request: DigestRequest) -> float:
    """Return the relevance that an entry needs."""
    return request.topic.min_score if request.min_score is None else request.min_score


def outcome(request: DigestRequest, item: Item, selection: Selection, *, since: datetime, now: datetime) -> ItemOutcome:
    """Return what became of one of the items; `since` is where the digest begins, `now` when it was chosen."""
    place = next((place for place, each in enumerate(selection.ranked, 1) if each.item.key == item.key), None)
    (ranked,) = selection.scored.with_reasons([place - 1]) if place else (None,)
    reason = selection.dropped.get(item.key, "")
    return ItemOutcome(
        item=item,
        reason=reason,
        since=since,
        ranked=ranked,
        place=place,
        clause=_clause(request, item, ranked, reason, now),
        instead=selection.instead.get(item.key),
        least=least(request),
    )


def with_place(found: ItemOutcome, request: DigestRequest, candidates: Candidates, context: SelectionContext) -> ItemOutcome:
    """Return what became of an item that was judged by itself, with the place that it would have among the candidates."""
    if found.ranked is None:
        return found
    ranked = _scored(request, candidates.index, candidates.among, context).without_reasons()
    return replace(found, place=1 + sum(each.score > found.ranked.score for each in ranked))


def rank_together(
    request: DigestRequest, groups: Sequence[Candidates], context: SelectionContext, shown: slice
) -> list[Ranked]:
    """Return those of several groups that enter the topic, best first; those of the ranks that are `shown` have reasons."""
    scored = [_scored(request, candidates.index, candidates.among, context) for candidates in groups]
    ranked = [(each, which, rank) for which, one in enumerate(scored) for rank, each in enumerate(one.without_reasons())]
    ranked.sort(key=lambda each: -each[0].score)
    places = range(len(ranked))[shown]
    return [
        scored[which].with_reasons([rank])[0] if place in places else each
        for place, (each, which, rank) in enumerate(ranked)
    ]


def try_filters(request: DigestRequest, candidates: Candidates, context: SelectionContext, shown: int) -> FilterTest:
    """Try the filters on what enters the topic; what was no news when it was first seen does not: it would not be posted."""
    index, now = candidates.index, candidates.index.now
    withdrawn = np.fromiter((item.withdrawn for item in index.items), bool, len(index.items))
    scored = _scored(request, index, candidates.among & ~withdrawn, context)
    passes = scored.matching(filtering(request))
    through, out = (
        scored.with_reasons(np.flatnonzero(passes)[:shown].tolist()),
        scored.with_reasons(np.flatnonzero(~passes)[:shown].tolist()),
    )
    return FilterTest(
        seen=len(candidates.items),
        entered=len(passes),
        passed=int(passes.sum()),
        through=tuple(TestedItem(each, True, _why_through(request, each, now)) for each in through),
        stopped=tuple(TestedItem(each, False, _why_stopped(request, each, now)) for each in out),
    )


def filtering(request: DigestRequest) -> Tree:
    """Return what both filters of the request ask for together."""
    return And(tuple(tree for _, tree in _filters(request)))


def turned_away(item: Item, request: DigestRequest, context: SelectionContext, now: datetime) -> str:
    """Return why the item is not to be ranked for the topic at all, "" when it is."""
    if item.is_old(request.limits.max_age, now):
        return OLD
    if item.withdrawn:
        return WITHDRAWN
    if context.posted and is_posted(item, context.posted, now):
        return POSTED
    if context.shown and stands_in(item, context.shown):
        return SHOWN
    wanted = request.topic.sources
    if wanted and not any(source.split(":")[0] in wanted or source in wanted for source in item.sources):
        return SOURCE
    return ""


def stands_in(item: Item, keys: Collection[str]) -> bool:
    """Say whether the work is among the keys, under its own or another that it went by."""
    return item.key in keys or (bool(item.aliases) and any(alias in keys for alias in item.aliases))


def is_posted(item: Item, posted: Collection[str], now: datetime) -> bool:
    """Say whether the work is among what was posted, and nothing has happened to it since for which it is posted again."""
    return stands_in(item, posted) and not has_unposted_release(item, posted, now)


def pair_halves(ranked: Sequence[Ranked], known: Mapping[str, Item]) -> tuple[list[Card], dict[str, Item]]:
    """Put a paper and its repository on one card: the better-placed half leads.

    Return the cards, and for the key of each other half the item that leads. `known` holds the other halves by key, ranked
    or not; one repository goes with one paper only.
    """
    cards: list[Card] = []
    joined: dict[str, Item] = {}
    leading: set[str] = set()
    for entry in ranked:
        item = entry.item
        if item.key in joined:
            continue
        partner = known.get(item.repo or item.paper)
        if partner is not None and (
            partner.key in joined or partner.key in leading or partner.kind is item.kind or partner.withdrawn
        ):
            partner = None
        cards.append(Card(entry, partner))
        leading.add(item.key)
        if partner is not None:
            joined[partner.key] = item
    return cards, joined


def _still_to_show(context: SelectionContext) -> dict[str, Item]:
    """The other halves that the channel has not had: what was posted is not posted again on the card of its other half."""
    before = (context.posted, context.shown)
    return {key: item for key, item in context.partners.items() if not any(stands_in(item, keys) for keys in before)}


def _diversified(
    request: DigestRequest, index: ItemIndex, cards: Sequence[Card]
) -> tuple[list[Card], dict[str, str], dict[str, Item]]:
    """Let near twins of better cards give way, and keep as many as the limits allow.

    Return what stays, the reasons of the others by key, and for each near twin the better one.
    """
    fits, by_key = room(request.limits), {card.ranked.item.key: card for card in cards}
    chosen = diversify(index, [card.ranked for card in cards], lambda each: fits(by_key[each.item.key]))
    twins = {each.ranked.item.key: each.twin.item for each in chosen.dropped}
    late = dict.fromkeys(twins, TWIN) | {each.item.key: CAP for each in chosen.over}
    return [by_key[each.item.key] for each in chosen.kept], late, twins


def room(limits: Limits) -> Callable[[Card], bool]:
    """Return what says of card after card whether there is room for it; repositories that stand alone have a limit too."""
    entries = repositories = 0

    def fits(card: Card) -> bool:
        nonlocal entries, repositories
        alone = card.ranked.item.kind is Kind.REPO and card.partner is None
        if entries >= limits.entries or (alone and repositories >= limits.repositories):
            return False
        entries += 1
        repositories += alone
        return True

    return fits


# --- clauses


def _filters(request: DigestRequest) -> list[tuple[str, Tree]]:
    """The filters that ask for something, each with its name."""
    both = (("the topic's filter", request.topic.filter.tree), ("this channel's filter", request.filter.tree))
    return [(name, tree) for name, tree in both if tree != And(())]


def _stopping(request: DigestRequest, ranked: Ranked, now: datetime) -> tuple[str, Tree] | None:
    """The first filter that does not let the item through, None when every one does."""
    return next((each for each in _filters(request) if not matches(each[1], ranked.item, now, ranked.score)), None)


def _why_stopped(request: DigestRequest, ranked: Ranked, now: datetime) -> str:
    stopping = _stopping(request, ranked, now)
    if stopping is None:
        return ""
    name, tree = stopping
    why = match(tree, ranked.item, now, ranked.score).why
    return f"{why} ({name})" if len(_filters(request)) > 1 else why


def _why_through(request: DigestRequest, ranked: Ranked, now: datetime) -> str:
    trees = tuple(tree for _, tree in _filters(request))
    return "; ".join(match(tree, ranked.item, now, ranked.score).why for tree in trees or (And(()),))


def _clause(request: DigestRequest, item: Item, ranked: Ranked | None, reason: str, now: datetime) -> str:
    if reason == FILTER and ranked is not None:
        return _why_stopped(request, ranked, now)
    if reason == SOURCE:
        return f"source is {', '.join(item.sources)}, not {' or '.join(request.topic.sources)}"
    return match(request.topic.query.tree, item, now).why
