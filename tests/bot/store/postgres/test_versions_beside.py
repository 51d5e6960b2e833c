"""Records of another version in one database: what is spelt otherwise is worked on, what is not known is left as it is."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.models import (
    Change,
    Delivery,
    DeliveryState,
    Digest,
    Entry,
    Item,
    LeftOut,
    Notice,
    Occurrence,
    OccurrenceState,
    Preferences,
    Ranked,
    Refusal,
    Release,
    SourceState,
    Subscription,
    Summary,
    Topic,
)
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import executed, two
from tests.conftest import NOW
from tests.contract.test_ledger import DAY, LEASE, occurrence, part, subscribed

KEPT = (
    *(Change, Delivery, Digest, Entry, Item, LeftOut, Notice, Occurrence, Preferences, Ranked, Refusal, Release),
    *(SourceState, Subscription, Summary, Topic),
)
RULE = (
    "A process of the version before cannot read a record that has a field more. Let one version read the new field and"
    " write it nowhere, and the next one write it; or add a step whose oldest_reader is its own number, and say in the"
    " changelog that all processes are to be stopped first. Then note the fields in kept_fields.txt."
)


async def posting(store: PostgresStore) -> Delivery:
    of = await subscribed(store)
    due = occurrence(of)
    await store.ledger.open_occurrences([due], of, NOW + DAY)
    assert await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[part(due)])
    (found,) = await store.ledger.due_deliveries(NOW)
    return found


async def test_what_another_version_spelt_otherwise_is_claimed_begun_and_recorded(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        given = await posting(one)
        await executed(postgres, "update deliveries set data = data::jsonb::text")
        held = await one.ledger.claim(given, NOW, LEASE)
        assert held is not None
        await executed(postgres, "update deliveries set data = data::jsonb::text")
        assert await one.ledger.begin(held)
        await executed(postgres, "update deliveries set data = data::jsonb::text")
        assert await one.ledger.record(replace(held, state=DeliveryState.DONE, message="m1"))
        assert await other.ledger.claim(given, NOW, LEASE) is None


async def test_what_a_newer_version_wrote_is_passed_over_and_nothing_of_it_is_lost(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        given = await posting(one)
        await executed(postgres, """update deliveries set data = left(data, -1) || ',"tone":"calm"}'""")
        assert await other.ledger.due_deliveries(NOW) == []
        with pytest.raises(StoreError):
            await other.ledger.claim(given, NOW, LEASE)
        await other.ledger.release(NOW - DAY)
        await executed(postgres, """update deliveries set data = replace(data, ',"tone":"calm"', '')""")
        assert await one.ledger.claim(given, NOW, LEASE) is not None


def test_no_record_has_a_field_more_that_the_version_before_cannot_read() -> None:
    noted = (Path(__file__).parent / "kept_fields.txt").read_text("utf-8")
    found = "".join(f"{kind.__name__}: {' '.join(field.name for field in dataclasses.fields(kind))}\n" for kind in KEPT)
    assert found == noted, RULE
