"""Finding a paper that one knows of, through the real store: a summary of it by somebody else, or three words of that.

SciTLDR's papers, and those of the corpus where it was given, are searched for the last of each paper's one-sentence
summaries (the first is the authors' own). The three keywords are drawn from that summary, with a fixed seed, among its words
of more than three letters that fewer than 15 % of SciTLDR's papers have. The mean reciprocal rank, 0 beyond the tenth.
Papers of the corpus get quick vectors, as a backlog does. Baseline: FTS5 with its own stemmer.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.corpus import papers as corpus_papers
from benchmarks.quality.figures import Figure, Result, of_values
from benchmarks.quality.filled_store import both_ways, paper_of
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import reciprocal_rank
from benchmarks.quality.search import porter
from benchmarks.quality.sentence import references
from bot.models import Item

_KEYWORDS = 3
_SHORTEST = 4  # letters of a keyword
_COMMON = 0.15
_REACH = (0.765, 0.26)


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield both figures for the development and the test file, whichever is there; training files are only searched."""
    names = given.folder.parts("scitldr_a")
    asked = [name for name in names if not name.endswith(".train")] or names
    known = [paper_of(record) for record in given.folder.all(names)]
    others = corpus_papers(given.corpus) if given.corpus else []
    for name in asked:
        yield from _figures(given, name, known, others)


def _figures(given: Inputs, name: str, known: Sequence[Item], others: Sequence[Item]) -> Iterator[Figure]:
    records = given.folder.records(name)
    wanted = [record["paper_id"] for record in records]
    sentences = [references(record)[-1] for record in records]
    keywords = _keywords(sentences, known)
    papers = (*known, *others)
    questions = [*sentences, *keywords]
    ways = asyncio.run(both_ways(papers, questions, given.embedding, frozenset(each.key for each in others)))
    beside = porter(papers, questions)
    for at, (kind, reach) in enumerate(zip(("one sentence", "three keywords"), _REACH, strict=True)):
        chosen = slice(at * len(records), (at + 1) * len(records))
        ours = [_result(way, answers[chosen], wanted) for way, answers in ways.items()]
        title = f"known item, {name.partition('.')[2]}"
        figure = f"MRR@10, {kind} among {len(papers):,}"
        baseline = _result("FTS5", beside[chosen], wanted)
        yield Figure(title, figure, ours, [baseline], len(wanted), "questions", reach if others else None)


def _keywords(sentences: Sequence[str], known: Sequence[Item]) -> list[str]:
    texts = [set(_words(f"{paper.title} {paper.abstract}")) for paper in known]
    counts = Counter(word for words in texts for word in words)
    chance = random.Random(3)
    found = []
    for sentence in sentences:
        words = [word for word in dict.fromkeys(_words(sentence)) if _telling(word, counts, len(known))]
        found.append(" ".join(chance.sample(words, min(_KEYWORDS, len(words)))))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _telling(word: str, counts: Counter[str], papers: int) -> bool:
    return len(word) >= _SHORTEST and counts[word] <= _COMMON * papers


def _result(way: str, answers: Sequence[Sequence[str]], wanted: Sequence[str]) -> Result:
    return of_values(way, [reciprocal_rank(found, key) for found, key in zip(answers, wanted, strict=True)])
