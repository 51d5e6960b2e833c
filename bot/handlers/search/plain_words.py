"""What people type around what they look for: the frame of a question, a span of time, by whom. Pure.

Nothing of it is left in the search, as no text says "show me papers on"; what it asks for besides becomes a filter, and the
answer names it.
"""

import re
from dataclasses import dataclass

_LONGEST = 300  # characters: longer texts are pasted

_KINDS = {"repos": "kind:repo", "repositories": "kind:repo", "code": "has:code", "implementations": "has:code"}
_THINGS = (
    "papers?|articles?|preprints?|publications?|studies|literature|research|works?|news|anything|something|everything|stuff"
    "|advances|progress|developments|repos|repositories|code|implementations"
)
_PRAISED = (
    "latest|recent|newest|new|good|best|top|current|important|interesting|relevant|related|any|some|all|more|most|the|a"
)
_ON = (
    r"on|about|for|in|regarding|concerning|around|related to|dealing with|covering|using|of"
    r"|that (?:are|is) about|(?:that|which) (?:discuss|use|study|cover)e?s?"
)
_BEFORE = tuple(
    re.compile(rf"(?i)(?:{pattern})\s+(?=\S)")
    for pattern in (
        r"(?:hi|hello|hey|please|pls)\b,?",
        r"(?:can|could|would) you(?: please)?",
        r"(?:please )?(?:show|find|give|get|send|recommend|suggest)(?: me| us)?(?! me)(?=\s+(?:\S+\s+){0,3}(?:"
        + _THINGS
        + r"|me|us)\b)",
        r"(?:show|give|tell|find) (?:me|us)(?: (?:something|more|all))?(?: about)?",
        r"search(?: for)?|look(?:ing)? (?:up|for)|find",
        r"(?:i am|i'm|im|we are|we're) (?:looking for|searching for|interested in)",
        r"(?:i|we) (?:want|need|would like|'d like)(?: to (?:read|see|find|know))?(?: more)?(?: about)?",
        r"(?:do you have|have you got|is there|are there)",
        r"(?:what is|what's|whats|what are) (?:new|happening|the latest|the news|known)(?: (?:about|on|in|with|for))?",
        r"(?:what|which) (?=(?:" + _PRAISED + "|" + _THINGS + r")\b)",
        rf"(?:which|what) (?:{_THINGS}) (?:use|using|discuss|study|treat|cover|mention|are about|deal with)",
        r"(?:what|who) (?:is|are)|what's|what about|how about",
        rf"(?:(?:{_PRAISED})\s+)*(?P<thing>{_THINGS})(?: (?:are|is) there)?\s+(?:{_ON})",
        r"(?:the )?(?:latest|newest|most recent|state of the art)(?: (?:on|about|in))?",
    )
)
_THING_ALONE = re.compile(rf"(?i)(?:(?:{_PRAISED})\s+)*(?P<thing>{_THINGS})(?=\s+(?:by|from)\s)\s+")
_BEHIND = re.compile(r"(?i)[\s,]+(?:please|pls|thanks|thank you|lately|recently|these days|nowadays|right now)$")
_SPAN = re.compile(
    r"(?i)[\s,]+(?:(?:from|in|of|over|during|published)\s+)?(?:the\s+)?"
    r"(?:(?:this|last|past|previous)\s+(?:(?P<number>\d{1,3})\s+)?(?P<unit>day|week|month|year)s?|(?P<day>today|yesterday))$"
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "today": 1, "yesterday": 2}
_NAME = r"[^\W\d_][\w.'’-]*(?:\s+[^\W\d_][\w.'’-]*){0,3}"
_BY = re.compile(rf"(?:(?P<rest>.+?)[\s,]+)?(?P<how>by|from)\s+(?P<name>{_NAME})", re.IGNORECASE)
_NAMED = re.compile(_NAME)
_DID = r"(?:written|write|wrote|published|publish|posted|post|done|released|worked on|working on|been up to)"
_WROTE = re.compile(
    rf"(?:what|which papers|anything(?: that)?|everything(?: that)?)\s+(?:(?:has|have|had|did|does|is|are)\s+)?"
    rf"(?P<name>{_NAME}?)\s+(?:(?:has|have|had|is)\s+)?{_DID}",
    re.IGNORECASE,
)
_THEIRS = re.compile(rf"(?P<name>{_NAME}?)(?:'s|’s|s')\s+(?:(?:{_PRAISED})\s+)*(?:{_THINGS})", re.IGNORECASE)
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class PlainWords:
    """What was typed without its frame."""

    words: str  # what is looked for, "" where only a name is
    filters: tuple[str, ...] = ()  # as the query language says them
    name: str = ""  # by whom, as it was typed
    framed: bool = False  # whether it was typed as a sentence is


def read_plain(text: str) -> PlainWords:
    """Return what a text in plain words, without any sign of the query language, looks for."""
    said = " ".join(text.split()).rstrip("?!. ")
    if not said or len(said) > _LONGEST:
        return PlainWords(said)
    words, filters = _without_span(_without_end(said))
    if (wrote := _WROTE.fullmatch(words) or _THEIRS.fullmatch(words)) is not None:
        return PlainWords("", filters, wrote["name"], framed=True)
    words, kinds, framed = _without_frame(words)
    by = _BY.fullmatch(words)
    name = by["name"] if by else ""
    rest = (by["rest"] or "") if by else words
    return PlainWords(rest, (*kinds, *filters), name, framed or bool(filters))


def may_be_a_name(text: str) -> bool:
    """Say whether the text is written as a person's name is: up to four words of letters."""
    return _NAMED.fullmatch(text) is not None and len(text.split()) <= _MOST_NAMES


def _without_end(text: str) -> str:
    while found := _BEHIND.search(text):
        text = text[: found.start()]
    return text


def _without_span(text: str) -> tuple[str, tuple[str, ...]]:
    found = _SPAN.search(text)
    if found is None:
        return text, ()
    days = int(found["number"] or 1) * _DAYS[(found["unit"] or found["day"]).lower()]
    return text[: found.start()], (f"published:{days}d",)


def _without_frame(text: str) -> tuple[str, tuple[str, ...], bool]:
    kinds: list[str] = []
    began = text
    for _ in range(4):  # "can you show me the latest papers on"
        before = text
        for pattern in (*_BEFORE, _THING_ALONE):
            if (found := pattern.match(text)) is not None:
                thing = (found.groupdict().get("thing") or "").lower()
                kinds += [_KINDS[thing]] if thing in _KINDS else []
                text = text[found.end() :]
        if text == before:
            break
    return text, tuple(dict.fromkeys(kinds)), text != began
