"""Digests and answers as Slack's messages. Pure: values in, blocks and their text out.

Every message keeps to what adapters/slack/render/limits.py says, and has a text that says the same as its blocks.
"""

import json
import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from adapters.slack.render import brief
from adapters.slack.render.blocks import (
    BOLD,
    CODE,
    PLAIN,
    BlockGroup,
    ButtonRow,
    Json,
    Row,
    SlackMessage,
    TextStyle,
    actions,
    block_group,
    channel_run,
    context_line,
    escaped,
    exact,
    link_run,
    menu,
    messages_of,
    paragraph,
    person_run,
    preformatted,
    quote,
    rich,
    section,
    text_run,
)
from adapters.slack.render.cards import TITLE, card_group, entry_group, facts, headline, line_of
from adapters.slack.render.cards import card as card_blocks
from adapters.slack.render.limits import problems, units
from adapters.text import clean, cut, safe_url, shown_url
from adapters.words import COMMAND, POST, SpanKind, chart_lines, line_spans, presses_line, spans
from bot.models import (
    MOST_ENTRIES,
    Attachment,
    Button,
    Chart,
    Digest,
    Entry,
    Field,
    Item,
    Layout,
    Presses,
    Reply,
    ReplyEntry,
)

log = logging.getLogger(__name__)

_PARAGRAPH = 1_500  # characters, as `units` counts them
_LINE = 600
_GIST = 500
_NAME = 100
_GROUP = 2_000  # of rows that stand in one block
_INLINE = 2_500  # of a file that stands in the message
_ROW = 5  # buttons side by side
_FEW = 5  # entries whose buttons stand below each of them
_STYLES = {SpanKind.PLAIN: PLAIN, SpanKind.STRESSED: BOLD, SpanKind.TYPED: CODE}
# Slack's identifiers of channels: a notice names them, and nobody knows a channel by its number.
_CHANNELS = re.compile(r"\b[CG](?=[A-Z]*[0-9])[A-Z0-9]{8,}\b")


# --- sentences of ours as runs of rich text


@dataclass(frozen=True, slots=True)
class Mentions:
    """Identifiers that stand in a text as whole words, and are shown as what they name; and what begins a command there."""

    channels: Collection[str] = ()
    people: Collection[str] = ()  # only where nobody else sees the message: it would notify them
    before: str = COMMAND

    def runs(self, text: str, style: TextStyle) -> Row:
        """Return the text with what it names in place."""
        known = sorted((*self.channels, *self.people), key=len, reverse=True)
        if not known:
            return text_run(text, style)
        pieces = re.split(rf"(?<!\w)({'|'.join(map(re.escape, known))})(?!\w)", text)
        return [run for index, piece in enumerate(pieces) for run in self._named(piece, style, named=index % 2 == 1)]

    def _named(self, piece: str, style: TextStyle, *, named: bool) -> Row:
        if not named:
            return text_run(piece, style)
        return channel_run(piece) if piece in self.channels else person_run(piece)


def sentence(text: str, most: int, names: Mentions = Mentions()) -> Row:
    """Return a sentence of ours: commands between asterisks as one types them, all else between them bold."""
    return [run for words, kind in spans(_cut(text, most), names.before) for run in names.runs(words, _STYLES[kind])]


def stressed(text: str, most: int, names: Mentions = Mentions(), style: TextStyle = PLAIN) -> Row:
    """Return a line about something: what stands between asterisks bold; one about a command is a sentence of ours."""
    styles = _STYLES | {SpanKind.PLAIN: style}
    return [run for words, kind in line_spans(_cut(text, most), names.before) for run in names.runs(words, styles[kind])]


def as_mrkdwn(text: str, most: int, names: Mentions = Mentions()) -> str:
    """Return the sentence for mrkdwn: commands as one types them, nothing formatted."""
    return exact("".join(words for words, _ in spans(_cut(text, most), names.before)))


