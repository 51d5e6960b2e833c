"""How common words are: at large, from a table that is shipped, and with the items of a day added to it; and stopwords.

Stopwords say nothing about the subject of a paper: the closed classes of English, and the verbs of every abstract. They are
left out of the vectors, not of the phrases. On a day of 20 papers their counted rarity means nothing, and two texts would be
close because both say "which": with them the cosine of unrelated papers is 0.08 on such a day and 0.05 on a day of 1,300;
without them 0.035 and 0.022.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import repeat

import numpy as np

from bot.query.fold import tokens
from bot.rank.corpus import Floats
from bot.rank.weights import TABLE_COUNTS

STOPWORDS = frozenset(
    tokens(
        """
        a about above across after again against all almost along already also although always am among an and another any
        are as at be because been before being below between beyond both but by can cannot could did do does doing done down
        due during each either else enough et etc even ever every few first for from further furthermore given had has have
        having he hence her here his how however i if in indeed instead into is it its itself just last latter least less
        like made make makes making many may me might more moreover most much must my namely near neither never nevertheless
        next no nor not nothing now of off often on once one only onto or other others otherwise our out over own part per
        perhaps rather same second several she should similarly since so some still such take than that the their them
        themselves then there thereby therefore these they this those though through throughout thus to together too toward
        towards two three under unlike until up upon us use used useful uses using very via was we well were what when where
        whereas wherein whether which while who whom whose why will with within without would yet you your

        abstract approach based demonstrate demonstrates e g ie eg introduce introduces method novel paper present
        presented presents propose proposed proposes result results show shown shows study work
        """
    )
)


class Background:
    """The rarity of words, and how much of each an ordinary paper has."""

    def __init__(self, having: Mapping[str, float], count: float, rarest: float = 0.0) -> None:
        """Take how many of `count` papers have each word; of words that are not named, `rarest` papers."""
        self._words = dict(zip(having, range(len(having)), strict=True))
        papers = np.fromiter(having.values(), float, len(having))
        # The last place is that of every word that is not named; the idf is that of bot.rank.vectors.
        self._idf: Floats = 1 + np.log((1 + count) / (1 + np.append(papers, rarest)))
        # The direction of the mean paper, as if every paper had each of its words once.
        mean = np.append(papers, 0.0) * self._idf
        self._ordinary: Floats = mean / max(float(np.linalg.norm(mean)), 1e-9)

    @property
    def words(self) -> Collection[str]:
        """The words that are named."""
        return self._words.keys()

    def idf(self, words: Sequence[str]) -> Floats:
        """Return the idf of each of the words."""
        return self._idf[self._places(words)]

    def ordinary(self, words: Sequence[str]) -> Floats:
        """Return how much of each of the words the direction of an ordinary paper has; all words together have length 1."""
        return self._ordinary[self._places(words)]

    def _places(self, words: Sequence[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return np.fromiter(map(self._words.get, words, repeat(-1)), np.int64, len(words))


@cache
def at_large() -> Background:
    """Return what `common_words.txt` says."""
    listed = table()
    return Background(listed, TABLE_COUNTS, min(listed.values()) / 2)


def with_day(having: Mapping[str, int], count: int) -> Background:
    """Return the table and, added to it, a day of `count` items, of which `having` have each word."""
    listed = table()
    rarest = min(listed.values()) / 2
    both = {word: papers + having.get(word, 0) for word, papers in listed.items()}
    both |= {word: papers + rarest for word, papers in having.items() if word not in listed}
    return Background(both, TABLE_COUNTS + count, rarest)


@cache
def table() -> Mapping[str, float]:
    """Return how many of TABLE_COUNTS papers have each listed word; reads it once, in about 5 ms."""
    text = resources.files("bot.rank").joinpath("common_words.txt").read_text(encoding="ascii")
    total, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    scale = TABLE_COUNTS / int(total)
    return {word: scale * int(number) for word, number in (line.split() for line in lines)}
