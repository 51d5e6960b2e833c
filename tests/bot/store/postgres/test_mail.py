"""Recipients of mail, asked and confirmed at two processes at once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.models import MOST_TRIES, Suppression, code_kept
from bot.models.mail import MOST_SOFT_BOUNCES
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import two
from tests.conftest import NOW
from tests.contract.test_ledger import subscribed
from tests.contract.test_recipients import CHANNEL, HOUR, ME, OTHER, asks, confirmed

Both = tuple[PostgresStore, PostgresStore]


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def test_the_key_is_made_once_by_whoever_needs_it_first(both: Both) -> None:
    keys = set(await asyncio.gather(*(store.recipients.key() for store in both * 4)))
    assert len(keys) == 1
    assert len(keys.pop()) == 32


async def test_addresses_are_hashed_by_one_key_though_two_processes_begin_at_once(both: Both) -> None:
    await asyncio.gather(
        both[0].recipients.suppress(ME, Suppression.BOUNCED, NOW),
        both[1].recipients.suppress("you@lab.example", Suppression.BOUNCED, NOW),
    )
    for store in both:
        for address in (ME, "you@lab.example"):
            assert await store.recipients.suppression("slack:T1", address) is Suppression.BOUNCED


async def test_a_code_that_is_typed_at_two_processes_at_once_confirms_once(both: Both) -> None:
    for _ in range(4):
        await both[0].recipients.ask(asks())
        found = await asyncio.gather(
            *(
                store.recipients.confirm("slack:T1", "U1", asks().code, channel, NOW + HOUR)
                for store, channel in zip(both * 2, (CHANNEL, OTHER) * 2, strict=True)
            )
        )
        assert len([each for each in found if each]) == 1
    (recipient,) = await both[1].recipients.of("slack:T1")
    assert recipient.channel in (CHANNEL, OTHER)


async def test_wrong_codes_are_all_counted_whichever_process_is_asked(both: Both) -> None:
    await both[0].recipients.ask(asks())
    wrong = [both[n % 2].recipients.confirm("slack:T1", "U1", f"{n}", CHANNEL, NOW + HOUR) for n in range(MOST_TRIES)]
    assert set(await asyncio.gather(*wrong)) == {None}
    assert await both[1].recipients.confirm("slack:T1", "U1", asks().code, CHANNEL, NOW + HOUR) is None


async def test_of_codes_that_are_asked_for_at_once_one_holds_and_all_are_counted(both: Both) -> None:
    codes = [code_kept("slack:T1", "U1", f"{n:06}") for n in range(8)]
    await asyncio.gather(*(both[n % 2].recipients.ask(replace(asks(), code=code)) for n, code in enumerate(codes)))
    hold = [code for code in codes if await both[0].recipients.opt_in("slack:T1", "U1", code, NOW + HOUR)]
    assert len(hold) == 1
    assert (await both[0].recipients.asked("slack:T1", "U1", ME, NOW)).by_person_to_address == len(codes)


async def test_bounces_that_come_at_once_are_all_counted(both: Both) -> None:
    await confirmed(both[0])
    bounces = [both[n % 2].recipients.bounced(CHANNEL, "Full.", NOW, hard=False) for n in range(MOST_SOFT_BOUNCES)]
    assert {each.soft_bounces for each in await asyncio.gather(*bounces) if each} == set(range(1, MOST_SOFT_BOUNCES + 1))
    found = await both[0].recipients.named(CHANNEL)
    assert found is not None
    assert found.stopped


async def test_an_address_that_is_forgotten_while_it_is_confirmed_is_forgotten(both: Both) -> None:
    for _ in range(6):
        await both[0].recipients.ask(asks())
        confirming = both[0].recipients.confirm("slack:T1", "U1", asks().code, CHANNEL, NOW + HOUR)
        await asyncio.gather(confirming, both[1].recipients.forget("", ME, NOW + HOUR))
        assert await both[0].recipients.everywhere(ME) == []
        assert await both[0].recipients.suppression("slack:T1", ME) is Suppression.FORGOTTEN


async def test_a_list_that_is_forgotten_everywhere_takes_its_subscriptions_along_in_every_workspace(both: Both) -> None:
    await confirmed(both[0])
    await confirmed(both[1], replace(asks(), workspace="slack:T2"), OTHER)
    for workspace, channel in (("slack:T1", CHANNEL), ("slack:T2", OTHER)):
        await subscribed(both[0], "s1", workspace, channel=channel)
        await subscribed(both[0], "s2", workspace, channel="C1")
    assert list(await both[1].recipients.forget("", ME, NOW + timedelta(days=1))) == [CHANNEL, OTHER]
    for workspace in ("slack:T1", "slack:T2"):
        assert [each.channel for each in await both[0].workspaces.subscriptions(workspace)] == ["C1"]


async def test_what_was_lifted_lets_every_workspace_write_again(both: Both) -> None:
    await confirmed(both[0])
    await confirmed(both[0], replace(asks(), workspace="slack:T2"), OTHER)
    await both[0].recipients.bounced(CHANNEL, "Full.", NOW, hard=False)
    await both[0].recipients.bounced(OTHER, "Gone.", NOW, hard=True)
    assert await both[1].recipients.allow(ME) == (Suppression.BOUNCED,)
    assert {(each.stopped, each.soft_bounces) for each in await both[0].recipients.everywhere(ME)} == {("", 0)}
    assert await both[1].recipients.allow(ME) == ()
