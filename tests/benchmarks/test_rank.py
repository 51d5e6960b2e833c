"""A recorded day under topics that are made of its words, as the benchmark makes them."""

import gzip
from datetime import timedelta
from functools import lru_cache
from importlib.resources import files

import pytest

from benchmarks.rank import Draw
from bot.models import Item
from bot.rank import ItemIndex, TopicInputs, score
from bot.sources.arxiv.search_api import parse


@lru_cache
def recorded() -> tuple[Item, ...]:
    """The papers of the demo: a day of arXiv's."""
    body = gzip.decompress(files("adapters.cli.demo.recordings").joinpath("arxiv.atom.gz").read_bytes())
    return tuple(parse(body).items)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_topics_are_scored_together_as_each_is_alone(seed: int) -> None:
    """So many that they do not all fit into one part of the work."""
    items = recorded()
    now = max(item.published for item in items if item.published) + timedelta(hours=12)
    draw = Draw(items, seed)
    asked = [TopicInputs(each.topic, each.examples) for each in map(draw.order, range(450_000 // len(items)))]
    together, index = score(ItemIndex(items, {}, now), asked), ItemIndex(items, {}, now)
    assert sum(len(each.numbers) > 0 for each in together) > 0.9 * len(asked)
    for each, found in zip(asked, together, strict=True):
        (alone,) = score(index, [each])
        first = range(len(found.numbers))[:3]
        assert found.without_reasons() == alone.without_reasons()
        assert found.with_reasons(first) == alone.with_reasons(first)
