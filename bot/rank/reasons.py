"""Why an item has its score, in words. Everything said is a stored fact: what the item's text has, who wrote it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.models import Item, Label, Term, Tree
from bot.query.fields import spellings_of
from bot.query.fold import found, indexed
from bot.rank.clauses import Hit

_TOLD = 4  # phrases that a reason names, and
_AGAINST = 2  # of those that speak against an item
_LONGEST = 70  # characters of an example's title


@dataclass(frozen=True, slots=True)
class Wish:
    """One clause that a topic weighs, where it holds, and its words as the person wrote them."""

    tree: Tree
    weight: float
    text: str
    hits: Mapping[int, Hit]


def of_phrases(item: Item, number: int, wishes: Sequence[Wish]) -> str:
    """Say which clauses hold: `by Tri Dao, matches *KV cache* ×3, *GPU*, against *survey*`."""
    held = [(wish.weight * hit.strength, wish, hit) for wish in wishes if (hit := wish.hits.get(number)) is not None]
    held.sort(key=lambda each: -abs(each[0]))
    names = [name for value, wish, _ in held if value > 0 and (name := _name(item, wish.tree))]
    words = [_told(wish, hit) for value, wish, hit in held if value > 0 and not _name(item, wish.tree)]
    against = [_told(wish, hit) for value, wish, hit in held if value < 0]
    said = (", ".join(_first(names, _TOLD)), _list("matches", words, _TOLD), _list("against", against, _AGAINST))
    return ", ".join(filter(None, said))


def of_examples(close: Sequence[tuple[float, Item | str]]) -> str:
    """Say to which examples the item is close, the closest first: `close to "Title" and 1 more`; "" when to none."""
    if not close:
        return ""
    nearest = close[0][1]
    title = " ".join((nearest if isinstance(nearest, str) else nearest.title).split())
    more = f" and {len(close) - 1} more" if len(close) > 1 else ""
    return f'close to "{_cut(title)}"{more}'


def _name(item: Item, tree: Tree) -> str:
    """Who made it, when that is what the clause asks for."""
    if not isinstance(tree, Term) or tree.field not in ("author", "org"):
        return ""
    if tree.field == "org":
        return f"from {item.org}"
    ways = spellings_of(tree)
    return next((f"by {who}" for who in item.authors if any(found(way, f" {indexed(who)} ") for way in ways)), "")


def _told(wish: Wish, hit: Hit) -> str:
    return f"*{wish.text}* ×{hit.times}" if hit.times > 1 else f"*{wish.text}*"


def _list(verb: str, words: Sequence[str], most: int) -> str:
    return f"{verb} {', '.join(_first(words, most))}" if words else ""


def _first(words: Iterable[str], most: int) -> list[str]:
    """The first few, each once: two clauses may say the same word."""
    return list(dict.fromkeys(words))[:most]


def _cut(title: str) -> str:
    """Cut at a word."""
    if len(title) <= _LONGEST:
        return title
    return (
        title[: _LONGEST - 1].rpartition(" ")[0].rstrip(" ,;:") + "…"
        if " " in title[: _LONGEST - 1]
        else title[: _LONGEST - 1] + "…"
    )


def written(tree: Tree, clause: str) -> str:
    """Return the words under which a clause is told: of a phrase its own, of anything else the clause."""
    if isinstance(tree, Term) and not tree.field:
        return tree.text + ("*" if tree.prefix else "")
    return tree.value if isinstance(tree, Label) and tree.field == "category" else clause
