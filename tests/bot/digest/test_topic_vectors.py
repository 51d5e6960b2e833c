"""What topics are told, as vectors; and digests that go by them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.digest.publisher import Publisher
from bot.digest.recent_items import RecentItems
from bot.digest.topic_vectors import TopicVectors
from bot.errors import EmbeddingUnavailable
from bot.models import Change, DigestRequest, Feedback, Item, Topic
from bot.models.vectors import pack, text_of_item
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

AXES = ("cache", "memory", "protein")


class Axes:
    """An embedder with one direction for a few words: `cache` and `memory` are near each other, `protein` is not."""

    space, size, enough = "minilm-l6-test", 8, 0.42

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.silent = False

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> NDArray[np.float32]:
        if self.error:
            raise self.error
        if self.silent:
            await asyncio.sleep(60)
        self.asked += texts
        return np.stack([self.row(text) for text in texts])

    @staticmethod
    def row(text: str) -> NDArray[np.float32]:
        angles = [angle for word, angle in zip(AXES, (0.0, 0.3, 1.5), strict=True) if word in text.lower()]
        row = np.zeros(8, np.float32)
        if angles:
            row[:2] = np.cos(angles[0]), np.sin(angles[0])
        return row


async def embedded(store: MemoryStore, items: Sequence[Item]) -> None:
    rows = np.stack([Axes.row(text_of_item(item)) for item in items])
    await store.vectors.save(Axes.space, items, pack(rows), quick=False)


CACHE = paper("2603.00001", title="Paging the cache", abstract="It is kept in pages.")
MEMORY = paper("2603.00002", title="Decoding in little memory", abstract="Tokens of the past stay in blocks.")
PROTEIN = paper("2603.00003", title="Folding a protein", abstract="Sequences and shapes.")


async def test_without_an_embedder_nothing_has_a_vector() -> None:
    assert await TopicVectors(MemoryStore().vectors, None).vectors([CACHE], ["cache"]) == {}


async def test_items_are_asked_of_the_store_and_the_rest_is_embedded_once(now: datetime) -> None:
    store, axes = MemoryStore(), Axes()
    await store.items.add([CACHE], now)
    await embedded(store, [CACHE])
    asked = TopicVectors(store.vectors, axes)

    first = await asked.vectors([CACHE, MEMORY], ["a cache", "a cache"])
    second = await asked.vectors([CACHE, MEMORY], ["a cache"])

    assert first.keys() == {CACHE.key, MEMORY.key, "a cache"}
    assert second == first
    assert axes.asked == [text_of_item(MEMORY), "a cache"]


async def test_what_cannot_be_embedded_is_left_out_and_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    axes = Axes()
    asked = TopicVectors(MemoryStore().vectors, axes)
    axes.error = EmbeddingUnavailable("The endpoint is down.")
    assert await asked.vectors([CACHE], []) == {}
    assert "The endpoint is down." in caplog.text
    axes.error = None
    assert (await asked.vectors([CACHE], [])).keys() == {CACHE.key}


async def test_an_embedder_that_does_not_answer_is_not_waited_for() -> None:
    axes = Axes()
    axes.silent = True
    assert await TopicVectors(MemoryStore().vectors, axes, patience=0.01).vectors([CACHE], []) == {}


async def test_the_texts_used_last_are_kept() -> None:
    axes = Axes()
    asked = TopicVectors(MemoryStore().vectors, axes, most=2)
    for texts in (["cache one", "cache two"], ["cache one"], ["cache three"], ["cache one"], ["cache two"]):
        assert (await asked.vectors([], texts)).keys() == set(texts)
    assert axes.asked == ["cache one", "cache two", "cache three", "cache two"]


# --- the index


async def test_vectors_that_come_later_are_told_to_the_index_that_is_there(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([CACHE, MEMORY, PROTEIN], now)
    kept = RecentItems(store.items, store.vectors, space=Axes.space)
    first = await kept.indexed(3, timedelta(days=14), now)

    await embedded(store, [CACHE, MEMORY])
    second = await kept.indexed(3, timedelta(days=14), now)
    third = await kept.indexed(3, timedelta(days=14), now)

    assert first.index.closeness(CACHE.key).max() < 0.1 < second.index.closeness(CACHE.key).max()
    assert second.index.items is first.index.items
    assert third is second


async def test_an_index_without_a_space_reads_no_vectors(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([CACHE, MEMORY], now)
    await embedded(store, [CACHE, MEMORY])
    indexed = await RecentItems(store.items, store.vectors).indexed(3, timedelta(days=14), now)
    assert indexed.index.closeness(CACHE.key).max() < 0.1


# --- the digest


async def test_a_digest_ranks_by_what_an_example_means_and_by_words_alone_without(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([MEMORY, PROTEIN], now - timedelta(hours=1))
    await embedded(store, [MEMORY, PROTEIN])
    request = DigestRequest(Topic(name="t", title="T", examples=("how a cache is paged",)), "local", "local")

    by_words = await Publisher(store, Extractive(), {}).preview(request, now)
    by_meaning = await Publisher(store, Extractive(), {}, Axes()).preview(request, now)

    assert not any("close to" in reason for entry in by_words.entries for reason in entry.ranked.reasons)
    first, second = (entry.ranked for entry in by_meaning.entries)
    assert first.item.key == MEMORY.key
    assert 'close to "how a cache is paged"' in first.reasons
    assert not any("close to" in reason for reason in second.reasons)


async def test_the_footer_says_which_examples_were_compared_by_words_alone(now: datetime) -> None:
    store, axes = MemoryStore(), Axes()
    await store.items.add([MEMORY, PROTEIN], now - timedelta(hours=1))
    await embedded(store, [MEMORY, PROTEIN])
    request = DigestRequest(Topic(name="t", title="T", examples=("how a cache is paged",)), "local", "local")
    publisher = Publisher(store, Extractive(), {}, axes)

    axes.error = EmbeddingUnavailable("The endpoint is down.")
    missed = await publisher.preview(request, now)
    axes.error = None
    whole = await publisher.preview(request, now)

    assert missed.coverage.notes == ("1 example was compared by words alone: no vector could be had in time",)
    assert whole.coverage.notes == ()
    assert (await Publisher(store, Extractive(), {}).preview(request, now)).coverage.notes == ()


async def test_the_footer_says_that_the_description_was_compared_by_words_alone(now: datetime) -> None:
    store, axes = MemoryStore(), Axes()
    await store.items.add([MEMORY, PROTEIN], now - timedelta(hours=1))
    await embedded(store, [MEMORY])
    request = DigestRequest(Topic(name="t", title="T", description="All about a cache."), "local", "local")
    publisher = Publisher(store, Extractive(), {}, axes)
    lacking = "1 item had no vector yet and was compared by words alone"

    axes.error = EmbeddingUnavailable("The endpoint is down.")
    missed = await publisher.preview(request, now)
    axes.error = None
    whole = await publisher.preview(request, now)

    of_topic = "the topic's description was compared by words alone: no vector could be had in time"
    assert missed.coverage.notes == (of_topic, lacking)
    assert whole.coverage.notes == (lacking,)
    assert (await Publisher(store, Extractive(), {}).preview(request, now)).coverage.notes == ()


async def test_the_footer_says_how_many_items_had_no_vector_yet(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([MEMORY, PROTEIN], now - timedelta(hours=1))
    publisher = Publisher(store, Extractive(), {}, Axes())
    example = Topic(name="t", title="T", examples=("how a cache is paged",))
    request, plain = DigestRequest(example, "local", "local"), DigestRequest(Topic(name="u", title="U"), "local", "local")
    assert (await publisher.preview(plain, now)).coverage.notes == (), "nothing is compared"

    for vectors, notes in (
        ([], ("2 items had no vector yet and were compared by words alone",)),
        ([MEMORY], ("1 item had no vector yet and was compared by words alone",)),
        ([MEMORY, PROTEIN], ()),
    ):
        if vectors:
            await embedded(store, vectors)
        assert (await publisher.preview(request, now)).coverage.notes == notes


async def test_what_was_liked_raises_what_means_the_same_though_it_is_new_to_the_index(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([CACHE], now - timedelta(days=40))
    await store.items.add([MEMORY, PROTEIN], now - timedelta(hours=1))
    await embedded(store, [MEMORY, PROTEIN])
    liked = Feedback(workspace="local", topic="t", person="ada", key=CACHE.key, more=True, at=now)
    await store.people.save_feedback(liked, Change(workspace="local", at=now, person="ada", what="feedback"))
    request = DigestRequest(Topic(name="t", title="T"), "local", "local")

    digest = await Publisher(store, Extractive(), {}, Axes()).preview(request, now)

    assert digest.entries[0].ranked.item.key == MEMORY.key
    assert f'close to "{CACHE.title}" you liked' in digest.entries[0].ranked.reasons


async def test_what_is_near_to_a_topics_description_enters_its_digest_without_the_words_of_its_query(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([CACHE, MEMORY, PROTEIN], now)
    await embedded(store, [CACHE, MEMORY, PROTEIN])
    topic = Topic(name="kv", title="Serving", description="All about a cache.", query=parse("paging"))

    (digest,) = await Publisher(store, Extractive(), {}, Axes()).publish([DigestRequest(topic, "local", "local")], now)

    assert [entry.ranked.item.key for entry in digest.entries] == [CACHE.key, MEMORY.key]


async def test_the_example_of_a_described_topic_lets_in_by_meaning_too(now: datetime) -> None:
    store = MemoryStore()
    await store.items.add([CACHE, MEMORY, PROTEIN], now)
    await embedded(store, [CACHE, MEMORY, PROTEIN])
    topic = Topic(
        name="kv", title="Serving", description="All about a cache.", query=parse("paging"), examples=("A cache text.",)
    )

    (digest,) = await Publisher(store, Extractive(), {}, Axes()).publish([DigestRequest(topic, "local", "local")], now)

    assert [entry.ranked.item.key for entry in digest.entries] == [CACHE.key, MEMORY.key]
