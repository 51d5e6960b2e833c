"""Sentence roles: CSAbstruct, by other annotators CS-Abstracts, and of medicine PubMedQA's structured abstracts.

Accuracy over sentences and the mean F1 of the roles; whether an abstract reports no result at all (the AUC, and how many of
those are right that hold half of the abstracts without one); how far the model's confidence is from its accuracy. "The
surest" are the abstracts of which CSAbstruct's annotators were sure: its test half is made of such alone, so this is the
figure to hold against the test half. "No result" is told by the roles (the product of what each sentence leaves for other
roles than result), and by the highest score for Evidence. CSAbstruct and PubMedQA are cross-validated
together, since the model learned from both; either alone is taken for a test half.
Baselines: always the commonest role; the commonest role at that place of the abstract; for "no result" how few sentences
show a figure or a word such as `results`, `outperforms`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.quality.figures import Figure, Result, of_choice, of_scores, of_sums
from benchmarks.quality.inputs import CROSSED, UNSEEN, Inputs
from benchmarks.quality.metrics import (
    Floats,
    Ints,
    Truths,
    accuracy,
    auc,
    calibration_error,
    macro_f1,
    precision_at_recall,
)
from benchmarks.quality.records import Record, of_test
from bot.models import PARTS
from bot.summarise.choice.roles import RESULT, ROLES, role_probabilities
from bot.summarise.choice.scoring import EVIDENCE, part_scores
from training.roles import of_medicine

_SURE = 0.73  # mean confidence of an abstract's annotators, from which on about as many are left as the test half has
_PLACES = 8
_CERTAIN = 1 - 1e-9
_EVIDENCE = PARTS.index(EVIDENCE)
_SHOWN = re.compile(r"\d|\b(?:results?|show\w*|outperform\w*|achiev\w+|improv\w+|demonstrat\w+|find|found)\b", re.IGNORECASE)
_NAMES = {"methods": "method", "results": "result", "conclusions": "result", "conclusion": "result"}


@dataclass(frozen=True, slots=True)
class _Judged:
    """Abstracts of a set, and what the model says: how likely each role is per sentence."""

    name: str
    records: Sequence[Record]
    roles: Sequence[Floats]
    note: str

    def only(self, kind: str, chosen: Sequence[int]) -> "_Judged":
        """Return some of the abstracts."""
        return _Judged(
            f"{self.name}, {kind}",
            [self.records[at] for at in chosen],
            [self.roles[at] for at in chosen],
            self.note,
        )


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures of every set that is there."""
    learned = [name for name in given.folder.parts("csabstruct") if not of_test(name)]
    if learned:
        crossed, others = _crossed(given, learned)
        surest = [at for at, record in enumerate(crossed.records) if np.mean(record.get("confs") or [0]) >= _SURE]
        yield from _all_figures(crossed, aims=not surest)
        if surest:
            yield from _all_figures(crossed.only("the surest", surest), aims=True)
        if others.records:
            yield from _agreement(others, aims=False)
    for name in given.folder.parts("csabstruct"):
        if of_test(name):
            yield from _all_figures(_shipped("CSAbstruct test", given.folder.records(name)), aims=True)
    for name in given.folder.parts("csabstracts"):
        judged = _shipped(f"CS-Abstracts {name.partition('.')[2]}", given.folder.records(name))
        yield from _agreement(judged, aims=False)
        yield from _no_result(judged, aims=False)
    if not learned:
        for name in given.folder.parts("pubmedqa_l"):
            yield from _agreement(_shipped("PubMedQA", _of_medicine(given, [name])), aims=False)


def _shipped(name: str, records: Sequence[Record]) -> _Judged:
    return _Judged(name, records, [role_probabilities(record["sents"]) for record in records], UNSEEN)


def _crossed(given: Inputs, names: Sequence[str]) -> tuple[_Judged, _Judged]:
    """CSAbstruct and PubMedQA."""
    records = given.folder.all(names)
    others = _of_medicine(given, [name for name in given.folder.parts("pubmedqa_l") if not of_test(name)])
    tables = [np.asarray(each, float) for each in given.cross_validated("roles", [*records, *others])]
    name = f"CSAbstruct {'+'.join(each.partition('.')[2] for each in names)}"
    count = len(records)
    return _Judged(name, records, tables[:count], CROSSED), _Judged("PubMedQA", others, tables[count:], CROSSED)


