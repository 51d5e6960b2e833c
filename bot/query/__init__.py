"""The one query language of search, filters and topics: text to tree, and tree against item."""

from bot.query.fields import FIELDS, QueryField, Takes
from bot.query.match import Folded, Verdict, match, matches, place_of
from bot.query.parse import parse
from bot.query.unparse import unparse, unparse_tree

__all__ = [
    "FIELDS",
    "Folded",
    "QueryField",
    "Takes",
    "Verdict",
    "match",
    "matches",
    "parse",
    "place_of",
    "unparse",
    "unparse_tree",
]
