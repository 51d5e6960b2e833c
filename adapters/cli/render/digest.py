"""A digest for the terminal, at any width: `console.print(DigestView(digest))`. Pure: values in, lines out.

From 60 columns on, what a line is about stands in a margin and its text beside it, as in a newspaper's side column; below
that each stands over the other. Lines are at most 100 columns wide, wherever the terminal ends: longer ones are hard to
read. Every text is built as `rich.text.Text`, never as markup, so that a title like "[bold]" is only a title.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from adapters.text import clean, cut, emphasised, encodable, shown_url
from adapters.words import (
    card_facts,
    coverage_line,
    empty_sentence,
    facts,
    first_link,
    masthead,
    partner,
    title,
    told_parts,
    warnings,
)
from bot.models import PARTS, Digest, Entry, Item, Layout
from bot.wording import long_day

MEASURE = 100  # columns; typographers ask for 45–90 characters of text, and the margin takes some of these
_NARROW = 60
_NUMBER = 4  # the column of an entry's number
_MARGIN = max(map(len, PARTS)) + 2  # "Why it matters" and a gap
STYLES = {
    "heading": Style(bold=True),
    "number": Style(bold=True, color="red"),
    "label": Style(color="cyan"),
    "quiet": Style(dim=True),
    "said": Style(italic=True),
    "missing": Style(dim=True, italic=True),
    "warning": Style(bold=True, color="yellow"),
    "plain": Style(),
}


@dataclass(frozen=True)
class Sheet:
    """The paper to print on: how to wrap a text to a width, and the width."""

    console: Console
    width: int

    @property
    def narrow(self) -> bool:
        """Whether labels stand over their text instead of beside it."""
        return self.width < _NARROW

    @property
    def indent(self) -> int:
        """Where the text of an entry begins."""
        return 3 if self.narrow else _NUMBER

    def broken(self, text: Text, taken: int) -> Iterator[Text]:
        """Break the text into lines that leave `taken` columns of the sheet free."""
        for line in text.wrap(self.console, max(self.width - taken, 1), overflow="fold"):
            line.rstrip()
            yield line

    def wrapped(self, text: Text, indent: int = 0) -> Iterator[Text]:
        """Break the text into lines of the sheet's width, each moved in by `indent`."""
        return (Text.assemble(" " * indent, line) if line.plain else Text() for line in self.broken(text, indent))

    def hanging(self, head: str, style: str, text: Text) -> Iterator[Text]:
        """Put `head` before the first line of the text and as much space before the others."""
        for line in self.broken(text, cell_len(head)):
            yield Text.assemble((head, STYLES[style]), line)
            head = " " * cell_len(head)

    def beside(self, label: str, text: Text) -> Iterator[Text]:
        """Put a label in the margin and the text beside it; before it where the sheet is narrow."""
        if self.narrow:
            return self.wrapped(Text.assemble((f"{label}: ", STYLES["label"]), text), self.indent)
        return self.hanging(" " * self.indent + label.ljust(_MARGIN), "label", text)

    def flowing(self, pieces: Iterable[Text], taken: int) -> Text:
        """Join the pieces by dots and break between them, so that no line begins or ends with a dot."""
        text, used = Text(), 0
        for piece in pieces:
            if used and used + 3 + piece.cell_len > self.width - taken:
                text.append("\n")
                used = 0
            elif used:
                text.append(" · ", STYLES["quiet"])
                used += 3
            text.append_text(piece)
            used += piece.cell_len
        return text

    def row(self, label: str, pieces: Sequence[Text]) -> Iterator[Text]:
        """Put a label beside pieces that are joined by dots."""
        if self.narrow:
            label_text = Text(f"{label}: ", style=STYLES["label"])
            return self.wrapped(self.flowing([label_text + pieces[0], *pieces[1:]], self.indent), self.indent)
        return self.beside(label, self.flowing(pieces, self.indent + _MARGIN))

    def rule(self, char: str) -> Text:
        """Return a line across the sheet."""
        return Text(char * self.width, style=STYLES["quiet"])


@dataclass(frozen=True)
class DigestView:
    """A digest as rich prints it: in brief, or each entry as a card."""

    digest: Digest
    layout: Layout = Layout.BRIEF

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sheet = Sheet(console, max(10, min(options.max_width, MEASURE)))
        yield from printable(digest_lines(self.digest, sheet, self.layout), options.encoding)


def printable(lines: Iterable[Text], encoding: str) -> Iterator[Text]:
    """Make sure that the terminal's encoding has every character, one for one, and that nothing is wrapped again."""
    for line in lines:
        plain = encodable(line.plain, encoding)
        if plain != line.plain:
            line.plain = plain
        line.no_wrap, line.overflow = True, "ignore"
        yield line


