"""What a text says that its abbreviations stand for: "Retrieval-Augmented Generation (RAG)". Pure.

A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text", Pacific
Symposium on Biocomputing 2003: read backwards, the letters of the abbreviation must be found in the words before it, the
first of them at the beginning of a word.
"""

import re
from collections.abc import Iterator

from bot.models import Item
from bot.query.fold import indexed

Spelt = tuple[str, str]  # an abbreviation and what it stands for, both folded

_BRACKETS = re.compile(r"\(([^()]{2,80})\)")
_BEFORE = 120  # characters before a bracket that are looked at
_SHORT = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,8}[A-Za-z0-9]?")
_PLURAL = re.compile(r"(?<=[A-Z])s$")
_WORDS = 8  # of what an abbreviation stands for, at most
_READ = 4000  # characters of a text


def abbreviations_in(item: Item) -> tuple[Spelt, ...]:
    """Return what the title and the abstract say of abbreviations, each once."""
    found = (pair for text in (item.title, item.abstract[:_READ]) if "(" in text for pair in _defined(text))
    return tuple(dict.fromkeys(found))


def _defined(text: str) -> Iterator[Spelt]:
    for match in _BRACKETS.finditer(text):
        before = re.split(r"[()]", text[max(0, match.start() - _BEFORE) : match.start()])[-1].rstrip()
        inside = match[1].strip()
        short, long = (inside, before) if _is_short(inside) else (before.split()[-1] if before.split() else "", inside)
        if not _is_short(short):
            continue
        words = _spelt_out(_PLURAL.sub("", short), long, whole=long is inside)
        folded = indexed(_PLURAL.sub("", short)).split(), indexed(words.replace("-", " ")).split()
        if words and len(folded[0]) == 1 and 2 <= len(folded[1]) <= _WORDS:
            yield folded[0][0], " ".join(folded[1])


def _is_short(text: str) -> bool:
    return bool(_SHORT.fullmatch(text)) and sum(map(str.isupper, text)) >= 2


def _spelt_out(short: str, long: str, *, whole: bool) -> str:
    """Return the end of the text that the abbreviation stands for, "" where for none; the `whole` text or nothing."""
    letters = [letter for letter in short.lower() if letter.isalnum()]
    words = long.split()
    most = min(len(letters) + 5, 2 * len(letters))
    text = " ".join(words[-most:])
    place = len(text)
    for at in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and not (text[place].lower() == letters[at] and (at or not place or not text[place - 1].isalnum())):
            place -= 1
        if place < 0:
            return ""
    found = text[place:]
    return "" if (whole and place) or short.lower() in found.lower().split() else found
