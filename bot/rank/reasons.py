"""Why an item has its score, in words. Everything said is a stored fact: what the item's text has, who wrote it."""

import re
from collections.abc import Sequence
from itertools import chain

from bot.models import Item, Label, Ranked, Term
from bot.query.fields import spellings_of
from bot.query.fold import found, indexed
from bot.rank.clauses import HeldClause

_TOLD = 4  # phrases that a reason names, and
_AGAINST = 2  # of those that speak against an item
_MAKERS = ("author", "org")
_OF_ITSELF = ("has", "kind", "language")  # told in words of their own: `has code`, `a paper`, `in rust`
_LONGEST = 70  # characters of an example's title
_ONE_PHRASE = re.compile(r"matches \*[^*\n]+\*(?: ×\d+)?(?:, against .*)?")
_TOPICAL = frozenset({"phrases", "description", "examples", "feedback"})


def of_phrases(item: Item, number: int, held: Sequence[HeldClause]) -> str:
    """Say which clauses hold, the weightiest first: `by Tri Dao, matches *KV cache* ×3, *GPU*, has code, against *survey*`.

    What the item is or has beside its words, it does not match: that is told last, as it is.
    """
    held = sorted(held, key=lambda each: -abs(each.value))
    names, words = _facts(item, number, [each for each in held if each.value > 0])
    opposed = [each for each in held if each.value < 0]
    against = [*chain.from_iterable(_facts(item, number, opposed))] if opposed else []
    matched = [word for word in words[:_TOLD] if word.startswith("*")]
    facts = [word for word in words[:_TOLD] if not word.startswith("*")]
    opposing = [word if word.startswith("*") else f"*{word}*" for word in against[:_AGAINST]]
    said = (", ".join(names[:_TOLD]), _list("matches", matched), ", ".join(facts), _list("against", opposing))
    return ", ".join(filter(None, said))


def of_examples(close: Sequence[Item | str]) -> str:
    """Say to which examples the item is close, the closest first: `close to "Title" and 1 more`; "" when to none."""
    if not close:
        return ""
    nearest = close[0]
    title = " ".join((nearest if isinstance(nearest, str) else nearest.title).split())
    more = f" and {len(close) - 1} more" if len(close) > 1 else ""
    return f'close to "{_cut(title)}"{more}'


def of_feedback(near: Sequence[Item], words: Sequence[str], *, liked: bool, itself: bool = False) -> str:
    """Say to which marked items an item is close, the closest first, or what words it shares; or that it is one `itself`.

    `close to "Title" and 1 more you liked`, `shares *video*, *motion* with what you wanted less of`; "" without either.
    """
    verdict = "you liked" if liked else "you wanted less of"
    if itself:
        return f"is what {verdict}"
    if near:
        return f"{of_examples(near)} {verdict}"
    return f"shares {', '.join(f'*{word}*' for word in words)} with what {verdict}" if words else ""


def is_one_phrase_alone(ranked: Ranked) -> bool:
    """Return whether one phrase is all that is told of why the item is of the topic."""
    told = [part.why for part in ranked.parts if part.name in _TOPICAL and part.value > 0 and part.why]
    return len(told) == 1 and _ONE_PHRASE.fullmatch(told[0]) is not None


def _facts(item: Item, number: int, held: Sequence[HeldClause]) -> tuple[list[str], list[str]]:
    """Who made it, and what it has, where the clauses ask for it; each once, a phrase with the most that was counted.

    A phrase stands between asterisks, anything else that it has does not.
    """
    names: dict[str, None] = {}
    counts: dict[str, tuple[str, int]] = {}
    facts: set[str] = set()
    for each in held:
        told = False
        for mention in each.mentions:
            if times := mention.counts.get(number):
                told = True
                phrase, leaf = mention.phrase, mention.phrase.leaf
                if isinstance(leaf, Term) and leaf.field in _MAKERS:
                    names[_name(item, leaf)] = None
                else:
                    if isinstance(leaf, Label) and leaf.field in _OF_ITSELF:
                        facts.add(phrase.text)
                    text, before = counts.get(phrase.lower, (phrase.text, 0))
                    counts[phrase.lower] = (text, max(before, times))
        if not told:
            counts.setdefault(each.clause.text.lower(), (each.clause.text, 1))
    return list(names), [
        text if text in facts else f"*{text}* ×{times}" if times > 1 else f"*{text}*" for text, times in counts.values()
    ]


def _name(item: Item, leaf: Term) -> str:
    """Who made it, when that is what the clause asks for."""
    if leaf.field == "org":
        return f"from {item.org}"
    ways = spellings_of(leaf)
    written = (who for who in item.authors if any(found(way, f" {indexed(who)} ") for way in ways))
    return f"by {next(written, leaf.text)}"


def _list(verb: str, words: Sequence[str]) -> str:
    return f"{verb} {', '.join(words)}" if words else ""


def _cut(title: str) -> str:
    """Cut at a word."""
    if len(title) <= _LONGEST:
        return title
    start, _, rest = title[:_LONGEST].rpartition(" ")
    return f"{(start or rest).rstrip(' ,;:')}…"
