"""Learns what the features of a sentence count for each part of a summary, and for standing for the whole text.

For the parts: from abstracts of arXiv (metadata CC0) in which the sentences that say each part were marked by reading
(`marked.jsonl`), and from others in which the clauses were, too (`benchmarks/quality/marked/development.jsonl`, as far as
their texts are there: arXiv, and PubMedQA, MIT). A text's candidates, and "none of them", share a probability of one in
proportion to exp(score); what is learned makes the marked ones likely, with a penalty on squared weights: they are few, so a
feature only counts for a reason. What the network of the roles makes of a sentence is 384 numbers without a name, each
with a larger penalty.

For the whole: from SciTLDR (Cachola et al., 2020; Apache-2.0), in the same way without "none"; the share that a sentence
should have grows with its overlap with the one-sentence summaries people wrote (ROUGE-1, -2 and -L).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.quality.marked import LETTERS, is_right
from benchmarks.rouge import rouge
from bot.models import PARTS
from bot.summarise.choice.candidates import SENTENCE, Candidate, candidates
from bot.summarise.choice.roles import READ, Matrix
from bot.summarise.choice.scoring import FEATURES, PAIRS, SCORED, Weights, features
from bot.summarise.english.anaphora import resolve
from bot.summarise.english.sentences import lower_case_names
from training.lbfgs import Vector, minimise

Record = Mapping[str, Any]

MARKED = Path(__file__).parent / "marked.jsonl"
SPANS = Path(__file__).parents[1] / "benchmarks" / "quality" / "marked" / "development.jsonl"

_PENALTY = 8.0  # by ten-fold cross-validation on the marked abstracts 8 and 16 were alike; for the whole 2 to 16
# Of what the network says of a sentence; by five-fold cross-validation half or twice as much was alike.
_PENALTIES_READ = {"hidden": 100.0, "windows": 200.0, "words": 60.0}
_SHARPNESS = 5.0  # by how much a sentence's share grows with the sum of its three overlaps; 2.5 to 10 were alike
_DOUBT = 0.03  # the share of "none" where a sentence was marked: no text is certain
_SECOND_CHOICE = 0.5  # how much a sentence counts that was marked as good too, beside the best one
_ROOM = 0.05  # added to each feature's spread, so that one which hardly varies is not blown up
_ROOM_READ = 1e-6  # of what the network says, of which some vary little and tell much
_STEPS = 300
_SEED = 7
_DIGITS = 3
# Of each column of the features: what is added to its spread, its penalty, and whether its mean is taken off.
_NUMBERS = [len(FEATURES) + len(PAIRS), *READ.values()]
_COLUMNS = (
    np.repeat([_ROOM, *[_ROOM_READ] * len(READ)], _NUMBERS),
    np.repeat([_PENALTY, *_PENALTIES_READ.values()], _NUMBERS),
    np.repeat([0.0, *[1.0] * len(READ)], _NUMBERS),
)


class Marked(NamedTuple):
    """A text, what of it could stand for a part, and per part how good each of that is: 1 the best, 0 not at all."""

    title: str
    sentences: Sequence[str]
    candidates: Sequence[Candidate]
    worth: Mapping[str, Vector]


class _Texts(NamedTuple):
    """Candidates of several texts as one table: a row of features each, and which text it is of."""

    features: Matrix
    of: npt.NDArray[np.int64]


def build(sources: Any, target: Path) -> None:
    """Learn from `marked.jsonl` and from SciTLDR in the quality folder of `sources`, and write the weights to `target`."""
    records = [record for name in ("scitldr_a.train", "scitldr_a.dev") for record in sources.quality(name)]
    write(learn([*map(of_sentences, marked()), *map(of_spans, spans())], records), target)


def marked() -> list[Record]:
    """Return the marked abstracts: `title`, `sentences`, and per part the places of its sentences, the best first."""
    return [json.loads(line) for line in MARKED.read_text(encoding="utf-8").splitlines()]


def spans() -> list[Record]:
    """Return the abstracts in which clauses were marked and whose text is there."""
    records = (json.loads(line) for line in SPANS.read_text(encoding="utf-8").splitlines())
    return [record for record in records if "sentences" in record]


def of_sentences(mark: Record) -> Marked:
    """Return the marks of sentences; of their clauses nothing is known, so they are no candidates."""
    sentences = mark["sentences"]
    whole = [Candidate(sentence, SENTENCE, at, at) for at, sentence in enumerate(sentences)]
    return Marked(mark["title"], sentences, whole, {part: _places(len(whole), mark[part]) for part in PARTS})


def of_spans(mark: Record) -> Marked:
    """Return the marks of sentences and clauses."""
    sentences = mark["sentences"]
    found = candidates(resolve(sentences, lower_case_names(" ".join(sentences))))
    worth = {
        part: np.array([_worth(one, mark["marks"][letter], sentences) for one in found]) for part, letter in LETTERS.items()
    }
    return Marked(mark["title"], sentences, found, worth)


def learn(marks: Sequence[Marked], records: Sequence[Record]) -> Weights:
    """Return the weights for the parts learned from `marks`, and for the whole from `records` of SciTLDR."""
    texts = _read([(mark.sentences, mark.title, mark.candidates) for mark in marks])
    shares = [np.concatenate([_shares(mark.worth[part]) for mark in marks]) for part in SCORED]
    by_signs = [_fit_weights(_by_signs(texts), each, none=True) for each in shares]
    signs = np.stack([*by_signs, _whole(*_overlapping(records))], axis=1).round(_DIGITS)
    parts = np.stack([_fit_weights(texts, each, none=True) for each in shares], axis=1).round(_DIGITS)
    return Weights(signs[:-1], signs[-1], parts[:-1], parts[-1])


def cross_validated(records: Sequence[Record], folds: int = 5) -> list[int]:
    """Return per record of SciTLDR the sentence that stands for the whole, by weights learned from the other folds alone."""
    texts, shares = _overlapping(records)
    fold_of = np.random.default_rng(_SEED).permutation(len(records)) % folds
    scores = np.zeros(len(shares))
    for fold in range(folds):
        held = fold_of[texts.of] == fold
        weights = _whole(_Texts(texts.features[~held], np.unique(texts.of[~held], return_inverse=True)[1]), shares[~held])
        scores[held] = texts.features[held, : len(FEATURES)] @ weights[:-1]
    return [int(own.argmax()) for own in np.split(scores, np.flatnonzero(np.diff(texts.of)) + 1)]


def write(weights: Weights, target: Path) -> None:
    """Write `weights` as JSON, one line per feature, which `scoring.read_weights` reads back."""
    signs, pairs, read = np.split(weights.parts, [len(FEATURES), len(FEATURES) + len(PAIRS)])
    numbers = ",\n".join(f"      {json.dumps(row)}" for row in read.tolist())
    text = (
        f'{{\n  "start": {json.dumps(weights.start.tolist())},\n  "signs": {_named(FEATURES, weights.rows, 2)},\n'
        f'  "parts": {{\n    "start": {json.dumps(weights.parts_start.tolist())},\n'
        f'    "signs": {_named(FEATURES, signs, 4)},\n    "pairs": {_named(PAIRS, pairs, 4)},\n'
        f'    "read": [\n{numbers}\n    ]\n  }}\n}}\n'
    )
    target.write_text(text, encoding="ascii", newline="\n")


def _named(names: Sequence[str], rows: Matrix, margin: int) -> str:
    edge = " " * margin
    lines = (f"{edge}  {json.dumps(name)}: {json.dumps(row)}" for name, row in zip(names, rows.tolist(), strict=True))
    return "{\n" + ",\n".join(lines) + f"\n{edge}}}"


def _places(count: int, places: Sequence[int]) -> Vector:
    worth = np.zeros(count)
    worth[list(places)] = _SECOND_CHOICE
    worth[list(places[:1])] = 1.0
    return worth


def _worth(one: Candidate, marks: Sequence[Sequence[Any]], sentences: Sequence[str]) -> float:
    """How good a candidate is by the best span that it says; its sentence is worth less where a clause was marked."""
    for order, (place, *words) in enumerate(marks):
        sentence = sentences[place]
        if one.place == place and is_right(one.text, [sentence], [(sentence, words[0] if words else sentence)]):
            whole = one.kind == SENTENCE and bool(words)
            return (_SECOND_CHOICE if order else 1.0) * (_SECOND_CHOICE if whole else 1.0)
    return 0.0


def _shares(worth: Vector) -> Vector:
    return worth * (1 - _DOUBT) / max(1.0, float(worth.sum()))


def _overlapping(records: Sequence[Record]) -> tuple[_Texts, Vector]:
    """The sentences of SciTLDR, and the share that each should have among those of its text."""
    overlaps = [[sum(rouge(sentence, record["target"])) for sentence in record["source"]] for record in records]
    wanted = [np.exp(_SHARPNESS * (np.array(overlap) - max(overlap))) for overlap in overlaps]
    shares = np.concatenate([one / one.sum() for one in wanted])
    return _read([(record["source"], record["title"], None) for record in records]), shares


def _whole(texts: _Texts, shares: Vector) -> Vector:
    return _fit_weights(_by_signs(texts), shares, none=False)


def _by_signs(texts: _Texts) -> _Texts:
    """The features with a name alone."""
    return texts._replace(features=np.ascontiguousarray(texts.features[:, : len(FEATURES)]))


def _read(texts: Sequence[tuple[Sequence[str], str, Sequence[Candidate] | None]]) -> _Texts:
    tables = [features(*text) for text in texts]
    return _Texts(np.concatenate(tables), np.repeat(np.arange(len(tables)), [len(table) for table in tables]))


def _fit_weights(texts: _Texts, wanted: Vector, *, none: bool) -> Vector:
    """The weights, with the start behind them, that make the wanted shares likeliest."""
    count = texts.features.shape[1]
    rooms, penalties, centred = (each[:count] for each in _COLUMNS)
    spread, middle = texts.features.std(axis=0) + rooms, texts.features.mean(axis=0) * centred
    rows, of, starts = (texts.features - middle) / spread, texts.of, np.flatnonzero(np.diff(texts.of, prepend=-1))
    nothing = 1.0 - np.add.reduceat(wanted, starts)

    def loss(point: Vector) -> tuple[float, Vector]:
        scores = rows @ point[:-1] + point[-1]
        highest = np.maximum(np.maximum.reduceat(scores, starts), 0.0 if none else -np.inf)
        weight, left = np.exp(scores - highest[of]), np.exp(-highest) if none else np.zeros(len(starts))
        total = np.add.reduceat(weight, starts) + left
        off = weight / total[of] - wanted
        value = -float((wanted * (scores - highest[of] - np.log(total)[of])).sum())
        value += float((nothing * (highest + np.log(total))).sum()) if none else 0.0
        slope = rows.T @ off + 2 * penalties * point[:-1]
        return value + float((penalties * point[:-1] ** 2).sum()), np.append(slope, off.sum() if none else 0.0)

    point = minimise(loss, np.zeros(count + 1), _STEPS)
    learned = point[:-1] / spread
    return np.append(learned, point[-1] - middle @ learned)
