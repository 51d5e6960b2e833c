"""The words of a command, one after another, each with its place."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.commands.normalise import Typed, plain
from bot.commands.quoting import EXACT, exact, unjoined
from bot.errors import UsageError

_QUOTED = re.compile(r'"([^"]*)"(?=[\s.,;:!?]|$)')
_EXACTLY = re.compile(rf"{EXACT}(?=[\s.,;]|$)")
_SIGNS = ".,;:!?"  # what may follow a word in a sentence
SEVERAL_WORDS = 'A title of several words stands between quotation marks, such as "GPU systems".'
_LONGEST = 40  # characters of a word that is quoted in a sentence, or compared with those there are


class Word(NamedTuple):
    """One word: its text, without quotation marks or a sentence's signs behind it, and where it stands.

    One that was not quoted has plain dashes: a topic is found however a telephone wrote its name.
    """

    text: str
    start: int
    end: int
    key: str = ""  # what it is compared by; "" when it was quoted, so that a quoted word is never one of the grammar
    quoted: bool = False

    @property
    def option(self) -> str:
        """The key without the dashes of a shell's option; telephones make one long dash of two."""
        if not self.key.startswith("-"):
            return self.key
        bare = self.key.lstrip("-")
        return bare if bare[:1].isalpha() else self.key


@dataclass(slots=True)
class Words:
    """The cleaned text of a command and how far it has been read."""

    typed: Typed
    at: int = 0
    end: int = 0
    signs: str = field(init=False)  # the text with plain quotation marks and dashes
    _looked: tuple[int, int] = (-1, -1)  # where `peek` looked last, and
    _seen: Word | None = None  # what it saw there

    def __post_init__(self) -> None:
        self.signs = plain(self.typed.text)
        self.end = self.end or len(self.signs)

    def peek(self) -> Word | None:
        """Return the next word without stepping over it; None at the end."""
        while self.at < self.end and self.signs[self.at] == " ":
            self.at += 1
        if self._looked != (self.at, self.end):
            self._looked, self._seen = (self.at, self.end), self._look() if self.at < self.end else None
        return self._seen

    def _look(self) -> Word:
        at, sign = self.at, self.signs[self.at]
        if sign == "=" and (found := _EXACTLY.match(self.signs, at, self.end)) and (text := exact(found[0])) is not None:
            return Word(text, at, found.end(), quoted=True)
        if sign == '"' and (found := _QUOTED.match(self.signs, at, self.end)):
            return Word(self.typed.text[found.start(1) : found.end(1)].strip(), at, found.end(), quoted=True)
        blank = self.signs.find(" ", at, self.end)
        end = self.end if blank < 0 else blank
        text = unended(self.signs[at:end])
        return Word(text, at, end, text.lower())

    def next(self) -> Word | None:
        """Return the next word and step over it, and over signs of a sentence behind it; None at the end."""
        word = self.peek()
        if word is not None:
            self.at = word.end
            while word.quoted and self.at < self.end and self.signs[self.at] in _SIGNS:
                self.at += 1
        return word

    def take(self, *keys: str) -> Word | None:
        """Step over the next word when it is one of these, and return it."""
        word = self.peek()
        return self.next() if word is not None and word.option in keys else None

    def split(self, name: str) -> bool:
        """Step over `name=` when the next word begins so."""
        word = self.peek()
        if word is None or not word.option.startswith(f"{name}="):
            return False
        self.at = self.signs.index("=", word.start) + 1
        return True

    def rest(self) -> str:
        """Return all that is left, as typed, and step over it."""
        text = self.typed.text[self.at : self.end].strip()
        self.at = self.end
        return text

    def fault(self, message: str, where: Word | int | None = None, hint: str = "") -> UsageError:
        """Return the error that points at a word or position; None is the end of the text."""
        place = where.start if isinstance(where, Word) else self.end if where is None else where
        return UsageError(message, position=self.typed.origin(place), hint=hint)


def unended(text: str) -> str:
    """Return a name without a sentence's signs behind it, and without what nobody sees in it."""
    return unjoined(text.rstrip(_SIGNS) or text)


def shown(text: str) -> str:
    """Return a text of somebody's for a sentence of ours: short, and without signs that stress."""
    text = text.replace("*", "")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word that was probably meant, "" when none is near."""
    return next(iter(difflib.get_close_matches(word.lower()[:_LONGEST], list(known), 1, cutoff)), "")
