"""Light edits that make a sentence stand by itself and leave its meaning, its numbers and its names as they are.

1. White space is folded, a bullet in front goes, and so does the heading of a structured abstract: `Methods: We …`.
2. A connective in front goes, which pointed at a sentence that is not shown: `However, the cost …` → `The cost …`,
   `To address this gap, we propose X` → `We propose X`.
3. `This`, `These`, `It`, `They` at the beginning become what they point at, where that is certain: by
   `bot.summarise.english.anaphora`, before.
4. The authors are spoken of in the third person: `We propose X` → `Proposes X` (`bot.summarise.english.third_person`).
5. An address goes, with the word that leads to it: `Our code is available at https://…` → `The code is available.` The
   item's links are shown beside its summary.
6. A list of which the sentence has only a part, since the text goes on with it in the next sentence, loses its marks and
   its count. `It has three stages: (1) reading.` → `It has stages, among them reading.`; a point that is no mere thing
   follows the colon: `We find two results: (1) caches sleep` → `We find results: caches sleep`, `We make the following
   contributions: (1) we build X` → `We make contributions: we build X`. A count of contributions or findings of which none
   follows goes, too. Of `…; 2) sorting; 3) telling.` without the first nothing is left. A list that is whole, or has two of
   its points, stays.
7. A long sentence is cut at a clause border, where nothing that a reader needs stands behind it. A tail goes only with all
   its figures and names left in front: a number, or a word with a capital, that stands nowhere in what is kept, holds the
   tail. What limits the sentence (`if`, `unless`, `when`) is no border. What follows from it (`, enabling …`) may go from
   any long sentence; what stands beside it (`, which …`) from one of more than 45 words; what turns against it (`, but …`)
   from such a one too, and leaves an ellipsis.
8. A sentence without an end mark gets a full stop.
"""

import re
from functools import lru_cache

from bot.summarise.english.openings import strip_opening
from bot.summarise.english.prefilter import Screened
from bot.summarise.english.third_person import drop_us, to_third_person

LONGEST = 45  # words of one sentence; the mean of an abstract's sentences is about 22
_LONGEST_CUT = 1_500  # characters; a longer "sentence" is none, and no border of it is tried: each takes a look at all of it
_LEAST_KEPT = 12  # words that a cut leaves at least
_ENOUGH = 0.4  # of the words that a cut leaves at least: more gone would be another sentence

# What follows from the sentence, or is meant to; and, in a sentence that is too long at any rate, what is said beside it.
_FOLLOWS = re.compile(
    r", (?=(?:(?:and )?(?:thereby|thus|hence|so that|making|enabling|leading|resulting|allowing|ensuring|"
    r"providing|yielding|"
    r"offering|achieving|facilitating|improving|reducing|demonstrating|highlighting|showing|paving|creating|"
    r"underscoring|"
    r"supporting|which (?:enables|allows|makes|leads|helps|improves|reduces|ensures))|with the (?:aim|goal)|"
    r"in order to)\b)"
)
_BESIDE = re.compile(rf"; |\s[—–]\s|, (?=(?:which|where|as well as|while \w+ing|without \w+ing)\b)|{_FOLLOWS.pattern}")
_TURNS = re.compile(r", (?=(?:while|whereas|although|though|but|yet|because|since)\b)")
_COUNTED = re.compile(r"\b(?:then|second|finally)\b|\((?:ii|2|b)\)")  # the kept part would count to one
_LISTED = re.compile(r"\b(?:two|three|four|five|six|seven|several|following)\b[^:;]*:\s")  # the kept part would say how many
_DASH = re.compile(r"\s(?:[–—-]|--)\s")
_NOT = re.compile(r"\b(?:not|no|nor|less|only)\b|n't\b")
_NEAR = 60  # characters
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z])\w+")

_SHORTEST_REST = 3  # words that are left when an address goes: fewer say nothing without it

_WEB = r"(?:https?: ?//|www\.|git(?:hub|lab)\.com/)"
_HAS_ADDRESS = Screened(_WEB, re.IGNORECASE)
_TO_BE_HAD = Screened(r"\b(?:available|released|found|accessed|accessible|provided|published|open-sourced|hosted)\b")
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

_MARK = r"(?:\((?:1|i|a|I|A)\)|(?:1|i)\)|[Ff]irst(?:ly)?,)"
_BEGUN = Screened(
    rf"^(?P<head>.{{12,}}?[\w)])(?P<join>,? (?:namely|including|i\.e\.),?:?|:|,) (?P<mark>{_MARK}) (?P<point>[^\s].*)$"
)
_COUNTED_POINTS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|several|multiple|key|main|major|following|core|critical|distinct|"
    r"[2-9]) (?:[\w-]+ ){0,4}?[\w-]+s\b(?!.*[:;])(?-i:[^.A-Z]){0,60}$",
    re.IGNORECASE,
)
_NUMERAL = r"(?:two|three|four|five|six|seven|eight|nine|ten|[2-9])"
_COUNT = re.compile(rf"(?<![\w.-]){_NUMERAL} (?=(?:[\w-]+ ){{0,4}}?[\w-]+s\b[^:;]*$)", re.IGNORECASE)
_COUNTED_ALONE = ("contributions", "innovations", "insights", "findings", "conclusions", "observations")
_COUNT_ALONE = Screened(rf"(?<![\w.-]){_NUMERAL} (?=(?:[\w-]+ ){{0,3}}?(?:{'|'.join(_COUNTED_ALONE)})\.?$)")
_NUMBERED = r"(?:\((?:[2-9]|ii|iii|iv|v|II|III|IV|V|[b-eB-E])\)|(?:[2-9]|ii|iii|iv)\.?\))"
_LATER_POINT = re.compile(rf"{_NUMBERED} |\b(?:[Ss]econd(?:ly)?|then|finally|next|another|other)\b")
_GOES_ON = Screened(rf"[;,.] (?:and )?{_NUMBERED}(?:$|[ .])")
_FIRST_POINT = re.compile(r"(?:\((?:1|i|a|I|A)\)|(?<![\w(.])(?:1|i)\)) |\b[Ff]irst(?:ly)?\b")
_THING = re.compile(r"(?:an?|the(?! authors\b)) |[a-z]+ing\b")  # what the list has, not a sentence about it
_ARTICLE = re.compile(r"^(?:An?|The)(?= [a-z])")  # of a thing or of a sentence: behind a colon either is right
_HEADED = re.compile(r"(?:[\w-]+ ){0,6}[\w-]+: ")
_AUTHORS = re.compile(r"\b[Tt]he authors\b")
_FOLLOWING = re.compile(r"\bthe following (?=[a-z-]+$)")  # of which one follows
_SHORTEST_LIST = 6  # words that are left


