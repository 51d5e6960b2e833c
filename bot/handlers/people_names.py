"""Authors' names taken apart as bibliographies need them. Pure; no name raises.

Sources write "Ludwig van Beethoven". What the last name is cannot be known for every culture: particles in lower case, what
joins two Spanish or Portuguese names, and generations ("Jr.") are recognised; otherwise it is the last word.
"""

import re
from dataclasses import dataclass

# The last word of what is no person, or anywhere a collaboration.
_GROUP = re.compile(
    r"(?i)\b(?:collaborations?|consortium)\b|^the\s|(?:team|group|institute|university|foundation|project|initiative|network"
    r"|society|association|committee|laborator(?:y|ies)|labs?|inc\.?|ltd\.?|llc|corp\.?|gmbh|community|developers"
    r"|contributors|authors|research)$"
)
_GENERATION = re.compile(r"(?i)jr\.?|sr\.?|ii|iii|iv")
_JOINTS = frozenset({"y", "e", "i"})  # Ramón y Cajal, Costa e Silva, Puig i Cadafalch
_OTHERS = re.compile(r"(?i)(?:and\s+)?(?:et\s+al\.?|others)")


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in parts; of a group, and of who has one name only, `last` is all of it and `whole` is True."""

    last: str  # with its particles: "van Beethoven"
    first: str = ""
    generation: str = ""  # "Jr."
    whole: bool = False


def names_of(authors: tuple[str, ...]) -> tuple[list[Name], bool]:
    """Return the names, and whether there are others that the source did not name ("et al.")."""
    said = [" ".join(author.split()) for author in authors]
    names = [name_of(author) for author in said if any(map(str.isalnum, author)) and not _OTHERS.fullmatch(author)]
    return names, any(_OTHERS.fullmatch(author) for author in said)


def name_of(text: str) -> Name:
    """Return one name, written "First Last" or "Last, First", in its parts."""
    words = text.split()
    if _GROUP.search(text) or re.search(r"(?i)\band\b|[\d&/:;@]", text):
        return Name(text, whole=True)
    if "," in text:
        return _turned_round([part.strip() for part in text.split(",") if part.strip()])
    generation = words.pop() if len(words) > 2 and _GENERATION.fullmatch(words[-1]) else ""
    if len(words) < 2:
        return Name(text, whole=True)
    start = _start_of_last(words)
    return Name(" ".join(words[start:]), " ".join(words[:start]), generation)


def _turned_round(parts: list[str]) -> Name:
    """A name that its source wrote with the last part first: "Smith, Jr., John", "Smith, John, Jr.", "Smith, John"."""
    generation = next((part for part in parts[1:] if _GENERATION.fullmatch(part)), "")
    rest = [part for part in parts[1:] if part != generation]
    if not parts or not (rest or generation):
        return Name(" ".join(parts), whole=True)
    return Name(parts[0], " ".join(rest), generation)


def _start_of_last(words: list[str]) -> int:
    """Where the last name begins: at the first particle in lower case behind a first name, else at the last word."""
    for at in range(1, len(words) - 1):
        if words[at] in _JOINTS:
            return max(at - 1, 1)
        if words[at][:1].islower():
            # "Van den Berg": the particle before is one too, whatever its case.
            return at - 1 if at > 1 and words[at - 1] in ("Van", "Von", "De", "Della") else at
    return len(words) - 1
