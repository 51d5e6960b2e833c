"""How a command is declared: its words, its help, and for each field how it stands in a line and how it is chosen by name.

A command is a frozen dataclass whose fields are annotated with an Argument, an Option or both; `declared` makes it known.
The parser and its inverse, the help, the terminal's subcommands and Discord's commands follow from that.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from enum import Enum, StrEnum
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args, get_type_hints

from bot.commands.words import EXACT, SEVERAL_WORDS, Word, Words, is_mail_place, item_text, mail_place, plain, shown
from bot.errors import UsageError
from bot.models import Rhythm


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
    """A text of somebody's in a written command; `before` is glued to it.

    Where it is `one_word`, a text of several words is quoted, also where it would read back without.
    """

    text: str
    before: str = ""
    one_word: bool = False


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
    value: Callable[[Any], Any] | None = None  # what is chosen stands for, where that is no text, or not as it is
    said: Callable[[Any], Any] | None = None  # the inverse of `value` where there are no choices; "": by another option
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

    @property
    def takes_mail(self) -> bool:
        """Whether the place that it is for may be an address."""
        return any(each.name == EMAIL for each in self.options)

    def placed(self, place: str) -> str:
        """Return the place as this command says it: only where one begins does it matter that an address is a list's."""
        how, address = mail_place(place)
        return f"{EMAIL}:{address}" if how == LIST and all(each.name != LIST for each in self.options) else place


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person may ask.

    Names of topics, items, zones and queries are the text as typed; the handlers look them up. "" and None stand for what
    was not said.
    """

    usage: ClassVar[Usage]

    @property
    def place(self) -> str:
        """The channel or the address that it names, "" for the channel in which it is given."""
        return str(getattr(self, CHANNEL, ""))

    def placed(self, channel: str) -> Self:
        """Return it for this place, "" for where it is given; one that is for no place stays as it is."""
        takes = any(each.name == CHANNEL for each in fields(self))
        return replace(self, **{CHANNEL: channel}) if takes else self

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

    def by_option(self) -> dict[str, Any]:
        """Return what is chosen for the command by the names of its options, the inverse of `chosen`.

        What is as it is without being said is left out, and what no option has.
        """
        usual = {each.name: each.default for each in fields(self)}
        said = ((option, getattr(self, option.field)) for option in self.usage.options if option.field)
        chosen = {option.name: _chosen_for(option, value) for option, value in said if value != usual[option.field]}
        return {name: value for name, value in chosen.items() if value != ""}

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from what was chosen, by the names of its options; raises UsageError."""
        made: Callable[..., Self] = cls
        needed = {each.field: "" for each in cls.usage.options if each.required or each.optional}
        return made(**needed | cls.fields_chosen(values))

    @classmethod
    def fields_chosen(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields for which something was chosen; raises UsageError for what an option does not take."""
        given = ((each, values.get(each.name)) for each in cls.usage.options)
        meant = ((each.field, _meant(each, value)) for each, value in given if value not in (None, ""))
        return {field: value for field, value in meant if field}


def _chosen_for(option: Option, value: Any) -> Any:
    """Return what is chosen so that the option means this value."""
    if option.choices and option.value is not None:
        return next((each for _, each in option.choices if option.value(each) == value), value)
    return value if option.said is None else option.said(value)


def _meant(option: Option, value: Any) -> Any:
    """Return what was chosen, as its field has it."""
    if option.choices and (option.value is not None or not option.field):  # of a text, its handler says what it may be
        if value not in (known := [each for _, each in option.choices]):
            some = ", ".join(f"*{each}*" for each in known)
            raise UsageError(f'*{option.name}* cannot be "{shown(str(value))}": choose one of {some}.')
        return (option.value or str)(value)
    if option.kind not in (int, float):
        return (option.value or option.kind)(value)
    try:
        number = option.kind(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise _no_number(option) from error
    least, most = (-math.inf if option.least is None else option.least), (math.inf if option.most is None else option.most)
    if not least <= number <= most:
        raise _no_number(option)
    return number


def _no_number(option: Option) -> UsageError:
    between = "" if option.least is None or option.most is None else f" from {option.least:g} to {option.most:g}"
    return UsageError(f"*{option.name}* takes a number{between}.")


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
        raise words.fault(f'*{usage.words}* does not understand "{over}".', word, f"For example: *{usage.example}*.{titled}")


# --- the arguments that several commands take: how they are written and read

_TOPIC = rf"{EXACT}|[^\s\"]+|\"[^\"]*\""
_QUOTED = rf"{EXACT}|\"[^\"]*\"|'[^']+'"
_ENDED = r"[.,;:!?]?"
_FOR = re.compile(rf"(.*\S) for ({_TOPIC}){_ENDED}", re.IGNORECASE)
_QUOTED_FOR = re.compile(rf"({_QUOTED}),?(?: for ({_TOPIC}))?{_ENDED}", re.IGNORECASE)
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:[.,]\d{0,30})?|[.,]\d{1,30})(?:e-\d{1,3})?%?", re.ASCII)


class Usual(Enum):
    """That something is to be as it is where nobody said anything else."""

    USUAL = "usual"


def text(value: str) -> Pieces:
    """Write a text of somebody's."""
    return (Said(value),)


def name_text(value: str) -> Pieces:
    """Write a name: one of several words is quoted."""
    return (Said(value, one_word=True),)


def formatted(form: str) -> Callable[[object], Pieces]:
    """Return what writes a value in this form."""
    return lambda value: (form.format(value),)


def behind(word: str) -> Callable[[str], Pieces]:
    """Return what writes a text behind a word."""
    return lambda value: (word, Said(value))


def number_text(value: float | Usual) -> str:
    """Return a number as it reads back, without a fraction that is none."""
    return value.value if isinstance(value, Usual) else repr(value).removesuffix(".0")


def number(word: Word | None) -> float | None:
    """Return a number as people write it: `0.4`, `0,4`, `.4`, `40%`; None when the word is none."""
    if word is None or not _NUMBER.fullmatch(word.key):
        return None
    value = float(word.key.rstrip("%").replace(",", "."))
    return value / 100 if word.key.endswith("%") else value


def topic_name(words: Words, usage: Usage, skipped: str = "") -> str:
    """Read the name of a topic, before which people put a word that is stepped over."""
    at = words.at
    if skipped and words.take(skipped) and words.peek() is None:
        words.at = at
    word = words.next()
    if word is None or not word.text.strip():
        raise missing(words, usage, "the name of a topic")
    return word.text


def topic(shown: str = "TOPIC", skipped: str = "") -> Argument:
    """Take the name of a topic."""
    return Argument(shown, text, lambda words, usage: topic_name(words, usage, skipped))


def _any_topic(words: Words, _usage: Usage) -> str:
    words.take("for", "of")
    word = words.next()
    return word.text if word else ""


def is_quotation(left: str) -> bool:
    """Say whether a text with plain signs is a quotation, with a topic behind it or without."""
    return _QUOTED_FOR.fullmatch(left.rstrip()) is not None


def item_before_topic(words: Words, usage: Usage) -> str:
    """Read all words as a title, but the last `for TOPIC`; behind a quotation only that."""
    words.peek()
    start, left = words.at, words.typed.text[words.at : words.end].rstrip()
    signs = plain(left)
    match = _QUOTED_FOR.fullmatch(signs) or _FOR.fullmatch(signs)
    words.at = words.end
    if match is not None and match[2] is not None:
        words.at = start + match.start(2) - len("for ")
        left = left[: match.end(1)]
    item = item_text(left)
    if not item.strip():
        raise missing(words, usage, "an item")
    return item


def topic_behind(words: Words, _usage: Usage) -> str:
    """Read the name behind `for`, "" where there is none."""
    word = words.next() if words.take("for") else None
    return word.text if word else ""


def rest(shown: str, read: Callable[[str], str], needs: str = "") -> Argument:
    """Take all that is left, as `read` understands it; where it is needed, an empty one is an error."""

    def read_rest(words: Words, usage: Usage) -> str:
        found = read(words.rest())
        if needs and not found.strip():
            raise missing(words, usage, needs)
        return found

    return Argument(shown, text, read_rest)


MOST_PAGES = 10_000


def page_number(words: Words) -> int:
    """Read the number behind `page`; raises UsageError."""
    word = words.next()
    count = number(word)
    if count is None or count != int(count) or not 1 <= count <= MOST_PAGES:
        raise words.fault("*page* takes a number from 1 on, such as *page 2*.", word)
    return int(count)


def _page(words: Words, _usage: "Usage") -> int:
    return page_number(words) if words.split("page") or words.take("page") else 1


def flag(word: str, *also: str) -> Argument:
    """Take a word that may be said."""
    return Argument(f"[{word}]", lambda _: (word,), lambda words, _: words.take(word, *also) is not None)


ITEM = Option(help="A number of the last digest, a link, an identifier or a title.", suggests="item")
HERE = Option(help="A topic that is subscribed here.", suggests="subscription")
NAMED = Option(name="topic", help="The topic.", suggests="topic")
ANY_TOPIC = Argument("[TOPIC]", text, _any_topic)
TOPIC_OR_ITEM = Argument("[TOPIC|ITEM]", text, _any_topic)
FOR = Option(help="For which topic; needed where several are subscribed here.", suggests="topic")

ItemName = Annotated[str, rest("ITEM", item_text, "an item"), ITEM]
ItemBeforeTopic = Annotated[str, Argument("ITEM", text, item_before_topic), ITEM]
ForTopic = Annotated[str, Argument("[for TOPIC]", behind("for"), topic_behind), FOR]
TopicHere = Annotated[str, topic(), HERE]
TopicNamed = Annotated[str, topic(), NAMED]
CHANNEL = "channel"  # what an option suggests, and the field of it: where Discord has a list of its own for that
PERSON = "person"  # what an option suggests, likewise
EMAIL, LIST = "email", "list"  # the options for an address
ADDRESS = "address"  # what they suggest


def place_written(place: str) -> Pieces:
    """Write the place that a command is for: `in #papers`, `by email me@example.org`; nothing for where it is given."""
    how, address = mail_place(place)
    if how:
        return ("by", how, Said(address, one_word=True))
    return ("in", Said(f"#{place}", one_word=True)) if place else ()


def _addressed(word: str) -> Callable[[Any], str]:
    """Return what makes a place of an address that was chosen; the channel of a recipient is one as it is."""
    return lambda chosen: chosen if is_mail_place(str(chosen).strip()) else f"{word}:{str(chosen).strip()}"


def _address_in(word: str) -> Callable[[str], str]:
    return lambda place: mail_place(place)[1] if mail_place(place)[0] == word else ""


_IN_CHANNEL = Option(
    help="Which channel; without it, this one.",
    suggests=CHANNEL,
    said=lambda place: "" if is_mail_place(place) else place,
)
_BY_EMAIL = Option(
    name=EMAIL,
    help="By e-mail, to which address of yours.",
    suggests=ADDRESS,
    value=_addressed(EMAIL),
    said=_address_in(EMAIL),
)
_BY_LIST = Option(
    name=LIST, help="By e-mail, to which mailing list; for administrators.", value=_addressed(LIST), said=_address_in(LIST)
)
Place = Annotated[str, Argument("[in #CHANNEL]", place_written), _IN_CHANNEL]  # "": where the command is given
MailPlace = Annotated[str, Argument("[in #CHANNEL|by email ADDRESS]", place_written), _IN_CHANNEL, _BY_EMAIL]
ListPlace = Annotated[
    str, Argument("[in #CHANNEL|by email ADDRESS|by list ADDRESS]", place_written), _IN_CHANNEL, _BY_EMAIL, _BY_LIST
]
PageNumber = Annotated[
    int,
    Argument("[page 2]", formatted("page {}"), _page),
    Option(help="Which page.", least=1, most=MOST_PAGES),
]


def read_rhythm(words: Words, _usage: Usage | None = None) -> Rhythm | None:
    """Read which of several subscriptions to a topic is meant; None where it is not said."""
    at = words.at
    if words.take("at") and words.take("once"):
        return Rhythm.AT_ONCE
    words.at = at
    word = words.take(*Rhythm)
    return Rhythm(word.option) if word else None


OneOfSeveral = Annotated[  # None: the only one
    Rhythm | None,
    Argument(f"[{'|'.join(Rhythm)}]", formatted("{}"), read_rhythm),
    Option(help="Which one, where the channel has several digests of the topic."),
]
