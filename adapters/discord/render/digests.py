"""A digest as Discord's messages: in brief, in brief with its cards in a thread, or as cards. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from adapters.discord.render import markdown
from adapters.discord.render.cards import brief_entry, card, opened_card
from adapters.discord.render.components import (
    ComponentGroup,
    DiscordMessage,
    beside,
    container,
    fill_messages,
    headline,
    joined,
    nested,
    plain_text,
    rule,
    select,
    text,
)
from adapters.discord.render.hints import UNKNOWN_IDS, CommandIds
from adapters.discord.render.limits import COMPONENTS, TEXTS_USED, length
from adapters.text import clean
from adapters.words import (
    coverage_line,
    digest_name,
    empty_sentence,
    late_sentence,
    masthead,
    others_button,
    presses_line,
    shown_here,
    shown_so_far,
)
from bot.models import Digest, Layout, Presses

BRIEF_ENTRIES = 12  # of one message
_TITLE = 200  # characters of a digest's title
_FOOTER = 700
_NEWS = 300
_TAIL = 100  # of the line that says how much of the digest a message shows, beyond what its head has
_FURNITURE = 8  # components besides the entries: card, head, a select in its row or a rule, footer and its button, news
# How much gist and facts of an entry in brief may take; less where all of them are to stand in one message.
_SIZES = (400, 250, 160, 100)
_NOTHING = ComponentGroup(())


def payloads(digest: Digest, *, layout: Layout, late: bool, ids: CommandIds = UNKNOWN_IDS) -> list[str]:
    """Return the digest as what the ledger keeps of each of its messages: JSON text."""
    name, day = digest_name(digest), digest.day.isoformat()
    return [
        json.dumps(
            {
                "body": each.body(),
                "plain": each.plain_body(),
                "keep": each.keep,
                "keys": each.keys,
                "thread": f"{name} · {day}",
                "tag": digest.tag or name,
                "hangs": each.hangs,
            },
            ensure_ascii=False,
        )
        for each in digest_messages(digest, layout=layout, late=late, ids=ids)
    ]


def with_presses(body: dict[str, Any], presses: Presses) -> dict[str, Any]:
    """Return a message's body whose last text ends with a line on what was pressed; as it is where that is nothing."""
    made: dict[str, Any] = json.loads(json.dumps(body))
    texts = [each for each in nested(made["components"]) if "content" in each]
    if texts and (line := presses_line(presses)):
        texts[-1]["content"] += f"\n{markdown.small_print(line)}"
    return made


def digest_messages(
    digest: Digest, *, layout: Layout, late: bool = False, ids: CommandIds = UNKNOWN_IDS
) -> list[DiscordMessage]:
    """Return the digest as one or more messages, parted between entries, alike whether it is late or not.

    Those that belong in a thread of the first come last. By `ids` commands in our sentences can be clicked; whether they are
    known parts nothing otherwise.
    """
    end = _end(digest, ids)
    if not digest.entries:
        return [_message([_empty(digest)], _masthead(digest, late=late), joined(ComponentGroup((rule(),)), end))]
    if layout is Layout.FULL:
        return _posted(digest, _cards(digest), end, late=late)
    brief = _posted(digest, _brief(digest), end, late=late, selects=True)
    return [*brief, *_in_thread(digest)] if layout is Layout.THREAD else brief


# --- what stands on each message


def _brief(digest: Digest) -> list[list[ComponentGroup]]:
    """Return the entries in brief by message, at most twelve in each."""
    made: list[list[ComponentGroup]] = []
    for start in range(0, len(digest.entries), BRIEF_ENTRIES):
        here = [*enumerate(digest.entries, start=1)][start : start + BRIEF_ENTRIES]
        tried = [_parted(digest, [brief_entry(number, each, size) for number, each in here]) for size in _SIZES]
        fewest: list[list[ComponentGroup]] = min(tried, key=len)
        made += fewest
    return made


def _cards(digest: Digest) -> list[list[ComponentGroup]]:
    cards = [card(each, digest.day, digest.topic, number) for number, each in enumerate(digest.entries, start=1)]
    return _parted(digest, [joined(ComponentGroup((rule(),)), each) for each in cards], _FURNITURE - 1)  # no select


