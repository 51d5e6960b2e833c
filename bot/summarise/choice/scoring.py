"""Scores each sentence for the problem, the method and the evidence, and for standing for the whole text, from its features.

The features are what can be told of a sentence at a glance: its role, its wording, its place, its length, its subject. The
weights stand in `models/parts.json`, one line per feature, and can be read: what a feature adds to the logarithm of how much
likelier this sentence is the part's than that the text has none. They were learned by `training/parts.py`, which says how.

The parts are chosen by more: by pairs of these features, and by what the network of the roles makes of the sentence, numbers
that have no name. The gist was learned from the scores by the features alone.
"""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.models import PARTS
from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.choice.candidates import KINDS, SENTENCE, Candidate
from bot.summarise.choice.cue_phrases import CUES, WITHDRAWN, WITHDRAWN_WORDS
from bot.summarise.choice.model_file import read_model
from bot.summarise.choice.roles import READ, RESULT, ROLES, Matrix, reading
from bot.summarise.english.prefilter import Prefiltered

PROBLEM, METHOD, EVIDENCE, WHY = PARTS
WHOLE = "Whole"  # the column of the sentence that says it all
SCORED = (PROBLEM, METHOD, EVIDENCE)  # why it matters is found by `bot.summarise.choice.why`
COLUMNS = (*SCORED, WHOLE)

Scores = Matrix

SHIPPED = Path(__file__).parents[1] / "models" / "parts.json"

UNUSABLE = -99.0  # of a notice or a fragment: no part may have it
_FRAGMENT = 3  # words; fewer say nothing
_LONGEST_SENTENCE = 1_500  # characters; a longer "sentence" is none, and no pattern is tried on more
SCANNED = 60  # sentences of a longer text that are looked at; an abstract has 5 to 15

_PLACES = ("first", "second", "last", "last but one", "late", "announces", "before", "of others", "unannounced")
_LENGTHS = ("length", "long", "short")
_BESIDE = ("after what is announced", "before what is announced", "after a result", "before a result")
_SUBJECT = ("title told", "of the title", "subject", "common")
_KINDS = tuple(f"a clause: {kind}" for kind in KINDS[1:])
FEATURES = (*ROLES, *CUES, *_PLACES, *_BESIDE, *_LENGTHS, *_SUBJECT, *_KINDS)
# Two that say more together than the sum of both: a figure is evidence where it stands in a result, a lack is the problem
# where it stands before the work is announced.
PAIRS = (
    "result + figure", "result + show", "result + better", "result + late", "result + last", "result + we",
    "show + figure", "show + better", "show + last", "figure + last", "objective + introduces", "background + gap",
    "background + lack", "background + challenge", "gap + lack", "gap + before", "lack + before", "challenge + before",
    "prior + lack",
)  # fmt: skip
_ONE, _OTHER = ([FEATURES.index(pair.split(" + ")[side]) for pair in PAIRS] for side in (0, 1))
# Columns that a clause has of its own: its wording, its length and subject, and of what kind it is.
_WORDED = slice(len(ROLES), len(ROLES) + len(CUES))
_KIND = slice(len(FEATURES) - len(_KINDS), len(FEATURES))
_MEASURED = slice(_KIND.start - len(_LENGTHS) - len(_SUBJECT), _KIND.start)

_SHORT = 10  # words
_TELLING = 25  # words that tell something; more tell no more
_MOST_WORDS = 60  # words; what is longer counts as that
_STEM = 7  # letters by which two forms of a word are told to be one
_ANNOUNCING = ("introduces", "paper", "is a")


class Weights(NamedTuple):
    """What each feature counts, and what is added to each column."""

    rows: Matrix  # a row per feature of FEATURES, columns as in COLUMNS
    start: Matrix
    parts: Matrix  # a row per feature of FEATURES, per pair of PAIRS and per number of the network, columns as in SCORED
    parts_start: Matrix


def all_scores(sentences: Sequence[str], title: str = "") -> Scores:
    """Return the score of each sentence for each part, and for standing for the whole, by its features of FEATURES alone.

    Columns as in COLUMNS.
    """
    weights = _weights()
    return _scores(sentences, title, _sentences(sentences), weights.rows, weights.start)


