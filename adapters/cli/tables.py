"""Search results and topics for the terminal, in the style of the digest. Pure: values in, lines out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from adapters.cli.render import MEASURE, STYLES, Sheet, printable
from adapters.text import clean, cut, plural
from adapters.words import badges, byline, links, signals, title, warnings
from bot.models import Item, Page, Topic

_ABSTRACT = 240  # characters: about three lines


@dataclass(frozen=True)
class PageView:
    """A page of search results as rich prints it; `offset` is how many came before."""

    page: Page
    query: str
    now: datetime
    offset: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from printable(self._lines(_sheet(console, options)), options.encoding)

    def _lines(self, sheet: Sheet) -> Iterator[Text]:
        query = cut(clean(self.query), 200)
        if not self.page.hits:
            where = "no more items match" if self.offset else "nothing matches"
            yield from sheet.wrapped(Text(f"Here {where} {query}." if query else f"Here {where}."))
            return
        for number, hit in enumerate(self.page.hits, start=self.offset + 1):
            yield from _result(number, hit.item, self.now, sheet)
            yield Text()
        last = self.offset + len(self.page.hits)
        more = f"Items {self.offset + 1}–{last}; there are more." if self.page.more else plural(last, "item") + " in all."
        yield from sheet.wrapped(Text(more, style=STYLES["quiet"]))


@dataclass(frozen=True)
class TopicsView:
    """The topics as rich prints them: name, title, and what each is about. `on` are those that digests are made for."""

    topics: Sequence[Topic]
    on: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from printable(self._lines(_sheet(console, options)), options.encoding)

    def _lines(self, sheet: Sheet) -> Iterator[Text]:
        for topic in self.topics:
            mark = "● " if topic.name in self.on else "  "
            yield from sheet.hanging(mark, "number", Text(clean(topic.name), style=STYLES["heading"]))
            name, about = clean(topic.title), clean(topic.description)
            told = f"{name}: {about}" if about else name
            facts = f" ({plural(len(topic.interests), 'interest')})"
            yield from sheet.wrapped(Text.assemble(told, (facts, STYLES["quiet"])), 2)
        if self.on:
            yield Text()
            yield from sheet.wrapped(Text("● printed by `broadsheet digest`", style=STYLES["quiet"]))


def _sheet(console: Console, options: ConsoleOptions) -> Sheet:
    return Sheet(console, max(10, min(options.max_width, MEASURE)))


def _result(number: int, item: Item, now: datetime, sheet: Sheet) -> Iterator[Text]:
    found = links(item)
    style = STYLES["heading"] + Style(link=found[0][0]) if found else STYLES["heading"]
    yield from sheet.hanging(f"{number:>2}  ", "number", Text(title(item), style=style))
    pieces = [Text(word, style=STYLES["warning"]) for word in warnings(item)]
    facts = (*byline(item, now.date()), *signals(item), *badges(item))
    yield from sheet.wrapped(sheet.flowing([*pieces, *(Text(fact, style=STYLES["quiet"]) for fact in facts)], 4), 4)
    abstract = cut(clean(item.abstract), _ABSTRACT)
    if abstract:
        yield from sheet.wrapped(Text(abstract), 4)
    addresses = [Text(shown, style=Style(link=url)) for url, shown in found] or [Text(clean(item.key))]
    yield from sheet.wrapped(sheet.flowing(addresses, 4), 4)
