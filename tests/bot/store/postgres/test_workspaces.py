"""What workspaces settle, written by two processes at once: one of two writers wins, and nothing is half there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

from bot.errors import Conflict, StoreError
from bot.models import (
    MOST_FEEDS,
    AssistantAccess,
    AssistantToken,
    Change,
    FeedAccess,
    OccurrenceState,
    Preferences,
    Saved,
    Topic,
)
from bot.ports.ledger import Planned
from bot.store.postgres.store import PostgresStore
from bot.store.postgres.workspaces import PostgresWorkspaces
from tests.bot.store.postgres.opened import Counting, executed, two, until_waiting
from tests.conftest import NOW
from tests.contract import made
from tests.contract.made import KEYS, change, subscription
from tests.contract.test_ledger import occurrence

T = TypeVar("T")

DAY = timedelta(days=1)
PLAIN = Topic(name="kv", title="KV")
Both = tuple[PostgresStore, PostgresStore]


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def at_once(asked: Iterable[Awaitable[T]]) -> list[T | None]:
    """Return what each got, None for a conflict."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, Conflict):
            raise each
    return [None if isinstance(each, BaseException) else each for each in found]


async def audit(store: PostgresStore) -> list[Change]:
    return list(await store.workspaces.changes("T1", limit=1000))


async def test_of_two_processes_that_write_a_topic_over_the_same_revision_one_wins(both: Both) -> None:
    for replaces in range(4):
        asked = [
            store.workspaces.save_topic("T1", replace(PLAIN, title=f"{replaces} {n}"), change(), replaces=replaces)
            for n in range(6)
            for store in both
        ]
        (won,) = filter(None, await at_once(asked))
        assert await both[0].workspaces.topics("T1") == await both[1].workspaces.topics("T1") == {"kv": won}
        assert won.revision == replaces + 1
    assert len(await audit(both[0])) == 4


async def test_of_two_processes_that_delete_and_change_a_topic_one_wins(both: Both) -> None:
    for _ in range(5):
        await both[0].workspaces.save_topic("T1", PLAIN, change(), replaces=0)

        async def deleted() -> bool:
            await both[0].workspaces.delete_topic("T1", "kv", change(), replaces=1)
            return True

        async def changed() -> bool:
            await both[1].workspaces.save_topic("T1", PLAIN, change(), replaces=1)
            return True

        won = await at_once([deleted(), changed()])
        assert sorted(won, key=bool) == [None, True]
        left = await both[1].workspaces.topics("T1")
        assert bool(left) is bool(won[1])
        for topic in left.values():
            await both[0].workspaces.delete_topic("T1", "kv", change(), replaces=topic.revision)


async def test_a_channel_gets_one_subscription_whoever_subscribes_it_at_once(both: Both) -> None:
    asked = [
        store.workspaces.save_subscription(replace(subscription(), id=f"s{n}{m}"), change(), replaces=0)
        for n in range(5)
        for m, store in enumerate(both)
    ]
    (won,) = filter(None, await at_once(asked))
    assert await both[0].workspaces.subscriptions("T1") == [won]
    assert len(await audit(both[0])) == 1


async def test_a_topic_that_goes_only_unused_waits_for_who_subscribes_to_it_just_now(both: Both, postgres: str) -> None:
    await both[0].workspaces.save_topic("T1", PLAIN, change(), replaces=0)
    of = subscription(topic="kv")
    async with await psycopg.AsyncConnection.connect(postgres) as db:
        # The row of a topic is not what they have in common: a pack's topic has none.
        job = PostgresWorkspaces.save_subscription.__wrapped__  # type: ignore[attr-defined]
        await job(both[1].workspaces, db, of, change(), replaces=0)
        deleting = both[0].workspaces.delete_topic("T1", "kv", change(), replaces=1, only_unused=True)
        task = asyncio.create_task(deleting)
        await until_waiting(postgres, task)
        await db.commit()
    with pytest.raises(Conflict, match="subscribed to kv in between"):
        await task
    assert list(await both[0].workspaces.topics("T1")) == ["kv"]


