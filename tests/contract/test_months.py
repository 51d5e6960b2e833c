"""What charts are made of: items by the month of their publication, and their texts."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.models import And, Item, Kind, Label, Or, Term, Tree, When
from bot.query.fields import date_of
from bot.query.match import matches
from tests.bot.query import generate
from tests.conftest import NOW, tries
from tests.contract.both import with_both
from tests.stores import AnyStore

at_ease = settings(deadline=None, max_examples=tries(60), suppress_health_check=[HealthCheck.too_slow])
EDGE = datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)


def paper(number: int, **changes: object) -> Item:
    made = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number}", abstract="Of a cache.", seen=NOW)
    return replace(made, **changes)  # type: ignore[arg-type]


@at_ease
@given(st.lists(generate.items(), max_size=6), generate.trees(score=False))
@example([paper(1, published=EDGE), paper(2, published=EDGE + timedelta(microseconds=1)), paper(3)], And(()))
@example([paper(1, title="half \ud83d of a character", abstract="\x00\udc00", published=NOW)], And(()))
def test_what_is_counted_and_read_is_what_the_tree_holds_for(items: list[Item], tree: Tree) -> None:
    async def test(store: AnyStore) -> None:
        await store.items.add(items, generate.NOW)
        stored = {item.key: item for item in items}
        kept = [item for item in stored.values() if matches(tree, item, generate.NOW)]
        days = [day.astimezone(UTC).date() for item in kept if (day := date_of(item, "published")) is not None]
        assert await store.index.months(tree, generate.NOW) == Counter(day.replace(day=1) for day in days)
        texts = await store.index.texts(tree, generate.NOW, limit=99)
        assert Counter(texts) == Counter((item.title, item.abstract) for item in kept)

    asyncio.run(with_both(test))


async def test_a_sample_is_the_same_each_time_and_everywhere() -> None:
    found = []

    async def test(store: AnyStore) -> None:
        for number in (3, 1, 2, 5, 4):
            await store.items.add([paper(number)], NOW)
        some = await store.index.texts(Term("cache"), NOW, limit=3)
        assert some == await store.index.texts(Term("cache"), NOW, limit=3)
        assert await store.index.texts(Or(()), NOW, limit=3) == []
        found.append(sorted(some))

    await with_both(test)
    assert len(found[0]) == 3
    assert found[0] == found[1]


async def test_months_take_any_condition() -> None:
    async def test(store: AnyStore) -> None:
        days = [datetime(2026, month, 30, 23, tzinfo=UTC) for month in (4, 5, 5, 6)]
        await store.items.add([paper(at, published=day, sources=("arxiv",)) for at, day in enumerate(days)], NOW)
        within = And((Label("source", "arxiv"), When("published", after=days[1])))
        assert await store.index.months(within, NOW) == {date(2026, 5, 1): 2, date(2026, 6, 1): 1}

    await with_both(test)
