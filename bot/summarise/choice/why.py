"""Finds the sentence or clause of an abstract that is a consequence of the work for somebody, or why its subject matters.

1. Each sentence, and each clause of it (`bot.summarise.choice.candidates`), is told to be of one of KINDS by its wording
   (`why_cues.py`), its place and its length: a linear model over what can be told at a glance, whose weights stand in
   `models/why.json`. They were learned by `training/why.py` from abstracts marked by reading.
2. Of a sentence that is likely to be one of the first two kinds, the form is shown that says so most plainly and is complete
   in 25 words: the sentence, a clause, the second thing that it says of its subject, or less of these.
3. What plainly says that something is to be had, what comes next, or is a notice, is never shown, whatever the weights say.

Where nothing is likely enough there is none: the text does not say why it matters.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.summarise.choice.candidates import AIM, MOST_WORDS, SENTENCE, Candidate
from bot.summarise.choice.model_file import read_model
from bot.summarise.choice.roles import Matrix
from bot.summarise.choice.why_cues import CUES, MAY_SAY, NEVER, PROPOSES
from bot.summarise.english.anaphora import Resolved, dangles
from bot.summarise.english.editing import edit
from bot.summarise.english.prefilter import Prefiltered
from bot.summarise.english.shortening import statements

KINDS = (
    "consequence",
    "importance",
    "availability",
    "future work",
    "limitation",
    "method detail",
    "result",
    "keywords",
    "problem",
)
CONSEQUENCE, IMPORTANCE = KINDS[:2]
_SHOWN = 2  # the first of KINDS, which may be shown

SHIPPED = Path(__file__).parents[1] / "models" / "why.json"

_FEWEST_WORDS = 5

_PLACES = (
    "first",
    "second",
    "last",
    "last but one",
    "late",
    "before the work",
    "announces the work",
    "behind that",
    "length",
    "short",
    "long",
    "few sentences",
    "a clause",
)
FEATURES = (*CUES, *(f"{name}, late" for name in CUES), *(f"{name}, early" for name in CUES), *_PLACES)

_LATE = 0.6  # of the way through the text
_SHORT, _LONG, _COUNTED = 12, 35, 40  # words
_FEW = 5  # sentences

# How likely a sentence and its form must be one of the two kinds; docs/decisions/0061-why-it-matters.md has the figures.
_BAR = 0.8
_LOOKED_AT = 0.4  # how likely a sentence must be for its forms to be tried
_OWN_SHARE = 0.7  # of the sentence's odds in the sum of both; 0.5 to 1 were alike
_PER_WORD = 0.1  # the odds that a form gains by a word: of two that are as plain the longer says more

# What a sentence says second of its subject: `The results show X and underscore the need for Y`.
_SECOND = re.compile(
    r"(?P<subject>(?:(?:The|These|Our|This|Such|Its|Experimental) (?:[\w-]+ ){0,3}?(?:results?|findings?|stud(?:y|ies)|work|"
    r"framework|method|approach|system|model|benchmark|data ?set|analys[ei]s|experiments|observations|insights|paper|"
    r"tool|algorithm|technique|architecture|platform|advancements|architecture|strategy|research)|[A-Z]\w*[A-Z]\w*)) "
    r"(?:\w+ly |also )?(?:show|demonstrat|highlight|reveal|achiev|enabl|provid|offer|suggest|indicat|underscor|establish|"
    r"validat|confirm|introduc|improv|reduc|outperform|contribut|present|open|is|are|not only)\w*\b.*?(?:,? and|,) "
    r"(?:(?:\w+ly|thus|thereby|hence|also) )*(?P<rest>(?:highlights?|underscores?|emphasi[sz]es?|suggests?|indicates?|"
    r"motivates?|enables?|allows?|opens?|paves?|offers?|provides?|establish(?:es)?|supports?|facilitates?|makes?|reduces?|"
    r"lays?|leads? to|(?:can|could|may|might|will|should) [a-z]+) .*)$"
)
# A form that ends in front of one of these has lost what it is a consequence for.
_CUT_OFF = re.compile(
    r" (?:for|to|of|in|that|with|on|than|as|towards?|into|from|by|when|where|across|through|via|under|if|without)\b"
)

_HANGS = re.compile(
    r"\b(?:thereby|thus|hence|because(?: \w+ing\b[^,]*)?|and|or|also|(?:enabling|supports) (?:downstream )?applications)\W*$"
)


class Why(NamedTuple):
    """What is shown, and the sentence or clause of the text that it was made from."""

    text: str
    candidate: Candidate


class Weights(NamedTuple):
    """What each feature counts: a row per feature of FEATURES, columns as in KINDS, and what is added to each column."""

    rows: Matrix
    start: Matrix


def find_why(
    told: Sequence[Resolved], found: Sequence[Candidate], names: frozenset[str] = frozenset(), without: Collection[int] = ()
) -> Why | None:
    """Return what says why it matters of the candidates of the explained sentences; None where nothing surely does.

    `names` are written in lower case even at a sentence's beginning. No sentence at a place in `without` is taken.
    """
    allowed = [each for each in found if each.place not in without]
    sentences = [each for each in allowed if each.kind == SENTENCE and may_be_shown(each.text)]
    if not sentences:
        return None
    best, worth = None, _odds(np.array([_BAR]))[0]
    for sentence, odds in zip(sentences, _odds(_likely(told, sentences)), strict=True):
        if odds < _odds(np.array([_LOOKED_AT]))[0]:
            continue
        form, own = _plainest(told, [each for each in allowed if each.place == sentence.place], names)
        total = _OWN_SHARE * odds + (1 - _OWN_SHARE) * own
        if form is not None and total >= worth:
            best, worth = form, total
    return best


def may_be_shown(text: str) -> bool:
    """Say whether a text has a word of a consequence or of importance, and none by which it must be something else."""
    says, never = _showing().found(text.lower())
    return says and not never


@cache
def _showing() -> Prefiltered:
    return Prefiltered([MAY_SAY, NEVER])


def _likely(told: Sequence[Resolved], found: Sequence[Candidate]) -> Matrix:
    likely: Matrix = kinds(told, found)[:, :_SHOWN].sum(axis=1)
    return likely


def _odds(likely: Matrix) -> Matrix:
    held = np.clip(likely, 1e-6, 1 - 1e-6)
    odds: Matrix = np.log(held / (1 - held))
    return odds


def _plainest(told: Sequence[Resolved], found: Sequence[Candidate], names: frozenset[str]) -> tuple[Why | None, float]:
    """The form of a sentence and its clauses that says so most plainly, and its odds."""
    forms = {form.text: form for each in found for form in _forms(each, names)}
    if not forms:
        return None, 0.0
    shown = [form.candidate._replace(text=text) for text, form in forms.items()]
    odds = _odds(_likely(told, shown))
    best = int(np.argmax(odds + [_PER_WORD * len(text.split()) for text in forms]))
    return [*forms.values()][best], float(odds[best])


def _forms(each: Candidate, names: frozenset[str]) -> Iterator[Why]:
    """What could be shown of a candidate: complete, of so many words, with nothing cut off that it is a consequence for."""
    if each.kind == AIM or dangles(each.text):
        return
    for one in (each, *_said_second(each)):
        whole = edit(one.text, names)
        for shorter in statements(whole, MOST_WORDS):
            text = shorter.text
            if len(text.split()) < _FEWEST_WORDS or dangles(text) or _HANGS.search(text) or not may_be_shown(text):
                continue
            if not _CUT_OFF.match(whole, _end_in(whole, text)):
                yield Why(text, one)


def _said_second(each: Candidate) -> Iterator[Candidate]:
    match = _SECOND.match(each.text)
    if match:
        said = f"{match['subject']} {match['rest']}"
        yield each._replace(text=said, kind="second", start=each.start + match.start("rest"))


def _end_in(whole: str, text: str) -> int:
    """Where the last words of a shorter form end in the whole; its end where they do not stand there so."""
    last = " ".join(text.rstrip(".").split()[-2:])
    at = whole.rfind(last)
    return len(whole) if at < 0 else at + len(last)


def kinds(told: Sequence[Resolved], found: Sequence[Candidate]) -> Matrix:
    """Return how likely each candidate is of each of KINDS: rows of sum 1."""
    weights = _weights()
    sums = features(told, found) @ weights.rows + weights.start
    likely = np.exp(sums - sums.max(axis=1, keepdims=True))
    found_kinds: Matrix = likely / likely.sum(axis=1, keepdims=True)
    return found_kinds


def read_weights(path: Path) -> Weights:
    """Return the weights that `training/why.py` wrote to `path`; raises ValueError where they are not so many."""
    table = json.loads(path.read_text(encoding="ascii"))
    rows, start = np.array([table["signs"][name] for name in FEATURES], float), np.array(table["start"], float)
    if rows.shape != (len(FEATURES), len(KINDS)) or start.shape != (len(KINDS),):
        raise ValueError(f"weights of {rows.shape} and {start.shape}")
    return Weights(rows, start)


@cache
def _weights() -> Weights:
    return read_model(SHIPPED, read_weights)


# --- features


@cache
def _cues() -> Prefiltered:
    return Prefiltered(CUES.values())


def features(told: Sequence[Resolved], found: Sequence[Candidate]) -> Matrix:
    """Return the features of each candidate of the explained sentences: one row for each, columns as in FEATURES."""
    count = len(told)
    announced = next((at for at, one in enumerate(told) if PROPOSES.search(one.text.lower())), count)
    rows = np.zeros((len(found), len(FEATURES)))
    size = len(CUES)
    for row, each in zip(rows, found, strict=True):
        at, said = each.place, _cues().found(each.text.lower())
        row[:size] = said
        if at >= count - 2 or at >= _LATE * (count - 1):
            row[size : 2 * size] = said
        if at < 2:
            row[2 * size : 3 * size] = said
        row[3 * size :] = _placed(each, count, announced)
    return rows


def _placed(each: Candidate, count: int, announced: int) -> tuple[float, ...]:
    """Where it stands, on which side of the sentence that first says what the work is, and how long it is."""
    at, words = each.place, len(each.text.split())
    return (
        at == 0,
        at == 1,
        at == count - 1,
        at == count - 2,
        at / max(1, count - 1),
        at < announced < count,
        at == announced,
        announced < at,
        min(words, _COUNTED) / 20,
        words < _SHORT,
        words > _LONG,
        count <= _FEW,
        each.kind != SENTENCE,
    )
