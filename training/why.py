"""Learns by which words and places a consequence, or the importance of a subject, is told from all else in an abstract.

Then by what that says, and by what is lost of a sentence, whether what would be shown is right.

From abstracts that were marked by reading (`benchmarks/quality/marked/`): `development.jsonl` has a letter for each sentence
and the words that say why it matters; `whys.jsonl` has these words, and letters for what is told by its kind at a glance,
`O` where it is any of the others (method, result, problem, background). A multinomial logistic regression with a penalty on
squared weights; for `O` the sum of what it may be is made likely. Whether what would be shown of a sentence is right is
learned by a logistic regression from what weights say that were learned without that abstract.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.quality.marked import is_right
from bot.summarise.choice.candidates import MOST_WORDS, SENTENCE, Candidate, candidates
from bot.summarise.choice.roles import Matrix
from bot.summarise.choice.why import (
    CONSEQUENCE,
    FEATURES,
    IMPORTANCE,
    KINDS,
    SIGNS,
    Form,
    Weights,
    features,
    forms_of,
    kinds_by,
    sentences_asked,
    signs,
)
from bot.summarise.english.anaphora import Resolved, resolve
from bot.summarise.english.sentences import lower_case_names
from training.lbfgs import Vector, minimise

Record = Mapping[str, Any]

MARKED = Path(__file__).parents[1] / "benchmarks" / "quality" / "marked"
FILES = ("development.jsonl", "whys.jsonl")

# The letters of the rules, as the kinds that are told apart here.
_KIND_OF = {
    "C": "consequence",
    "I": "importance",
    "V": "availability",
    "F": "future work",
    "L": "limitation",
    "A": "method detail",
    "D": "method detail",
    "R": "result",
    "K": "keywords",
    "P": "problem",
    "B": "problem",
}
_OTHER = ("method detail", "result", "problem")  # what `O` may be
_OPENS = "IPB"  # what says why it matters in such a sentence, says why its subject does
_UNSURE = "CI"  # so lettered, and not among the words that say why it matters: nothing is learned from it

_PENALTY = 8.0  # by ten-fold cross-validation 4 to 12 were alike
_ROOM = 0.1  # added to each feature's spread, so that one which hardly varies is not blown up
_STEPS = 100
_FOLDS = 5
_SIGNS_PENALTY = 5.0
_UNLIKELY = 0.08  # what is less likely is not shown, and teaches nothing of what is
_DIGITS = 3


class Text(NamedTuple):
    """A marked abstract: what of it could be shown, what kind each is (a row of what it may be), and which say it."""

    record: Record
    told: Sequence[Resolved]
    found: Sequence[Candidate]
    may_be: Matrix
    right: Sequence[bool]
    table: Matrix  # the features of what was found
    asked: Sequence[Candidate]  # the sentences that may say it, and what could be shown of them
    forms: Sequence[Form]
    forms_table: Matrix
    forms_right: Sequence[bool]


def build(sources: Any, target: Path) -> None:
    """Learn from the marked abstracts, which need none of `sources`, and write the weights to `target`."""
    write(learn([read(record) for record in marked()]), target)


def marked() -> list[Record]:
    """Return the marked abstracts whose text is there."""
    lines = (line for name in FILES for line in (MARKED / name).read_text(encoding="utf-8").splitlines())
    return [record for record in map(json.loads, lines) if "sentences" in record]


def read(record: Record) -> Text:
    """Return the candidates of a marked abstract with what each may be."""
    sentences, marks = record["sentences"], record["marks"]
    names = lower_case_names(" ".join(sentences))
    told = resolve(sentences, names)
    found = candidates(told)
    spans = [(sentences[span[0]], span[1] if len(span) > 1 else sentences[span[0]]) for span in marks["w"]]
    right = [is_right(each.text, [sentences[each.place]], spans) for each in found]
    rows = [_may_be(each, marks["l"][each.place], says) for each, says in zip(found, right, strict=True)]
    may_be = np.array(rows, float).reshape(len(found), len(KINDS))
    asked = sentences_asked(found)
    forms = forms_of(asked, found, names)
    shown = [is_right(each.why.text, [sentences[asked[each.sentence].place]], spans, most=MOST_WORDS) for each in forms]
    own = features(told, [each.why.shown for each in forms])
    return Text(record, told, found, may_be, right, features(told, found), asked, forms, own, shown)


def _may_be(each: Candidate, letter: str, says: bool) -> list[bool]:
    if says:
        return [kind == (IMPORTANCE if letter in _OPENS else CONSEQUENCE) for kind in KINDS]
    if letter in _UNSURE:
        return [each.kind != SENTENCE and kind in _OTHER for kind in KINDS]
    return [kind in _OTHER if letter == "O" else kind == _KIND_OF[letter] for kind in KINDS]


def learn(texts: Sequence[Text]) -> Weights:
    """Return the weights that make what the candidates are likeliest, and what is shown right."""
    return fit_kinds(texts)._replace(**_fit_signs(texts))


def fit_kinds(texts: Sequence[Text]) -> Weights:
    """Return the weights that make what the candidates are likeliest."""
    table = np.concatenate([text.table for text in texts])
    may_be = np.concatenate([text.may_be for text in texts])
    known = may_be.any(axis=1)
    return fit(table[known], may_be[known])


def _fit_signs(texts: Sequence[Text]) -> dict[str, Any]:
    """What each of SIGNS counts, and what is added, as they are named in Weights."""
    rows, right, counts = [], [], []
    for fold in range(_FOLDS):
        weights = fit_kinds([text for at, text in enumerate(texts) if at % _FOLDS != fold])
        for text in texts[fold::_FOLDS]:
            table, kept = signs_by(text, weights)
            rows.append(table[kept])
            right.append(np.array(text.forms_right, bool)[kept])
            counts.append(_of_each(text)[kept])
    return fit_signs(np.concatenate(rows), np.concatenate(right), np.concatenate(counts))


def signs_by(text: Text, weights: Weights) -> tuple[Matrix, Any]:
    """Return the signs of what could be shown of a text by these weights, and of which the sentence is likely enough."""
    if not text.forms:
        return np.zeros((0, len(SIGNS))), np.zeros(0, bool)
    shares = kinds_by(features(text.told, text.asked), weights)
    table = signs(text.told, text.asked, text.forms, shares, kinds_by(text.forms_table, weights))
    likely = shares[:, [KINDS.index(CONSEQUENCE), KINDS.index(IMPORTANCE)]].sum(axis=1)
    return table, likely[[each.sentence for each in text.forms]] >= _UNLIKELY


def _of_each(text: Text) -> Matrix:
    """How many forms the sentence of each form has."""
    of = np.array([each.sentence for each in text.forms], int)
    counts: Matrix = np.bincount(of, minlength=1)[of].astype(float)
    return counts


def fit_signs(table: Matrix, right: Any, counts: Matrix) -> dict[str, Any]:
    """Return the weights by which rows of signs are likeliest right or not; many forms of one sentence count less each."""
    spread, share = table.std(axis=0) + _ROOM, 1 / np.sqrt(counts)
    rows = np.hstack([table / spread, np.ones((len(table), 1))])
    penalty = np.full(len(SIGNS) + 1, _SIGNS_PENALTY)
    penalty[-1] = 0.0

    def loss(point: Vector) -> tuple[float, Vector]:
        sums = rows @ point
        value = float((share * (np.logaddexp(0, sums) - right * sums)).sum() + (penalty * point**2).sum())
        return value, rows.T @ (share * (1 / (1 + np.exp(-sums)) - right)) + 2 * penalty * point

    point = minimise(loss, np.zeros(len(SIGNS) + 1), _STEPS)
    return {"signs": (point[:-1] / spread).round(_DIGITS), "signs_start": round(float(point[-1]), _DIGITS)}


def fit(table: Matrix, may_be: Matrix) -> Weights:
    """Return the weights by which rows of features are likeliest of one of the kinds that they may be."""
    spread = table.std(axis=0) + _ROOM
    rows = np.hstack([table / spread, np.ones((len(table), 1))])
    penalty = np.full((len(FEATURES) + 1, 1), _PENALTY)
    penalty[-1] = 0.0

    def loss(point: Vector) -> tuple[float, Vector]:
        weights = point.reshape(len(FEATURES) + 1, len(KINDS))
        sums = rows @ weights
        share = np.exp(sums - sums.max(axis=1, keepdims=True))
        own = share * may_be
        total, wanted = share.sum(axis=1, keepdims=True), own.sum(axis=1, keepdims=True)
        value = float(np.log(total / wanted).sum() + (penalty * weights**2).sum())
        return value, (rows.T @ (share / total - own / wanted) + 2 * penalty * weights).ravel()

    point = minimise(loss, np.zeros((len(FEATURES) + 1) * len(KINDS)), _STEPS).reshape(-1, len(KINDS))
    return Weights((point[:-1] / spread[:, None]).round(_DIGITS), point[-1].round(_DIGITS), np.zeros(len(SIGNS)), 0.0)


def write(weights: Weights, target: Path) -> None:
    """Write `weights` as JSON, one line per feature, which `why.read_weights` reads back."""
    rows = (f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in zip(FEATURES, weights.rows.tolist(), strict=True))
    head = f'{{\n  "kinds": {json.dumps(KINDS)},\n  "start": {json.dumps(weights.start.tolist())},\n  "signs": {{\n'
    shown = json.dumps(dict(zip(SIGNS, weights.signs.tolist(), strict=True)), indent=4)
    tail = f'\n  }},\n  "shown start": {weights.signs_start},\n  "shown": {shown}\n}}\n'
    target.write_text(head + ",\n".join(rows) + tail, encoding="ascii", newline="\n")
