"""The soak in short, with real processes that are killed; `make soak` is the long form."""

import asyncio
from dataclasses import replace

import pytest

from benchmarks.soak import broken, discord, killed, restored, slack
from benchmarks.soak.row import Size
from benchmarks.soak.run import Plan, run
from benchmarks.soak.work import Strategy, Work

SHORT = Size(deliveries=150, kills=4, seed=4)


@pytest.mark.long
async def test_everything_arrives_once_or_is_listed_though_its_sender_is_killed() -> None:
    tests = (killed.nonce, killed.history, killed.both, killed.no_right)
    rows = [row for found in await asyncio.gather(*(each(SHORT) for each in tests)) for row in found]
    assert [row for row in rows if not row.kept] == []


async def test_a_strategy_that_posts_twice_is_found_out() -> None:
    behaviour = replace(killed.ORDINARY, resets=0.8, commits=0.5, seed=SHORT.seed)
    plan = Plan(behaviour=behaviour, work=Work(strategy=Strategy.MARK_AFTER), deliveries=60, parts=(1,))
    after, before = await asyncio.gather(run(plan), run(replace(plan, work=Work(strategy=Strategy.MARK_BEFORE))))
    assert (after.verdict.lost, after.verdict.duplicate > 0) == (0, True)
    assert (before.verdict.lost > 0, before.verdict.duplicate > 0) == (True, True)


@pytest.mark.long
async def test_nothing_is_posted_twice_from_a_backup_and_nothing_while_nothing_can_be_written() -> None:
    backup, rights = await asyncio.gather(
        restored.restored(replace(SHORT, deliveries=80)),
        broken.unwritable("read-only", broken.read_only, 2.0, replace(SHORT, deliveries=400)),
    )
    assert [row for row in (*backup, rights) if not row.kept] == []


@pytest.mark.long
async def test_everything_arrives_once_in_slack_though_senders_are_killed_and_connections_fail() -> None:
    small = replace(SHORT, deliveries=90, kills=3)
    killed_, reset, failed = await asyncio.gather(
        slack.killed(small), slack.fault("reset", small), slack.fault("5xx", small)
    )
    assert [row for row in killed_ if not row.kept] == []
    assert [each.verdict.is_clean for each in (reset, failed)] == [True, True]


@pytest.mark.long
async def test_everything_arrives_once_in_discord_though_senders_are_killed_and_connections_fail() -> None:
    small = replace(SHORT, deliveries=90, kills=3)
    killed_, reset, failed = await asyncio.gather(
        discord.killed(small),
        discord.fault("reset", replace(small, deliveries=45)),
        discord.fault("5xx", replace(small, deliveries=45)),
    )
    assert [row for row in killed_ if not row.kept] == []
    assert [each.verdict.is_clean for each in (reset, failed)] == [True, True]
