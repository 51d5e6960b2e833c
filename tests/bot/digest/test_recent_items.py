import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.digest import recent_items
from bot.digest.publisher import Publisher
from bot.digest.recent_items import SHIPPED, IndexedItems, RecentItems
from bot.embed.shipped import LocalEmbedder
from bot.models import Change, DigestRequest, Feedback, Item, Window
from bot.query import parse
from bot.settings.topic_packs import load_packs
from bot.summarise.extractive import Extractive
from tests.conftest import tries
from tests.fakes import edition as june
from tests.fakes.works import paper, repo
from tests.stores.memory import MemoryStore

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MAX_AGE = 14 * DAY
LATELY = 10**9  # later than any arrival


async def filled(now: datetime, *ago: timedelta) -> MemoryStore:
    """Return a store of papers that arrived one after another, so long ago."""
    store = MemoryStore()
    for number, span in enumerate(ago, start=1):
        await store.items.add([paper(f"2603.{number:05}")], now - span)
    return store


@pytest.fixture
async def store(now: datetime) -> MemoryStore:
    store = MemoryStore()
    await store.items.add([paper(f"2603.{number:05}") for number in range(5)], now - timedelta(hours=1))
    return store


async def asked(kept: RecentItems, now: datetime, *, after: int = LATELY, max_age: timedelta = MAX_AGE) -> IndexedItems:
    return await kept.indexed(after, max_age, now)


async def test_an_index_is_used_again_while_nothing_is_stored(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors)

    first, second = await asked(kept, now), await asked(kept, now + MINUTE)

    assert second is first
    assert len(first.index.items) == 5


@pytest.mark.parametrize(
    "change",
    [
        paper("2603.00009"),  # one more
        paper("2603.00001", upvotes=7),  # one that is otherwise than it was
        paper("2603.00001", withdrawn=True),
        paper("2603.00001", aliases=("doi:10.1/x",)),
    ],
)
async def test_what_is_stored_in_between_is_never_missed(store: MemoryStore, now: datetime, change: Item) -> None:
    kept = RecentItems(store.items, store.vectors)
    await asked(kept, now)

    await store.items.add([replace(change, seen=now)], now)

    assert replace(change, seen=now) in (await asked(kept, now)).index.items


async def test_ages_are_counted_anew_after_some_minutes(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors)
    first = await asked(kept, now)

    soon = await asked(kept, now + recent_items.FRESH - MINUTE)
    late = await asked(kept, now + recent_items.FRESH)
    clock_set_back = await asked(kept, now)
    at_once = await kept.indexed(LATELY, MAX_AGE, now + MINUTE, exact=True)

    assert soon is first
    assert late.index.now == now + recent_items.FRESH
    assert clock_set_back.index.now == now
    assert at_once.index.now == now + MINUTE
    assert late.index.by_itself[0] < first.index.by_itself[0]


async def test_one_index_serves_every_digest_of_the_last_week(now: datetime) -> None:
    store = await filled(now, 9 * DAY, 5 * DAY, timedelta(hours=1))
    kept = RecentItems(store.items, store.vectors)

    daily, weekly = await asked(kept, now, after=2), await asked(kept, now, after=1)

    assert weekly is daily
    assert [len(daily.candidates(Window(after, 3)).items) for after in (2, 1)] == [1, 2]
    assert [int(daily.candidates(Window(after, 3)).among.sum()) for after in (2, 1)] == [1, 2]
    assert len(daily.items) == 2


async def test_digests_that_reach_back_further_find_all_of_it_and_share_an_index(now: datetime) -> None:
    store = await filled(now, 30 * DAY, 25 * DAY, DAY)
    kept = RecentItems(store.items, store.vectors)

    await asked(kept, now)
    monthly = await asked(kept, now, after=1)

    assert [item.key for item in monthly.candidates(Window(1, 3)).items] == ["arxiv:2603.00003", "arxiv:2603.00002"]
    assert await asked(kept, now, after=0) is monthly


