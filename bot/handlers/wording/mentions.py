"""The channels and persons that a reply names by their identifiers. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.models import Reply


def mentioning(reply: Reply, *, channels: Iterable[str] = (), people: Iterable[str] = ()) -> Reply:
    """Return the reply with those of the identifiers told apart that stand in its texts as whole words."""
    words = {word for text in _texts(reply) for word in _words(text)}
    return replace(
        reply,
        channels=tuple(sorted({*reply.channels, *channels} & words)),
        people=tuple(sorted({*reply.people, *people} & words)),
    )


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
