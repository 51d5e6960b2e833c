"""Learns to tell a sentence that a text bears out from one that was corrupted: what `bot.summarise.llm.claims` reads.

True ones: sentences of papers of arXiv (metadata CC0), whole and cut short at a comma; and the summaries that people wrote
for SciTLDR's part for training (Cachola et al., 2020; Apache-2.0), each with the abstract of its paper: they may say what
only the paper says. Each is corrupted in the ways below, which are not those of `benchmarks/quality/corruptions.py`: other
verbs are denied, by other words; the opposites are those that the program knows; what is appended are last clauses of other
abstracts, of any kind. Sentences of papers are learned in other words, too, true and corrupted: a model that summarises does
not copy.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bot.summarise.english.sentences import split
from bot.summarise.llm.claim_features import FEATURES, Floats, Reading, features, read
from bot.summarise.llm.claims import Judge
from bot.summarise.llm.opposites import other_ends
from training.claims_in_other_words import reworded
from training.lbfgs import Vector, minimise
from training.sources import Sources

LAST = "2026-02-01"  # no paper that was seen from here on is learned from
_EACH = 100  # one of so many papers
_SHORTEST = 300  # characters of an abstract
_SENTENCES = 3  # of each paper
_HIDDEN = 12
_TRUE = 2.0  # how much a true sentence counts; a corrupted one 1
_WRITTEN = 2.0  # how much more what a person wrote counts, and its corruptions
_PENALTY = 2.0
_STEPS = 400
_SEED = 5
_DIGITS = 3
_REFUSED = 0.03  # of the true summaries that people wrote: there lies the bar

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?(?!\w|[.,]\d)")
_BEFORE_VERB = re.compile(r"\b(?:is|are|was|were|can|may|will|has|have|be|to)\b(?= [a-z])")
_VERB = re.compile(r"(?<=[a-z] )([a-z]{3,}[^\Ws])s(?= (?:the|a|an|that|to|by|on|in|with|over|all|both|better|more)\b)")
_DENIAL = re.compile(r"\b(?:not |never |no |without |hardly )")
_DENIABLE = "available|known|stable|seen|reliable|consistent|sufficient|accurate|compatible"
_DENIED = (
    (re.compile(r"\b(is|are|was|were|does|do|did|can|could|will|would|has|have) not\b"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\b(?:fails?|unable) to\b"), "manages to"),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"\b(?:no longer |not |never |no )"), ""),
    (re.compile(r"\blacks?\b"), "has"),
    (re.compile(rf"\b(?:un|in)(?=(?:{_DENIABLE})\b)"), ""),
)
_BOUND = re.compile(
    r"\b(?:up to|at least|at most|more than|less than|only|as much as|fewer than|over|nearly|about|on average,?"
    r"|an average of|a maximum of) (?=\d)"
    r"|,? on average\b"
    r"|\b(?:in part|in many cases|to some extent|potentially|often|mostly|typically|generally|usually|largely|sometimes"
    r"|partially|may|might|some|several|most|many) "
    r"|(?<=\d)[\d.]*%?\s?[-–]\s?(?=\d)"
)
_PARTLY = re.compile(r"\b(?:some|most|many|several|often|sometimes|typically|usually|three|two|four)\b")
_WHOLLY = {"often": "always", "sometimes": "always", "typically": "always", "usually": "always"}
_SIDE = r"(?:(?!that |which |shows? )[^\s,;:().]+ ){1,6}?"
_OTHER_SIDE = r"(?P<other>[^,;:().]+?)(?= (?:in|on|by|at|for|across|with|while|and|under|when)\b|[,;:().]|$)"
_BEFORE_SIDE = r"(?:^|(?<=, )|(?<=\bthat )|(?<=\bthat, )|(?<=; ))"
_BEATS = re.compile(
    rf"{_BEFORE_SIDE}(?P<one>{_SIDE})(?P<verb>(?:(?:can|could|may) )?(?:\w+ly )?"
    rf"(?:outperform|surpass|exceed|beat|underperform)s?(?:ed)?) {_OTHER_SIDE}"
)
_THAN = re.compile(
    rf"{_BEFORE_SIDE}(?P<one>{_SIDE})(?P<verb>(?:is|are|was|has|have|achieves?|shows?|yields?|provides?|reaches|"
    rf"obtains?|requires?|needs?|improves?|reduces?|uses?|gives?|runs?|performs?)\b"
    rf"[^,;:().]*? (?:than|compared (?:to|with)|relative to))"
    rf" {_OTHER_SIDE}"
)
_SUBJECT = r"(?:the |an? )?(?!(?:we|it|they|this|these|our|in|to|by|for|is|are|can|has|have|which|thus|also)\b)[\w-]{3,}"
_CLAUSES = re.compile(
    rf"^(?P<one>{_SUBJECT}) (?P<first>[^,;]{{12,}})(?P<joint>[,;] (?:(?:while|whereas|and|but) )?)"
    rf"(?P<other>{_SUBJECT}) (?P<second>[^,;]{{12,}})$",
    re.IGNORECASE,
)
_WITH_UNIT = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?\s?(?:%|×|x\b|times\b|percent\b)")


class Told(NamedTuple):
    """What is said of a text, and whether a person wrote it."""

    said: str
    source: str
    written: bool


class Case(NamedTuple):
    """A sentence's row of features, how much it counts, and whether it was corrupted."""

    row: Floats
    weight: float
    is_wrong: bool
    written: bool


