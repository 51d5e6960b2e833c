"""An item, and the card of an entry, as Slack shows them. Pure.

From top to bottom: the title, which is the link; in grey who, when and what is counted; the gist in bold; beside a bar the
parts that are said and why it is here; the buttons, with a menu at their end.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from adapters.slack.render.blocks import (
    BOLD,
    BlockGroup,
    Json,
    Row,
    actions,
    block_group,
    context_line,
    divider,
    exact,
    link,
    link_run,
    menu,
    paragraph,
    quote,
    rich,
    text_run,
)
from adapters.slack.render.limits import units
from adapters.text import clean, cut, safe_url
from adapters.words import badges, byline, card_buttons, card_facts, first_link, signals, title, warnings
from bot.models import Button, Digest, Entry, Item

# Characters, as `units` counts them: an entry with everything at its longest leaves room for what stands around it.
TITLE = 300
FACTS = 300
_GIST = 300
_PART = 550
LINKED = 1_500  # of an address; longer ones are not shown in markup: a section holds 3,000
_ADDRESS = 500  # longer ones are not in a menu
_PRESSED = 3  # buttons side by side; a phone has room for no more, and
_PRESSED_ALONE = 4  # below a card that one person asked for, where it may take a second line there


def headline(item: Item, number: int | None) -> Row:
    """Return "3. Title", the title linked; without a number where it stands alone."""
    mark = text_run(f"{number}. ", BOLD) if number is not None else []
    return [*mark, *link_run(cut(title(item), TITLE, units), first_link(item), BOLD)]


def facts(item: Item, today: date) -> str:
    """Return who made it, when, what others said of it and who saw it, in a line."""
    told = (*_marked(item), *byline(item, today), *signals(item), *badges(item))
    return cut(" · ".join(told), FACTS, units)


def _marked(item: Item) -> tuple[str, ...]:
    return tuple(f"⚠ {word}" for word in warnings(item))


def entry_group(entry: Entry, number: int, digest: Digest, *, alone: bool = False) -> BlockGroup:
    """Return the card of a digest's entry with its buttons, below a line where it is neither the first nor `alone`."""
    key = entry.ranked.item.key
    made = card_group(entry, digest.day, card_buttons(key, digest.topic), number)
    line = block_group(divider() if number > 1 and not alone else [])
    return replace(made, blocks=(*line.blocks, *made.blocks), size=line.size + made.size, keys=((key,),))


def card_group(entry: Entry, today: date, buttons: Sequence[Button], number: int | None = None) -> BlockGroup:
    """Return a card: three of its buttons side by side, the others and where else it leads in a menu."""
    about = "" if number is None else f"entry {number}"
    pressed = _PRESSED_ALONE if number is None else _PRESSED
    row = actions("entry", buttons[:pressed], about, menu(buttons[pressed:], _addresses(entry)))
    return block_group(
        card(entry, number, today),
        row.blocks,
        text=_text(entry, number, today),
        brief=line_of(entry.ranked.item, _mark(number)),
        keep=row.keep,
    )


def card(entry: Entry, number: int | None, today: date) -> list[Json]:
    """Return the card without its buttons: title, byline, the gist, what else is said, and why it is here."""
    item = entry.ranked.item
    gist = text_run(cut(clean(entry.gist), _GIST, units), BOLD)
    return [
        *rich(paragraph(headline(item, number))),
        *context_line(_known(entry, today)),
        *rich(paragraph(gist), quote(*_rows(entry))),
    ]


def _known(entry: Entry, today: date) -> str:
    return cut(" · ".join((*_marked(entry.ranked.item), *card_facts(entry, today))), FACTS, units)


def _rows(entry: Entry) -> list[Row]:
    told = [(clean(part.name), clean(part.text)) for part in entry.card]
    told += [("Why here", clean(entry.why_here))]
    return [[*text_run(f"{name}  ", BOLD), *text_run(cut(text, _PART, units))] for name, text in told if text]


def _addresses(entry: Entry) -> list[tuple[str, str]]:
    """Return where a card leads besides its title as (label, address): to the code."""
    works = [each for each in (entry.ranked.item, entry.partner) if each is not None]
    urls = (safe_url(link.url) for item in works for link in item.links if link.rel == "code")
    return [("Code", url) for url in urls if url and len(url) <= _ADDRESS][:1]


# --- for those who hear or see the text alone


def _text(entry: Entry, number: int | None, today: date) -> str:
    parts = (f"{part.name}: {part.text}" for part in entry.card)
    why = f"Why here: {entry.why_here}" if entry.why_here else ""
    told = (exact(cut(clean(each), _PART, units)) for each in (_known(entry, today), entry.gist, *parts, why))
    return "\n".join(filter(None, (line_of(entry.ranked.item, _mark(number)), *told)))


def _mark(number: int | None) -> str:
    return "" if number is None else f"{number}. "


def line_of(item: Item, before: str) -> str:
    """Return the item's title as a link in mrkdwn, with something of ours before it; no link of a very long address."""
    url = first_link(item)
    return before + link(url if units(url) <= LINKED else "", cut(title(item), TITLE, units))
