"""The core's neutral answer to a command; an adapter renders it. No markup, block or embed.

Texts may set what is to be stressed between *asterisks*, as the reasons of a score do. Everything that strangers wrote is
untouched: the adapter makes it harmless.
"""

import base64
import hashlib
from dataclasses import dataclass

from bot.models.digests import Digest, Entry, Layout
from bot.models.items import Item
from bot.models.trends import Chart


@dataclass(frozen=True, slots=True)
class Button:
    """Another command, one tap away. `command` is its text, as bot.commands.write makes it and parse reads it."""

    label: str
    command: str
    danger: bool = False  # it takes something away
    told: str = ""  # the same as people read and type it, where the command names an address of theirs by its identifier


def text_key(text: str) -> str:
    """Return the key under which a text is kept that a button has no room for.

    It is 22 characters of [0-9A-Za-z_-], 128 bits of the text's SHA-256.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


@dataclass(frozen=True, slots=True)
class Field:
    """A name with its value, shown side by side or in a table."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ReplyEntry:
    """One thing of a list: an item (the adapter shows its title, byline and links), or a title of our own.

    `gist` is what the item says in a sentence, in a stranger's words: it stresses nothing. `lines` stand below it, one
    sentence or fact each.
    """

    item: Item | None = None
    title: str = ""
    gist: str = ""
    lines: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()
    post: str = ""  # the address of the message in which it was posted
    title_only: bool = False  # nothing but the item's linked title, on one line; the title of our own, where it is not kept
    is_section: bool = False  # the title of our own is a heading: nobody asks for it by its number


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file to hand over: an export."""

    name: str  # with its ending
    media_type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command answers."""

    title: str
    text: tuple[str, ...] = ()  # paragraphs
    entries: tuple[ReplyEntry, ...] = ()
    quoted: tuple[str, ...] = ()  # paragraphs in a stranger's words, shown whole: they stress nothing
    first: int = 1  # the number of the first entry, on a later page of a list
    fields: tuple[Field, ...] = ()
    cards: tuple[Entry, ...] = ()  # shown whole, each with its links; what may be done with them, the buttons say
    digests: tuple[Digest, ...] = ()  # shown whole, as they would be posted
    layout: Layout = Layout.BRIEF  # of the digests
    charts: tuple[Chart, ...] = ()  # each with its numbers in words, behind the paragraphs and before all else
    attachment: Attachment | None = None
    next_steps: tuple[str, ...] = ()  # what to do next, a sentence each; commands between *asterisks*
    buttons: tuple[Button, ...] = ()  # of the whole reply: earlier, later, undo
    private: bool = True  # for the one who asked alone
    # Identifiers that stand in its texts as whole words: the adapter shows its own link or name there. Nobody is notified.
    channels: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One line of an autocomplete list: what is put in, and what is shown."""

    value: str
    label: str
