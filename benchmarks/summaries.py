"""How good the extractive summaries are, on public judgements: ours beside simple baselines, with intervals.

    python -m benchmarks.summaries --folder FOLDER [--show]

evaluates whichever of these it finds there, as gzipped JSON lines, and always the edition of 14 June 2026 and the speed:

    csabstruct.*, csabstracts.*    sentences of abstracts with their roles: accuracy of the role scorer
    aclsum.*                       sentences that people marked as challenge, approach and outcome: how often the sentence
        that is fittest for Problem, Method and Evidence is one of them (hit@1), where there is one in the abstract
    scholar_inbox_highlights       marked spans (problem, idea, result): how often the fittest sentence and a span cover more
        than half of the shorter of the two
    scitldr_a.*                    one-sentence summaries: ROUGE of the Method's first sentence

Intervals: 95 %, 1,000 bootstrap draws over abstracts. `--show` prints the edition's five beside what a digest wrote of them.
"""

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rouge import rouge
from bot.models import PARTS
from bot.summarise.extractive import extract
from bot.summarise.fitness import EVIDENCE, METHOD, PROBLEM, fit
from bot.summarise.parts import choose
from bot.summarise.roles import ROLES, score
from bot.summarise.sentences import split
from tests.fakes.edition import chosen, items

Record = dict[str, Any]
Row = tuple[str, list[tuple[float, float]]]  # a name, and per abstract (what was reached, of how much)

_SEED, _DRAWS = 14, 1000
_ROLE_NAMES = {"methods": "method", "results": "result", "conclusions": "result", "conclusion": "result"}
_FACETS = {"challenge": PROBLEM, "approach": METHOD, "outcome": EVIDENCE}
_SPANS = {"problem": PROBLEM, "idea": METHOD, "result": EVIDENCE}


def roles(records: Sequence[Record]) -> Iterator[Row]:
    """Accuracy over sentences, beside always the commonest role."""
    gold = [[_ROLE_NAMES.get(label, label) for label in record["labels"]] for record in records]
    guessed = [[ROLES[at] for at in score(record["sents"]).argmax(axis=1)] for record in records]
    commonest = Counter(label for labels in gold for label in labels).most_common(1)[0][0]
    yield "role, rules", [_agreement(labels, guess) for labels, guess in zip(gold, guessed, strict=True)]
    yield "role, commonest", [_agreement(labels, [commonest] * len(labels)) for labels in gold]


def _agreement(labels: Sequence[str], guesses: Sequence[str]) -> tuple[float, float]:
    return float(sum(one == other for one, other in zip(labels, guesses, strict=True))), float(len(labels))


def marked_sentences(records: Sequence[Record]) -> Iterator[Row]:
    """hit@1 per facet, beside the first and the last sentence."""
    for facet, part in _FACETS.items():
        there = [record for record in records if any(record["highlights"][facet]["abstract"])]
        marks = [record["highlights"][facet]["abstract"] for record in there]
        fittest = [_fittest(record["sentences"]["abstract"], part) for record in there]
        yield f"{facet}, rules", [(float(mark[at]), 1.0) for mark, at in zip(marks, fittest, strict=True)]
        yield f"{facet}, first", [(float(mark[0]), 1.0) for mark in marks]
        yield f"{facet}, last", [(float(mark[-1]), 1.0) for mark in marks]


def _fittest(sentences: Sequence[str], part: str) -> int:
    return int(fit(sentences)[:, PARTS.index(part)].argmax())


def marked_spans(records: Sequence[Record]) -> Iterator[Row]:
    """How often the fittest sentence is the marked one, beside the first sentence."""
    for kind, part in _SPANS.items():
        there = [record for record in records if any(span[2] == kind for span in record["spans"])]
        yield f"{kind}, rules", [(_covered(record, kind, part), 1.0) for record in there]
        yield f"{kind}, first", [(_covered(record, kind, ""), 1.0) for record in there]


def _covered(record: Record, kind: str, part: str) -> float:
    text = record["abstract"]
    sentences = split(text)
    at = _fittest(sentences, part) if part else 0
    start = _place(text, sentences, at)
    end = start + len(sentences[at])
    spans = [span for span in record["spans"] if span[2] == kind]
    return float(any(min(end, stop) - max(start, begin) > min(end - start, stop - begin) / 2 for begin, stop, _ in spans))


def _place(text: str, sentences: Sequence[str], at: int) -> int:
    start = 0
    for before, sentence in pairwise(["", *sentences[: at + 1]]):
        start = text.index(sentence, start + len(before))
    return start


def one_sentence(records: Sequence[Record]) -> Iterator[Row]:
    """ROUGE-1, -2, -L of one sentence, beside the first."""
    picked = [(choose(record["source"])[METHOD] or (0,))[0] for record in records]
    for name, places in (("rules", picked), ("first", [0] * len(records))):
        scores = [rouge(record["source"][at], record["target"]) for record, at in zip(records, places, strict=True)]
        for number, kind in enumerate("12L"):
            yield f"ROUGE-{kind}, {name}", [(found[number], 1.0) for found in scores]


MEASURES: dict[str, Callable[[Sequence[Record]], Iterator[Row]]] = {
    "csabstruct": roles,
    "csabstracts": roles,
    "aclsum": marked_sentences,
    "scholar_inbox_highlights": marked_spans,
    "scitldr_a": one_sentence,
}


def edition(show: bool) -> Iterator[Row]:
    """ROUGE of the whole summary of each of the five that a digest chose against what that digest wrote of it."""
    by_title = {item.title: extract(item) for item in items()}
    told = [(" ".join(part.text for part in by_title[title].parts), text) for title, text in chosen()]
    for number, kind in enumerate("12L"):
        yield f"ROUGE-{kind}, whole", [(rouge(own, [text])[number], 1.0) for own, text in told]
    if show:
        for title, text in chosen():
            print(
                f"\n# {title}", *(f"  {part.name}: {part.text}" for part in by_title[title].parts), f"  -- {text}", sep="\n"
            )


def speed() -> str:
    """Milliseconds per summary over the edition, the best of five rounds."""
    rounds = []
    for _ in range(5):
        began = time.perf_counter()
        for item in items():
            extract(item)
        rounds.append((time.perf_counter() - began) / len(items()))
    return f"{min(rounds) * 1000:.1f} ms per summary, {1 / min(rounds):.0f} a second"


def report(name: str, rows: Iterator[Row]) -> None:
    """Print each row's mean with its interval, in per cent."""
    print(f"\n{name}")
    for row, pairs in rows:
        reached, of = np.array(pairs).T
        draws = np.random.default_rng(_SEED).integers(0, len(pairs), (_DRAWS, len(pairs)))
        low, high = np.percentile(reached[draws].sum(axis=1) / of[draws].sum(axis=1), [2.5, 97.5])
        print(f"  {row:24s} {100 * reached.sum() / of.sum():5.1f}  [{100 * low:.1f}, {100 * high:.1f}]  n={len(pairs)}")


def main() -> None:
    """Run what the folder allows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summaries", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    for path in sorted(given.folder.glob("*.jsonl.gz")):
        measure = MEASURES.get(path.name.split(".")[0])
        if measure is not None:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                report(path.name.removesuffix(".jsonl.gz"), measure([json.loads(line) for line in lines]))
    report("the edition of 14 June 2026", edition(given.show))
    print(f"\n{speed()}")


if __name__ == "__main__":
    main()
