"""Chooses which sentences and clauses of a text stand for each of the four parts, and how they are shown.

Every candidate (`bot.summarise.choice.candidates`) gets a score per part (`bot.summarise.choice.scoring`); the four parts
are then chosen together, so that no words stand for two of them and the sum of the scores is highest. What begins with a
`This` or `It` which points at another sentence is not chosen; what points at another from inside (`automating this task`)
gives way more easily, and so does what has no complete form of 25 words. A part whose best candidate stays under its bar is
left out: the text does not say.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.models import PARTS
from bot.summarise.choice.candidates import MOST_WORDS, Candidate, candidates
from bot.summarise.choice.headline import measures, only_does
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, SCORED, UNUSABLE, WHY, Scores, candidate_scores
from bot.summarise.choice.why import find_why
from bot.summarise.english.anaphora import Resolved, dangles, points_inside
from bot.summarise.english.editing import edit
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.shortening import fullest, within


class Shown(NamedTuple):
    """A candidate as it is shown for a part."""

    text: str
    candidate: Candidate


Choice = dict[str, Shown | None]  # per part; None where the text does not say it

_CEILING = 32  # words, where that would lose too much
_FIGURE_CEILING = 40  # words of evidence, where it would lose its figure; on a card the other parts give it room
_CANDIDATES = 4  # per part, for the joint choice: 5^4 combinations at most
# Added to the bars where a part's best sentence stands elsewhere: what is left must say it plainly to stand for it.
_SECOND_BEST = 1.5

# The least score of a part's candidate. By ten-fold cross-validation on the 250 marked abstracts 88 % of the problems shown
# are right, and 68 % of the texts that have one are shown a right one (90 and 65 with a bar of 0, 86 and 69 with -0.4).
_BARS = {PROBLEM: -0.2, METHOD: -1.5, EVIDENCE: -0.5}
# Added to the score for the method of the first sentence that says in so many words what the work is.
_ANNOUNCED = 0.5
ANNOUNCES = Screened(
    r"\b[Ww]e (?:\w+ )?(?:propose|present|introduce)\b|"
    r"^This (?:paper|work|article|study) (?:\w+ )?(?:proposes|presents|introduces)\b"
)

# Added to the score for the evidence of what has a measured number. On 250 marked abstracts what is shown is then a marked
# result in 84.3 % (83.5 without), and 86 % of the cards of abstracts that report a figure show one (78).
_MEASURED = 1.0

# How much higher what points at another sentence from inside must score, and what is longer than a part should be.
_OPEN = {PROBLEM: 0.8, METHOD: 0.15, EVIDENCE: 0.8}
_LONG = 0.5
# How much higher evidence must score that tells what was done and nothing that came of it. Of 802 shown of marked abstracts
# 17 do, and none of these is a marked one.
_NO_OUTCOME = 2.0


class _Text(NamedTuple):
    """The candidates, the score of each for each part, and which of them cannot well stand alone."""

    found: Sequence[Candidate]
    scores: Scores
    dangles: Sequence[bool]
    open: Sequence[bool]  # which point at another from inside
    announced: int | None  # where the work is announced first
    names: frozenset[str]
    forms: dict[tuple[int, str], str]  # how a candidate is shown for a part, where that was asked before

    def usable(self, at: int) -> bool:
        return bool(self.scores[at, 0] > UNUSABLE) and not self.dangles[at]

    def shown(self, at: int, part: str) -> Shown:
        """The candidate in a complete form of so many words, or, where it has none, as short as the edits make it."""
        told = self.forms.get((at, part))
        if told is None:
            told = self.forms[at, part] = self._form(at, part)
        return Shown(told, self.found[at])

    def _form(self, at: int, part: str) -> str:
        whole = edit(self.found[at].text, self.names, by_name=part == PROBLEM)
        told = within(whole, MOST_WORDS, _CEILING) or whole
        if part == EVIDENCE and measures(whole) and not measures(told):
            longer = (fullest(whole, most, measures) for most in (MOST_WORDS, _CEILING, _FIGURE_CEILING))
            told = next(filter(None, longer), told)
        return told


class _Option(NamedTuple):
    """What could stand for a part, and how far above its bar that is; at most, as long as its form is not known."""

    gain: float
    at: int
    candidate: Candidate | None
    text: str | None = None  # as it is shown

    @property
    def shown(self) -> Shown | None:
        return None if self.candidate is None or self.text is None else Shown(self.text, self.candidate)


_NONE = _Option(0.0, -1, None)


def choose(
    sentences: Sequence[str],
    title: str = "",
    told: Sequence[Resolved] | None = None,
    *,
    names: frozenset[str] = frozenset(),
    without: str = "",
) -> Choice:
    """Return for each part the sentence or clause that stands for it.

    `told` are the sentences explained (`bot.summarise.english.anaphora`); without it, as they stand. `names` are written in
    lower case even at a sentence's beginning. The sentence `without` is chosen for none.
    """
    if told is None:
        told = [Resolved(sentence, at) for at, sentence in enumerate(sentences)]
    text = _read(tuple(sentences), title, tuple(told), names)
    if without:
        scores = text.scores.copy()
        scores[scores > UNUSABLE] -= _SECOND_BEST
        scores[[sentences[each.place] == without for each in text.found]] = UNUSABLE
        text = text._replace(scores=scores)
    hidden = [at for at, each in enumerate(sentences) if each == without] if without else []
    why = find_why(told, text.found, names, hidden)
    chosen = _together(text, Shown(why.text, why.candidate) if why else None)
    if not without:  # beside a sentence that is shown elsewhere, what is left need not say what the work is
        _fill(chosen, text)
    return chosen


@lru_cache(maxsize=32)  # a card chooses again without the sentence that its gist has said
def _read(sentences: tuple[str, ...], title: str, told: tuple[Resolved, ...], names: frozenset[str]) -> _Text:
    """What is known of a text before anything is chosen, not to be changed."""
    found = candidates(told)
    scores = candidate_scores(sentences, title, found)
    scores.flags.writeable = False
    announced = next((at for at, one in enumerate(told) if ANNOUNCES.search(one.text)), None)
    texts = [each.text for each in found]
    return _Text(found, scores, [*map(dangles, texts)], [*map(points_inside, texts)], announced, names, {})


def _together(text: _Text, why: Shown | None) -> Choice:
    """Beside why it matters what lies above the bars, no words twice, the sum of that as large as can be.

    A form can only take from its candidate's gain, so none is made but of what is the best choice without regard to it.
    """
    told = _NONE if why is None else _Option(0.0, -1, why.candidate, why.text)
    options = [[told] if part == WHY else _options(part, text) for part in PARTS]
    while True:
        found = max(itertools.product(*options), key=_total_gain)
        unseen = [place for place, one in enumerate(found) if one.candidate and one.text is None]
        if not unseen:
            return {part: one.shown for part, one in zip(PARTS, found, strict=True)}
        for place in unseen:
            options[place] = [*_with_form(options[place], found[place].at, PARTS[place], text)]


def _options(part: str, text: _Text) -> list[_Option]:
    """The best of a part, the best first, and that it is left out."""
    gains = [(_gain(part, at, text), at) for at in range(len(text.found)) if text.usable(at)]
    best = sorted((one for one in gains if one[0] > 0), key=lambda one: (-one[0], one[1]))[:_CANDIDATES]
    return [*(_Option(gain, at, text.found[at]) for gain, at in best), _NONE]


def _with_form(options: Sequence[_Option], at: int, part: str, text: _Text) -> Iterator[_Option]:
    """The options of a part, with the form of one and what that takes from its gain."""
    for one in options:
        if one.at != at:
            yield one
            continue
        shown, gain = text.shown(at, part), one.gain
        if part == EVIDENCE and measures(text.found[at].text) and not measures(shown.text):
            gain -= 2 * _MEASURED  # for a figure that nobody sees: what shows one is better evidence
        gain -= _NO_OUTCOME * (part == EVIDENCE and only_does(shown.text))
        gain -= _LONG * (len(shown.text.split()) > MOST_WORDS)
        if gain > 0:
            yield one._replace(gain=gain, text=shown.text)


def _gain(part: str, at: int, text: _Text) -> float:
    gain = float(text.scores[at, SCORED.index(part)]) - _BARS[part]
    if part == METHOD and text.found[at].place == text.announced:
        gain += _ANNOUNCED
    if part == EVIDENCE and measures(text.found[at].text):
        gain += _MEASURED
    return gain - _OPEN[part] if text.open[at] else gain


def _total_gain(combination: Sequence[_Option]) -> float:
    taken = [one.candidate for one in combination if one.candidate]
    if any(one.overlaps(other) for one, other in itertools.combinations(taken, 2)):
        return -1.0
    return sum(one.gain for one in combination)


def _fill(chosen: Choice, text: _Text) -> None:
    """Take the first sentence for what the work is, where nothing else says."""
    if chosen[PROBLEM] or chosen[METHOD]:
        return
    taken = {shown.candidate.place for shown in chosen.values() if shown}
    first = (at for at, each in enumerate(text.found) if text.scores[at, 0] > UNUSABLE and each.place not in taken)
    chosen[METHOD] = next((text.shown(at, METHOD) for at in first), None)
