"""A filter as the list of clauses that must all hold: read, added to, taken from. Pure."""

import difflib
from collections.abc import Sequence
from dataclasses import replace

from bot.errors import UsageError
from bot.handlers.wording.replies import as_numbered_list, excerpt, read_number
from bot.models import And, Not, Or, Query, Term, Tree
from bot.query import parse, unparse_tree

_EXAMPLE = "kind:paper -blockchain"


def read_filter(text: str) -> Query:
    """Return the filter that the text says; raises UsageError when it is no query, says nothing, or orders a search."""
    query = parse(text)
    if query.sort != "best" or query.topic_of:
        raise UsageError("A filter only lets in or keeps out: *sort:* and *topic-of:* belong to a search.")
    if query.tree == And(()):
        raise UsageError("Say what is to be let in.", hint=f"For example: {_EXAMPLE}")
    return query


def read_topic_query(text: str, command: str) -> Query:
    """Return the query that says who enters a topic; raises UsageError when it is none, says nothing, or orders a search.

    `command` is what the example in the error's hint begins with.
    """
    query = parse(text)
    if query.sort != "best" or query.topic_of:
        raise UsageError("A topic's query says who enters: *sort:* and *topic-of:* belong to a search.")
    if query.tree == And(()) and "*" not in query.text:
        raise UsageError("Say what is to enter the topic.", hint=f'For example: {command} "KV cache" OR vLLM')
    return query


def clauses_of(query: Query) -> tuple[Tree, ...]:
    """Return what must hold, one by one, in the query's order; () for a query that lets everything in."""
    return query.tree.parts if isinstance(query.tree, And) else (query.tree,)


def normalised(tree: Tree) -> Tree:
    """Return the tree in one spelling: two that are alike so ask the same of an item, whatever their case and quotes."""
    match tree:
        case Term():
            return replace(tree, text=" ".join(tree.text.casefold().split()), quoted=False)
        case Not(part):
            return Not(normalised(part))
        case And(parts) | Or(parts):
            return type(tree)(tuple(map(normalised, parts)))
        case _:
            return tree


def clause_text(clause: Tree) -> str:
    """Return a clause as text that parses to it again, in parentheses when it is an alternative."""
    return unparse_tree(clause, inside=And)


def join_clauses(clauses: Sequence[Tree]) -> Query:
    """Return the query in which all the clauses hold."""
    return parse(" ".join(map(clause_text, clauses)))


def with_clauses(query: Query, text: str) -> Query:
    """Return the query with what the text says besides; what stands there already is not repeated."""
    present = clauses_of(query)
    known = set(map(normalised, present))
    fresh = {normalised(clause): clause for clause in clauses_of(read_filter(text))}
    added = [clause for meant, clause in fresh.items() if meant not in known]
    return join_clauses([*present, *added]) if added else query


def named_clauses(query: Query, text: str) -> tuple[Tree, ...]:
    """Return the clauses of the query that the text says, or the one that it numbers, from 1."""
    present = clauses_of(query)
    if number := read_number(text, len(present)):
        return (present[number - 1],)
    return clauses_of(read_filter(text))


def without_clauses(query: Query, gone: Sequence[Tree]) -> Query:
    """Return the query without the clauses; raises UsageError when one of them does not stand in it."""
    present = clauses_of(query)
    if not present:
        raise UsageError("There is no filter to remove anything from.")
    known = set(map(normalised, present))
    for clause in gone:
        if normalised(clause) not in known:
            raise _not_there(clause_text(clause), [clause_text(each) for each in present])
    unwanted = set(map(normalised, gone))
    return join_clauses([clause for clause in present if normalised(clause) not in unwanted])


def _not_there(clause: str, present: Sequence[str]) -> UsageError:
    close = difflib.get_close_matches(clause[:200], [each[:200] for each in present], n=1)
    hint = f"Did you mean {excerpt(close[0])}?" if close else f"There are: {as_numbered_list(present)}."
    return UsageError(f"The filter has no clause {excerpt(clause)}.", hint=hint)
