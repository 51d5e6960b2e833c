"""A digest as one mail: subject, preheader, HTML, and the same as plain text. Pure but for the template, read once."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.email.render.html_part import html_part
from adapters.email.render.links import MailLinks
from adapters.email.render.stories import Frame, Sheet, Story, frame, in_brief, sheet_of, story
from adapters.email.render.text_part import text_part
from adapters.text import clean, cut
from adapters.words import brief_title, came_close, digest_name, empty_sentence, kept_of_seen, masthead
from bot.models import Digest, Layout

SUBJECT = 78  # characters: RFC 5322, 2.1.1, asks for no longer lines; programs show some 60 of them
_NAME = 30  # of them, of the digest's name
_PREHEADER = 140  # characters: programs show 40 to 140 behind a subject
MOST = 80_000  # bytes of HTML: Gmail shows 102 KB of a message and hides the rest behind a link


@dataclass(frozen=True, slots=True)
class Mail:
    """A digest as it is mailed."""

    subject: str  # one line without control characters, at most 78 characters
    preheader: str  # what mail programs show behind the subject
    html: str
    text: str
    keys: tuple[tuple[str, ...], ...]  # of the items that it shows, those of one entry together
    listed: tuple[tuple[str, ...], ...] = ()  # in place of them, where messages of their own show them: a mail is one


def render(digest: Digest, *, layout: Layout, late: bool, links: MailLinks) -> Mail:
    """Return the digest as a mail: by `layout` the index, the index and the cards below it (THREAD), or the cards alone.

    Cards that do not fit into `MOST` bytes of HTML are left out from the end, and the mail says so; their entries keep their
    lines of the index. The first call reads files: not on the event loop.
    """
    stories = [story(number, entry, digest, links) for number, entry in enumerate(digest.entries, start=1)]
    about, told, around = subject(digest), preheader(digest), frame(digest, links, late=late)

    def made(sheet: Sheet) -> str:
        return html_part(sheet, subject=about, preheader=told)

    sheet = _fitting(stories, around, layout, made)
    keys = tuple((entry.ranked.item.key,) for entry in digest.entries)
    return Mail(about, told, made(sheet), text_part(sheet), keys)


def _fitting(stories: Sequence[Story], around: Frame, layout: Layout, made: Callable[[Sheet], str]) -> Sheet:
    """Return the mail with as many cards as fit; titles alone stand in an index that would not fit by itself."""

    def is_over(cards: int) -> bool:
        return len(made(sheet_of(stories, around, layout, cards)).encode()) > MOST

    if not is_over(len(stories)):
        return sheet_of(stories, around, layout, len(stories))
    if is_over(0):
        return sheet_of(in_brief(stories), around, layout, 0)
    return sheet_of(stories, around, layout, bisect_left(range(len(stories)), True, key=is_over) - 1)


def subject(digest: Digest) -> str:
    """Return "GPU systems: 2-minute video in 4 GB of KV cache, +3": the first gist, and how many more entries there are."""
    name = cut(_header(digest_name(digest)), _NAME)
    more = f", +{len(digest.entries) - 1}" if len(digest.entries) > 1 else ""
    room = SUBJECT - len(name) - len(": ") - len(more)
    return f"{name}: {cut(_header(_headline(digest, room)), room)}{more}"


# What a gist begins with that leads to what it says: "To train with less memory, …", "Drawing on diffusion, …".
_LEADS = re.compile(
    r"(?:With|By|In|On|For|To|From|Through|Under|Across|Unlike|Despite|Without|Instead|Rather|Beyond|When|While|As|If|Although"
    r"|Because|Since|Given|Based|Inspired|Motivated|[A-Z][a-z-]+ing)\b"
)


def _headline(digest: Digest, room: int) -> str:
    """Return the first gist; its title where little but what leads to what it says would be left in the room."""
    if digest.entries:
        first = digest.entries[0]
        gist = clean(first.gist).removesuffix(".")
        is_lead = len(gist) > room and gist.find(", ") > room // 2 and _LEADS.match(gist) is not None
        return brief_title(first.ranked.item) if is_lead or not gist else gist
    if not digest.coverage.seen:
        return "the sources had nothing new"
    return f"{kept_of_seen(digest)}, {'none has a place in it' if came_close(digest) else 'nothing came close'}"


def _header(text: str) -> str:
    """Return the text for a header: what would be read as an encoded word (RFC 2047) is parted, and stands as it is."""
    return text.replace("=?", "= ?")


def preheader(digest: Digest) -> str:
    """Return what stands behind the subject in a list of mails: how much there is and the next titles, or why none."""
    if not digest.entries:
        return cut(empty_sentence(digest), _PREHEADER)
    titles = [brief_title(entry.ranked.item) for entry in digest.entries[1:]]
    return cut(" · ".join([masthead(digest), *titles]), _PREHEADER)
