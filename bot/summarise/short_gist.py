"""The statement of at most 18 words that stands under a title in a digest's list of entries.

Of a paper or a post it is the shorter form of a sentence (`bot.summarise.english.shortening`) that tells most: what the work
is, or better its headline result with the figures, above all where that has what the topic asks about. Of a repository it
is its description. Where the text has no such statement there is none: the title stands alone then.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.errors import SummaryUnavailable
from bot.models import PARTS, Item, Kind
from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS
from bot.summarise.choice.headline import measures
from bot.summarise.choice.parts import ANNOUNCES
from bot.summarise.choice.scoring import EVIDENCE, PROBLEM, SCANNED, UNUSABLE, part_scores, whole_scores
from bot.summarise.english.anaphora import Resolved, dangles, points_inside, resolve
from bot.summarise.english.anaphora_patterns import AUTHORS
from bot.summarise.english.editing import edit
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.english.shortening import statements
from bot.summarise.english.third_person import begins_with_verb, to_third_person
from bot.summarise.extractive import LONGEST_TEXT

log = logging.getLogger(__name__)

LONGEST = 18  # words
_DESCRIPTION = 1_000  # characters
_LEAST = -0.5  # of what a statement tells; below it says how the authors went about it, mostly

_MEASURED = Screened(
    r"(?<![\w-])[~<>≥≤$+-]?\d+(?:[.,]\d+)*(?:[\s-]?(?:\\?%|×|x\b|fold|GB|MB|ms|fps|FPS|times\b|points?\b|percent|"
    r"hours?|days?|seconds?|minutes?|dB|orders?)|x\b)|\b(?:twice|half|orders? of magnitude)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w-])")
_COMPARES = Screened(
    r"\b(?:outperform\w*|surpass\w*|state-of-the-art|beats?|exceed\w*|faster|fewer|smaller|larger|cheaper|better|higher|lower|"
    r"reduc\w+|improv\w+|first|only|more than|less than|nearly|almost|despite|without|no)\b",
    re.IGNORECASE,
)
_SETS_APART = Screened(r"\b(?:first|only|fewer|nearly|almost|despite|without|no)\b", re.IGNORECASE)
# What tells little: of any statement, and of a result without a figure.
_VAGUE = Screened(
    r"\b(?:effectiveness|superiority|superior performance|competitive performance|insights?|potential|promising|paves? the "
    r"way|extensive|comprehensive|thorough|validate|deeper understanding|"
    r"implications|advances? (?:the|our)|foundation|"
    r"highlight\w*|underscor\w*|important|significant(?:ly)?|challeng\w+|various|robustness|efficacy|viability|"
    r"feasibility|(?:principled |solid )?basis for|cornerstone)\b",
    re.IGNORECASE,
)
_WEAK = Screened(
    r"\b(?:outperform\w*|surpass\w*|superior|remarkabl\w*|impressive\w*|nuanced|strong\w*|improved?|notabl\w+|substantial\w*|"
    r"existing|baselines?|prior|previous|consistent\w*|recent|great\w*|effective\w*|state-of-the-art|compelling|"
    r"competitive|favou?rable|high-fidelity)\b",
    re.IGNORECASE,
)
_OF_THE_PAPER = Screened(
    r"(?:(?:Conducts?|Performs?|Discuss(?:es)?|Outlines?|Reports the|Provides a detailed)\b|The (?:objective|goal|aim|"
    r"purpose|survey|review|paper|study|work|authors? (?:performed|conduct|also|then|further))\b|This (?:paper|work|study|"
    r"survey|review)|(?:\w+ ){1,3}(?:is|are|was|were) (?:assessed|evaluated|conducted|performed|tested|discussed|analyzed|"
    r"presented|validated|compared)\b)",
    re.IGNORECASE,
)
# How the authors went about it, and what the field is like: neither is what the work says.
_ACTIVITY = Screened(
    r"(?:The authors )?(?:\w+ly )?(?:(?:evaluat|assess|examin|benchmark|explor|investigat)(?:e?s|ed?)|stud(?:y|ies|ied)|"
    r"analy[sz](?:es?|ed))\b",
    re.IGNORECASE,
)
_OF_THE_FIELD = Screened(
    r"\b(?:is|are) (?:an? |the |one of the )?(?:\w+ )?(?:common|popular|powerful|widely|crucial|essential|vital|standard|"
    r"technique|paradigm|fundamental|central)\b|\b(?:has|have) (?:recently )?(?:emerged|become|attracted|gained|"
    r"revolutioni[sz]ed|transformed)\b|^The (?:emergence|advent|rise|success|development) of\b|^Recent(?:ly)?\b",
    re.IGNORECASE,
)
# A result without a figure: that it is good. `Experiments on X show …` in front of one is no more.
_GOOD = Screened(
    r"\b(?:achiev|attain|show|demonstrat|substantiat|exhibit|yield|deliver|obtain)\w* (?:[\w-]+ ){0,4}?(?:results|"
    r"performances?|improvements?|gains|effectiveness|robustness|efficacy|feasibility|capabilities|advantages|"
    r"generali[sz]ability)\b|\b(?:outperform|surpass|exceed)\w* (?:[\w-]+ ){0,3}?"
    r"(?:state-of-the-art|SOTA|existing|previous|prior|baselines?|competing|methods|approaches)\b|"
    r"\b(?:improv|enhanc|boost)\w* (?:the )?(?:overall |model |its )?(?:performance|capabilities)\b",
    re.IGNORECASE,
)
_PRAISES = Screened(
    r"\b(?:validat|confirm|provid|accurate|coherent|realistic|understanding|offer|solution|integrat|effectiv|consistently|superior|demonstrat|visit)\w*\b",
    re.IGNORECASE,
)
_LED = re.compile(
    r"(?:(?:our|the|these|extensive|comprehensive|empirical|experimental|numerical|theoretical|further|large-scale) ){0,2}"
    r"(?:experiments?|results?|evaluations?|findings|analys[ei]s|simulations?|studies|benchmarks?)\b.{0,90}?\b"
    r"(?:show|demonstrate|reveal|indicate|confirm|suggest|validate|verify)s?\b",
    re.IGNORECASE,
)
# What the text before it says only, and a step of the authors that says no more than that it was taken.
_POINTS = Screened(
    r"^(?:It|They|He|She) |^The (?:process|procedure|mechanism|former|latter|masks|matrices) |"
    r"^Core to |\b(?:(?:argu|show|find|reveal|demonstrat)\w* (?:that )?(?:they|it|such)\b|such an? \w+)",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\w+s an? (?:[\w-]+ ){0,3}(?:shift|frameworks?|methods?|approach|solution|systems?|theory|techniques?|models?|paradigm|"
    r"algorithms?|platform|capabilities)(?: that (?:enhanc|improv)\w+ \w+ \w+)?\.$"
)
_STEP = Screened(
    r"\b(?:is|are|was|were) (?:then |also |\w+ly )?(?:trained|used|applied|generated|collected|employed|adopted|extracted|"
    r"computed|paired|categorized|constructed|obtained|selected|fed|transcribed|grouped)\b|\bcontains? (?:\w+ )?designed\b|"
    r"\b(?:employs|utilizes|adopts) |"
    r"^(?:\w+ly )?(?:Implements|Employs|Uses|Utilizes|Incorporates|Applies|Details|Collects|Trains)\b|^The authors "
    r"(?:incorporate|detail|utilize|employ|apply|implement|adopt|use|conduct|collect)(?:e?d)?\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?:However|But|Yet|Unfortunately|Nevertheless|Nonetheless|Despite (?:this|these|their|its|the))\b")
# `Extensive experiments on three machines.`, `Using Tidy, a cache that sizes itself.`, `… by 78% while staying.`
_FRAGMENT = Screened(
    r"^(?:\w+ )?(?:experiments|evaluations) (?:on|across|with|in)\b(?!.*\b(?:show|demonstrat|confirm|reveal|indicat|validat|"
    r"verif|suggest|prov|find|yield|support))|^(?:Using|By|Through|Via|With|Leveraging) [^,]*, (?:an?|the) [^,]*\."
    r"$|\b(?:while|by|without|when|after|before) \w+ing\.$",
    re.IGNORECASE,
)
_NO_STATEMENT = Screened(
    r"\b(?:(?:publicly )?available|we hope|the authors (?:hope|expect)|open-sourced?|future (?:work|research)|"
    r"releas(?:ed?|es)|address(?:es)? (?:this|these)|remains? (?:an? |largely )?\w+|"
    r"this (?:problem|issue|challenge|gap)|above|below)\b|^(?:\w+ly )?\w+s it\b|^Among (?:these|them|those)\b|"
    r"^(?:Initially|In detail|First|Second|Next|Then),|\((?:i|1|a)\)|\bshow: |"
    r"^To \w+ [^,]*$|\bplease (?:visit|see|refer)\b|\b(?:encourage|invite) (?:readers|researchers|the community)\b|https?://",
    re.IGNORECASE,
)
_LOST = 2.0  # of a statement that leaves out its sentence's figure: the card's evidence would not have it either
_COUNTED = Screened(r"\b(?:two|three|four|five|six|several) (?:[\w-]+ ){0,2}[\w-]+s\.$")


class ShortGist(NamedTuple):
    """A statement of at most 18 words, "" for none, and the sentence of the text, word for word, that it rests on."""

    text: str = ""
    quote: str = ""


_NONE = ShortGist()


def short_gist(item: Item, asked: Sequence[str] = ()) -> ShortGist:
    """Return the item's statement, `asked` being phrases that the topic asks about; none where no model can be read."""
    text = item.abstract[:LONGEST_TEXT].strip()
    try:
        if item.kind is Kind.REPO:
            return _of_description(text[:_DESCRIPTION])
        return _of_text(item.title, text, tuple(asked))
    except SummaryUnavailable as error:
        log.warning("an entry has its title alone: %s", error)
        return _NONE


