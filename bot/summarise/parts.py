"""Chooses which sentences of a text stand for each of the four parts.

Every sentence gets a fitness per part from its role (`bot.summarise.roles`), the cues that it shows and its figures; the
four are then chosen together, so that no sentence stands for two parts and the whole is fittest. A part whose best sentence
stays under its bar is left out: the text does not say.
"""

import itertools
import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bot.models import PARTS
from bot.summarise.cues import PATTERNS
from bot.summarise.roles import ROLES, score

PROBLEM, METHOD, EVIDENCE, WHY = PARTS

Choice = dict[str, tuple[int, ...]]  # per part the places of its sentences in the text, empty when it is not there

_CANDIDATES = 5  # per part, for the joint choice: 5^4 combinations at most
_PAIR_WORDS = 70  # two sentences of one part are no longer than this together
_SHORT = 10  # words
_SCANNED = 60  # sentences of a longer text that are looked at; an abstract has 5 to 15

# What adds to a sentence's fitness for a part, beside its role. By reading; checked with benchmarks/summaries.py.
_EXTRA = {
    "need": r"\b(?:without|no (?:single|standard|existing|one)|beyond|costs?|overheads?|latency|bound|constrain\w+|"
    r"degrad\w+|untenable|gap|barely|not (?:yet|well|fully)|never|poor(?:ly)?|severe\w*|slow|prohibitive\w*|blocked|hinder\w*|"
    r"stochastic|unconstrained|complex|overlook\w*|miss(?:es|ing)|struggl\w+|imbalance)\b",
    "introduces": r"\b(?:we|paper|work|article|study|authors?) "
    r"(?:\w+ly |further |then |also |first |thus |hereby )?(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|"
    r"devis\w+|build|built|creat\w+|describ\w+|investigat\w+|stud(?:y|ies)|analy[sz]\w+|explor\w+|examin\w+|evaluat\w+|"
    r"argu\w+|formulat\w+|address\w*|consider\w*|provid\w+|offer\w*|releas\w+|survey\w*|review\w*|compar\w+|show how|"
    r"us(?:e|ed)|conduct\w*|perform\w*|appl(?:y|ied))\b",
    "is a": r"^(?:\w*[A-Z][\w+-]*)(?: \([^)]*\))? is an? .{0,60}\b(?:framework|system|method|library|data ?set|benchmark|"
    r"tool|model|algorithm|architecture|platform|toolkit|language|compiler|protocol|approach|technique|agent|simulator)\b",
    "further": r"\b(?:we|work|paper) (?:further|also|additionally|then|finally)\b|"
    r"^(?:further|additionally|moreover|finally)\b",
    "mechanics": r"\b(?:decompos\w+|predict(?:s|ing)|emulat\w+|consists|comprises|employs|uses|leverages|exploits|"
    r"introduces|maps|adapts|learns|encodes|selects|computes|combines|integrates|relies on|works by|by \w+ing)\b",
    "makes possible": r"\b(?:enabl(?:es?|ing)|allow(?:s|ing)?|makes? it (?:possible|easier|practical|straightforward)|"
    r"mak(?:es|ing) \w+ (?:practical|possible|easier)|opens? (?:up |the )?|paves?|facilitat\w+|help(?:s|ing)?|supports?|"
    r"can be (?:used|applied|deployed|extended)|serves? as|useful|practical(?:ly)?|applicab\w+)\b",
    "means": r"\b(?:implications?|suggest(?:s|ing)?|highlight(?:s|ing)?|underscor\w+|indicat(?:es?|ing)|insights?|potential|"
    r"importan(?:t|ce)|promising|future|guid(?:e|ance|elines?)|toward|outlines?|shift|necessity|foundation|"
    r"first (?:step|time)|new (?:direction|research|perspective|avenue)s?|advances?|broad\w*|general(?:i[sz]\w+|ity))\b",
    "gives": r"\b(?:provides?|offers?|delivers?|contribut\w+|demonstrates?|without sacrificing|room to|flexible|scalable|"
    r"reproducible|deploy\w*|productivity|hardware-agnostic|trade-?off)\b",
    "changes": r"\b(?:without sacrificing|room to|paradigm shift|research direction|paves? the way|"
    r"opens? (?:up )?(?:a|new|the))\b",
    "dangling": r"^(?:(?:however|moreover|furthermore|also|but|and|thus|therefore|hence|in addition|additionally|yet|on the other hand),? )?"
    r"(?:all |both |each of )?(?:this|these|those|it|they|such|both|its|their|here|instead|as a result|the former)\b|"
    r"^(?:on the other hand|for (?:example|instance))\b",
    "purpose": r"^(?:in order )?to \w+ ",
    "withdrawn": r"\b(?:paper|article|manuscript|submission|version) (?:has been|was|is|have been|is being) "
    r"(?:\w+ )?(?:withdrawn|retracted|removed)|\bwithdrawn by (?:the )?(?:author|arxiv)",
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
        "dangling": -0.3, "lack": -0.1, "gap": -0.1, "question": -0.2, "mechanics": 0.2, "experiment": -0.2, "short": -0.2,
    },
    EVIDENCE: {
        "result": 1.0, "background": -0.8, "figure": 0.8, "number": 0.1, "show": 0.4, "better": 0.4, "experiment": 0.3,
        "availability": -0.8, "dangling": -0.3, "must": -0.2, "introduces": -0.4, "aim": -0.2, "short": -0.3,
    },
    WHY: {
        "makes possible": 0.7, "means": 0.6, "gives": 0.4, "changes": 0.6, "availability": -0.3,
        "introduces": -0.5, "figure": -0.4, "dangling": -0.4, "purpose": -0.6, "result": 0.3, "background": -0.4, "method": -0.3, "lack": -0.1,
        "copyright": -1.0, "late": 0.6, "before": -0.4, "short": -0.3, "mechanism": -0.1,
    },
}  # fmt: skip

