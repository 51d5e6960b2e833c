"""An item and an entry of a digest as Slack shows them. Pure.

From top to bottom: the title, which is the link; in grey who, when and where, and why it is here; beside a bar what the
paper says in four parts, or without a bar in one; where else to go; and the buttons.
"""

from collections.abc import Sequence
from datetime import date

from slack_sdk.models.blocks import Block

from adapters.slack.render.blocks import (
    BOLD,
    ITALIC,
    BlockGroup,
    Row,
    actions,
    block_group,
    context_line,
    divider,
    exact,
    link,
    link_run,
    paragraph,
    quote,
    rich,
    text_run,
)
from adapters.slack.render.limits import units
from adapters.text import clean, cut, emphasised, shown_url
from adapters.words import (
    badges,
    byline,
    entry_buttons,
    first_link,
    links,
    partner,
    signals,
    summary_origin,
    title,
    warnings,
)
from adapters.words import paragraph as in_a_paragraph
from bot.models import Digest, Entry, Item

# Characters, as `units` counts them: an entry with everything at its longest leaves room for what stands around it.
TITLE = 300
FACTS = 300
_PART = 550
_REASONS = 500
_NAME = 200
_ADDRESS = 500  # longer ones are not shown beside the title's


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


def entry_group(entry: Entry, number: int, digest: Digest, *, compact: bool, alone: bool = False) -> BlockGroup:
    """Return one entry of a digest with its buttons; `alone` when it is a message of its own."""
    item = entry.ranked.item
    buttons = actions("entry", entry_buttons(item.key, digest.topic), f"entry {number}")
    line = divider() if number > 1 and not compact and not alone else []
    return block_group(
        line,
        card(entry, number, digest.day, compact=compact),
        buttons.blocks,
        text=_text(entry, number, digest.day),
        brief=_line(item, number),
        keys=(item.key,),
        keep=buttons.keep,
    )


def card(entry: Entry, number: int | None, today: date, *, compact: bool) -> list[Block]:
    """Return one entry without its buttons."""
    item = entry.ranked.item
    top, known = rich(paragraph(headline(item, number))), facts(item, today)
    if compact:
        words = text_run(cut(in_a_paragraph(entry.summary.parts), _PART, units))
        return [*top, *context_line(known, reasons_line(entry)), *rich(paragraph(words, _partner(entry)))]
    why = " · ".join(filter(None, (reasons_line(entry), _made(entry))))
    return [*top, *context_line(known, why), *rich(quote(*_parts(entry)), paragraph(_elsewhere(entry)))]


def _parts(entry: Entry) -> list[Row]:
    return [
        [
            *text_run(f"{clean(part.name)}  ", BOLD),
            *text_run(cut(clean(part.text), _PART, units), *([] if part.found else [ITALIC])),
        ]
        for part in entry.summary.parts
        if clean(part.text)
    ]


def _elsewhere(entry: Entry) -> Row:
    """Return the partner and the item's other links, the short ones, in a line."""
    pieces = _partner(entry)
    taken = first_link(entry.partner) if entry.partner else ""
    shown = [pair for pair in links(entry.ranked.item, without=taken) if pair[0] != first_link(entry.ranked.item)]
    for url, name in shown:
        if units(url) <= _ADDRESS:
            pieces += [*text_run("  ·  " if pieces else ""), *link_run(name, url)]
    return pieces


def _partner(entry: Entry) -> Row:
    found = partner(entry)
    if found is None:
        return []
    label, name, told, url = found
    if units(url) > _ADDRESS:
        url = ""
    named = link_run(cut(name or shown_url(url) or clean(entry.partner.key if entry.partner else ""), _NAME, units), url)
    return [*text_run(f"{label}  ", BOLD), *named, *text_run(cut("".join(f" · {fact}" for fact in told), _NAME, units))]


def reasons_line(entry: Entry) -> str:
    """Return why it is here: the reasons, what matched in quotation marks, and the score; "" where nothing was ranked."""
    if not entry.ranked.parts:
        return ""
    reasons = " · ".join(filter(None, (_quoted(reason) for reason in entry.ranked.reasons)))
    told = (cut(reasons, _REASONS, units), f"score {entry.ranked.score:.2f}")
    return f"Chosen: {' · '.join(filter(None, told))}"


def _quoted(reason: str) -> str:
    return "".join(f"“{words}”" if marked else words for words, marked in emphasised(clean(reason)))


def _made(entry: Entry) -> str:
    told = cut(summary_origin(entry), _NAME, units)
    return f"summary {told}" if told else ""


# --- for those who hear or see the text alone


def _text(entry: Entry, number: int | None, today: date) -> str:
    words = exact(cut(in_a_paragraph(entry.summary.parts), _PART, units))
    return "\n".join(filter(None, (_line(entry.ranked.item, number), exact(facts(entry.ranked.item, today)), words)))


def _line(item: Item, number: int | None) -> str:
    return line_of(item, "" if number is None else f"{number}. ")


def line_of(item: Item, before: str) -> str:
    """Return the item's title as a link in mrkdwn, with something of ours before it."""
    return before + link(first_link(item), cut(title(item), TITLE, units))


def title_rows(entries: Sequence[Entry]) -> list[Row]:
    """Return the titles of entries, linked, with what others said of them."""
    return [
        [*headline(entry.ranked.item, None), *text_run("".join(f"  {sign}" for sign in signals(entry.ranked.item)))]
        for entry in entries
    ]
