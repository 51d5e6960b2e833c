"""What can be told of each sentence of an abstract at a glance: its role, its wording, its place, its length, its subject.

Each sign is a number; `bot.summarise.fitness` says what it counts for each part of a summary.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bot.query.fold import tokens
from bot.rank.stopwords import STOPWORDS
from bot.summarise.chain import Matrix
from bot.summarise.cues import SHOWS
from bot.summarise.roles import RESULT, ROLES, score

_PLACES = ("first", "second", "last", "last but one", "late", "announces", "before", "of others", "unannounced")
_LENGTHS = ("length", "long", "short")
_BESIDE = ("after what is announced", "before what is announced", "after a result", "before a result")
_SUBJECT = ("title told", "of the title", "subject", "common")
SIGNS = (*ROLES, *SHOWS, *_PLACES, *_BESIDE, *_LENGTHS, *_SUBJECT)

_SHORT = 10  # words
_TELLING = 25  # words that tell something; more tell no more
_LONGEST = 60  # words; what is longer counts as that
_STEM = 7  # letters by which two forms of a word are told to be one
_ANNOUNCING = ("introduces", "paper", "is a")


def signs(sentences: Sequence[str], title: str = "") -> Matrix:
    """Return the signs of each sentence: one row per sentence, columns as in SIGNS."""
    if not sentences:
        return np.zeros((0, len(SIGNS)))
    shown = np.array([_worded(sentence) for sentence in sentences], dtype=np.float64)
    roles, placed = score(sentences), _placed(shown)
    return np.hstack([roles, shown, placed, _beside(roles, placed), _lengths(sentences), _subjects(sentences, title)])


def _worded(sentence: str) -> list[bool]:
    lowered = sentence.lower()
    return [pattern.search(lowered) is not None for pattern in SHOWS.values()]


def _placed(shown: Matrix) -> Matrix:
    """Where each stands among the others, and on which side of the sentence that first says what the work is."""
    count = len(shown)
    places = np.zeros((count, len(_PLACES)))
    places[0, 0] = places[count - 1, 2] = 1.0
    places[1:2, 1] = 1.0
    places[max(0, count - 2) : count - 1, 3] = 1.0
    places[:, 4] = np.arange(count) / max(1, count - 1)
    announcing = np.flatnonzero(shown[:, [list(SHOWS).index(cue) for cue in _ANNOUNCING]].max(axis=1))
    # What the work is, is said the first time that it is named; later "we build" and "we apply" are its details.
    if len(announcing):
        places[announcing[0], 5] = 1.0
        places[: announcing[0], 6] = 1.0
        places[: announcing[0], 7] = 1.0 - shown[: announcing[0], list(SHOWS).index("we")]
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
    return np.array([(min(one, _TELLING) / _TELLING, (min(one, _LONGEST) / 20) ** 2, float(one < _SHORT)) for one in words])


def _subjects(sentences: Sequence[str], title: str) -> Matrix:
    """How much of the title each says and the other way round, and how much of it is said all over the text."""
    named = set(_stems(title))
    words = [set(_stems(sentence)) for sentence in sentences]
    everywhere = Counter(word for own in words for word in own)
    total = max(1, sum(everywhere.values()))

    def subject(own: set[str]) -> tuple[float, float, float, float]:
        both, size = len(own & named), max(1, len(own))
        said = sum(everywhere[word] for word in own)
        return both / max(1, len(named)), both / size, said / total, said / size / len(sentences)

    return np.array([subject(own) for own in words])


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in tokens(text) if word not in STOPWORDS]