def channels_in(text: str) -> tuple[str, ...]:
    """Return what in a notice looks like a channel's identifier."""
    return tuple(dict.fromkeys(_CHANNELS.findall(text)))


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a file with their spaces, made harmless otherwise."""
    for line in text.splitlines():
        yield re.sub(r"[^ ]+", lambda word: clean(word[0]), line.replace("\t", "    "))


def _cut(text: str, most: int) -> str:
    return cut(clean(text), most, units)


# --- digests


def digest(digest: Digest, *, layout: Layout, late: bool) -> list[SlackMessage]:
    """Return a digest as the messages to post, in their order.

    The brief stands in the channel; with `Layout.THREAD` each card is a message of its own in the thread of the first one,
    and with `Layout.FULL` the cards stand in the brief's place.
    """
    whole = layout is Layout.FULL
    pieces = [*_groups(digest, whole=whole), *_news(digest)]
    # Parted alike whether it is late or not: either may be posted of each part.
    marked, plain = brief.masthead(digest, late=True), brief.masthead(digest, late=False)
    seam, most = partial(brief.seam, digest), MOST_ENTRIES if whole else brief.ENTRIES
    posted = messages_of([marked, *pieces], seam, marked if late else plain, most)
    if layout is not Layout.THREAD:
        return posted
    listed = [replace(each, keys=(), listed=each.keys) for each in posted]
    return [*listed, *(replace(each, threaded=True) for each in _alone(digest))]


def payloads(made: Digest, *, layout: Layout, late: bool) -> list[str]:
    """Return a digest's messages as JSON, as they are kept until they are posted."""
    return [_payload(each) for each in digest(made, layout=layout, late=late)]


def _payload(posting: SlackMessage) -> str:
    found = problems(posting.blocks)
    if found:
        log.error("a message is not as Slack takes it and is posted as plain text: %s", found[0])
        posting = plain(posting)
    said = {"text": posting.text, "blocks": posting.blocks, "keys": posting.keys, "keep": posting.keep}
    said |= {"listed": posting.listed} if posting.listed else {}
    return json.dumps(said | {"threaded": posting.threaded}, ensure_ascii=False)


def with_presses(payload: dict[str, Any], presses: Presses) -> dict[str, Any]:
    """Return a payload that ends with a line on what was pressed; as it is where that is nothing."""
    line = presses_line(presses)
    if not line:
        return payload
    blocks = [*payload["blocks"], *context_line(line)] if payload["blocks"] else payload["blocks"]
    return payload | {"text": f"{payload['text']}\n{exact(line)}", "blocks": blocks}


def _alone(digest: Digest) -> Iterator[SlackMessage]:
    for number, entry in enumerate(digest.entries, start=1):
        yield from messages_of([entry_group(entry, number, digest, alone=True)])


def _groups(digest: Digest, *, whole: bool) -> Iterator[BlockGroup]:
    """Yield a digest below its masthead, one piece for each entry."""
    if whole and digest.entries:
        yield from (entry_group(entry, number, digest) for number, entry in enumerate(digest.entries, start=1))
    else:
        yield from brief.entries(digest)
    yield brief.ending(digest)


def _news(digest: Digest) -> Iterator[BlockGroup]:
    """Yield what the channel is told once."""
    if digest.news:
        told = sentence(digest.news, _LINE)
        yield block_group(rich(paragraph(told)), text=as_mrkdwn(digest.news, _LINE))


# --- replies, and what else is posted


def card(entry: Entry, today: date) -> tuple[dict[str, Any], ...]:
    """Return one entry as blocks without buttons, for the preview of a link."""
    return tuple(card_blocks(entry, None, today))


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What became, in a sentence, of an answer's file and of its pictures; "" where there is none beside the answer."""

    file: str = ""
    pictures: str = ""


NOTHING = HandedOver()


def reply(reply: Reply, today: date, handed_over: HandedOver = NOTHING, before: str = COMMAND) -> list[SlackMessage]:
    """Return an answer as messages, nearly always one; `today` decides which dates are told with their year.

    A file of the answer stands in it as a code block where it is short, else `handed_over` tells what became of it, as
    it does of pictures.
    `before` is what one types before a command where the answer stands.
    """
    return messages_of(_reply_groups(reply, today, handed_over, before))


def file_beside(reply: Reply) -> Attachment | None:
    """Return the answer's file where it is too long to stand in a message."""
    return reply.attachment if reply.attachment and not _is_short(reply.attachment) else None


def plain(posting: SlackMessage) -> SlackMessage:
    """Return the message without its blocks, for when Slack does not take them."""
    return replace(posting, blocks=(), keep=())


def notice(text: str) -> SlackMessage:
    """Return one text as a message of its own."""
    names = Mentions(channels_in(text))
    return messages_of(
        [block_group(rich(paragraph(sentence(text, _GROUP, names) or text_run("…"))), text=as_mrkdwn(text, _GROUP))]
    )[0]


