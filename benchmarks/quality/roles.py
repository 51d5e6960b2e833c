"""Sentence roles: CSAbstruct, and by other annotators CS-Abstracts and PubMedQA's structured abstracts.

Accuracy over sentences and the mean F1 of the roles; whether an abstract reports no result at all (the AUC, and how many of
those are right that hold half of the abstracts without one); how far the model's confidence is from its accuracy. "The
surest" are the abstracts of which CSAbstruct's annotators were sure: its test half is made of such alone, so this is the
figure to hold against the test half. "No result" is told by the roles, and by how fit the fittest sentence is for Evidence.
Baselines: always the commonest role; the commonest role at that place of the abstract; for "no result" how few sentences show
a figure or a word such as `results`, `outperforms`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.quality.figures import Figure, of_choice, of_scores, of_sums
from benchmarks.quality.given import CROSSED, SEEN, UNSEEN, Given
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
from bot.summarise import roles
from bot.summarise.fitness import EVIDENCE, fit
from bot.summarise.roles import ROLES, score
from bot.summarise.sentences import split

_SURE = 0.73  # mean confidence of an abstract's annotators, from which on about as many are left as the test half has
_PLACES = 8
_REACH = (0.835, 0.815)
_RESULT = ROLES.index("result")
_EVIDENCE = PARTS.index(EVIDENCE)
_SHOWN = re.compile(r"\d|\b(?:results?|show\w*|outperform\w*|achiev\w+|improv\w+|demonstrat\w+|find|found)\b", re.IGNORECASE)
_NAMES = {"methods": "method", "results": "result", "conclusions": "result", "conclusion": "result"}
_SECTIONS = (  # of structured abstracts; the first that a heading holds says its role, other headings are left out
    ("RESULT", "result"), ("FINDING", "result"), ("CONCLUSION", "result"),
    ("METHOD", "method"), ("DESIGN", "method"), ("SETTING", "method"), ("PATIENT", "method"), ("PARTICIPANT", "method"),
    ("MEASURE", "method"), ("INTERVENTION", "method"), ("SUBJECT", "method"),
    ("BACKGROUND", "background"), ("INTRODUCTION", "background"), ("CONTEXT", "background"),
    ("OBJECTIVE", "objective"), ("PURPOSE", "objective"), ("AIM", "objective"),
)  # fmt: skip


def measure(given: Given) -> Iterator[Figure]:
    """Yield the figures of every set that is there."""
    learned = [name for name in given.folder.parts("csabstruct") if not of_test(name)]
    if learned:
        records = given.folder.all(learned)
        crossed = given.cross_validated("roles", records)
        guesses = [np.asarray(each, float) for each in crossed] if crossed else _shipped(records)
        name = f"CSAbstruct {'+'.join(each.partition('.')[2] for each in learned)}"
        yield from _csabstruct(name, records, guesses, CROSSED if crossed else SEEN)
    for name in given.folder.parts("csabstruct"):
        if of_test(name):
            records = given.folder.records(name)
            yield from _csabstruct("CSAbstruct test", records, _shipped(records), UNSEEN)
    for name in given.folder.parts("csabstracts"):
        records = given.folder.records(name)
        guesses = _shipped(records)
        yield from _agreement(f"CS-Abstracts {name.partition('.')[2]}", records, guesses, UNSEEN)
        yield from _no_result(f"CS-Abstracts {name.partition('.')[2]}", records, guesses, UNSEEN, aims=False)
    for name in given.folder.parts("pubmedqa_l"):
        records = [found for each in given.folder.records(name) if (found := _structured(each))["sents"]]
        yield from _agreement("PubMedQA", records, _shipped(records), "may be seen in training")


def _shipped(records: Sequence[Record]) -> list[Floats]:
    return [score(record["sents"]) for record in records]


def _csabstruct(name: str, records: Sequence[Record], guesses: Sequence[Floats], note: str) -> Iterator[Figure]:
    surest = [at for at, record in enumerate(records) if np.mean(record.get("confs") or [0]) >= _SURE]
    whole = note == UNSEEN or not surest
    yield from _all_figures(name, records, guesses, note, aims=whole)
    if not whole:
        chosen = [records[at] for at in surest]
        yield from _all_figures(f"{name}, the surest", chosen, [guesses[at] for at in surest], note, aims=True)


def _all_figures(
    name: str, records: Sequence[Record], guesses: Sequence[Floats], note: str, *, aims: bool
) -> Iterator[Figure]:
    yield from _agreement(name, records, guesses, note, reach=_REACH if aims else None)
    yield from _no_result(name, records, guesses, note, aims=aims)
    yield _calibration(name, records, guesses, note)


def _agreement(
    name: str,
    records: Sequence[Record],
    guesses: Sequence[Floats],
    note: str,
    reach: tuple[float, float] | None = None,
) -> Iterator[Figure]:
    gold = [_numbers(record) for record in records]
    tables = {
        "ours": [table.argmax(axis=1) for table in guesses],
        "commonest": _commonest(gold),
        "commonest there": _commonest_there(gold),
    }
    for at, (figure, kind) in enumerate((("accuracy", accuracy), ("macro-F1", macro_f1))):
        results = [of_sums(method, _confusions(gold, guessed), kind) for method, guessed in tables.items()]
        target = reach[at] if reach else None
        yield Figure(name, figure, results[:1], results[1:], len(gold), "abstracts", target, percent=True, note=note)


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


def _no_result(
    name: str, records: Sequence[Record], guesses: Sequence[Floats], note: str, *, aims: bool
) -> Iterator[Figure]:
    without: Truths = np.array([not (_numbers(record) == _RESULT).any() for record in records])
    if without.all() or not without.any():
        return
    ours = {"ours": np.array([1 - _reported(table) for table in guesses])}
    if note == UNSEEN:
        ours["by fitness for Evidence"] = np.array([-fit(record["sents"])[:, _EVIDENCE].max() for record in records])
    cues = np.array([-sum(bool(_SHOWN.search(each)) for each in record["sents"]) for record in records], float)
    kinds: tuple[tuple[str, float, Callable[[Floats, Truths], float]], ...] = (
        ("no result reported, AUC", 0.89, auc),
        ("no result reported, precision at recall .5", 0.85, partial(precision_at_recall, recall=0.5)),
    )
    for figure, reach, kind in kinds:
        results = [of_scores(method, each, without, kind) for method, each in ours.items()]
        beside = [of_scores("cue words", cues, without, kind)]
        yield Figure(name, figure, results, beside, len(records), "abstracts", reach if aims else None, note=note)


def _reported(table: Floats) -> float:
    """How likely it is that a result is reported, from the roles of the sentences."""
    own = getattr(roles, "reported", None)
    return float(own(table)) if own else float(1 - np.prod(1 - table[:, _RESULT]))


def _calibration(name: str, records: Sequence[Record], guesses: Sequence[Floats], note: str) -> Figure:
    sure = [table.max(axis=1) for table in guesses]
    right = [table.argmax(axis=1) == _numbers(record) for table, record in zip(guesses, records, strict=True)]

    def figure(chosen: Ints) -> float:
        return calibration_error(np.concatenate([sure[at] for at in chosen]), np.concatenate([right[at] for at in chosen]))

    results = [of_choice("ours", len(records), figure)]
    return Figure(name, "calibration error", results, (), len(records), "abstracts", lower=True, note=note)


def _structured(record: Record) -> Record:
    """The sentences of a structured abstract, each with the role of its section."""
    found: Record = {"sents": [], "labels": []}
    sections = zip(
        [*record["contexts"], record["conclusion"]],
        [*record["labels"], "CONCLUSION"],
        strict=True,
    )
    for text, heading in sections:
        role = next((role for word, role in _SECTIONS if word in heading), None)
        if role:
            sentences = split(text)
            found["sents"] += sentences
            found["labels"] += [role] * len(sentences)
    return found