@lru_cache(maxsize=128)  # a text's parts and its gist ask for the same
def edit(sentence: str, names: frozenset[str] = frozenset(), *, longest: int = LONGEST, by_name: bool = False) -> str:
    """Return the sentence as it can stand by itself, explained before (rule 3) or not.

    `names` are written in lower case even at a sentence's beginning; `longest` is how many words it should have at most;
    `by_name` has the authors named, not their verb in front: where it follows a sentence that is not begun so.
    """
    text = to_third_person(drop_us(strip_opening(sentence, names)), by_name=by_name)
    text = shorten(mend_list(_without_address(text)), longest)
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


def mend_list(text: str) -> str:
    """Return the sentence without the marks of points of which it has the first only, or the later ones only."""
    later = _GOES_ON.search(text)
    if later is not None and not _FIRST_POINT.search(text, 0, later.start()):
        kept = text[: later.start()].rstrip(" ,;")
        return f"{kept}." if len(kept.split()) >= _SHORTEST_LIST else text
    begun = _BEGUN.match(text)
    if begun is None or _LATER_POINT.search(begun["point"]):
        return _COUNT_ALONE.sub("", text) if text.rstrip(".").endswith(_COUNTED_ALONE) else text
    return _with_the_first(begun, text)


def _with_the_first(begun: re.Match[str], text: str) -> str:
    head, point = begun["head"], begun["point"]
    counted = _COUNTED_POINTS.search(head) is not None
    if begun["join"] == "," or (begun["mark"][0] in "Ff" and not counted):
        return text
    if _AUTHORS.search(head):
        point = re.sub(r"^the authors\b", "they", point, flags=re.IGNORECASE)
    if _FOLLOWING.search(head) or not counted or head.endswith((" are", " is", " include", " that", " as follows")):
        return f"{_FOLLOWING.sub('', head)}{begun['join'].rstrip(':')}: {point}"
    head = _without_count(head)
    # `(1) Planning: they draw`: its heading needs no second colon.
    if _THING.match(point) or _HEADED.match(point):
        return f"{head}, among them {point}"
    return f"{head}: {_ARTICLE.sub(lambda found: found.group().lower(), point)}"


def _without_count(head: str) -> str:
    """`two key findings` as `key findings`: of the list that it announces one point follows."""
    counts = [*_COUNT.finditer(head)]
    if not counts:
        return head
    kept = f"{head[: counts[-1].start()]}{head[counts[-1].end() :]}"
    return kept if counts[-1].start() else f"{kept[:1].upper()}{kept[1:]}"


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return the sentence with at most `longest` words where a border allows it, otherwise as short as one does."""
    if len(text.split()) <= longest or len(text) > _LONGEST_CUT:
        return text
    text = _cut(text, longest, _FOLLOWS, ".")
    for border, mark in ((_BESIDE, "."), (_TURNS, " …")):
        text = _cut(text, LONGEST, border, mark) if len(text.split()) > LONGEST else text
    return text


def _cut(text: str, longest: int, border: re.Pattern[str], mark: str) -> str:
    places = [match.start() for match in border.finditer(text) if _may_cut(text, match.start()) and not _denies(text, match)]
    fitting = [at for at in places if len(text[:at].split()) <= longest]
    at = max(fitting, default=min(places, default=None))
    return text if at is None else f"{text[:at].rstrip(' ,;')}{mark}"


def _denies(text: str, border: re.Match[str]) -> bool:
    """`It is not the size, but …`: without what follows, the sentence says the least of it."""
    return (
        text.startswith("but", border.end())
        and _NOT.search(text, max(0, border.start() - _NEAR), border.start()) is not None
    )


def _may_cut(text: str, at: int) -> bool:
    kept, tail = text[:at], text[at:]
    words = len(kept.split())
    return (
        words >= max(_LEAST_KEPT, _ENOUGH * len(text.split()))
        and not _COUNTED.search(tail)
        and not (";" in tail and _LISTED.search(kept))
        and not _in_a_pair(kept, tail)
        and set(_NUMBER.findall(tail)) <= set(_NUMBER.findall(kept))
        and set(_NAME.findall(tail)) <= set(_NAME.findall(kept))
        and all(kept.count(opened) == kept.count(closed) for opened, closed in ("()", "[]", "{}", "“”"))
    )


def _in_a_pair(kept: str, tail: str) -> bool:
    """Whether the cut is at one of two dashes or between them: behind the second, what stands before the first goes on."""
    before, after = len(_DASH.findall(kept)), len(_DASH.findall(tail))
    return after > 0 and (before % 2 == 1 or (after > 1 and _DASH.match(tail) is not None))
