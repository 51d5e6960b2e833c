"""Summaries from the sentences of the text itself: offline, and nothing in them that the text does not say."""

import asyncio
from datetime import datetime
from functools import lru_cache

from bot.models import PARTS, Item, Kind, Summary, SummaryPart
from bot.summarise.choice.parts import choose
from bot.summarise.english.anaphora import resolve
from bot.summarise.english.language import reads_as_english
from bot.summarise.english.sentences import lower_case_names, split
from bot.summarise.repositories import summary

MADE_BY = "extractive"
LONGEST_TEXT = 20_000  # characters that are read; the longest abstract on arXiv is a tenth of that

_WITHDRAWN = "This paper has been withdrawn."


class Extractive:
    """Picks, per part, the sentence of the text that says it."""

    async def summarise(self, item: Item, now: datetime) -> Summary:
        """Return the summary of `item`; raises SummaryUnavailable where a shipped model cannot be read."""
        return await asyncio.to_thread(extract, item)


@lru_cache(maxsize=512)  # who looks at a digest looks again; 5 MB
def extract(item: Item) -> Summary:
    """Return the four parts of a paper's abstract, a post's text or a repository's description and README opening.

    A part that is not found has no text: that the text does not say it would be wrong too often.
    """
    if item.kind is Kind.REPO:
        return summary.describe(item, made_by=MADE_BY)
    text = item.abstract[:LONGEST_TEXT]
    kind = "post" if item.kind is Kind.POST else "abstract"
    parts = _nothing(text, kind) or _parts(text, item.title)
    return Summary(parts, kind if text.strip() else "title", MADE_BY, _WITHDRAWN if item.withdrawn else "")


def _nothing(text: str, kind: str) -> tuple[SummaryPart, ...]:
    """Four parts that say why there is nothing to say, or none when there is."""
    if not text.strip():
        reason = f"No {'text' if kind == 'post' else kind} was available."
    elif not reads_as_english(text):
        reason = f"The {kind} is not in English and was not summarised."
    else:
        return ()
    return tuple(SummaryPart(name, reason, found=False) for name in PARTS)


def parts_without(item: Item, sentence: str) -> tuple[SummaryPart, ...]:
    """Return the four parts of a paper or a post as if its text had every sentence but this one, which another place shows.

    Nothing where the text has no parts at all.
    """
    text = item.abstract[:LONGEST_TEXT]
    kind = "post" if item.kind is Kind.POST else "abstract"
    return _parts_without(text, item.title, kind, sentence)


@lru_cache(maxsize=2048)  # more than a day's items, 4 kB each: what a topic asks about changes the sentence of few
def _parts_without(text: str, title: str, kind: str, sentence: str) -> tuple[SummaryPart, ...]:
    return () if _nothing(text, kind) else _parts(text, title, without=sentence)


def _parts(text: str, title: str, *, without: str = "") -> tuple[SummaryPart, ...]:
    sentences, names = split(text), lower_case_names(text)
    chosen = choose(sentences, title, resolve(sentences, names), names=names, without=without)

    def part(name: str) -> SummaryPart:
        shown = chosen[name]
        if shown is None:
            return SummaryPart(name, "", found=False)
        places = sorted({shown.candidate.place, shown.candidate.source})
        return SummaryPart(name, shown.text, quotes=tuple(sentences[at] for at in places))

    return tuple(part(name) for name in PARTS)
