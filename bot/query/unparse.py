"""A tree written as canonical text that parses to the same tree again: for saved filters, forms and sentences."""

import re
from datetime import UTC, datetime, timedelta

from bot.models import And, Label, Not, Number, Or, Query, Term, Tree, When
from bot.query.parse import stands_bare


def unparse(query: Query) -> str:
    """Return the query as text: its tree, then its `sort:` and `topic-of:` when they are not the default."""
    words = []
    if query.tree != And(()):
        alone = query.sort == "best" and not query.topic_of
        words.append(unparse_tree(query.tree, inside=None if alone or not isinstance(query.tree, Or) else And))
    if query.sort != "best":
        words.append(f"sort:{query.sort}")
    if query.topic_of:
        words.append(f"topic-of:{query.topic_of}")
    return " ".join(words)


def unparse_tree(tree: Tree, *, inside: type | None = None) -> str:
    """Return one tree as text; `inside` is the type of the tree around it, which decides about parentheses."""
    match tree:
        case And(()):
            return "*"
        case Or(()):
            return "-*"
        case And(parts) | Or(parts) if len(parts) == 1:
            return unparse_tree(parts[0], inside=inside)
        case And(parts):
            text = " ".join(unparse_tree(part, inside=And) for part in parts)
            return f"({text})" if inside in (And, Not) else text
        case Or(parts):
            text = " OR ".join(unparse_tree(part, inside=Or) for part in parts)
            return text if inside is None else f"({text})"
        case Not(Not() as part):
            return f"-({unparse_tree(part)})"
        case Not(part):
            return f"-{unparse_tree(part, inside=Not)}"
        case _:
            return _clause(tree)


def _clause(tree: Tree) -> str:
    match tree:
        case Term():
            return (f"{tree.field}:" if tree.field else "") + _term(tree)
        case Label():
            return f"{tree.field}:{_label(tree)}"
        case Number():
            return f"{tree.field}:{_number(tree)}"
        case When():
            return f"{tree.field}:{_when(tree)}"
        case _:
            raise TypeError(f"{type(tree).__name__} is no clause")


def _term(tree: Term) -> str:
    bare = not tree.quoted and stands_bare(tree.text, tree.field)
    return (tree.text if bare else _quoted(tree.text)) + "*" * tree.prefix


def _label(tree: Label) -> str:
    plain = tree.prefix and not tree.value
    value = tree.value if plain or re.fullmatch(r"[^:\s\"()*][^\s\"()*]*", tree.value) else _quoted(tree.value)
    return value + "*" * tree.prefix


def _quoted(text: str) -> str:
    """Put text between quotation marks; one within it becomes a space, which folds to the same."""
    return '"' + text.replace('"', " ") + '"'


def _number(tree: Number) -> str:
    low, high = _plain(tree.low), _plain(tree.high)
    if low is not None and low == high:
        return low
    if low is not None and high is not None:
        return f"{low}..{high}"
    if low is not None:
        return f">{'' if tree.above else '='}{low}"
    return "*" if high is None else f"<{'' if tree.below else '='}{high}"


def _plain(value: float | None) -> str | None:
    """Write a number without an exponent, so that it reads back as the same number."""
    if value is None:
        return None
    return str(int(value)) if value == int(value) else f"{value:.20f}".rstrip("0") if value < 1e-4 else repr(value)


def _when(tree: When) -> str:
    if tree.oldest is not None and tree.youngest is not None:
        return f"{_plain(tree.youngest)}d..{_plain(tree.oldest)}d"
    if tree.oldest is not None:
        return f"{_plain(tree.oldest)}d"
    if tree.youngest is not None:
        return f">{_plain(tree.youngest)}d"
    if tree.after is not None and tree.before is not None:
        return f"{_day(tree.after)}..{_day(tree.before - timedelta(days=1))}"
    if tree.after is not None:
        return f">={_day(tree.after)}"
    return "*" if tree.before is None else f"<{_day(tree.before)}"


def _day(instant: datetime) -> str:
    return instant.astimezone(UTC).date().isoformat()
