"""Light edits that make a sentence stand by itself and leave its meaning, its numbers and its names as they are.

1. White space is folded, a bullet in front goes, and so does the heading of a structured abstract: `Methods: We …`.
2. A connective in front goes, which pointed at a sentence that is not shown: `However, the cost …` → `The cost …`,
   `To address this gap, we propose X` → `We propose X`.
3. `This`, `These`, `It`, `They` at the beginning become what they point at, where that is certain: by
   `bot.summarise.dangling`, before.
4. What abstracts say by custom is said in plain words: `Experiments are conducted, showing …` → `Experiments show …`
   (`bot.summarise.plain`).
5. The authors are spoken of in the third person: `We propose X` → `Proposes X` (`bot.summarise.authors`).
6. An address goes, with the word that leads to it: `Our code is available at https://…` → `The code is available.` The
   item's links are shown beside its summary.
7. A list of which the sentence has only a part loses its marks (`bot.summarise.listings`).
8. A long sentence is cut at a clause border (`bot.summarise.cutting`), never a figure or a name with it.
9. A sentence without an end mark gets a full stop.
"""

import re

from bot.summarise.authors import in_third_person
from bot.summarise.cutting import LONGEST, shortened
from bot.summarise.listings import with_whole_lists
from bot.summarise.openings import opened
from bot.summarise.plain import plainer

_SHORTEST_REST = 3  # words that are left when an address goes: fewer say nothing without it

_WEB = r"(?:https?: ?//|www\.|git(?:hub|lab)\.com/)"
_HAS_ADDRESS = re.compile(_WEB, re.IGNORECASE)
_TO_BE_HAD = re.compile(r"\b(?:available|released|found|accessed|accessible|provided|published|open-sourced|hosted)\b")
_UNSAID = re.compile(
    r"((?:the |our |project |source |all )*(?:codes?|data ?sets?|data|models?|implementation|demo|weights)"
    r"(?: and [\w ]{2,30}?)?)(?= (?:publicly |freely |openly )?available$)",
    re.IGNORECASE,
)
_HAS_VERB = re.compile(r"\b(?:is|are|was|were|be|been|will|made|can)\b")
_LED_TO = r"(?: (?:at|from|via|on|in|under|here))?:?"
# `superseded by https://…`, `see https://…`: the address is what the words are about.
_NEEDS_ADDRESS = re.compile(
    r"\b(?:by|to|with|of|for|see|visit|is|are|and|or|into|using|called|named|present|presents|introduce|introduces|propose|"
    r"proposes|authors|we|the)$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(rf"{_LED_TO} *[(\[]?{_WEB}[^\s)\]]+[)\]]? ?[.!]?$", re.IGNORECASE)
_AT_A_LINK = re.compile(
    r" (?:at|from|via|on|in|under|through) (?:(?:the|this|our)(?: following)? (?:[a-z]+ )?(?:link|URL|address)|here|this)"
    r"(?=[:.,;]|$| https?:)| here(?=\.?$)",
    re.IGNORECASE,
)
_ADDRESS_INSIDE = re.compile(
    rf"{_LED_TO} [(\[]{_WEB}[^\s)\]]+[)\]](?=[ ,;.])|"
    rf"{_LED_TO} {_WEB}[^\s)\]]*[^\s)\].,;](?=[,;]? (?:to|and|that|which|under|for|with|including|as|\w+ing)\b)",
    re.IGNORECASE,
)


def edited(sentence: str, names: frozenset[str] = frozenset(), *, longest: int = LONGEST, by_name: bool = False) -> str:
    """Return the sentence as it can stand by itself, explained before (rule 3) or not.

    `names` are written in lower case even at a sentence's beginning; `longest` is how many words it should have at most;
    `by_name` has the authors named, not their verb in front: where it follows a sentence that is not begun so.
    """
    text = in_third_person(plainer(opened(sentence, names)), by_name=by_name)
    text = shortened(with_whole_lists(_without_address(text)), longest)
    return f"{text}." if text[-1:].isalnum() or text[-1:] in ")%" else text


def _without_address(text: str) -> str:
    text = _AT_A_LINK.sub("", text) if _TO_BE_HAD.search(text) else text
    if not _HAS_ADDRESS.search(text):
        return text
    kept = _ADDRESS_INSIDE.sub(lambda found: found.group() if _NEEDS_ADDRESS.search(text[: found.start()]) else "", text)
    text, kept = kept, _ADDRESS.sub("", kept)
    # `(code at https://…)`: without the address its bracket would stay open.
    short = len(kept.split()) < _SHORTEST_REST and not _TO_BE_HAD.search(kept)
    stays = kept == text or short or kept.count("(") > kept.count(")")
    return text if stays or _NEEDS_ADDRESS.search(kept) else f"{_said(kept.rstrip(' ,;:'))}."


def _said(text: str) -> str:
    """`Code is available` for `Code available`, which needed its address to be a sentence."""
    match = _UNSAID.match(text)
    if match is None or _HAS_VERB.search(match.group(1)):
        return text
    what = match.group(1)
    return f"{what} {'are' if ' and ' in what or what.endswith(('s', 'data', 'Data')) else 'is'}{text[match.end() :]}"
