"""Makes shorter statements of an edited sentence: each is complete, and every word of it stands in the sentence.

1. What leads to a finding goes: `Experiments on X show that Y` → `Y`, `The authors find that Y` → `Y`. `suggest` stays: it
   limits what is said.
2. What stands in front of the main clause and is no condition goes: `By doing X, Y gains 3%` → `Y gains 3%`.
3. What stands in brackets goes, and beside a name between two commas: `Tidy, a cache of caches, gains 3%`.
4. The end goes, from a border of clauses on: `, which …`, `; …`, ` by doing …`. A condition (`if`, `when`, `unless`) is no
   border, nor what turns against the sentence (`but`, `although`); a pair (`not only … but`), a bracket and a list that is
   announced (`two parts: …`) stay whole.

What a statement has lost is told by its cost: 0 for the sentence itself, more for each thing that was taken off.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.english.anaphora import dangles
from bot.summarise.english.endings import BRACKET, Ending, endings, is_complete, kept_before
from bot.summarise.english.leads import FOUND, behind_place, finding, main_clause
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.third_person import FINITE, to_third_person


class Statement(NamedTuple):
    """A shorter form of a sentence, and what it costs."""

    text: str
    cost: float


_SHORTEST = 5  # words of a statement
_LONGEST = 1_200  # characters of a sentence that is looked at
# A second finding, of the same verb or of another that has lost its subject.
_AND_THAT = re.compile(rf",? and (?:(?:also|further|\w+ly) )?(?:{FOUND} )?that\b.*")
_ASIDE = Screened(
    rf"(?<=[\w)]), (?:an?|the|which|who|where|such as|including|called|named|i\.e\.|e\.g\.|namely|"
    rf"our(?= (?:[\w-]+ ){{0,2}}[\w-]+, )|inspired|based|built|on average|in turn)\b,?[^,;:]*, (?=(?:\w+ly )?{FINITE} )"
)
# `it not only saves time, but also space`
_NOT_ONLY = re.compile(rf" not only (?={FINITE} )")
_BUT_ALSO = re.compile(r",? but\b")
_LED_BY = re.compile(
    r"(?:by|through|via|using|with|while|although|though|when|as|since|because|given|despite|unlike|based|compared|beyond|"
    r"after|among|during|within|without|following|rather|instead|whereas|\w+(?:ed|en) (?:by|on|with|from|in|for|to|as))\b",
    re.IGNORECASE,
)
_LED = 0.5  # of a finding or a clause that is led to
_LED_TO_AUTHORS = 1.2
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORDS_FOR_COST = 8  # a shorter form may lose so many words for one that costs 1 less
_WORDS_FOR_NUMBER = 6
_ENOUGH = 0.6  # of the words that tell something
_AUTHORS = re.compile(r"the authors\b", re.IGNORECASE)


def statements(sentence: str, most: int) -> Iterator[Statement]:
    """Yield the sentence and its shorter forms that have at most `most` words; none where nothing complete is so short."""
    if len(sentence) > _LONGEST:
        return
    seen: set[str] = set()
    for form in _forms(sentence):
        if _SHORTEST <= form.words <= most:
            text = form.text
            if text not in seen and form.stands:
                seen.add(text)
                yield Statement(text, form.cost)


class _Form:
    """A shorter form of a sentence; whether it stands by itself is found out when it is first asked for."""

    __slots__ = ("_bare", "_border", "_numbers", "_sentence", "_stands", "_start", "_text", "cost", "words")

    def __init__(self, sentence: str, bare: str, ending: Ending, cost: float) -> None:
        self.cost = cost + ending.cost
        self.words = ending.words
        self._sentence = sentence
        self._bare = bare
        self._start = ending.start
        self._border = ending.border
        self._stands: bool | None = None
        self._text = ""
        self._numbers = -1

    @property
    def text(self) -> str:
        self._text = self._text or (self._bare if self._border is None else f"{self._kept}.")
        return self._text

    @property
    def numbers(self) -> int:
        """How many there are in the text."""
        if self._numbers < 0:
            self._numbers = len(_NUMBER.findall(self.text))
        return self._numbers

    @property
    def _kept(self) -> str:
        return kept_before(self._bare, self._start)

    @property
    def stands(self) -> bool:
        if self._stands is None:
            complete = self._border is None or is_complete(self._kept, self._bare[self._start :], self._border)
            self._stands = complete and (self.text == self._sentence or not dangles(self.text))
        return self._stands


@lru_cache(maxsize=64)  # a text's sentences are tried for several parts, and for the gist
def _forms(sentence: str) -> tuple[_Form, ...]:
    return tuple(
        _Form(sentence, bare, ending, cost + more)
        for whole, cost in _opened(sentence)
        for bare, more in _without_asides(whole)
        for ending in endings(bare)
    )


@lru_cache(maxsize=256)  # a text's sentences are tried for several parts, and again when one is shown elsewhere
def within(sentence: str, most: int, ceiling: int) -> str:
    """Return the form of at most `most` words that says most of the sentence; "" where nothing complete is so short.

    Where that would lose too much of what the sentence says behind its lead, it may have `ceiling` words.
    """
    said = _words(_core(sentence))
    best = fullest(sentence, most)
    if ceiling > most and len(said & _words(best)) < _ENOUGH * len(said):
        longer = fullest(sentence, ceiling)
        return longer if len(said & _words(longer)) >= _ENOUGH * len(said) else best
    return best


def _core(sentence: str) -> str:
    """The sentence without all that stands in front."""
    *_, (core, _) = _opened(sentence)
    return core


def fullest(sentence: str, most: int, wanted: Callable[[str], bool] = bool) -> str:
    """Return the form of at most `most` words that says most, of those that are `wanted`; "" where there is none."""
    if len(sentence) > _LONGEST:
        return ""
    numbers = len(_NUMBER.findall(sentence))

    def kept(one: _Form) -> float:
        return one.words - _WORDS_FOR_COST * one.cost - _WORDS_FOR_NUMBER * (numbers - one.numbers)

    # Whether one stands takes longer to say than how much it keeps.
    fitting = [one for one in _forms(sentence) if _SHORTEST <= one.words <= most]
    first = dict[str, list[_Form]]()
    for one in fitting:
        first.setdefault(one.text, []).append(one)
    best = (one for one in sorted(fitting, key=kept, reverse=True) if one.stands and wanted(one.text))
    return next((one.text for one in best if next(each for each in first[one.text] if each.stands) is one), "")


def _words(text: str) -> set[str]:
    return {word for word in tokens(text) if word not in STOPWORDS}


def _opened(sentence: str) -> Iterator[tuple[str, float]]:
    """The sentence, and what is left of it without what stands in front."""
    led = main_clause(sentence)
    authors = led and _AUTHORS.match(sentence, led)
    yield sentence, _LED_TO_AUTHORS if authors else _LED if led or finding(sentence) else 0.0
    at, cost = 0, 0.0
    for behind, price in ((main_clause, 0.3), (behind_place, 0.6), (finding, 0.0), (main_clause, 0.3), (behind_place, 0.6)):
        found = behind(sentence, at)
        if found:
            at, cost = found, cost + price
            rest = sentence[at:]
            another = _AND_THAT.search(rest) if behind is finding else None
            rest = f"{rest[: another.start()]}." if another else rest.replace(", but that ", ", but ")
            yield _begun(rest), cost


def _begun(text: str) -> str:
    """The rest of a sentence as one of its own: `the authors propose X` → `Proposes X`."""
    text = text[:1].upper() + text[1:]
    return to_third_person(f"We {text[12:]}") if text.startswith("The authors ") else text


def _has_subject(before: str) -> bool:
    """Whether what stands before an aside is more than a lead: not `Driven by pages, a cache, called Tidy, is built`."""
    return ", " in before or _LED_BY.match(before) is None


def _without_asides(text: str) -> Iterator[tuple[str, float]]:
    yield text, 0.0
    also = _NOT_ONLY.search(text)
    if also and (but := _BUT_ALSO.search(text, also.end())):
        yield f"{text[: also.start()]} {text[also.end() : but.start()]}.", 0.4
    bare = BRACKET.sub("", text)
    if bare != text:
        yield bare, 0.1
    short = _ASIDE.sub(lambda found: " " if _has_subject(bare[: found.start()]) else found.group(), bare)
    if short != bare:
        yield short, 0.3
