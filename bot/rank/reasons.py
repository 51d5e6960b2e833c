"""Why an item has its score, in words. Everything said is a stored fact: what the item's text has, who wrote it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.models import Item, Term
from bot.query.fields import spellings_of
from bot.query.fold import found, indexed
from bot.rank.clauses import Clause, Leaf

_TOLD = 4  # phrases that a reason names, and
_AGAINST = 2  # of those that speak against an item
_LONGEST = 70  # characters of an example's title


@dataclass(frozen=True, slots=True)
class Wish:
    """One clause that a topic weighs; `text` is it as the person wrote it."""

    clause: Clause
    weight: float
    text: str


def of_phrases(item: Item, number: int, wishes: Sequence[Wish]) -> str:
    """Say which clauses hold, what weighs most first: `by Tri Dao, matches *KV cache* ×3, *GPU*, against *survey*`."""
    held = [(wish.weight * strength, wish) for wish in wishes if (strength := wish.clause.by_item.get(number))]
    held.sort(key=lambda each: -abs(each[0]))
    names, words = _facts(item, number, [wish for value, wish in held if value > 0])
    _, against = _facts(item, number, [wish for value, wish in held if value < 0])
    said = (", ".join(names[:_TOLD]), _list("matches", words[:_TOLD]), _list("against", against[:_AGAINST]))
    return ", ".join(filter(None, said))


def of_examples(close: Sequence[tuple[float, Item | str]]) -> str:
    """Say to which examples the item is close, the closest first: `close to "Title" and 1 more`; "" when to none."""
    if not close:
        return ""
    nearest = close[0][1]
    title = " ".join((nearest if isinstance(nearest, str) else nearest.title).split())
    more = f" and {len(close) - 1} more" if len(close) > 1 else ""
    return f'close to "{_cut(title)}"{more}'


def _facts(item: Item, number: int, wishes: Iterable[Wish]) -> tuple[list[str], list[str]]:
    """Who made it, and what it has, where the clauses ask for it; each once, a phrase with the most that was counted."""
    names: dict[str, None] = {}
    counts: dict[str, tuple[str, int]] = {}
    for wish in wishes:
        has = [(leaf, times) for leaf, by_item in wish.clause.leaves if (times := by_item.get(number))]
        for leaf, times in has:
            if name := _name(item, leaf):
                names[name] = None
                continue
            text, before = counts.get(_written(leaf).casefold(), (_written(leaf), 0))
            counts[text.casefold()] = (text, max(times, before))
        if not has:
            counts.setdefault(wish.text.casefold(), (wish.text, 1))
    return list(names), [f"*{text}* ×{times}" if times > 1 else f"*{text}*" for text, times in counts.values()]


def _name(item: Item, leaf: Leaf) -> str:
    """Who made it, when that is what the clause asks for."""
    if not isinstance(leaf, Term) or leaf.field not in ("author", "org"):
        return ""
    if leaf.field == "org":
        return f"from {item.org}"
    ways = spellings_of(leaf)
    return next((f"by {who}" for who in item.authors if any(found(way, f" {indexed(who)} ") for way in ways)), "")


def _written(leaf: Leaf) -> str:
    if isinstance(leaf, Term):
        return leaf.text + ("*" if leaf.prefix else "")
    value = leaf.value + ("*" if leaf.prefix else "")
    return value if leaf.field == "category" else f"{leaf.field}:{value}"


def _list(verb: str, words: Sequence[str]) -> str:
    return f"{verb} {', '.join(words)}" if words else ""


def _cut(title: str) -> str:
    """Cut at a word."""
    if len(title) <= _LONGEST:
        return title
    start, _, rest = title[:_LONGEST].rpartition(" ")
    return f"{(start or rest).rstrip(' ,;:')}…"
