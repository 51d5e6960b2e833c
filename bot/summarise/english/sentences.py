"""Splits scientific text into sentences, each a piece of the text word for word.

A full stop, an exclamation or a question mark followed by white space ends a sentence, unless one of the rules in `_KEEPS`
says that it does not: abbreviations (e.g., et al., Fig. 2), initials, brackets and formulas that are still open, a next
word in lower case. Ends without white space after them (`GPUs.We`), bullets and blank lines are found separately.
Decimals, versions and URLs need no rule: nothing in them is followed by white space. Lines of keywords are left out.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that begin a sentence far more often than they follow an abbreviation inside one.
STARTERS = _words(
    """a additionally after all also although an and as at based because both but by compared despite each empirically
    experimental experiments extensive finally first for from further furthermore given hence here how however if in
    instead it its many more moreover most motivated notably on one our overall recent recently results second see several
    since some specifically such that the their then there therefore these they this those though through thus to
    together under unlike using we what when where whereas which while with without yet"""
)

# Words that begin a sentence behind a stop without white space, and may stand inside one behind an abbreviation.
_GLUED_STARTERS = STARTERS | _words("beyond built code each existing")

_NEVER = frozenset(["e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "approx", "w.r.t", "wrt", "s.t", "a.k.a", "aka", "incl"])
_TITLES = _words("Dr Prof Mr Mrs Ms St Jr Sr Gen")
_SELDOM = _words("etc al resp inc ltd corp co dept univ ca est yahoo jeopardy et u.s u.k u.s.a ph.d")
_NUMBERED = _words(
    """fig figs eq eqs eqn eqns sec secs sect ref refs tab tabs no nos vol ch chap thm lem prop def alg app p pp
    dim ver"""
)

_END = re.compile(r"([.!?…]+|[。！？]+)(?:\[\d{1,3}(?:[,–-] ?\d{1,3})*\])?[\"'”’)\]}»]*")
_NEXT = re.compile(r"[\s\"'“‘(\[{«*`_]*")
_NOT_OF_A_WORD = re.compile(r".*[^\w.&'-]", re.DOTALL)  # up to the last sign that no word has
_INITIAL = re.compile(r"(?:[A-Z]\.)*[A-Z]$")
_AFTER_NUMBERED = re.compile(r"\(?(?:\d|[IVXLC]+\b|[A-Z]\b|[A-Z]?\.?\d)")
_GLUED = re.compile(r"(?<=[a-z\])]{2})([.!?])(?=([A-Z][a-z]*)[\s,])")
_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•·‣–]|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)])\s)")
_FORMULA = re.compile(r"\$[^$\n]{1,300}\$|\\\(.{1,300}?\\\)")
_NAMED = re.compile(
    r"\b(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|describ\w+|releas\w+|call(?:ed)?|named|dubbed|termed)\s+"
    r"(?:the\s+)?([a-z][\w+-]*)(?=\s*[:,(–—])|\b(?:called|named|dubbed|termed)\s+([a-z][\w+-]*)"
)
_LISTED = re.compile(r"[-*•·‣–\s]*\(?(?:\d{1,2}|[ivx]{1,4}|[a-hA-H])[.)]|[-*•·‣–.\s]+")
# What journals print under an abstract: `Keywords: caches, memory`, `Index Terms—caches`; not `four keywords: caches`.
_KEYWORDS = re.compile(
    r"\b(?:Key ?[Ww]ords?(?: and [Pp]hrases)?|KEY ?WORDS?(?: AND PHRASES)?|Index [Tt]erms|INDEX TERMS|CCS [Cc]oncepts|"
    r"Categories and [Ss]ubject [Dd]escriptors|General [Tt]erms|(?:MSC |ACM )?[Ss]ubject [Cc]lassification)\s*"
    r"(?:[:—–]|-{1,3}(?!\w))"
)
_LONGEST_WORD = 40  # characters that are looked at before a mark
_LONGEST_BULLET = 10  # characters, with the white space around it
_LONGEST_BRACKET = 300  # characters; a bracket still open after so many is a slip of the author, not a bracket


@dataclass(frozen=True, slots=True)
class _Stop:
    """A mark that may end a sentence, and what stands around it."""

    mark: str  # without what closes after it
    word: str  # before it, lower case, without the mark
    following: str  # from the next word on, a little
    enclosed: bool  # inside a bracket or a formula
    names: frozenset[str]  # names written in lower case in this text


def _is_enclosed(stop: _Stop) -> bool:
    return stop.enclosed


def _is_abbreviation(stop: _Stop) -> bool:
    """`e.g.`, `i.e.`, `cf.`, `vs.`, `Dr.` never end a sentence; `146 ms.` does."""
    return stop.mark == "." and (stop.word.lower() in _NEVER or stop.word in _TITLES)


def _is_seldom_an_end(stop: _Stop) -> bool:
    """`et al.`, `etc.`, `U.S.`, `Yahoo!` end one only when a word follows that begins sentences."""
    return stop.mark in {".", "!"} and stop.word.lower() in _SELDOM and not _begins(stop.following)


def _is_numbered(stop: _Stop) -> bool:
    """`Fig. 2`, `Eq. (3)`, `No. 5`, `Sec. IV`."""
    return (
        stop.mark == "."
        and stop.word.lower() in _NUMBERED
        and not _begins(stop.following, but={"a", "i"})
        and bool(_AFTER_NUMBERED.match(stop.following))
    )


def _is_initial(stop: _Stop) -> bool:
    """`J. Smith`, `R. A. Fisher`, but not `of class C. We` nor `of class C. $O(n)$`."""
    named = stop.following[:1].isupper() and not _begins(stop.following)
    return stop.mark == "." and bool(_INITIAL.match(stop.word)) and named


def _goes_on_in_lower_case(stop: _Stop) -> bool:
    """The next word is in lower case, and no name (`nomp`), not mixed (`vLLM`, `k8s`), no address, no point (`(ii)`)."""
    if re.match(r"https?://\S+$|(?:[ivx]{1,4}|[a-h])\) ?[A-Z]", stop.following):
        return False
    word = re.match(r"[\w+-]*", stop.following)
    text = word.group() if word else ""
    return text[:1].islower() and text == text.lower() and text not in stop.names and not any(c.isdigit() for c in text)


def _is_followed_by_a_sign(stop: _Stop) -> bool:
    """A dash, a comma or another sign cannot begin a sentence."""
    first = stop.following[:1]
    return bool(first) and not (first.isalnum() or first in "$\\~≈<>@#+-.'\"" or ord(first) > 0x2FFF)


_PERCENT = re.compile(r"\d+(?:\.\d+)?\s?\\?%")


def _is_a_decimal_point(stop: _Stop) -> bool:
    """`77. 7%`: a slip of the author."""
    return stop.mark == "." and stop.word[-1:].isdigit() and _PERCENT.match(stop.following) is not None


_KEEPS = (
    _is_enclosed,
    _is_abbreviation,
    _is_seldom_an_end,
    _is_numbered,
    _is_initial,
    _goes_on_in_lower_case,
    _is_followed_by_a_sign,
    _is_a_decimal_point,
)


def split(text: str) -> list[str]:
    """Return the sentences of `text` in order, each exactly as it stands there, without the white space around it.

    A line of keywords is none.
    """
    return [*_split(text)]


@lru_cache(maxsize=64)  # a text's parts and its gist ask for the same
def _split(text: str) -> tuple[str, ...]:
    breaks = (match.end() for match in _BREAK.finditer(text))
    listed = (match.start() for match in _KEYWORDS.finditer(text))
    cuts = sorted({0, len(text), *_stops(text), *_glued(text), *breaks, *listed})
    pieces: list[tuple[int, int]] = []
    for start, end in itertools.pairwise(cuts):
        if (
            pieces
            and pieces[-1][1] - pieces[-1][0] <= _LONGEST_BULLET
            and _LISTED.fullmatch(text[slice(*pieces[-1])].strip())
        ):
            pieces[-1] = (pieces[-1][0], end)  # a bullet or a number belongs to what it announces
        else:
            pieces.append((start, end))
    sentences = (text[start:end].strip() for start, end in pieces)
    return tuple(sentence for sentence in sentences if sentence and not _KEYWORDS.match(sentence))


@lru_cache(maxsize=64)
def lower_case_names(text: str) -> frozenset[str]:
    """Return the names that the text introduces in lower case: `we propose nomp: …`, `a tool called jaxline`."""
    return frozenset(name for match in _NAMED.finditer(text) for name in match.groups() if name)


def _stops(text: str) -> Iterator[int]:
    enclosed = _Spans([*_brackets(text), *(match.span() for match in _FORMULA.finditer(text))])
    names = lower_case_names(text)
    for match in _END.finditer(text):
        start, end = match.span()
        spaceless = match.group()[0] in "。！？"
        if end < len(text) and not (text[end].isspace() or spaceless):
            continue
        stop = _Stop(match.group(1), _before(text, start), _after(text, end), end - 1 in enclosed, names)
        if not any(keeps(stop) for keeps in _KEEPS):
            yield end


def _before(text: str, start: int) -> str:
    """The word in front of `start`, of a long one its end; a line may end between."""
    start -= text.endswith("\n", 0, start)
    first = max(0, start - _LONGEST_WORD)
    other = _NOT_OF_A_WORD.match(text, first, start)
    return text[other.end() if other else first : start].lstrip(".'-")


def _after(text: str, end: int) -> str:
    """What follows `end` once white space and opening signs are passed over, a little of it."""
    opening = _NEXT.match(text, end, end + 40)
    start = opening.end() if opening else end
    return text[start : start + 24]


def _glued(text: str) -> Iterator[int]:
    """`GPUs.We show`: no white space, but a word that begins sentences, and no path or identifier around it."""
    for match in _GLUED.finditer(text):
        token = text[text.rfind(" ", 0, match.start()) + 1 : match.start()]
        if match.group(2).lower() in _GLUED_STARTERS and not re.search(r"[./:_@=]", token):
            yield match.end()


def _begins(following: str, but: frozenset[str] | set[str] = frozenset()) -> bool:
    word = re.match(r"[A-Za-z]+(?!\.)", following)  # not an initial: `R. A. Fisher`
    return word is not None and word.group().lower() in STARTERS - but


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """The outermost matched brackets of reasonable length."""
    opened: list[tuple[str, int]] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for match in re.finditer(r"[()\[\]{}]", text):
        sign, at = match.group(), match.start()
        if sign not in pairs:
            opened.append((sign, at))
        elif opened and opened[-1][0] == pairs[sign]:
            start = opened.pop()[1]
            if at - start <= _LONGEST_BRACKET:
                yield start, at


class _Spans:
    """Says whether a position lies inside one of several spans, which may overlap."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        index = bisect_right(self._starts, at) - 1
        return index >= 0 and at < self._ends[index]
