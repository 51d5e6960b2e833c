"""The options of `subscribe`, in any order: days, time, zone, how many, how good, layout, silence, filter."""

import re
from collections.abc import Callable
from datetime import time
from typing import TypedDict

from bot.commands.quoting import query_text
from bot.commands.schedule import begins_days, is_time, read_days, read_time
from bot.commands.verbs import Usual
from bot.commands.words import SEVERAL_WORDS, Word, Words, nearest, shown, unended
from bot.errors import UsageError
from bot.models import MOST_ENTRIES

_USUAL = (Usual.USUAL.value, "default")  # said of a number: as it is where nobody says anything
_FILLERS = ("and", "with", "but", ",", "&", "-")
# A zone may follow a time without *in*: `at 9 CET`, `at 9am Europe/Zurich`.
_BARE_ZONE = re.compile(r"(?:utc|gmt)(?:[+-]\d{1,2}(?::?\d{2})?)?|[a-z_]+/[a-z_/+-]+\d*", re.ASCII)
_SHORT_ZONE = re.compile("[A-Z]{3,5}")  # CET
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:[.,]\d{0,30})?|[.,]\d{1,30})(?:e-\d{1,3})?%?", re.ASCII)


class Options(TypedDict, total=False):
    """The fields of Subscribe that were said."""

    weekdays: tuple[int, ...] | None
    month_day: int | None
    at: time
    zone: str
    entries: int | Usual
    min_score: float | Usual
    compact: bool
    always: bool
    filter: str


def read_options(words: Words) -> Options:
    """Read all that is left; raises UsageError for what is said twice, is not understood, or is out of its bounds."""
    options = Options()
    said: set[str] = set()
    while (word := words.peek()) is not None:
        if words.take(*_FILLERS):
            continue
        name = _option(words, word, said)
        if name in said:
            raise words.fault(f"The {_CALLED[name]} is said twice; say it once.", word)
        said.add(name)
        options |= _READ[name](words)
    return options


def number(word: Word | None) -> float | None:
    """Return a number as people write it: `0.4`, `0,4`, `.4`, `40%`; None when the word is none."""
    if word is None or not _NUMBER.fullmatch(word.key):
        return None
    value = float(word.key.rstrip("%").replace(",", "."))
    return value / 100 if word.key.endswith("%") else value


# --- which option begins here


def _option(words: Words, word: Word, said: set[str]) -> str:
    """Return which part begins with the word, and step over its name when it has one."""
    name, equals, _ = word.option.partition("=")
    if equals and name in _NAMES and words.split(name):
        return _NAMES[name]
    if word.option in _NAMES:
        words.next()
        return _NAMES[word.option]
    if begins_days(word):
        return "days"
    if is_time(word):
        return "at"
    if word.option in _LAYOUTS:
        return "layout"
    if word.option in _SILENCES:
        return "silence"
    if "at" in said and not word.quoted and (_BARE_ZONE.fullmatch(word.key) or _SHORT_ZONE.fullmatch(word.text)):
        return "zone"
    raise _unknown(words, word, said)


def _unknown(words: Words, word: Word, said: set[str]) -> UsageError:
    near = nearest(word.option, _WORDS)
    hint = f"Did you mean *{near}*?" if near else SEVERAL_WORDS if not said else ""
    if not near and ":" in word.text:
        hint = "A filter goes last: *filter stars:>100*."
    allowed = "after the topic come days, *at*, *in*, *top*, *min*, *compact* or *full*, *quiet* or *always*, and *filter*."
    return words.fault(f'"{shown(word.text)}" is not understood: {allowed}', word, hint)


# --- what each takes


def _days(words: Words) -> Options:
    days = read_days(words)
    return {"weekdays": days.weekdays, "month_day": days.month_day}


def _at(words: Words) -> Options:
    return {"at": read_time(words)}


def _zone(words: Words) -> Options:
    """A zone has as many words as stand before the next option."""
    first = words.next()
    if first is None or not first.text.strip() or (not first.quoted and _ends_zone(first)):
        raise words.fault("*in* needs a time zone: write for example *in Europe/Zurich*.", first)
    last = first
    while not first.quoted and (word := words.peek()) is not None and not word.quoted and not _ends_zone(word):
        last = word
        words.next()
    return {"zone": first.text if last is first else unended(words.signs[first.start : last.end])}


def _ends_zone(word: Word) -> bool:
    return word.option.split("=")[0] in _WORDS or begins_days(word) or is_time(word)


def _top(words: Words) -> Options:
    if words.take(*_USUAL):
        return {"entries": Usual.USUAL}
    word = words.next()
    count = number(word)
    if count is None or count != int(count) or not 1 <= count <= MOST_ENTRIES:
        raise words.fault(f"*top* takes a number of entries from 1 to {MOST_ENTRIES}, such as *top 7*.", word)
    words.take("entries", "papers", "items")
    return {"entries": int(count)}


def _min(words: Words) -> Options:
    words.take("score")
    if words.take(*_USUAL):
        return {"min_score": Usual.USUAL}
    word = words.next()
    score = number(word)
    if score is None or not 0 <= score <= 1:
        raise words.fault("*min* takes a score from 0 to 1, such as *min 0.4*.", word)
    return {"min_score": score}


def _layout(words: Words) -> Options:
    word = words.next()
    return {"compact": word is not None and word.option == "compact"}


def _silence(words: Words) -> Options:
    word = words.next()
    always = word is not None and word.option == "always"
    if words.take("if", "when"):
        words.take("empty")
    return {"always": always}


def _filter(words: Words) -> Options:
    at = words.at
    query = query_text(words.rest())
    if not query.strip():
        raise words.fault("*filter* needs a query, and goes last: write for example *filter -survey stars:>100*.", at)
    return {"filter": query}


_READ: dict[str, Callable[[Words], Options]] = {
    "days": _days,
    "at": _at,
    "zone": _zone,
    "top": _top,
    "min": _min,
    "layout": _layout,
    "silence": _silence,
    "filter": _filter,
}
_CALLED = {
    "days": "part about days",
    "at": "time",
    "zone": "time zone",
    "top": "number of entries",
    "min": "least score",
    "layout": "layout",
    "silence": "part about empty digests",
    "filter": "filter",
}
_NAMES = {
    "at": "at",
    "in": "zone",
    "zone": "zone",
    "timezone": "zone",
    "tz": "zone",
    "top": "top",
    "max": "top",
    "min": "min",
    "minimum": "min",
    "filter": "filter",
}
_LAYOUTS = ("compact", "full")
_SILENCES = ("quiet", "quiet-if-empty", "always")
_WORDS = (*_NAMES, *_LAYOUTS, *_SILENCES, "daily", "weekdays", "weekends", "weekly", "monthly", "every", "on")
