"""What tells a sentence that a text bears out from one that turns it around: numbers that a small model weighs.

Numbers, words of comparison and denials are turning points: put another one in, and the claim is another. Each is looked up
in the text where its neighbours stand. When the place that fits best has the opposite (another number, the other end of the
scale, no denial), and no place with the same fits as well, the text does not bear the claim out. Neighbours are the telling
words of its sentence on either side, the nearer the weightier. Words that the text does not have count most where several
stand together, as they do in a consequence that was added.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from bot.summarise.english.sentences import split
from bot.summarise.llm.opposites import bound, denies, ends

FEATURES = (
    "number", "number's rival", "direction", "direction's rival", "denial", "denial's rival", "bound left out",
    "longest new run", "new words", "new words in the last clause", "new words at the end", "neighbours", "one sentence",
    "denial added", "denial left out", "word exchanged", "only the other end", "length",
)  # fmt: skip

_TOKEN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_](?:[^\W_]|[’'-](?=[^\W_]))*|[.,;:()—–]")
_STEM = 5  # letters by which two words count as one: optimise, optimising
_LONGER = 4  # letters of a word that can be new
_REACH = 6  # telling words on each side of a turning point
_NEAR = 4  # telling words within which two are neighbours
_DENIED, _DENIED_MOST = 5, 2  # words after a denial among which the denied ones are, and how many telling ones they are
_BORDERS = frozenset([*",;:()—–.", "and", "or", "but", "while", "whereas", "although", "though"])
_FEWEST = 3  # words of a clause that is judged
_MOST_PLACES = 200  # of one kind that are compared: hostile texts repeat themselves
_STOPPED = """
    a an the this these those that it its they their them we our us he his she her is are was were be been being has have
    had do does did can could may might must will would shall should of in on at by for from to as and or but if then than
    so such with into onto over under between within while where when which who whom whose what how why there here also both
    each other another one ones s too very out off about through via per only just up down any