@lru_cache(maxsize=512)
def _of_text(title: str, text: str, asked: tuple[str, ...]) -> ShortGist:
    if not text or not reads_as_english(text):
        return _NONE
    told = max(_told(title, text, asked), key=lambda one: one.worth, default=None)
    return _NONE if told is None or told.worth < _LEAST else ShortGist(told.text, told.quote)


class _Told(NamedTuple):
    worth: float
    text: str
    quote: str


def _told(title: str, text: str, asked: Sequence[str]) -> Iterator[_Told]:
    """Every statement of the text that stands alone, and how much it tells."""
    sentences, names = split(text)[:SCANNED], lower_case_names(text)
    wholes, parts = whole_scores(sentences, title), part_scores(sentences, title)
    phrases = [tokens(phrase) for phrase in asked]
    name = title.partition(":")[0] if ":" in title else ""
    told = resolve(sentences, names)
    announced = _first(ANNOUNCES, told, _first(AUTHORS, told, 0))
    for at, explained in enumerate(told):
        if wholes[at] <= UNUSABLE or dangles(explained.text):
            continue
        own = parts[at]
        background = own.argmax() == PARTS.index(PROBLEM) and own[PARTS.index(PROBLEM)] > -1
        whole = edit(explained.text, names)
        # What comes before the work is announced is of others, where it does not say whose it is.
        of_others = at < announced and not begins_with_verb(whole) and "authors" not in whole
        fit = 0.6 * max(wholes[at] - 0.3, own[PARTS.index(EVIDENCE)]) - 1.2 * background - 1.2 * of_others
        fit -= 1.0 * (_TURNS.match(sentences[at]) is not None)
        measured = measures(whole)
        # The topic asks for a result: of what is none, its phrases say nothing.
        finds = at >= announced and own.argmax() == PARTS.index(EVIDENCE)
        for one in statements(whole, LONGEST):
            if dangles(one.text) or _NO_STATEMENT.search(one.text) or _FRAGMENT.search(one.text):
                continue
            worth = (
                fit
                - one.cost
                + _worth(one.text, phrases if finds or measured else ())
                - _LOST * (measured and not measures(one.text))
            )
            worth += 0.4 * (finds and _PRAISES.search(one.text) is None)
            worth -= 1.6 * (not _MEASURED.search(one.text) and _says_the_title(one.text, title))
            yield _Told(float(worth) + 0.4 * (name != "" and name in one.text), _by_verb(one.text), sentences[at])


