"""The one sentence that says most of what an item says, for lists of many items.

Of a paper or a post it is the sentence that `bot.summarise.choice.scoring` finds to say most of the whole and that can stand
alone, edited as the sentences of a summary are; of a repository its description. Where no sentence will do (a language that
the rules do not know, a notice, a fragment) the text's opening stands in. It is extracted whatever makes the summaries: a
page of hits asks no endpoint.
"""

import asyncio
import logging
import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bot.errors import SummaryUnavailable
from bot.models import Item, Kind
from bot.summarise.choice.scoring import SCANNED, UNUSABLE, whole_scores
from bot.summarise.english.anaphora import Resolved, dangles, points_inside, resolve
from bot.summarise.english.editing import edit
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.english.third_person import begins_with_verb
from bot.summarise.extractive import LONGEST_TEXT
from bot.summarise.repositories.summary import LONGEST_DESCRIPTION

log = logging.getLogger(__name__)

LONGEST = 35  # words, where a border of clauses allows it; a few more before a sentence is broken off
_BROKEN_OFF = 40  # words: a longer one ends in "…" at its last border among the first 35
_SHORTEST = 12  # words in front of that border
_FEWEST = 8  # words that are left without a count of points
_OPENING = 200  # characters of a text of which no sentence can be told, about three lines

# How much fitter a sentence must be that points at another from inside. On SciTLDR's 2,611 abstracts 5.1 % of those shown
# do, 9.4 % without, and the overlap with what people wrote is the same (ROUGE-1 -.03 points [-.20, .13]).
_OPEN = 0.5

_HOPES = re.compile(r"\bwe hope\b", re.IGNORECASE)  # for what comes of the work, mostly: it does not say what that is
# The best first: what is counted follows a colon, and half of it is worse than none; what is said beside follows a comma.
_BORDERS = (re.compile(r":(?= )"), re.compile(r";(?= )"), re.compile(r",(?= )"))
_WEAK_END = re.compile(
    r"[,;:]?(?: (?:and|or|which|that|the|an?|of|to|through|via|by|with|using|in|into|from|for|on|two|three|four|five|"
    r"several|key|main|novel|\(?\w\)))*$"
)
# `through two key ideas`, of which none follows.
_COUNTED = re.compile(
    r",? (?:(?:composed|consisting) of|through|via|by|with|using|in|into|from|including|namely)(?: the)?(?: following)? "
    r"(?:two|three|four|five|six|seven|several|multiple|key|main)(?: [a-z-]+){1,3}$"
)


async def gists(items: Sequence[Item]) -> Sequence[str]:
    """Return the gist of each, in their order; none of any, which the log says, where the shipped models cannot be read."""
    try:
        return await asyncio.to_thread(lambda: [gist(item) for item in items])
    except SummaryUnavailable as error:
        log.warning("a list has titles alone: %s", error)
        return [""] * len(items)


def gist(item: Item) -> str:
    """Return what the item says in a sentence, "" where it has no text; raises SummaryUnavailable as `whole` does."""
    return of_text(item.title, item.abstract[:LONGEST_TEXT].strip(), described=item.kind is Kind.REPO)


@lru_cache(maxsize=1024)  # who leafs back sees a page again, and many searches find the same; 2 MB of abstracts
def of_text(title: str, text: str, *, described: bool) -> str:
    """Return the gist of a text, which is a repository's description where `described`."""
    if not reads_as_english(text):
        return _opening(text)
    return _break_off(edit(text[:LONGEST_DESCRIPTION], longest=LONGEST)) if described and text else _sentence(title, text)


def _sentence(title: str, text: str) -> str:
    """The sentence that says most and needs no other one in front of it."""
    sentences, names = split(text)[:SCANNED], lower_case_names(text)
    fits = whole_scores(sentences, title)
    best, worth, told = "", UNUSABLE, list[Resolved]()
    for at in np.argsort(-fits, kind="stable"):
        if fits[at] <= worth:  # nor is any of the rest fitter
            break
        if at >= len(told):  # it is mostly one of the first, and the first that is tried
            told = resolve(sentences if told else sentences[: at + 1], names)
        said = told[at].text
        own = UNUSABLE if dangles(said) or _HOPES.search(said) else fits[at] - _OPEN * points_inside(said)
        best, worth = (said, own) if own > worth else (best, worth)
    return _break_off(edit(best, names, longest=LONGEST)) if best else _opening(text)


def _opening(text: str) -> str:
    shown = textwrap.shorten(text, _OPENING, placeholder="…")
    return shown if len(shown) > 1 or not text else f"{text[:_OPENING]}…"  # one word, or a language without spaces


def _break_off(sentence: str) -> str:
    """The sentence, or of one that is far too long its beginning, up to a border where that is sure to say something."""
    words = sentence.split()
    if len(words) <= _BROKEN_OFF:
        return sentence
    shown = " ".join(words[:LONGEST])
    # What begins otherwise may have its subject behind its first commas.
    begun = begins_with_verb(shown) or shown.startswith("The authors ")
    return f"{_WEAK_END.sub('', (_to_a_border(shown) if begun else '') or _outside_brackets(shown))} …"


def _to_a_border(shown: str) -> str:
    for border in _BORDERS:
        for match in reversed([*border.finditer(shown)]):
            kept = shown[: match.start()]
            if len(kept.split()) >= _SHORTEST and _outside_brackets(kept) == kept:
                return _without_their_count(kept) if match.group() == ":" else kept
    return ""


def _without_their_count(kept: str) -> str:
    fewer = _COUNTED.sub("", kept)
    return fewer if len(fewer.split()) >= _FEWEST else kept


def _outside_brackets(shown: str) -> str:
    """The text up to the first bracket that it leaves open; the mark of a point, `2)`, closes none."""
    opened: list[int] = []
    for at, sign in enumerate(shown):
        if sign == "(":
            opened.append(at)
        elif sign == ")" and opened:
            opened.pop()
    return shown[: opened[0]].rstrip() if opened and opened[0] else shown
