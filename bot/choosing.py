"""What becomes of every item of a digest's time: a place in it, or the one reason why it has none. Pure.

`choose` decides; `fate` and `try_on` tell of single items what it decided and which clause it was.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot import compose
from bot.models import And, Fate, Item, Judged, Not, Number, Or, Order, Ranked, Tree, Trial
from bot.query import Folded, match, matches
from bot.rank import Edition, Lesson, diversify, rank


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known besides the items of the time.

    `posted` are the keys that the channel was sent before, `shown` those that another digest made with this one shows.
    `partners` are the other halves of items by key, of the time or not.
    """

    posted: Collection[str] = frozenset()
    shown: Collection[str] = frozenset()
    examples: Sequence[Item | str] = ()
    lessons: Sequence[Lesson] = ()
    partners: Mapping[str, Item] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, and why each of the others was not, by key.

    `instead` is, for what was left out in favour of another item, that item: the better near twin, or the other half of
    the card on which the two were put.
    """

    cards: tuple[compose.Card, ...]
    dropped: Mapping[str, str]
    ranked: tuple[Ranked, ...]  # all that enter the topic, best first
    instead: Mapping[str, Item]


def choose(order: Order, items: Sequence[Item], edition: Edition, knowledge: Knowledge) -> Choice:
    """Give every item a place in the digest or the one reason why it has none.

    `edition` holds those of the items that are not too old to be news; everything is judged at its time.
    """
    now = edition.now
    dropped = _turned_away(order, items, knowledge, now)
    ranked = rank(edition, order.topic, examples=knowledge.examples, lessons=knowledge.lessons)
    entered = {each.item.key for each in ranked}
    dropped.update((item.key, compose.QUERY) for item in items if item.key not in entered and item.key not in dropped)
    passed = []
    for each in ranked:
        if each.item.key in dropped:
            continue
        if _stopping(order, each, now):
            dropped[each.item.key] = compose.FILTER
        elif each.score < least(order):
            dropped[each.item.key] = compose.SCORE
        else:
            passed.append(each)
    cards, joined = compose.pair(passed, _still_to_show(knowledge))
    varied, twins = _diversified(edition, cards)
    kept, capped = compose.cap(varied, order.limits)
    late = dict.fromkeys(twins, compose.TWIN) | capped
    # The half that does not lead is on its card, where that is shown; otherwise it shares what became of the card, unless
    # it was out before.
    halves = {key: dropped.get(key, late[lead.key]) if lead.key in late else compose.JOINED for key, lead in joined.items()}
    return Choice(tuple(kept), dropped | late | halves, tuple(ranked), twins | joined)


def least(order: Order) -> float:
    """Return the score that an entry needs."""
    return order.topic.min_score if order.min_score is None else order.min_score


def fate(order: Order, item: Item, choice: Choice, *, since: datetime, now: datetime) -> Fate:
    """Return what became of one of the items; `since` is where the digest begins, `now` when it was chosen."""
    place = next((place for place, each in enumerate(choice.ranked, 1) if each.item.key == item.key), None)
    ranked = choice.ranked[place - 1] if place else None
    reason = choice.dropped.get(item.key, "")
    return Fate(
        item=item,
        reason=reason,
        since=since,
        ranked=ranked,
        place=place,
        clause=_clause(order, item, ranked, reason, now),
        instead=choice.instead.get(item.key),
        least=least(order),
    )


def news(order: Order, items: Sequence[Item], now: datetime) -> list[Item]:
    """Return the items that are from the topic's sources and were news when they were first seen."""
    topic, limits = order.topic, order.limits
    return [
        item
        for item in items
        if not compose.turned_away(item, topic, posted=(), shown=(), limits=limits, now=item.seen or now)
    ]


