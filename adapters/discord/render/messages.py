"""Replies as Discord's messages, in Components V2. Pure: values in, JSON values out.

Components V2, not embeds: the buttons of an entry stand below it (those of embeds stand below the last), a reader who has
switched off link previews sees no embeds, and what is written is one text in reading order. Where a list has many buttons,
selects at its end stand for them. docs/decisions has the reasons.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from math import ceil

from adapters.chat.forms import FormRequest
from adapters.discord.render import markdown
from adapters.discord.render.cards import PIECE, TITLE, card_lines, keys_of, roomy
from adapters.discord.render.components import (
    ComponentGroup,
    DiscordMessage,
    Picture,
    container,
    file,
    fill_messages,
    gallery,
    headline,
    joined,
    plain_text,
    rows,
    select,
    shown_in,
    text,
)
from adapters.discord.render.digests import OPEN_CARD, digest_messages
from adapters.discord.render.hints import UNKNOWN_IDS, CommandIds, is_offered
from adapters.discord.render.limits import COMPONENTS, OPTIONS, ROW, TEXTS_USED, length
from adapters.text import clean, safe_url
from adapters.words import (
    COMMAND,
    POST,
    badges,
    byline,
    chart_lines,
    first_link,
    line_spans,
    links,
    signals,
    spans,
    title,
    warnings,
)
from bot.commands import Less, More, Save, Show, Similar, read, write
from bot.models import Chart, Entry, Item, Reply, ReplyEntry

_LINE = 500  # of a line of a reply
_LINES = 20  # of an entry that stand in one text with its title
_BUTTONS = 10  # of an entry
_STEPS = 8  # what to do next; each takes a part of the room of four long ones
_FIELD = 800
_ELSEWHERE = f"What begins with `{COMMAND}` is given in a server that has me, or in a message to me directly."


_SELECTS = 10  # that stand together, with what ends an answer: a message takes no more than 40 components


def reply_messages(
    reply: Reply,
    today: date,
    form: FormRequest | None = None,
    ids: CommandIds = UNKNOWN_IDS,
    pictures: Sequence[Picture | None] = (),
) -> list[DiscordMessage]:
    """Return the reply as one or more messages, normally one, with a button for the form beside it.

    Digests stand in messages of their own, before what ends it. By `ids` commands in our sentences can be clicked.
    `pictures` are those of the reply's charts, None for one that could not be drawn.
    """
    pieces = [ComponentGroup((text(each),)) for each in _opening(reply, ids)]
    drawn = [*pictures, *[None] * len(reply.charts)]
    pieces += [group for chart, each in zip(reply.charts, drawn, strict=False) for group in _chart(chart, each)]
    pieces += [ComponentGroup((text(markdown.escaped_to_fit(clean(each), PIECE)),)) for each in reply.quoted]
    pieces += [_card(each, today) for each in reply.cards]
    selects = list(_selects(reply))
    pieces += [
        each
        for number, entry in enumerate(reply.entries, start=reply.first)
        for each in _reply_entry(number, replace(entry, buttons=()) if selects else entry, today, ids)
    ]
    *further, last = [selects[at : at + _SELECTS] for at in range(0, len(selects), _SELECTS)] or [[]]
    pieces += [joined(*some) for some in further]
    closing = joined(*last, *_elsewhere(reply, ids), *_closing(reply, form, ids))
    end = [closing] if closing.components else []
    shown = [each for digest in reply.digests for each in digest_messages(digest, layout=reply.layout, ids=ids)]
    if not shown:
        return _reply_messages(reply, pieces + end, pictures)
    return [*_reply_messages(reply, pieces, pictures), *shown, *(_reply_messages(reply, end) if end else ())]


def _reply_messages(
    reply: Reply, pieces: Sequence[ComponentGroup], pictures: Sequence[Picture | None] = ()
) -> list[DiscordMessage]:
    drawn = [each for each in pictures if each is not None]
    found = fill_messages([_naming(each, reply) for each in pieces], TEXTS_USED, COMPONENTS - 2)
    return [_reply_posting(reply, sheet, drawn) for sheet in found]


def _naming(piece: ComponentGroup, reply: Reply) -> ComponentGroup:
    """Return the piece with its channels and people by name; nobody is told of it, as no mention is allowed to."""
    names = {each: f"<#{each}>" for each in reply.channels} | {each: f"<@{each}>" for each in reply.people}
    names = {each: shown for each, shown in names.items() if each.isdecimal()}
    if not names:
        return piece
    found = re.compile(rf"(?<![\w<#@])(?:{'|'.join(map(re.escape, names))})(?!\w)")
    made = tuple(
        {**each, "content": found.sub(lambda one: names[one[0]], each["content"])} if "content" in each else each
        for each in piece.components
    )
    return replace(piece, components=made)


def _reply_posting(reply: Reply, pieces: Sequence[ComponentGroup], pictures: Sequence[Picture]) -> DiscordMessage:
    whole = joined(*pieces)
    blocks = whole.components
    last = any(each["type"] == file("")["type"] for each in blocks)
    keys = tuple(each.keys for each in pieces if each.keys)
    plain = plain_text(map(headline, pieces))
    file_of_it = reply.attachment if last else None
    return DiscordMessage((container(blocks),), plain, whole.keep, keys, file_of_it, shown_in(blocks, pictures))


def _opening(reply: Reply, ids: CommandIds) -> Iterator[str]:
    """Yield title, paragraphs and fields, in as few texts as take them; a card has a title of its own."""
    lines = [f"### {markdown.escaped_to_fit(reply.title, TITLE)}"] if clean(reply.title) and not reply.cards else []
    lines += [markdown.sentence(each, _FIELD, ids) for each in reply.text if clean(each)]
    lines += [f"{markdown.bold(each.name, TITLE)}  {markdown.sentence(each.value, _FIELD, ids)}" for each in reply.fields]
    yield from ("\n".join(each) for each in _texts(lines) or ([] if reply.cards else [["…"]]))


def _chart(chart: Chart, picture: Picture | None) -> Iterator[ComponentGroup]:
    """Yield the picture, the chart's title, its numbers and where they come from; nothing of it stresses anything."""
    if picture is not None:
        yield ComponentGroup((gallery(picture),))
    lines = [markdown.bold(chart.title, TITLE), *(markdown.escaped_to_fit(each, _LINE) for each in chart_lines(chart))]
    lines.append(markdown.small_print(markdown.escaped_to_fit(chart.source, _LINE)))
    yield from (ComponentGroup((text("\n".join(each)),)) for each in _texts(lines))


