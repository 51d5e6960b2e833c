"""The pieces of a message in Discord's components: texts, rules, rows of buttons, and how much room they take. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.discord.render.buttons import button, choice, opener
from adapters.discord.render.limits import ROW, length
from adapters.forms import Form
from bot.models import Button

Component = dict[str, Any]

# The types of components.
_ROW, _TEXT, _FILE, _RULE, _CONTAINER = 1, 10, 13, 14, 17
_ACCENT = 0xB3261E  # the red of the terminal's numbers, as the bar at the side


@dataclass(frozen=True, slots=True)
class Piece:
    """What belongs together and is not parted between two messages: an entry with its buttons."""

    components: tuple[Component, ...]
    keep: tuple[str, ...] = ()  # texts for the store, too long for the buttons
    keys: tuple[str, ...] = ()  # of the items that it shows

    @property
    def texts(self) -> int:
        """How many characters of text it takes."""
        return sum(length(each["content"]) for each in self.components if each["type"] == _TEXT)

    @property
    def count(self) -> int:
        """How many components it takes."""
        return sum(1 + len(each.get("components", ())) for each in self.components)


def text(content: str) -> Component:
    """Return a text."""
    return {"type": _TEXT, "content": content}


def rule() -> Component:
    """Return a line between two texts."""
    return {"type": _RULE, "divider": True, "spacing": 1}


def container(components: Sequence[Component]) -> Component:
    """Return the card that everything of a message stands on; of two buttons that do the same, the first."""
    return {"type": _CONTAINER, "accent_color": _ACCENT, "components": list(_each_once(components))}


def _each_once(components: Iterable[Component]) -> Iterator[Component]:
    met: set[str] = set()
    for each in components:
        if each["type"] != _ROW:
            yield each
            continue
        kept = [one for one in each["components"] if one["custom_id"] not in met]
        met.update(one["custom_id"] for one in kept)
        if kept:
            yield {**each, "components": kept}


def file(name: str) -> Component:
    """Return the place of an attached file."""
    return {"type": _FILE, "file": {"url": f"attachment://{name}"}}


def rows(buttons: Iterable[Button], form: Form | None = None) -> Piece:
    """Return rows of five buttons at most, the last one to open the form; two that do the same are one."""
    made = [button(each.label, each.command, danger=each.danger) for each in buttons if each.command.strip()]
    unique = list({each["custom_id"]: (each, kept) for each, kept in reversed(made)}.values())[::-1]
    shown = [each for each, _ in unique] + ([opener(form)] if form else [])
    lines = [{"type": _ROW, "components": shown[start : start + ROW]} for start in range(0, len(shown), ROW)]
    return Piece(tuple(lines), tuple(kept for _, kept in unique if kept))


def select(about: str, offers: Sequence[tuple[str, str]]) -> Piece:
    """Return a row with a select of (label, command) pairs; nothing for none."""
    if not offers:
        return Piece(())
    made, kept = choice(about, offers)
    return Piece(({"type": _ROW, "components": [made]},), tuple(kept))


def joined(*pieces: Piece) -> Piece:
    """Return several pieces as one."""
    return Piece(
        tuple(each for piece in pieces for each in piece.components),
        tuple(dict.fromkeys(each for piece in pieces for each in piece.keep)),
        tuple(dict.fromkeys(each for piece in pieces for each in piece.keys)),
    )


def sheets(pieces: Iterable[Piece], texts: int, count: int, *, ruled: bool = False) -> Iterator[list[Piece]]:
    """Fill one message after the other, each with at most so many characters and components.

    `ruled`: each piece takes a rule above it besides.
    """
    sheet: list[Piece] = []
    for piece in pieces:
        together = (*sheet, piece)
        rules = len(together) if ruled else 0
        if sheet and (sum(each.texts for each in together) > texts or sum(each.count for each in together) + rules > count):
            yield sheet
            sheet = []
        sheet.append(piece)
    yield sheet


def nested(components: Iterable[Component]) -> Iterator[Component]:
    """Yield every component, those that stand in others too, in reading order."""
    for each in components:
        yield each
        yield from nested(each.get("components", ()))


def custom_ids(components: Iterable[Component]) -> Iterator[Component]:
    """Yield every component that carries something, in reading order."""
    return (each for each in nested(components) if "custom_id" in each)
