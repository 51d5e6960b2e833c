"""The sentence for each part of a summary: ACLSum's and Scholar Inbox's marks by people.

hit@1: how often the sentence that scores highest for Problem, Method or Evidence is one of those that people marked, of the
abstracts that have one. A span is hit when it and the sentence cover more than half of the shorter of the two. "There at
all" asks how well the highest score tells abstracts that have such a sentence from those without (AUC).
Nothing is trained on these sets; a handful of settings was chosen by their training halves. Baselines: the first, the last
and a random sentence, for "there" the number of sentences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.figures import Figure, of_scores, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import Floats, auc
from benchmarks.quality.records import Record
from bot.models import PARTS
from bot.summarise.choice.scoring import EVIDENCE, METHOD, PROBLEM, part_scores
from bot.summarise.english.sentences import split

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
    found = [part_scores(record["sentences"]["abstract"], title=record.get("title") or "") for record in records]
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


def _highlights(records: Sequence[Record]) -> Iterator[Figure]:
    sentences = [split(record["abstract"]) for record in records]
    found = [part_scores(each, title=record.get("title") or "") for each, record in zip(sentences, records, strict=True)]
    for kind, (part, reach) in _SPANS.items():
        kept = []
        for record, each, table in zip(records, sentences, found, strict=True):
            spans = [(begin, end) for begin, end, name in record["spans"] if name == kind]
            if spans:
                kept.append((covered(record["abstract"], each, spans), table))
        if kept:
            yield _hits("Scholar Inbox", kind, kept, part, reach)


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
