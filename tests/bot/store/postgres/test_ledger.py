"""The ledger of several processes: whatever two of them do at the same moment, each delivery has one holder."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

from bot.errors import Conflict
from bot.models import Delivery, DeliveryState, Digest, OccurrenceState, Position, Subscription, Window
from bot.ports.ledger import Planned
from bot.store.postgres.store import PostgresStore
from bot.store.rules.transitions import UNSUBSCRIBED
from tests.bot.store.postgres.opened import Counting, executed, two, until_waiting
from tests.conftest import NOW
from tests.contract.made import change, digest
from tests.contract.test_ledger import LEASE, done, made, occurrence, part, subscribed, taken

T = TypeVar("T")

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
Both = tuple[PostgresStore, PostgresStore]


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def at_once(*asked: Awaitable[T]) -> list[T | None]:
    """Return what each got, None for a conflict."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, Conflict):
            raise each
    return [None if isinstance(each, BaseException) else each for each in found]


async def waiting(both: Both, many: int, parts: int = 1) -> list[Delivery]:
    """Return the deliveries of so many digests, as they stand."""
    for number in range(many):
        await made(both[0], await subscribed(both[0], f"s{number}"), parts)
    return list(await both[0].ledger.deliveries("T1", limit=1000))


# --- who holds a delivery


@pytest.mark.parametrize("parts", [1, 2])
async def test_of_two_processes_that_claim_at_once_one_holds_each_delivery(both: Both, parts: int) -> None:
    await waiting(both, 20, parts)
    come = [each for each in await both[0].ledger.deliveries("T1", limit=1000) if each.part == 1]
    found = await at_once(*(store.ledger.claim(each, NOW, LEASE) for each in come for store in (*both, *both)))
    assert sorted(each.id for each in found if each is not None) == sorted(each.id for each in come)
    assert {each.token for each in found if each is not None} == {1}


async def test_of_two_processes_that_claim_what_another_left_one_holds_it(both: Both) -> None:
    come = await waiting(both, 10)
    left = await at_once(*(both[0].ledger.claim(each, NOW, LEASE) for each in come))
    later = NOW + LEASE
    found = await at_once(*(store.ledger.claim(each, later, LEASE) for each in left if each for store in both))
    assert sorted(each.id for each in found if each is not None) == sorted(each.id for each in come)
    assert {each.token for each in found if each is not None} == {2}


async def test_who_was_taken_over_begins_and_records_nothing(both: Both) -> None:
    first, second = both
    (pending,) = await waiting(both, 1)
    held = await first.ledger.claim(replace(pending, unbegun=True), NOW, LEASE)
    assert held is not None
    assert held.unbegun
    taken_over = await second.ledger.claim(replace(held, unbegun=False), NOW + LEASE, LEASE)
    assert taken_over is not None
    assert not await first.ledger.begin(held)
    assert not await first.ledger.record(done(held, "theirs"))
    assert await second.ledger.begin(taken_over)
    assert await second.ledger.record(done(taken_over, "ours"))
    assert not await first.ledger.record(done(held, "theirs"))
    assert [each.message for each in await first.ledger.deliveries("T1")] == ["ours"]


async def test_of_who_records_and_who_takes_over_at_the_same_moment_one_does(both: Both) -> None:
    come = await waiting(both, 20)
    held = [await taken(both[0], each) for each in come]

    async def each_of(delivery: Delivery) -> tuple[bool, bool]:
        recording = both[0].ledger.record(done(delivery))
        recorded, over = await asyncio.gather(recording, both[1].ledger.claim(delivery, NOW + LEASE, LEASE))
        return recorded, over is not None

    assert set(await asyncio.gather(*map(each_of, held))) <= {(True, False), (False, True)}


async def test_what_changed_since_it_was_read_is_claimed_as_it_is_now(both: Both) -> None:
    first, second = await waiting(both, 1, parts=2)
    held = await taken(both[1], first)
    assert await both[1].ledger.record(done(held, "top"))
    claimed = await both[0].ledger.claim(second, NOW, LEASE)
    assert claimed is not None
    assert claimed.thread == "top"
    assert claimed.payload == "part 2"


