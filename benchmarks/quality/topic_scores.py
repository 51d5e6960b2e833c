"""Scores of judged papers as a digest would give them: for a topic by its examples, or by what was marked more or less."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np

from benchmarks.quality.metrics import Floats
from benchmarks.quality.records import Record
from bot.models import Item, Kind, Topic
from bot.rank import ItemIndex, MarkedItem, TopicInputs, score

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
BLANK = Topic(name="topic", title="Topic")


def paper_of(number: int, record: Record) -> Item:
    """Return a judged paper, without a date."""
    return Item(key=f"url:{number}", kind=Kind.PAPER, title=record["title"] or "", abstract=record["abstract"] or "")


def by_examples(papers: Sequence[Item], vectors: Mapping[str, bytes]) -> Callable[[Sequence[int]], Floats]:
    """Return what scores every paper for a topic with these papers as its examples."""
    index = ItemIndex(papers, {}, _NOW, vectors=vectors)
    return lambda numbers: scores(index, BLANK, examples=[papers[number] for number in numbers])


def by_marks(papers: Sequence[Item], vectors: Mapping[str, bytes]) -> Callable[[Sequence[int]], Floats]:
    """Return what scores every paper for a topic that nothing is known of but that these were marked more."""
    index = ItemIndex(papers, {}, _NOW, vectors=vectors)
    return lambda numbers: scores(index, BLANK, marked=[MarkedItem(papers[number], 1, 0) for number in numbers])


def scores(
    index: ItemIndex,
    topic: Topic,
    *,
    examples: Sequence[Item | str] = (),
    marked: Sequence[MarkedItem] = (),
    vectors: Mapping[str, bytes] = MappingProxyType({}),
) -> Floats:
    """Return every item's score, in the order of the edition; -1 for what does not enter the topic.

    `vectors` are those of texts among the examples, by the text.
    """
    (found,) = score(index, [TopicInputs(topic, examples, marked, vectors)])
    table = np.full(len(index.items), -1.0)
    table[found.numbers] = [each.score for each in found.without_reasons()]
    return table
