"""The sentence for each part of a summary: ACLSum's and Scholar Inbox's marks by people.

hit@1: how often the sentence that scores highest for Problem, Method or Evidence is one of those that people marked, of the
abstracts that have one. A span is hit when it and the sentence cover more than half of the shorter of the two. "There at
all" asks how well the highest score tells abstracts that have such a sentence from those without (AUC).
Shown: the same of what `bot.summarise.extractive.extract` shows, after the bars, the joint choice and the edits: "shown and
right" of all abstracts that have the part, which is hit when one of the sentences that it rests on is marked; "shown where
there is none" of those that have none. An abstract that comes as sentences is read as these, joined.
Nothing is trained on these sets; a handful of settings was chosen by their training halves. Baselines: the first, the last
and a random sentence, for "there" the number of sentences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.figures import Figure, of_scores, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import Floats, Truths, auc
from benchmarks.quality.records import Record
from bot.models import PARTS, Item, Kind, SummaryPart
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, part_scores
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract

_FACETS = {"challenge": (PROBLEM, 0.88), "approach": (METHOD, 0.89), "outcome": (EVIDENCE, 0.93)}
_SPANS = {"problem": (PROBLEM, 0.67), "idea": (METHOD, 0.52), "result": (EVIDENCE, 0.68)}
_FEWEST = 5  # abstracts without a part, for a figure of telling them apart


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures of every set that is there."""
    for name in given.folder.parts("aclsum"):
        yield from _aclsum(f"ACLSum {name.partition('.')[2]}", given.folder.records(name))
    for name in given.folder.parts("scholar_inbox_highlights"):
        yield from _highlights(given.folder.records(name))


def _aclsum(name: str, records: Sequence[Record]) -> Iterator[Figure]:
    texts = [record["sentences"]["abstract"] for record in records]
    found = [part_scores(text, title=record.get("title") or "") for text, record in zip(texts, records, strict=True)]
    shown = [shown_parts(" ".join(text), record.get("title") or "") for text, record in zip(texts, records, strict=True)]
    for facet, (part, reach) in _FACETS.items():
        marks = [np.asarray(record["highlights"][facet]["abstract"], float) for record in records]
        there = np.array([bool(mark.any()) for mark in marks])
        kept = [(mark, table) for mark, table in zip(marks, found, strict=True) if mark.any()]
        if kept:
            yield _hits(name, facet, kept, part, reach)
        if _FEWEST <= len(kept) <= len(records) - _FEWEST:
            heights = np.array([table[:, PARTS.index(part)].max() for table in found])
            lengths = np.array([len(table) for table in found], float)
            results = [of_scores("ours", heights, there, auc), of_scores("longer abstracts", lengths, there, auc)]
            yield Figure(name, f"{facet}, there at all, AUC", results[:1], results[1:], len(records), "abstracts")
        right = [rests_on(each[part], text, mark) for each, text, mark in zip(shown, texts, marks, strict=True)]
        yield from _of_shown(name, facet, [each[part].found for each in shown], right, there)


def _highlights(records: Sequence[Record]) -> Iterator[Figure]:
    sentences = [split(record["abstract"]) for record in records]
    found = [part_scores(each, title=record.get("title") or "") for each, record in zip(sentences, records, strict=True)]
    shown = [shown_parts(record["abstract"], record.get("title") or "") for record in records]
    for kind, (part, reach) in _SPANS.items():
        spans = [[(begin, end) for begin, end, name in record["spans"] if name == kind] for record in records]
        there = np.array([bool(each) for each in spans])
        marks = [covered(record["abstract"], each, own) for record, each, own in zip(records, sentences, spans, strict=True)]
        kept = [(mark, table) for mark, table, held in zip(marks, found, there, strict=True) if held]
        if kept:
            yield _hits("Scholar Inbox", kind, kept, part, reach)
        right = [rests_on(each[part], text, mark) for each, text, mark in zip(shown, sentences, marks, strict=True)]
        yield from _of_shown("Scholar Inbox", kind, [each[part].found for each in shown], right, there)


def _hits(name: str, facet: str, kept: Sequence[tuple[Floats, Floats]], part: str, reach: float) -> Figure:
    """`kept` are, per abstract, 1 for each sentence that is right, and the scores of all."""
    column = PARTS.index(part)
    ours = of_values("ours", [mark[table[:, column].argmax()] for mark, table in kept])
    baselines = (
        of_values("first", [mark[0] for mark, _ in kept]),
        of_values("last", [mark[-1] for mark, _ in kept]),
        of_values("random", [mark.mean() for mark, _ in kept]),
    )
    return Figure(name, f"{facet}, hit@1", [ours], baselines, len(kept), "abstracts", reach, percent=True)


def _of_shown(name: str, facet: str, shown: Sequence[bool], right: Sequence[bool], there: Truths) -> Iterator[Figure]:
    """How often the part is shown and right where there is one, and shown where there is none."""
    held = [at for at, holds in enumerate(there) if holds]
    without = [at for at, holds in enumerate(there) if not holds]
    if held:
        ours = [of_values("ours", [right[at] for at in held])]
        beside = [of_values("shown at all", [shown[at] for at in held])]
        yield Figure(name, f"{facet}, shown and right", ours, (), len(held), "abstracts", percent=True, ceiling=beside)
    if len(without) >= _FEWEST:
        ours = [of_values("ours", [shown[at] for at in without])]
        yield Figure(
            name, f"{facet}, shown where there is none", ours, (), len(without), "abstracts", percent=True, lower=True
        )


def shown_parts(text: str, title: str) -> dict[str, SummaryPart]:
    """Return the parts of a text's summary by their names."""
    summary = extract(Item(key="url:marked", kind=Kind.PAPER, title=title, abstract=text))
    return {part.name: part for part in summary.parts}


def rests_on(part: SummaryPart, sentences: Sequence[str], marks: Floats) -> bool:
    """Say whether the part is found and one of its quotes is, or lies in, or holds, a sentence that is marked."""
    wanted = [" ".join(sentence.split()) for sentence, mark in zip(sentences, marks, strict=True) if mark]
    quotes = [" ".join(quote.split()) for quote in part.quotes] if part.found else []
    return any(quote in sentence or sentence in quote for quote in quotes for sentence in wanted)


def covered(text: str, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Floats:
    """Return 1 for each sentence that shares with a span more than half of the shorter of the two, else 0."""
    hits = np.zeros(len(sentences))
    end = 0
    for at, sentence in enumerate(sentences):
        start = text.index(sentence, end)
        end = start + len(sentence)
        shares = ((min(end, stop) - max(start, begin)) / min(end - start, stop - begin) for begin, stop in spans)
        hits[at] = float(any(share > 0.5 for share in shares))
    return hits
