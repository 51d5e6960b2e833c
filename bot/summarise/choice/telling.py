"""How much a short statement of a text tells somebody who has read the title and reads no further.

A linear model over what can be told at a glance: the statement's wording and length, what it says that the title does not,
what was taken off its sentence, and the sentence's place, role and scores (`bot.summarise.choice.scoring`). Its weights
stand in `models/gist.json`, one line per feature. They were learned by `training/gist.py` from statements of abstracts of
which a reader said whether they are worth showing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.choice.headline import figures
from bot.summarise.choice.model_file import read_model
from bot.summarise.choice.roles import ROLES, Matrix
from bot.summarise.choice.scoring import COLUMNS, EVIDENCE, METHOD, PROBLEM, SCORED, WHOLE, Scores, features
from bot.summarise.english.anaphora import points_inside
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.shortening import Statement

SHIPPED = Path(__file__).parents[1] / "models" / "gist.json"

Vector = npt.NDArray[np.float64]

_COMPONENT = (
    r"\b(?:module|loss|strategy|mechanism|branch|encoder|decoder|stage|layer|block|adapter|head|objective|scheme|component|"
    r"network|operator|pipeline|annotation)s?\b"
)
_THING = r"(?:proposed |novel |new )?(?:method|approach|framework|system|model|algorithm|technique|benchmark|dataset)\b"
_WORDED: Mapping[str, Screened] = {
    name: Screened(pattern, re.IGNORECASE)
    for name, pattern in {
        "vague": (
            r"\b(?:effectiveness|superiority|superior performance|competitive performance|insights?|potential|promising|"
            r"paves? the way|extensive|comprehensive|thorough|validate|deeper understanding|implications|"
            r"advances? (?:the|our)|foundation|highlight\w*|underscor\w*|important|significant(?:ly)?|challeng\w+|various|"
            r"robustness|efficacy|viability|feasibility|(?:principled |solid )?basis for|cornerstone)\b"
        ),
        "praise": (
            r"\b(?:validat|confirm|provid|accurate|coherent|realistic|understanding|offer|solution|integrat|effectiv|"
            r"consistently|superior|demonstrat|visit)\w*\b"
        ),
        "compares": (
            r"\b(?:outperform\w*|surpass\w*|state-of-the-art|beats?|exceed\w*|faster|fewer|smaller|larger|cheaper|better|"
            r"higher|lower|reduc\w+|improv\w+|first|only|more than|less than|nearly|almost|despite|without|no)\b"
        ),
        "sets beside": r"\b(?:than|over|compared|versus|vs|while|with only|without)\b",
        "sets apart": r"\b(?:not|no|only|without|fewer|less)\b",
        "the first": r"\bthe first\b",
        "proposes": r"^(?:Propose|Introduce|Present)s\b",
        "finds": r"^(?:Finds|Shows|Demonstrates|Reveals|Observes|Identifies|Proves|Derives|Establishes)\b",
        "the method": rf"^The {_THING}",
        "a": r"^An? ",
        "the authors": r"^The authors\b",
        "of the paper": (
            r"^(?:(?:Conducts?|Performs?|Discuss(?:es)?|Outlines?|Reports the|Provides a detailed)\b|"
            r"The (?:objective|goal|aim|purpose|survey|review|paper|study|work|"
            r"authors? (?:performed|conduct|also|then|further))\b|This (?:paper|work|study|survey|review)|"
            r"(?:\w+ ){1,3}(?:is|are|was|were) (?:assessed|evaluated|conducted|performed|tested|discussed|analyzed|"
            r"presented|validated|compared)\b)"
        ),
        "activity": (
            r"^(?:The authors )?(?:\w+ly )?(?:(?:evaluat|assess|examin|benchmark|explor|investigat)(?:e?s|ed?)|"
            r"stud(?:y|ies|ied)|analy[sz](?:es?|ed))\b"
        ),
        "of the field": (
            r"\b(?:is|are) (?:an? |the |one of the )?(?:\w+ )?(?:common|popular|powerful|widely|crucial|essential|vital|"
            r"standard|technique|paradigm|fundamental|central)\b|\b(?:has|have) (?:recently )?(?:emerged|become|attracted|"
            r"gained|revolutioni[sz]ed|transformed)\b|^The (?:emergence|advent|rise|success|development) of\b|"
            r"^Recent(?:ly)?\b"
        ),
        "a step": r"\b(?:then|subsequently|finally|first|during|each|further)\b",
        "passive": r"\b(?:is|are|was|were|been) \w+ed\b",
        "component": _COMPONENT,
        "by which means": r" (?:that|which|by|via|using|through|from|without) ",
        "can": r"\b(?:can|could|may|might|should|will|would)\b",
        "important": (
            r"\b(?:critical|crucial|essential|important|challeng\w+|limited|hinder\w*|fail\w*|struggl\w+|suffer\w*|"
            r"remains?|lack\w*)\b"
        ),
        "a number": r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w-])",
        "in brackets": r"\(",
        "ends in a participle": r"ed\.$",
    }.items()
}
# A result without a figure: that it is good.
_GOOD = Screened(
    r"\b(?:achiev|attain|show|demonstrat|substantiat|exhibit|yield|deliver|obtain)\w* (?:[\w-]+ ){0,4}?(?:results|"
    r"performances?|improvements?|gains|effectiveness|robustness|efficacy|feasibility|capabilities|advantages|"
    r"generali[sz]ability)\b|\b(?:outperform|surpass|exceed)\w* (?:[\w-]+ ){0,3}?"
    r"(?:state-of-the-art|SOTA|existing|previous|prior|baselines?|competing|methods|approaches)\b|"
    r"\b(?:improv|enhanc|boost)\w* (?:the )?(?:overall |model |its )?(?:performance|capabilities)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?:However|But|Yet|Unfortunately|Nevertheless|Nonetheless|Despite (?:this|these|their|its|the))\b")
_OTHER = re.compile(rf"(?!The (?:{_THING}|authors|results?|findings|experiments)\b)The ")
_NAME = re.compile(r"[A-Z]\w*[A-Z0-9]")
_STATEMENT = (
    "cost", "words", "short", "new words", "share of new words", "of the title", "the title again",
    "hardly more than the title", "figures", "measured", "figure lost", "measured result", "good, no figure", "by name",
    "points inside", "component, later", "another thing, later",
)  # fmt: skip
_SENTENCE = (
    "before the work", "announces", "after that", "first", "evidence", "method", "mainly a problem", "mainly evidence",
    "mainly the method", "best method", "whole", "rank", "turns", *(f"role: {role}" for role in ROLES),
)  # fmt: skip
FEATURES = (*_WORDED, *_STATEMENT, *_SENTENCE)

_EVIDENCE, _COMPONENT_AT = _SENTENCE.index("mainly evidence"), [*_WORDED].index("component")

_MOST_WORDS, _FEW = 18, 8
_NEW = 8  # words that the title has not; more tell no more
_LEAST_NEW, _FEW_NEW = 2, 4  # a statement with fewer says the title again, or hardly more
_STEM = 6  # letters by which two forms of a word are told to be one
_PRESENTS = re.compile(
    r"(?:propos|introduc|present|develop|author|nam|call|universal|unif|generali[sz]|improv|solv)\w*|novel|new|"
    r"frameworks?|methods?|models?|approach|systems?|paper|paradigm|technique|first|design\w*"
)
_CLIP = 5.0  # of a sentence's scores


class Weights(NamedTuple):
    """What each of FEATURES counts, and what is added to their sum."""

    rows: Vector
    start: float


class Text:
    """A text whose statements are weighed: what can be told of its sentences, and of its title."""

    def __init__(self, title: str, sentences: Sequence[str], scores: Scores, announced: int) -> None:
        """Look at the sentences, their `scores` for parts and whole; the one at `announced` says first what the work is."""
        self._announced = announced
        self._title = {word[:_STEM] for word in tokens(title)}
        self._of_sentences = self._told_of(sentences, title, scores.clip(-_CLIP, _CLIP))

    def _told_of(self, sentences: Sequence[str], title: str, scores: Scores) -> Matrix:
        parts, wholes = scores[:, : len(SCORED)], scores[:, COLUMNS.index(WHOLE)]
        places, mainly = np.arange(len(sentences)), parts.argmax(axis=1)
        method = parts[:, SCORED.index(METHOD)]
        columns = [
            places < self._announced,
            places == self._announced,
            places == self._announced + 1,
            places == 0,
            parts[:, SCORED.index(EVIDENCE)],
            method,
            *(mainly == SCORED.index(part) for part in (PROBLEM, EVIDENCE, METHOD)),
            method == method.max(initial=-_CLIP),
            wholes,
            (wholes[:, None] < wholes).mean(axis=1),
            [_TURNS.match(sentence) is not None for sentence in sentences],
        ]
        return np.hstack([np.array(columns, float).T, features(sentences, title)[:, : len(ROLES)]])

    def features(self, at: int, one: Statement, *, measured: bool) -> Vector:
        """Return what can be told of a statement of the sentence at `at`, which has a measured number where `measured`."""
        worded = [pattern.is_in(one.text) for pattern in _WORDED.values()]
        return np.concatenate([worded, self._told(at, one, worded, measured), self._of_sentences[at]])

    def _told(self, at: int, one: Statement, worded: Sequence[bool], of_measured: bool) -> list[float]:
        text, later = one.text, at > self._announced
        words, own = len(text.split()), {word[:_STEM] for word in tokens(text) if word not in STOPWORDS}
        new = sum(word not in self._title and not _PRESENTS.fullmatch(word) for word in own)
        counted = figures(text)
        measured = of_measured and counted > 0
        return [
            one.cost,
            words / _MOST_WORDS,
            words < _FEW,
            min(new, _NEW) / _NEW,
            new / max(1, len(own)),
            len(own & self._title) / max(1, len(self._title)),
            new < _LEAST_NEW and not measured,
            new < _FEW_NEW and not measured,
            min(counted, 2) ** 0.5,
            measured,
            of_measured and not measured,
            measured and bool(self._of_sentences[at][_EVIDENCE]),
            not measured and _GOOD.search(text) is not None,
            _NAME.match(text) is not None,
            points_inside(text),
            later and worded[_COMPONENT_AT],
            later and not measured and _OTHER.match(text) is not None,
        ]


def how_much(rows: Sequence[Vector]) -> Vector:
    """Return how much each statement tells, as the logarithm of the odds that it is worth showing."""
    weights = _weights()
    return np.array(rows).reshape(len(rows), len(FEATURES)) @ weights.rows + weights.start


def read_weights(path: Path) -> Weights:
    """Return the weights that `training/gist.py` wrote to `path`; raises KeyError where one is missing."""
    table = json.loads(path.read_text(encoding="ascii"))
    return Weights(np.array([table["signs"][name] for name in FEATURES], float), float(table["start"]))


@cache
def _weights() -> Weights:
    return read_model(SHIPPED, read_weights)