async def test_a_claim_says_whether_it_is_late_whatever_was_said_before(both: Both) -> None:
    (pending,) = await waiting(both, 1)
    for number, late in enumerate((True, False, True)):
        held = await both[number % 2].ledger.claim(replace(pending, late=late, unbegun=True), NOW, LEASE)
        assert held is not None
        assert (held.late, held.unbegun) == (late, True)
        pending = replace(held, state=DeliveryState.PENDING, lease_until=None, unbegun=False)
        assert await both[(number + 1) % 2].ledger.record(pending)


async def test_no_later_part_is_claimed_before_the_earlier_ones_are_done(both: Both) -> None:
    first, second, third = await waiting(both, 1, parts=3)
    assert await at_once(*(store.ledger.claim(each, NOW, LEASE) for each in (second, third) for store in both)) == [None] * 4
    held = await taken(both[0], first)
    assert await both[1].ledger.claim(second, NOW, LEASE) is None
    assert await both[0].ledger.record(done(held))
    assert await both[1].ledger.claim(third, NOW, LEASE) is None
    assert await both[1].ledger.claim(second, NOW, LEASE) is not None


async def test_what_is_recorded_is_to_be_edited_and_published_or_nothing_of_it_is(both: Both, postgres: str) -> None:
    ours = await subscribed(both[0])
    due = occurrence(ours)
    await both[0].ledger.open_on_request(due)
    said = '{"keys": [["arxiv:2604.00001"]]}'
    pending = part(due, payload=said, publishes=True, made_at=NOW)
    await both[0].ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[pending])
    held = await taken(both[0], pending)
    await executed(postgres, "alter table publications rename to publications_aside")
    try:
        with pytest.raises(Exception, match="lacks tables"):
            await both[0].ledger.record(done(held), edited_until=NOW + DAY)
    finally:
        await executed(postgres, "alter table publications_aside rename to publications")
    (still,) = await both[1].ledger.deliveries("T1")
    assert (still.state, still.payload) == (DeliveryState.SENDING, said)
    assert await rows(postgres, "standing") == 0
    assert await both[0].ledger.record(done(held), edited_until=NOW + DAY)
    assert (await rows(postgres, "standing"), await rows(postgres, "publications")) == (1, 1)
    assert await rows(postgres, "payloads") == 0


async def rows(address: str, table: str) -> int:
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as db:
        row = await (await db.execute(f"select count(*) from {table}".encode())).fetchone()
        assert row is not None
        return int(row[0])


# --- what is due


async def test_two_processes_that_note_what_is_due_open_each_occurrence_once(both: Both) -> None:
    ours = [await subscribed(both[0], f"s{number}", f"T{number % 7}") for number in range(60)]
    planned = [Planned(each, (occurrence(each), occurrence(each, slot=1)), NOW + DAY) for each in ours]
    asked = [store.ledger.open_planned(some) for store in both for some in (planned, planned[::-1], planned[20:])]
    found = await at_once(*asked)
    assert sum(sum(each) for each in found if each is not None) == 120
    assert (await both[1].ledger.counts())["due"] == 120
    assert await both[0].ledger.subscriptions_due(NOW) == []
    assert len(await both[0].ledger.subscriptions_due(NOW + DAY)) == 60


async def test_what_one_call_names_twice_is_opened_once_and_the_last_word_of_when_it_is_due_next_counts(both: Both) -> None:
    ours, gone = await subscribed(both[0]), replace(await subscribed(both[0], "s2"), id="s3")
    due = occurrence(ours)
    twice = [Planned(ours, (due, due), NOW + DAY), Planned(gone, (), NOW), Planned(ours, (due,), NOW + 2 * DAY)]
    assert await both[0].ledger.open_planned(twice) == [1, 0, 0]
    assert await both[0].ledger.subscriptions_due(NOW + DAY) == [
        (each, None) for each in await both[0].ledger.every_subscription() if each.id == "s2"
    ]


async def test_of_what_is_posted_at_once_that_which_looks_furthest_stays_whoever_opened_it(both: Both) -> None:
    ours = await subscribed(both[0])
    asked = [both[number % 2].ledger.open_at_once([occurrence(ours, slot=number)]) for number in range(1, 20)]
    assert sum(each or 0 for each in await at_once(*asked)) == 19
    due = await both[0].ledger.occurrences(NOW)
    # Whoever came after one that looks further is overtaken by none: it is due, and finds nothing.
    assert due[-1].slot == 19
    assert await both[1].ledger.open_at_once([occurrence(ours, slot=20)]) == 1
    assert [each.slot for each in await both[0].ledger.occurrences(NOW)] == [20]


