"""Describes a repository in the four parts from what is known of it: plainly, and denying nothing.

Sentences come from the description, the opening of the README and the notes of the latest release; stars, forks, language,
topics, licence and dates from the record. Neither stars nor releases are called evidence. How many stars were gained is
known to who ranks, not here: `bot.digest.card` tells it among the reasons.
"""

from collections.abc import Mapping
from dataclasses import replace

from bot.models import PARTS, Item, Summary, SummaryPart
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, WHY
from bot.summarise.english.editing import edit
from bot.summarise.english.language import reads_as_english
from bot.summarise.repositories.readme import Excerpt, find_parts
from bot.summarise.repositories.releases import latest_release
from bot.wording import counted, dated, listed

LONGEST_DESCRIPTION = 1_000  # characters; GitHub allows about 350
_TOPICS = 6


def describe(item: Item, *, made_by: str) -> Summary:
    """Return the four parts of a repository; `read` says what they were made from."""
    said = find_parts(item)
    makers = {PROBLEM: _problem, METHOD: _method, EVIDENCE: _evidence, WHY: _why}
    parts = tuple(makers[name](item, said) for name in PARTS)
    note = "This repository is archived." if item.archived else ""
    notes = ["release notes"] if latest_release(item)[1] else []
    return Summary(parts, listed([*_texts(item), *notes]) or "name and metadata", made_by, note)


def _texts(item: Item) -> list[str]:
    """What its makers say of the repository as a whole, as far as it was read."""
    return [word for word, there in (("description", item.abstract), ("README opening", item.readme)) if there.strip()]


def _quoted(name: str, *quotes: Excerpt, fact: str = "") -> SummaryPart:
    text = " ".join([*(edit(quote.text) for quote in quotes), *([fact] if fact else [])])
    return SummaryPart(name, text, quotes=tuple(quote.quote for quote in quotes))


def _problem(item: Item, said: Mapping[str, Excerpt]) -> SummaryPart:
    if PROBLEM in said:
        return _quoted(PROBLEM, said[PROBLEM])
    words = item.keywords[:_TOPICS]
    return SummaryPart(PROBLEM, f"Its topics: {listed(words)}." if words else "", found=False)


def _method(item: Item, said: Mapping[str, Excerpt]) -> SummaryPart:
    """The description and, where the README adds to it, one sentence of that; else the language."""
    description = item.abstract.strip()[:LONGEST_DESCRIPTION]
    language = f"Written mainly in {item.language}." if item.language else ""
    quotes = [Excerpt(description, description)] if description else []
    quotes += [said[METHOD]] if METHOD in said else []
    if quotes:
        return _quoted(METHOD, *quotes, fact=language if len(quotes) == 1 else "")
    return SummaryPart(METHOD, f"It has no description. {language}".strip(), found=False)


def _evidence(item: Item, said: Mapping[str, Excerpt]) -> SummaryPart:
    if EVIDENCE in said:
        return _quoted(EVIDENCE, said[EVIDENCE])
    told = [counted(number, word) for number, word in ((item.stars, "star"), (item.forks, "fork")) if number is not None]
    community = f"On GitHub: {listed(told)}." if told else ""
    return SummaryPart(EVIDENCE, " ".join(filter(None, (_unread(item.readme), community))), found=False)


def _unread(readme: str) -> str:
    """Say that there was no README to read, "" where there was."""
    if not readme.strip():
        return "No README was read for measurements."
    return "" if reads_as_english(readme) else "The README is not in English and was not searched for measurements."


def _why(item: Item, said: Mapping[str, Excerpt]) -> SummaryPart:
    """What the README says, and what is new: the latest release; else what else is known."""
    release, notes = latest_release(item)
    if WHY in said:
        part = _quoted(WHY, said[WHY], fact=release if item.release else "")
        return replace(part, quotes=(*part.quotes, notes)) if notes else part
    dates = [] if item.release else [("last push", item.updated), ("created", item.published)]  # the release has one
    facts = [
        f"code of the paper {item.paper}" if item.paper else "",
        f"{item.license} licence" if item.license else "",
        *(f"{what} on {dated(moment.date())}" for what, moment in dates if moment),
    ]
    known = ", ".join(fact for fact in facts if fact)
    text = " ".join(filter(None, (release, f"Known: {known}." if known else "")))
    return SummaryPart(WHY, text, found=False, quotes=(notes,) if notes else ())