def _parted(digest: Digest, pieces: Iterable[ComponentGroup], besides: int = _FURNITURE) -> list[list[ComponentGroup]]:
    """Return the pieces by message, with room for what every message has besides."""
    furniture = (_masthead(digest, late=True), _footer(digest))
    room = TEXTS_USED - _TAIL - sum(map(length, furniture)) - (_NEWS if clean(digest.news) else 0)
    return list(fill_messages(pieces, room, COMPONENTS - besides))


def _posted(
    digest: Digest,
    sheets: Sequence[Sequence[ComponentGroup]],
    ending: ComponentGroup,
    *,
    late: bool,
    selects: bool = False,
) -> list[DiscordMessage]:
    """Return a message of each, the first under the digest's head, the last over its end."""
    made, shown = [], 0
    for sheet in sheets:
        before, shown = shown, shown + len(sheet)
        head = _continued(digest, before + 1, shown) if before else _masthead(digest, late=late)
        opens = _select(digest, before, shown) if selects else ComponentGroup((rule(),))
        end = ending if shown == len(digest.entries) else _to_be_continued(digest, shown)
        made.append(_message(sheet, head, joined(opens, end)))
    return made


def _in_thread(digest: Digest) -> Iterator[DiscordMessage]:
    """Yield a message for each card, as they stand in a thread: one answers to a card, or reacts to it."""
    for number, each in enumerate(digest.entries, start=1):
        yield replace(_message([card(each, digest.day, digest.topic, number)]), hangs=True)


def _message(sheet: Sequence[ComponentGroup], head: str = "", end: ComponentGroup = _NOTHING) -> DiscordMessage:
    whole = joined(ComponentGroup((text(head),)) if head else _NOTHING, *sheet, end)
    said = (each["content"] for each in nested(end.components) if "content" in each)
    plain = plain_text([head, *map(headline, sheet), *said])
    return DiscordMessage((container(whole.components),), plain, whole.keep, tuple(each.keys for each in sheet if each.keys))


# --- how a message begins and ends


def _masthead(digest: Digest, *, late: bool) -> str:
    head = f"### {_name(digest)} · {masthead(digest)}"
    return f"{head}\n{markdown.small_print(markdown.escaped(late_sentence(digest)))}" if late else head


def _continued(digest: Digest, first: int, last: int) -> str:
    return markdown.small_print(f"{_name(digest)} · {shown_here(digest, first, last)}")


def _name(digest: Digest) -> str:
    return markdown.escaped_to_fit(digest_name(digest), _TITLE)


OPEN_CARD = "Open a card…"  # what is written in the select


def _select(digest: Digest, before: int, shown: int) -> ComponentGroup:
    """Return the select that opens the cards of these entries."""
    here = [*enumerate(digest.entries, start=1)][before:shown]
    return select(OPEN_CARD, [opened_card(number, each, digest.topic) for number, each in here])


def _to_be_continued(digest: Digest, shown: int) -> ComponentGroup:
    return ComponentGroup((text(markdown.small_print(shown_so_far(digest, shown))),))


def _end(digest: Digest, ids: CommandIds) -> ComponentGroup:
    """Return the coverage line, with what else there is on topic at its side, and what the channel is told once."""
    footer, news = _footer(digest), _news(digest, ids)
    said = [beside(footer, each) for each in others_button(digest)] or [ComponentGroup((text(footer),))]
    return joined(*said, ComponentGroup((text(news),) if news else ()))


def _footer(digest: Digest) -> str:
    return markdown.small_print(markdown.escaped_to_fit(coverage_line(digest), _FOOTER - 5))


def _news(digest: Digest, ids: CommandIds) -> str:
    return markdown.sentence(digest.news, _NEWS, ids) if clean(digest.news) else ""


def _empty(digest: Digest) -> ComponentGroup:
    return ComponentGroup((text(markdown.escaped_to_fit(empty_sentence(digest), _FOOTER)),))
