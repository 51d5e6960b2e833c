"""The statement of at most 18 words that stands under a title in a digest's list of entries.

Of a paper or a post it is the shorter form of a sentence (`bot.summarise.english.shortening`) that tells most: what the work
is, or better its headline result with the figures, above all where that has what the topic asks about. Of a repository it
is its description. Where the text has no such statement there is none: the title stands alone then.
"""

import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bot.errors import SummaryUnavailable
from bot.models import Item, Kind
from bot.query.fold import tokens
from bot.summarise.choice.headline import measures
from bot.summarise.choice.parts import ANNOUNCES
from bot.summarise.choice.scoring import EVIDENCE, SCANNED, SCORED, UNUSABLE, all_scores
from bot.summarise.choice.telling import Text as Weighed
from bot.summarise.choice.telling import Vector, how_much
from bot.summarise.english.anaphora import Resolved, dangles, resolve
from bot.summarise.english.anaphora_patterns import AUTHORS
from bot.summarise.english.editing import edit
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.prefilter import AnyScreened, Screened
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.english.shortening import statements
from bot.summarise.english.third_person import to_third_person
from bot.summarise.extractive import LONGEST_TEXT

log = logging.getLogger(__name__)

LONGEST = 18  # words
_DESCRIPTION = 1_000  # characters
_LEAST = -1.42  # the logarithm of the odds that a statement is worth showing; with less the title stands alone
_HARDLY_LESS = 1.0  # of those odds: another statement may take the place of the best where that shows a figure on the card
_SHOWN = 0.15  # of a statement with a figure; by cross-validation nought to .8 show as many that are worth it
_LOST = 1.0  # of a statement that leaves out its sentence's figure: the card's evidence would not have it either
_PER_PHRASE = 0.5  # what a result gains by each of two phrases that the topic asks about

# `Extensive experiments on three machines.`, `Using Tidy, a cache that sizes itself.`, `… by 78% while staying.`
_FRAGMENT = AnyScreened(
    r"^(?:\w+ )?(?:experiments|evaluations) (?:on|across|with|in)\b(?!.*\b(?:show|demonstrat|confirm|reveal|indicat|validat|"
    r"verif|suggest|prov|find|yield|support))|^(?:Using|By|Through|Via|With|Leveraging) [^,]*(?:, (?:an?|the) [^,]*)?\."
    r"$|\b(?:while|by|without|when|after|before) \w+ing\.$",
    re.IGNORECASE,
)
_NO_STATEMENT = AnyScreened(
    r"\b(?:(?:publicly )?available|we hope|the authors (?:hope|expect)|open-sourced?|future (?:work|research)|"
    r"releas(?:ed?|es)|address(?:es)? (?:this|these)|remains? (?:an? |largely )?\w+|"
    r"this (?:problem|issue|challenge|gap)|above|below|(?:show|demonstrat|hold|highlight|underscor)\w* (?:[\w’'-]+ ){0,3}"
    r"(?:potential|promise)|(?:fill|bridg)\w* (?:an?|the|this) (?:[\w-]+ ){0,2}gaps?)\b|"
    r"\b(?:the|these|such) (?:[\w-]+ )?(?:issues?|challenges|limitations)\.$|^(?:\w+ly )?\w+s it\b|"
    r"^(?!The )[^,]+, the authors\b|^Among (?:these|them|those)\b|"
    r"\b(?:argu|show|find|reveal|demonstrat)\w* (?:that )?(?:they|it|such)\b|^(?:It|They|He|She) |^Core to |"
    r"^(?:Initially|In detail|First|Second|Next|Then),|\((?:i|1|a)\)|\bshow: |"
    r"^To \w+ [^,]*$|\bplease (?:visit|see|refer)\b|\b(?:encourage|invite) (?:readers|researchers|the community)\b|https?://|\?$",
    re.IGNORECASE,
)
# `Introduces Key Cache (KC), which …`: nobody who reads no further needs the abbreviation.
_ABBREVIATED = re.compile(r" \([\w/+-]*[A-Z][\w/+-]*[A-Z][\w/+-]*\)")


_MOST_ASKED = 2 * _PER_PHRASE + 0.01
_SEEN: Vector = np.zeros(0)


class ShortGist(NamedTuple):
    """A statement of at most 18 words, "" for none, and the sentence of the text, word for word, that it rests on."""

    text: str = ""
    quote: str = ""


_NONE = ShortGist()


def short_gist(item: Item, asked: Sequence[str] = ()) -> ShortGist:
    """Return the item's statement, `asked` being phrases that the topic asks about; none where no model can be read."""
    return short_gists(item, asked)[0]


def short_gists(item: Item, asked: Sequence[str] = ()) -> Sequence[ShortGist]:
    """Return the item's statement, and behind it others that tell hardly less, the best first."""
    text = item.abstract[:LONGEST_TEXT].strip()
    try:
        if item.kind is Kind.REPO:
            return [_of_description(text[:_DESCRIPTION])]
        return _of_text(item.title, text, tuple(asked))
    except SummaryUnavailable as error:
        log.warning("an entry has its title alone: %s", error)
        return [_NONE]


@lru_cache(maxsize=512)
def _of_text(title: str, text: str, asked: tuple[str, ...]) -> Sequence[ShortGist]:
    told, weights, figures = _weighed(title, text)
    if not told:
        return [_NONE]
    worth = weights + [_asked(one, asked) + figure for one, figure in zip(told, figures, strict=True)]
    least = max(_LEAST, worth.max() - _HARDLY_LESS)
    best = dict[tuple[str, bool], ShortGist]()
    for at in np.argsort(-worth, kind="stable"):
        if worth[at] < least:
            break
        one = ShortGist(told[at].shown, told[at].quote)
        best.setdefault((one.quote, measures(one.text)), one)
    return [*best.values()] or [_NONE]