Corrupt = Callable[[Told, Sequence[str], random.Random], str | None]  # with clauses of other texts; None where it cannot be


def build(sources: Sources, target: Path) -> None:
    """Learn from the corpora and from SciTLDR's part for training, and write the network to `target`."""
    told = [*extracts(sources.papers()), *summaries(sources.quality("scitldr_a.train"))]
    write(learn(list(cases(told))), target)


def extracts(papers: Iterator[Mapping[str, Any]]) -> Iterator[Told]:
    """Yield what may be said of some of the papers in their own words: sentences, and what stands before a last comma."""
    for at, paper in enumerate(papers):
        if at % _EACH or len(paper["abstract"]) < _SHORTEST or paper.get("first_seen", "") >= LAST:
            continue
        sentences = split(paper["abstract"])
        first = at // _EACH % len(sentences)
        for said in (sentences[first:] + sentences[:first])[:_SENTENCES]:
            said = " ".join(said.split())
            for told in dict.fromkeys((said, said.rpartition(", ")[0] or said)):
                yield Told(told, f"{paper['title']}\n{paper['abstract']}", written=False)


def summaries(records: Sequence[Mapping[str, Any]]) -> Iterator[Told]:
    """Yield the summaries that people wrote."""
    for record in records:
        source = f"{record['title']}\n{' '.join(record['source'])}"
        yield from (Told(said, source, written=True) for said in record["target"])


def cases(told: Sequence[Told]) -> Iterator[Case]:
    """Yield what is learned from: each true sentence, and each of its corruptions."""
    chance = random.Random(_SEED)
    clauses = [clause for source in dict.fromkeys(each.source for each in told) for clause in _clauses(source)]
    source, reading = "", read("")
    for each in told:
        if each.source != source:
            source, reading = each.source, read(each.source)
        for said in (each,) if each.written else dict.fromkeys((each, reworded_as(each, chance))):
            yield from _of_one(said, reading, clauses, chance)


def reworded_as(told: Told, chance: random.Random) -> Told:
    """Return the same in other words."""
    return told._replace(said=reworded(told.said, chance))


def _of_one(each: Told, reading: Reading, clauses: Sequence[str], chance: random.Random) -> Iterator[Case]:
    ways = [corrupt(each, clauses, chance) for corrupt in CORRUPTIONS]
    for said in dict.fromkeys([each.said, *(way for way in ways if way)]):
        rows = features(read(said), reading)
        if len(rows) == 1:  # of two sentences nobody says which was corrupted
            is_wrong = said != each.said
            weight = 1.0 if is_wrong else _TRUE
            yield Case(rows[0], weight * (_WRITTEN if each.written else 1.0), is_wrong, each.written)


def learn(given: Sequence[Case]) -> Judge:
    """Return the network that tells the corrupted from the true, by logistic loss and a penalty on squared weights."""
    rows, weights = np.array([case.row for case in given]), np.array([case.weight for case in given])
    wrong = np.array([case.is_wrong for case in given], float)
    shape = (rows.shape[1], _HIDDEN)

    def loss(point: Vector) -> tuple[float, Vector]:
        hidden, bias, out, start = _unpacked(point, shape)
        inner = np.tanh(rows @ hidden + bias)
        heights = inner @ out + start
        value = float((weights * (np.logaddexp(0, heights) - wrong * heights)).sum())
        value += _PENALTY * float((hidden**2).sum() + (out**2).sum())
        off = weights * (1 / (1 + np.exp(-heights)) - wrong)
        back = np.outer(off, out) * (1 - inner**2)
        slopes = (rows.T @ back + 2 * _PENALTY * hidden, back.sum(axis=0), inner.T @ off + 2 * _PENALTY * out, off.sum())
        return value, np.concatenate([np.ravel(slope) for slope in slopes])

    started = np.random.default_rng(_SEED).normal(scale=0.3, size=shape[0] * shape[1] + 2 * shape[1] + 1)
    hidden, bias, out, _ = _unpacked(minimise(loss, started, _STEPS), shape)
    judge = Judge(hidden.round(_DIGITS), bias.round(_DIGITS), out.round(_DIGITS), 0.0)
    written = judge.heights(np.array([case.row for case in given if case.written and not case.is_wrong]))
    bar = round(float(np.quantile(written, 1 - _REFUSED)), _DIGITS) if len(written) else 0.0
    return Judge(judge.hidden, judge.hidden_bias, judge.out, bar)