def part_scores(sentences: Sequence[str], title: str = "") -> Scores:
    """Return the score of each sentence for each part: one row per sentence, columns as in SCORED.

    0 is as likely the part's sentence as that the text has none for it.
    """
    return candidate_scores(sentences, title, _sentences(sentences))


def candidate_scores(sentences: Sequence[str], title: str, candidates: Sequence[Candidate]) -> Scores:
    """Return the score of each candidate for each part, as `part_scores` does of the sentences that they are taken from."""
    weights = _weights()
    return _scores(sentences, title, candidates, weights.parts, weights.parts_start)


def whole_scores(sentences: Sequence[str], title: str = "") -> Matrix:
    """Return the score of each sentence for standing for the whole text; of a notice or a fragment, UNUSABLE."""
    return all_scores(sentences, title)[:, COLUMNS.index(WHOLE)]


def read_weights(path: Path) -> Weights:
    """Return the weights that `training/parts.py` wrote to `path`; raises ValueError where they are not so many."""
    table = json.loads(path.read_text(encoding="ascii"))
    rows, start = np.array([table["signs"][name] for name in FEATURES], float), np.array(table["start"], float)
    more = table["parts"]
    named = [*(more["signs"][name] for name in FEATURES), *(more["pairs"][name] for name in PAIRS)]
    parts, parts_start = np.array([*named, *more["read"]], float), np.array(more["start"], float)
    shapes = (rows.shape, start.shape, parts.shape, parts_start.shape)
    wide, high = len(COLUMNS), len(FEATURES) + len(PAIRS) + sum(READ.values())
    if shapes != ((len(FEATURES), wide), (wide,), (high, len(SCORED)), (len(SCORED),)):
        raise ValueError(f"weights of {shapes}")
    return Weights(rows, start, parts, parts_start)


@cache
def _weights() -> Weights:
    return read_model(SHIPPED, read_weights)


def _scores(sentences: Sequence[str], title: str, units: Sequence[Candidate], rows: Matrix, start: Matrix) -> Scores:
    """By the first features, as many as there are rows."""
    looked_at = [sentence[:_LONGEST_SENTENCE] for sentence in sentences[:SCANNED]]
    scores = np.full((len(units), len(start)), UNUSABLE)
    read = [at for at, unit in enumerate(units) if unit.place < len(looked_at)]
    table = features(looked_at, title, [units[at] for at in read])[:, : len(rows)] @ rows + start
    nothing = _say_nothing(tuple(looked_at))
    for at, row in zip(read, table, strict=True):
        if not nothing[units[at].place]:
            scores[at] = row
    return scores


def _sentences(sentences: Sequence[str]) -> list[Candidate]:
    return [Candidate(sentence, SENTENCE, at, at) for at, sentence in enumerate(sentences)]


@lru_cache(maxsize=32)
def _say_nothing(sentences: tuple[str, ...]) -> tuple[bool, ...]:
    return tuple(map(_says_nothing, sentences))


def _says_nothing(sentence: str) -> bool:
    words = len(sentence.split())
    return words < _FRAGMENT or len(sentence) == _LONGEST_SENTENCE or _is_withdrawn(sentence.lower())


def _is_withdrawn(lowered: str) -> bool:
    return any(word in lowered for word in WITHDRAWN_WORDS) and WITHDRAWN.search(lowered) is not None


# --- features


def features(sentences: Sequence[str], title: str = "", candidates: Sequence[Candidate] | None = None) -> Matrix:
    """Return the features of each candidate, or of each sentence: one row for each.

    The columns are FEATURES, PAIRS, and what the network says, in the order of `roles.READ`. A clause has its sentence's
    place and role and what the network says of that, and its own wording, length and subject.
    """
    table, read = _of_sentences(tuple(sentences), title)
    if candidates is not None:
        table, read = _of_candidates(table, sentences, title, candidates), read[[unit.place for unit in candidates]]
    return np.hstack([table, table[:, _ONE] * table[:, _OTHER], read])


