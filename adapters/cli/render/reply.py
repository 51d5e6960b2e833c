"""A reply for the terminal, at any width: `console.print(ReplyView(reply))`. Pure: values in, lines out.

Buttons are other commands; here they stand as what one would type. Those of a single entry are the same for every entry and
are left out: `help` tells them.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from adapters.cli.render.chart import chart_rows
from adapters.cli.render.digest import MEASURE, STYLES, Sheet, card_view, digest_lines, printable
from adapters.text import clean, emphasised, safe_url
from adapters.words import POST, badges, byline, links, signals, title, warnings
from bot.models import Item, Reply, ReplyEntry

PROGRAM = "broadsheet"


@dataclass(frozen=True)
class ReplyView:
    """A reply as rich prints it; `today` decides which dates are told with their year."""

    reply: Reply
    today: date

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sheet = Sheet(console, max(10, min(options.max_width, MEASURE)))
        yield from printable(_lines(self.reply, self.today, sheet), options.encoding)


def typed(command: str) -> str:
    """Return what one types in a shell to give the command."""
    line = clean(command)
    words = line.split()
    if words and all(word == shlex.quote(word) for word in words):
        return f"{PROGRAM} {' '.join(words)}"
    verb, _, rest = line.partition(" ")
    if verb == "search" and not rest.startswith("-"):  # which takes one quoted query as it stands
        return f"{PROGRAM} {verb} {shlex.quote(rest)}"
    return f"{PROGRAM} ask {shlex.quote(line)}"


def _lines(reply: Reply, today: date, sheet: Sheet) -> Iterator[Text]:
    if not reply.cards:  # a card has a title of its own
        yield from sheet.wrapped(Text(clean(reply.title), style=STYLES["heading"]))
    yield from _paragraphs(reply, sheet)
    if reply.fields:
        yield Text()
        yield from _table(reply, sheet)
    for chart in reply.charts:
        yield Text()
        yield from chart_rows(chart, sheet)
    for number, entry in enumerate(reply.entries, start=reply.first):
        if not entry.title_only or number == reply.first:
            yield Text()
        yield from _title_alone(number, entry, sheet) if entry.title_only else _entry(number, entry, today, sheet)
    yield from _cards(reply, today, sheet)
    for digest in reply.digests:
        yield Text()
        yield from digest_lines(digest, sheet, reply.layout)
    if reply.next_steps or reply.buttons:
        yield Text()
    for step in reply.next_steps:
        yield from sheet.wrapped(_stressed(step, STYLES["quiet"]))
    for button in reply.buttons:
        yield from sheet.wrapped(
            Text.assemble((f"{clean(button.label)}: ", STYLES["quiet"]), typed(button.told or button.command))
        )


def _paragraphs(reply: Reply, sheet: Sheet) -> Iterator[Text]:
    for paragraph in reply.text:
        if paragraph and safe_url(paragraph) == paragraph:  # an address of ours: whole, to be copied or clicked
            yield Text(paragraph, no_wrap=True, overflow="ignore")
        else:
            yield from sheet.wrapped(_stressed(paragraph))
    for quoted in reply.quoted:
        yield Text()
        yield from sheet.wrapped(Text(clean(quoted)))


def _cards(reply: Reply, today: date, sheet: Sheet) -> Iterator[Text]:
    for number, card in enumerate(reply.cards):
        yield from (Text(),) if number or reply.text else ()
        yield from card_view(card, today, sheet)


def _table(reply: Reply, sheet: Sheet) -> Iterator[Text]:
    """The fields, their names in a column where there is room for one."""
    widest = max(len(clean(field.name)) for field in reply.fields) + 2
    for field in reply.fields:
        name, value = clean(field.name), _stressed(field.value)
        if sheet.narrow or widest > sheet.width // 3:
            yield from sheet.wrapped(Text.assemble((f"{name}: ", STYLES["label"]), value))
        else:
            yield from sheet.hanging(name.ljust(widest), "label", value)


def _entry(number: int, entry: ReplyEntry, today: date, sheet: Sheet) -> Iterator[Text]:
    if entry.item is not None:
        yield from _item(number, entry.item, today, sheet)
    else:
        shown = "" if entry.is_section else f"{number:>2}  "
        yield from sheet.hanging(shown, "number", _stressed(entry.title, STYLES["heading"]))
    if gist := clean(entry.gist):
        yield from sheet.wrapped(Text(gist), 4)
    for line in entry.lines:
        yield from sheet.wrapped(_stressed(line), 4)
    if url := safe_url(entry.post):
        yield from sheet.wrapped(Text(POST, style=Style(link=url)), 4)


def _title_alone(number: int, entry: ReplyEntry, sheet: Sheet) -> Iterator[Text]:
    """The title, and behind it where it can be read."""
    if entry.item is None:
        told = Text(clean(entry.title))
    else:
        found = links(entry.item)[:1]
        told = Text.assemble(title(entry.item), *((f"  {shown}", STYLES["quiet"] + Style(link=url)) for url, shown in found))
    yield from sheet.hanging(f"{number:>2}  ", "number", told)


def _item(number: int, item: Item, today: date, sheet: Sheet) -> Iterator[Text]:
    found = links(item)
    style = STYLES["heading"] + Style(link=found[0][0]) if found else STYLES["heading"]
    yield from sheet.hanging(f"{number:>2}  ", "number", Text(title(item), style=style))
    pieces = [Text(word, style=STYLES["warning"]) for word in warnings(item)]
    facts = (*byline(item, today), *signals(item), *badges(item))
    yield from sheet.wrapped(sheet.flowing([*pieces, *(Text(fact, style=STYLES["quiet"]) for fact in facts)], 4), 4)
    addresses = [Text(shown, style=Style(link=url)) for url, shown in found] or [Text(clean(item.key))]
    yield from sheet.wrapped(sheet.flowing(addresses, 4), 4)


def _stressed(text: str, style: Style = STYLES["plain"]) -> Text:
    strong = style + Style(bold=True)
    return Text.assemble(*((piece, strong if marked else style) for piece, marked in emphasised(clean(text))))
