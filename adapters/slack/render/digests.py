"""The pieces of a digest: masthead, entries, coverage. Pure."""

from collections.abc import Iterator

from adapters.slack.render.blocks import divider, header, numbered, paragraph, quiet, rich, said
from adapters.slack.render.cards import entry_piece, line_of, listed
from adapters.slack.render.limits import CONTEXT, units
from adapters.slack.render.mrkdwn import exact
from adapters.slack.render.postings import Piece, piece
from adapters.text import clean, cut
from adapters.words import coverage_line, nothing, tally
from bot.models import Digest
from bot.wording import long_day

_LATE = "⏰ Late: this digest was due earlier."
_TITLES = 10  # of a list that stand in one block


def name_of(digest: Digest) -> str:
    """Return the digest's title."""
    return clean(digest.title) or clean(digest.topic) or "Digest"


def pieces_of(digest: Digest, *, compact: bool) -> Iterator[Piece]:
    """Yield a whole digest below its masthead, one piece for each entry."""
    if not digest.entries:
        why = cut(nothing(digest.coverage), CONTEXT, units)
        yield piece(rich(paragraph(said(why))), text=exact(why))
    for number, entry in enumerate(digest.entries, start=1):
        yield entry_piece(entry, number, digest, compact=compact)
    yield footer(digest)


def masthead(digest: Digest, *, late: bool) -> Piece:
    """Return the title, the day, and how many of how many there are."""
    facts = f"{long_day(digest.day)} · {tally(digest)} items"
    mark = _LATE if late else ""
    return piece(
        header(name_of(digest)),
        quiet(mark, facts),
        text="\n".join(filter(None, (f"{exact(name_of(digest))}: {exact(facts)}", mark))),
    )


def footer(digest: Digest) -> Piece:
    """Return the line that says who was asked, and what was kept and dropped."""
    line = cut(coverage_line(digest.coverage), CONTEXT, units)
    return piece(divider(), quiet(line), text=exact(line))


def contents(digest: Digest) -> Iterator[Piece]:
    """Yield the titles of the entries as a numbered list."""
    rows = listed(digest.entries)
    for start in range(0, len(rows), _TITLES):
        here = digest.entries[start : start + _TITLES]
        lines = [line_of(entry.ranked.item, f"{number}. ") for number, entry in enumerate(here, start=start + 1)]
        yield piece(rich(numbered(rows[start : start + _TITLES], start + 1)), text="\n".join(lines))
