"""Why an item has its score, in words. Everything said is a stored fact: what the item's text has, who wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from bot.models import Item, Label, Term
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
    opposed = [wish for value, wish in held if value < 0]
    against = [*chain.from_iterable(_facts(item, number, opposed))] if opposed else []
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


def _facts(item: Item, number: int, wishes: Sequence[Wish]) -> tuple[list[str], list[str]]:
    """Who made it, and what it has, where the clauses ask for it; each once, a phrase with the most that was counted."""
    names: dict[str, None] = {}
    counts: dict[str, tuple[str, int]] = {}
    for wish in wishes:
        has = [(leaf, times) for leaf, by_item in wish.clause.leaves if (times := by_item.get(number))]
        for leaf, times in has:
            if isinstance(leaf, Term) and leaf.field in ("author", "org"):
                names[_name(item, leaf)] = None
            else:
                written, folded = _written(leaf)
                before = counts.get(folded)
                if before is None or before[1] < times:
                    counts[folded] = (before[0] if before else written, times)
        if not has:
            counts.setdefault(wish.text.casefold(), (wish.text, 1))
    return list(names), [f"*{text}* ×{times}" if times > 1 else f"*{text}*" for text, times in counts.values()]


def _name(item: Item, leaf: Term) -> str:
    """Who made it, when that is what the clause asks for."""
    if leaf.field == "org":
        return f"from {item.org}"
    ways = spellings_of(leaf)
    written = (who for who in item.authors if any(found(way, f" {indexed(who)} ") for way in ways))
    return f"by {next(written, leaf.text)}"


@lru_cache(maxsize=20_000)
def _written(leaf: Leaf) -> tuple[str, str]:
    """A leaf as it is told, and the same without case."""
    text = (leaf.text if isinstance(leaf, Term) else leaf.value) + ("*" if leaf.prefix else "")
    if isinstance(leaf, Label) and leaf.field != "category":
        text = f"{leaf.field}:{text}"
    return text, text.casefold()


def _list(verb: str, words: Sequence[str]) -> str:
    return f"{verb} {', '.join(words)}" if words else ""


def _cut(title: str) -> str:
    """Cut at a word."""
    if len(title) <= _LONGEST:
        return title
    start, _, rest = title[:_LONGEST].rpartition(" ")
    return f"{(start or rest).rstrip(' ,;:')}…"
