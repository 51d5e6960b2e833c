"""What is owed, told by two processes at once, damaged, and how much of it is looked at."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import Reach
from bot.models import Notice, Preferences, Presses, Refusal
from bot.store.postgres.outbox import PostgresOutbox
from bot.store.postgres.store import PostgresStore
from bot.store.records import micros
from tests.bot.store.postgres.opened import Counting, executed, two
from tests.conftest import NOW
from tests.contract.made import change
from tests.contract.test_outbox import REFUSAL, notice
from tests.contract.test_standing_messages import IN, KEYS, saves, says, stand, to_edit

Both = tuple[PostgresStore, PostgresStore]


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def owed(store: PostgresStore) -> list[str]:
    """Return the texts of what T1 is owed, and take them away."""
    texts = []
    while found := (await store.outbox.notices()).get("T1", ()):
        for each in found:
            texts.append(each.text)
            await store.outbox.remove_notice(each)
    return texts


async def test_a_notice_that_two_processes_owe_at_once_is_owed_once(both: Both) -> None:
    wanted = [notice(text=f"Paused {n}.") for n in range(20)]
    await asyncio.gather(both[0].outbox.add_notices(wanted), both[1].outbox.add_notices(wanted[::-1]))
    assert sorted(await owed(both[0])) == sorted(each.text for each in wanted)


async def test_a_refusal_that_two_processes_apply_at_once_is_told_once(both: Both) -> None:
    await asyncio.gather(*(store.outbox.add_refusal(REFUSAL) for store in both * 3))
    assert await both[0].outbox.refusals() == [REFUSAL]
    asked = [store.outbox.replace_refusal(REFUSAL, [notice(text=f"{n}")]) for n, store in enumerate(both * 3)]
    await asyncio.gather(*asked)
    assert len(await owed(both[0])) == 1
    assert await both[1].outbox.refusals() == []


async def test_a_message_is_edited_by_one_of_those_who_have_read_it_so(both: Both) -> None:
    await stand(both[0])
    await says(both[0])
    (found,) = await to_edit(both[1])
    shown = replace(found, shown=found.pressed, edits=1, next_at=IN + timedelta(minutes=1))
    assert sum(await asyncio.gather(*(each.outbox.update_message(shown, replaces=found) for each in both * 3))) == 1
    assert sum(await asyncio.gather(*(each.outbox.leave_message(shown) for each in both * 3))) == 1


@pytest.mark.parametrize("text", ["{", "[]", '{"person": 3}'])
async def test_a_damaged_row_holds_up_nobody(both: Both, postgres: str, text: str) -> None:
    store = both[0]
    good = [Notice("T1", "U1", "Second.", NOW), Notice("T1", "U2", "Other.", NOW)]
    refused = Refusal("T1", "C2", Reach.CHANNEL, "Archived.")
    await store.outbox.add_notices([Notice("T1", "U1", "First.", NOW), *good])
    await store.outbox.add_refusal(Refusal("T1", "C1", Reach.CHANNEL, "Archived."))
    await store.outbox.add_refusal(refused)
    damage = (f"update {table} set data = '{text}' where number = 1" for table in ("notices", "refusals"))
    await executed(postgres, *damage)
    assert list((await store.outbox.notices())["T1"]) == good
    for limit in (1, 2):
        assert list(await store.outbox.refusals(limit=limit)) == [refused]
    await store.outbox.remove_notice(good[0])
    await store.outbox.replace_refusal(refused, [])
    assert (await store.outbox.notices(), list(await store.outbox.refusals())) == ({"T1": good[1:]}, [])


async def test_what_another_version_spelt_otherwise_is_removed_all_the_same(both: Both, postgres: str) -> None:
    store = both[0]
    await store.outbox.add_notices([notice(), notice(text="Again.")])
    await store.outbox.add_refusal(REFUSAL)
    spelt = "data = replace(data, ',\"', ', \"')"
    await executed(postgres, f"update notices set {spelt} where number = 1", f"update refusals set {spelt}")
    await store.outbox.remove_notice(notice())
    assert await store.outbox.notices() == {"T1": [notice(text="Again.")]}
    await store.outbox.replace_refusal(REFUSAL, [notice("U2")])
    assert await store.outbox.refusals() == []
    assert list((await store.outbox.notices())["T1"]) == [notice(text="Again."), notice("U2")]


async def test_a_text_may_be_longer_than_any_key_of_an_index(both: Both) -> None:

    text = random.Random(1).randbytes(40_000).hex()
    await both[0].outbox.add_notices([notice(text=text), notice(text=text), notice(text=f"{text}.")])
    await both[0].outbox.add_refusal(replace(REFUSAL, reason=text))
    assert await owed(both[1]) == [text, f"{text}."]
    assert [each.reason for each in await both[1].outbox.refusals()] == [text]


@pytest.mark.parametrize("column", ["keys", "data"])
@pytest.mark.parametrize(
    "text", ["{", "[]", "5", "null", "", '["\\ud83d"]', '["\\u0000"]', '["a" "b"]', '["\\x"]', '["a",]']
)
async def test_a_damaged_message_keeps_no_other_from_being_edited(both: Both, postgres: str, column: str, text: str) -> None:
    for number in (1, 2):
        await stand(both[0], number)
        await says(both[0], channel=f"C{number}", person=f"U{number}")
    hurt, whole = await to_edit(both[0])
    assert await both[0].outbox.update_message(replace(hurt, shown=Presses(more=7)), replaces=hurt)
    await executed(postgres, f"update standing set {column} = '{text}' where id = '{hurt.delivery.id}'")
    found = [each for each in await to_edit(both[1]) if each.pressed != Presses()]
    assert [each.delivery.id for each in found] == [whole.delivery.id]


@pytest.mark.parametrize("key", ["url:https://lab.example/\U0001f600/ü", 'a "quoted" \\u0000 key', "tab\t", "\ud7ff\ue000"])
async def test_a_key_may_have_any_character_that_can_be_kept(both: Both, key: str) -> None:
    await stand(both[0], payload=json.dumps({"text": "", "keys": [[KEYS[0]], [key]]}))
    await says(both[0], key)
    (found,) = await to_edit(both[1])
    assert (found.keys, found.pressed) == ((KEYS[0], key), Presses(more=1))


async def test_settings_that_cannot_be_read_switch_nothing_off(both: Both, postgres: str) -> None:
    await stand(both[0])
    await says(both[0])
    await executed(postgres, "update preferences set data = '{'")
    assert [each.pressed for each in await to_edit(both[0])] == [Presses(more=1)]
    await executed(postgres, "delete from preferences")
    await both[0].workspaces.save_preferences("chat:T1", Preferences(zone='"activity":true'), change())
    assert [each.pressed for each in await to_edit(both[0])] == [Presses()]


_NOTICES = """
    insert into notices (workspace, recipient, data) select 'T' || mod(n, 3), {recipient},
        '{{"person":"U","text":"' || n || '","since":"2026-04-01T07:00:00+00:00","channel":""}}'
    from generate_series(1, {many}) as n
