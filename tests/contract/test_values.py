"""The values of labels are counted right whatever was stored, changed or dropped."""

import asyncio
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.models import Item, Kind
from bot.query.fields import fold_label, values_of
from bot.store.sqlite.store import SqliteStore
from tests.bot.query import generate
from tests.conftest import NOW, tries
from tests.contract.both import with_both
from tests.stores import AnyStore

at_ease = settings(deadline=None, max_examples=tries(60), suppress_health_check=[HealthCheck.too_slow])
FIELDS = ("category", "source", "language", "license", "topic")


def paper(number: int, **changes: object) -> Item:
    return replace(Item(key=f"arxiv:{number}", kind=Kind.PAPER, title="Paper", seen=NOW), **changes)  # type: ignore[arg-type]


async def test_values_come_with_their_counts_the_commonest_first() -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add([paper(1, categories=("cs.LG", "cs.AI")), paper(2, categories=("stat.ML", "cs.LG"))], NOW)
        assert list(await store.index.values("category", "")) == [
            ("cs", 2),
            ("cs.lg", 2),
            ("cs.ai", 1),
            ("stat", 1),
            ("stat.ml", 1),
        ]
        assert list(await store.index.values("category", "CS.")) == [("cs.lg", 2), ("cs.ai", 1)]
        assert list(await store.index.values("category", "", limit=1)) == [("cs", 2)]
        assert list(await store.index.values("category", "x")) == []

    await with_both(test)


async def test_keywords_are_the_values_of_topic_and_a_spelling_is_counted_once() -> None:
    async def test(store: AnyStore) -> None:
        given_ = [paper(1, keywords=("KV-Cache", "kv-cache", "Große Modelle")), paper(2, keywords=("kv-cache",))]
        await store.items.add(given_, NOW)
        assert list(await store.index.values("topic", "")) == [("kv-cache", 2), ("grosse modelle", 1)]
        assert list(await store.index.values("topic", "GROSSE m")) == [("grosse modelle", 1)]

    await with_both(test)


@pytest.mark.parametrize("field", ["title", "kind", "id", "stars", "", "no such", "x' or 1 --"])
async def test_a_field_without_listed_values_has_none(field: str) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add([paper(1, stars=3)], NOW)
        assert list(await store.index.values(field, "")) == []

    await with_both(test)


@at_ease
@given(
    st.lists(st.lists(generate.items(), max_size=4), max_size=4),
    st.sets(st.sampled_from(("arxiv:2606.01234", "github:owner/name", "x:unknown"))),
    st.integers(0, 2),
)
def test_counts_stay_right_after_changes_and_deletions(batches: list[list[Item]], retired: set[str], days: int) -> None:
    async def test(store: AnyStore) -> None:
        for number, batch in enumerate(batches):
            await store.items.add(batch, NOW + timedelta(days=number), retired=retired if number == 2 else ())
        await store.maintenance.prune(items_before=NOW + timedelta(days=days), readings_before=NOW.date(), now=NOW)
        left = await store.items.find([item.key for batch in batches for item in batch])
        counts = Counter(pair for item in {item.key: item for item in left.values()}.values() for pair in values_of(item))
        for field in FIELDS:
            expected = {value: number for (name, value), number in counts.items() if name == field}
            assert dict(await store.index.values(field, "", limit=999)) == expected

    asyncio.run(with_both(test))


@at_ease
@given(st.lists(st.text(max_size=12), max_size=5), st.text(max_size=3))
@example(["a\x00b", "\ud83d", "\U0010ffff", "c++", "%_"], "c+")
@example(["a\U0010ffff", "ab"], "a")
@example(["%a", "ab"], "%")
def test_any_text_may_be_a_value_or_its_beginning(keywords: list[str], beginning: str) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add([paper(1, keywords=tuple(keywords))], NOW)
        expected = {value for _, value in values_of(paper(1, keywords=tuple(keywords)))}
        found = [value for value, _ in await store.index.values("topic", beginning)]
        assert set(found) == {value for value in expected if value.startswith(fold_label(beginning))}

    asyncio.run(with_both(test))


async def test_values_are_counted_anew_for_a_database_of_an_older_index() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "values.db")
        await store.open()
        await store.items.add([paper(1, language="C++"), paper(2, language="c++")], NOW)
        await store.facts.set("index", "2 of another edition")
        await store.close()
        store = SqliteStore(Path(folder) / "values.db")
        await store.open()
        assert list(await store.index.values("language", "c")) == [("c++", 2)]
        await store.close()
