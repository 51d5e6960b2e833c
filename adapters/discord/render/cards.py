"""One entry in Discord: in brief, and as its card. Pure.

The brief is one text, without buttons: a select of all entries opens their cards. A card has its buttons below it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date

from adapters.discord.render import markdown
from adapters.discord.render.components import ComponentGroup, joined, rows, text
from adapters.discord.render.limits import length
from adapters.text import clean, safe_url
from adapters.words import brief_title, card_buttons, card_facts, facts, first_link, title, told_parts, warnings
from bot.commands import Show, write
from bot.models import Entry

TITLE = 200  # characters of a headline
_BETWEEN = "\u00a0· "  # a line begins with no dot
_STARS = "\u00a0★"  # of code, on the line where that stands
_CODE = re.compile(r"code(?: ★\S+)?")  # what is said of a paper's code
PIECE = 2_500  # of one text at most: it stands in a message with its head and its end
# How much each text of a card may take: as much as leaves room for all of them.
_ROOMS = (600, 400, 250, 120, 60)


def keys_of(entry: Entry) -> tuple[str, ...]:
    """Return the keys of the items that the entry shows."""
    item = entry.ranked.item
    return (item.key,) if entry.partner is None else (item.key, entry.partner.key)


def roomy(lines: Callable[[int], Iterable[str]]) -> str:
    """Return the lines as one text, made with as much room as lets it stand in a message of its own."""
    made = ""
    for room in _ROOMS:
        made = "\n".join(filter(None, lines(room)))
        if length(made) <= PIECE:
            break
    return made


# --- in brief


def brief_entry(number: int, entry: Entry, room: int) -> ComponentGroup:
    """Return number, title, gist and facts as one text; the gist in at most so much room."""
    item = entry.ranked.item
    lead = markdown.link(brief_title(item), first_link(item), TITLE)
    lines = filter(None, (f"**{number}. {lead}**", _BETWEEN.join(_told(entry, room))))
    return ComponentGroup((text("\n".join(lines)),), keys=keys_of(entry))


def _told(entry: Entry, room: int) -> Iterator[str]:
    yield from (f"**{word}**" for word in warnings(entry.ranked.item))
    shown = facts(entry)
    gist = clean(entry.gist)
    if gist:
        yield markdown.escaped_to_fit(gist.removesuffix(".") if shown else gist, room)
    yield from (markdown.escaped_to_fit(each.replace(" ★", _STARS), room // 3) for each in shown)


def opened_card(number: int, entry: Entry, topic: str) -> tuple[str, str]:
    """Return how the select of a brief names the entry, and the command that shows its card."""
    item = entry.ranked.item
    return f"{number}. {title(item)}", write(Show(item.key, topic))


# --- the card


def card(entry: Entry, today: date, topic: str, number: int) -> ComponentGroup:
    """Return the entry's card, numbered as in the brief, with its buttons."""
    said = roomy(lambda room: card_lines(entry, today, number, room))
    return joined(ComponentGroup((text(said),), keys=keys_of(entry)), rows(card_buttons(entry.ranked.item.key, topic)))


def card_lines(entry: Entry, today: date, number: int, room: int) -> Iterator[str]:
    """Yield the lines of a card, each text in at most so much room; what is not said is left out."""
    item = entry.ranked.item
    place = f"{number}\\. " if number else ""
    yield f"### {place}{markdown.link(title(item), first_link(item), min(room, TITLE))}"
    yield markdown.small_print(_BETWEEN.join(_facts(entry, today, room)))
    yield markdown.bold(entry.gist, room)
    yield from (part_line(name, told, room) for name, told in told_parts(entry))


def _facts(entry: Entry, today: date, room: int) -> Iterator[str]:
    yield from (f"**{word}**" for word in warnings(entry.ranked.item))
    code = _code_link(entry)
    for each in card_facts(entry, today):
        yield markdown.link(each, code, room) if _CODE.fullmatch(each) else markdown.escaped_to_fit(each, room // 2)


def _code_link(entry: Entry) -> str:
    """Return where the code of a paper is, "" where nobody knows, or the title leads there."""
    works = [each for each in (entry.partner, entry.ranked.item) if each is not None]
    found = (link.url for each in works for link in each.links if link.rel == "code")
    return next((url for url in found if safe_url(url) != first_link(entry.ranked.item)), "")


def part_line(name: str, told: str, room: int) -> str:
    """Return a part of a summary behind its name."""
    return f"{markdown.bold(name, room)}  {markdown.escaped_to_fit(told, room)}"
