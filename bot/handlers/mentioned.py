"""Which channels and persons a reply names by their identifiers. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.models import Change, Reply


def mentioning(reply: Reply, *, channels: Iterable[str] = (), people: Iterable[str] = ()) -> Reply:
    """Return the reply with those of the identifiers told apart that stand in its texts as whole words."""
    words = {word for text in _texts(reply) for word in _words(text)}
    return replace(
        reply,
        channels=tuple(sorted({*reply.channels, *channels} & words)),
        people=tuple(sorted({*reply.people, *people} & words)),
    )


def channels_of(change: Change) -> Iterator[str]:
    """Yield the channels that a line of the audit names."""
    about, *rest = change.what.split()
    if about == "subscription":
        yield from rest[:1]
    elif change.what in ("settings alerts", "settings duplicates"):
        said = f"{change.before}, {change.after}".split(", ")
        yield from (each for each in said if each and " " not in each)


def _texts(reply: Reply) -> Iterator[str]:
    yield from (reply.title, *reply.text, *reply.next_steps)
    for field in reply.fields:
        yield field.value
    for entry in reply.entries:
        yield from (entry.title, *entry.lines)


def _words(text: str) -> Iterator[str]:
    """Yield what stands between blanks, without the signs of a sentence around it; a Discord name may be "@123"."""
    for word in text.split():
        yield re.sub(r"^[*(“\"]+|[*).,:;!?”\"]+$", "", word)