"""
_STOP = frozenset(_STOPPED.split())

Floats = npt.NDArray[np.float64]
_Key = tuple[str, object]  # the kind of a turning point, and its scale or its stem


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or a sign of a sentence; `stem` is "" where it tells nothing."""

    text: str
    stem: str = ""
    figure: bool = False
    denied: bool = False
    denies: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a turning point stands: what it says, and how much each telling word beside it weighs, by its side."""

    says: object
    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(slots=True)
class Reading:
    """A text as its sentences' words, with its turning points."""

    sentences: list[list[_Word]] = field(default_factory=list)
    stems: list[frozenset[str]] = field(default_factory=list)  # of each sentence
    neighbours: set[frozenset[str]] = field(default_factory=set)
    gaps: dict[tuple[str, str], set[str]] = field(default_factory=dict)  # what stands between two telling words
    places: dict[_Key, list[_Place]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()


def read(text: str) -> Reading:
    """Return the text with its turning points."""
    reading = Reading()
    for sentence in split(text):
        words = list(_words(sentence.lower()))
        telling = [word.stem for word in words if word.stem]
        reading.sentences.append(words)
        reading.stems.append(frozenset(telling))
        for at, stem in enumerate(telling):
            reading.neighbours.update(frozenset((stem, other)) for other in telling[at + 1 : at + 1 + _NEAR])
        for one, between, other in zip(telling, telling[1:], telling[2:], strict=False):
            reading.gaps.setdefault((one, other), set()).add(between)
        for key, place in _places(words):
            found = reading.places.setdefault(key, [])
            if len(found) < _MOST_PLACES:
                found.append(place)
    reading.known = frozenset().union(*reading.stems)
    return reading


def features(claim: Reading, source: Reading) -> Floats:
    """Return a row of FEATURES per sentence of the claim."""
    rows = [_row(words, source) for words in claim.sentences]
    return np.array(rows, float).reshape(len(rows), len(FEATURES))


def _row(words: Sequence[_Word], source: Reading) -> list[float]:
    telling = [word.stem for word in words if word.stem]
    turned = {"number": (0.0, 0.0), "direction": (0.0, 0.0), "denial": (0.0, 0.0)}
    unbounded = one_ended = False
    for (kind, what), place in _places(words):
        rivals = source.places.get((kind, what), ())
        if kind == "bound":
            unbounded |= bool(rivals) and not place.says and all(rival.says for rival in rivals)
            continue
        turned[kind] = max(turned[kind], _turned(place, rivals))
        if kind == "direction":
            one_ended |= bool(rivals) and all(rival.says != place.says for rival in rivals)
    nearest = max(range(len(source.stems)), key=lambda at: len(source.stems[at] & set(telling)), default=None)
    shared = len(source.stems[nearest] & set(telling)) / max(1, len(set(telling))) if nearest is not None else 0.0
    denying, denied = (
        any(word.denies for word in words),
        nearest is not None and any(word.denies for word in source.sentences[nearest]),
    )
    pairs = [frozenset(pair) in source.neighbours or pair[0] == pair[1] for pair in pairwise(telling)]
    return [
        *turned["number"], *turned["direction"], *turned["denial"],
        float(unbounded),
        *_new(words, source.known),
        sum(pairs) / max(1, len(pairs)),
        shared,
        float(denying and not denied),
        shared * float(denied and not denying),
        float(_is_exchanged(telling, source)),
        float(one_ended),
        min(2.0, len(telling) / 15),
    ]  # fmt: skip


def _turned(place: _Place, rivals: Sequence[_Place]) -> tuple[float, float]:
    """By how much the best place that says otherwise fits better than the best that says the same, and how well it fits."""
    same = max((_fit(place, rival) for rival in rivals if rival.says == place.says), default=0.0)
    other = max((_fit(place, rival) for rival in rivals if rival.says != place.says), default=0.0)
    return (other - same, other) if other > same else (0.0, 0.0)


def _fit(one: _Place, other: _Place) -> float:
    """The share of the neighbours' weight that stands there too; on the other side it counts half."""
    total = sum(one.before.values()) + sum(one.after.values())
    if not total:
        return 0.0
    same = _common(one.before, other.before) + _common(one.after, other.after)
    crossed = _common(one.before, other.after) + _common(one.after, other.before)
    return min(1.0, (same + crossed / 2) / total)


def _common(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(min(weight, other[stem]) for stem, weight in one.items() if stem in other)


def _places(words: Sequence[_Word]) -> Iterator[tuple[_Key, _Place]]:
    telling = [(at, word) for at, word in enumerate(words) if word.stem]
    borders = list(accumulate(word.text in _BORDERS for word in words))
    stems = [(word.stem, borders[at]) for at, word in telling]
    for number, (at, word) in enumerate(telling):
        before = _weights(stems[max(0, number - _REACH) : number][::-1], borders[at])
        after = _weights(stems[number + 1 : number + 1 + _REACH], borders[at])
        if word.figure:
            lead = " ".join(["", *(each.text for each in words[max(0, at - 4) : at])])
            yield ("number", ""), _Place(word.stem, before, after)
            yield ("bound", word.stem), _Place(bound(lead), before, after)
        else:
            yield ("denial", word.stem), _Place(word.denied, before, after)
            for scale, end in ends(word.text):
                yield ("direction", scale), _Place(end, before, after)


def _weights(stems: Sequence[tuple[str, int]], borders: int) -> dict[str, float]:
    """The nearer the weightier, half beyond each border of a clause; a word that stands there twice counts once."""
    found: dict[str, float] = {}
    for at, (stem, border) in enumerate(stems):
        found.setdefault(stem, 0.5 ** abs(border - borders) / (1 + at / 2))
    return found


def _new(words: Sequence[_Word], known: frozenset[str]) -> tuple[float, float, float, float]:
    """How long the longest run of new words is, and their share among all, in the last clause and of all at the end."""
    longest = run = 0
    clause: list[bool] = []
    new: list[bool] = []
    last: list[bool] = []
    for word in words:
        if not word.text[0].isalnum() and len(clause) >= _FEWEST:
            last, clause = clause, []
        if not word.stem or word.figure or len(word.text) < _LONGER:
            continue
        is_new = word.stem not in known
        run = run + 1 if is_new else max(0, run - 2)
        longest = max(longest, run)
        new.append(is_new)
        clause.append(is_new)
    last = clause if len(clause) >= _FEWEST else last
    start, end = new[: -(len(new) // 3) or None], new[len(new) - len(new) // 3 :]
    return min(2.0, longest / 4), _share(new), _share(last), _share(end) - _share(start)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _is_exchanged(telling: Sequence[str], source: Reading) -> bool:
    """Whether a new word stands between two words between which the text has another one."""
    return any(
        between not in source.known and (one, other) in source.gaps
        for one, between, other in zip(telling, telling[1:], telling[2:], strict=False)
    )


def _words(sentence: str) -> Iterator[_Word]:
    left = most = 0
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        if text in _BORDERS:
            left = 0
            yield _Word(text)
        elif text[0].isdigit():
            left -= 1
            yield _Word(text, _plain(text), figure=True)
        elif denies(text):
            left, most = _DENIED, _DENIED_MOST
            yield _Word(text, denies=True)
        else:
            stem = "" if text in _STOP or len(text) < 2 else text[:_STEM]
            yield _Word(text, stem, denied=bool(stem) and left > 0 and most > 0)
            left, most = left - 1, most - bool(stem)


def _plain(number: str) -> str:
    plain = number.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
