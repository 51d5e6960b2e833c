"""Describes a repository in the four parts from what is known of it: plainly, and saying what is not known.

Sentences come from the description and the opening of the README; stars, forks, language, topics, licence and dates from the
record. Stars are never called evidence.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.models import PARTS, Item, Summary, SummaryPart
from bot.summarise.edits import edited
from bot.summarise.english import reads_as_english
from bot.summarise.fitness import EVIDENCE, METHOD, PROBLEM, WHY
from bot.summarise.readme import Said, said_in
from bot.wording import counted, listed

_LONGEST_DESCRIPTION = 1_000  # characters; GitHub allows about 350
_TOPICS = 6


def describe(item: Item, *, made_by: str) -> Summary:
    """Return the four parts of a repository; `read` says what they were made from."""
    said = said_in(item)
    makers = {PROBLEM: _problem, METHOD: _method, EVIDENCE: _evidence, WHY: _why}
    parts = tuple(makers[name](item, said) for name in PARTS)
    note = "This repository is archived." if item.archived else ""
    return Summary(parts, _read(item), made_by, note)


def _read(item: Item) -> str:
    read = [word for word, there in (("description", item.abstract), ("README opening", item.readme)) if there.strip()]
    return " and ".join(read) or "name and metadata"


def _quoted(name: str, *quotes: Said, fact: str = "") -> SummaryPart:
    text = " ".join([*(edited(quote.text) for quote in quotes), *([fact] if fact else [])])
    return SummaryPart(name, text, quotes=tuple(quote.quote for quote in quotes))


def _problem(item: Item, said: Mapping[str, Said]) -> SummaryPart:
    if PROBLEM in said:
        return _quoted(PROBLEM, said[PROBLEM])
    return SummaryPart(PROBLEM, f"{_silent(item)} name a problem.{_topics(item)}", found=False)


def _silent(item: Item) -> str:
    """The beginning of a sentence about what was read and does not say something."""
    read = _read(item)
    if " and " not in read:
        return f"The {read} does not"
    return f"The {read.replace(' and ', ' and the ') if item.readme.strip() else read} do not"


def _topics(item: Item) -> str:
    words = item.keywords[:_TOPICS]
    if not words:
        return ""
    return f" Its topics: {listed(words)}."


def _method(item: Item, said: Mapping[str, Said]) -> SummaryPart:
    """The description and, where the README adds to it, one sentence of that; else the language."""
    description = item.abstract.strip()[:_LONGEST_DESCRIPTION]
    language = f"Written mainly in {item.language}." if item.language else ""
    quotes = [Said(description, description)] if description else []
    quotes += [said[METHOD]] if METHOD in said else []
    if quotes:
        return _quoted(METHOD, *quotes, fact=language if len(quotes) == 1 else "")
    return SummaryPart(METHOD, f"It has no description. {language}".strip(), found=False)


def _evidence(item: Item, said: Mapping[str, Said]) -> SummaryPart:
    if EVIDENCE in said:
        return _quoted(EVIDENCE, said[EVIDENCE])
    told = [counted(number, word) for number, word in ((item.stars, "star"), (item.forks, "fork")) if number is not None]
    community = f" On GitHub: {listed(told)}." if told else ""
    return SummaryPart(EVIDENCE, _no_measurements(item.readme) + community, found=False)


def _no_measurements(readme: str) -> str:
    if not readme.strip():
        return "No README was read for measurements."
    if not reads_as_english(readme):
        return "The README is not in English and was not searched for measurements."
    return "The README opening reports no measurements."


def _why(item: Item, said: Mapping[str, Said]) -> SummaryPart:
    if WHY in said:
        return _quoted(WHY, said[WHY])
    facts = [
        f"code of the paper {item.paper}" if item.paper else "",
        f"{item.license} licence" if item.license else "",
        f"last push on {_day(item.updated)}" if item.updated else "",
        f"created on {_day(item.published)}" if item.published else "",
    ]
    told = ", ".join(fact for fact in facts if fact)
    return SummaryPart(WHY, f"{_silent(item)} say why it matters.{f' Known: {told}.' if told else ''}", found=False)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