async def test_nothing_is_due_for_a_subscription_that_ended_while_its_occurrence_was_opened(both: Both) -> None:
    for number in range(12):
        of = await both[0].workspaces.save_subscription(subscription(id=f"s{number}"), change(), replaces=0)
        await asyncio.gather(
            both[0].ledger.open_occurrences([occurrence(of)], of, NOW + DAY),
            both[1].workspaces.delete_subscription(of, change()),
        )
    left = await both[0].ledger.occurrences(NOW + DAY)
    assert [each for each in left if each.state is OccurrenceState.DUE] == []


async def test_a_topic_that_goes_while_all_its_occurrences_are_opened_leaves_nothing_due(both: Both) -> None:
    for number in range(4):
        await both[0].workspaces.save_topic("T1", PLAIN, change(), replaces=0)
        found = [
            await both[0].workspaces.save_subscription(
                subscription(channel=f"C{n}", id=f"s{number} {99 - n}"), change(), replaces=0
            )
            for n in range(20)
        ]
        planned = [Planned(of, (occurrence(of),), NOW + DAY) for of in found]
        await asyncio.gather(
            both[0].ledger.open_planned(planned), both[1].workspaces.delete_topic("T1", "kv", change(), replaces=1)
        )
    assert await both[0].ledger.occurrences(NOW + DAY) == []
    assert await both[1].workspaces.subscriptions("T1") == []


async def test_a_subscription_keeps_the_id_that_another_place_has_to_itself(both: Both) -> None:
    await both[0].workspaces.save_subscription(subscription(id="s1"), change(), replaces=0)
    with pytest.raises(StoreError, match="another channel, topic or rhythm"):
        await both[1].workspaces.save_subscription(subscription(id="s1", channel="C9"), change(), replaces=0)


async def test_settings_are_changed_by_one_of_those_who_have_read_the_same(both: Both) -> None:
    read = Preferences()
    for round_ in range(4):
        settled = [Preferences(entries=1 + 4 * round_ + n) for n in range(4)]

        async def settle(store: PostgresStore, wanted: Preferences, read: Preferences = read) -> Preferences:
            await store.workspaces.save_preferences("T1", wanted, change(), replaces=read)
            return wanted

        (won,) = filter(None, await at_once(settle(both[n % 2], wanted) for n, wanted in enumerate(settled)))
        read = await both[0].workspaces.preferences("T1")
        assert read == won
    assert len(await audit(both[1])) == 4


async def test_what_a_person_says_at_two_processes_at_once_is_said_once(both: Both) -> None:
    said = made.said()
    assert sum(await asyncio.gather(*(store.people.save_feedback(said, change()) for store in both * 5))) == 1
    assert len(await audit(both[0])) == 1
    assert sum(await asyncio.gather(*(store.people.drop_feedback([said], change()) for store in both * 5))) == 1
    assert len(await audit(both[0])) == 2


async def test_the_same_that_is_dropped_at_once_in_other_orders_is_dropped_once(both: Both) -> None:
    said = [made.said(person=f"U{n}") for n in range(30)]
    for each in said:
        await both[0].people.save_feedback(each, change())
    dropped = await asyncio.gather(
        both[0].people.drop_feedback(said, change()), both[1].people.drop_feedback(said[::-1], change())
    )
    assert sorted(dropped) == [0, 30]


async def test_what_counts_in_a_channel_is_saved_whatever_two_processes_do_at_once(both: Both, postgres: str) -> None:
    for _ in range(8):
        await asyncio.gather(
            *(store.people.save_item("T1", "U1", Saved(KEYS[0], NOW), channel="C1") for store in both),
            *(store.people.unsave_item("T1", "U1", KEYS[0]) for store in both),
        )
        here = await both[0].people.saved_in("T1", "C1")
        assert [each.key for each in await both[1].people.saved("T1", "U1")] == [each.key for each in here]


