"""Sentences of ours as runs of rich text: what is stressed, what is typed, the channels and people they name. Pure."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from adapters.slack.render.blocks import BOLD, CODE, PLAIN, Row, Style, channel, person, said
from adapters.slack.render.limits import units
from adapters.slack.render.mrkdwn import exact
from adapters.text import clean, cut, emphasised
from adapters.words import Manner, told

_STYLES = {Manner.PLAIN: PLAIN, Manner.STRESSED: BOLD, Manner.TYPED: CODE}
# Slack's identifiers of channels: a notice names them, and nobody knows a channel by its number.
_CHANNELS = re.compile(r"\b[CG](?=[A-Z]*[0-9])[A-Z0-9]{8,}\b")


@dataclass(frozen=True, slots=True)
class Names:
    """Identifiers that stand in a text as whole words, and are shown as what they name."""

    channels: Collection[str] = ()
    people: Collection[str] = ()  # only where nobody else sees the message: it would notify them

    def runs(self, text: str, style: Style) -> Row:
        """Return the text with what it names in place."""
        known = sorted((*self.channels, *self.people), key=len, reverse=True)
        if not known:
            return said(text, style)
        pieces = re.split(rf"(?<!\w)({'|'.join(map(re.escape, known))})(?!\w)", text)
        return [run for index, piece in enumerate(pieces) for run in self._named(piece, style, named=index % 2 == 1)]

    def _named(self, piece: str, style: Style, *, named: bool) -> Row:
        if not named:
            return said(piece, style)
        return channel(piece) if piece in self.channels else person(piece)


def spoken(text: str, most: int, names: Names = Names()) -> Row:
    """Return a sentence of ours: commands between asterisks as one types them, all else between them bold."""
    return [run for words, manner in told(_cut(text, most)) for run in names.runs(words, _STYLES[manner])]


def stressed(text: str, most: int, names: Names = Names(), style: Style = PLAIN) -> Row:
    """Return a line about something: what stands between asterisks bold, whatever it says."""
    pieces = emphasised(clean(_cut(text, most)))
    return [run for words, marked in pieces for run in names.runs(words, BOLD if marked else style)]


def in_text(text: str, most: int) -> str:
    """Return the sentence for mrkdwn: commands as one types them, nothing formatted."""
    return exact("".join(words for words, _ in told(_cut(text, most))))


def channels_in(text: str) -> tuple[str, ...]:
    """Return what in a notice looks like a channel's identifier."""
    return tuple(dict.fromkeys(_CHANNELS.findall(text)))


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a file with their spaces, made harmless otherwise."""
    for line in text.splitlines():
        yield re.sub(r"[^ ]+", lambda word: clean(word[0]), line.replace("\t", "    "))


def _cut(text: str, most: int) -> str:
    return cut(clean(text), most, units)
