"""What marks the headline among a text's results: a measured number."""

import re
from functools import lru_cache

from bot.summarise.english.prefilter import Screened

_FIGURE = Screened(
    r"(?<![\w.-])[~<>≥≤≈$+-]?\d+(?:[.,]\d+)*(?:[\s-]?(?:\\?%|×|x\b|fold|[KMGT]i?B\b|(?-i:[mμ]?s)\b(?!-)|fps|times\b|"
    r"(?:percentage )?points\b|(?<!-)point\b|"
    r"point(?= (?:gain|higher|lower|improvement|increase|drop|decrease|reduction|lead|advantage|boost)\b)|"
    r"percent|hours?|days?|seconds?|minutes?|dB|orders?)|x\b)|"
    r"\b(?:twice|half|double|orders? of magnitude)\b(?!-)|(?-i:(?P<named>\b[A-Z]\w*[ -])?)(?<![\w.=<])\d+\.\d+\b(?![.-]?\w)",
    re.IGNORECASE,
)
_HAS_ONE = re.compile(r"\d|twice|half|double|magnitude", re.IGNORECASE)  # what every measured number has
_PROBABILITY = Screened(r"\bp(?:[ -]values?)? ?\$?(?:[=<>≤]|\\leq?|\\lt)\$? ?[\d.]+", re.IGNORECASE)


@lru_cache(maxsize=256)  # a text's statements are asked about for the parts, the gist and the card
def figures(text: str) -> int:
    """Return how many measured numbers the text has: `31%`, `2.4 times`, `an F1 of 85.3`; the p of a test is none."""
    if not _HAS_ONE.search(text):
        return 0
    return sum(not found["named"] for found in _FIGURE.finditer(_PROBABILITY.sub("", text)))


def measures(text: str) -> bool:
    """Say whether the text has a measured number."""
    return figures(text) > 0
