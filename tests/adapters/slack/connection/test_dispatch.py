"""What comes from Slack: acknowledged at once, done once."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from adapters.chat.seen import SeenEvents
from adapters.slack.connection.dispatch import Dispatcher, request_id, sent_since
from bot.ports.chats import Chats
from bot.store.sqlite.store import SqliteStore
from tests.adapters.slack.conftest import Room
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE
from tests.stores.memory import MemoryStore

COMMAND = {
    "command": "/digest",
    "text": "help",
    "team_id": "T0BROAD",
    "user_id": "U0ANNA",
    "channel_id": "C1",
    "trigger_id": "1.2",
}
EVENT = {
    "type": "event_callback",
    "team_id": "T0BROAD",
    "event_id": "Ev1",
    "event": {"type": "app_home_opened", "user": "U0ANNA", "channel": "D1", "tab": "home"},
}
SUBMISSION = {
    "type": "view_submission",
    "team": {"id": "T0BROAD"},
    "user": {"id": "U0ANNA", "team_id": "T0BROAD"},
    "trigger_id": "3.4",
    "view": {"id": "V1", "callback_id": "topic", "type": "modal"},
}


def request(body: dict[str, Any]) -> AsyncBoltRequest:
    return AsyncBoltRequest(mode="socket_mode", body=body)


def door(room: Room, now: datetime, chats: Chats | None = None, **values: Any) -> Dispatcher:
    return Dispatcher(room.app, SeenEvents("slack", chats or room.store.chats, lambda: now, **values), lambda: now)


@asynccontextmanager
async def busy(folder: Path) -> AsyncIterator[tuple[SqliteStore, Callable[[], Awaitable[None]]]]:
    """A database in which somebody else is writing, until the second of the pair is called."""
    store = SqliteStore(folder / "store.sqlite3")
    await store.open()
    writer = await asyncio.to_thread(
        sqlite3.connect, folder / "store.sqlite3", isolation_level=None, check_same_thread=False
    )
    await asyncio.to_thread(writer.execute, "BEGIN IMMEDIATE")

    async def done() -> None:
        await asyncio.to_thread(writer.rollback)

    try:
        yield store, done
    finally:
        await asyncio.to_thread(writer.close)
        await store.close()


async def test_a_command_is_acknowledged_before_its_listener_has_ended(room: Room, now: datetime) -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @room.app.command("/digest")
    async def listener(ack: Any) -> None:
        await ack()
        begun.set()
        await go_on.wait()
        done.set()

    taken = door(room, now)
    response = await taken.dispatch(request(COMMAND))
    assert (response.status, response.body) == (200, "")
    await begun.wait()
    assert not done.is_set()
    go_on.set()
    await taken.close()
    assert done.is_set()


@pytest.mark.parametrize("body", [COMMAND, EVENT], ids=["command", "event"])
async def test_what_comes_again_is_done_once_also_after_a_restart(room: Room, now: datetime, body: dict[str, Any]) -> None:
    heard: list[str] = []

    @room.app.command("/digest")
    @room.app.event("app_home_opened")
    async def listener(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        heard.append(body["team_id"])

    first = door(room, now)
    for _ in range(3):
        assert (await first.dispatch(request(body))).status == 200
    await first.close()
    second = door(room, now)
    await second.dispatch(request(body))
    await second.close()

    assert heard == ["T0BROAD"]


async def test_a_busy_database_delays_neither_the_acknowledgement_nor_for_long_the_work(
    room: Room, now: datetime, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = asyncio.Semaphore(0)

    @room.app.command("/digest")
    async def listener(ack: Any) -> None:
        await ack()
        heard.release()

    async with busy(tmp_path) as (store, done):
        taken = door(room, now, store.chats, patience=0.2)
        for trigger in ("1.2", "1.3", "1.4"):
            assert (await taken.dispatch(request({**COMMAND, "trigger_id": trigger}))).status == 200
            await asyncio.wait_for(heard.acquire(), PATIENCE)
        await done()
        await taken.close()
        assert not await store.chats.first_time("slack", request_id(COMMAND), now)  # noted in the end

    assert caplog.text.count("the database is busy") == 1


async def test_what_happened_since_the_start_waits_for_no_database(room: Room, now: datetime, tmp_path: Path) -> None:
    heard = asyncio.Event()

    @room.app.event("app_home_opened")
    async def listener() -> None:
        heard.set()

    async with busy(tmp_path) as (store, done):
        taken = door(room, now, store.chats, patience=3600.0)
        await taken.dispatch(request({**EVENT, "event_time": int(now.timestamp()) + 120}))
        await asyncio.wait_for(heard.wait(), PATIENCE)
        await done()
        await taken.close()


@pytest.mark.parametrize(
    ("body", "age"),
    [
        ({"event_id": "Ev1", "event_time": int(NOW.timestamp()) - 7}, timedelta(seconds=7)),
        ({"event_id": "Ev1"}, timedelta(days=1)),
        ({"event_id": "Ev1", "event_time": "soon"}, timedelta(days=1)),
        ({"event_id": "Ev1", "event_time": 10**30}, timedelta(days=1)),
        (COMMAND, timedelta(minutes=15)),
    ],
)
def test_what_does_not_say_its_time_may_be_as_old_as_slack_repeats_it(body: dict[str, Any], age: timedelta) -> None:
    assert sent_since(body, NOW) == NOW - age


async def test_a_dialogue_is_answered_with_what_its_listener_says_while_that_goes_on(room: Room, now: datetime) -> None:
    go_on, done = asyncio.Event(), asyncio.Event()

    @room.app.view("topic")
    async def listener(ack: Any) -> None:
        await ack(response_action="errors", errors={"query": "There is no field like that."})
        await go_on.wait()
        done.set()

    taken = door(room, now)
    response = await taken.dispatch(request(SUBMISSION))
    assert "There is no field" in str(response.body)
    assert not done.is_set()
    go_on.set()
    await taken.close()
    assert done.is_set()


async def test_options_are_asked_for_as_often_as_somebody_types(room: Room, now: datetime) -> None:
    body = {
        "type": "block_suggestion",
        "action_id": "zone",
        "value": "Zur",
        "team": {"id": "T0BROAD"},
        "user": {"id": "U0ANNA"},
    }

    @room.app.options("zone")
    async def listener(ack: Any, payload: dict[str, Any]) -> None:
        await ack(options=[{"text": {"type": "plain_text", "text": "Zurich"}, "value": payload["value"]}])

    taken = door(room, now)
    answers = [str((await taken.dispatch(request(body))).body) for _ in range(2)]
    await taken.close()

    assert all("Zurich" in answer for answer in answers)


async def test_a_listener_that_fails_is_logged_and_reaches_nobody_else(
    room: Room, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    @room.app.command("/digest")
    async def listener() -> None:
        raise ValueError("a fault of ours")

    taken = door(room, now)
    assert (await taken.dispatch(request(COMMAND))).status == 200
    await taken.close()

    assert "a fault of ours" in caplog.text


async def test_who_takes_too_long_at_the_end_is_cut_off(room: Room, now: datetime) -> None:
    @room.app.command("/digest")
    async def listener() -> None:
        await asyncio.Event().wait()

    taken = door(room, now)
    await taken.dispatch(request(COMMAND))
    await asyncio.wait_for(taken.close(grace=0.05), PATIENCE)


async def test_where_it_is_not_installed_nobody_is_heard(
    room: Room, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []

    @room.app.command("/digest")
    async def listener() -> None:
        heard.append("")

    taken = door(room, now)
    assert (await taken.dispatch(request({**COMMAND, "team_id": "T0OTHER"}))).status == 200
    await taken.close()

    assert heard == []
    assert "not installed" in caplog.text


async def test_that_slack_holds_events_back_is_said_in_the_log(
    room: Room, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        response = await door(room, now).dispatch(request({"type": "app_rate_limited", "team_id": "T0BROAD"}))

    assert response.status == 200
    assert "holds events back" in caplog.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EVENT, {**EVENT, "event_id": "Ev2"}),
        (COMMAND, {**COMMAND, "trigger_id": "1.3"}),
        ({**SUBMISSION, "type": "block_actions"}, SUBMISSION),
        (
            {"type": "view_closed", "view": {"id": "V1", "hash": "a"}},
            {"type": "view_closed", "view": {"id": "V1", "hash": "b"}},
        ),
    ],
)
def test_different_things_have_different_names(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert request_id(one) != request_id(other)
    assert request_id(one) == request_id(dict(one)) != ""


async def test_what_was_met_a_day_ago_is_new(now: datetime) -> None:
    store = MemoryStore()
    later, much_later = now + timedelta(hours=23, minutes=59), now + timedelta(days=2)
    assert await SeenEvents("slack", store.chats, lambda: now).is_first("event:Ev1", now)

    assert not await SeenEvents("slack", store.chats, lambda: later).is_first("event:Ev1", now)
    assert await SeenEvents("slack", store.chats, lambda: much_later).is_first("event:Ev1", now)


async def test_what_another_process_met_since_this_one_began_is_known_where_several_hear() -> None:
    store, begun = MemoryStore(), NOW
    here, there = [SeenEvents("slack", store.chats, lambda: begun, is_shared=True) for _ in range(2)]
    alone = SeenEvents("slack", store.chats, lambda: begun)
    sent = begun + timedelta(minutes=5)
    assert await here.is_first("event:Ev1", sent)
    assert not await there.is_first("event:Ev1", sent)
    assert await alone.is_first("event:Ev1", sent), "by itself it can only have been met before it began"
    await alone.settle()