def digest_lines(digest: Digest, sheet: Sheet, layout: Layout) -> Iterator[Text]:
    """Print masthead, entries and coverage."""
    printed = _brief if layout is Layout.BRIEF else _card
    yield from _masthead(digest, sheet)
    for number, entry in enumerate(digest.entries, start=1):
        yield Text()
        yield from printed(number, entry, digest.day, sheet)
    if not digest.entries:
        yield Text()
        yield from sheet.wrapped(Text(empty_sentence(digest)), 0 if sheet.narrow else _NUMBER)
    yield Text()
    yield sheet.rule("─")
    yield from sheet.wrapped(Text(coverage_line(digest), style=STYLES["quiet"]))
    if digest.news:
        yield from sheet.wrapped(Text("".join(piece for piece, _ in emphasised(clean(digest.news))), style=STYLES["quiet"]))


def _masthead(digest: Digest, sheet: Sheet) -> Iterator[Text]:
    yield sheet.rule("━")
    for line in sheet.wrapped(Text(clean(digest.title) or clean(digest.topic), style=STYLES["heading"])):
        yield Text.assemble(" " * ((sheet.width - line.cell_len) // 2), line)
    yield from _edition_line(("Broadsheet", long_day(digest.day), masthead(digest)), sheet)
    yield sheet.rule("─")


def _edition_line(words: tuple[str, str, str], sheet: Sheet) -> Iterator[Text]:
    """Set the first word left, the second in the middle of the sheet and the third right; what does not fit goes first."""
    left, middle, right = words
    gap = (sheet.width - cell_len(middle)) // 2
    if gap < len(left) + 2 or gap < len(right) + 2:
        joint = f"{middle} · {right}"
        for text in (joint,) if cell_len(joint) <= sheet.width else (middle, right):
            yield Text(cut(text, sheet.width, cell_len).center(sheet.width).rstrip(), style=STYLES["quiet"])
        return
    after = sheet.width - gap - cell_len(middle)
    yield Text(left.ljust(gap) + middle + right.rjust(after), style=STYLES["quiet"])


def _brief(number: int, entry: Entry, _: date, sheet: Sheet) -> Iterator[Text]:
    """The title, what it says in a statement, and the facts that are counted."""
    yield from _title(number, entry.ranked.item, sheet)
    yield from _statement(entry, sheet, STYLES["plain"])
    url = first_link(entry.ranked.item)
    address = [_linked(shown_url(url), url)] if url else []
    yield from _facts(warnings(entry.ranked.item), [*_quiet(facts(entry)), *address], sheet)


def _card(number: int, entry: Entry, today: date, sheet: Sheet) -> Iterator[Text]:
    """What the summary says in at most 90 words, why it is here, and where to read on."""
    yield from _title(number, entry.ranked.item, sheet)
    yield from _facts(warnings(entry.ranked.item), _quiet(card_facts(entry, today)), sheet)
    yield from _statement(entry, sheet, STYLES["heading"])
    if not sheet.narrow:
        yield Text()
    for name, told in told_parts(entry):
        yield from sheet.beside(name, Text(told))
    yield from _read(entry, sheet)


def card_view(entry: Entry, today: date, sheet: Sheet) -> Iterator[Text]:
    """Print one card that stands alone."""
    yield from _card(0, entry, today, sheet)


def _title(number: int, item: Item, sheet: Sheet) -> Iterator[Text]:
    """The title, which is a link where the terminal can show one; 0 numbers nothing."""
    url = first_link(item)
    name = Text(title(item), style=STYLES["heading"] + Style(link=url) if url else STYLES["heading"])
    mark = f"{number}. " if sheet.narrow else f"{number:>{_NUMBER - 2}}  "
    yield from sheet.hanging(mark if number else " " * sheet.indent, "number", name)


def _statement(entry: Entry, sheet: Sheet, style: Style) -> Iterator[Text]:
    if gist := clean(entry.gist):
        yield from sheet.wrapped(Text(gist, style=style), sheet.indent)


def _quiet(words: Iterable[str]) -> list[Text]:
    return [Text(word, style=STYLES["quiet"]) for word in words]


def _facts(bad: Iterable[str], pieces: Iterable[Text], sheet: Sheet) -> Iterator[Text]:
    told = [*(Text(word, style=STYLES["warning"]) for word in bad), *pieces]
    if told:
        yield from sheet.wrapped(sheet.flowing(told, sheet.indent), sheet.indent)


def _read(entry: Entry, sheet: Sheet) -> Iterator[Text]:
    """Where to read on: the item's page, and its other half's where that is another."""
    found, other = first_link(entry.ranked.item), partner(entry)
    if found:
        yield from sheet.row("Read", [_linked(shown_url(found), found)])
    if other and entry.partner and other[3] != found:
        label, name, _, url = other
        words = [_linked(name, url), _linked(shown_url(url), url), *_quiet(warnings(entry.partner))]
        yield from sheet.row(label, [word for word in words if word.plain] or [Text(clean(entry.partner.key))])


def _linked(name: str, url: str) -> Text:
    return Text(name, style=Style(link=url) if url else STYLES["plain"])