def try_on(order: Order, seen: int, edition: Edition, knowledge: Knowledge, shown: int) -> Trial:
    """Try the filters on the items of the edition, which enter the topic; `seen` is of how many they are."""
    now = edition.now
    ranked = rank(edition, order.topic, examples=knowledge.examples, lessons=knowledge.lessons)
    stopped = {each.item.key for each in ranked if _stopping(order, each, now)}
    through = [each for each in ranked if each.item.key not in stopped]
    out = [each for each in ranked if each.item.key in stopped]
    return Trial(
        seen=seen,
        entered=len(ranked),
        passed=len(through),
        through=tuple(Judged(each, True, _why_through(order, each, now)) for each in through[:shown]),
        stopped=tuple(Judged(each, False, _why_stopped(order, each, now)) for each in out[:shown]),
    )


def filtering(order: Order) -> Tree:
    """Return what both filters of the order ask for together."""
    return And(tuple(tree for _, tree in _filters(order)))


def asks_for_score(tree: Tree) -> bool:
    """Say whether a score decides what the tree holds for: then no search can tell."""
    match tree:
        case Not(part):
            return asks_for_score(part)
        case And(parts) | Or(parts):
            return any(map(asks_for_score, parts))
        case _:
            return isinstance(tree, Number) and tree.field == "score"


def _turned_away(order: Order, items: Sequence[Item], knowledge: Knowledge, now: datetime) -> dict[str, str]:
    reasons = (
        (
            item.key,
            compose.turned_away(
                item, order.topic, posted=knowledge.posted, shown=knowledge.shown, limits=order.limits, now=now
            ),
        )
        for item in items
    )
    return {key: reason for key, reason in reasons if reason}


def _still_to_show(knowledge: Knowledge) -> dict[str, Item]:
    """The other halves that the channel has not had: what was posted is not posted again on the card of its other half."""
    before = (knowledge.posted, knowledge.shown)
    return {
        key: item for key, item in knowledge.partners.items() if not any(compose.stands_in(item, keys) for keys in before)
    }


def _diversified(edition: Edition, cards: Sequence[compose.Card]) -> tuple[list[compose.Card], dict[str, Item]]:
    """Let near twins of better cards give way; return what stays, and for each that does not the better one."""
    chosen = diversify(edition, [card.ranked for card in cards])
    kept = {each.item.key for each in chosen.kept}
    twins = {each.ranked.item.key: each.twin.item for each in chosen.dropped}
    return [card for card in cards if card.ranked.item.key in kept], twins


# --- clauses


def _filters(order: Order) -> list[tuple[str, Tree]]:
    """The filters that ask for something, each with its name."""
    both = (("the topic's filter", order.topic.filter.tree), ("this channel's filter", order.filter.tree))
    return [(name, tree) for name, tree in both if tree != And(())]


def _stopping(order: Order, ranked: Ranked, now: datetime) -> tuple[str, Tree] | None:
    """The first filter that does not let the item through, None when every one does."""
    filters = _filters(order)
    folded = Folded(ranked.item)
    return next((each for each in filters if not matches(each[1], folded, now, ranked.score)), None)


def _why_stopped(order: Order, ranked: Ranked, now: datetime) -> str:
    stopping = _stopping(order, ranked, now)
    if stopping is None:
        return ""
    name, tree = stopping
    why = match(tree, ranked.item, now, ranked.score).why
    return f"{why} ({name})" if len(_filters(order)) > 1 else why


def _why_through(order: Order, ranked: Ranked, now: datetime) -> str:
    trees = tuple(tree for _, tree in _filters(order))
    return "; ".join(match(tree, ranked.item, now, ranked.score).why for tree in trees or (And(()),))


def _clause(order: Order, item: Item, ranked: Ranked | None, reason: str, now: datetime) -> str:
    if reason == compose.FILTER and ranked is not None:
        return _why_stopped(order, ranked, now)
    if reason == compose.SOURCE:
        return f"source is {', '.join(item.sources)}, not {' or '.join(order.topic.sources)}"
    return match(order.topic.query.tree, item, now).why
