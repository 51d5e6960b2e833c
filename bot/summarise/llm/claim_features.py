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
from itertools import accumulate, islice, pairwise

import numpy as np
import numpy.typing as npt

from bot.summarise.english.sentences import split
from bot.summarise.llm.comparisons import Comparison, against, comparisons, own_names, renamed
from bot.summarise.llm.number_words import FACTORS, NUMBERS, SHARES
from bot.summarise.llm.opposites import bound, denies, ends, extent, harms, undenied

FEATURES = (
    "number", "number's rival", "direction", "direction's rival", "denial", "denial's rival", "bound left out",
    "longest new run", "new words", "new words in the last clause", "new words at the end", "neighbours", "one sentence",
    "denial added", "denial left out", "word exchanged", "only the other end", "length", "number nearby",
    "direction nearby", "denial nearby", "extent left out", "extent's rival", "extent widened", "bound turned",
    "parties exchanged", "parties never compared", "clauses crossed",
)  # fmt: skip

_TOKEN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_](?:[^\W_]|[’'-](?=[^\W_]))*|[.,;:()—–]")
_FIGURES = NUMBERS | FACTORS | SHARES  # words that are figures
_RANGED, _SPAN = "range", "span"  # 5-7 %; from 5 to 7, which may be a change from one to the other
_BETWEEN = {_RANGED: re.compile(r"\s?%?\s?[-–—]\s?"), _SPAN: re.compile(r"\s?[%×x]?\s(?:to|and)\s")}
_STEM = 5  # letters by which two words count as one: optimise, optimising
_LONGER = 4  # letters of a word that can be new
_REACH, _NEARBY = 6, 2  # telling words on each side of a turning point, and the nearest
_NEAR = 4  # telling words within which two are neighbours
_DENIED, _DENIED_MOST = 5, 2  # words after a denial among which the denied ones are, and how many telling ones they are
_BORDERS = frozenset([*",;:()—–.", "and", "or", "but", "while", "whereas", "although", "though"])
_EXTENT = 3  # words after one that says of how much something holds
_FEWEST = 3  # words of a clause that is judged
_MOST_COMPARED = 20  # comparisons of a sentence
_WHOLE = "whole"
_TURNS = (
    "number", "direction", "denial", "unbounded", "one-ended", "extent", "widened", "rebounded",
    "number nearby", "direction nearby", "denial nearby",
)  # fmt: skip
_SUBJECT = 1  # telling words with which a clause begins: what it is about
_GAP, _APART = 3, 40  # telling words that the border of a clause, and of a sentence, counts for
_FAR = 6  # telling words by which a word stands clearly nearer to another subject
_MOST_POSITIONS = 12
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
    extent: str = ""
    ranged: str = ""  # what a figure is an end of: _RANGED or _SPAN


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
    tells_of_all: bool = False  # somewhere
    own: frozenset[str] = frozenset()  # stems of the names of what the text proposes
    compared: list[Comparison] = field(default_factory=list)
    positions: dict[str, list[int]] = field(default_factory=dict)  # in telling words; borders of clauses are gaps


def read(text: str) -> Reading:
    """Return the text with its turning points."""
    reading = Reading()
    position = 0
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
        position = _positioned(words, position + _APART, reading.positions)
        reading.compared += _compared(words)
    reading.known = frozenset().union(*reading.stems)
    reading.tells_of_all = any(extent(word.text) == _WHOLE for words in reading.sentences for word in words)
    reading.own = frozenset(_stem(name) for name in own_names(text))
    reading.compared = [renamed(each, reading.own) for each in reading.compared]
    return reading


def features(claim: Reading, source: Reading) -> Floats:
    """Return a row of FEATURES per sentence of the claim."""
    rows = [_row(words, source) for words in claim.sentences]
    return np.array(rows, float).reshape(len(rows), len(FEATURES))


def _row(words: Sequence[_Word], source: Reading) -> list[float]:
    telling = [word.stem for word in words if word.stem]
    nearest = max(range(len(source.stems)), key=lambda at: len(source.stems[at] & set(telling)), default=None)
    shared = len(source.stems[nearest] & set(telling)) / max(1, len(set(telling))) if nearest is not None else 0.0
    added, left_out = _denials(words, source.sentences[nearest] if nearest is not None else ())
    pairs = [frozenset(pair) in source.neighbours or pair[0] == pair[1] for pair in pairwise(telling)]
    turned = _turns(words, source)
    return [
        *turned["number"], *turned["direction"], *turned["denial"],
        turned["unbounded"][0],
        *_new(words, source.known),
        sum(pairs) / max(1, len(pairs)),
        shared,
        added,
        shared * left_out,
        float(_is_exchanged(telling, source)),
        turned["one-ended"][0],
        min(2.0, len(telling) / 15),
        turned["number"][0] and turned["number nearby"][0], turned["direction nearby"][0], turned["denial nearby"][0],
        *turned["extent"], turned["widened"][0], turned["rebounded"][0],
        *_parties(words, source),
        _clauses_crossed(words, source),
    ]  # fmt: skip


def _denials(words: Sequence[_Word], told: Sequence[_Word]) -> tuple[float, float]:
    """How far a sentence denies what the nearest one of the text says, and says what that one denies, from 0 to 1.

    Half where only other words than theirs are denied.
    """
    denied, said = ({word.stem: word.denied for word in each if word.stem} for each in (words, told))
    added = any(is_denied and said.get(stem) is False for stem, is_denied in denied.items())
    left_out = any(is_denied and denied.get(stem) is False for stem, is_denied in said.items())
    denying, told_denying = (any(word.denies or word.denied for word in each) for each in (words, told))
    return (
        1.0 if added and not told_denying else 0.5 if denying and not told_denying else 0.0,
        1.0 if left_out and not denying else 0.5 if told_denying and not denying else 0.0,
    )


def _turns(words: Sequence[_Word], source: Reading) -> dict[str, tuple[float, float]]:
    """What the sentence's turning points say against it, the worst of each kind."""
    found = dict.fromkeys(_TURNS, (0.0, 0.0))

    def note(kind: str, one: tuple[float, float]) -> None:
        found[kind] = max(found[kind], one)

    for (kind, what), place in _places(words):
        rivals = source.places.get((kind, what), ())
        if kind == "bound":
            bounded = bool(rivals) and all(rival.says not in {"", _SPAN} for rival in rivals)
            note("unbounded", (float(bounded and not place.says), 0.0))
            note("rebounded", (float(_is_rebounded(place, rivals)), 0.0))
        elif kind == "extent":
            if not place.says:
                note("extent", _turned(place, [rival for rival in rivals if rival.says != _WHOLE]))
            elif place.says == _WHOLE and not source.tells_of_all:
                note("widened", (max((_fit(place, rival) for rival in rivals), default=0.0), 0.0))
        else:
            note(kind, _turned(place, rivals))
            note(f"{kind} nearby", _turned(place, rivals, nearby=True))
            if kind == "direction":
                note("one-ended", (float(bool(rivals) and all(rival.says != place.says for rival in rivals)), 0.0))
    return found


def _is_rebounded(place: _Place, rivals: Sequence[_Place]) -> bool:
    """Whether a figure is bounded from one side and everywhere in the text from the other."""
    sides = {"at most", "at least"}
    return place.says in sides and bool(rivals) and all(rival.says in sides - {place.says} for rival in rivals)


def _compared(words: Sequence[_Word]) -> list[Comparison]:
    return list(comparisons([word.text for word in words], [word.stem for word in words]))


def _parties(words: Sequence[_Word], source: Reading) -> tuple[float, float]:
    """How far the text tells a comparison of the sentence the other way around, and whether it does not know one."""
    found = [against(renamed(each, source.own), source.compared) for each in _compared(words)[:_MOST_COMPARED]]
    return max((each for each, _ in found), default=0.0), max((each for _, each in found), default=0.0)


def _positioned(words: Sequence[_Word], start: int, positions: dict[str, list[int]]) -> int:
    """Add where each telling word of a sentence stands, and return where it ends."""
    at = start
    for word in words:
        at += _GAP if word.text in _BORDERS else bool(word.stem)
        if word.stem:
            found = positions.setdefault(word.stem, [])
            if len(found) < _MOST_POSITIONS:
                found.append(at)
    return at


def _clauses(words: Sequence[_Word]) -> Iterator[list[str]]:
    clause: list[str] = []
    for word in words:
        if word.text in _BORDERS:
            yield clause
            clause = []
        elif word.stem:
            clause.append(word.stem)
    yield clause


def _clauses_crossed(words: Sequence[_Word], source: Reading) -> float:
    """How far two clauses that follow each other have each what the text tells of the other's subject, from 0 to 1.

    "A has x, while B has y" of a text that says "A has y, while B has x": in the text, x stands nearer to B.
    """
    clauses = [[stem for stem in dict.fromkeys(clause) if stem in source.positions] for clause in _clauses(words)]
    long = [clause for clause in clauses if len(clause) > _SUBJECT]
    return max((_exchanged_subjects(one, other, source.positions) for one, other in pairwise(long)), default=0.0)


def _exchanged_subjects(one: list[str], other: list[str], positions: Mapping[str, list[int]]) -> float:
    common = {*one} & {*other}
    first, second = [[stem for stem in side[:_SUBJECT] if stem not in common] for side in (one, other)]
    if not first or not second:
        return 0.0
    gained = [
        [
            _distance(stem, mine, positions) - _distance(stem, theirs, positions)
            for stem in side[_SUBJECT:]
            if stem not in common
        ]
        for side, mine, theirs in ((one, first, second), (other, second, first))
    ]
    if not all(gained):
        return 0.0
    shares = [sum(max(-1.0, min(1.0, each / _FAR)) for each in side) / len(side) for side in gained]
    return max(0.0, min(shares))


def _distance(stem: str, subject: Sequence[str], positions: Mapping[str, list[int]]) -> int:
    return min(abs(at - place) for at in positions[stem] for word in subject for place in positions[word])


def _turned(place: _Place, rivals: Sequence[_Place], *, nearby: bool = False) -> tuple[float, float]:
    """By how much the best place that says otherwise fits better than the best that says the same, and how well it fits."""
    fit = _fit_nearby if nearby else _fit
    same = max((fit(place, rival) for rival in rivals if rival.says == place.says), default=0.0)
    other = max((fit(place, rival) for rival in rivals if rival.says != place.says), default=0.0)
    return (other - same, other) if other > same else (0.0, 0.0)


def _fit(one: _Place, other: _Place) -> float:
    """The share of the neighbours' weight that stands there too; on the other side it counts half."""
    total = sum(one.before.values()) + sum(one.after.values())
    if not total:
        return 0.0
    same = _common(one.before, other.before) + _common(one.after, other.after)
    crossed = _common(one.before, other.after) + _common(one.after, other.before)
    return min(1.0, (same + crossed / 2) / total)


def _fit_nearby(one: _Place, other: _Place) -> float:
    """The share of the nearest telling words that stand near it there too, on whichever side."""
    mine = {*islice(one.before, _NEARBY), *islice(one.after, _NEARBY)}
    near = {*islice(other.before, _NEARBY + 1), *islice(other.after, _NEARBY + 1)}
    return len(mine & near) / len(mine) if mine else 0.0


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
            yield ("bound", word.stem), _Place(bound(lead) or word.ranged, before, after)
        else:
            yield ("denial", word.stem), _Place(word.denied, before, after)
        yield ("extent", word.stem), _Place(word.extent, before, after)
        for scale, end in () if word.text[0].isdigit() else ends(word.text):
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
    left = most = reach = 0
    held = ""
    for text, ranged in _tokens(sentence):
        left, reach = (0, 0) if text in _BORDERS else (left, reach)
        said = held if reach > 0 else ""
        if text in _BORDERS:
            yield _Word(text)
            continue
        if text[0].isdigit() or text in _FIGURES:
            yield _Word(text, _plain(_FIGURES.get(text, text)), figure=True, extent=said, ranged=ranged)
            left -= 1
        elif denies(text):
            left, most = _DENIED, _DENIED_MOST
            yield _Word(text, denies=True)
        else:
            stem = "" if text in _STOP or len(text) < 2 else _stem(undenied(text) or text)
            denied = bool(stem) and (bool(undenied(text)) != (left > 0 and most > 0))
            yield _Word(text, stem, denied=denied, extent=said if stem else "")
            left, most = (0, 0) if harms(text) else (left - 1, most - bool(stem))
        held, reach = (extent(text), _EXTENT) if extent(text) else (held, reach - 1)


def _tokens(sentence: str) -> Iterator[tuple[str, str]]:
    """Each word, figure or sign, and what a figure is one end of: the signs between the ends are left out."""
    found = [match for match in _TOKEN.finditer(sentence) if not _is_range_sign(sentence, match)]
    figures = [(at, match) for at, match in enumerate(found) if match.group()[0].isdigit()]
    ranged = [""] * len(found)
    for (one, before), (other, after) in pairwise(figures):
        kind = next((kind for kind, sign in _BETWEEN.items() if sign.fullmatch(sentence, before.end(), after.start())), "")
        if kind:
            ranged[one], ranged[other] = ranged[one] or kind, kind
    for match, kind in zip(found, ranged, strict=True):
        yield match.group(), kind


def _is_range_sign(sentence: str, match: re.Match[str]) -> bool:
    return (
        match.group() in "–—"
        and sentence[match.start() - 1 : match.start()].isdigit()
        and sentence[match.end() : match.end() + 1].isdigit()
    )


def _stem(word: str) -> str:
    """The beginning of a word, without the s of plurals and verbs."""
    return (word[:-1] if len(word) > _LONGER - 1 and word[-1] == "s" and word[-2] not in "su" else word)[:_STEM]


def _plain(number: str) -> str:
    plain = number.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
