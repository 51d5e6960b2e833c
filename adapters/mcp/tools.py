"""Which commands are tools, and what one gives them: derived from how each command is declared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from bot.commands import (
    TABLE,
    Command,
    Follow,
    ListTopics,
    Option,
    Rest,
    Save,
    Search,
    Show,
    Similar,
    Trending,
    Usage,
    Why,
    read,
)
from bot.errors import UsageError
from bot.models import AssistantAccess
from bot.wording import listed

LONGEST = 2_000  # characters of an argument: beyond it nothing that one asks for is said
DIGEST = "digest"
_MOST_NUMBER = 10**12  # that is taken for a text of its figures

_READING = (Search, Show, Similar, Why, ListTopics, Trending)
_WRITING = (Follow, Save)
_PLACE = "channel"  # the field that says for which place a command is: an assistant has one place


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that an assistant may ask for."""

    name: str
    help: str
    options: tuple[Option, ...]
    command: type[Command] | None = None  # None: a digest as it was posted, which no command tells
    writes: bool = False

    def is_for(self, access: AssistantAccess) -> bool:
        """Say whether who asks so may use it: to follow needs a channel, and to save a person."""
        if not self.writes:
            return True
        return access.may_write and bool(access.channel if self.command is Follow else access.person)

    @property
    def schema(self) -> dict[str, Any]:
        """What it is given, as JSON Schema."""
        required = [each.name for each in self.options if each.required]
        return {
            "type": "object",
            "properties": {each.name: _schema(each) for each in self.options},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    @property
    def example(self) -> str:
        """How it is called, as in `search(query: "kv cache")`."""
        return called(read(self.command.usage.example)) if self.command else 'digest(topic: "gpu-systems")'


def _schema(option: Option) -> dict[str, Any]:
    """Return what the option takes, as JSON Schema."""
    made: dict[str, Any] = {"type": _TYPES[option.kind], "description": option.help}
    if option.choices:
        return made | {"enum": [value for _, value in option.choices]}
    if option.kind is str:
        return made | ({"minLength": 1} if option.required else {}) | {"maxLength": LONGEST}
    bounds = {"minimum": option.least, "maximum": option.most}
    return made | {name: bound for name, bound in bounds.items() if bound is not None}


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _tool(usage: Usage) -> Tool:
    options = tuple(each for each in usage.options if each.field != _PLACE)
    return Tool(usage.words, usage.help, options, usage.command, usage.command in _WRITING)


def _of_digest() -> Tool:
    topic, day = (each for name in ("topic", "day") for each in Rest.usage.options if each.name == name)
    return Tool(
        DIGEST,
        "Read a digest as it was posted: its entries with their quotes, what was seen, and what was left out.",
        (
            replace(topic, help="Of which topic; without it, of the one that was posted last.", required=False),
            replace(day, help="Of which day, such as 2026-06-15; without it, the last."),
            Option(name="number", help="Which one, where several were posted that day.", kind=int, least=1, most=100),
            Option(name="after", help="Go on behind the entry of this number.", kind=int, least=0, most=100),
        ),
    )


# In the order in which they are listed: those that find first, as the help has them.
TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (_of_digest(), *(_tool(usage) for usage in TABLE if usage.command in (*_READING, *_WRITING)))
}


def tool_named(name: str, access: AssistantAccess) -> Tool:
    """Return the tool of that name; raises UsageError where who asks may not use it, and KeyError for none."""
    tool = TOOLS[name]
    if tool.is_for(access):
        return tool
    if not access.may_write:
        raise UsageError(f"This assistant may read and not write: {name} is not open to it.")
    raise UsageError(f"This assistant stands for no {'channel' if tool.command is Follow else 'person'}: {name} needs one.")


def values_of(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, each as its option takes it; raises UsageError that says what is wrong with which."""
    known = {each.name: each for each in tool.options}
    for name in arguments:
        if name not in known:
            raise UsageError(f'{tool.name} takes no "{name[:40]}".', hint=_nearest(name, known))
    for each in tool.options:
        given_here = arguments.get(each.name)
        if each.required and (given_here is None or (isinstance(given_here, str) and not given_here.strip())):
            raise UsageError(f"{tool.name} needs {each.name}.", hint=tool.example)
    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: _taken(known[name], value) for name, value in given.items()}


def _nearest(name: str, known: Mapping[str, Option]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean {close[0]}?"
    return f"It takes {listed([*known])}." if known else "It takes nothing."


def _taken(option: Option, value: Any) -> Any:
    """Return the value, checked; a number may be written as text, and an entry's as a number, as some assistants do."""
    if option.kind is bool:
        if not isinstance(value, bool):
            raise UsageError(f"{option.name} is true or false.")
        return value
    if option.kind in (int, float):
        return _number(option, value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_NUMBER:
        value = str(value)
    if not isinstance(value, str):
        raise UsageError(f"{option.name} is a text.")
    if len(value) > LONGEST:
        raise UsageError(f"{option.name} takes {LONGEST:,} characters at most; these are {len(value):,}.")
    return value


def _number(option: Option, value: Any) -> Any:
    wrong = UsageError(f"{option.name} takes a number from {option.least:g} to {option.most:g}.")
    try:
        number = option.kind(value)
        is_meant = not isinstance(value, bool) and option.least <= number <= option.most and number == float(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise wrong from error
    if not is_meant:
        raise wrong
    return number


def called(command: object) -> str:
    """Return how a tool is called for the command, as in `why(item: "2606.01234")`; "" where none does it."""
    tool, arguments = call_of(command)
    said = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({said})" if tool else ""


def call_of(command: object) -> tuple[str, dict[str, Any]]:
    """Return the tool that does the command and what it is given; ("", {}) where none does."""
    if not isinstance(command, Command) or command.usage.words not in TOOLS or command.place:
        return "", {}
    return command.usage.words, command.by_option()


def tools_for(access: AssistantAccess) -> Sequence[Tool]:
    """Return the tools that who asks so may use."""
    return [tool for tool in TOOLS.values() if tool.is_for(access)]
