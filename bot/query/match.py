"""A query's tree on one item: does it hold, and which clause decided.

`matches` answers yes or no at the least cost; `match` also says why. They agree by construction: both ask the same
question of each clause, and a test holds them against each other.

An item that lacks what a clause asks for (no stars known, no language, no date) does not satisfy it, so its negation
holds: `-stars:>500` lets in what has no stars.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from bot.models import And, Item, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import TEXT, date_of, labels_of, number_of, spellings_of, text_of
from bot.query.fold import BARRIER
from bot.query.unparse import unparse_tree

_TOLD = 3  # clauses that a sentence names; a reader wants the decisive ones, not the whole tree


class Verdict(NamedTuple):
    """Whether the tree holds, and a clause for a person that names what decided it."""

    matched: bool
    why: str


class Folded:
    """An item whose folded texts are worked out once, when first asked for, so that many trees can be tried on it."""

    __slots__ = ("_labels", "_texts", "item")

    def __init__(self, item: Item) -> None:
        self.item = item
        self._texts: dict[str, str] = {}
        self._labels: dict[str, tuple[str, ...]] = {}

    def text(self, field: str) -> str:
        """Return a text field (or "" for all of them) as an index holds it, with a space before and behind."""
        if field not in self._texts:
            self._texts[field] = f" {text_of(self.item, field)} " if field else f" {BARRIER} ".join(map(self.text, TEXT))
        return self._texts[field]

    def labels(self, field: str) -> tuple[str, ...]:
        """Return the folded values of a label field."""
        if field not in self._labels:
            self._labels[field] = labels_of(self.item, field)
        return self._labels[field]


def matches(tree: Tree, item: Item | Folded, now: datetime, score: float | None = None) -> bool:
    """Say whether the tree holds for the item at `now`; `score` is what `score:` asks about, None when there is none."""
    return _CHECKS[type(tree)](tree, item if isinstance(item, Folded) else Folded(item), now, score)


def match(tree: Tree, item: Item | Folded, now: datetime, score: float | None = None) -> Verdict:
    """Say whether the tree holds for the item at `now`, and why: `title has "kv cache"`, `stars 120 is not > 500`."""
    return _judge(tree, item if isinstance(item, Folded) else Folded(item), now, score)


def place_of(term: Term, folded: Folded) -> str:
    """Return the first text field that has the term, of those that it asks for; "" where none has it."""
    fields = (term.field,) if term.field else TEXT
    return next((field for field in fields if any(needle in folded.text(field) for needle in _needles(term))), "")


# --- yes or no -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=20_000)
def _needles(term: Term) -> tuple[str, ...]:
    """Return the strings of which one must stand in the folded text."""
    return tuple(f" {' '.join(way.tokens)}{'' if way.prefix else ' '}" for way in spellings_of(term))


def _term(tree: Term, folded: Folded, _now: datetime, _score: float | None) -> bool:
    text = folded.text(tree.field)
    for needle in _needles(tree):  # noqa: SIM110 - a generator would take twice as long
        if needle in text:
            return True
    return False


def _label(tree: Label, folded: Folded, _now: datetime, _score: float | None) -> bool:
    labels = folded.labels(tree.field)
    if tree.prefix:
        return any(label.startswith(tree.value) for label in labels)
    return tree.value in labels


def _number(tree: Number, folded: Folded, _now: datetime, score: float | None) -> bool:
    value = score if tree.field == "score" else number_of(folded.item, tree.field)
    if value is None:
        return False
    if tree.low is not None and (value < tree.low or (tree.above and value == tree.low)):
        return False
    return tree.high is None or value < tree.high or (value == tree.high and not tree.below)


def _when(tree: When, folded: Folded, now: datetime, _score: float | None) -> bool:
    value = date_of(folded.item, tree.field)
    if value is None:
        return False
    after, before, last = bounds(tree, now)
    return (after is None or value >= after) and (before is None or value < before) and (last is None or value <= last)


def bounds(tree: When, now: datetime) -> tuple[datetime | None, datetime | None, datetime | None]:
    """Return the instants that a date clause means at `now`: `first <= date`, `date < before`, `date <= last`; None: open.

    An age that reaches back before the calendar's first year is open.
    """
    first, last = tree.after, None
    if tree.oldest is not None and (start := _ago(now, tree.oldest)) is not None:
        first = start if first is None else max(first, start)
    if tree.youngest is not None:
        last = _ago(now, tree.youngest) or datetime.min.replace(tzinfo=now.tzinfo)
    return first, tree.before, last


def _ago(now: datetime, days: float) -> datetime | None:
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return None


def _not(tree: Not, folded: Folded, now: datetime, score: float | None) -> bool:
    part = tree.part
    return not _CHECKS[type(part)](part, folded, now, score)


def _and(tree: And, folded: Folded, now: datetime, score: float | None) -> bool:
    for part in tree.parts:  # noqa: SIM110 - as above
        if not _CHECKS[type(part)](part, folded, now, score):
            return False
    return True


def _or(tree: Or, folded: Folded, now: datetime, score: float | None) -> bool:
    for part in tree.parts:  # noqa: SIM110 - as above
        if _CHECKS[type(part)](part, folded, now, score):
            return True
    return False


# The tree's type picks the function: half the time of a chain of isinstance, and this runs for every topic and item.
_CHECKS: dict[type, Callable[[Any, Folded, datetime, float | None], bool]] = {
    Term: _term,
    Label: _label,
    Number: _number,
    When: _when,
    Not: _not,
    And: _and,
    Or: _or,
}


# --- why -----------------------------------------------------------------------------------------------------------


def _judge(tree: Tree, folded: Folded, now: datetime, score: float | None) -> Verdict:
    match tree:
        case Not(part):
            inner = _judge(part, folded, now, score)
            return Verdict(not inner.matched, inner.why)
        case And(parts):
            return _judge_all(parts, [_judge(part, folded, now, score) for part in parts])
        case Or(parts):
            return _judge_any([_judge(part, folded, now, score) for part in parts])
        case _:
            matched = _CHECKS[type(tree)](tree, folded, now, score)
            return Verdict(matched, _explain(tree, matched, folded, score))


def _judge_all(parts: tuple[Tree, ...], verdicts: list[Verdict]) -> Verdict:
    """Name the part that fails; when none does, what was found rather than what was not."""
    failed = next((verdict for verdict in verdicts if not verdict.matched), None)
    found = [verdict for part, verdict in zip(parts, verdicts, strict=True) if not isinstance(part, Not)]
    return failed or Verdict(True, _told(found or verdicts) or "everything is let in")


def _judge_any(verdicts: list[Verdict]) -> Verdict:
    held = next((verdict for verdict in verdicts if verdict.matched), None)
    return held or Verdict(False, _told(verdicts) or "nothing is let in")


def _told(verdicts: list[Verdict]) -> str:
    reasons = list(dict.fromkeys(verdict.why for verdict in verdicts))
    more = len(reasons) - _TOLD
    return "; ".join(reasons[:_TOLD]) + (f"; and {more} more" if more > 0 else "")


def _explain(tree: Tree, matched: bool, folded: Folded, score: float | None) -> str:
    match tree:
        case Term():
            return _explain_term(tree, matched, folded)
        case Label():
            return _explain_label(tree, matched, folded)
        case Number():
            value = score if tree.field == "score" else number_of(folded.item, tree.field)
            return _explain_value(tree, matched, None if value is None else f"{value:,g}")
        case When():
            date = date_of(folded.item, tree.field)
            return _explain_value(tree, matched, None if date is None else date.date().isoformat())
        case _:
            raise TypeError(f"{type(tree).__name__} is no clause")


def _explain_term(tree: Term, matched: bool, folded: Folded) -> str:
    asked = f'"{tree.text}{"*" if tree.prefix else ""}"'
    if not matched:
        return f"{tree.field} has no {asked}" if tree.field else f"no text has {asked}"
    return f"{place_of(tree, folded)} has {asked}"


def _explain_label(tree: Label, matched: bool, folded: Folded) -> str:
    labels = folded.item.categories if tree.field == "category" else folded.labels(tree.field)
    asked = f"{_spelt(tree)}{'*' if tree.prefix else ''}"
    if tree.field == "has":
        return f"it has {'' if matched else 'no '}{asked}"
    if not labels:
        return f"it has no {tree.field}"
    if matched:
        return f"{tree.field} is {asked}"
    return f"{tree.field} is {', '.join(labels[:_TOLD])}, not {asked}"


def _spelt(tree: Label) -> str:
    """The value as arXiv spells its categories: cs.CL, math.AG; anything else as it was folded."""
    archive, dot, subject = tree.value.partition(".")
    return f"{archive}.{subject.upper()}" if tree.field == "category" and dot and len(subject) == 2 else tree.value


def _explain_value(tree: Number | When, matched: bool, value: str | None) -> str:
    if value is None:
        return f"{tree.field} is not known"
    asked = unparse_tree(tree).partition(":")[2]
    return f"{tree.field} {value} is {'' if matched else 'not '}{_in_words(tree, asked)}"


def _in_words(tree: Number | When, asked: str) -> str:
    if asked == "*":
        return "known"
    if isinstance(tree, When) and tree.oldest is not None and tree.youngest is None:
        return f"within {_days(tree.oldest)}"
    if isinstance(tree, When) and tree.youngest is not None and tree.oldest is None:
        return f"at least {_days(tree.youngest)} ago"
    if asked[0] in "<>":
        return f"{asked.rstrip('0123456789.-T:')} {asked.lstrip('<>=')}"
    return asked if ".." not in asked else f"in {asked}"


def _days(count: float) -> str:
    return f"{count:g} day{'' if count == 1 else 's'}"