def _texts(lines: Iterable[str]) -> list[list[str]]:
    """Return the lines in as few texts as take them."""
    made: list[list[str]] = []
    for line in filter(None, lines):
        if not made or length("\n".join((*made[-1], line))) > PIECE:
            made.append([])
        made[-1].append(line)
    return made


def _reply_entry(number: int, entry: ReplyEntry, today: date, ids: CommandIds) -> Iterator[ComponentGroup]:
    """Yield the entry, in several pieces where it has more lines than one text takes; the last has its buttons."""
    keys = (entry.item.key,) if entry.item is not None else ()
    said = roomy(lambda room: _reply_lines(number, entry, today, room, ids))
    further = [markdown.stressed(line, _LINE, ids) for line in entry.lines[_LINES:]]
    *others, last = [said, *("\n".join(each) for each in _texts(further))]
    for each in others:
        yield ComponentGroup((text(each),), keys=keys)
    yield joined(ComponentGroup((text(last),), keys=keys), rows(entry.buttons[:_BUTTONS]))


# --- a select for what every entry of a list offers

_ON_CARD = Show | More | Less | Save | Similar  # what is on a card, and the card itself


def _selects(reply: Reply) -> Iterator[ComponentGroup]:
    """Yield the selects that stand for the buttons of all entries; none where the buttons take no more rows.

    One opens the cards of items, which have what the buttons of a list do; for any other button there is one of its label.
    """
    offers = _offers(reply)
    made = [(label, some[at : at + OPTIONS]) for label, some in offers.items() for at in range(0, len(some), OPTIONS)]
    rows_of_buttons = sum(ceil(len(each.buttons[:_BUTTONS]) / ROW) for each in reply.entries)
    known = {*reply.channels, *reply.people}  # a text shows these by their names, a select cannot
    if len(made) < rows_of_buttons and not known.intersection(word for each in reply.entries for word in each.title.split()):
        yield from (select(label, some, number) for number, (label, some) in enumerate(made, start=1))


def _offers(reply: Reply) -> dict[str, list[tuple[str, str]]]:
    """Return by what is written in each select its options: how the entry is called there, and the command."""
    found: dict[str, list[tuple[str, str]]] = {}
    for number, entry in enumerate(reply.entries, start=reply.first):
        name = title(entry.item) if entry.item is not None else clean(entry.title)
        called = name if entry.is_section else f"{number}. {name}"
        for label, command in _offered(entry):
            found.setdefault(label, []).append((called, command))
    return found


