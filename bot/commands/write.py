"""Command to text: the canonical form, on one line, that `parse` reads as the same command."""

from collections.abc import Callable, Iterable

from bot.commands.declaration import Command, Said
from bot.commands.parse import parse
from bot.commands.quoting import exactly
from bot.errors import UsageError

_FORMS: tuple[Callable[[str], str], ...] = (str, '"{}"'.format, exactly)  # the plainest first


def write(command: Command) -> str:
    """Return the command as text: `parse(write(command)) == command` for every command that can be said at all.

    A text in it stands as it is where it reads back so, else between quotation marks, else exactly (quoting.py).
    """
    pieces = (command.usage.words, *command.written())
    said = [place for place, piece in enumerate(pieces) if isinstance(piece, Said)]
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


def _joined(pieces: Iterable[str | Said], forms: dict[int, int]) -> str:
    return " ".join(
        piece.before + _FORMS[forms[place]](piece.text) if isinstance(piece, Said) else piece
        for place, piece in enumerate(pieces)
    )
