"""Items get their vectors: the newest first, a backlog quickly and then better, and nobody loses what was done."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.embed.backfill import VectorBackfill, in_words
from bot.models import Item
from bot.ports.vectors import Embedded
from bot.service.jobs import embedding
from tests.fakes.concepts import Concepts
from tests.fakes.transcript import Clock
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

SPACE = Concepts.space


def papers(number: int, now: datetime) -> list[Item]:
    return [
        paper(f"2603.{each:05}", title=f"Cache {each}", published=now - timedelta(days=99) + timedelta(minutes=each))
        for each in range(number)
    ]


async def stocked(number: int, now: datetime) -> MemoryStore:
    store = MemoryStore()
    await store.items.add(papers(number, now), now)
    return store


def asked(concepts: Concepts, *, quick: bool) -> list[int]:
    """Return the numbers of the items that were embedded so, in turn."""
    return [int(text.split(".")[0].split()[1]) for text, quickly in concepts.asked if quickly is quick]


async def test_the_newest_items_get_their_vectors_first(now: datetime) -> None:
    store, concepts = await stocked(40, now), Concepts()
    assert await VectorBackfill(store, concepts, quick=True).fill() == Embedded(whole=40, quick=0, lacking=0)
    assert asked(concepts, quick=False) == list(range(39, -1, -1))
    assert asked(concepts, quick=True) == []


async def test_a_long_backlog_is_filled_quickly_and_then_made_better_the_newest_first(now: datetime) -> None:
    store, concepts, states = await stocked(40, now), Concepts(), list[Embedded]()
    await VectorBackfill(store, concepts, quick=True, backlog=30).fill(progress=states.append)
    assert asked(concepts, quick=True) == asked(concepts, quick=False) == list(range(39, -1, -1))
    assert (states[0].lacking, states[1].quick) == (40, 40)
    assert await store.vectors.embedded(SPACE) == Embedded(whole=40, quick=0, lacking=0)


async def test_a_model_without_a_quicker_way_embeds_nothing_twice(now: datetime) -> None:
    store, concepts = await stocked(40, now), Concepts()
    await VectorBackfill(store, concepts, quick=False, backlog=30).fill()
    assert len(concepts.asked) == 40
    assert asked(concepts, quick=True) == []


async def test_who_may_do_only_some_does_the_newest_and_the_next_one_goes_on(now: datetime) -> None:
    store, concepts = await stocked(40, now), Concepts()
    assert (await VectorBackfill(store, concepts, quick=True).fill(most=10)).whole == 10
    assert (await VectorBackfill(store, concepts, quick=True, backlog=20).fill(most=10)) == Embedded(
        whole=20, quick=20, lacking=0
    )
    await VectorBackfill(store, concepts, quick=True).fill()
    assert asked(concepts, quick=False) == list(range(39, -1, -1))


class Pacing(Concepts):
    """Each text takes it so many seconds; `batches` is how many came at a time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.now = 0.0
        self.batches: list[int] = []
        self.seconds = seconds

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> NDArray[np.float32]:
        self.batches.append(len(texts))
        self.now += self.seconds * len(texts)
        return await super().embed(texts, quick=quick)


@pytest.mark.parametrize(
    ("seconds", "batches"),
    [
        (0.001, [16, 32, 64, 128, 256, 104]),  # the table
        (0.01, [16, 32, 64] + [64] * 7 + [40]),
        (0.1, [16] * 37 + [8]),  # the model
    ],
)
async def test_batches_grow_as_long_as_they_take_little_time(now: datetime, seconds: float, batches: list[int]) -> None:
    store, pacing = await stocked(600, now), Pacing(seconds)
    await VectorBackfill(store, pacing, quick=False, seconds=lambda: pacing.now).fill()
    assert pacing.batches == batches
    assert asked(pacing, quick=False) == list(range(599, -1, -1))


async def test_batches_shrink_again_when_they_take_long(now: datetime) -> None:
    store, pacing = await stocked(600, now), Pacing(0.01)

    def slower(embedded: Embedded) -> None:
        pacing.seconds = 0.01 if embedded.whole < 100 else 0.1

    await VectorBackfill(store, pacing, quick=False, seconds=lambda: pacing.now).fill(progress=slower)
    assert pacing.batches[:7] == [16, 32, 64, 64, 32, 16, 16]


