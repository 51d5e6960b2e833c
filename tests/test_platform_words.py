"""A team's place is called as its people call it: a server in Discord, a workspace in Slack, neither where both read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.commands import TABLE, Usage
from bot.query import FIELDS
from tests.hints import ROOT, texts

_WORDS = {"workspace": re.compile(r"\bworkspaces?\b", re.IGNORECASE), "server": re.compile(r"\bservers?\b", re.IGNORECASE)}
_ANY = (*_WORDS,)
# Where sentences for people are written, and which word people never read there.
ROOMS = {
    **dict.fromkeys(("bot/commands", "bot/delivery", "bot/digest", "bot/handlers", "bot/query", "adapters/chat"), _ANY),
    **dict.fromkeys(("bot/errors.py", "bot/wording.py", "bot/zones.py", "adapters/text.py", "adapters/words.py"), _ANY),
    "adapters/email/render": _ANY,
    "adapters/discord": ("workspace",),
    "adapters/slack": ("server",),
}
# To who is of another organisation, in a channel that two share: there is no such in Discord.
KNOWN = frozenset({"That is for members of the workspace whose Broadsheet this is."})


def sentences(room: str) -> Iterator[tuple[str, str]]:
    """Yield what is written there for people, without what is filled in, and where."""
    place = ROOT / room
    for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
        for line, text in texts(ast.parse(file.read_text(encoding="utf-8"))):
            said = re.sub("\0.*?\0", "…", text)
            if " " in said and "(?" not in said:
                yield said, f"{file.relative_to(ROOT)}:{line}"


@pytest.mark.parametrize("room", ROOMS)
def test_no_sentence_calls_it_by_a_word_of_another_chat(room: str) -> None:
    found = [*sentences(room)]

    wrong = [
        f"{where}: {said}"
        for said, where in found
        for word in ROOMS[room]
        if _WORDS[word].search(said) and said not in KNOWN and "%s" not in said  # of the log
    ]
    assert wrong == [], "say it with context.workspace_word, or without"
    assert any(found) or Path(room).is_file()


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
def test_no_help_calls_it_by_a_word_of_one_chat(usage: Usage) -> None:
    told = [usage.help, usage.syntax, usage.example]
    told += [text for each in usage.options for text in (each.help, *(label for label, _ in (*each.choices, *each.offers)))]

    assert [each for each in told for word in _WORDS.values() if word.search(each)] == []


def test_no_field_of_a_query_is_explained_by_a_word_of_one_chat() -> None:
    assert [each.help for each in FIELDS for word in _WORDS.values() if word.search(each.help)] == []