def write(judge: Judge, target: Path) -> None:
    """Write the network as JSON, a line per feature, which `bot.summarise.llm.claims.read_judge` reads back."""
    rows = ",\n".join(f"    {json.dumps(name)}: {row.tolist()}" for name, row in zip(FEATURES, judge.hidden, strict=True))
    ends = f'"hidden_bias": {judge.hidden_bias.tolist()},\n  "out": {judge.out.tolist()},\n  "bar": {judge.bar}'
    target.write_text(f'{{\n  "features": {{\n{rows}\n  }},\n  {ends}\n}}\n', encoding="ascii", newline="\n")


def _unpacked(point: Vector, shape: tuple[int, int]) -> tuple[Vector, Vector, Vector, float]:
    first, width = shape[0] * shape[1], shape[1]
    hidden = point[:first].reshape(shape)
    return hidden, point[first : first + width], point[first + width : first + 2 * width], float(point[-1])


def _clauses(source: str) -> Iterator[str]:
    for sentence in split(source):
        clause = sentence.rstrip(".").rpartition(", ")[2]
        if 5 <= len(clause.split()) <= 18:
            yield clause


# --- corruptions -------------------------------------------------------------------------------------------------------


def _other_number(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    own, others = list(_NUMBER.finditer(told.said)), sorted(set(_NUMBER.findall(told.source)))
    if not own or len(others) < 2:
        return None
    match = chance.choice(own)
    return _put(told.said, match, chance.choice([number for number in others if number != match.group()] or others))


def _denied(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    said = told.said
    ways = [
        _put(said, each, f"{each.group()} {chance.choice(['not', 'never', 'hardly'])}")
        for each in _BEFORE_VERB.finditer(said)
    ]
    denials = ("does not", "never", "is unable to")
    ways += [_put(said, each, f"{chance.choice(denials)} {each[1]}") for each in _VERB.finditer(said)]
    ways += [_put(said, each, "") for each in _DENIAL.finditer(said)]
    return chance.choice(ways) if ways else None


def _turned(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    ways = [(each, others) for each in re.finditer(r"[a-z-]+", told.said) if (others := other_ends(each.group()))]
    if not ways:
        return None
    match, others = chance.choice(ways)
    return _put(told.said, match, chance.choice(others))


def _undenied(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    ways = [
        _put(told.said, each, each.expand(instead)) for pattern, instead in _DENIED for each in pattern.finditer(told.said)
    ]
    return chance.choice(ways) if ways else None


def _unbounded(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    ways = list(_BOUND.finditer(told.said))
    return _put(told.said, chance.choice(ways), "") if ways else None


def _widened(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    ways = list(_PARTLY.finditer(told.said))
    if not ways:
        return None
    match = chance.choice(ways)
    return _put(told.said, match, _WHOLLY.get(match.group(), "all"))


def _exchanged(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    """The sides of a comparison in each other's place."""
    ways = [match for pattern in (_BEATS, _THAN) for match in pattern.finditer(told.said)]
    if not ways:
        return None
    match = chance.choice(ways)
    return _put(told.said, match, f"{match['other']} {match['verb']} {match['one'].strip()}")


def _subjects_exchanged(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    match = _CLAUSES.match(told.said.rstrip("."))
    if not match or match["one"].lower() == match["other"].lower():
        return None
    return f"{match['other']} {match['first']}{match['joint']}{match['one']} {match['second']}."


def _numbers_exchanged(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    found = list(_NUMBER.finditer(told.said))
    ways = [(one, other) for one, other in pairwise(found) if one.group() != other.group()]
    if not ways:
        return None
    one, other = chance.choice(ways)
    return _put(_put(told.said, other, one.group()), one, other.group())


def _in_words(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    """Another ratio, in words."""
    ways = list(_WITH_UNIT.finditer(told.said))
    if not ways:
        return None
    match = chance.choice(ways)
    words = ("half", "two thirds", "eighty percent") if match.group()[-1] in "%t" else ("twice", "threefold", "tenfold")
    return _put(told.said, match, chance.choice(words))


def _continued(told: Told, clauses: Sequence[str], chance: random.Random) -> str | None:
    clause, joint = chance.choice(clauses), chance.choice([", ", ", and ", ", which means that ", ", so that "])
    return None if clause in told.source else f"{told.said.rstrip('. ')}{joint}{clause}."


def _put(said: str, match: re.Match[str], new: str) -> str:
    return f"{said[: match.start()]}{new}{said[match.end() :]}"


CORRUPTIONS: tuple[Corrupt, ...] = (
    _other_number,
    _denied,
    _turned,
    _unbounded,
    _continued,
    _undenied,
    _widened,
    _exchanged,
    _subjects_exchanged,
    _numbers_exchanged,
    _in_words,
)
