"""Keeps a long sentence short by cutting at a clause border, where nothing that a reader needs stands behind it.

A tail goes only with all its figures and names left in front: a number, or a word with a capital, that stands nowhere in
what is kept, holds the tail. What limits the sentence (`if`, `unless`, `when`) is no border. What follows from it
(`, enabling …`) may go from any long sentence; what stands beside it (`, which …`) from one of more than 45 words; what
turns against it (`, but …`) from such a one too, and leaves an ellipsis.
"""

import re

LONGEST = 45  # words of one sentence; the mean of an abstract's sentences is about 22
_SHORTEST = 12  # words that a cut leaves at least
_ENOUGH = 0.4  # of the words that a cut leaves at least: more gone would be another sentence

# What follows from the sentence, or is meant to; and, in a sentence that is too long at any rate, what is said beside it.
_FOLLOWS = re.compile(
    r", (?=(?:(?:and )?(?:thereby|thus|hence|so that|making|enabling|leading|resulting|allowing|ensuring|"
    r"providing|yielding|"
    r"offering|achieving|facilitating|improving|reducing|demonstrating|highlighting|showing|paving|creating|"
    r"underscoring|"
    r"supporting|which (?:enables|allows|makes|leads|helps|improves|reduces|ensures))|with the (?:aim|goal)|"
    r"in order to)\b)"
)
_BESIDE = re.compile(rf"; |\s[—–]\s|, (?=(?:which|where|as well as|while \w+ing|without \w+ing)\b)|{_FOLLOWS.pattern}")
_TURNS = re.compile(r", (?=(?:while|whereas|although|though|but|yet|because|since)\b)")
_COUNTED = re.compile(r"\b(?:then|second|finally)\b|\((?:ii|2|b)\)")  # the kept part would count to one
_LISTED = re.compile(r"\b(?:two|three|four|five|six|seven|several|following)\b[^:;]*:\s")  # the kept part would say how many
_DASH = re.compile(r"\s(?:[–—-]|--)\s")
_NOT = re.compile(r"\b(?:not|no|nor|less|only)\b|n't\b")
_NEAR = 60  # characters
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z])\w+")


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return the sentence with at most `longest` words where a border allows it, otherwise as short as one does."""
    if len(text.split()) <= longest:
        return text
    text = _cut(text, longest, _FOLLOWS, ".")
    for border, mark in ((_BESIDE, "."), (_TURNS, " …")):
        text = _cut(text, LONGEST, border, mark) if len(text.split()) > LONGEST else text
    return text


def _cut(text: str, longest: int, border: re.Pattern[str], mark: str) -> str:
    places = [match.start() for match in border.finditer(text) if _may_cut(text, match.start()) and not _denies(text, match)]
    fitting = [at for at in places if len(text[:at].split()) <= longest]
    at = max(fitting, default=min(places, default=None))
    return text if at is None else f"{text[:at].rstrip(' ,;')}{mark}"


def _denies(text: str, border: re.Match[str]) -> bool:
    """`It is not the size, but …`: without what follows, the sentence says the least of it."""
    return (
        text.startswith("but", border.end())
        and _NOT.search(text, max(0, border.start() - _NEAR), border.start()) is not None
    )


def _may_cut(text: str, at: int) -> bool:
    kept, tail = text[:at], text[at:]
    words = len(kept.split())
    return (
        words >= max(_SHORTEST, _ENOUGH * len(text.split()))
        and not _COUNTED.search(tail)
        and not (";" in tail and _LISTED.search(kept))
        and not _in_a_pair(kept, tail)
        and set(_NUMBER.findall(tail)) <= set(_NUMBER.findall(kept))
        and set(_NAME.findall(tail)) <= set(_NAME.findall(kept))
        and all(kept.count(opened) == kept.count(closed) for opened, closed in ("()", "[]", "{}", "“”"))
    )


def _in_a_pair(kept: str, tail: str) -> bool:
    """Whether the cut is at one of two dashes or between them: behind the second, what stands before the first goes on."""
    before, after = len(_DASH.findall(kept)), len(_DASH.findall(tail))
    return after > 0 and (before % 2 == 1 or (after > 1 and _DASH.match(tail) is not None))
