"""A store with something in every table of it."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from bot.models import (
    DeliveryState,
    Installation,
    Occurrence,
    OccurrenceState,
    Preferences,
    Saved,
    SourceState,
    Summary,
    Suppression,
    Topic,
)
from bot.models.vectors import pack
from bot.query import parse
from tests.bot import deliveries
from tests.conftest import NOW
from tests.contract import test_assistants, test_feeds, test_outbox, test_recipients, test_standing_messages
from tests.contract.made import FULL_TOPIC, KEYS, change, digest, paper, said
from tests.contract.records import records
from tests.contract.test_ledger import DAY, occurrence, part, subscribed
from tests.stores import AnyStore

SPACE = "a space of two"
_LEASE = timedelta(minutes=1)


async def filled(store: AnyStore) -> None:
    """Let something of everything be stored, with texts that are hard to keep."""
    await _items(store)
    await _people(store)
    await _ledger(store)
    await _rest(store)


async def _items(store: AnyStore) -> None:
    many = [paper(number, aliases=(f"doi:10.1/{number}",), upvotes=number) for number in range(700)]
    await store.items.add([*records(), *many], NOW, state=SourceState(name="arxiv", watermark="a \ud83d"))
    some = [paper(number) for number in range(40)]
    packed = pack(np.array([[1.0, number] for number in range(40)], np.float32))
    await store.vectors.save(SPACE, some, packed, quick=False)
    await store.items.add([replace(paper(900), aliases=(paper(3).key,))], NOW, retired=[paper(3).key, paper(4).key])


async def _people(store: AnyStore) -> None:
    await store.workspaces.save_topic("T1", replace(FULL_TOPIC, revision=0), change(), replaces=0)
    await store.workspaces.save_topic("T1", Topic(name="kv", title="KV", query=parse("kv")), change(), replaces=0)
    await store.people.save_feedback(said(), change())
    await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW), channel="C1", link="https://chat.example/1")
    await store.people.allow_feeds(test_feeds.ADA)
    await store.assistants.allow(test_assistants.DESK)
    await test_recipients.confirmed(store)
    await store.recipients.ask(test_recipients.asks(person="U2", code="waits"))
    await store.recipients.suppress("else@lab.example", Suppression.COMPLAINED, NOW)
    await store.recipients.key()
    await store.chats.first_time("slack", "an event \ud83d \x00", NOW)
    await store.chats.keep_texts("T1", ["a long text \ud83d \x00"], NOW)
    await store.chats.save_installation(
        Installation(platform="slack", place="T1", sealed=b"\x00sealed", made_by="U1", at=NOW)
    )


async def _ledger(store: AnyStore) -> None:
    of = await subscribed(store)
    due = occurrence(of)
    await store.ledger.open_occurrences([due, *_later(due)], of, NOW + DAY)
    made = replace(digest(0.5, 0.4), subscription=of.id)
    parts = [part(due, number, 2) for number in (1, 2)]
    closed = replace(due, state=OccurrenceState.MADE)
    assert await store.ledger.close_occurrence(closed, NOW, digest=made, deliveries=parts)
    held = await store.ledger.claim(parts[0], NOW, _LEASE)
    assert held is not None
    await store.ledger.record(replace(held, state=DeliveryState.DONE, message="m1", link="https://chat.example/m1"))
    # One whose digest is dropped, and messages that may be edited, and are to be published.
    for number, state in enumerate((DeliveryState.DONE, DeliveryState.FAILED), start=5):
        await _posted(store, number, state)
    await test_standing_messages.stand(store, 8, publishes=True)
    await store.outbox.add_notices([test_outbox.notice(), test_outbox.notice("U2")])
    await store.outbox.add_refusal(test_outbox.REFUSAL)


def _later(due: Occurrence) -> list[Occurrence]:
    return [replace(due, slot=slot, due=NOW + DAY, next_at=NOW + DAY) for slot in (1, 2)]


async def _posted(store: AnyStore, number: int, state: DeliveryState) -> None:
    of = await store.workspaces.save_subscription(deliveries.subscription(number), deliveries.change("chat:T1"), replaces=0)
    due = deliveries.occurrence(of)
    await store.ledger.open_occurrences([due], of, NOW + DAY)
    made, only = replace(digest(0.5, first=number), subscription=of.id, until=NOW), part(due, 1, 1, made_at=NOW)
    closed = replace(due, state=OccurrenceState.MADE)
    assert await store.ledger.close_occurrence(closed, NOW, digest=made, deliveries=[only])
    held = await store.ledger.claim(only, NOW, _LEASE)
    assert held is not None
    await store.ledger.record(replace(held, state=state, message=f"m{number}"), unposted=state is DeliveryState.FAILED)


async def _rest(store: AnyStore) -> None:
    await store.facts.set("a fact", "half \u2028 of")
    await store.summaries.save(paper(1).key, "a model", "d", Summary((), "abstract", "llm"), NOW)
    await store.summaries.spend(NOW.date(), 7)
    await store.workspaces.save_preferences("T1", Preferences(zone="Europe/Zurich", public=("C1",)), change())
