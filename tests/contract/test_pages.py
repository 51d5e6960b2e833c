"""Pages of one search are parts of one list, whatever is stored between them."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.models import And, Item, Kind, Page, Query, Term
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW, tries
from tests.contract.both import with_both
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore

at_ease = settings(deadline=None, max_examples=tries(40), suppress_health_check=[HealthCheck.too_slow])

TEXTS = ("kv cache", "cache", "kv", "a cache of caches for long contexts", "none of it", "kv kv kv caching")
QUERIES = (
    Query("", And((Term("kv"), Term("cache")))),
    Query("", Term("cache")),
    Query("", And(()), "new"),
    Query("", Term("kv"), "new"),
    Query("", And(()), "upvotes"),
    Query("", And(()), "stars"),
)
items = st.builds(
    lambda number, text, upvotes: Item(
        key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number % 3}", abstract=text, upvotes=upvotes, seen=NOW
    ),
    st.integers(0, 30),
    st.sampled_from(TEXTS),
    st.none() | st.integers(0, 3),
)
batches = st.lists(st.lists(items, min_size=1, max_size=8), max_size=4)


async def turned(store: AnyStore, query: Query, size: int, between: list[list[Item]]) -> list[Page]:
    """Turn page after page, storing one of the batches before each further one."""
    pages = [await store.index.search(query, NOW, limit=size)]
    while pages[-1].more:
        if between:
            await store.items.add(between.pop(), NOW)
        pages.append(await store.index.search(query, NOW, limit=size, offset=size * len(pages), mark=pages[0].mark))
    return pages


async def listed(given_: list[Item], query: Query) -> list[str]:
    """Return the whole list, of a store that nobody has turned pages in."""
    store = MemoryStore()
    await store.items.add(given_, NOW)
    return keys([await store.index.search(query, NOW, limit=99)])


def keys(pages: list[Page]) -> list[str]:
    return [hit.item.key for page in pages for hit in page.hits]


@at_ease
@given(st.lists(items, max_size=20), batches, st.sampled_from(QUERIES), st.integers(1, 4))
def test_new_items_change_nothing_of_a_list_that_is_being_read(
    given_: list[Item], between: list[list[Item]], query: Query, size: int
) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(given_, NOW)
        known = {item.key for item in given_}
        fresh = [[item for item in batch if item.key not in known] for batch in between]
        whole = await listed(given_, query)
        found = keys(await turned(store, query, size, fresh))
        assert sorted(found) == sorted(whole)
        if query.sort != "best":
            assert found == whole

    asyncio.run(with_both(test))


@at_ease
@given(st.lists(items, max_size=20), batches, st.sampled_from(QUERIES), st.integers(1, 4))
def test_changed_items_are_neither_repeated_nor_lost(
    given_: list[Item], between: list[list[Item]], query: Query, size: int
) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(given_, NOW)
        texts = {item.key: item.abstract for item in given_}
        moved = [
            [replace(item, abstract=texts[item.key]) if item.key in texts else item for item in batch] for batch in between
        ]
        whole = await listed(given_, query)
        found = keys(await turned(store, query, size, moved))
        assert sorted(found) == sorted(whole)

    asyncio.run(with_both(test))


async def test_what_was_dropped_between_two_pages_gives_its_place_to_nothing_new() -> None:
    async def test(store: AnyStore) -> None:
        given_ = [Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Cache") for number in range(6)]
        await store.items.add(given_, NOW)
        first = await store.index.search(Query("", sort="new"), NOW, limit=2)
        await store.items.add([Item(key="arxiv:9", kind=Kind.PAPER, title="Cache")], NOW, retired=["arxiv:5", "arxiv:1"])
        rest = await store.index.search(Query("", sort="new"), NOW, limit=9, offset=2, mark=first.mark)
        assert keys([first]) == ["arxiv:5", "arxiv:4"]
        assert keys([rest]) == ["arxiv:3", "arxiv:2", "arxiv:0"]
        again = await store.index.search(Query("", sort="new"), NOW, limit=2, mark=first.mark)
        assert keys([again]) == ["arxiv:4"]

    await with_both(test)


async def test_a_list_goes_on_after_a_restart() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "pages.db")
        await store.open()
        await store.items.add([Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Cache") for number in range(5)], NOW)
        first = await store.index.search(Query("", Term("cache")), NOW, limit=2)
        await store.close()
        store = SqliteStore(Path(folder) / "pages.db")
        await store.open()
        await store.items.add([Item(key="arxiv:7", kind=Kind.PAPER, title="Cache")], NOW)
        rest = await store.index.search(Query("", Term("cache")), NOW, limit=9, offset=2, mark=first.mark)
        await store.close()
    assert keys([first, rest]) == [f"arxiv:{number}" for number in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize("mark", ["4", "-1", "01", "x", "1 or 1", "３", "9" * 99])
async def test_a_mark_that_no_page_had_is_refused(mark: str) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add([Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Cache") for number in range(3)], NOW)
        with pytest.raises(UsageError, match="search again"):
            await store.index.search(Query(""), NOW, mark=mark)

    await with_both(test)
