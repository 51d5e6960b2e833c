"""A message of a chat platform as a picture in text: a frame with words, bars, buttons. Pure: values in, lines out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from adapters.cli.render.digest import MEASURE, STYLES, Sheet, printable
from adapters.text import clean

MENU = "⋯"
_LEAST = 20  # columns: below that a frame leaves no room for words


@dataclass(frozen=True)
class TextLines:
    """Lines of text; `barred` where the platform draws a bar beside them, `menu` where one stands behind the first line."""

    lines: tuple[Text, ...]
    barred: bool = False
    menu: bool = False


@dataclass(frozen=True)
class Buttons:
    """Buttons in a row."""

    labels: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """A list to choose from, closed."""

    label: str


@dataclass(frozen=True)
class Rule:
    """A thin line."""


Part = TextLines | Buttons | Choice | Rule


@dataclass(frozen=True)
class Message:
    """One message, from top to bottom."""

    parts: tuple[Part, ...]


def shortened(messages: Sequence[Message], left_out: str) -> Message:
    """Return as one message how they begin, up to the first entry's end, and how they end; between them what is left out."""
    first, last = messages[0].parts, messages[-1].parts
    begin, end = min(_entry_ends(first), default=len(first)), max(_entry_ends(last), default=len(last))
    return Message((*first[:begin], TextLines((Text(left_out, style=STYLES["quiet"]),)), *last[end:]))


def _entry_ends(parts: Sequence[Part]) -> list[int]:
    """Return how many parts stand up to the end of each entry: what has a menu, or where nothing has one its buttons."""
    menus = [at for at, part in enumerate(parts, start=1) if _has_menu(part)]
    return menus or [at for at, part in enumerate(parts, start=1) if isinstance(part, Buttons)]


def _has_menu(part: Part) -> bool:
    return part.menu if isinstance(part, TextLines) else isinstance(part, Buttons) and MENU in part.labels


@dataclass(frozen=True)
class MessageView:
    """A message as rich prints it, in a frame with a caption."""

    message: Message
    caption: str
    accent: bool = False  # whether the platform draws a thick bar at the message's left side

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from printable(self._lines(console, max(_LEAST, min(options.max_width, MEASURE))), options.encoding)

    def _lines(self, console: Console, width: int) -> Iterator[Text]:
        side = ("┃", STYLES["number"]) if self.accent else ("│", STYLES["quiet"])
        caption = f"─ {self.caption} "
        yield Text(f"┌{caption}{'─' * (width - 2 - cell_len(caption))}┐", style=STYLES["quiet"])
        for line in spaced(self.message.parts, Sheet(console, width - 4)):
            gap = " " * (width - 4 - line.cell_len)
            yield Text.assemble(side, " ", line, gap, " ", ("│", STYLES["quiet"]))
        yield Text(f"└{'─' * (width - 2)}┘", style=STYLES["quiet"])


def spaced(parts: Iterable[Part], sheet: Sheet) -> Iterator[Text]:
    """Yield the lines of the parts, an empty one before and after each row of buttons."""
    before: Part | None = None
    for part in parts:
        if before is not None and isinstance(part, Buttons | Choice) != isinstance(before, Buttons | Choice):
            yield Text()
        yield from _drawn(part, sheet)
        before = part


def _drawn(part: Part, sheet: Sheet) -> Iterator[Text]:
    match part:
        case TextLines(lines, barred, menu):
            for number, line in enumerate(lines):
                line = Text.assemble(line, (f"  [{MENU}]", STYLES["label"])) if menu and number == 0 else line
                yield from sheet.hanging("", "quiet", line) if not barred else _beside_bar(line, sheet)
        case Buttons(labels):
            yield from _row([f"[ {clean(label)} ]" for label in labels], sheet)
        case Choice(label):
            yield from _row([f"[ {clean(label)}  ▾ ]"], sheet)
        case Rule():
            yield sheet.rule("─")


def _beside_bar(line: Text, sheet: Sheet) -> Iterator[Text]:
    return (Text.assemble(("┃ ", STYLES["quiet"]), each) for each in sheet.broken(line, 2))


def _row(shown: Sequence[str], sheet: Sheet) -> Iterator[Text]:
    """Put what is pressed side by side, as many as there is room for."""
    row = Text()
    for each in shown:
        if row and row.cell_len + 2 + cell_len(each) > sheet.width:
            yield from sheet.broken(row, 0)
            row = Text()
        row.append(f"{'  ' if row else ''}{each}", style=STYLES["label"])
    yield from sheet.broken(row, 0)