async def test_a_window_ends_where_it_was_read_whatever_was_stored_since(now: datetime) -> None:
    store = await filled(now, DAY, DAY, DAY)
    indexed = await asked(RecentItems(store.items, store.vectors), now)

    candidates = indexed.candidates(Window(1, 2))

    assert [item.key for item in candidates.items] == ["arxiv:2603.00002"]
    assert candidates.among.sum() == 1


@pytest.mark.parametrize("off", [-300 * DAY, -DAY, DAY, 300 * DAY], ids=["far behind", "behind", "ahead", "far ahead"])
async def test_no_clock_keeps_an_item_out_of_the_index(now: datetime, off: timedelta) -> None:
    store = await filled(now, DAY)
    await store.items.add([replace(paper("2603.00007"), seen=now + off)], now)
    await store.items.add([paper("2501.00001", appeared=now - 90 * DAY), paper("2603.00008")], now)

    indexed = await asked(RecentItems(store.items, store.vectors), now, after=1)

    found = indexed.candidates(Window(1, 4))
    assert sorted(item.key for item in found.items) == ["arxiv:2501.00001", "arxiv:2603.00007", "arxiv:2603.00008"]
    ranked = [item.key for item, among in zip(found.index.items, found.among, strict=True) if among]
    assert sorted(ranked) == ["arxiv:2603.00007", "arxiv:2603.00008"]


async def test_an_index_that_a_clock_made_which_had_run_ahead_is_made_anew(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors)
    ahead = await asked(kept, now + 60 * DAY, after=0)
    assert ahead.index.items == ()

    assert len((await asked(kept, now, after=0)).index.items) == 5


async def test_the_indexes_used_last_are_kept_as_far_as_there_is_room(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors, most=11)  # two of five items
    first, second = await asked(kept, now, max_age=9 * DAY), await asked(kept, now, max_age=8 * DAY)

    assert await asked(kept, now, max_age=9 * DAY) is first
    await asked(kept, now, max_age=7 * DAY)

    assert await asked(kept, now, max_age=9 * DAY) is first
    assert await asked(kept, now, max_age=8 * DAY) is not second


@pytest.mark.parametrize("way", [1, -1])  # the clock goes on, or is set back
async def test_an_index_that_nobody_asks_for_is_let_go_after_some_hours(store: MemoryStore, now: datetime, way: int) -> None:
    kept = RecentItems(store.items, store.vectors)
    first = await asked(kept, now, max_age=9 * DAY)

    await asked(kept, now + way * recent_items.UNASKED)
    assert await asked(kept, now, max_age=9 * DAY) is first
    await asked(kept, now + way * (recent_items.UNASKED + MINUTE))
    assert await asked(kept, now, max_age=9 * DAY) is not first


async def test_an_index_of_very_many_items_is_not_kept(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors, most=4)
    assert await asked(kept, now) is not await asked(kept, now)


async def test_one_index_is_made_for_all_who_ask_at_once(store: MemoryStore, now: datetime) -> None:
    kept = RecentItems(store.items, store.vectors)
    assert len({id(each) for each in await asyncio.gather(*(asked(kept, now) for _ in range(8)))}) == 1


async def test_one_thread_at_a_time_works_on_an_index(store: MemoryStore, now: datetime) -> None:
    indexed = await asked(RecentItems(store.items, store.vectors), now)
    inside: list[int] = []
    most: list[int] = []

    def task() -> int:
        inside.append(1)
        most.append(len(inside))
        sum(range(20_000))
        inside.pop()
        return len(indexed.items)

    assert await asyncio.gather(*(indexed.in_thread(task) for _ in range(8))) == [5] * 8
    assert set(most) == {1}


