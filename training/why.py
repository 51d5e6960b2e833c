"""Learns by which words and places a consequence, or the importance of a subject, is told from all else in an abstract.

From abstracts that were marked by reading (`benchmarks/quality/marked/`): `development.jsonl` has a letter for each sentence
and the words that say why it matters; `whys.jsonl` has these words, and letters for what is told by its kind at a glance,
`O` where it is any of the others (method, result, problem, background). A multinomial logistic regression with a penalty on
squared weights; for `O` the sum of what it may be is made likely.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.quality.marked import is_right
from bot.summarise.choice.candidates import SENTENCE, Candidate, candidates
from bot.summarise.choice.roles import Matrix
from bot.summarise.choice.why import CONSEQUENCE, FEATURES, IMPORTANCE, KINDS, Weights, features
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
_DIGITS = 3


class Text(NamedTuple):
    """A marked abstract: what of it could be shown, what kind each is (a row of what it may be), and which say it."""

    record: Record
    told: Sequence[Resolved]
    found: Sequence[Candidate]
    may_be: Matrix
    right: Sequence[bool]


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
    told = resolve(sentences, lower_case_names(" ".join(sentences)))
    found = candidates(told)
    spans = [(sentences[span[0]], span[1] if len(span) > 1 else sentences[span[0]]) for span in marks["w"]]
    right = [is_right(each.text, [sentences[each.place]], spans) for each in found]
    rows = [_may_be(each, marks["l"][each.place], says) for each, says in zip(found, right, strict=True)]
    return Text(record, told, found, np.array(rows, float).reshape(len(found), len(KINDS)), right)


def _may_be(each: Candidate, letter: str, says: bool) -> list[bool]:
    if says:
        return [kind == (IMPORTANCE if letter in _OPENS else CONSEQUENCE) for kind in KINDS]
    if letter in _UNSURE:
        return [each.kind != SENTENCE and kind in _OTHER for kind in KINDS]
    return [kind in _OTHER if letter == "O" else kind == _KIND_OF[letter] for kind in KINDS]


def learn(texts: Sequence[Text]) -> Weights:
    """Return the weights that make what the candidates are likeliest."""
    table = np.concatenate([features(text.told, text.found) for text in texts])
    may_be = np.concatenate([text.may_be for text in texts])
    known = may_be.any(axis=1)
    return fit(table[known], may_be[known])


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
    return Weights((point[:-1] / spread[:, None]).round(_DIGITS), point[-1].round(_DIGITS))


def write(weights: Weights, target: Path) -> None:
    """Write `weights` as JSON, one line per feature, which `why.read_weights` reads back."""
    rows = (f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in zip(FEATURES, weights.rows.tolist(), strict=True))
    head = f'{{\n  "kinds": {json.dumps(KINDS)},\n  "start": {json.dumps(weights.start.tolist())},\n  "signs": {{\n'
    target.write_text(head + ",\n".join(rows) + "\n  }\n}\n", encoding="ascii", newline="\n")
