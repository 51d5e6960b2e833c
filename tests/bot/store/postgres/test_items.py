"""Items of several processes on one database: none is lost, none is numbered twice, and who follows misses none."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from bot.errors import StoreError
from bot.models import Item, Kind, SourceState
from bot.store.postgres.items import forget_changes
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import Counting, executed, two, until_waiting
from tests.conftest import NOW

LOCK = "select pg_advisory_xact_lock(hashtextextended(encode('items', 'hex'), 0))"


def paper(number: int, **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number}", abstract="A cache.", seen=NOW)
    return replace(plain, **changes)  # type: ignore[arg-type]


async def followed(store: PostgresStore, number: int, items: dict[int, Item]) -> int:
    """Bring the items up to what the store has, by its changes from that number on; return the last number."""
    while changes := await store.items.changes(number, limit=3):
        for change in changes:
            number, arrival, item = change
            items.pop(arrival, None)
            if item is not None:
                items[arrival] = item
    return number


async def test_who_follows_while_two_processes_write_misses_no_item_and_no_arrival(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as stores:
        writing = asyncio.gather(
            *(
                stores[at % 2].items.add([paper(at * 3 + each) for each in range(3)], NOW, retired=[f"arxiv:{at * 3 - 5}"])
                for at in range(24)
            )
        )
        number, copy, seen = await stores[0].items.last_change(), dict[int, Item](), set[int]()
        after = 0
        while not writing.done():
            number = await followed(stores[1], number, copy)
            last = await stores[0].items.last_arrival()
            seen.update(arrival for arrival, _ in await stores[0].items.arrived(after, last))
            after = last
        await writing
        await followed(stores[1], number, copy)
        there = dict(await stores[0].items.arrived(0))
        assert copy == there
        assert {*there} <= seen | {arrival for arrival, _ in await stores[0].items.arrived(after)}
        assert await stores[0].items.last_arrival() == 72
        assert await stores[0].maintenance.check() == []


async def test_of_two_that_made_something_of_the_same_item_one_is_told_to_read_it_again(
    postgres: str, tmp_path: Path
) -> None:
    async with two(postgres, tmp_path) as stores:
        await stores[0].items.add([paper(1, upvotes=0)], NOW)

        async def vote(store: PostgresStore) -> int:
            for tries in range(1, 99):
                known = await store.items.find(["arxiv:1"])
                item = known["arxiv:1"]
                if await store.items.add([replace(item, upvotes=(item.upvotes or 0) + 1)], NOW, known=known):
                    return tries
            raise AssertionError

        tries = await asyncio.gather(*(vote(stores[at % 2]) for at in range(12)))
        assert (await stores[1].items.find(["arxiv:1"]))["arxiv:1"].upvotes == 12
        assert max(tries) > 1, "nobody came in anybody's way"


async def test_a_name_that_another_process_gave_away_meanwhile_is_noticed(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        assert await other.items.add([paper(1, aliases=("doi:10.1/x",))], NOW)
        assert not await one.items.add([paper(2, aliases=("doi:10.1/x",))], NOW, known={"arxiv:2": None, "doi:10.1/x": None})
        assert set(await one.items.find(["arxiv:2", "doi:10.1/x"])) == {"doi:10.1/x"}


async def test_what_was_read_is_compared_only_when_nobody_else_writes_any_more(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, _):
        await one.items.add([paper(1)], NOW)
        known = await one.items.find(["arxiv:1"])

        async with await AsyncConnection.connect(postgres) as db:  # it takes its time
            await db.execute(LOCK)
            late = asyncio.ensure_future(one.items.add([paper(1, stars=1)], NOW, known=known))
            await until_waiting(postgres, late)
            await db.execute("update records set data = replace(data, 'A cache.', 'Two caches.')")
        assert await late is False
        assert (await one.items.find(["arxiv:1"]))["arxiv:1"].abstract == "Two caches."


async def test_a_state_is_saved_with_its_items_or_not_at_all(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        state = SourceState(name="arxiv", watermark="one")
        assert not await one.items.add([paper(1)], NOW, state=state, known={"arxiv:1": paper(1)})
        assert await other.source_states.get("arxiv") == SourceState(name="arxiv")
        assert await one.items.add([paper(1)], NOW, state=state)
        assert await other.source_states.get("arxiv") == state


async def test_whoever_is_cancelled_while_writing_leaves_nothing_half_written(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        for wait in range(20):
            adding = asyncio.ensure_future(one.items.add([paper(at, aliases=(f"doi:{at}",)) for at in range(300)], NOW))
            await asyncio.sleep(0.001 * wait)
            adding.cancel()
            await asyncio.gather(adding, return_exceptions=True)
            assert (await other.items.counts())["items"] in (0, 300)
        assert await other.items.add([paper(1)], NOW)
        assert await other.maintenance.check() == []


async def test_what_is_written_after_a_backup_was_put_back_has_other_numbers(postgres: str, tmp_path: Path) -> None:
    """What a restore does to the tables is done here by hand: they are again as they were."""
    async with two(postgres, tmp_path) as (one, _):
        await one.items.add([paper(1)], NOW)
        known, mark = await one.items.last_change(), await one.items.mark()
        await one.items.add([paper(2)], NOW)
        undone, then = await one.items.last_change(), await one.items.mark()
        await executed(
            postgres,
            "delete from items where key = 'arxiv:2'",
            "delete from records where id = 2",
            f"delete from item_changes where number > {known}",
            "update facts set value = '1' where name = 'changes'",
        )
        assert await one.items.mark() == mark
        await one.items.add([paper(3)], NOW)
        assert await one.items.changes(undone, limit=9) is None
        assert await one.items.mark() not in (mark, then)
        changes = await one.items.changes(known, limit=9)
        assert changes is not None
        assert [item for *_, item in changes] == [paper(3)]


async def test_the_last_changes_are_kept_and_who_is_further_behind_is_told_to_begin_anew(
    postgres: str, tmp_path: Path
) -> None:
    async with two(postgres, tmp_path) as (one, other):
        begin = await one.items.last_change()
        assert await one.items.changes(begin, limit=9) == []
        await one.items.add([paper(number) for number in range(5)], NOW)
        changes = await other.items.changes(begin, limit=9)
        assert changes is not None
        await one.connections.write(lambda db: forget_changes(db, 3))
        assert await other.items.changes(begin, limit=9) is None
        assert await other.items.changes(changes[1].number, limit=9) == changes[2:]
        await one.connections.write(lambda db: forget_changes(db, 0))
        assert await other.items.last_change() == changes[-1].number
        assert await other.items.changes(changes[-1].number, limit=9) == []


async def test_a_key_that_the_database_cannot_hold_is_nobodys(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, _):
        odd = ["a\x00b", "half \ud83d", "arxiv:1"]
        await one.items.add([paper(1, title="a\x00b \ud83d")], NOW, retired=odd[:2])
        assert await one.items.find(odd) == {"arxiv:1": paper(1, title="a\x00b \ud83d")}
        assert await one.items.readings(odd, NOW.date()) == {}
        assert await one.vectors.find("small-1", odd) == {}
        with pytest.raises(StoreError):
            await one.items.add([paper(2), paper(3, key="a\x00b")], NOW)
        assert set(await one.items.find(["arxiv:2"])) == set()


async def test_a_key_of_the_longest_address_and_of_many_batches_is_stored(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        longest = "url:https://" + "".join(chr(97 + (at * at * 7 + at) % 26) for at in range(1988))
        items = [paper(number) for number in range(2500)]
        await one.items.add([*items, paper(0, key=longest, aliases=(longest[:-1],))], NOW)
        assert set(await other.items.find([longest, longest[:-1], "arxiv:2499"])) == {longest, longest[:-1], "arxiv:2499"}
        assert sorted(arrival for arrival, _ in await other.items.arrived(2490)) == [*range(2491, 2502)]
        assert await other.maintenance.check() == []


async def test_few_rows_are_read_of_many(postgres: str, tmp_path: Path) -> None:
    """Each question costs what it answers: some blocks of the tables and their indexes, however much there is."""
    async with two(postgres, tmp_path) as (one, _):
        day = timedelta(days=1)
        items = [paper(number, seen=NOW - day * (3000 - number), aliases=(f"doi:{number}",)) for number in range(3000)]
        repos = [
            Item(key=f"github:a/{number}", kind=Kind.REPO, title="a", seen=NOW, updated=NOW - day * number)
            for number in range(300)
        ]
        await one.items.add([*items, *repos], NOW)
        await executed(postgres, "vacuum analyze")
        one.items.connections = counting = Counting(postgres)
        await counting.open()
        try:
            number = (await one.items.last_change()) - 5
            for ask, most in (
                (lambda: one.items.find(["doi:7", "arxiv:9", "arxiv:none"]), 50),
                (lambda: one.items.arrived(3295), 60),
                (lambda: one.items.repositories(NOW - day * 3, 9999), 50),
                (lambda: one.items.changes(number, limit=9), 60),
                (lambda: one.items.arrival_before(NOW - 3 * day, NOW - 2 * day), 20),
                (lambda: one.items.readings(["arxiv:7"], NOW.date()), 15),
                (one.items.last_arrival, 10),
                (one.items.last_change, 10),
                (one.items.mark, 10),
            ):
                before = counting.looked_at  # the server counts on, from one transaction to the next
                await ask()
                assert counting.looked_at - before <= most, most
        finally:
            await counting.close()
