"""Finds the sentence or clause of an abstract that is a consequence of the work for somebody, or why its subject matters.

1. Each sentence, and each clause of it (`bot.summarise.choice.candidates`), is told to be of one of KINDS by its wording
   (`why_cues.py`), its place and its length: a linear model over what can be told at a glance, whose weights stand in
   `models/why.json`. They were learned by `training/why.py` from abstracts marked by reading.
2. Of a sentence that may be one of the first two kinds, each form that is complete in 25 words could be shown: the sentence,
   a clause, the second thing that it says of its subject, or less of these. A second model tells how likely each is right as
   it would be shown, by what the first says of the sentence and of the form, and by what is lost between them. It was
   learned from what the first says of abstracts that it was not learned from: it knows how far the first can be trusted.
3. Of each sentence the likeliest form is taken, and `why_readers.py` tells how likely a reader would show it: by the same
   signs and by its own words. It was learned from lines that readers graded, as they would be shown.
4. What plainly says that something is to be had, what comes next, or is a notice, is never shown, whatever the weights say.

Where nothing is likely enough there is none: the text does not say why it matters.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.summarise.choice import why_readers
from bot.summarise.choice.candidates import AIM, MOST_WORDS, REST, SENTENCE, Candidate
from bot.summarise.choice.candidates import CONSEQUENCE as FOLLOWS
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
_SECOND_KIND = "second"  # beside those of the candidates: what a sentence says second of its subject

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

# How likely a reader must be to show what is shown; docs/decisions/0090-whys-that-readers-would-show.md has the figures.
_BAR = 0.75
_LOOKED_AT = 0.1  # how likely a sentence must be for its forms to be tried
_GRADED = 0.1  # how likely a form must be right: less likely ones were not graded by readers

# By what a form is told to be right: the odds of the sentence's kinds and of its own, and what it keeps of the sentence.
SIGNS = (
    "sentence",
    "form",
    "lesser of both",
    *(f"sentence, {kind}" for kind in KINDS if kind not in {"limitation", "keywords", "problem"}),
    "form, consequence",
    "form, importance",
    "words",
    "share of the sentence",
    "short",
    "whole",
    "of a long sentence",
    "a consequence's clause",
    "second of its subject",
    "a sentence",
    "the rest of one",
    "first",
    "last",
    "late",
    "few sentences",
)
_ASKED = [at for at, kind in enumerate(KINDS) if kind not in {"limitation", "keywords", "problem"}]
_SHORT_FORM, _LONG_SENTENCE = 9, 30  # words

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

# `Although caches are fast, which helps.`: what it turns against is not there.
_HALF = re.compile(r"(?:Although|Though|While|Even though|Whereas)\b(?!.*, (?!which |who |where ))")


class Why(NamedTuple):
    """What is shown, and the sentence or clause of the text that it was made from."""

    text: str
    candidate: Candidate

    @property
    def shown(self) -> Candidate:
        """What it was made from, with the text that is shown."""
        return self.candidate._replace(text=self.text)


class Form(NamedTuple):
    """What could be shown, and the sentence that it is of: one of those that were asked about."""

    why: Why
    sentence: int


class Weights(NamedTuple):
    """What each feature counts: a row per feature of FEATURES, columns as in KINDS, and what is added to each column.

    And what each of SIGNS counts for a form to be right, and what is added to that.
    """

    rows: Matrix
    start: Matrix
    signs: Matrix
    signs_start: float


def find_why(
    told: Sequence[Resolved], found: Sequence[Candidate], names: frozenset[str] = frozenset(), without: Collection[int] = ()
) -> Why | None:
    """Return what says why it matters of the candidates of the explained sentences; None where nothing surely does.

    `names` are written in lower case even at a sentence's beginning. No sentence at a place in `without` is taken.
    """
    lines, table = lines_of(told, [each for each in found if each.place not in without], names)
    if not lines:
        return None
    odds = why_readers.odds(table, [each.text for each in lines])
    best = int(np.argmax(odds))
    return lines[best] if odds[best] >= odds_of(_BAR) else None


def lines_of(told: Sequence[Resolved], found: Sequence[Candidate], names: frozenset[str]) -> tuple[Sequence[Why], Matrix]:
    """Return what could be shown, the likeliest form of each sentence, and a row for each with columns as in SIGNS."""
    asked = sentences_asked(found)
    if not asked:
        return [], np.zeros((0, len(SIGNS)))
    weights, shares = _weights(), kinds(told, asked)
    likely = np.flatnonzero(shares[:, :_SHOWN].sum(axis=1) >= _LOOKED_AT)
    sentences = [asked[at] for at in likely]
    forms = forms_of(sentences, found, names)
    if not forms:
        return [], np.zeros((0, len(SIGNS)))
    table = signs(told, sentences, forms, shares[likely], kinds(told, [each.why.shown for each in forms]))
    best = _best_forms(forms, table @ weights.signs + weights.signs_start)
    return [forms[at].why for at in best], table[best]


def _best_forms(forms: Sequence[Form], odds: Matrix) -> list[int]:
    """The places of the likeliest form of each sentence, where that is likely enough that readers graded such."""
    best: dict[int, int] = {}
    for at in np.flatnonzero(odds >= odds_of(_GRADED)).tolist():
        sentence = forms[at].sentence
        if sentence not in best or odds[at] > odds[best[sentence]]:
            best[sentence] = at
    return [*best.values()]


def sentences_asked(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences of these that may say why it matters."""
    return [each for each in found if each.kind == SENTENCE and may_be_shown(each.text)]