def _offered(entry: ReplyEntry) -> Iterator[tuple[str, str]]:
    """Yield what may be done with the entry: what is written in the select for it, and the command."""
    able = [each for each in entry.buttons if each.command.strip()]
    asked = [read(each.command) for each in able]
    on_card = [entry.item is not None and isinstance(each, _ON_CARD) for each in asked]
    if entry.item is not None and any(on_card):
        topic = next((each.topic for each in asked if isinstance(each, More | Less)), "")
        yield OPEN_CARD, write(Show(entry.item.key, topic))
    others = (each for each, stands in zip(able, on_card, strict=True) if not stands)
    yield from ((f"{clean(each.label)}…", each.command) for each in others)


def _reply_lines(number: int, entry: ReplyEntry, today: date, room: int, ids: CommandIds) -> Iterator[str]:
    if entry.item is not None and entry.title_only:
        yield f"{number}\\. {markdown.link(title(entry.item), first_link(entry.item), min(room, TITLE))}"
        return
    if entry.item is not None:
        yield from _head(number, entry.item, today, room)
    else:
        shown = "" if entry.is_section else f"{number}\\. "
        yield f"**{shown}{markdown.escaped_to_fit(entry.title, min(room, TITLE)) or '…'}**"
    yield markdown.escaped_to_fit(clean(entry.gist), min(room, _LINE))
    *lines, last = [markdown.stressed(line, min(room, _LINE), ids) for line in entry.lines[:_LINES]] or [""]
    yield from lines
    yield " · ".join(filter(None, (last, markdown.link(POST, entry.post, room) if safe_url(entry.post) else "")))
    if entry.item is not None:
        yield markdown.small_print(_read(entry.item, room))


def _head(number: int, item: Item, today: date, room: int) -> Iterator[str]:
    yield f"### {number}\\. {markdown.link(title(item), first_link(item), min(room, TITLE))}"
    yield markdown.small_print(_facts(item, today, room))


def _facts(item: Item, today: date, room: int) -> str:
    bad = [f"**{word}**" for word in warnings(item)]
    facts = [markdown.escaped_to_fit(word, room // 2) for word in (*byline(item, today), *signals(item), *badges(item)[:4])]
    return " · ".join((*bad, *facts))


def _read(item: Item, room: int) -> str:
    """Return where else it can be read than where its title leads; the key of what can be read nowhere."""
    if not first_link(item):
        return markdown.escaped_to_fit(item.key, room)
    others = links(item, without=first_link(item))
    return "Also: " + " · ".join(markdown.link(shown, url, room) for url, shown in others) if others else ""


def _elsewhere(reply: Reply, ids: CommandIds) -> Iterator[ComponentGroup]:
    """Say where the other commands are given that the answer names, where it stands in a place without them."""
    told = [*map(spans, (*reply.text, *(each.value for each in reply.fields)))]
    told += [line_spans(line) for each in reply.entries for line in each.lines]
    if not all(is_offered(each, ids) for each in told):
        yield ComponentGroup((text(markdown.small_print(_ELSEWHERE)),))


def _closing(reply: Reply, form: FormRequest | None, ids: CommandIds) -> Iterator[ComponentGroup]:
    """Yield the file, what to do next, and the buttons."""
    if reply.attachment is not None:
        yield ComponentGroup((file(reply.attachment.name),))
    steps = [step for step in reply.next_steps[:_STEPS] if clean(step) and is_offered(spans(step), ids)]
    room = _LINE if len(steps) < 5 else _LINE // 2
    steps = [markdown.small_print(markdown.sentence(step, room, ids)) for step in steps]
    if steps:
        yield ComponentGroup((text("\n".join(steps)),))
    yield rows(reply.buttons[:20], form)


def _card(entry: Entry, today: date) -> ComponentGroup:
    """Return an entry's card; what one may do with it are buttons of the reply."""
    return ComponentGroup((text(roomy(lambda room: card_lines(entry, today, 0, room))),), keys=keys_of(entry))


def preview_message(entry: Entry, today: date) -> DiscordMessage:
    """Return an item's card without buttons, as below a link."""
    made = _card(entry, today)
    return DiscordMessage((container(made.components),), plain_text([title(entry.ranked.item)]), keys=(made.keys,))
