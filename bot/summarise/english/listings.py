"""Mends a list of points of which a sentence has only some, since the text goes on with them in the next sentence.

1. `It has three stages: (1) reading.` → `It has three stages, among them reading.`; a point that is no mere thing follows
   `the first:`. Where nothing says how many they are, the mark alone goes: `It suffers from: (1) noise` → `It suffers from:
   noise`, `We make the following contributions: (1) we build X` → `We make contributions: we build X`.
2. `…; 2) sorting; 3) telling.` without the first → nothing from the second on.

A list that is whole, or has two of its points, stays.
"""

import re

_MARK = r"(?:\((?:1|i|a|I|A)\)|(?:1|i)\)|[Ff]irst(?:ly)?,)"
_BEGUN = re.compile(
    rf"^(?P<head>.{{12,}}?[\w)])(?P<join>,? (?:namely|including|i\.e\.),?:?|:|,) (?P<mark>{_MARK}) (?P<point>[^\s].*)$"
)
_COUNTED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|several|multiple|key|main|major|following|core|critical|distinct|"
    r"[2-9]) (?:[\w-]+ ){0,4}?[\w-]+s\b(?!.*[:;])(?-i:[^.A-Z]){0,60}$",
    re.IGNORECASE,
)
_NUMBERED = r"(?:\((?:[2-9]|ii|iii|iv|v|II|III|IV|V|[b-eB-E])\)|(?:[2-9]|ii|iii|iv)\.?\))"
_LATER = re.compile(rf"{_NUMBERED} |\b(?:[Ss]econd(?:ly)?|then|finally|next|another|other)\b")
_GOES_ON = re.compile(rf"[;,.] (?:and )?{_NUMBERED}(?:$|[ .])")
_FIRST = re.compile(r"(?:\((?:1|i|a|I|A)\)|(?<![\w(.])(?:1|i)\)) |\b[Ff]irst(?:ly)?\b")
_THING = re.compile(r"(?:an?|the(?! authors\b)) |[a-z]+ing\b")  # what the list has, not a sentence about it
_ARTICLE = re.compile(r"^(?:An?|The)(?= [a-z])")  # of a thing or of a sentence: behind a colon either is right
_HEADED = re.compile(r"(?:[\w-]+ ){0,6}[\w-]+: ")
_AUTHORS = re.compile(r"\b[Tt]he authors\b")
_FOLLOWING = re.compile(r"\bthe following (?=[a-z-]+$)")  # of which one follows
_SHORTEST = 6  # words that are left


def with_whole_lists(text: str) -> str:
    """Return the sentence without the marks of points of which it has the first only, or the later ones only."""
    later = _GOES_ON.search(text)
    if later is not None and not _FIRST.search(text, 0, later.start()):
        kept = text[: later.start()].rstrip(" ,;")
        return f"{kept}." if len(kept.split()) >= _SHORTEST else text
    begun = _BEGUN.match(text)
    if begun is None or _LATER.search(begun["point"]):
        return text
    return _with_the_first(begun, text)


def _with_the_first(begun: re.Match[str], text: str) -> str:
    head, point = begun["head"], begun["point"]
    counted = _COUNTED.search(head) is not None
    if begun["join"] == "," or (begun["mark"][0] in "Ff" and not counted):
        return text
    if _AUTHORS.search(head):
        point = re.sub(r"^the authors\b", "they", point, flags=re.IGNORECASE)
    if _FOLLOWING.search(head) or not counted or head.endswith((" are", " is", " include", " that", " as follows")):
        return f"{_FOLLOWING.sub('', head)}{begun['join'].rstrip(':')}: {point}"
    if _THING.match(point):
        return f"{head}, among them {point}"
    # `(1) Planning: they draw`: its heading needs no second colon.
    return (
        f"{head}, the first{'' if _HEADED.match(point) else ':'} {_ARTICLE.sub(lambda found: found.group().lower(), point)}"
    )
