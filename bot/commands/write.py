"""Command to text: the canonical form, on one line, that `parse` reads as the same command."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bot.commands.parse import parse
from bot.commands.quoting import exactly
from bot.commands.schedule import NAMES, SETS
from bot.commands.table import BY_COMMAND
from bot.commands.verbs import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    FilterAction,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    More,
    Now,
    Pause,
    Profile,
    ProfileAction,
    Resume,
    Save,
    Search,
    Settings,
    ShowTopic,
    Similar,
    Subscribe,
    Unsave,
    Unsubscribe,
    Usual,
    Why,
)
from bot.errors import UsageError


@dataclass(frozen=True, slots=True)
class _Said:
    """A text of somebody's in a command; `before` is glued to it."""

    text: str
    before: str = ""


_Piece = str | _Said
_FORMS: tuple[Callable[[str], str], ...] = (str, '"{}"'.format, exactly)  # the plainest first


def write(command: Command) -> str:
    """Return the command as text: `parse(write(command)) == command` for every command that can be said at all.

    A text in it stands as it is where it reads back so, else between quotation marks, else exactly (quoting.py).
    """
    verb = BY_COMMAND[type(command)].words
    pieces = [piece for piece in (verb, *_PIECES.get(type(command), _nothing)(command)) if piece]
    said = [place for place, piece in enumerate(pieces) if isinstance(piece, _Said)]
    forms = dict.fromkeys(said, 0)
    if _reads_back(text := _joined(pieces, forms), command):
        return text
    forms = dict.fromkeys(said, len(_FORMS) - 1)
    for place in said:
        for form in range(len(_FORMS)):
            forms[place] = form
            if _reads_back(_joined(pieces, forms), command):
                break
    return _joined(pieces, forms)


def _reads_back(text: str, command: Command) -> bool:
    try:
        return parse(text) == command
    except UsageError:
        return False


def _joined(pieces: Iterable[_Piece], forms: dict[int, int]) -> str:
    return " ".join(
        piece.before + _FORMS[forms[place]](piece.text) if isinstance(piece, _Said) else piece
        for place, piece in enumerate(pieces)
    )


def _if(word: str, value: str) -> tuple[_Piece, ...]:
    """Return the word and the text behind it, nothing without a text."""
    return (word, _Said(value)) if value else ()


def _nothing(_: Command) -> tuple[_Piece, ...]:
    return ()


def _search(command: Search) -> tuple[_Piece, ...]:
    return (*((_Said(command.page, "page="),) if command.page else ()), _Said(command.query))


def _subscribe(command: Subscribe) -> tuple[_Piece, ...]:
    switches = (("compact", "full", command.compact), ("always", "quiet if empty", command.always))
    return (
        _Said(command.topic),
        _days(command),
        f"at {command.at:%H:%M}" if command.at is not None else "",
        *_if("in", command.zone),
        f"top {_number(command.entries)}" if command.entries is not None else "",
        f"min {_number(command.min_score)}" if command.min_score is not None else "",
        *(yes if value else no for yes, no, value in switches if value is not None),
        *_if("filter", command.filter),
    )


def _days(command: Subscribe) -> str:
    if command.month_day is not None:
        return f"monthly on {command.month_day}"
    if command.weekdays is None:
        return ""
    known = {days: name for name, days in SETS.items()}
    return known.get(command.weekdays) or ",".join(NAMES[day] for day in command.weekdays)


def _number(value: float | Usual) -> str:
    return value.value if isinstance(value, Usual) else repr(value).removesuffix(".0")


def _create_topic(command: CreateTopic) -> tuple[_Piece, ...]:
    return (_Said(command.name), *(_if("from", command.origin) if command.origin else (_Said(command.query),)))


def _edit_topic(command: EditTopic) -> tuple[_Piece, ...]:
    return (
        _Said(command.name),
        f"rev={command.revision}" if command.revision is not None else "",
        "remove" if command.remove else "",
        command.part.value,
        f"weight {_number(command.weight)}" if command.weight is not None else "",
        _Said(command.value),
    )


def _filter(command: Filter) -> tuple[_Piece, ...]:
    plainly = command.action is FilterAction.SHOW and command.scope is None
    return (
        _Said(command.topic),
        command.scope.value if command.scope else "",
        "" if plainly else command.action.value,
        *((_Said(command.query),) if command.query else ()),
    )


def _profile(command: Profile) -> tuple[_Piece, ...]:
    action = "" if command.action is ProfileAction.SHOW else command.action.value
    return (_Said(command.topic), action, *((_Said(command.item),) if command.item else ()))


def _saved(command: ListSaved) -> tuple[_Piece, ...]:
    return (command.form.value if command.form else "", f"page {command.page}" if command.page != 1 else "")


def _for_topic(command: Why | More | Less) -> tuple[_Piece, ...]:
    return (_Said(command.item), *_if("for", command.topic))


def _maybe(*texts: str) -> tuple[_Piece, ...]:
    return tuple(_Said(text) for text in texts if text)


_PIECES: dict[type[Command], Callable[[Any], tuple[_Piece, ...]]] = {
    Search: _search,
    Similar: lambda command: (_Said(command.item),),
    Why: _for_topic,
    Now: lambda command: _maybe(command.topic),
    Subscribe: _subscribe,
    Unsubscribe: lambda command: (_Said(command.topic),),
    ListSubscriptions: lambda command: ("all" if command.everywhere else "",),
    Pause: lambda command: (_Said(command.topic), *_if("until", command.until)),
    Resume: lambda command: (_Said(command.topic),),
    ShowTopic: lambda command: (_Said(command.name),),
    CreateTopic: _create_topic,
    EditTopic: _edit_topic,
    DeleteTopic: lambda command: (_Said(command.name), "anyway" if command.anyway else ""),
    Filter: _filter,
    More: _for_topic,
    Less: _for_topic,
    Profile: _profile,
    Save: lambda command: (_Said(command.item),),
    Unsave: lambda command: (_Said(command.item),),
    ListSaved: _saved,
    Settings: lambda command: _maybe(command.name, command.value),
    History: lambda command: _maybe(command.topic),
    Help: lambda command: _maybe(command.command),
}