@lru_cache(maxsize=2048)  # more than a day's items, a few kB each; what they say is the same for every topic
def _weighed(title: str, text: str) -> tuple[Sequence["Told"], Vector, Sequence[float]]:
    """The statements of a text that may be shown, how much each is worth whoever asks, and what its figure adds."""
    told = statements_of(title, text) if text and reads_as_english(text) else []
    if not told:
        return (), np.zeros(0), ()
    weights, figures = how_much([one.features for one in told]), [_figure(one) for one in told]
    worth = weights + figures
    least = max(_LEAST, worth.max() - _HARDLY_LESS) - _MOST_ASKED  # whatever is asked, no other comes near
    kept = np.flatnonzero(worth >= least).tolist()
    return [told[at]._replace(features=_SEEN) for at in kept], weights[kept], [figures[at] for at in kept]


class Told(NamedTuple):
    """A statement of at most 18 words, the sentence that it rests on, and what can be told of it.

    Whether it is a result, whether its sentence has a measured number that it leaves out, and how it is shown: without its
    abbreviations in brackets where it stands so, too.
    """

    text: str
    quote: str
    features: Vector
    result: bool
    lost: bool
    shown: str


def statements_of(title: str, text: str) -> list[Told]:
    """Return every statement of a text that stands alone; raises SummaryUnavailable where no model can be read."""
    sentences, names = split(text)[:SCANNED], lower_case_names(text)
    scores = all_scores(sentences, title)
    mainly = scores[:, : len(SCORED)].argmax(axis=1)
    told = resolve(sentences, names)
    announced = _first(ANNOUNCES, told, _first(AUTHORS, told, 0))
    looked_at, found = Weighed(title, sentences, scores, announced), list[Told]()
    for at, explained in enumerate(told):
        if scores[at, 0] <= UNUSABLE:
            continue
        whole = edit(explained.text, names)
        measured = measures(whole)
        result = measured or (at >= announced and mainly[at] == SCORED.index(EVIDENCE))
        shorter = [*statements(whole, LONGEST)]
        texts = {one.text for one in shorter}
        for one in shorter:
            if dangles(one.text) or _NO_STATEMENT.is_in(one.text) or _FRAGMENT.is_in(one.text):
                continue
            told_of, lost = looked_at.features(at, one, measured=measured), measured and not measures(one.text)
            bare = _ABBREVIATED.sub("", one.text)
            shown = _by_verb(bare if bare in texts else one.text)
            found.append(Told(_by_verb(one.text), sentences[at], told_of, result, lost, shown))
    return found


def _figure(one: Told) -> float:
    """What a statement gains by its figure, and what it loses where it leaves out its sentence's."""
    return _SHOWN * measures(one.text) - _LOST * one.lost


def _asked(one: Told, asked: Sequence[str]) -> float:
    """What a result gains by the phrases that the topic asks about; of what is none they say nothing."""
    if not asked or not one.result:
        return 0.0
    said = f" {' '.join(tokens(one.text))} "
    phrases = (tokens(phrase) for phrase in asked)
    return _PER_PHRASE * min(2, sum(f" {' '.join(phrase)} " in said for phrase in phrases if phrase))


def _first(pattern: Screened, told: Sequence[Resolved], otherwise: int) -> int:
    return next((at for at, each in enumerate(told) if pattern.search(each.text)), otherwise)


def _by_verb(text: str) -> str:
    """`The authors built a cache` → `Builds a cache`, where no second verb of theirs follows."""
    made = _MADE.match(text)
    if made is None or _BOTH.search(text):
        return text
    verb = _PRESENT.get(made[1], made[1])
    told = to_third_person(f"We {verb}{text[made.end() :]}")
    return text if told.startswith("The authors ") else told


_PAST = "propose introduce present develop design create construct provide show demonstrate find build"
_PRESENT = {f"{verb}d" if verb.endswith("e") else f"{verb}ed": verb for verb in _PAST.split()}
_PRESENT |= {"built": "build", "found": "find", "shown": "show"}
_MADE = re.compile(rf"The authors (?:also |further |first )?({'|'.join(_PRESENT)})\b")
_BOTH = Screened(r"\b(?:and|,) (?:\w+ly )?(?:\w+ed|built|found|show)\b|\b(?:they|their)\b")


# --- of a repository

# Where it may end, the best first: with a sentence, with a clause, before what is said further of a thing.
_BORDERS = (
    re.compile(r"[.!] (?=[A-Z])"),
    re.compile(r"; | [-–—|] |[,:] (?!(?:and|or) )| (?=(?:with|for|that|which|using|based on|built)\b)"),
    re.compile(r" (?=(?:at|on|in|to|from|via|by|and|of)\b)"),
)
_FEWEST = 4  # words in front of one


def _of_description(text: str) -> ShortGist:
    """A description needs no verb: `A cache that sizes itself.`"""
    told = edit(text) if text else ""
    words = told.split()
    if len(words) > LONGEST:
        found = (max(_kept(told, border), key=len, default="") for border in _BORDERS)
        kept = next(filter(None, found), "")
        told = f"{kept}." if kept else f"{' '.join(words[: LONGEST - 1])} …"
    return ShortGist(told, text if told else "")


def _kept(told: str, border: re.Pattern[str]) -> list[str]:
    """What stands before each of these borders, where it is short and leaves no bracket open."""
    kept = [told[: found.start()].rstrip(" ,;:–—-") for found in border.finditer(told)]
    return [each for each in kept if _FEWEST <= len(each.split()) <= LONGEST and each.count("(") == each.count(")")]
