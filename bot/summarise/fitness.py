"""Says how fit each sentence is for each of the four parts: its role, the cues that it shows, its figures, its place.

The weights were set by reading and checked with `benchmarks/summaries.py`; a model that was trained on marked sentences can
take the place of `fit` as it stands.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bot.models import PARTS
from bot.summarise.cues import PATTERNS
from bot.summarise.roles import ROLES, score

PROBLEM, METHOD, EVIDENCE, WHY = PARTS

Fitness = npt.NDArray[np.float64]

UNFIT = -9.0  # of a notice or a fragment: no part may have it
_SHORT = 10  # words
_FRAGMENT = 3  # words; fewer say nothing
_LONGEST = 1_500  # characters; a longer "sentence" is none, and no pattern is tried on more
_SCANNED = 60  # sentences of a longer text that are looked at; an abstract has 5 to 15

# What adds to a sentence's fitness for a part, beside its role. By reading; checked with benchmarks/summaries.py.
_EXTRA = {
    "need": r"\b(?:without|no (?:single|standard|existing|one)|beyond|costs?|overheads?|latency|bound|constrain\w+|"
    r"degrad\w+|untenable|gap|barely|not (?:yet|well|fully)|never|poor(?:ly)?|severe\w*|slow|prohibitive\w*|"
    r"blocked|hinder\w*|stochastic|unconstrained|complex|overlook\w*|miss(?:es|ing)|struggl\w+|imbalance)\b",
    "introduces": r"\b(?:we|paper|work|article|study|authors?) (?:\w+ly |further |then |also |first |thus |"
    r"hereby )?(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|devis\w+|build|built|creat\w+|"
    r"describ\w+|investigat\w+|stud(?:y|ies)|analy[sz]\w+|explor\w+|examin\w+|evaluat\w+|argu\w+|formulat\w+|"
    r"address\w*|consider\w*|provid\w+|offer\w*|releas\w+|survey\w*|review\w*|compar\w+|show how|us(?:e|ed)|"
    r"conduct\w*|perform\w*|appl(?:y|ied))\b",
    "is a": r"^(?:\w*[A-Z][\w+-]*)(?: \([^)]*\))? is an? .{0,60}\b(?:framework|system|method|library|data ?set|"
    r"benchmark|tool|model|algorithm|architecture|platform|toolkit|language|compiler|protocol|approach|"
    r"technique|agent|simulator)\b",
    "further": r"\b(?:we|work|paper) (?:further|also|additionally|then|finally)\b|^(?:further|additionally|moreover|"
    r"finally)\b",
    "mechanics": r"\b(?:decompos\w+|predict(?:s|ing)|emulat\w+|consists|comprises|employs|uses|leverages|exploits|"
    r"introduces|maps|adapts|learns|encodes|selects|computes|combines|integrates|relies on|works by|"
    r"by \w+ing)\b",
    "makes possible": r"\b(?:enabl(?:es?|ing)|allow(?:s|ing)?|makes? it (?:possible|easier|practical|"
    r"straightforward)|mak(?:es|ing) \w+ (?:practical|possible|easier)|opens? (?:up |the )?|paves?|facilitat\w+|"
    r"help(?:s|ing)?|supports?|"
    r"can be (?:used|applied|deployed|extended)|serves? as|useful|practical(?:ly)?|applicab\w+)\b",
    "means": r"\b(?:implications?|suggest(?:s|ing)?|highlight(?:s|ing)?|underscor\w+|indicat(?:es?|ing)|insights?|"
    r"potential|importan(?:t|ce)|promising|future|guid(?:e|ance|elines?)|toward|outlines?|shift|necessity|"
    r"foundation|first (?:step|time)|new (?:direction|research|perspective|avenue)s?|advances?|broad\w*|"
    r"general(?:i[sz]\w+|ity))\b",
    "gives": r"\b(?:provides?|offers?|delivers?|contribut\w+|demonstrates?|without sacrificing|room to|flexible|"
    r"scalable|reproducible|deploy\w*|productivity|hardware-agnostic|trade-?off)\b",
    "changes": r"\b(?:without sacrificing|room to|paradigm shift|research direction|paves? the way|opens? (?:up )?(?:a|"
    r"new|the))\b",
    "dangling": r"^(?:(?:however|moreover|furthermore|also|but|and|thus|therefore|hence|in addition|additionally|yet|"
    r"on the other hand),? )?(?:all |both |each of )?(?:this(?! (?:paper|work|study|article|survey|thesis))|these|"
    r"those|it|they|such|both|its|their|here|"
    r"instead|as a result|the former)\b|^(?:on the other hand|for (?:example|instance))\b",
    "purpose": r"^(?:in order )?to \w+ ",
    "withdrawn": r"\b(?:paper|article|manuscript|submission|version) (?:has been|was|is|have been|"
    r"is being) (?:\w+ )?(?:withdrawn|retracted|removed)|\bwithdrawn by (?:the )?(?:author|arxiv)",
}

_WEIGHTS: Mapping[str, Mapping[str, float]] = {
    PROBLEM: {
        "background": 1.0, "objective": 0.2, "result": -0.5, "other": -0.5, "lack": 0.6, "challenge": 0.5, "gap": 0.45,
        "need": 0.4, "introduces": -0.9, "figure": -0.3, "better": -0.1, "availability": -1.0, "dangling": -0.5,
        "prior": 0.1, "show": -0.3, "paper": -0.2, "makes possible": -0.1, "short": -0.3, "late": -0.2,
    },
    METHOD: {
        "objective": 0.7, "method": 0.7, "background": -0.5, "result": -0.4, "other": -0.5, "introduces": 0.9, "is a": 1.3,
        "paper": 0.3, "mechanism": 0.2, "further": -0.5, "show": -0.4, "figure": -0.4, "availability": -0.8,
        "dangling": -0.3, "lack": -0.1, "gap": -0.1, "question": -0.2, "mechanics": 0.2, "announces": 0.3,
        "experiment": -0.2, "short": -0.2,
    },
    EVIDENCE: {
        "result": 1.0, "background": -0.8, "figure": 0.8, "number": 0.1, "show": 0.4, "better": 0.4, "experiment": 0.3,
        "availability": -0.8, "dangling": -0.3, "must": -0.2, "introduces": -0.4, "aim": -0.2, "short": -0.3,
    },
    WHY: {
        "makes possible": 0.7, "means": 0.6, "gives": 0.4, "changes": 0.6, "availability": -0.3, "introduces": -0.5,
        "figure": -0.4, "dangling": -0.4, "purpose": -0.6, "result": 0.3, "background": -0.4, "method": -0.3, "lack": -0.1,
        "copyright": -1.0, "late": 0.6, "before": -0.4, "short": -0.3, "mechanism": -0.1,
    },
}  # fmt: skip

SHOWS = {**PATTERNS, **{name: re.compile(pattern, re.IGNORECASE) for name, pattern in _EXTRA.items()}}


def fit(sentences: Sequence[str]) -> Fitness:
    """Return how fit each sentence is for each part: one row per sentence, columns as in PARTS."""
    read = [sentence[:_LONGEST] for sentence in sentences[:_SCANNED]]
    roles = score(read)
    features = _features(read)
    fitness = np.full((len(sentences), len(PARTS)), UNFIT)
    for at, found in enumerate(features):
        if found.get("withdrawn") or len(read[at].split()) < _FRAGMENT or len(read[at]) == _LONGEST:
            continue
        named = {**found, **dict(zip(ROLES, roles[at], strict=True))}
        fitness[at] = [sum(w * named.get(name, 0.0) for name, w in _WEIGHTS[part].items()) for part in PARTS]
    return fitness


def _features(sentences: Sequence[str]) -> list[dict[str, float]]:
    """The cues that each sentence shows, with where it stands among the others."""
    features: list[dict[str, float]] = []
    for at, sentence in enumerate(sentences):
        found = {name: 1.0 for name, pattern in SHOWS.items() if pattern.search(sentence)}
        found["late"] = at / max(1, len(sentences) - 1)
        found["short"] = float(len(sentence.split()) < _SHORT)
        features.append(found)
    announced = next((at for at, found in enumerate(features) if found.keys() & {"introduces", "paper", "is a"}), 0)
    for found in features[:announced]:
        found["before"] = 1.0
    # What the work is, is said the first time that it is named; later "we build" and "we apply" are its details.
    for found in features[announced : announced + 1]:
        found["announces"] = 1.0
    return features
