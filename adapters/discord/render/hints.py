"""A command within a sentence, as Discord takes it: a mention to click, and its options by name. Pure.

Discord types no line of words: `subscribe kv at 09:00` is </digest-manage subscribe:ID> `topic:kv at:09:00` there.
docs.discord.com/developers/reference#message-formatting has the form of a mention.
"""

from collections.abc import Mapping
from typing import NamedTuple

from adapters.discord.install.command_tree import USAGES, path
from adapters.words import COMMAND
from bot.commands import Command, help_for, read

CommandIds = Mapping[str, str]  # the identifiers that Discord gave our commands, by their names
UNKNOWN_IDS: CommandIds = {}

_OPTIONS = {option.name for usage in USAGES.values() for option in usage.options}
_NAMED = {"in": "zone", "top": "entries", "min": "min_score"}  # words of a line whose option has another name


class Hint(NamedTuple):
    """A command as one gives it in Discord."""

    path: str  # the words under which it is listed
    options: str  # what is filled in, "topic:kv at:09:00"; "" for nothing


def hint_of(typed: str) -> Hint | None:
    """Return how one gives in Discord what `typed` says, with or without /digest before it; None where it is no command.

    A command that opens a form, or says too little, is its name alone.
    """
    line = typed.removeprefix(f"{COMMAND} ")
    asked = read(line)
    if isinstance(asked, Command):
        return Hint(path(asked.usage), _filled(asked))
    usage = help_for(line)
    return Hint(path(usage), "") if usage is not None and line.strip() == usage.words else None


def _filled(command: Command) -> str:
    return " ".join(f"{name}:{_value(value)}" for name, value in command.by_option().items())


def _value(value: object) -> str:
    return str(value) if not isinstance(value, float) else f"{value:g}"


def option_of(piece: str) -> str:
    """Return how an option of a line is filled in, "at 09:00" as "at:09:00"; "" where the piece is none."""
    name, _, value = piece.partition(" ")
    known = _NAMED.get(name, name)
    return f"{known}:{value}" if value and known in _OPTIONS and " " not in value else ""


def mention(words: str, ids: CommandIds) -> str:
    """Return what to click for the command that is listed under these words; "" where its identifier is not known."""
    root = words.partition(" ")[0]
    return f"</{words}:{ids[root]}>" if ids.get(root, "").isdecimal() else ""
