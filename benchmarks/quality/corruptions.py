"""Corrupts a true sentence in one way, as a careless model might: what a check of claims is to catch.

Made for measuring alone. `training/claims.py` makes those that are learned from, in other words and by other rules: other
verbs are negated in other ways, other pairs of opposites are exchanged, other consequences appended.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,]\d)(?P<unit>\s?(?:%|×|x\b|percent|times|fold)|)")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Z0-9]{2,}\w*|[A-Z][a-z]{3,})\b")
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|should|has been|have been)\b(?! not| no\b|not\b)")
_NEGATED = re.compile(
    r"\b(?:(is|are|was|were|does|do|did|can|could|will|would|should|has|have|may) ?not|without|no longer)\b"
)
_VERBS = (
    r"achieve|address|adopt|allow|apply|attain|avoid|capture|combine|complete|consider|contain|converge|"
    r"cover|cut|deliver|demonstrate|depend|detect|eliminate|employ|enable|ensure|establish|exceed|exploit|"
    r"explain|extend|generalize|handle|help|identify|integrate|investigate|lead|learn|leverage|maintain|match|"
    r"mitigate|model|need|offer|operate|optimize|outperform|overcome|predict|present|preserve|produce|propose|"
    r"prove|provide|reach|recover|rely|remain|remove|require|resolve|reveal|scale|show|solve|suffer|suggest|"
    r"support|surpass|track|transfer|treat|use|yield"
)
_VERB = re.compile(rf"\b({_VERBS})s\b", re.IGNORECASE)
_OPPOSITES = (
    "increase/decrease increases/decreases increased/decreased increasing/decreasing rise/fall rises/falls rising/falling "
    "higher/lower highest/lowest faster/slower fastest/slowest larger/smaller largest/smallest better/worse best/worst "
    "more/less most/least longer/shorter stronger/weaker cheaper/costlier greater/lesser above/below upper/lower "
    "superior/inferior improves/worsens improve/worsen improved/worsened improving/worsening improvement/deterioration "
    "improvements/deteriorations reduces/raises reduce/raise reduced/raised reducing/raising reduction/growth "
    "outperforms/underperforms outperform/underperform outperforming/underperforming gains/losses gain/loss "
    "surpasses/trails surpassing/trailing exceeds/undercuts accelerates/delays accelerate/delay accelerating/delaying "
    "enhances/impairs enhance/impair enhancing/impairing boosts/hurts boost/hurt boosting/hurting "
    "lowers/lifts lowering/lifting maximize/minimize maximizes/minimizes maximizing/minimizing strengthens/weakens "
    "positively/negatively easier/harder richer/poorer deeper/shallower earlier/later"
)
_BOUNDS = re.compile(
    r"\b(?:up to|at least|at most|only|almost|nearly|approximately|roughly|about|around|over|(?:more|less|fewer) than) "
    r"(?=\d)|\bonly (?!if\b)|\b(?:in some cases|in most cases|partially|often|sometimes) "
)
_CONSEQUENCES = (
    "which opens the door to clinical use in hospitals",
    "enabling deployment on smartphones and other low-power devices",
    "so that small companies can afford it",
    "allowing doctors to decide earlier on a treatment",
    "which cuts the electricity bill of data centres",
    "paving the way for fully autonomous vehicles",
    "making it suitable for real-time trading systems",
    "thereby saving engineers weeks of manual work",
    "which makes regulation of such systems feasible",
    "and thus lets teachers adapt their lessons to each pupil",
    "which will speed up the discovery of new drugs",
    "helping governments respond to natural disasters",
    "which removes the need for human annotators",
    "so it can replace existing commercial products",
    "giving users full control over their private data",
    "which matters for farmers in developing countries",
    "leading to safer aircraft and cheaper flights",
    "and it is already used in production by several banks",
    "which improves customer satisfaction in online shops",
    "enabling robots to work next to people in factories",
    "and therefore guarantees fairness for minority groups",
    "which could halve the carbon footprint of training",
    "making programming accessible to beginners",
    "which protects journalists against disinformation campaigns",
)
_BORROWED = re.compile(
    r", ((?:enabling|allowing|which (?:enables|allows|makes)|thereby|thus|paving|making|opening)\b[^,;:()]{25,110})\.$"
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What other texts offer: names, and consequences that they really name."""

    names: Sequence[str]
    consequences: Sequence[str]


