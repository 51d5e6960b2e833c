"""BERT's uncased word pieces: a text as the numbers of its pieces, as the transformer was trained to read it.

Devlin et al., "BERT", 2019 (arXiv:1810.04805); the steps are those of the `tokenizers` library's BertNormalizer,
BertPreTokenizer and WordPiece, which a golden file holds this against.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

LONGEST = 256  # pieces of a text that are read, its first and last mark included: what the model was trained with

_LONGEST_WORD = 100  # characters; a longer word is unknown
_CHARACTERS = 16_384  # of a text that are looked at: 254 pieces are seldom more than 1,500
_REMEMBERED = 50_000  # words, so that the common ones are cut once
# Ideographs stand alone (as BERT's own list has it); Hangul and Kana do not.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Forms(dict[int, str]):
    """What becomes of each character of a text in its decomposed form; found when it is first asked for."""

    def __missing__(self, code: int) -> str:
        self[code] = form = _form(chr(code))
        return form


class WordPieces:
    """Cuts words into the longest pieces there are, from the left.

    `pieces` are in the order of their numbers; one that continues a word begins with ##. Of a vocabulary that was pruned, a
    word whose pieces are gone is cut into shorter ones, as long as the single characters are there.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._start, self._end, self._unknown = (self._numbers[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest = max(map(len, pieces))
        self._known: dict[str, tuple[int, ...]] = {}
        self._forms = _Forms()

    def numbers(self, text: str, longest: int = LONGEST) -> list[int]:
        """Return the numbers of the first pieces between the marks of a start and an end: at most `longest`."""
        return [self._start, *islice(self._pieces(text), longest - 2), self._end]

    def has(self, word: str) -> bool:
        """Say whether a word in small letters is one piece: then it is spelt as people spell it."""
        return word in self._numbers

    def _pieces(self, text: str) -> Iterator[int]:
        for word in unicodedata.normalize("NFD", text[:_CHARACTERS]).translate(self._forms).split():
            known = self._known.get(word)
            if known is None:
                if len(self._known) >= _REMEMBERED:
                    self._known = {}
                self._known[word] = known = tuple(self._cut(word))
            yield from known

    def _cut(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found, start = [], 0
        while start < len(word):
            number, start = self._first(word, start)
            if number is None:
                return [self._unknown]
            found.append(number)
        return found

    def _first(self, word: str, start: int) -> tuple[int | None, int]:
        """Return the longest piece that begins here, and where it ends."""
        prefix = "##" if start else ""
        for end in range(min(len(word), start + self._longest), start, -1):
            number = self._numbers.get(prefix + word[start:end])
            if number is not None:
                return number, end
        return None, start


def _form(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r":
        return " "
    if category in ("Cc", "Cf", "Co", "Cs", "Mn") or character == "\ufffd":
        return ""
    if character.isspace():
        return " "
    if _is_ideograph(ord(character)) or category[0] == "P" or (character.isascii() and not character.isalnum()):
        return f" {character} "
    return character.lower()


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in _IDEOGRAPHS)
