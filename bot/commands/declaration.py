"""How a command is declared: its words, its help, and for each field how it stands in a line and how it is chosen by name.

A command is a frozen dataclass whose fields are annotated with an Argument, an Option or both; `declared` makes it known.
The parser and its inverse, the help, the terminal's subcommands and Discord's commands follow from that.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from enum import StrEnum
from typing import Any, ClassVar, Self, TypeVar, get_args, get_type_hints

from bot.commands.words import SEVERAL_WORDS, Words, shown
from bot.errors import UsageError


class Group(StrEnum):
    """What a command is about, as the help is ordered."""

    FINDING = "finding"
    SUBSCRIPTIONS = "subscriptions"
    TOPICS = "topics"
    FEEDBACK = "feedback"
    SAVED = "saved"
    SERVICE = "service"


class Permission(StrEnum):
    """What one must be allowed to do for a command."""

    ANYONE = "anyone"
    MANAGE = "manage"
    SOME = "some"  # manage for what changes something; anyone may look


@dataclass(frozen=True, slots=True)
class Said:
    """A text of somebody's in a written command; `before` is glued to it."""

    text: str
    before: str = ""


Pieces = tuple[str | Said, ...]
Choices = tuple[tuple[str, str], ...]  # (label, value)


@dataclass(frozen=True, slots=True)
class Argument:
    """How a field stands in a line: `read` takes it from the words, and `write` is its inverse."""

    shown: str  # in the syntax; "" is not shown
    write: Callable[[Any], Pieces]
    read: Callable[[Words, "Usage"], Any] | None = None  # None: the command reads its line as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How a field is asked for by its name. What is not said here follows from the field: its name, type and choices."""

    help: str
    name: str = ""
    optional: bool = False  # although the command needs it: without it a form is opened
    suggests: str = ""  # what completes it: a kind of `suggest`
    offers: Choices = ()  # what completes it, where that is always the same; anything else may be said too
    choices: Choices = ()  # one of these and nothing else
    least: float | None = None
    most: float | None = None
    value: Callable[[Any], Any] | None = None  # what a choice stands for, where that is no text
    kind: type[Any] = str  # of what is chosen: str, int, float, bool
    field: str = ""  # of the command; "" for what is no field
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How one command goes.

    `words` are at most two, in lower case, of at most 32 characters: the second one is a sub-command's name.
    """

    words: str  # "topic create"
    command: "type[Command]"
    syntax: str  # "topic create NAME QUERY…"
    help: str  # one sentence
    example: str  # in the form that bot.commands.write gives
    group: Group
    permission: Permission
    aliases: tuple[str, ...]  # what people try
    arguments: tuple[tuple[str, Argument], ...]  # by field, in the order of a line
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person may ask.

    Names of topics, items, zones and queries are the text as typed; the handlers look them up. "" and None stand for what
    was not said.
    """

    usage: ClassVar[Usage]

    @classmethod
    def read(cls, words: Words) -> Self:
        """Return the command from the words behind its verb; raises UsageError."""
        made: Callable[..., Self] = cls
        said = {name: argument.read(words, cls.usage) for name, argument in cls.usage.arguments if argument.read}
        end(words, cls.usage)
        return made(**said)

    def written(self) -> Pieces:
        """Return what stands behind the verb, the inverse of `read`; what is as it is without a word is not said."""
        usual = {each.name: each.default for each in fields(self)}
        said = ((argument, getattr(self, name), usual[name]) for name, argument in self.usage.arguments)
        return tuple(piece for argument, value, default in said if value != default for piece in argument.write(value))

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from what was chosen, by the names of its options; raises UsageError."""
        made: Callable[..., Self] = cls
        needed = {each.field: "" for each in cls.usage.options if each.required or each.optional}
        return made(**needed | cls.fields_chosen(values))

    @classmethod
    def fields_chosen(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields for which something was chosen."""
        given = ((each, values.get(each.name)) for each in cls.usage.options if each.field)
        return {each.field: (each.value or each.kind)(value) for each, value in given if value not in (None, "")}


C = TypeVar("C", bound=Command)
DECLARED: list[Usage] = []


def declared(
    words: str,
    group: Group,
    *,
    example: str,
    permission: Permission = Permission.ANYONE,
    aliases: tuple[str, ...] = (),
    syntax: str = "",
    order: tuple[str, ...] = (),
    besides: tuple[Option, ...] = (),
) -> Callable[[type[C]], type[C]]:
    """Make the class known as the command of these words; its help is what the class says of itself.

    The syntax follows from the arguments where it is not given; `order` names the fields as they stand in a line where that
    is not their own order. `besides` are options that are no field, which `chosen` looks at by itself.
    """

    def declare(command: type[C]) -> type[C]:
        arguments, options = _annotated(command)
        ordered = tuple((name, arguments[name]) for name in order or arguments)
        command.usage = Usage(
            words=words,
            command=command,
            syntax=syntax or " ".join([words, *(each.shown for _, each in ordered if each.shown)]),
            help=command.__doc__ or words,
            example=example,
            group=group,
            permission=permission,
            aliases=aliases,
            arguments=ordered,
            options=(*options, *besides),
        )
        DECLARED.append(command.usage)
        return command

    return declare


def _annotated(command: type[Command]) -> tuple[dict[str, Argument], list[Option]]:
    """Return how the fields stand in a line, and how they are asked for."""
    hints = get_type_hints(command, include_extras=True)
    arguments: dict[str, Argument] = {}
    options = []
    for each in fields(command):
        hint = hints[each.name]
        for note in getattr(hint, "__metadata__", ()):
            if isinstance(note, Argument):
                arguments[each.name] = note
            elif isinstance(note, Option):
                options.append(_completed(note, each, hint.__origin__))
    return arguments, options


def _completed(option: Option, of: "Field[Any]", hint: Any) -> Option:
    kind = str if option.value else next((each for each in (hint, *get_args(hint)) if each in (int, float, bool)), str)
    named = next((each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, StrEnum)), None)
    return replace(
        option,
        name=option.name or of.name,
        field=of.name,
        kind=kind,
        value=option.value or named,
        required=of.default is MISSING and not option.optional,
        choices=option.choices or tuple((each.value, each.value) for each in named or ()),
    )


def missing(words: Words, usage: Usage, what: str) -> UsageError:
    """Return the error for a command that ends too early: what it needs, and an example."""
    return words.fault(f"*{usage.words}* needs {what}: write for example *{usage.example}*.")


def end(words: Words, usage: Usage) -> None:
    """See to it that nothing is left; raises UsageError."""
    word = words.peek()
    if word is not None:
        over = shown(words.typed.text[word.start : words.end])
        titled = f" {SEVERAL_WORDS}" if re.search("TOPIC|NAME", usage.syntax) else ""
        raise words.fault(f'*{usage.words}* does not understand "{over}".', word, f"It goes *{usage.syntax}*.{titled}")