Corrupt = Callable[[str, str, Elsewhere, random.Random], str | None]  # the sentence, its text; None where it cannot be


def gathered(texts: Sequence[str], sentences: Sequence[str]) -> Elsewhere:
    """Return the names of texts, which no text has in lower case, and their consequences."""
    ordinary = {word.title() for text in texts for word in re.findall(r"\b[a-z]+", text)}
    names = sorted({match.group() for text in texts for match in _NAME.finditer(text)} - ordinary)
    return Elsewhere(names, [match[1] for sentence in sentences for match in _BORROWED.finditer(sentence)])


def changed_number(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Give a number that the text does not have."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    match = chance.choice(found)
    number = match.group().removesuffix(match["unit"])
    while True:
        digits = [chance.choice("123456789") if sign.isdigit() else sign for sign in number]
        other = "".join(digits)
        if not re.search(rf"(?<!\d){re.escape(other)}(?!\d)", text):
            return _put(sentence, match.start(), match.start() + len(number), other)
        number += "7" if len(number) < 8 and "." not in number else ""


def invented_name(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Put a name of another text in the place of a name."""
    found = list(_NAME.finditer(sentence))
    some = chance.sample(elsewhere.names, min(50, len(elsewhere.names)))
    others = [name for name in some if name.lower() not in text.lower()]
    if not found or not others:
        return None
    match = chance.choice(found)
    return _put(sentence, match.start(), match.end(), others[0])


def other_number(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Put another number of the text, of the same unit, in the place of one."""
    told = [(match.group().removesuffix(match["unit"]), match["unit"].strip()) for match in _NUMBER.finditer(text)]
    ways = []
    for match in _NUMBER.finditer(sentence):
        number, unit = match.group().removesuffix(match["unit"]), match["unit"].strip()
        others = [other for other, kind in told if kind == unit and _plain(other) != _plain(number)]
        ways += [(match.start(), match.start() + len(number), other) for other in others]
    return _put(sentence, *chance.choice(ways)) if ways else None


def negated(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Deny what is said, or say what is denied."""
    ways = [
        _put(sentence, *match.span(), f"{match[1]} {chance.choice(['not', 'no longer', 'not'])}")
        for match in _AUXILIARY.finditer(sentence)
    ]
    for match in _VERB.finditer(sentence):
        denial = chance.choice(["does not", "fails to", "cannot"])
        ways.append(_put(sentence, *match.span(), _cased(f"{denial} {match[1].lower()}", match[0])))
    ways += [_put(sentence, *match.span(), match[1] or "with") for match in _NEGATED.finditer(sentence)]
    return chance.choice(ways) if ways else None


def reversed_direction(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Put the opposite in the place of a word of comparison or of change."""
    found = [match for match in re.finditer(r"[A-Za-z]+", sentence) if match.group().lower() in _OPPOSITE]
    if not found:
        return None
    match = chance.choice(found)
    return _put(sentence, *match.span(), _cased(_OPPOSITE[match.group().lower()], match.group()))


def dropped_bound(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Leave out what bounds the claim: `up to`, `only`, `nearly`."""
    found = list(_BOUNDS.finditer(sentence))
    return _put(sentence, *chance.choice(found).span(), "") if found else None


def appended_consequence(sentence: str, text: str, elsewhere: Elsewhere, chance: random.Random) -> str | None:
    """Append a consequence that the text does not name: a written one, or another text's."""
    written = chance.random() < 0.5 or not elsewhere.consequences
    clause = chance.choice(_CONSEQUENCES if written else elsewhere.consequences)
    return None if clause in text else f"{sentence.rstrip('. …')}, {clause}."


KINDS: Mapping[str, Corrupt] = {
    "number changed": changed_number,
    "name invented": invented_name,
    "another subject's number": other_number,
    "negation": negated,
    "direction reversed": reversed_direction,
    "bound dropped": dropped_bound,
    "consequence appended": appended_consequence,
}

_PAIRS = [pair.split("/") for pair in _OPPOSITES.split()]
_OPPOSITE = {word: pair[1 - at] for pair in _PAIRS for at, word in enumerate(pair)}


def _put(sentence: str, start: int, end: int, new: str) -> str:
    return f"{sentence[:start]}{new}{sentence[end:]}"


def _cased(new: str, old: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _plain(number: str) -> str:
    return number.replace(",", "")