def _of_candidates(table: Matrix, sentences: Sequence[str], title: str, candidates: Sequence[Candidate]) -> Matrix:
    rows = table[[unit.place for unit in candidates]]
    clauses = [at for at, unit in enumerate(candidates) if unit.kind != SENTENCE]
    if clauses:
        texts = [candidates[at].text for at in clauses]
        rows[clauses, _WORDED] = [_worded(text) for text in texts]
        rows[clauses, _MEASURED] = np.hstack([_lengths(texts), _subjects(texts, tuple(sentences), title)])
        rows[clauses, _KIND] = [[float(candidates[at].kind == kind) for kind in KINDS[1:]] for at in clauses]
    return rows


@lru_cache(maxsize=32)  # the gist and the parts of a text ask for the same
def _of_sentences(sentences: tuple[str, ...], title: str) -> tuple[Matrix, Matrix]:
    """Return the features of each sentence and what the network says of it, neither to be changed."""
    roles, read = reading(sentences)
    if not sentences:
        return np.zeros((0, len(FEATURES))), read
    worded = np.array([_worded(sentence) for sentence in sentences], dtype=np.float64)
    placed = _placed(worded)
    measured = (_lengths(sentences), _subjects(sentences, sentences, title))
    none = np.zeros((len(sentences), len(_KINDS)))
    table = np.hstack([roles, worded, placed, _beside(roles, placed), *measured, none])
    table.flags.writeable = read.flags.writeable = False
    return table, read


def _worded(sentence: str) -> list[bool]:
    return _cues().found(sentence.lower())


@cache
def _cues() -> Prefiltered:
    return Prefiltered(CUES.values())


def _placed(shown: Matrix) -> Matrix:
    """Where each stands among the others, and on which side of the sentence that first says what the work is."""
    count = len(shown)
    places = np.zeros((count, len(_PLACES)))
    places[0, 0] = places[count - 1, 2] = 1.0
    places[1:2, 1] = 1.0
    places[max(0, count - 2) : count - 1, 3] = 1.0
    places[:, 4] = np.arange(count) / max(1, count - 1)
    announcing = np.flatnonzero(shown[:, [list(CUES).index(cue) for cue in _ANNOUNCING]].max(axis=1))
    # What the work is, is said the first time that it is named; later "we build" and "we apply" are its details.
    if len(announcing):
        places[announcing[0], 5] = 1.0
        places[: announcing[0], 6] = 1.0
        places[: announcing[0], 7] = 1.0 - shown[: announcing[0], list(CUES).index("we")]
    else:
        places[:, 8] = 1.0
    return places


def _beside(roles: Matrix, placed: Matrix) -> Matrix:
    """Whether the sentence before it, and the one after, says what the work is; how likely each of them is a result."""
    told = np.stack([placed[:, _PLACES.index("announces")], roles[:, RESULT]], axis=1)
    none = np.zeros((1, 2))
    before, after = np.concatenate([none, told[:-1]]), np.concatenate([told[1:], none])
    return np.stack([before, after], axis=2).reshape(len(told), len(_BESIDE))


def _lengths(sentences: Sequence[str]) -> Matrix:
    words = [len(sentence.split()) for sentence in sentences]
    return np.array(
        [(min(one, _TELLING) / _TELLING, (min(one, _MOST_WORDS) / 20) ** 2, float(one < _SHORT)) for one in words]
    )


class _Said(NamedTuple):
    """The words that tell something: of the title, of each sentence, and in how many sentences each stands."""

    named: frozenset[str]
    words: Sequence[frozenset[str]]
    everywhere: Counter[str]


@lru_cache(maxsize=32)
def _said(sentences: tuple[str, ...], title: str) -> _Said:
    words = [frozenset(_stems(sentence)) for sentence in sentences]
    return _Said(frozenset(_stems(title)), words, Counter(word for own in words for word in own))


def _subjects(texts: Sequence[str], sentences: tuple[str, ...], title: str) -> Matrix:
    """How much of the title each says and the other way round, and how much of it is said all over the text."""
    named, words, everywhere = _said(sentences, title)
    total = max(1, sum(everywhere.values()))

    def subject(own: frozenset[str]) -> tuple[float, float, float, float]:
        both, size = len(own & named), max(1, len(own))
        said = sum(everywhere[word] for word in own)
        return both / max(1, len(named)), both / size, said / total, said / size / len(sentences)

    return np.array([subject(own) for own in (words if texts is sentences else map(frozenset, map(_stems, texts)))])


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in tokens(text) if word not in STOPWORDS]
