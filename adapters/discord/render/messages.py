"""Digests and replies as Discord's messages, in Components V2. Pure: values in, JSON values out.

Components V2, not embeds: the buttons of an entry stand below it (those of embeds stand below the last), a reader who has
switched off link previews sees no embeds, and what is written is one text in reading order. docs/decisions has the reasons.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from adapters.chat.forms import FormRequest
from adapters.discord.render import markdown
from adapters.discord.render.components import (
    Component,
    ComponentGroup,
    container,
    file,
    fill_messages,
    joined,
    rows,
    rule,
    select,
    text,
)
from adapters.discord.render.limits import COMPONENTS, CONTENT, TEXTS_USED, length
from adapters.text import clean, shown_url
from adapters.words import (
    badges,
    byline,
    card_lines,
    coverage_line,
    empty_sentence,
    entry_buttons,
    first_link,
    kept_of_seen,
    links,
    paragraph,
    partner,
    signals,
    summary_origin,
    title,
    warnings,
)
from bot.commands import Now, Why, write
from bot.models import Attachment, Button, Digest, Entry, Item, Layout, Reply, ReplyEntry, Summary, SummaryPart
from bot.wording import long_day

IS_COMPONENTS_V2 = 1 << 15
SUPPRESS_EMBEDS = 1 << 2
NO_MENTIONS: dict[str, list[str]] = {"parse": []}

_LATE = "Late: this digest was due earlier."
_TITLE = 200  # characters of a headline
_LINE = 500  # of a line of a reply
_LINES = 20  # of an entry that stand in one text with its title
_STEPS = 8  # what to do next; each takes a part of the room of four long ones
_FIELD = 800
_FOOTER = 700
_NEWS = 300
_HEAD = 700  # what the head of a message may take at most: name, day, part, late
_PIECE = TEXTS_USED - _HEAD - _FOOTER  # and so what one entry may
_HEAD_COUNT = 9  # components of card, head, select in its row, footer, their rule, and a marker
# How much each text of an entry may take: as much as leaves room for all of them.
_ROOMS = (600, 400, 250, 120, 60)


@dataclass(frozen=True, slots=True)
class DiscordMessage:
    """One message: its components, a plain text that says as much as 2,000 characters can, and what goes with it."""

    components: tuple[Component, ...]
    plain: str
    keep: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()  # of the items, by entry
    attachment: Attachment | None = None

    def body(self) -> dict[str, Any]:
        """Return the fields of the message."""
        return {"components": list(self.components), "flags": IS_COMPONENTS_V2, "allowed_mentions": NO_MENTIONS}

    def plain_body(self) -> dict[str, Any]:
        """Return the fields of the same message without components."""
        return {"content": self.plain, "flags": SUPPRESS_EMBEDS, "allowed_mentions": NO_MENTIONS}


# --- digests


def payloads(digest: Digest, *, layout: Layout, late: bool) -> list[str]:
    """Return the digest as what the ledger keeps of each of its messages: JSON text."""
    name = clean(digest.title) or clean(digest.topic)
    day = digest.day.isoformat()
    return [
        json.dumps(
            {
                "body": each.body(),
                "plain": each.plain_body(),
                "keep": each.keep,
                "keys": each.keys,
                "thread": f"{name} · {day}",
                "tag": digest.tag or name,
                "hangs": layout is Layout.THREAD,
            },
            ensure_ascii=False,
        )
        for each in digest_messages(digest, layout=layout, late=late)
    ]


def digest_messages(digest: Digest, *, layout: Layout, late: bool = False) -> list[DiscordMessage]:
    """Return the digest as one or more messages, parted between entries; the last ends in the coverage line."""
    compact, news = layout is Layout.BRIEF, markdown.sentence(digest.news, _NEWS) if digest.news else ""
    pieces = [_entry(number, each, digest, compact=compact) for number, each in enumerate(digest.entries, start=1)]
    footer = markdown.small_print(markdown.escaped_to_fit(coverage_line(digest), _FOOTER - 5))
    room, count = _PIECE + _FOOTER - length(footer) - length(news), COMPONENTS - _HEAD_COUNT - bool(news)
    found = list(fill_messages(pieces or [_empty(digest)], room, count, ruled=True))
    postings = []
    for part, sheet in enumerate(found, start=1):
        last = part == len(found)
        head = _masthead(digest, part, len(found), late=late and part == 1)
        blocks: list[Component] = [text(head)]
        for piece in sheet:
            blocks += [rule(), *piece.components]
        why = select("Why was it chosen?", [each for piece in sheet for each in _reasons(piece.keys, digest)])
        blocks += [*([rule()] if why.components else []), *why.components]
        blocks += [text(footer)] if last and why.components else [rule(), text(footer)] if last else []
        blocks += [text(news)] if last and news else []
        whole = joined(*sheet, why)
        plain = _plain([head, *map(_headline, sheet), footer if last else "", news if last else ""])
        keys = tuple(each.keys for each in sheet if each.keys)
        postings.append(DiscordMessage((container(blocks),), plain, whole.keep, keys))
    return postings


def _reasons(keys: Sequence[str], digest: Digest) -> Iterator[tuple[str, str]]:
    """Yield how to ask why the entry of these items is in the digest."""
    for number, entry in enumerate(digest.entries, start=1):
        if keys and entry.ranked.item.key == keys[0]:
            name = f"{number}. {title(entry.ranked.item)}"
            yield name, write(Why(keys[0], digest.topic))


def _masthead(digest: Digest, part: int, parts: int, *, late: bool) -> str:
    of = f"part {part} of {parts}" if parts > 1 else ""
    facts = " · ".join(filter(None, (long_day(digest.day), kept_of_seen(digest), of)))
    lines = [f"## {markdown.escaped_to_fit(clean(digest.title) or digest.topic, _TITLE)}", markdown.small_print(facts)]
    return "\n".join([*lines, markdown.small_print(_LATE)] if late else lines)


def _entry(number: int, entry: Entry, digest: Digest, *, compact: bool) -> ComponentGroup:
    item = entry.ranked.item
    keys = (item.key,) if entry.partner is None else (item.key, entry.partner.key)
    said = _roomy(lambda room: _entry_lines(number, entry, digest.day, room, compact=compact))
    return joined(ComponentGroup((text(said),), keys=keys), rows(entry_buttons(item.key, digest.topic)))


def _roomy(lines: Callable[[int], Iterable[str]]) -> str:
    """Return the lines as one text, made with as much room as lets it stand in a message of its own."""
    made = ""
    for room in _ROOMS:
        made = "\n".join(filter(None, lines(room)))
        if length(made) <= _PIECE:
            break
    return made


def _entry_lines(number: int, entry: Entry, today: date, room: int, *, compact: bool) -> Iterator[str]:
    yield from _head(number, entry.ranked.item, today, room)
    if compact:
        yield markdown.escaped_to_fit(paragraph(entry.summary.parts), room)
    else:
        yield from (_part(each, room) for each in entry.summary.parts)
        reasons = [markdown.stressed(clean(reason), room) for reason in entry.ranked.reasons[:3]]
        reasons.append(f"score {entry.ranked.score:.2f}")
        yield markdown.small_print(f"Chosen: {' · '.join(reasons)}")
    yield markdown.small_print(_other_half(entry, room))
    taken = first_link(entry.partner) if entry.partner else ""
    yield markdown.small_print(_read(links(entry.ranked.item, without=taken), room))
    if not compact and (made := summary_origin(entry)):
        yield markdown.small_print(f"Summary: {markdown.escaped_to_fit(made, room)}")


def _head(number: int, item: Item, today: date, room: int) -> Iterator[str]:
    yield f"### {number}\\. {markdown.link(title(item), first_link(item), min(room, _TITLE))}"
    yield markdown.small_print(_facts(item, today, room))


def _facts(item: Item, today: date, room: int) -> str:
    bad = [f"**{word}**" for word in warnings(item)]
    facts = [markdown.escaped_to_fit(word, room // 2) for word in (*byline(item, today), *signals(item), *badges(item)[:4])]
    return " · ".join((*bad, *facts))


def _part(part: SummaryPart, room: int) -> str:
    shown = markdown.escaped_to_fit(part.text, room)
    return f"**{part.name}**  {shown}" if part.found else f"**{part.name}**  *{shown}*"


def _other_half(entry: Entry, room: int) -> str:
    """Return the repository of a paper, or the paper of a repository, as a line."""
    found = partner(entry)
    if found is None:
        return ""
    label, name, facts, url = found
    words = [markdown.link(name or shown_url(url), url, room), *(markdown.escaped_to_fit(fact, room // 2) for fact in facts)]
    return f"{label}: {' · '.join(filter(None, words))}"


def _read(addresses: Sequence[tuple[str, str]], room: int) -> str:
    return "Read: " + " · ".join(markdown.link(shown, url, room) for url, shown in addresses) if addresses else ""


def _empty(digest: Digest) -> ComponentGroup:
    look = rows([Button("Look again", write(Now(digest.topic)))])
    return joined(ComponentGroup((text(markdown.escaped_to_fit(empty_sentence(digest), _FOOTER)),)), look)


# --- replies


def reply_messages(reply: Reply, today: date, form: FormRequest | None = None) -> list[DiscordMessage]:
    """Return the reply as one or more messages, normally one, with a button for the form beside it.

    Digests stand in messages of their own, before what ends it.
    """
    pieces = [ComponentGroup((text(each),)) for each in _opening(reply)]
    pieces += [
        each for number, entry in enumerate(reply.entries, start=reply.first) for each in _reply_entry(number, entry, today)
    ]
    pieces += [
        each for number, entry in enumerate(map(card_lines, reply.cards), 1) for each in _reply_entry(number, entry, today)
    ]
    closing = joined(*_closing(reply, form))
    end = [closing] if closing.components else []
    shown = [each for digest in reply.digests for each in digest_messages(digest, layout=reply.layout)]
    if not shown:
        return _reply_messages(reply, pieces + end)
    return [*_reply_messages(reply, pieces), *shown, *(_reply_messages(reply, end) if end else ())]


def _reply_messages(reply: Reply, pieces: Sequence[ComponentGroup]) -> list[DiscordMessage]:
    found = fill_messages([_naming(each, reply) for each in pieces], TEXTS_USED, COMPONENTS - 2)
    return [_reply_posting(reply, sheet) for sheet in found]


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


def _reply_posting(reply: Reply, pieces: Sequence[ComponentGroup]) -> DiscordMessage:
    whole = joined(*pieces)
    blocks = whole.components
    last = any(each["type"] == file("")["type"] for each in blocks)
    keys = tuple(each.keys for each in pieces if each.keys)
    plain = _plain([_headline(each) for each in pieces])
    return DiscordMessage((container(blocks),), plain, whole.keep, keys, reply.attachment if last else None)


def _opening(reply: Reply) -> Iterator[str]:
    """Yield title, paragraphs and fields, in as few texts as take them."""
    lines = [f"### {markdown.escaped_to_fit(reply.title, _TITLE)}"] if clean(reply.title) else []
    lines += [markdown.sentence(each, _FIELD) for each in reply.text if clean(each)]
    lines += [f"{markdown.bold(each.name, _TITLE)}  {markdown.sentence(each.value, _FIELD)}" for each in reply.fields]
    yield from ("\n".join(each) for each in _texts(lines) or [["…"]])


def _texts(lines: Iterable[str]) -> list[list[str]]:
    """Return the lines in as few texts as take them."""
    made: list[list[str]] = []
    for line in filter(None, lines):
        if not made or length("\n".join((*made[-1], line))) > _PIECE:
            made.append([])
        made[-1].append(line)
    return made


def _reply_entry(number: int, entry: ReplyEntry, today: date) -> Iterator[ComponentGroup]:
    """Yield the entry, in several pieces where it has more lines than one text takes; the last has its buttons."""
    keys = (entry.item.key,) if entry.item is not None else ()
    said = _roomy(lambda room: _reply_lines(number, entry, today, room))
    further = [markdown.stressed(line, _LINE) for line in entry.lines[_LINES:]]
    *others, last = [said, *("\n".join(each) for each in _texts(further))]
    for each in others:
        yield ComponentGroup((text(each),), keys=keys)
    yield joined(ComponentGroup((text(last),), keys=keys), rows(entry.buttons[:10]))


def _reply_lines(number: int, entry: ReplyEntry, today: date, room: int) -> Iterator[str]:
    if entry.item is not None and entry.title_only:
        yield f"{number}\\. {markdown.link(title(entry.item), first_link(entry.item), min(room, _TITLE))}"
        return
    if entry.item is not None:
        yield from _head(number, entry.item, today, room)
    else:
        yield f"**{number}\\. {markdown.escaped_to_fit(entry.title, min(room, _TITLE)) or '…'}**"
    yield markdown.escaped_to_fit(clean(entry.gist), min(room, _LINE))
    yield from (markdown.stressed(line, min(room, _LINE)) for line in entry.lines[:_LINES])
    if entry.item is not None:
        yield markdown.small_print(_read(links(entry.item), room) or markdown.escaped_to_fit(entry.item.key, room))


def _closing(reply: Reply, form: FormRequest | None) -> Iterator[ComponentGroup]:
    """Yield the file, what to do next, and the buttons."""
    if reply.attachment is not None:
        yield ComponentGroup((file(reply.attachment.name),))
    steps = [step for step in reply.next_steps[:_STEPS] if clean(step)]
    steps = [markdown.small_print(markdown.sentence(step, _LINE if len(steps) < 5 else _LINE // 2)) for step in steps]
    if steps:
        yield ComponentGroup((text("\n".join(steps)),))
    yield rows(reply.buttons[:20], form)


def item_message(item: Item, summary: Summary, today: date) -> DiscordMessage:
    """Return one item with its summary, as below a link."""

    def told(room: int) -> Iterator[str]:
        yield f"### {markdown.link(title(item), first_link(item), min(room, _TITLE))}"
        yield markdown.small_print(_facts(item, today, room))
        yield from (_part(each, room) for each in summary.parts)

    return DiscordMessage((container([text(_roomy(told))]),), _plain([title(item)]), keys=((item.key,),))


# --- plain text


def _headline(piece: ComponentGroup) -> str:
    """Return the first line of a piece's text."""
    return next((each["content"].split("\n")[0] for each in piece.components if "content" in each), "")


def _plain(lines: Sequence[str]) -> str:
    """Return as many of the lines as a plain message takes."""
    kept: list[str] = []
    for line in filter(None, lines):
        if sum(map(length, kept)) + len(kept) + length(line) > CONTENT:
            break
        kept.append(line)
    return "\n".join(kept) or "…"
