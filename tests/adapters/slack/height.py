"""How tall a message is in Slack, by an estimate of its lines: for tests, which have no browser.

Sizes and margins are those of benchmarks/heights/slack.py, which prints what it measures beside this estimate.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.adapters.slack.mrkdwn import parsed

# A column's width in CSS pixels → that of the blocks in it.
BLOCKS = {700: 600, 390: 318}
_MENU = 44  # pixels, with its margin
_BAR = 16
_HEAD = 16 + 22  # a message's margins, and who posts it
_LINE, _SMALL_LINE = 22, 18
_LETTER, _BOLD, _SMALL, _LARGE = 7.2, 7.9, 6.2, 9.5  # pixels on average, a space counted as a letter


def height(blocks: Iterable[Mapping[str, Any]], width: int) -> int:
    """Return about how tall a message is, in a column of 700 or 390 CSS pixels."""
    return _HEAD + sum(_block(each, BLOCKS[width], phone=width == 390) for each in blocks)


def _block(block: Mapping[str, Any], room: int, *, phone: bool) -> int:
    match block["type"]:
        case "header":
            return 12 + _LINE * _lines([(block["text"]["text"], _LARGE)], room)
        case "context":
            text = " ".join(each["text"] for each in block["elements"])
            return 8 + _SMALL_LINE * sum(_lines([(line, _SMALL)], room) for line in text.split("\n"))
        case "section":
            beside = _MENU if "accessory" in block else 0
            return 12 + max(30 if beside else 0, _LINE * _marked(block["text"]["text"], room - beside))
        case "actions":
            return 16 + (36 if phone else 28)
        case "rich_text":
            return 12 + sum(_element(each, room) for each in block["elements"])
        case _:
            return 13


def _marked(text: str, room: float) -> int:
    lines = text.split("\n")
    return sum(_lines([(each.text, _BOLD if each.style else _LETTER) for each in parsed(line)], room) for line in lines)


def _element(element: Mapping[str, Any], room: int) -> int:
    margin, room = (8, room - _BAR) if element["type"] == "rich_text_quote" else (0, room)
    lines: list[list[tuple[str, float]]] = [[]]
    for run in element["elements"]:
        first, *others = run.get("text", "").split("\n")
        wide = _BOLD if (run.get("style") or {}).get("bold") else _LETTER
        lines[-1].append((first, wide))
        lines += [[(each, wide)] for each in others]
    return margin + _LINE * sum(_lines(line, room) for line in lines)


def _lines(runs: Iterable[tuple[str, float]], room: float) -> int:
    """Return how many lines of so many pixels the words of the runs take; each run has its width of a letter."""
    lines, at = 1, 0.0
    for text, wide in runs:
        for word in text.split():
            size = len(word) * wide
            if at and at + size > room:
                lines, at = lines + 1, 0.0
            lines += int(size // room)
            at += size % room + wide
    return lines
