"""What is similar to an item, in every store."""

from dataclasses import replace
from functools import partial

import pytest

from bot.models import Item, Kind
from tests.conftest import NOW
from tests.contract.both import with_both
from tests.contract.records import records
from tests.stores import AnyStore


def paper(number: int, title: str, abstract: str = "", **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=title, abstract=abstract, seen=NOW)
    return replace(plain, **changes)  # type: ignore[arg-type]


CACHES = paper(1, "Paging the KV cache", "Serving wastes memory; we page the key-value cache of attention.")
GIVEN = (
    CACHES,
    paper(2, "Cached attention, quantised", "A KV cache of two bits serves longer contexts in little memory."),
    paper(3, "Serving with paged memory", "We schedule requests to a model on many machines."),
    paper(5, "Serving models", "We schedule requests to a model on many machines."),
    paper(4, "Galaxy spectra", "Redshifts of ten thousand galaxies."),
)


async def similar(store: AnyStore, item: Item, limit: int = 10) -> list[str]:
    return [hit.item.key for hit in await store.index.similar(item, NOW, limit=limit)]


async def test_the_closest_come_first_and_what_shares_no_word_does_not_come() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(GIVEN, NOW)
        assert await similar(store, CACHES) == ["arxiv:2", "arxiv:3"]
        assert await similar(store, CACHES, limit=1) == ["arxiv:2"]
        assert await similar(store, CACHES, limit=0) == []

    await with_both(test)


async def test_what_shares_one_word_alone_is_not_called_similar() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(GIVEN, NOW)
        assert "arxiv:5" not in await similar(store, CACHES)
        assert await similar(store, paper(9, "Wine", "Serving temperatures of zweigelt, and which glass to choose.")) == []

    await with_both(test)


KERNELS = (
    ("Paging the KV cache", "Attention on GPUs wastes memory. A CUDA kernel pages the cache."),
    ("Fused attention", "One CUDA kernel for attention on GPUs, and little memory."),
    ("Sharding tensors", "Tensors are sharded over GPUs by a CUDA kernel."),
    ("Quantised inference", "Inference on GPUs in four bits, by a CUDA kernel."),
    ("Overlapping communication", "GPUs compute in a CUDA kernel while they communicate."),
    ("Sparse training", "Sparse matrices on GPUs, multiplied by a CUDA kernel."),
)


async def test_a_few_items_on_one_subject_are_similar_however_many_of_them_have_its_words() -> None:
    given = [paper(at, title, text) for at, (title, text) in enumerate(KERNELS, start=10)]
    found: list[tuple[str, float]] = []

    async def test(store: AnyStore, number: int) -> None:
        await store.items.add([*given[:number], GIVEN[-1]], NOW)
        hits = await store.index.similar(given[0], NOW)
        assert {hit.item.key for hit in hits} == {item.key for item in given[1:number]}
        found.append((hits[0].item.key, hits[0].relevance))

    for number in range(2, len(KERNELS) + 1):
        await with_both(partial(test, number=number))
    assert {key for key, _ in found} == {"arxiv:11"}
    closeness = [relevance for _, relevance in found]
    assert min(closeness) > 0.9 * max(closeness), "what stands beside two items says little about these"


async def test_the_own_repository_is_not_offered_nor_its_paper() -> None:
    code = paper(6, "pager", CACHES.abstract, key="github:lab/pager", kind=Kind.REPO, paper="arxiv:1")
    for known, naming in (
        (replace(CACHES, repo=code.key), code),
        (CACHES, code),
        (replace(CACHES, repo=code.key), replace(code, paper="")),
    ):

        async def test(store: AnyStore, known: Item = known, naming: Item = naming) -> None:
            await store.items.add([known, naming, *GIVEN[1:]], NOW)
            assert await similar(store, known) == ["arxiv:2", "arxiv:3"]
            assert "arxiv:1" not in await similar(store, naming)

        await with_both(test)


async def test_a_paper_and_its_repository_are_one_answer_and_the_paper_leads() -> None:
    async def test(store: AnyStore) -> None:
        code = paper(6, "pages", CACHES.abstract, key="github:lab/pages", kind=Kind.REPO, paper="arxiv:2")
        given = [CACHES, replace(GIVEN[1], repo=code.key), *GIVEN[2:], code]
        await store.items.add(given, NOW)
        hits = await store.index.similar(CACHES, NOW)
        assert [(hit.item.key, hit.other and hit.other.key) for hit in hits] == [("arxiv:2", code.key), ("arxiv:3", None)]

    await with_both(test)


