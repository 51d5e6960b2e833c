"""From one time of the day to another: `22:00-07:00`, `22 to 7`, `from 10pm until 7am`."""

import re
from datetime import time

from bot.commands.schedule import read_time
from bot.commands.typed import clean, plain
from bot.commands.words import Words, shown
from bot.errors import UsageError

_DASHES = re.compile("-+")
_FROM = ("from", "between")
_TO = ("-", "to", "till", "until", "through", "thru", "and")
_HINT = "Write both times, such as *22:00-07:00* or *from 10pm until 7am*."


def read_hours(text: str) -> tuple[time, time]:
    """Return when the hours begin and when they end, which may be on the next day.

    Raises UsageError for what is no two times, and for two that are the same: they are no hours, or all of them.
    """
    words = Words(clean(_DASHES.sub(" - ", plain(text))))
    try:
        begin, end = _read(words)
    except UsageError as error:
        raise UsageError(str(error), hint=_HINT) from error  # its position is one in this text, not in the command
    if begin == end:
        raise UsageError(f"Hours that begin and end at {begin:%H:%M} are none, or all of them.", hint=_HINT)
    return begin, end


def _read(words: Words) -> tuple[time, time]:
    words.take(*_FROM)
    if words.peek() is None:
        raise words.fault("When the hours begin and end is missing.")
    begin = read_time(words)
    if words.take(*_TO) is None or words.peek() is None:
        raise words.fault("When the hours end is missing.")
    end = read_time(words)
    if (over := words.peek()) is not None:
        raise words.fault(f'"{shown(over.text)}" is not understood after the hours.', over)
    return begin, end
