"""A command within a sentence, as Discord takes it: a mention to click, and its options by name. Pure.

Discord types no line of words: `subscribe kv at 09:00` is </digest-manage subscribe:ID> `topic:kv at:09:00` there.
docs.discord.com/developers/reference#message-formatting has the form of a mention.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from adapters.discord.install.command_tree import FOR_A_PERSON, PERSONAL, USAGES, path
from adapters.words import COMMAND, SpanKind
from bot.commands import Command, help_for, read
from bot.commands.declaration import PERSON

# The identifiers that Discord gave our commands, by their names. Where that of PERSONAL stands among them, the answer is to
# what a person installed for themselves, and nothing else can be given there.
CommandIds = Mapping[str, str]
UNKNOWN_IDS: CommandIds = {}

_OPTIONS = {option.name for usage in USAGES.values() for option in usage.options}
_BY_SYNTAX = {usage.syntax: usage for usage in USAGES.values() if re.search(r"[\[|]", usage.syntax)}
_NAMED = {"in": "zone", "top": "entries", "min": "min_score"}  # words of a line whose option has another name


def in_server(ids: CommandIds) -> CommandIds:
    """Return those of the commands that every server has: in its channels, and in direct messages."""
    return {name: number for name, number in ids.items() if name != PERSONAL}


class Hint(NamedTuple):
    """A command as one gives it in Discord."""

    path: str  # the words under which it is listed
    options: str  # what is filled in, "topic:kv at:09:00"; "" for nothing


def hint_of(typed: str) -> Hint | None:
    """Return how one gives in Discord what `typed` says, with or without /digest before it; None where it is no command.

    A command that opens a form, or says too little, is its name alone. How a command with choices goes, as the help has it,
    is its options: `topic: [days:] [at:]`.
    """
    line = typed.removeprefix(f"{COMMAND} ")
    if (shown := _BY_SYNTAX.get(line)) is not None:
        return Hint(path(shown), " ".join(f"{each.name}:" if each.required else f"[{each.name}:]" for each in shown.options))
    asked = read(line)
    if isinstance(asked, Command):
        return Hint(path(asked.usage), _filled(asked))
    usage = help_for(line)
    return Hint(path(usage), "") if usage is not None and line.strip() == usage.words else None


def _filled(command: Command) -> str:
    """Return the options as they are filled in, without a person "me": who asks is meant where nobody is chosen."""
    people = {option.name for option in command.usage.options if option.suggests == PERSON}
    filled = (pair for pair in command.by_option().items() if not (pair[0] in people and pair[1] == "me"))
    return " ".join(f"{name}:{_value(value)}" for name, value in filled)


def _value(value: object) -> str:
    return str(value) if not isinstance(value, float) else f"{value:g}"


def option_of(piece: str) -> str:
    """Return how an option of a line is filled in, "at 09:00" as "at:09:00"; "" where the piece is none."""
    name, _, value = piece.partition(" ")
    known = _NAMED.get(name, name)
    return f"{known}:{value}" if value and known in _OPTIONS and " " not in value else ""


def offered_as(words: str, ids: CommandIds) -> str:
    """Return the words under which the command listed as `words` is offered there; "" where it is not."""
    if PERSONAL not in ids:
        return words
    inner = words.partition(" ")[2]
    return f"{PERSONAL} {inner}" if inner in FOR_A_PERSON else ""


def is_offered(said: Iterable[tuple[str, SpanKind]], ids: CommandIds) -> bool:
    """Say whether every command among the stretches of a sentence can be given there."""
    named = (hint_of(words) for words, kind in said if kind is SpanKind.TYPED)
    return all(offered_as(each.path, ids) for each in named if each is not None)


def mention(words: str, ids: CommandIds) -> str:
    """Return what to click for the command that is offered under these words; "" where its identifier is not known."""
    root = words.partition(" ")[0]
    return f"</{words}:{ids[root]}>" if ids.get(root, "").isdecimal() else ""