def _reply_groups(reply: Reply, today: date, handed_over: HandedOver, before: str) -> Iterator[BlockGroup]:
    names = Mentions(reply.channels, reply.people if reply.private else (), before)
    yield from _head(reply, names)
    yield from (group for each in reply.charts for group in _chart(each))
    if handed_over.pictures:
        yield block_group(context_line(handed_over.pictures), text=exact(handed_over.pictures))
    yield from map(_quoted, reply.quoted)
    listed = _stand_beside_menus(reply.entries)
    for number, entry in enumerate(reply.entries, start=reply.first):
        yield from [_listed(number, entry, names)] if listed else _reply_entry(number, entry, today, names)
    yield from (card_group(each, today, reply.buttons) for each in reply.cards)
    for each in reply.digests:
        yield brief.masthead(each, late=False)
        yield from _groups(each, whole=reply.layout is Layout.FULL)
    if reply.attachment is not None:
        yield _file(reply.attachment, handed_over.file)
    yield from _steps(reply.next_steps, names)
    if not reply.cards:
        yield from _buttons(reply.buttons)


def _head(reply: Reply, names: Mentions) -> Iterator[BlockGroup]:
    rows = [_linked(each) or sentence(each, _PARAGRAPH, names) for each in reply.text]
    texts = [as_mrkdwn(each, _PARAGRAPH, names) if not _linked(each) else escaped(each) for each in reply.text]
    if not reply.cards:  # a card has a title of its own
        rows.insert(0, stressed(reply.title, TITLE, names, BOLD) or text_run("Broadsheet", BOLD))
        texts.insert(0, exact(cut(clean(reply.title), TITLE, units)))
    for group, text in _grouped(rows, texts):
        yield block_group(rich(paragraph(*group)), text=text)
    table = [_field(each, names) for each in reply.fields]
    for group, text in _grouped(
        table, [as_mrkdwn(f"{each.name}: {each.value}", _PARAGRAPH, names) for each in reply.fields]
    ):
        yield block_group(rich(quote(*group)), text=text)


def _linked(text: str) -> Row:
    """Return a paragraph that is an address of ours and nothing else as a link, which Slack makes of none by itself."""
    return link_run(shown_url(text), text) if text and safe_url(text) == text else []


def _quoted(said: str) -> BlockGroup:
    told = cut(clean(said), _PARAGRAPH, units)
    return block_group(rich(quote(text_run(told))), text=exact(told))


def _chart(chart: Chart) -> Iterator[BlockGroup]:
    """Yield a chart's title, its numbers and where they come from; nothing of it stresses anything."""
    title, *lines = [cut(clean(each), _LINE, units) for each in (chart.title, *chart_lines(chart))]
    rows = [text_run(title, BOLD), *map(text_run, lines)]
    for group, text in _grouped(rows, [exact(each) for each in (title, *lines)]):
        yield block_group(rich(paragraph(*group)), text=text)
    source = cut(clean(chart.source), _LINE, units)
    yield block_group(context_line(source), text=exact(source))


def _field(field: Field, names: Mentions) -> Row:
    name = cut(clean(field.name), _NAME, units)
    return [*text_run(f"{name}  " if name else "", BOLD), *sentence(field.value, _PARAGRAPH, names)]


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


def _reply_entry(number: int, entry: ReplyEntry, today: date, names: Mentions) -> Iterator[BlockGroup]:
    """Yield the entry, in several pieces where it has more lines than one block takes; the last has its buttons."""
    if entry.item is not None and entry.title_only:
        yield _title_alone(number, entry.item, entry.buttons)
        return
    groups = [*_grouped(*_lines(entry, names))] or [([], "")]
    row = actions("entry", entry.buttons, f"entry {number}")
    gist = cut(clean(entry.gist), _GIST, units)
    for place, (group, told) in enumerate(groups, start=1):
        head = _title(number, entry, today, names) if place == 1 else []
        end = row if place == len(groups) else ButtonRow()
        line, said_of_it = (_entry_line(number, entry), gist) if place == 1 else ("", "")
        text = "\n".join(filter(None, (line, exact(said_of_it), told)))
        body = rich(quote(text_run(said_of_it)), paragraph(*group))
        yield block_group(head, body, end.blocks, text=text, brief=line, keep=end.keep)


