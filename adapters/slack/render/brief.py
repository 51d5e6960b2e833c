"""A digest as it stands in the channel: its name and size, for each entry a line or two with a menu, and its end. Pure.

An entry has at most 40 words: the number, the title as the link, the gist, and what else is known of it.
"""

from collections.abc import Iterator

from adapters.slack.render.blocks import (
    BlockGroup,
    actions,
    block_group,
    context_line,
    exact,
    header,
    link,
    menu,
    paragraph,
    rich,
    section,
    text_run,
)
from adapters.slack.render.cards import LINKED
from adapters.slack.render.limits import CONTEXT, units
from adapters.text import clean, cut
from adapters.words import (
    brief_title,
    coverage_line,
    digest_name,
    empty_sentence,
    entry_menu,
    facts,
    first_link,
    late_sentence,
    others_button,
    shown_here,
    shown_so_far,
    warnings,
)
from adapters.words import masthead as counted
from bot.models import Digest, Entry

ENTRIES = 12  # of one message
_WORDS = 40  # of an entry
_TITLE = 150  # characters, as `units` counts them
_GIST = 300
_FACTS = 200
_DOT = "\u00a0· "  # begins no line
_STARS = "\u00a0★"  # of code, on the line where that stands
_MINUTES = "\u00a0min"


def masthead(digest: Digest, *, late: bool) -> BlockGroup:
    """Return the digest's name, how many entries of how many items it has, and how long they take; of a late one the day."""
    told = f"{digest_name(digest)} · {counted(digest).replace(' min', _MINUTES)}"
    mark = f"⏰ {late_sentence(digest)}" if late else ""
    return block_group(header(told), context_line(mark), text="\n".join(filter(None, (exact(told), mark))))


def entries(digest: Digest) -> Iterator[BlockGroup]:
    """Yield a piece for each entry; for an empty digest one that says why."""
    if not digest.entries:
        why = cut(empty_sentence(digest), CONTEXT, units)
        yield block_group(rich(paragraph(text_run(why))), text=exact(why))
    for number, entry in enumerate(digest.entries, start=1):
        yield _entry(number, entry, digest.topic)


def _entry(number: int, entry: Entry, topic: str) -> BlockGroup:
    item = entry.ranked.item
    gist = cut(clean(entry.gist), _GIST, units)
    known = cut(_DOT.join((*(f"⚠ {word}" for word in warnings(item)), *facts(entry))).replace(" ★", _STARS), _FACTS, units)
    told = _DOT.join(filter(None, (exact(gist.rstrip(".") if known else gist), exact(known))))
    name, url = _fitting(brief_title(item), _WORDS - 1 - _words(gist) - _words(known)), first_link(item)
    named = link(url if units(url) <= LINKED else "", name)
    choices = menu(entry_menu(item.key, topic))
    return block_group(
        section("\n".join(filter(None, (f"*{number}.  {named}*", told))), choices),
        text="\n".join(filter(None, (f"{number}. {named}", told))),
        brief=f"{number}. {named}",
        keys=(item.key,),
        keep=choices.keep,
    )


def _words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _fitting(name: str, words: int) -> str:
    """Return a title up to so many words."""
    kept = name.split()
    short = name if len(kept) <= words else f"{' '.join(kept[:words]).rstrip(' ,;:–—-(')}…"
    return cut(short, _TITLE, units)


def ending(digest: Digest) -> BlockGroup:
    """Return the line that says who was asked and what was kept, and the button for what else is on the topic."""
    line = cut(coverage_line(digest), CONTEXT, units)
    row = actions("entry", others_button(digest))
    return block_group(context_line(line), row.blocks, text=exact(line), keep=row.keep)


def seam(digest: Digest, shown: int, then: int) -> tuple[BlockGroup, BlockGroup]:
    """Return what ends a message after so many entries, and what begins the next one, which shows them up to `then`."""
    ends, begins = shown_so_far(digest, shown), f"{digest_name(digest)} · {shown_here(digest, shown + 1, then)}"
    return block_group(context_line(ends), text=exact(ends)), block_group(context_line(begins), text=exact(begins))
