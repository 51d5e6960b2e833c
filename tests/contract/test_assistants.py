"""By which tokens assistants ask, and for whom, on every store."""

from dataclasses import replace
from datetime import timedelta

from bot.models import AssistantAccess, AssistantToken
from tests.conftest import NOW
from tests.stores import AnyStore

ACCESS = AssistantAccess(workspace="slack:T1", channel="C1", person="U1", may_write=True)
DESK = AssistantToken(name="desk", hashed="a1", access=ACCESS, made_at=NOW)
DAY = timedelta(days=1)


async def test_a_token_is_found_as_it_was_given_by_its_hash_alone(store: AnyStore) -> None:
    plain = AssistantToken(name="Desk", hashed="a2", access=AssistantAccess(workspace="local"), made_at=NOW - DAY)
    for each in (DESK, plain):
        assert await store.assistants.allow(each)
        assert await store.assistants.by_hash(each.hashed) == each
    assert [await store.assistants.by_hash(each) for each in ("", "a", "A1", "a1 ", "desk", "a3")] == [None] * 6
    assert await store.assistants.every() == [plain, DESK]


async def test_a_name_is_given_again_once_its_token_was_revoked_and_not_before(store: AnyStore) -> None:
    other = replace(DESK, hashed="a2", access=AssistantAccess(workspace="slack:T2"), made_at=NOW + DAY)
    assert await store.assistants.allow(DESK)
    assert not await store.assistants.allow(other)
    assert await store.assistants.every() == [DESK]
    assert await store.assistants.revoke("desk", NOW)
    assert await store.assistants.allow(other)
    assert await store.assistants.every() == [other]
    assert [await store.assistants.by_hash(each) for each in ("a1", "a2")] == [None, other]


async def test_what_was_revoked_opens_nothing_and_stays_in_the_list(store: AnyStore) -> None:
    kept = replace(DESK, name="kept", hashed="a2")
    for each in (DESK, kept):
        await store.assistants.allow(each)
    assert [await store.assistants.revoke(name, NOW + DAY) for name in ("desk", "desk", "a1", "")] == [
        True,
        False,
        False,
        False,
    ]
    assert [await store.assistants.by_hash(each) for each in ("a1", "a2")] == [None, kept]
    assert await store.assistants.every() == [replace(DESK, revoked_at=NOW + DAY), kept]


async def test_the_last_day_on_which_a_token_was_used_is_known(store: AnyStore) -> None:
    kept = replace(DESK, name="kept", hashed="a2")
    for each in (DESK, kept):
        await store.assistants.allow(each)
    for day in (NOW, NOW + DAY, NOW - DAY):
        await store.assistants.note_use("a1", day.date())
    await store.assistants.note_use("a3", NOW.date())
    assert await store.assistants.every() == [replace(DESK, used_on=(NOW + DAY).date()), kept]