async def test_of_two_processes_that_close_an_occurrence_one_does(both: Both) -> None:
    ours = [await subscribed(both[0], f"s{number}") for number in range(10)]
    due = [occurrence(each) for each in ours]
    await both[0].ledger.open_planned([Planned(of, (each,), NOW + DAY) for of, each in zip(ours, due, strict=True)])
    closing = [
        store.ledger.close_occurrence(
            replace(each, state=OccurrenceState.MADE), NOW, digest=dated(each.topic), deliveries=[part(each)]
        )
        for each in due
        for store in both
    ]
    found = await at_once(*closing)
    assert [sorted(pair, key=bool) for pair in zip(found[::2], found[1::2], strict=True)] == [[False, True]] * 10
    assert (await both[0].ledger.counts())["pending"] == 10
    assert len(await both[0].digests.past("T1", ours[0].channel)) == 1


async def test_of_two_processes_that_close_an_occurrence_with_nothing_to_post_one_does(both: Both) -> None:
    ours = await subscribed(both[0])
    await opened(both[0], ours, range(20))
    empty = [replace(occurrence(ours, slot=slot), state=OccurrenceState.EMPTY) for slot in range(20)]
    found = await at_once(*(store.ledger.close_occurrence(each, NOW) for each in empty for store in both))
    assert [sorted(pair, key=bool) for pair in zip(found[::2], found[1::2], strict=True)] == [[False, True]] * 20


def dated(topic: str = "kv", *, follows: int = 0, through: int = 1, **changes: object) -> Digest:
    plain = replace(digest(0.5, topic=topic), window=Window(follows, through, follows=follows))
    return replace(plain, **changes)  # type: ignore[arg-type]


async def closing(store: PostgresStore, of: Subscription, what: Digest, slot: int = 0, at: datetime = NOW) -> bool:
    due = occurrence(of, slot=slot)
    posted = part(due, made_at=at)
    made = replace(due, state=OccurrenceState.MADE)
    return await store.ledger.close_occurrence(made, at, digest=replace(what, subscription=of.id), deliveries=[posted])


async def opened(store: PostgresStore, of: Subscription, slots: Iterable[int]) -> None:
    await store.ledger.open_occurrences([occurrence(of, slot=slot) for slot in slots], of, NOW + DAY)


@pytest.mark.parametrize("rhythms", [("", ""), ("daily", "daily"), ("daily", "weekly")])
async def test_of_two_digests_of_a_channel_that_show_the_same_one_is_kept(both: Both, rhythms: tuple[str, str]) -> None:
    ours = await subscribed(both[0])
    for slot in range(0, 16, 2):
        key = f"{ours.channel} {slot}"
        at = replace(ours, channel=key)
        await both[0].ledger.open_occurrences([occurrence(at, slot=each) for each in (slot, slot + 1)], ours, NOW + DAY)
        asked = [
            closing(store, at, dated(rhythm=rhythm), slot + number)
            for number, (store, rhythm) in enumerate(zip(both, rhythms, strict=True))
        ]
        assert sorted(await at_once(*asked), key=bool) == [None, True]
        assert len(await both[0].digests.past("T1", key)) == 1
    assert len(await both[0].ledger.occurrences(NOW)) == 8  # to be made anew


async def test_a_digest_waits_until_another_of_its_channel_is_kept_and_sees_it_then(both: Both, postgres: str) -> None:
    ours = await subscribed(both[0])
    await opened(both[0], ours, (0, 1))
    async with await psycopg.AsyncConnection.connect(postgres) as held:
        await both[0].digests.save("T1", "elsewhere", dated(), NOW)  # of another channel it waits for nobody
        await held.execute(_HOLD, [f"channel\x1fT1\x1f{ours.channel}".encode()])
        task = asyncio.create_task(closing(both[0], ours, dated()))
        await until_waiting(postgres, task)
        await held.rollback()
    assert await task
    with pytest.raises(Conflict):
        await closing(both[1], ours, dated(), slot=1)
    assert await closing(both[1], ours, dated(follows=1, through=2, entries=()), slot=1)


_HOLD = "select pg_advisory_xact_lock(hashtextextended(encode(%s, 'hex'), 0))"


