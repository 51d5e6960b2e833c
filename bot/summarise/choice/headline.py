"""What marks the headline among a text's results, a measured number; and what is no result: what was only done."""

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


# `Examines the use of words in posts.`, `The authors apply it to pages.`, `The results of a case are presented.`
_WHO = r"(?:The authors|This (?:paper|work|study|article)) (?:\w+ly |also |then |have |has )?"
_DOES = Screened(
    rf"^(?:{_WHO}|(?:\w+ly )?)(?:address|appl|analy[sz]|assess|compar|conclud|conduct|consider|describ|design|develop|"
    r"discuss|emphasi[sz]|evaluat|examin|explor|focus|generali[sz]|introduc|investigat|organi[sz]|present|propos|provid|refer|"
    r"stud|test|us)(?:e?s|ies|e|y|ied|ed|)\b|"
    r"^[^,;:]*?\b(?:is|are|was|were|been) (?:\w+ly |also |then )?(?:analy[sz]ed|applied|carried out|conducted|considered|"
    r"described|developed|discussed|employed|evaluated|examined|given|introduced|investigated|performed|presented|proposed|"
    r"provided|studied|undertaken|used)\b",
    re.IGNORECASE,
)
_COMES_OF_IT = re.compile(
    r"\b(?:that|than|more|less|fewer|better|best|worse|faster|higher|lower|larger|smaller|optimal|bounds?|first|only|without|"
    r"found|led|rose|fell|grew|"
    r"(?:achiev|attain|boost|confirm|demonstrat|(?<!the )effective|establish|exceed|exhibit|find|gain|guarantee|identif|"
    r"improv|increas|indicat|obtain|observ|outperform|prov(?:e|ing|ab)|proof|reach|reduc|reveal|sav(?:e|ing)|show|significan|"
    r"sol(?:ve|ving)|suggest|superior|support|surpass|uncover|valid|verif|yield)\w*)\b",
    re.IGNORECASE,
)
# What is hoped for, whatever its verbs are: `The study aims to improve caches.`
_AIMS = Screened(
    r"^(?:The|This) (?:research|study|work|paper|project|survey|review) (?:aims?|seeks?|attempts?) (?:to|at)\b|"
    r"^(?:The )?(?:experiments|evaluations?) include\b",
    re.IGNORECASE,
)


def only_does(text: str) -> bool:
    """Say whether an edited sentence tells what was done or is aimed at, and nothing that came of it."""
    if measures(text):
        return False
    return _AIMS.search(text) is not None or (_DOES.search(text) is not None and _COMES_OF_IT.search(text) is None)