async def test_who_collects_waits_for_the_newest_alone(now: datetime) -> None:
    store, concepts, states = await stocked(600, now), Concepts(), list[Embedded]()
    done = await VectorBackfill(store, concepts, quick=False).fill_some(states.append)
    assert (done.whole, states[0].lacking) == (200, 600)
    assert asked(concepts, quick=False) == list(range(599, 399, -1))


class Arriving(Concepts):
    """While it embeds for the first time, another item comes in, and one that is being embedded changes."""

    def __init__(self, store: MemoryStore, coming: Sequence[Item], now: datetime) -> None:
        super().__init__()
        self._store, self._coming, self._now = store, coming, now

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> NDArray[np.float32]:
        await self._store.items.add(self._coming, self._now)
        self._coming = ()
        return await super().embed(texts, quick=quick)


async def test_what_comes_in_or_changes_meanwhile_gets_its_vector_too(now: datetime) -> None:
    store = await stocked(20, now)
    fresh, changed = paper("2603.00099", title="Cache 99"), replace(papers(20, now)[19], title="Gas 19")
    await VectorBackfill(store, Arriving(store, [fresh, changed], now), quick=True).fill()
    assert await store.vectors.embedded(SPACE) == Embedded(whole=21, quick=0, lacking=0)
    vectors = await store.vectors.find(SPACE, [fresh.key, changed.key, "arxiv:2603.00001"])
    assert vectors[fresh.key] == vectors["arxiv:2603.00001"] != vectors[changed.key]


async def test_the_job_does_nothing_while_nothing_changed(now: datetime) -> None:
    store, concepts = await stocked(3, now), Concepts()
    (job,) = embedding(VectorBackfill(store, concepts, quick=True), Clock(now))
    await job.run()
    await job.run()
    assert len(concepts.asked) == 3
    await store.items.add([paper("2603.00099", title="Cache 99")], now)
    await job.run()
    assert len(concepts.asked) == 4
    assert not job.at_once  # whoever only looks in never reads the model


async def test_an_endpoint_that_gives_nothing_is_asked_again_later(now: datetime) -> None:
    store, concepts, clock = await stocked(3, now), Concepts(), Clock(now)
    (job,) = embedding(VectorBackfill(store, concepts, quick=True), clock)
    concepts.down = True
    await job.run()
    concepts.down = False
    await job.run()
    assert concepts.asked == []
    clock.now = now + timedelta(minutes=6)
    await job.run()
    assert len(concepts.asked) == 3


async def test_one_that_is_stopped_begins_nothing_further(now: datetime) -> None:
    store, concepts = await stocked(3, now), Concepts()
    (job,) = embedding(VectorBackfill(store, concepts, quick=True), Clock(now))
    assert job.stop is not None
    job.stop()
    await job.run()
    assert concepts.asked == []


def test_without_an_embedder_there_is_no_job(now: datetime) -> None:
    assert embedding(None, Clock(now)) == []


def test_how_far_it_is_can_be_said() -> None:
    assert in_words(Embedded(1000, 2000, 51_000)) == "3,000 of 54,000 items have a vector, 2,000 of them a quick one"
    assert in_words(Embedded(5, 0, 0)) == "5 of 5 items have a vector"


@pytest.mark.parametrize("backlog", [30, 5000])
async def test_what_is_told_of_the_progress_is_so_also_between_two_looks_at_the_store(now: datetime, backlog: int) -> None:
    store, states = await stocked(1000, now), list[Embedded]()
    await VectorBackfill(store, Concepts(), quick=True, backlog=backlog).fill(progress=states.append)
    assert {state.whole + state.quick + state.lacking for state in states} == {1000}
    assert [state.lacking for state in states] == sorted((state.lacking for state in states), reverse=True)
    assert [state.whole for state in states] == sorted(state.whole for state in states)
    assert (states[0], states[-1]) == (Embedded(0, 0, 1000), Embedded(1000, 0, 0))
    assert (Embedded(0, 1000, 0) in states) == (backlog == 30)