def may_be_shown(text: str) -> bool:
    """Say whether a text has a word of a consequence or of importance, and none by which it must be something else."""
    says, never = _showing().found(text.lower())
    return says and not never


@cache
def _showing() -> Prefiltered:
    return Prefiltered([MAY_SAY, NEVER])


def odds_of(likely: Matrix | float) -> Matrix:
    """Return the logarithm of the odds of something as likely; what is certain is held to be nearly so."""
    held = np.clip(likely, 1e-6, 1 - 1e-6)
    odds: Matrix = np.log(held / (1 - held))
    return odds


def forms_of(sentences: Sequence[Candidate], found: Sequence[Candidate], names: frozenset[str]) -> list[Form]:
    """Return what could be shown of these sentences and their clauses among `found`, no text of a sentence twice."""
    forms: list[Form] = []
    for at, sentence in enumerate(sentences):
        own = {form.text: form for each in found if each.place == sentence.place for form in _forms(each, names)}
        forms += [Form(form, at) for form in own.values()]
    return forms


def signs(
    told: Sequence[Resolved], sentences: Sequence[Candidate], forms: Sequence[Form], shares: Matrix, own: Matrix
) -> Matrix:
    """Return by what each form is told to be right: one row for each, columns as in SIGNS.

    `shares` are how likely each sentence is of each of KINDS, `own` how likely each form is.
    """
    of = [each.sentence for each in forms]
    sentence, form = odds_of(shares[:, :_SHOWN].sum(axis=1))[of], odds_of(own[:, :_SHOWN].sum(axis=1))
    likely = np.column_stack(
        [sentence, form, np.minimum(sentence, form), odds_of(shares)[of][:, _ASKED], odds_of(own[:, :_SHOWN])]
    )
    kept = np.array([_kept(each.why, sentences[each.sentence], len(told)) for each in forms], float)
    return np.hstack([likely, kept])


def _kept(form: Why, sentence: Candidate, count: int) -> tuple[float, ...]:
    """How much of its sentence a form has, what it was made from, and where that stands."""
    words, whole, at, kind = len(form.text.split()), len(sentence.text.split()), sentence.place, form.candidate.kind
    return (
        words / 10,
        words / whole,
        words < _SHORT_FORM,
        words == whole,
        whole > _LONG_SENTENCE,
        kind == FOLLOWS,
        kind == _SECOND_KIND,
        kind == SENTENCE,
        kind == REST,
        at == 0,
        at == count - 1,
        at / max(1, count - 1),
        count <= _FEW,
    )


def _forms(each: Candidate, names: frozenset[str]) -> Iterator[Why]:
    """What could be shown of a candidate: complete, of so many words, with nothing cut off that it is a consequence for."""
    if each.kind == AIM or dangles(each.text):
        return
    for one in (each, *_said_second(each)):
        whole = edit(one.text, names)
        for shorter in statements(whole, MOST_WORDS):
            text = shorter.text
            if len(text.split()) < _FEWEST_WORDS or dangles(text) or not may_be_shown(text):
                continue
            if not _HANGS.search(text) and not _HALF.match(text) and not _CUT_OFF.match(whole, _end_in(whole, text)):
                yield Why(text, one)


def _said_second(each: Candidate) -> Iterator[Candidate]:
    match = _SECOND.match(each.text)
    if match:
        said = f"{match['subject']} {match['rest']}"
        yield each._replace(text=said, kind=_SECOND_KIND, start=each.start + match.start("rest"))


def _end_in(whole: str, text: str) -> int:
    """Where the last words of a shorter form end in the whole; its end where they do not stand there so."""
    last = " ".join(text.rstrip(".").split()[-2:])
    at = whole.rfind(last)
    return len(whole) if at < 0 else at + len(last)


def kinds(told: Sequence[Resolved], found: Sequence[Candidate]) -> Matrix:
    """Return how likely each candidate is of each of KINDS: rows of sum 1."""
    return kinds_by(features(told, found), _weights())


def kinds_by(table: Matrix, weights: Weights) -> Matrix:
    """Return what `kinds` returns, by other weights, of candidates with these features."""
    sums = table @ weights.rows + weights.start
    likely = np.exp(sums - sums.max(axis=1, keepdims=True))
    found_kinds: Matrix = likely / likely.sum(axis=1, keepdims=True)
    return found_kinds


def read_weights(path: Path) -> Weights:
    """Return the weights that `training/why.py` wrote to `path`; raises ValueError where they are not so many."""
    table = json.loads(path.read_text(encoding="ascii"))
    rows, start = np.array([table["signs"][name] for name in FEATURES], float), np.array(table["start"], float)
    if rows.shape != (len(FEATURES), len(KINDS)) or start.shape != (len(KINDS),):
        raise ValueError(f"weights of {rows.shape} and {start.shape}")
    return Weights(rows, start, np.array([table["shown"][name] for name in SIGNS], float), float(table["shown start"]))


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