def _first(pattern: re.Pattern[str], told: Sequence[Resolved], otherwise: int) -> int:
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


def _says_the_title(text: str, title: str) -> bool:
    """Whether a statement tells at most a word more than the title does."""
    known = {word[:_STEM] for word in tokens(title)}
    bare = re.sub(r" ?\([^()]*\)", "", text)
    told = {word[:_STEM] for word in tokens(bare) if word not in STOPWORDS and not _PRESENTS.fullmatch(word)}
    return len(told - known) < _NEW


_STEM = 6  # letters by which two forms of a word are told to be one
_NEW = 2  # words
_PRESENTS = re.compile(
    r"(?:propos|introduc|present|develop|author|nam|call|universal|unif|generali[sz]|improv|solv)\w*|novel|new|frameworks?|methods?|"
    r"models?|approach|systems?|paper|paradigm|technique|first|design\w*"
)


def _worth(text: str, phrases: Sequence[Sequence[str]]) -> float:
    """What a statement tells by its words alone. The weights were set by reading what they choose of 400 abstracts."""
    figures = len(_MEASURED.findall(text))
    measured = figures > 0 or measures(text)
    words = len(text.split())
    worth = 1.8 * min(figures, 2) ** 0.5 if figures else 1.2 if measured else 0.4 * (_NUMBER.search(text) is not None)
    worth += (
        0.3 * min(2, len((_COMPARES if figures else _SETS_APART).findall(text)))
        + 0.06 * min(words, 16)
        - (0.5 if figures else 1.2) * (words < 8)
    )
    worth -= 0.7 * min(3, len(_VAGUE.findall(text))) + 0.35 * (not figures) * min(3, len(_WEAK.findall(text)))
    worth -= 1.5 * (_OF_THE_PAPER.match(text) is not None) + 1.2 * (_ACTIVITY.match(text) is not None)
    if not measured and _GOOD.search(text):
        worth -= 0.7 + 0.6 * (_LED.match(text) is not None)
    worth -= 1.0 * (_STEP.search(text) is not None) + 1.2 * (_POINTS.search(text) is not None)
    worth -= 1.5 * (_EMPTY.match(text) is not None)
    worth -= 1.2 * (_OF_THE_FIELD.search(text) is not None)
    worth -= 1.2 * points_inside(text) + (_COUNTED.search(text) is not None)
    said = f" {' '.join(tokens(text))} "
    return worth + 0.5 * min(2, sum(f" {' '.join(phrase)} " in said for phrase in phrases if phrase))


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