async def test_the_same_work_under_another_key_comes_once_and_never_for_itself() -> None:
    async def test(store: AnyStore) -> None:
        by = [replace(item, authors=("Ada Lovelace",)) for item in GIVEN]
        again = [replace(item, key=f"doi:10.1/{at}", title=item.title.upper()) for at, item in enumerate(by[:2])]
        others = replace(by[1], key="doi:10.1/9", authors=("Someone Else",))
        await store.items.add([*by, *again, others], NOW)
        assert [key.replace("doi:10.1/1", "arxiv:2") for key in await similar(store, by[0])] == [
            "doi:10.1/9",
            "arxiv:2",
            "arxiv:3",
        ]

    await with_both(test)


async def test_each_comes_with_the_telling_words_that_both_have() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(GIVEN, NOW)
        (first, *_) = await store.index.similar(CACHES, NOW)
        assert first.shared[0] == "KV cache"
        assert "memory" not in first.shared
        (same,) = (hit for hit in await store.index.similar(replace(CACHES, key="arxiv:9"), NOW, limit=1))
        assert same.shared

    await with_both(test)


async def test_an_item_is_not_similar_to_itself_under_whatever_key() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add([*GIVEN, replace(CACHES, key="doi:10.1/x", aliases=("url:https://a.example/",))], NOW)
        elsewhere = replace(CACHES, key="url:https://a.example/", aliases=("arxiv:1",))
        assert await similar(store, elsewhere) == ["arxiv:2", "arxiv:3"]
        assert (await similar(store, CACHES))[0] == "doi:10.1/x"  # another item as long as nobody knows better

    await with_both(test)


async def test_a_text_that_is_not_stored_will_do() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(GIVEN, NOW)
        asked = paper(9, "", "memory for cached attention, KV by KV")
        assert set((await similar(store, asked))[:2]) == {"arxiv:1", "arxiv:2"}

    await with_both(test)


async def test_the_same_text_is_as_close_as_can_be_and_the_newer_one_comes_first() -> None:
    async def test(store: AnyStore) -> None:
        old, new = (replace(CACHES, key=f"arxiv:{year}", published=NOW.replace(year=year)) for year in (2024, 2025))
        await store.items.add([*GIVEN, new, old], NOW)
        hits = await store.index.similar(CACHES, NOW)
        assert [hit.item.key for hit in hits[:2]] == ["arxiv:2025", "arxiv:2024"]
        assert hits[0].relevance == hits[1].relevance
        assert 0.95 < hits[0].relevance <= 1
        assert all(0 < hit.relevance <= 1 for hit in hits)

    await with_both(test)


async def test_what_was_dropped_is_similar_to_nothing() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(GIVEN, NOW)
        await store.items.add([], NOW, retired=["arxiv:2"])
        assert await similar(store, CACHES) == ["arxiv:3"]

    await with_both(test)


@pytest.mark.parametrize("text", ["", "the of and", "2024 7", "!!! ???", '" OR * NEAR(', "a\x00b \ud83d", "名前 模型"])
async def test_any_text_may_be_asked_about(text: str) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(records(), NOW)
        hits = await store.index.similar(paper(9, text, text), NOW)
        assert all(0 < hit.relevance <= 1 for hit in hits)

    await with_both(test)


@pytest.mark.no_cover
async def test_both_stores_find_the_same_among_real_records() -> None:
    answers: list[list[list[tuple[str, float, tuple[str, ...]]]]] = []

    async def test(store: AnyStore) -> None:
        halves = [_in_part(item, at) for item in records() for at in (0, 1)]
        await store.items.add([*records(), *halves], NOW)
        found = [await store.index.similar(item, NOW, limit=7) for item in records()]
        answers.append([[(hit.item.key, hit.relevance, hit.shared) for hit in hits] for hits in found])

    await with_both(test)
    assert answers[0] == answers[1]
    assert sum(map(len, answers[0])) > 100


def _in_part(item: Item, at: int) -> Item:
    """Return another item with every other word of its text."""
    words = f"{item.title} {item.abstract}".split()
    text = " ".join(words[at::2])
    return replace(item, key=f"url:https://{at}.example/{item.key}", aliases=(), title=f"Part {at}", abstract=text, repo="")