def _of_medicine(given: Inputs, names: Sequence[str]) -> list[Record]:
    return [found for record in given.folder.all(names) if (found := dict(of_medicine(record)))["sents"]]


def _all_figures(judged: _Judged, *, aims: bool) -> Iterator[Figure]:
    yield from _agreement(judged, aims=aims)
    yield from _no_result(judged, aims=aims)
    yield _calibration(judged)


def _agreement(judged: _Judged, *, aims: bool) -> Iterator[Figure]:
    gold = [_numbers(record) for record in judged.records]
    tables = {
        "ours": [table.argmax(axis=1) for table in judged.roles],
        "commonest": _commonest(gold),
        "commonest there": _commonest_there(gold),
    }
    for figure, kind, reach in (("accuracy", accuracy, 0.835), ("macro-F1", macro_f1, 0.815)):
        results = [of_sums(method, _confusions(gold, guessed), kind) for method, guessed in tables.items()]
        yield _told(judged, figure, results[:1], results[1:], reach if aims else None, percent=True)


def _told(
    judged: _Judged,
    figure: str,
    ours: Sequence[Result],
    beside: Sequence[Result],
    reach: float | None = None,
    *,
    percent: bool = False,
    lower: bool = False,
) -> Figure:
    count = len(judged.records)
    return Figure(judged.name, figure, ours, beside, count, "abstracts", reach, percent, lower, judged.note)


def _numbers(record: Record) -> Ints:
    return np.array([ROLES.index(_NAMES.get(label, label)) for label in record["labels"]])


def _confusions(gold: Sequence[Ints], guessed: Sequence[Ints]) -> Floats:
    table = np.zeros((len(gold), len(ROLES), len(ROLES)))
    for counts, right, said in zip(table, gold, guessed, strict=True):
        np.add.at(counts, (right, said), 1.0)
    return table


def _commonest(gold: Sequence[Ints]) -> list[Ints]:
    ((most, _),) = Counter(int(each) for labels in gold for each in labels).most_common(1)
    return [np.full(len(labels), most) for labels in gold]


def _commonest_there(gold: Sequence[Ints]) -> list[Ints]:
    """The commonest role at each eighth of an abstract; of these same labels, so it flatters itself a little."""
    eighths = [np.arange(len(labels)) * _PLACES // len(labels) for labels in gold]
    counts = np.zeros((_PLACES, len(ROLES)))
    np.add.at(counts, (np.concatenate(eighths), np.concatenate(gold)), 1.0)
    return [counts.argmax(axis=1)[places] for places in eighths]


def _no_result(judged: _Judged, *, aims: bool) -> Iterator[Figure]:
    without: Truths = np.array([not (_numbers(record) == RESULT).any() for record in judged.records])
    if without.all() or not without.any():
        return
    texts = [record["sents"] for record in judged.records]
    ours = {"ours": np.array([np.log1p(-np.minimum(table[:, RESULT], _CERTAIN)).sum() for table in judged.roles])}
    if judged.note == UNSEEN:
        ours["by the score for Evidence"] = np.array([-part_scores(each)[:, _EVIDENCE].max() for each in texts])
    cues = np.array([-sum(bool(_SHOWN.search(sentence)) for sentence in each) for each in texts], float)
    kinds: tuple[tuple[str, float, Callable[[Floats, Truths], float]], ...] = (
        ("no result reported, AUC", 0.89, auc),
        ("no result reported, precision at recall .5", 0.85, partial(precision_at_recall, recall=0.5)),
    )
    for figure, reach, kind in kinds:
        results = [of_scores(method, each, without, kind) for method, each in ours.items()]
        yield _told(judged, figure, results, [of_scores("cue words", cues, without, kind)], reach if aims else None)


def _calibration(judged: _Judged) -> Figure:
    sure = [table.max(axis=1) for table in judged.roles]
    pairs = zip(judged.roles, judged.records, strict=True)
    right = [table.argmax(axis=1) == _numbers(record) for table, record in pairs]

    def figure(chosen: Ints) -> float:
        return calibration_error(np.concatenate([sure[at] for at in chosen]), np.concatenate([right[at] for at in chosen]))

    return _told(judged, "calibration error", [of_choice("ours", len(sure), figure)], (), lower=True)
