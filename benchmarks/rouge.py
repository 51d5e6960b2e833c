"""ROUGE as F1: overlap of single words, of word pairs, and the longest common subsequence (Lin, 2004).

Words are runs of letters and digits in lower case, those of more than three characters cut to their stem (Porter, 1980), as
the customary implementation (google-research's rouge-score, with its stemmer on) has it; nothing is left out.
"""

import re
from collections import Counter
from collections.abc import Sequence

import Stemmer

Scores = tuple[float, float, float]  # ROUGE-1, ROUGE-2, ROUGE-L, each 0-1

_STEMMED = 4  # characters of the shortest word that is cut
_stemmer = Stemmer.Stemmer("porter")


def rouge(said: str, references: Sequence[str]) -> Scores:
    """Return the three scores of `said`, each against the reference that it is closest to by that score."""
    one, two, longest = zip(*_scores(said, references), strict=True) if references else ((0.0,),) * 3
    return max(one), max(two), max(longest)


def of_closest(said: str, references: Sequence[str]) -> Scores:
    """Return the three scores of `said` against the one reference with the highest ROUGE-1, the first of equals."""
    return max(_scores(said, references), key=lambda scores: scores[0], default=(0.0, 0.0, 0.0))


def _scores(said: str, references: Sequence[str]) -> list[Scores]:
    own = _words(said)
    others = [_words(reference) for reference in references]
    return [
        (_grams(own, other, 1), _grams(own, other, 2), _f1(_common(own, other), len(own), len(other))) for other in others
    ]


def _words(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [_stemmer.stemWord(word) if len(word) >= _STEMMED else word for word in words]


def _grams(own: list[str], other: list[str], size: int) -> float:
    one, two = (Counter(zip(*(words[at:] for at in range(size)), strict=False)) for words in (own, other))
    return _f1((one & two).total(), one.total(), two.total())


def _f1(shared: int, own: int, other: int) -> float:
    return 2 * shared / (own + other) if shared else 0.0


def _common(own: list[str], other: list[str]) -> int:
    """Length of the longest common subsequence, by rows of the usual table."""
    row = [0] * (len(other) + 1)
    for word in own:
        before = row
        row = [0]
        for at, against in enumerate(other):
            row.append(before[at] + 1 if word == against else max(before[at + 1], row[-1]))
    return row[-1]
