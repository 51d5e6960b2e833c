"""Lines that begin with a verb of ours and were meant as a search: "log parsing", "status quo bias". Pure."""

import re
from dataclasses import dataclass

from bot.commands.declaration import Usage
from bot.commands.feedback import Profile
from bot.commands.finding import Now, Rest, Search, Show, Similar, Trending, Trends, Why
from bot.commands.saved import ListSaved
from bot.commands.service import Help, History, Status
from bot.commands.subscriptions import ListSubscriptions
from bot.commands.syntax import BY_NAME, help_for, verb_of
from bot.commands.topics import ListTopics, ShowTopic
from bot.commands.words import clean, nearest, plain
from bot.errors import Incomplete

# What tells something and changes nothing: who meant one of them loses nothing by a search.
_TELLING = (
    Help,
    History,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    Now,
    Profile,
    Rest,
    Show,
    ShowTopic,
    Similar,
    Status,
    Trending,
    Trends,
    Why,
)
_PLAIN = re.compile(r"[^\W_](?:[\w'-]*\w)?(?: [^\W_](?:[\w'-]*\w)?)+[?!.]?")
_LONGEST = 200  # characters of a line that is looked at
_OPTIONS = re.compile("[a-z]+")


@dataclass(frozen=True, slots=True)
class SearchMeant:
    """The search that a line may be as well, the command whose verb it begins with, and what stands behind the verb.

    `at_once` says whether it may be carried out where the line cannot be done as that command: the command would have
    changed nothing, and the line is no slip in it.
    """

    search: Search
    usage: Usage
    rest: str
    at_once: bool


def search_meant(line: str, error: Exception) -> SearchMeant | None:
    """Return the search for a line of plain words that failed as a command for this reason; None where it is no search."""
    words = plain(clean(line[: _LONGEST + 1]).text).strip().lstrip("/")
    usage = help_for(words)
    if len(words) > _LONGEST or usage is None or usage.command is Search or isinstance(error, Incomplete):
        return None
    rest = words.partition(" ")[2]
    if not _PLAIN.fullmatch(words) or rest.replace(" ", "").isdigit():
        return None
    query = rest if usage.command is Show and " " in rest else words
    at_once = issubclass(usage.command, _TELLING) and verb_of(words) is usage and not _may_be_a_slip(usage, rest, error)
    return SearchMeant(Search(query), usage, rest, at_once)


def _may_be_a_slip(usage: Usage, rest: str, error: Exception) -> bool:
    """Say whether something near was suggested, or the one word behind the verb is near to what may stand there."""
    if str(getattr(error, "hint", "")).startswith("Did you mean"):
        return True
    options = [*BY_NAME] if usage.command is Help else _OPTIONS.findall(usage.syntax.removeprefix(usage.words).casefold())
    return " " not in rest and bool(nearest(rest, options))
