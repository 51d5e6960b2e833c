"""The pieces of an answer: title, text, table, entries, digests, file, what to do next, buttons. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from slack_sdk.models.blocks import Block

from adapters.slack.render import digests
from adapters.slack.render.blocks import BOLD, Buttons, Row, actions, paragraph, preformatted, quiet, quote, rich, said
from adapters.slack.render.cards import TITLE, facts, headline, line_of
from adapters.slack.render.limits import units
from adapters.slack.render.mrkdwn import exact
from adapters.slack.render.postings import Piece, Posting, packed, piece
from adapters.slack.render.sentences import Names, channels_in, in_text, lines_of, spoken, stressed
from adapters.text import clean, cut
from bot.models import Attachment, Button, Field, Reply, ReplyEntry

_PARAGRAPH = 1_500  # characters, as `units` counts them
_LINE = 600
_GIST = 500
_NAME = 100
_GROUP = 2_000  # of rows that stand in one block
_INLINE = 2_500  # of a file that stands in the message
_ROW = 5  # buttons side by side


def postings_of(reply: Reply, today: date) -> list[Posting]:
    """Return the answer as messages."""
    pages = packed(_pieces(reply, today))
    file = reply.attachment if reply.attachment and not _is_short(reply.attachment) else None
    return [*pages[:-1], replace(pages[-1], file=file)]


def notice(text: str) -> Posting:
    """Return one text as a message of its own."""
    names = Names(channels_in(text))
    return packed([piece(rich(paragraph(spoken(text, _GROUP, names) or said("…"))), text=in_text(text, _GROUP))])[0]


def _pieces(reply: Reply, today: date) -> Iterator[Piece]:
    names = Names(reply.channels, reply.people if reply.private else ())
    yield from _head(reply, names)
    for number, entry in enumerate(reply.entries, start=reply.first):
        yield from _entry(number, entry, today, names)
    for each in reply.digests:
        yield digests.masthead(each, late=False)
        yield from digests.pieces_of(each, compact=reply.compact)
    if reply.attachment is not None:
        yield _file(reply.attachment)
    yield from _steps(reply.next_steps, names)
    yield from _buttons(reply.buttons)


def _head(reply: Reply, names: Names) -> Iterator[Piece]:
    title = stressed(reply.title, TITLE, names, BOLD) or said("Broadsheet", BOLD)
    rows = [title, *(spoken(each, _PARAGRAPH, names) for each in reply.text)]
    texts = [exact(cut(clean(reply.title), TITLE, units)), *(in_text(each, _PARAGRAPH) for each in reply.text)]
    for group, text in _grouped(rows, texts):
        yield piece(rich(paragraph(*group)), text=text)
    table = [_field(each, names) for each in reply.fields]
    for group, text in _grouped(table, [in_text(f"{each.name}: {each.value}", _PARAGRAPH) for each in reply.fields]):
        yield piece(rich(quote(*group)), text=text)


def _field(field: Field, names: Names) -> Row:
    name = cut(clean(field.name), _NAME, units)
    return [*said(f"{name}  " if name else "", BOLD), *spoken(field.value, _PARAGRAPH, names)]


def _grouped(rows: Sequence[Row], texts: Sequence[str]) -> Iterator[tuple[list[Row], str]]:
    """Yield rows that may stand in one block, with their text."""
    group: list[Row] = []
    told: list[str] = []
    for row, text in zip(rows, texts, strict=True):
        if told and sum(map(units, told)) + units(text) > _GROUP:
            yield group, "\n".join(filter(None, told))
            group, told = [], []
        group.append(row)
        told.append(text)
    if any(group):
        yield group, "\n".join(filter(None, told))


def _entry(number: int, entry: ReplyEntry, today: date, names: Names) -> Iterator[Piece]:
    """Yield the entry, in several pieces where it has more lines than one block takes; the last has its buttons."""
    rows = [stressed(each, _LINE, names) for each in entry.lines]
    groups = [*_grouped(rows, [exact(cut(clean(each), _LINE, units)) for each in entry.lines])] or [([], "")]
    row = actions("entry", entry.buttons, f"entry {number}")
    gist = cut(clean(entry.gist), _GIST, units)
    for place, (group, told) in enumerate(groups, start=1):
        head = _title(number, entry, today, names) if place == 1 else []
        end = row if place == len(groups) else Buttons()
        line, said_of_it = (_line(number, entry), gist) if place == 1 else ("", "")
        text = "\n".join(filter(None, (line, exact(said_of_it), told)))
        body = rich(quote(said(said_of_it)), paragraph(*group))
        yield piece(head, body, end.blocks, text=text, brief=line, keep=end.keep)


def _title(number: int, entry: ReplyEntry, today: date, names: Names) -> list[Block]:
    if entry.item is not None:
        return [*rich(paragraph(headline(entry.item, number))), *quiet(facts(entry.item, today))]
    return rich(paragraph([*said(f"{number}. ", BOLD), *stressed(entry.title, TITLE, names, BOLD)]))


def _line(number: int, entry: ReplyEntry) -> str:
    if entry.item is not None:
        return line_of(entry.item, f"{number}. ")
    return f"{number}. {exact(cut(clean(entry.title), TITLE, units))}"


def _file(file: Attachment) -> Piece:
    name = cut(clean(file.name), _NAME, units)
    if not _is_short(file):
        return piece(quiet(f"{name} comes as a direct message to who asked for it."), text=exact(name))
    return piece(rich(paragraph(said(name, BOLD)), preformatted("\n".join(lines_of(file.text)))), text=exact(name))


def _is_short(file: Attachment) -> bool:
    return bool(clean(file.text)) and units(file.text) <= _INLINE


def _steps(steps: Iterable[str], names: Names) -> Iterator[Piece]:
    told = list(steps)
    rows = [spoken(each, _PARAGRAPH, names) for each in told]
    for group, text in _grouped(rows, [in_text(each, _PARAGRAPH) for each in told]):
        yield piece(rich(paragraph(*group)), text=text)


def _buttons(buttons: Sequence[Button]) -> Iterator[Piece]:
    for start in range(0, len(buttons), _ROW):
        row = actions("reply", buttons[start : start + _ROW])
        if row.blocks:
            yield piece(row.blocks, keep=row.keep)
