"""How tall a message is in Discord, estimated by its lines; `python -m benchmarks.heights discord` draws and measures it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Of a window so many px wide: how wide what stands on a card is.
_DESKTOP, _PHONE = 700, 390
WITHIN = {_DESKTOP: 700 - 72 - 16 - 5 - 32, _PHONE: 390 - 68 - 16 - 5 - 24}
_AROUND = {_DESKTOP: 17 + 4 + 22 + 4 + 2 + 32, _PHONE: 17 + 4 + 22 + 4 + 2 + 24}  # a message and its card
_GAP = 8
_LINE, _SMALL = (22, 7.3), (18, 6.0)  # px: how tall a line is, how wide a letter on average
_BOLD = 1.18  # how much wider letters in bold are
_SELECT, _BUTTON, _RULE = 44, 32, 9
_MARKUP = re.compile(r"\]\(<[^>]*>\)|\\(?=[^\w\s])|^(?:#{1,3}|-#) |\*\*|(?<!\\)\[")


def estimated(body: Mapping[str, Any], width: int) -> int:
    """Return how tall the message is in a window 700 or 390 px wide."""
    return round(_AROUND[width] + _stacked(body["components"][0]["components"], width))


def _stacked(components: Iterable[Mapping[str, Any]], width: int) -> float:
    heights = [_KINDS[each["type"]](each, WITHIN[width]) for each in components]
    return sum(heights) + _GAP * (len(heights) - 1)


def _text(each: Mapping[str, Any], room: float) -> float:
    return sum(_line(line, room) for line in each["content"].split("\n"))


def _line(line: str, room: float) -> float:
    height, letter = _SMALL if line.startswith("-# ") else _LINE
    bold = line.startswith(("**", "### ")) and line.count("**") < 3
    shown = _MARKUP.sub("", line)
    return height * _lines(shown, room / (letter * (_BOLD if bold else 1)))


def _lines(text: str, letters: float) -> int:
    """How many lines the words fill, each of so many letters."""
    lines, used = 1, 0
    for word in text.split():
        if used and used + 1 + len(word) > letters:
            lines, used = lines + 1, 0
        used += len(word) + bool(used)
    return lines


def _row(each: Mapping[str, Any], room: float) -> float:
    if each["components"][0]["type"] == 3:
        return _SELECT
    used, lines = 0.0, 1
    for button in each["components"]:
        wide = _wide(button)
        if used and used + _GAP + wide > room:
            lines, used = lines + 1, 0.0
        used += wide + (_GAP if used else 0)
    return lines * _BUTTON + (lines - 1) * _GAP


def _wide(button: Mapping[str, Any]) -> float:
    return 24 + 6.9 * len(button["label"])


def _section(each: Mapping[str, Any], room: float) -> float:
    inner = room - 16 - _wide(each["accessory"])
    return max(_BUTTON, sum(_text(one, inner) for one in each["components"]))


_KINDS: Mapping[int, Callable[[Mapping[str, Any], float], float]] = {
    1: _row,
    9: _section,
    10: _text,
    14: lambda _, __: _RULE,
}
