"""What is owed is kept until it is removed, in order, and read a little at a time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import Reach
from bot.models import Notice, Refusal
from tests.conftest import NOW, tries
from tests.stores import AnyStore

REFUSAL = Refusal("T1", "C1", Reach.CHANNEL, "The channel is archived \ud83d.", "kv")


def notice(person: str = "U1", workspace: str = "T1", text: str = "Paused.", minutes: int = 0) -> Notice:
    return Notice(workspace, person, text, NOW + timedelta(minutes=minutes))


async def test_what_was_never_owed_is_nothing(store: AnyStore) -> None:
    assert await store.outbox.notices() == {}
    assert list(await store.outbox.refusals()) == []
    await store.outbox.remove_notice(notice())
    await store.outbox.replace_refusal(REFUSAL, [notice()])
    assert await store.outbox.notices() == {}


async def test_each_recipient_is_told_in_order_and_recipients_take_turns(store: AnyStore) -> None:
    alert = Notice("T1", "", "Look.", NOW, "C9")
    first, second, other = notice("U2"), notice("U2", text="Again."), notice("U10")
    await store.outbox.add_notices([first, second, other, alert])
    await store.outbox.add_notices([notice("U3"), notice("U1", "T10")])
    expected = {"T1": [alert, other, first, notice("U3")], "T10": [notice("U1", "T10")]}
    assert {name: list(given) for name, given in (await store.outbox.notices()).items()} == expected
    assert list((await store.outbox.notices({"T1": "U10"}, limit=2))["T1"]) == [first, notice("U3")]
    assert list((await store.outbox.notices({"T1": "U2"}, limit=3))["T1"]) == [notice("U3"), alert, other]
    assert list((await store.outbox.notices({"T1": "V"}))["T1"]) == expected["T1"]
    await store.outbox.remove_notice(first)
    assert list((await store.outbox.notices({"T1": "U10"}, limit=1))["T1"]) == [second]


async def test_a_notice_is_kept_once_and_gone_when_it_is_removed(store: AnyStore) -> None:
    await store.outbox.add_notices([notice(), notice(), notice(minutes=1)])
    await store.outbox.add_notices([notice()])
    await store.outbox.remove_notice(notice(text="Another."))
    await store.outbox.remove_notice(notice())
    assert await store.outbox.notices() == {"T1": [notice(minutes=1)]}
    await store.outbox.remove_notice(notice(minutes=1))
    assert await store.outbox.notices() == {}


@pytest.mark.parametrize("text", ["half \ud83d of a character", "", "ünïcödé 🙂", '{"a": 1}'])
async def test_whatever_a_notice_says_it_comes_back_as_it_was(store: AnyStore, text: str) -> None:
    await store.outbox.add_notices([notice(text=text)])
    assert await store.outbox.notices() == {"T1": [notice(text=text)]}
    await store.outbox.remove_notice(notice(text=text))
    assert await store.outbox.notices() == {}


async def test_a_refusal_stands_once_until_its_notices_stand_in_its_place(store: AnyStore) -> None:
    second, over = replace(REFUSAL, topic=""), replace(REFUSAL, at=NOW, is_over=True)
    for each in (REFUSAL, second, REFUSAL, over):
        await store.outbox.add_refusal(each)
    assert list(await store.outbox.refusals()) == [REFUSAL, second, over]
    await store.outbox.replace_refusal(over, [])
    assert list(await store.outbox.refusals(limit=1)) == [REFUSAL]
    await store.outbox.replace_refusal(REFUSAL, [notice()])
    await store.outbox.replace_refusal(REFUSAL, [notice("U2")])  # by who did the same at the same time
    assert list(await store.outbox.refusals()) == [second]
    assert await store.outbox.notices() == {"T1": [notice()]}


@pytest.mark.no_cover
async def test_everything_that_is_owed_is_kept_however_much_it_is(store: AnyStore) -> None:
    owed = [notice(f"U{number:04}") for number in range(tries(5000))]
    await store.outbox.add_notices(owed)
    found: list[Notice] = []
    while given := (await store.outbox.notices(limit=500)).get("T1"):
        found += given
        for each in given:
            await store.outbox.remove_notice(each)
    assert found == owed