async def test_a_digest_that_is_taken_back_and_the_next_one_leave_no_arrival_out(both: Both) -> None:
    for number in range(8):
        ours = await subscribed(both[0], f"s{number}")
        await opened(both[0], ours, (0, 1))
        assert await closing(both[0], ours, dated())
        (pending,) = await both[0].ledger.deliveries("T1", channel=ours.channel)
        failed = replace(await taken(both[0], pending), state=DeliveryState.FAILED, lease_until=None, reason="Closed.")
        later = dated(follows=1, through=2, entries=())
        recorded, kept = await at_once(
            both[0].ledger.record(failed, unposted=True), closing(both[1], ours, later, slot=1, at=NOW + MINUTE)
        )
        assert recorded
        assert await both[0].digests.posted("T1", ours.channel) == frozenset()
        back = await both[1].digests.unposted("T1", ours.channel, "kv")
        assert back is not None
        assert back.begins == Position(0, NOW - DAY)
        assert len(await both[0].digests.past("T1", ours.channel)) == (1 if kept else 0)


# --- what ends


async def test_nothing_waits_for_a_subscription_that_was_deleted_whatever_came_in_between(both: Both) -> None:
    first, second = both
    for number in range(12):
        ours = await subscribed(first, f"s{number}")
        await opened(first, ours, (0,))
        (pending,) = await made(first, ours, slot=1)
        held = await taken(first, pending)
        back = replace(held, state=DeliveryState.PENDING, lease_until=None, next_at=NOW + MINUTE)
        await at_once(
            second.workspaces.delete_subscription(ours, change()),
            first.ledger.record(back),
            first.ledger.open_occurrences([occurrence(ours, slot=2)], ours, NOW + DAY),
            closing(second, ours, dated()),
            first.ledger.open_on_request(occurrence(ours, slot=3)),
        )
    assert await first.ledger.occurrences(NOW + DAY) == []
    assert await first.ledger.due_deliveries(NOW + DAY) == []
    counts = await second.ledger.counts()
    assert (counts["due"], counts["pending"]) == (0, 0)
    ended = await first.ledger.deliveries("T1", limit=100)
    assert {each.reason for each in ended if each.state is DeliveryState.EXPIRED} == {UNSUBSCRIBED}


async def test_what_cannot_be_read_stops_no_others_and_is_told(
    both: Both, postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    come = await waiting(both, 6)
    damaged = f"data = '[' where id in ('{come[0].id}', '{come[1].id}')"
    await executed(postgres, f"update deliveries set {damaged}")
    with caplog.at_level(logging.ERROR):
        found = await both[0].ledger.due_deliveries(NOW, limit=2)
    assert found == come[2:4]
    assert "rows of the ledger that cannot be read are passed over: 2" in caplog.text


# --- how much is looked at


async def test_what_waits_is_found_by_as_many_looks_among_many_rows_as_among_few(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (store, other):
        ours = await subscribed(store, workspace="slack:T1")
        await made(store, ours)
        await opened(store, ours, (1,))
        counting = Counting(postgres)
        other.lanes.connections = counting
        await counting.open()
        looked_at: dict[str, list[int]] = {}
        for many in (400, 20_000):
            await executed(postgres, *(each.format(many=many) for each in _MANY))
            for lane in ("", "slack:3"):
                ledger = other.lanes.ledger(lane)
                for read in (ledger.due_deliveries, ledger.occurrences, ledger.unsettled_deliveries):
                    await read(NOW, limit=20)
                    looked_at.setdefault(f"{lane} {read.__name__}", []).append(counting.looked_at)
        await counting.close()
    assert {name: (few, lots) for name, (few, lots) in looked_at.items() if lots > 2 * few + 50} == {}


_CLONES = "from generate_series(1, {many}) as n cross join (select * from {table} where subscription = 's1' limit 1) as one"
_MANY = (
    "delete from deliveries where subscription <> 's1'",
    "delete from occurrences where subscription <> 's1'",
    "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, lease_until, data)"
    " select 'slack:T' || (n % 20), 'd' || n, 'x' || n, day, slot, part, channel, due + n,"
    " case when n % 4 = 0 then 'done' else 'pending' end, next_at, null, data " + _CLONES.replace("{table}", "deliveries"),
    "insert into occurrences (workspace, subscription, day, slot, channel, due, state, data)"
    " select 'slack:T' || (n % 20), 'x' || n, day, slot, channel, due + n,"
    " case when n % 4 = 0 then 'made' else 'due' end, data " + _CLONES.replace("{table}", "occurrences"),
    "vacuum analyze",
)
