"""Finds what a sentence's first words point at, when that is a sentence which is not shown.

`This`, `These`, `It`, `They` at the beginning are replaced where the sentence just before leaves no doubt:

1. `These results show`, `This finding` → `The results show`, `The finding`, unless the results are those of others.
2. `This approach`, after a sentence of the authors' own work: its name, when that sentence introduces one by name
   (`We propose STG, a …`), else `The approach`; so too any noun that stands in that sentence: `The codes`.
3. `It`, `Its`: the name that the sentence before introduces, or begins with. `On ImageNet, it gains 3%` too.
4. `They`, `These models`, `Their`: the plural subject with which the sentence before begins; `These …` only with its noun.
   `These methods`, after a sentence of the work of others: `Existing methods`, by the word that says so there.
5. `This enables …` → `Enables …`, after a sentence of the authors' own work, as `We propose …` becomes `Proposes …`.

Everything else that begins so dangles. What points at another sentence from inside, `these models`, stays as it is, and is
known, so that another sentence can be taken.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.summarise.english import anaphora_patterns as patterns
from bot.summarise.english.openings import strip_opening


class Resolved(NamedTuple):
    """A sentence without what stands in front, its first words explained, and the place of the one that they are taken from.

    The place (0-based) is the sentence's own where no words were borrowed.
    """

    text: str
    source: int


def resolve(sentences: Sequence[str], names: frozenset[str] = frozenset()) -> list[Resolved]:
    """Return the sentences of a text in order, opened, with what their first words point at in place of these where certain.

    `names` are written in lower case even at a sentence's beginning.
    """
    return [*_resolved_all(tuple(sentences), names)]


@lru_cache(maxsize=32)  # a text's parts and its gist ask for the same
def _resolved_all(sentences: tuple[str, ...], names: frozenset[str]) -> tuple[Resolved, ...]:
    told: list[Resolved] = []
    shown = [strip_opening(sentence, names) for sentence in sentences]
    for at, text in enumerate(shown):
        place, rest = _without_place(text)
        found = _resolved(rest, told[-1].text, placed=bool(place)) if told and _points(rest) else None
        said = text if found is None else place + _inside(found.text, place)
        told.append(Resolved(said, told[-1].source if found is not None and found.borrows else at))
    return tuple(told)


def explained(sentence: str, before: str) -> str:
    """Return the sentence with what its first words point at in `before` in place of these; "" where that is not certain."""
    if not _points(sentence):
        return sentence
    found = _resolved(sentence, before, placed=False)
    return found.text if found else ""


def _without_place(text: str) -> tuple[str, str]:
    """What stands before the pointing word, `On ImageNet, `, and the rest as a sentence of its own."""
    match = patterns.PLACED.match(text)
    if match is None:
        return "", text
    rest = text[match.end() :]
    return match.group(1), rest[0].upper() + rest[1:]


def _inside(text: str, place: str) -> str:
    return f"the {text[4:]}" if place and text.startswith("The ") else text


@lru_cache(maxsize=512)  # a text's statements are asked about for each part
def dangles(text: str) -> bool:
    """Say whether an explained sentence still begins with a word that points at another: it should not be shown alone."""
    return _points(_without_place(text)[1])


@lru_cache(maxsize=256)
def points_inside(text: str) -> bool:
    """Say whether `these tasks`, `this`, `its` inside a sentence can only mean something that another sentence says."""
    if not any(sign in text for sign in patterns.SIGNS_INSIDE):
        return False
    return patterns.BARE_INSIDE.search(text) is not None or any(
        not patterns.OWN.match(text, match.start()) and not _said_before(match, text)
        for match in patterns.INSIDE.finditer(text)
    )


def _said_before(match: re.Match[str], text: str) -> bool:
    words = [word for word in match["what"].split() if word.lower() not in patterns.UNSPECIFIC] or ["?"]
    before = text[: match.start()].lower()
    return any(word.lower()[: max(4, len(word) - 3)] in before for word in words)


class _Found(NamedTuple):
    text: str
    borrows: bool  # words of the sentence before


def _points(sentence: str) -> bool:
    """Say whether the first words point at another sentence: `This enables …`, not `This paper` or `It is known that`."""
    return (
        patterns.POINTER.match(sentence) is not None
        and patterns.OF_ITSELF.match(sentence) is None
        and patterns.EXPLETIVE.match(sentence) is None
    )


def _resolved(sentence: str, before: str, *, placed: bool) -> _Found | None:
    """By the first rule that is certain; after something that is `placed` before, `they` may mean that."""
    for rule in (_results, _thing, _it) if placed else (_results, _thing, _it, _they, _others, _doing):
        found = rule(sentence, before)
        if found is not None:
            return found
    return None


def _results(sentence: str, before: str) -> _Found | None:
    match = patterns.RESULTS.match(sentence)
    if match is None or (patterns.OTHERS.search(before) and not patterns.AUTHORS.search(before)):
        return None
    return _Found(f"The {sentence[match.start(1) :]}", borrows=False)


def _thing(sentence: str, before: str) -> _Found | None:
    name = _name_introduced(before)
    if not (name or _name_in_front(before) or patterns.AUTHORS.search(before)):
        return None
    named = patterns.NAMED_THING.match(sentence)
    if named is not None and name:
        return _Found(f"{name}{sentence[named.end() :]}", borrows=True)
    match = patterns.MADE_THING.match(sentence) or patterns.THING.match(sentence)
    if match is None or (match.re is patterns.THING and not _stands_in(match.group(1).split()[-1], before)):
        return None
    # `The framework` is the authors' own; of other things there may be several.
    return _Found(f"The {sentence[match.start(1) :]}", borrows=False)


def _stands_in(noun: str, before: str) -> bool:
    return re.search(rf"\b{re.escape(noun)}\b", before, re.IGNORECASE) is not None


def _it(sentence: str, before: str) -> _Found | None:
    match = re.match(r"(it|its)\b(?!['’])", sentence, re.IGNORECASE)
    name = _name_in_front(before) or _name_behind(before) or _name_introduced(before) or _subject_in_front(before)
    if match is None or not name:
        return None
    whose = "" if match.group(1).lower() == "it" else "'s"
    return _Found(f"{name}{whose}{sentence[match.end() :]}", borrows=True)


def _they(sentence: str, before: str) -> _Found | None:
    match = patterns.PLURAL_POINTER.match(sentence)
    subject = patterns.PLURAL.match(before)
    if match is None or subject is None or patterns.NO_SUBJECT.search(subject.group(1)):
        return None
    named = subject.group(1)
    if match.group(3) and not _is_their_noun(match.group(3), named):
        return None
    whose = "'" if match.group(2) else ""
    return _Found(f"{named}{whose}{sentence[match.end() :]}", borrows=True)


def _others(sentence: str, before: str) -> _Found | None:
    match, said = patterns.THEIRS.match(sentence), patterns.WHOSE.search(before)
    if match is None or said is None or patterns.AUTHORS.search(before):
        return None
    return _Found(f"{said['whose'].capitalize()} {sentence[match.start('what') :]}", borrows=True)


def _doing(sentence: str, before: str) -> _Found | None:
    match = patterns.DOES.match(sentence)
    if match is None or not (_name_in_front(before) or patterns.AUTHORS.search(before)):
        return None
    rest = sentence[match.end() :].removeprefix("also ")
    return _Found(rest[0].upper() + rest[1:], borrows=False)


def _is_their_noun(noun: str, subject: str) -> bool:
    last = subject.split()[-1]
    return noun.lower() == last.lower() or (
        noun in patterns.GENERIC and re.fullmatch(r"[A-Z][\w-]*[A-Z]s", last) is not None
    )


def _name_introduced(before: str) -> str:
    match = patterns.INTRODUCED.search(before) if patterns.AUTHORS.search(before) else None
    name = next((name for name in match.groups() if name), "") if match else ""
    return name[:1].upper() + name[1:]


def _name_in_front(before: str) -> str:
    match = patterns.BEGINS_WITH_NAME.match(before)
    return match.group(1) if match and not patterns.NO_NAME.match(match.group(1)) else ""


def _name_behind(before: str) -> str:
    """The name with which the main clause begins behind what leads to it: `Empowered by it, Tidy can …`."""
    lead = patterns.LEAD.match(before)
    return _name_in_front(before[lead.end() :]) if lead else ""


def subject_named(before: str) -> str:
    """Return what a sentence is about, by its name or as `The method`; "" where that is not certain."""
    own = patterns.OWN_SUBJECT.match(before)
    return _name_in_front(before) or _name_introduced(before) or (f"The {own['what']}" if own else "")


def _subject_in_front(before: str) -> str:
    match = patterns.SINGULAR.match(before)
    return match.group(1) if match and not patterns.NO_SUBJECT.search(match.group(1)) else ""