async def test_a_person_gets_no_more_tokens_of_feeds_than_there_may_be(both: Both) -> None:
    access = FeedAccess(hashed="", platform="slack", workspace="T1", person="U1", channel="C1", made_at=NOW)
    asked = [both[n % 2].people.allow_feeds(replace(access, hashed=f"h{n}")) for n in range(MOST_FEEDS * 2)]
    assert sum(await asyncio.gather(*asked)) == MOST_FEEDS
    assert await both[0].people.revoke_feeds("T1", "U1") == MOST_FEEDS


async def test_an_assistants_name_is_given_once_and_ended_once(both: Both) -> None:
    access = AssistantAccess(workspace="T1", channel="C1", person="U1", may_write=False)
    for _ in range(3):
        tokens = [AssistantToken(name="a", hashed=f"h{n}", access=access, made_at=NOW) for n in range(8)]
        given = await asyncio.gather(*(both[n % 2].assistants.allow(each) for n, each in enumerate(tokens)))
        assert sum(given) == 1
        (held,) = await both[0].assistants.every()
        assert await both[1].assistants.by_hash(held.hashed) == tokens[given.index(True)]
        assert sum(await asyncio.gather(*(store.assistants.revoke("a", NOW) for store in both * 4))) == 1


# --- what is damaged, what is odd, and what is looked at


async def test_settings_that_cannot_be_read_hold_up_no_other_workspace(both: Both, postgres: str) -> None:
    for workspace in ("T1", "T2"):
        await both[0].workspaces.save_preferences(workspace, Preferences(public=("C1",)), change(workspace=workspace))
    await executed(postgres, """update preferences set data = '{"public":' where workspace = 'T1'""")
    assert await both[0].workspaces.public() == {"T2": ("C1",)}
    found = await both[0].workspaces.preferences_of(["T1", "T2", "T3"])
    assert found == {"T2": Preferences(public=("C1",)), "T3": Preferences()}
    with pytest.raises(StoreError, match="damaged"):
        await both[0].workspaces.preferences("T1")


async def test_half_of_a_character_is_refused_where_it_cannot_be_kept_and_leaves_nothing(both: Both) -> None:
    with pytest.raises(StoreError, match="half of a character"):
        await both[0].workspaces.save_topic("T1", PLAIN, change("topic \ud83d"), replaces=0)
    with pytest.raises(StoreError, match="half of a character"):
        await both[0].people.save_item("T1", "U\ud83d", Saved(KEYS[0], NOW))
    assert await both[0].workspaces.topics("T1") == {}


_CHANGES = """
    insert into changes (workspace, at, what, data)
    select 'T' || mod(n, 3), n, convert_to('topic t' || mod(n, 1000), 'UTF8'),
        '{"workspace":"T","at":"2026-04-01T07:00:00+00:00","person":"U1","what":"topic","before":"","after":""}'
    from generate_series(1, %s) as n
"""


async def test_of_thousands_of_changes_and_settings_only_those_asked_for_are_looked_at(both: Both, postgres: str) -> None:
    counting = Counting(postgres, most=1)
    await counting.open()
    workspaces, looked = PostgresWorkspaces(counting), list[list[int]]()
    for many in (500, 40_000):
        await executed(
            postgres,
            "truncate changes, preferences",
            _CHANGES % many,
            f"insert into preferences select 'P' || n, '{{}}' from generate_series(1, {many}) as n",
            """insert into preferences values ('T1', '{"public":["C1"]}')""",
            "vacuum (analyze) changes, preferences",
        )
        looked.append([])
        assert len(await workspaces.changes("T1", limit=10)) == 10
        looked[-1].append(counting.looked_at)
        assert await workspaces.changes("T1", about="topic t7", limit=10)
        looked[-1].append(counting.looked_at)
        assert len(await workspaces.changes("T1", about="topic", limit=10)) == 10
        assert await workspaces.public() == {"T1": ("C1",)}
        looked[-1].append(counting.looked_at)
    await counting.close()
    few, many_ = looked
    assert all(later <= earlier * 2 + 40 for earlier, later in zip(few, many_, strict=True)), looked