"""


@pytest.mark.parametrize("recipient", ["'U' || n", "'U'"], ids=["of many", "all of one"])
async def test_of_thousands_of_notices_only_the_next_are_looked_at(both: Both, postgres: str, recipient: str) -> None:
    counting = Counting(postgres, most=1)
    await counting.open()
    looked = []
    for many in (200, 20_000):
        await executed(
            postgres, "truncate notices", _NOTICES.format(many=many, recipient=recipient), "vacuum (analyze) notices"
        )
        assert await PostgresOutbox(counting).notices({"T1": "U5"}, limit=10)
        looked.append(counting.looked_at)
    await counting.close()
    assert looked[1] <= looked[0] * 2 + 40, looked


_STANDING = f"""
    insert into standing (workspace, id, channel, topic, keys, since, until, next_at, more, saved, edits, data, payload)
    select 'chat:T1', 'x' || n, 'X' || n, 'kv', '["arxiv:1","arxiv:2","arxiv:3"]', {micros(NOW)},
        {micros(NOW + timedelta(days=3))}, {micros(NOW + timedelta(days=1))} * {{later}} + {micros(NOW)} * {{now}},
        0, 0, 0, data, payload
    from generate_series(1, {{many}}) as n cross join (select data, payload from standing limit 1) as first
"""


async def test_of_thousands_of_messages_those_are_counted_that_were_pressed_and_whose_time_has_come(
    both: Both, postgres: str
) -> None:
    await stand(both[0])
    await says(both[0])
    await saves(both[0])
    counting = Counting(postgres, most=1)
    await counting.open()
    looked = []
    for many, later in ((100, 0), (100, 1), (10_000, 1), (3_000, 0)):
        filled = _STANDING.format(many=many, later=later, now=1 - later)
        await executed(postgres, "delete from standing where id like 'x%'", filled, "vacuum (analyze)")
        (found,) = await PostgresOutbox(counting).messages_to_edit(IN)
        assert found.pressed == Presses(1, 1)
        looked.append(counting.looked_at)
    await counting.close()
    _, few_later, many_later, many_now = looked
    assert many_later <= few_later * 2 + 200, looked
    assert many_now <= 20 * 3_000, looked