_BARS = {PROBLEM: 0.75, METHOD: 0.55, EVIDENCE: 0.85, WHY: 0.85}
_SECOND = {METHOD: 0.35, EVIDENCE: 1.3}  # how fit a second sentence must be

_ALL = {**PATTERNS, **{name: re.compile(pattern, re.IGNORECASE) for name, pattern in _EXTRA.items()}}

Fitness = npt.NDArray[np.float64]


def choose(sentences: Sequence[str]) -> Choice:
    """Return for each part the places (0-based) of the sentences that stand for it: none, one or two, in reading order."""
    fitness = fit(sentences)
    chosen = _together(fitness)
    taken = {at for at in chosen.values() if at is not None}
    choice: Choice = {}
    for part in PARTS:
        first = chosen[part]
        second = None if first is None else _second(part, first, sentences, fitness, taken)
        choice[part] = tuple(sorted(at for at in (first, second) if at is not None))
        taken.update(choice[part])
    return choice


def fit(sentences: Sequence[str]) -> Fitness:
    """Return how fit each sentence is for each part: one row per sentence, columns as in PARTS, -9 for notices."""
    read = sentences[:_SCANNED]
    roles = score(read)
    features = _features(read)
    fitness = np.full((len(sentences), len(PARTS)), -9.0)
    for at, found in enumerate(features):
        if found.get("withdrawn") or len(read[at].split()) < 3:
            continue
        named = {**found, **dict(zip(ROLES, roles[at], strict=True))}
        fitness[at] = [sum(w * named.get(name, 0.0) for name, w in _WEIGHTS[part].items()) for part in PARTS]
    return fitness


def _features(sentences: Sequence[str]) -> list[dict[str, float]]:
    """The cues that each sentence shows, with where it stands among the others."""
    features: list[dict[str, float]] = []
    for at, sentence in enumerate(sentences):
        found = {name: 1.0 for name, pattern in _ALL.items() if pattern.search(sentence)}
        found["late"] = at / max(1, len(sentences) - 1)
        found["short"] = float(len(sentence.split()) < _SHORT)
        features.append(found)
    announced = next((at for at, found in enumerate(features) if found.keys() & {"introduces", "paper", "is a"}), 0)
    for found in features[:announced]:
        found["before"] = 1.0
    return features


def _together(fitness: Fitness) -> dict[str, int | None]:
    """One sentence per part, no sentence twice, the sum of what they lie above their bars as large as can be."""
    options: list[list[tuple[float, int | None]]] = []
    for column, part in enumerate(PARTS):
        best = np.argsort(-fitness[:, column], kind="stable")[:_CANDIDATES]
        above = [(float(fitness[at, column]) - _BARS[part], int(at)) for at in best]
        options.append([(gain, at) for gain, at in above if gain > 0] + [(0.0, None)])
    best_of_all = max(itertools.product(*options), key=_worth)
    return {part: at for part, (_, at) in zip(PARTS, best_of_all, strict=True)}


def _worth(combination: Sequence[tuple[float, int | None]]) -> float:
    places = [at for _, at in combination if at is not None]
    if len(set(places)) < len(places):
        return -1.0
    return sum(gain for gain, _ in combination)


def _second(part: str, first: int, sentences: Sequence[str], fitness: Fitness, taken: set[int]) -> int | None:
    """A second sentence that adds to the first: for the method its mechanism, for the evidence further figures."""
    if part not in _SECOND:
        return None
    column = PARTS.index(part)
    room = _PAIR_WORDS - len(sentences[first].split())
    free = [at for at in range(len(fitness)) if at not in taken and len(sentences[at].split()) <= room]
    if part == METHOD:
        free = [at for at in free if first < at <= first + 3 and PATTERNS["mechanism"].search(sentences[at])]
    else:
        free = [at for at in free if PATTERNS["figure"].search(sentences[at]) and abs(at - first) <= 2]
    best = max(free, key=lambda at: (fitness[at, column], -at), default=None)
    return best if best is not None and fitness[best, column] >= _SECOND[part] else None