async def test_an_item_that_is_not_in_the_index_is_judged_as_if_it_were(store: MemoryStore, now: datetime) -> None:
    """Words are as rare, and votes as many, as they are there; with the item itself among five, words are a little rarer."""
    stranger = paper("2502.00001", title="Paged caches", upvotes=40, published=now, appeared=now)
    kept = RecentItems(store.items, store.vectors)
    indexed = await asked(kept, now)
    beside = await kept.beside(indexed, [stranger])
    await store.items.add([replace(stranger, seen=now)], now)
    among = (await asked(kept, now)).index

    number = among.number(stranger.key)
    assert number is not None
    assert beside.by_itself[0] == pytest.approx(among.by_itself[number])
    for example in ("Paged caches in memory", indexed.items[0], indexed.items[0].key):
        assert beside.closeness(example)[0] == pytest.approx(among.closeness(example)[number], abs=0.1)
    assert beside.knows(indexed.items[0].key)


# --- what is kept, and what is made anew

JUNE = datetime(2026, 6, 14, 9, 30, tzinfo=UTC)
WORKS = [*june.items()[:12], repo("lab/alone", abstract="GPU kernels and caches."), paper("2606.00004", withdrawn=True)]
PACK = load_packs()["gpu-systems"]
ORDERS = [
    DigestRequest(replace(PACK, query=parse(query)), "local", "local", filter=parse(kept), since_last=False)
    for query, kept in (("", "-survey"), ("GPU OR cache OR published:1d", "score:>0.1"), ("-has:code", ""))
]
STEPS = ("store", "change", "withdraw", "retire", "like", "wait")
steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, len(WORKS) - 1)), min_size=1, max_size=4)
WAITS = (timedelta(0), recent_items.FRESH, timedelta(hours=5), DAY, -DAY)


async def does(store: MemoryStore, step: str, item: Item, now: datetime) -> None:
    match step:
        case "store":
            await store.items.add([replace(item, seen=now)], now)
        case "change":
            await store.items.add([replace(item, title=f"{item.title} on GPUs", upvotes=70, seen=now - DAY)], now)
        case "withdraw":
            await store.items.add([replace(item, withdrawn=True, seen=now)], now)
        case "retire":
            await store.items.add([], now, retired=[item.key])
        case _:
            said = Feedback(workspace="local", topic=PACK.name, person="ada", key=item.key, more=True, at=now)
            await store.people.save_feedback(said, Change(workspace="local", at=now, person="ada", what="feedback"))


async def told(publisher: Publisher, items: Sequence[Item], now: datetime) -> list[object]:
    """All that can be asked of it."""
    answers: list[object] = []
    for request in ORDERS:
        answers.append(await publisher.preview(request, now))
        answers.append(await publisher.try_filter(request, now - 7 * DAY, now))
        answers.append(await publisher.score(request, items, now))
        answers += [await publisher.explain(request, item, now) for item in items]
    return answers


@settings(deadline=None, max_examples=tries(12), suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_what_is_kept_answers_as_what_is_made_anew(taken: list[tuple[str, int]]) -> None:
    async def compared() -> None:
        store = MemoryStore()
        await store.items.add([replace(item, seen=JUNE - (number % 9) * DAY) for number, item in enumerate(WORKS)], JUNE)
        keeping, now = Publisher(store, Extractive(), {"arxiv": "arXiv"}), JUNE
        for step, number in taken:
            await told(keeping, WORKS[:2], now)
            if step == "wait":
                now += WAITS[number % len(WAITS)]
            else:
                await does(store, step, WORKS[number], now)
            some = [WORKS[number], WORKS[0]]
            assert await told(keeping, some, now) == await told(
                Publisher(store, Extractive(), {"arxiv": "arXiv"}), some, now
            )

    asyncio.run(compared())


def test_the_space_in_which_nearness_was_measured_is_that_of_the_shipped_transformer_alone() -> None:
    assert LocalEmbedder().space.startswith(SHIPPED)
    assert not LocalEmbedder(table_only=True).space.startswith(SHIPPED)
