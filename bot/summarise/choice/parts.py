"""Chooses which sentences of a text stand for each of the four parts.

Every sentence gets a score per part (`bot.summarise.choice.scoring`); the four are then chosen together, so that no
sentence stands for two parts and the sum of the scores is highest. A sentence that begins with a `This` or `It` which points
at another is only chosen with the one before it, and only if no other scores nearly as high; one that points at another
from inside (`automating this task`) gives way to another more easily, too, and comes with the one before it where that is
short. A part whose best sentence stays under its bar is left out: the text does not say.
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.models import PARTS
from bot.summarise.choice.cue_phrases import MECHANISM
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, UNUSABLE, WHY, Scores, part_scores
from bot.summarise.english.anaphora import dangles, points_inside

Choice = dict[str, tuple[int, ...]]  # per part the places of its sentences in the text, empty when it is not there
Places = tuple[int, ...]

_CANDIDATES = 4  # per part, for the joint choice: 5^4 combinations at most
_PAIR_WORDS = 55  # two sentences of one part are no longer than this together
# Added to the bars where a part's best sentence stands elsewhere: what is left must say it plainly to stand for it.
_SECOND_BEST = 1.5

_NEXT = 3  # sentences after the first in which more of the method is looked for
_NEAR = 2  # sentences around the first in which further evidence is looked for

# The least score of a part's sentence. By ten-fold cross-validation on the marked abstracts (`training/parts.py`), after the
# joint choice, there is one in 93 % of the texts of which a problem is shown, 94 % for evidence and 75 % for why it
# matters; 6, 4 and 22 % of those that have it are missed. Every abstract has something that says what the work is.
_BARS = {PROBLEM: -0.5, METHOD: -1.5, EVIDENCE: -0.5, WHY: -1.2}
# The least score of a second sentence. By the same cross-validation it is marked, too, in six of ten methods that get one
# and in eight of ten evidences.
_SECOND = {METHOD: 1.6, EVIDENCE: 1.5}
_MECHANISM = 2.0  # added to its score beside the first where it says by which means
_ENOUGH = {METHOD: 24, EVIDENCE: 24}  # words of a first sentence that needs no second

# Added to the score for the method of the first sentence that says in so many words what the work is. By ten-fold
# cross-validation on the 639 marked abstracts what is shown is a marked sentence in 94.2 % (93.4 without) and the best of
# them in 87.3 % (85.1): 2.2 points more [0.6, 3.8]; 0.7 and 1 were alike.
_ANNOUNCED = 0.5
ANNOUNCES = re.compile(
    r"\b[Ww]e (?:\w+ )?(?:propose|present|introduce)\b|"
    r"^This (?:paper|work|article|study) (?:\w+ )?(?:proposes|presents|introduces)\b"
)

_DANGLING = 1.2  # how much higher a sentence must score that cannot stand without the one before it; 0.5 to 1.5 were alike

# The same of a sentence that points at another from inside, alone and with the one before it. On 639 marked abstracts the
# sentences shown are marked ones as often as without (0.3 points either way); those that point at nothing that is shown fall
# from 12.5 to 4.1 % of the problems and from 7.7 to 2.3 % of the reasons.
_OPEN = {PROBLEM: 0.8, METHOD: 0.3, EVIDENCE: 0.8, WHY: 0.8}
_OPEN_PAIR = {PROBLEM: 0.4, WHY: 0.4}

# That the authors' own work is to be had; not `evaluates open-source models on publicly available data`.
_AVAILABLE = re.compile(
    r"\b(?:codes?|models?|weights|data|data ?sets?|corpus|kernel|implementation|software|tool|toolkit|library|package|"
    r"benchmark|framework|demo|scripts|prompts)\b.{0,80}\b(?:available(?= (?:after|and|as|at|for|from|here|in|on|online|"
    r"publicly|soon|through|to|under|upon|via)\b|\W*$|[,;:.)])|open[- ]sourced|(?:is|are|be|been) (?:\w+ )?released)\b|"
    r"\b(?:we|will|have|also|and|publicly|fully|to)(?: \w+ly)? (?:released?|open[- ]sourced?)\b.{0,60}\b(?:code|codebase|"
    r"models?|weights|data|data ?sets?|corpus|benchmark|framework|implementation|library|toolkit|software)\b",
    re.IGNORECASE,
)


class _Text(NamedTuple):
    """The sentences, the score of each for each part, and which of them cannot well stand alone."""

    sentences: Sequence[str]
    scores: Scores
    dangles: Sequence[bool]
    open: Sequence[bool]  # which point at another from inside
    announced: int | None  # where the work is announced first

    def usable(self, at: int) -> bool:
        return bool(self.scores[at, 0] > UNUSABLE)

    def length(self, places: Places) -> int:
        return sum(len(self.sentences[at].split()) for at in places)


class _Option(NamedTuple):
    """What could stand for a part, and how far above its bar that is."""

    gain: float
    places: Places


_NONE = _Option(0.0, ())


def choose(
    sentences: Sequence[str], title: str = "", explained: Sequence[str] | None = None, *, without: str = ""
) -> Choice:
    """Return for each part the places (0-based) of the sentences that stand for it: none, one or two, in reading order.

    `explained` are the sentences as they would be shown (`bot.summarise.english.anaphora`); without it, as they stand. The
    sentence `without` is chosen for none.
    """
    shown = sentences if explained is None else explained
    announced = next((at for at, sentence in enumerate(shown) if ANNOUNCES.search(sentence)), None)
    scores = part_scores(sentences, title)
    if without:
        scores[scores > UNUSABLE] -= _SECOND_BEST
        scores[[each == without for each in sentences]] = UNUSABLE
    text = _Text(shown, scores, [*map(dangles, shown)], [*map(points_inside, shown)], announced)
    chosen = _together(text)
    _fill(chosen, text)
    for part in _SECOND:
        _add_second(part, chosen, text)
    return {part: tuple(sorted(chosen[part])) for part in PARTS}


def _together(text: _Text) -> Choice:
    """What lies above the bars, no sentence twice, the sum of what it lies above them as large as can be."""
    options = [_options(part, text) for part in PARTS]
    found = max(itertools.product(*options), key=_total_gain)
    return {part: option.places for part, option in zip(PARTS, found, strict=True)}


def _options(part: str, text: _Text) -> list[_Option]:
    """The best of a part, the best first, and that it is left out."""
    column = PARTS.index(part)
    found = [_option(part, at, float(text.scores[at, column]), text) for at in range(len(text.sentences)) if text.usable(at)]
    above = [option for option in found if option is not None and option.gain > 0]
    return [*sorted(above, key=lambda option: (-option.gain, option.places))[:_CANDIDATES], _NONE]


def _option(part: str, at: int, score: float, text: _Text) -> _Option | None:
    gain = score - _BARS[part] + (_ANNOUNCED if part == METHOD and at == text.announced else 0.0)
    pair = (at - 1, at)
    paired = at > 0 and not text.dangles[at - 1] and text.usable(at - 1) and text.length(pair) <= _PAIR_WORDS
    if text.dangles[at]:
        return _Option(gain - _DANGLING, pair) if paired else None
    if text.open[at] and paired and part in _OPEN_PAIR and not text.open[at - 1]:
        return _Option(gain - _OPEN_PAIR[part], pair)
    return _Option(gain - _OPEN[part] if text.open[at] else gain, (at,))


def _total_gain(combination: Sequence[_Option]) -> float:
    places = [at for option in combination for at in option.places]
    if len(set(places)) < len(places):
        return -1.0
    return sum(option.gain for option in combination)


def _fill(chosen: Choice, text: _Text) -> None:
    """Add what is better than nothing: the first sentence as what the work is, available code as a reason to care."""
    taken = {at for places in chosen.values() for at in places}
    free = [at for at in range(len(text.sentences)) if text.usable(at) and at not in taken]
    if not chosen[PROBLEM] and not chosen[METHOD] and free:
        chosen[METHOD] = (free.pop(0),)
    if not chosen[WHY]:
        own = max(chosen[METHOD], default=-1)  # what is offered before it, others offer
        offered = (at for at in free if at > own and not text.dangles[at] and _AVAILABLE.search(text.sentences[at]))
        chosen[WHY] = tuple(itertools.islice(offered, 1))


def _add_second(part: str, chosen: Choice, text: _Text) -> None:
    """Add a sentence to a short first one: for the method its mechanism, for the evidence further figures."""
    if len(chosen[part]) != 1 or text.length(chosen[part]) >= _ENOUGH[part]:
        return
    (first,) = chosen[part]
    taken = {at for places in chosen.values() for at in places}
    free = [at for at in range(len(text.sentences)) if at not in taken and text.length((first, at)) <= _PAIR_WORDS]
    near = [at for at in free if _is_near(part, first, at, text) and text.scores[at].argmax() == PARTS.index(part)]
    best = max(((_score_beside(part, at, text), -at) for at in near), default=(UNUSABLE, 0))
    if best[0] >= _SECOND[part]:
        chosen[part] = (first, -best[1])


def _is_near(part: str, first: int, at: int, text: _Text) -> bool:
    within = first < at <= first + _NEXT if part == METHOD else abs(at - first) <= _NEAR
    return within and (at == first + 1 or not text.dangles[at])


def _score_beside(part: str, at: int, text: _Text) -> float:
    tells_how = part == METHOD and MECHANISM.search(text.sentences[at].lower()) is not None
    return float(text.scores[at, PARTS.index(part)]) + (_MECHANISM if tells_how else 0.0)
