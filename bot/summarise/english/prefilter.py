"""Tells by the words of a text which of many patterns are in it, and which cannot be, so that few need be tried.

Of each pattern the shapes of its matches are derived: runs of letters, with the borders of words that are sure to stand
beside them. A text without one of these runs has no match; so does RE2's `FilteredRE2`, and Cox, "Regular Expression
Matching with a Trigram Index" (2012). Where a shape is nothing but a run and borders of words, its presence is the answer.
What a shape cannot tell (a class of signs, a look around, a repetition) stands for anything: a pattern of which that leaves
nothing is tried on every text.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

# What a shape has beside letters and signs: a border of words, a sign that parts words, the rest of a word, a digit,
# anything, and the beginning of the text.
_BORDER, _PARTS, _REST, _DIGIT, _ANY, _FIRST = "|", " ", "~", "#", "*", "^"
_UNKNOWN = frozenset([_ANY])
_OF_A_WORD = frozenset([_REST + _ANY])  # one sign of a word, whichever
_MOST_SHAPES = 1_000  # of a pattern; of more the better half is kept
_MOST_WORDS = 50_000  # in a memo, about 10 MB; then it starts afresh

_TOKENS = re.compile(r"\w+|[^\w\s]").findall
_RUN = re.compile(r"\w+")
_SIGN = re.compile(r"[^\w| ~#*^]")
_TIMES = re.compile(r"([?*+]|\{(?:\d+(?:,\d*)?|,\d+)\})[?+]?")
_NONE_TOO = re.compile(r"[?*]|\{0*[,}]")  # may be left out
_GROUP = re.compile(r"\?(?:P<\w+>|(?:-i)?:|(?P<looks><?[=!]))")

Shapes = frozenset[str]

_SYNTAX = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|.", re.DOTALL)  # an escape, a class, or one sign
_IN_BORDERS = re.compile(r"(?P<before>(?:\\b|\^)?)\(\?:(?P<ways>.*)\)(?P<behind>(?:\\b|\$)?)", re.DOTALL)


@lru_cache(maxsize=256)
def _tokens(text: str) -> list[str]:
    return _TOKENS(text)


def alternatives(pattern: str) -> list[str]:
    """Return patterns of which one is in a text where this one is: what stands between its bars."""
    ways: list[str] = []
    for way in _between_bars(pattern):
        group = _IN_BORDERS.fullmatch(way)
        inner = _between_bars(group["ways"]) if group else []
        ways += [f"{group['before']}{each}{group['behind']}" for each in inner] if group and inner else [way]
    return ways


def _between_bars(pattern: str) -> list[str]:
    """The alternatives of the pattern; none where its brackets are not its own: `a)|(b`."""
    ways, depth = [""], 0
    for sign in _SYNTAX.findall(pattern):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return []
        if sign == "|" and depth == 0:
            ways.append("")
        else:
            ways[-1] += sign
    return ways


def shapes(pattern: str) -> Shapes:
    """Return the shapes of which every match of a pattern without flags has one.

    Raises ValueError for syntax that the patterns of this room do not have.
    """
    reader = _Reader(pattern)
    found = reader.alternatives()
    if not reader.is_at_end:
        raise ValueError(f"a pattern that cannot be read: {pattern}")
    return found


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._pattern)

    def alternatives(self) -> Shapes:
        found = self._sequence()
        while self._next("|"):
            found |= self._sequence()
        return found if len(found) <= _MOST_SHAPES else _UNKNOWN

    def _next(self, sign: str) -> bool:
        here = self._pattern.startswith(sign, self._at)
        self._at += len(sign) * here
        return here

    def _sequence(self) -> Shapes:
        found = frozenset([""])
        while not self.is_at_end and self._pattern[self._at] not in "|)":
            found = _joined(found, self._repeated(self._one()))
        return found

    def _repeated(self, one: Shapes) -> Shapes:
        match = _TIMES.match(self._pattern, self._at)
        if match is None:
            return one
        self._at = match.end()
        if match[1] == "?":
            return one | {""}
        if match[1] == "*" and one == _OF_A_WORD:
            return frozenset([_REST])
        # `(?:\w+ ){0,3}`: whatever it is, a word ends there.
        more = frozenset(["", _ANY + _PARTS]) if all(shape.endswith(_PARTS) for shape in one) else _UNKNOWN
        return more if _NONE_TOO.match(match[1]) else _joined(one, more)

    def _one(self) -> Shapes:
        sign = self._pattern[self._at]
        self._at += 1
        match sign:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return self._escaped()
            case ".":
                return _UNKNOWN
            case "^":
                return frozenset([_FIRST])
            case "$":
                return frozenset([_BORDER + _ANY])
        return _literal(sign)

    def _group(self) -> Shapes:
        match = _GROUP.match(self._pattern, self._at)
        if match is not None:
            self._at = match.end()
        elif self._next("?"):
            raise ValueError(f"a group that cannot be read: {self._pattern}")
        found = self.alternatives()
        if not self._next(")"):
            raise ValueError(f"a group without an end: {self._pattern}")
        return _UNKNOWN if match and match["looks"] else found  # what a look around sees is no part of the match

    def _class(self) -> Shapes:
        match = re.compile(r"(\^?)(\]?(?:[^\]\\]|\\.)*)\]").match(self._pattern, self._at)
        if match is None:
            raise ValueError(f"a class without an end: {self._pattern}")
        self._at = match.end()
        if match[1] or "\\" in match[2] or "-" in match[2].strip("-"):
            return _UNKNOWN
        return frozenset[str]().union(*map(_literal, match[2]))

    def _escaped(self) -> Shapes:
        sign = self._pattern[self._at]
        self._at += 1
        match sign:
            case "b":
                return frozenset([_BORDER])
            case "w":
                return _OF_A_WORD
            case "s" | "W":
                return frozenset([_PARTS])
            case "d":
                return frozenset([_DIGIT])
        return _UNKNOWN if sign.isalnum() else _literal(sign)


def _literal(sign: str) -> Shapes:
    return frozenset([_PARTS if sign.isspace() or sign in "|~#*^" else sign])


def _joined(first: Shapes, then: Shapes) -> Shapes:
    if len(first) * len(then) <= _MOST_SHAPES:
        return frozenset(one + other for one in first for other in then)
    return frozenset(one + _ANY for one in first) if _least(first) >= _least(then) else frozenset(_ANY + one for one in then)


def _least(found: Shapes) -> int:
    """How long a run each of the shapes has at least."""
    return min(max(map(len, _RUN.findall(shape)), default=0) for shape in found)


# --- what is looked for in a text


class Needle(NamedTuple):
    """A run of letters, a sign or any digit (`#`), that a word of a text is to be or to have."""

    run: str
    begins: bool  # the word begins with it
    ends: bool  # the word ends with it
    first: bool  # the text begins with the word
    decides: bool  # such a word is a match


_TELLING = 3  # letters; a digit tells more than a shorter run


def needles(pattern: str) -> frozenset[Needle] | None:
    """Return of what each match of the pattern has one; None where it may have none of them."""
    found = [_needle(shape) for shape in shapes(pattern)]
    return frozenset(each for each in found if each is not None) if None not in found else None


def _needle(shape: str) -> Needle | None:
    found = [_needle_at(shape, match) for match in _RUN.finditer(shape)]
    best = max(found, key=lambda one: (one.first, len(one.run) + one.begins + one.ends, one), default=None)
    if best is None or (len(best.run) < _TELLING and not best.first):
        if _DIGIT in shape:
            return Needle(_DIGIT, begins=False, ends=False, first=False, decides=shape == _DIGIT)
        sign = _SIGN.search(shape)
        if best is None and sign:
            return Needle(sign.group(), begins=True, ends=True, first=False, decides=False)
    return best


def _needle_at(shape: str, match: re.Match[str]) -> Needle:
    before, behind = shape[: match.start()], shape[match.end() :]
    begins, ends = before[-1:] not in _OPEN, behind[:1] not in _OPEN
    decides = before in ("", _BORDER) and behind in ("", _BORDER, _REST, _REST + _BORDER)
    return Needle(match.group(), begins, ends, before == _FIRST, decides)


_OPEN = ("", _ANY, _REST, _DIGIT)  # beside a run, what may go on with its word


class _Index(dict[str, int]):
    """What a word says of the patterns, worked out once: the same few words make up most of every text.

    A bit per pattern of which a match may have the word, behind these a bit per pattern of which it is a match.
    """

    def __init__(self, found: Sequence[frozenset[Needle]]) -> None:
        super().__init__()
        self._whole: dict[str, int] = defaultdict(int)
        self._begins: dict[str, int] = defaultdict(int)
        self._ends: dict[str, int] = defaultdict(int)
        self._inside: dict[str, int] = defaultdict(int)
        for at, each in enumerate(found):
            for needle in each:
                self._kind(needle)[needle.run] |= 1 << at | needle.decides << at + len(found)
        self._digit = self._inside.pop(_DIGIT, 0)
        self._lengths = [(kind, sorted({*map(len, kind)})) for kind in (self._begins, self._ends)]

    def _kind(self, needle: Needle) -> dict[str, int]:
        if needle.begins:
            return self._whole if needle.ends else self._begins
        return self._ends if needle.ends else self._inside

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_WORDS:
            self.clear()
        bits = self._whole.get(word, 0)
        (begins, lengths), (ends, others) = self._lengths
        for length in lengths:
            bits |= begins.get(word[:length], 0)
        for length in others:
            bits |= ends.get(word[-length:], 0)
        if self._digit and any(map(str.isdecimal, word)):
            bits |= self._digit
        for run, of in self._inside.items():
            if run in word:
                bits |= of
        self[word] = bits
        return bits


class Prefiltered:
    """Patterns without flags that are tried on a text together, each by those of its alternatives that may be there."""

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        each = [alternatives(pattern.pattern) for pattern in patterns]
        self._count = len(each)
        self._of = [at for at, ways in enumerate(each) for _ in ways]
        self._ways = [re.compile(way) for ways in each for way in ways]
        self._all = (1 << len(self._ways)) - 1
        self._others = [sum(1 << at for at, of in enumerate(self._of) if of != each) for each in range(self._count)]
        found = [needles(way.pattern) for way in self._ways]
        self._always = sum(1 << at for at, one in enumerate(found) if one is None)
        self._first = _Index([frozenset(one for one in run or () if one.first) for run in found])
        self._anywhere = _Index([frozenset(one for one in run or () if not one.first) for run in found])

    def found(self, text: str) -> list[bool]:
        """Return for each pattern whether it is in the text."""
        tokens = _tokens(text)
        may = self._always | (self._first[tokens[0]] if tokens else 0)
        index = self._anywhere
        for token in tokens:
            may |= index[token]
        surely = may >> len(self._ways)
        found = [False] * self._count
        may &= self._all
        while surely:
            of = self._of[(surely & -surely).bit_length() - 1]
            found[of] = True
            surely &= self._others[of]
            may &= self._others[of]
        while may:
            bit = may & -may
            at = bit.bit_length() - 1
            if self._ways[at].search(text):
                found[self._of[at]] = True
                may &= self._others[self._of[at]]
            else:
                may ^= bit
        return found


class _Read(NamedTuple):
    """A text: the bits of the patterns that may be in it, and itself in lower case; "" where that is not certain."""

    bits: int
    lowered: str


class Screens:
    """Patterns that are tried on the same texts, one after the other; flags may let them ignore case."""

    def __init__(self) -> None:
        self._patterns: list[str] = []
        self._index: tuple[int, _Index] | None = None
        self.read = lru_cache(maxsize=256)(self._read)

    def add(self, pattern: str) -> int:
        """Return the bit of one more pattern."""
        self._patterns.append(pattern)
        self._index = None
        self.read.cache_clear()
        return 1 << len(self._patterns) - 1

    def _read(self, text: str) -> _Read:
        lowered = text.lower()
        if not text.isascii() and (len(lowered) != len(text) or not _ODD.isdisjoint(text)):
            return _Read(-1, "")
        always, index = self._index = self._index or self._indexed()
        for token in _tokens(lowered):
            always |= index[token]
        return _Read(always, lowered)

    def _indexed(self) -> tuple[int, _Index]:
        """What is tried on any text, and what the words in lower case say of the others."""
        found = [needles(pattern) for pattern in self._patterns]
        anywhere = [frozenset(one._replace(run=one.run.lower(), first=False) for one in each or ()) for each in found]
        return sum(1 << at for at, each in enumerate(found) if each is None), _Index(anywhere)


_ROOM = Screens()  # those of this room; their texts are the same sentences
_ODD = frozenset("ſıİ")  # what a pattern that ignores case may take for s and i, and `lower` does not
_WRITTEN = re.compile(r"\\.|\(\?P<\w+>|[A-Z]")


def _in_lower_case(pattern: str, flags: int) -> re.Pattern[str] | None:
    """A pattern that finds in a text in lower case what this one, ignoring case, finds in the text; None where none does.

    `re` tries each letter of a pattern that ignores case by a slower way, and each of its alternatives.
    """
    odd = "(?-i" in pattern or any(not sign.isascii() and sign.isalpha() for sign in pattern)
    if odd or not flags & re.IGNORECASE:
        return None
    written = _WRITTEN.sub(lambda sign: sign[0].lower() if len(sign[0]) == 1 else sign[0], pattern)
    return re.compile(written, flags & ~re.IGNORECASE)


class Screened:
    """A pattern that is tried only on a text that has a word of a match; its methods are those of a compiled one."""

    def __init__(self, pattern: str, flags: int = 0, among: Screens = _ROOM) -> None:
        self._pattern = re.compile(pattern, flags)
        self._lowered = _in_lower_case(pattern, flags)
        self._bit = among.add(pattern)
        self._read = among.read

    def _may_have(self, text: str) -> bool:
        read = self._read(text)
        return read.bits & self._bit != 0 and (
            self._lowered is None or not read.lowered or self._lowered.search(read.lowered) is not None
        )

    def is_in(self, text: str) -> bool:
        """Say whether there is a match."""
        read = self._read(text)
        if self._lowered is not None and read.lowered:
            return read.bits & self._bit != 0 and self._lowered.search(read.lowered) is not None
        return read.bits & self._bit != 0 and self._pattern.search(text) is not None

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """Return the first match; within a span it is tried without regard to the words."""
        return self._pattern.search(text, *span) if span or self._may_have(text) else None

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """Return the match at the beginning."""
        if span or self._lowered is None:
            return self._pattern.match(text, *span) if span or self._read(text).bits & self._bit else None
        read = self._read(text)
        if not read.bits & self._bit or (read.lowered and not self._lowered.match(read.lowered)):
            return None
        return self._pattern.match(text)

    @property
    def bit(self) -> int:
        """The bit of the pattern among those that its texts are read for."""
        return self._bit

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches."""
        return self._pattern.finditer(text) if self._may_have(text) else iter(())

    def findall(self, text: str) -> list[str]:
        """Return what the matches are, or their groups."""
        return self._pattern.findall(text) if self._may_have(text) else []

    def sub(self, instead: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with something else in place of the matches."""
        return self._pattern.sub(instead, text) if self._may_have(text) else text


class AnyScreened:
    """A pattern of many alternatives, of which only those are tried on a text that have a word in it."""

    def __init__(self, pattern: str, flags: int = 0, among: Screens = _ROOM) -> None:
        each = [Screened(way, flags, among) for way in alternatives(pattern)]
        self._each = {one.bit: one for one in each}
        self._bits = sum(self._each)
        self._read = among.read

    def is_in(self, text: str) -> bool:
        """Say whether there is a match."""
        bits = self._read(text).bits & self._bits
        while bits:
            bit = bits & -bits
            if self._each[bit].is_in(text):
                return True
            bits ^= bit
        return False
