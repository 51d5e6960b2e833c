"""What stands in channels is kept for a while to be edited, and shows as much as people of its channel pressed."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.models import (
    Delivery,
    DeliveryState,
    Feedback,
    Item,
    Kind,
    OccurrenceState,
    Preferences,
    Presses,
    Saved,
    StandingMessage,
)
from tests.bot.deliveries import change, occurrence, subscription
from tests.conftest import NOW
from tests.fakes.transcript import delivery
from tests.stores import AnyStore

UNTIL, LEASE = NOW + timedelta(days=3), timedelta(minutes=1)
KEYS = ("arxiv:1", "github:o/n")
PAYLOAD = json.dumps({"text": "half \ud83d of a character", "keys": [["arxiv:1"], ["github:o/n"]]})
IN = NOW + timedelta(minutes=1)


async def stand(store: AnyStore, number: int = 1, *, until: datetime | None = UNTIL, **changes: Any) -> Delivery:
    """Let a delivery be posted to the n-th channel, and return it as it was before."""
    made = delivery(number, now=NOW, **{"payload": PAYLOAD, "made_at": NOW, **changes})
    await settle(store, activity=True)
    of = subscription(number, workspace=made.workspace, topic=made.topic)
    of = await store.workspaces.save_subscription(of, change(made.workspace), replaces=0)
    due = occurrence(of)
    await store.ledger.open_occurrences([due], of, NOW + timedelta(days=1))
    assert await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[made])
    held = await store.ledger.claim(made, NOW, LEASE)
    assert held is not None
    done = replace(held, state=DeliveryState.DONE, message=f"m{number}")
    assert await store.ledger.record(done, edited_until=until)
    return done


async def settle(store: AnyStore, *, activity: bool) -> None:
    await store.workspaces.save_preferences("chat:T1", Preferences(activity=activity), change())


async def says(
    store: AnyStore, key: str = KEYS[0], *, person: str = "U1", channel: str = "C1", more: bool = True, **changes: Any
) -> None:
    said: dict[str, Any] = {"workspace": "chat:T1", "topic": "kv", "at": IN} | changes
    await store.people.save_feedback(Feedback(person=person, key=key, more=more, channel=channel, **said), change())


async def saves(store: AnyStore, key: str = KEYS[0], person: str = "U1", channel: str = "C1", at: datetime = IN) -> None:
    await store.people.save_item("chat:T1", person, Saved(key, at), channel=channel)


async def to_edit(store: AnyStore, now: datetime = IN) -> list[StandingMessage]:
    return list(await store.outbox.messages_to_edit(now))


async def test_a_message_of_which_nothing_was_pressed_is_not_to_be_edited(store: AnyStore) -> None:
    await stand(store)
    assert await to_edit(store) == []


async def test_what_was_pressed_is_told_with_all_that_the_message_says(store: AnyStore) -> None:
    posted = await stand(store, if_late="late")
    await says(store)
    await says(store, KEYS[1])
    await says(store, person="U2")
    for key in KEYS:
        await saves(store, key, "U3")
    (found,) = await to_edit(store)

    assert (found.pressed, found.shown, found.edits) == (Presses(2, 1), Presses(), 0), "people, not presses"
    assert (found.keys, found.since, found.until) == (KEYS, NOW, UNTIL)
    assert found.delivery == replace(posted, payload=PAYLOAD, if_late="late", lease_until=found.delivery.lease_until)
    assert (await store.ledger.deliveries("chat:T1"))[0].payload == "", "the ledger says it no more"


async def test_only_what_is_said_of_its_items_in_its_channel_for_its_topic_since_it_was_made_counts(store: AnyStore) -> None:
    await stand(store)
    await says(store, "arxiv:2")
    await says(store, person="U2", channel="C2")
    await says(store, person="U3", topic="moe")
    await says(store, person="U4", at=NOW - timedelta(seconds=1))
    await says(store, person="U5", workspace="chat:T2")
    await says(store, person="U6", more=False)
    await saves(store, "arxiv:2")
    await saves(store, person="U2", channel="C2")
    await saves(store, person="U3", channel="")
    await saves(store, person="U4", at=NOW - timedelta(seconds=1))
    assert await to_edit(store) == []


async def test_what_is_taken_back_counts_no_more(store: AnyStore) -> None:
    await stand(store)
    await says(store)
    await saves(store)
    (found,) = await to_edit(store)
    shown = replace(found, shown=found.pressed, edits=1)
    assert await store.outbox.update_message(shown, replaces=found)
    assert await to_edit(store) == []
    await says(store, more=False)
    await store.people.unsave_item("chat:T1", "U1", KEYS[0])
    (found,) = await to_edit(store)
    assert (found.pressed, found.shown, found.edits) == (Presses(), Presses(1, 1), 1)


async def test_an_item_that_was_renamed_is_what_it_was(store: AnyStore) -> None:
    await stand(store)
    await store.items.add([Item(key=KEYS[0], kind=Kind.PAPER, title="Old")], NOW)
    await says(store)
    await store.items.add([Item(key="doi:1", kind=Kind.PAPER, title="New", aliases=(KEYS[0],))], IN, retired=[KEYS[0]])
    await says(store, "doi:1", person="U2")
    await saves(store, "doi:1")
    assert [each.pressed for each in await to_edit(store)] == [Presses(2, 1)]


async def test_what_is_said_of_an_item_under_an_older_name_of_it_counts(store: AnyStore) -> None:
    payload = json.dumps({"keys": [["doi:1"]]})
    await store.items.add([Item(key=KEYS[0], kind=Kind.PAPER, title="Old")], NOW)
    renamed = Item(key="doi:1", kind=Kind.PAPER, title="New", aliases=(KEYS[0], "arxiv:2"))
    await store.items.add([renamed, Item(key="arxiv:2", kind=Kind.PAPER, title="Another")], NOW, retired=[KEYS[0]])
    await stand(store, payload=payload)
    await says(store)  # where somebody spoke of it before it was renamed, that is said anew
    await says(store, "doi:1", person="U2")
    await saves(store)
    await saves(store, "doi:1")
    await says(store, "arxiv:2", person="U3")  # which is an item of its own
    assert [each.pressed for each in await to_edit(store)] == [Presses(2, 1)]


async def test_an_item_that_is_listed_under_an_older_name_counts_under_every_name(store: AnyStore) -> None:
    await stand(store)
    renamed = Item(key="doi:1", kind=Kind.PAPER, title="New", aliases=(KEYS[0], "url:1"))
    await store.items.add([renamed], NOW)
    for number, key in enumerate((KEYS[0], "doi:1", "url:1", "url:2")):
        await says(store, key, person=f"U{number}")
    assert [each.pressed for each in await to_edit(store)] == [Presses(3)]


async def test_what_was_saved_before_counts_once_it_is_saved_again_below_the_message(store: AnyStore) -> None:
    await saves(store, at=NOW - timedelta(days=9))
    await stand(store)
    assert await to_edit(store) == []
    await saves(store)
    assert [each.pressed for each in await to_edit(store)] == [Presses(saved=1)]
    await saves(store, at=NOW - timedelta(days=1))  # by a clock that was set back
    assert [each.pressed for each in await to_edit(store)] == [Presses(saved=1)]


async def test_it_waits_for_its_time_ends_at_its_end_and_those_that_wait_longest_come_first(store: AnyStore) -> None:
    for number in (1, 2, 3):
        await stand(store, number, until=UNTIL + timedelta(hours=number))
        await says(store, channel=f"C{number}", person=f"U{number}")
    first, second, third = await to_edit(store)
    assert await store.outbox.update_message(replace(first, next_at=IN + timedelta(hours=2)), replaces=first)
    assert await store.outbox.update_message(replace(second, next_at=IN + timedelta(hours=1)), replaces=second)
    assert [each.delivery.id for each in await to_edit(store)] == [third.delivery.id]
    later = IN + timedelta(hours=2)
    order = [each.delivery.id for each in (third, second, first)]
    assert [each.delivery.id for each in await to_edit(store, later)] == order
    assert [each.delivery.id for each in await store.outbox.messages_to_edit(later, limit=2)] == order[:2]
    assert [each.delivery.id for each in await to_edit(store, UNTIL + timedelta(hours=2))] == order[:1]


async def test_workspaces_take_turns(store: AnyStore) -> None:
    await store.workspaces.save_preferences("chat:T2", Preferences(activity=True), change("chat:T2"))
    for number, workspace in ((1, "chat:T1"), (2, "chat:T1"), (3, "chat:T2"), (4, "chat:T2"), (5, "chat:T1")):
        await stand(store, number, workspace=workspace)
        await says(store, channel=f"C{number}", person=f"U{number}", workspace=workspace)
    assert [each.delivery.channel for each in await to_edit(store)] == ["C1", "C3", "C2", "C4", "C5"]
    assert [each.delivery.channel for each in await store.outbox.messages_to_edit(IN, limit=2)] == ["C1", "C3"]


async def test_what_a_clock_that_ran_ahead_put_off_waits_no_more(store: AnyStore) -> None:
    await stand(store)
    await says(store)
    (found,) = await to_edit(store)
    put_off = replace(found, next_at=IN + timedelta(days=1))
    assert await store.outbox.update_message(put_off, replaces=found)
    assert await to_edit(store) == []
    assert await store.outbox.update_message(replace(found, next_at=IN + timedelta(days=900)), replaces=put_off)
    assert len(await to_edit(store)) == 1


async def test_where_it_is_switched_off_each_is_given_as_one_of_which_nothing_was_pressed(store: AnyStore) -> None:
    for number in (1, 2):
        await stand(store, number)
        await says(store, channel=f"C{number}", person=f"U{number}")
    first, _ = await to_edit(store)
    assert await store.outbox.update_message(
        replace(first, shown=first.pressed, edits=1, next_at=IN + timedelta(minutes=1)), replaces=first
    )
    await settle(store, activity=False)
    assert [(each.delivery.channel, each.shown, each.pressed) for each in await to_edit(store)] == [
        ("C2", Presses(), Presses())
    ]
    later = IN + timedelta(minutes=1)
    assert [(each.shown, each.pressed) for each in await to_edit(store, later)] == [
        (Presses(), Presses()),
        (Presses(1), Presses()),
    ]
    await store.workspaces.save_preferences("chat:T2", Preferences(activity=True), change("chat:T2"))
    assert len(await to_edit(store, later)) == 2, "what another settled is its own"
    assert await to_edit(store, UNTIL) == []
    await settle(store, activity=True)
    assert [each.pressed for each in await to_edit(store, later)] == [Presses(1)]


async def test_what_is_left_is_kept_no_more_and_nothing_brings_it_back(store: AnyStore) -> None:
    await stand(store)
    await says(store)
    (found,) = await to_edit(store)
    assert await store.outbox.leave_message(found)
    assert not await store.outbox.update_message(replace(found, edits=1), replaces=found)
    assert not await store.outbox.leave_message(found)
    assert await to_edit(store) == []


async def test_who_read_a_message_before_another_edited_it_or_put_it_off_changes_nothing(store: AnyStore) -> None:
    await stand(store)
    await says(store)
    (found,) = await to_edit(store)
    for theirs in (replace(found, edits=1, shown=Presses(7)), replace(found, next_at=IN)):
        assert await store.outbox.update_message(theirs, replaces=found)
        assert not await store.outbox.update_message(replace(found, shown=Presses(8)), replaces=found)
        assert not await store.outbox.leave_message(found)
        (kept,) = await to_edit(store)
        assert (kept.edits, kept.next_at, kept.shown) == (theirs.edits, theirs.next_at, theirs.shown)
        assert await store.outbox.update_message(found, replaces=theirs)


async def test_it_is_kept_only_where_it_is_posted_lists_something_and_is_asked_for(store: AnyStore) -> None:
    await stand(store, until=None)
    await stand(store, 2, payload="no list at all")
    await stand(store, 3, payload=json.dumps({"keys": []}))
    await stand(store, 4, payload=json.dumps({"keys": [], "listed": [["arxiv:1"]]}))
    for number in (1, 2, 3, 4):
        await says(store, channel=f"C{number}", person=f"U{number}")
    assert [each.delivery.channel for each in await to_edit(store)] == ["C4"]
    await store.maintenance.prune(items_before=NOW, readings_before=NOW.date(), now=UNTIL)
    assert await to_edit(store) == []