def _lines(entry: ReplyEntry, names: Mentions) -> tuple[list[Row], list[str]]:
    """Return the entry's lines, at the end of the last the link to where it was posted, and each as a text."""
    rows = [stressed(each, _LINE, names) for each in entry.lines]
    told = [_line_as_mrkdwn(each, names) for each in entry.lines]
    if url := safe_url(entry.post):
        before = [*rows.pop(), *text_run(" · ")] if rows else []
        rows.append([*before, *link_run(POST, url)])
        told = told or [exact(POST)]
    return rows, told


def _title_alone(number: int, item: Item, buttons: Sequence[Button]) -> BlockGroup:
    """Return the item's title with a menu beside it, which only a section has."""
    line, choices = line_of(item, f"{number}. "), menu(buttons)
    return block_group(section(f"*{line}*", choices), text=line, brief=line, keep=choices.keep)


def _stand_beside_menus(entries: Sequence[ReplyEntry]) -> bool:
    """Say whether what may be done with the entries stands in menus: there are many, and nothing takes anything away.

    Of what has a title of our own alone, as topics have: under a paper its buttons are looked for.
    """
    pressed = [button for each in entries for button in each.buttons]
    is_ours = not any(each.item or each.is_section for each in entries)
    return len(entries) > _FEW and is_ours and bool(pressed) and not any(button.danger for button in pressed)


def _listed(number: int, entry: ReplyEntry, names: Mentions) -> BlockGroup:
    """Return one of many entries with a menu beside it, or its only button below it."""
    choices, line = menu(entry.buttons), _entry_line(number, entry)
    told = "\n".join(_marked(each, names) for each in entry.lines)
    row = ButtonRow() if choices.element is not None else actions("entry", entry.buttons, f"entry {number}")
    blocks = section("\n".join(filter(None, (f"*{line}*", told))), choices)
    text = "\n".join([line, *(_line_as_mrkdwn(each, names) for each in entry.lines)])
    return block_group(blocks, row.blocks, text=text, brief=line, keep=(*choices.keep, *row.keep))


_MARKS = {SpanKind.PLAIN: "{}", SpanKind.STRESSED: "*{}*", SpanKind.TYPED: "`{}`"}


def _marked(line: str, names: Mentions) -> str:
    pieces = line_spans(_cut(line, _LINE), names.before)
    return "".join(_MARKS[kind].format(exact(words)) for words, kind in pieces)


def _line_as_mrkdwn(line: str, names: Mentions) -> str:
    return exact("".join(words for words, _ in line_spans(_cut(line, _LINE), names.before)))


def _title(number: int, entry: ReplyEntry, today: date, names: Mentions) -> list[Json]:
    if entry.item is not None:
        return [*rich(paragraph(headline(entry.item, number))), *context_line(facts(entry.item, today))]
    return rich(paragraph([*text_run(_number(number, entry), BOLD), *stressed(entry.title, TITLE, names, BOLD)]))


def _entry_line(number: int, entry: ReplyEntry) -> str:
    if entry.item is not None:
        return line_of(entry.item, f"{number}. ")
    return f"{_number(number, entry)}{exact(cut(clean(entry.title), TITLE, units))}"


def _number(number: int, entry: ReplyEntry) -> str:
    return "" if entry.is_section else f"{number}. "


def _file(file: Attachment, handed_over: str) -> BlockGroup:
    name = cut(clean(file.name), _NAME, units)
    if not _is_short(file):
        told = handed_over or name
        return block_group(context_line(told), text=exact(told))
    return block_group(rich(paragraph(text_run(name, BOLD)), preformatted("\n".join(lines_of(file.text)))), text=exact(name))


def _is_short(file: Attachment) -> bool:
    return bool(clean(file.text)) and units(file.text) <= _INLINE


def _steps(steps: Iterable[str], names: Mentions) -> Iterator[BlockGroup]:
    told = list(steps)
    rows = [sentence(each, _PARAGRAPH, names) for each in told]
    for group, text in _grouped(rows, [as_mrkdwn(each, _PARAGRAPH, names) for each in told]):
        yield block_group(rich(paragraph(*group)), text=text)


def _buttons(buttons: Sequence[Button]) -> Iterator[BlockGroup]:
    for start in range(0, len(buttons), _ROW):
        row = actions("reply", buttons[start : start + _ROW])
        if row.blocks:
            yield block_group(row.blocks, keep=row.keep)
