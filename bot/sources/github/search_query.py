"""What may be searched on GitHub, and what is added to it.

Limits of a search: 256 characters and five AND, OR or NOT (docs.github.com, "Troubleshooting search queries"); of what it
finds the first 1,000 can be read (docs.github.com/rest/search/search).
"""

import difflib
import re
from datetime import date

from bot.errors import UsageError

MAX_LENGTH = 256  # characters, counted with what is added
MAX_OPERATORS = 5

# docs.github.com/search-github/searching-on-github/searching-for-repositories
QUALIFIERS = frozenset(
    {"in", "repo", "user", "org", "size", "followers", "forks", "stars", "created", "pushed", "language", "topic", "topics"}
    | {"license", "is", "mirror", "template", "archived", "fork", "good-first-issues", "help-wanted-issues", "has", "props"}
)
_QUOTED = re.compile(r'"[^"]*"?')
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")
_QUALIFIER = re.compile(r"(?<![\w.-])-?([A-Za-z][\w.-]*):")


def check_search(text: str, *, min_stars: int = 0) -> None:
    """Raise a UsageError that names the search and says what GitHub would not take in it."""
    if not text.strip():
        raise UsageError("a GitHub search is empty; say what to look for, for example topic:cuda stars:>50")
    bare = _QUOTED.sub(lambda match: '"' + " " * (len(match[0]) - 2) + '"', text)
    operators = len(_OPERATOR.findall(bare))
    if operators > MAX_OPERATORS:
        raise UsageError(
            f"the GitHub search {text[:80]!r} has {operators} AND, OR or NOT; GitHub takes at most {MAX_OPERATORS}"
        )
    longest = max(len(query) for query in queries(text, date(2026, 1, 1), date(2026, 1, 1), min_stars=min_stars))
    if longest > MAX_LENGTH:
        room = MAX_LENGTH - (longest - len(text))
        raise UsageError(f"the GitHub search {text[:80]!r} has {len(text)} characters; there is room for {room}")
    for match in _QUALIFIER.finditer(bare):
        _check_qualifier(text, match[1], match.start(1))


def _check_qualifier(text: str, name: str, position: int) -> None:
    if name.lower().partition(".")[0] in QUALIFIERS:
        return
    near = difflib.get_close_matches(name.lower(), sorted(QUALIFIERS), 1)
    hint = f"did you mean {near[0]}:?" if near else "put it in quotes if it is to be found as it stands"
    raise UsageError(f"the GitHub search {text[:80]!r} has an unknown qualifier, {name}:", position=position, hint=hint)


def queries(
    text: str, created: date, pushed: date, *, min_stars: int = 0, archived: bool = False, forks: bool = False
) -> tuple[str, ...]:
    """Return what to send for a search: repositories created since the one day, and those pushed to since the other.

    What the text says itself is not said again: one that names `created:` or `pushed:` is sent once. Forks are left out
    by GitHub unless they are asked for.
    """
    named = {match[1].lower() for match in _QUALIFIER.finditer(_QUOTED.sub("", text))}
    added = [text.strip()]
    if not archived and not {"archived", "is"} & named:
        added.append("archived:false")
    if forks and "fork" not in named:
        added.append("fork:true")
    if min_stars and "stars" not in named:
        added.append(f"stars:>={min_stars}")
    query = " ".join(added)
    if {"created", "pushed"} & named:
        return (query,)
    return f"{query} created:>={created}", f"{query} pushed:>={pushed}"
