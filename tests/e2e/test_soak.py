"""The soak in short, with real processes that are killed; `make soak` is the long form."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from benchmarks.soak import answers, broken, discord, edits, killed, mail, restored, slack
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row, Size
from benchmarks.soak.rows import all_due, clock, connections, drops, feeds, refusals, upgrades
from benchmarks.soak.rows.table import SCOREBOARD
from benchmarks.soak.run import Plan, due_just_now, run
from benchmarks.soak.scoreboard import Ask, Scored, chosen, keep, kept, markdown, scored
from benchmarks.soak.work import Strategy, Work
from bot.store.sqlite.migrations import migration_names
from tests.fakes.platform import Behaviour

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
async def test_everything_arrives_once_in_a_slack_that_gives_no_metadata_back() -> None:
    assert [row for row in await slack.without_metadata(SHORT) if not row.kept] == []


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


@pytest.mark.long
async def test_no_mail_is_lost_and_each_that_may_be_there_twice_is_told_though_its_sender_is_killed() -> None:
    small = replace(SHORT, deliveries=80, kills=2)
    rows = await asyncio.gather(*(mail.killed_once(small, twice=twice) for twice in (False, True)))
    assert [row for row in rows if not row.kept] == []


@pytest.mark.long
async def test_people_are_answered_digests_arrive_once_and_what_is_closed_is_held_until_it_opens(tmp_path: Path) -> None:
    # The faults take minutes of true time to be waited out: tests/e2e/test_{slack,discord}_answers.py have them.
    plan = answers.Plan(commands=60, deliveries=30, minutes=0.5, seed=4, share=0.0)
    row = await answers.run(plan, tmp_path)
    assert row.kept, row.measured


@pytest.mark.long
async def test_digests_say_what_is_pressed_below_them_though_senders_are_killed_and_requests_fail() -> None:
    plans = [edits.Plan(platform=each, channels=3, presses=16, kills=1, seed=4) for each in ("slack", "discord")]
    found = await asyncio.gather(*map(edits.run, plans))
    assert [each.figures() for each in found if not each.is_kept] == []
    assert sum(each.edits for each in found) > 0


# --- the scoreboard


async def results(sizes: Mapping[str, int]) -> list[str]:
    """Run these rows at these sizes, and return what those measured that were not kept."""
    found = await asyncio.gather(*(scored(name, SCOREBOARD[name], Ask(size=size, seed=4)) for name, size in sizes.items()))
    return [f"{each.row}: {each.measured}" for each in found if not each.kept]


async def test_rows_are_chosen_by_name_kept_in_a_file_and_printed(tmp_path: Path) -> None:
    async def right(ask: Ask) -> Row:
        return Row("a test", f"{ask.size} things", "none lost", "0 lost", True)

    async def broken_(ask: Ask) -> Row:
        raise ValueError("it cannot be run")

    rows = {"R4-slack": ("ten", right), "R4-discord": ("ten", broken_), "R1": ("ten", right)}
    table = {name: Scored(test=what, unit="things", nightly=10, short=1, run=run_) for name, (what, run_) in rows.items()}
    assert chosen(table, ["R4", "R4-slack"]) == ["R4-slack", "R4-discord"]
    with pytest.raises(KeyError):
        chosen(table, ["R2"])
    for name in ("R4-discord", "R1", "R1"):
        keep(tmp_path / "rows.jsonl", await scored(name, table[name], Ask(size=3)))
    first, second = kept([tmp_path / "rows.jsonl"])
    assert (first.row, first.kept, first.size, first.nightly) == ("R1", True, "3 things", "10 things")
    assert (second.row, second.kept) == ("R4-discord", False)
    assert "**not kept:** ValueError: it cannot be run" in markdown([first, second])


def test_every_row_is_on_the_scoreboard() -> None:
    numbers = {name.partition("-")[0] for name in SCOREBOARD if name.startswith("R")}
    assert numbers == {f"R{number}" for number in range(1, 22)}


@pytest.mark.long
async def test_feeds_addresses_and_titles_made_to_do_harm_do_none() -> None:
    assert await results({"R8": 60, "R9": 3, "R11": 28}) == []


def test_a_feed_that_the_reader_fails_on_is_counted() -> None:
    def fails(*_: object) -> dict[str, object]:
        raise KeyError("tags")

    assert feeds.outcome(b"just text") == "no feed"
    assert feeds.outcome(b"<rss><channel><item/></channel></rss>") == "read"
    assert feeds.outcome(b"<rss><channel><item/></channel></rss>", fails).startswith("crash of the reader: KeyError")


@pytest.mark.long
async def test_everything_arrives_once_over_tls_that_is_cut_and_from_databases_of_an_earlier_schema() -> None:
    cut = replace(connections.plan("Slack", Behaviour(), Ask(size=30, seed=4)), cut=0.15)
    names = await asyncio.to_thread(migration_names)
    outcome, first, third = await asyncio.gather(
        run(cut), upgrades.brought_up(names, 1, 4), upgrades.brought_up(names, 3, 4)
    )
    assert outcome.counts["cut"] > 0
    assert (outcome.verdict.is_clean, first, third) == (True, "", "")


@pytest.mark.long
async def test_what_is_refused_for_good_is_told_to_its_owner_once() -> None:
    channel = refusals.Closing(
        crowd=Crowd(12, due_just_now(), (2,), "slack", 6), channels=frozenset({1, 7}), codes=("is_archived",), begins=0.0
    )
    workspace = replace(channel, codes=("token_revoked",), whole=True)
    for closing in (channel, workspace):
        found = await refusals.refused(closing)
        assert (found.is_right, found.owed) == (True, 2), found


@pytest.mark.long
async def test_what_is_on_its_way_as_a_connection_falls_is_handled_once() -> None:
    found = await asyncio.gather(*(drops.room(platform, 6, 4, short=True) for platform in ("slack", "discord")))
    assert [(each.never, each.again, each.drops) for each in found] == [(0, 0, 6), (0, 0, 6)]


@pytest.mark.long
async def test_clocks_that_jump_and_services_that_take_over_post_once(nothing_blocks_the_loop: BlockBuster) -> None:
    nothing_blocks_the_loop.deactivate()
    rows = await asyncio.gather(clock.jumping(Ask(size=5, seed=4)), SCOREBOARD["R21"].run(Ask(size=1)))
    assert [row for row in rows if not row.kept] == []


@pytest.mark.long
async def test_hundreds_of_channels_that_are_due_at_once_are_posted_to_within_the_limits(
    nothing_blocks_the_loop: BlockBuster,
) -> None:
    nothing_blocks_the_loop.deactivate()
    sizes = {"discord": 300, "slack": 60}
    found = await asyncio.gather(*(all_due.all_due(name, Ask(size=size, seed=4)) for name, size in sizes.items()))
    assert [each.figures() for each in found if not each.is_sound] == []


# --- many processes on PostgreSQL. What is lost waits for true leases of 45 s and for what may be on its way: all at once.


@pytest.mark.long
@pytest.mark.usefixtures("postgres_address")
async def test_many_processes_post_once_though_they_their_machines_and_their_server_are_lost(
    nothing_blocks_the_loop: BlockBuster,
) -> None:
    nothing_blocks_the_loop.deactivate()
    assert await results({"R3": 60, "R3-lost": 60, "R3-cut": 60, "R3-away": 60, "R3-failover": 60}) == []


@pytest.mark.long
@pytest.mark.usefixtures("postgres_address")
async def test_many_processes_are_upgraded_while_they_post_and_collect_every_work_once(
    nothing_blocks_the_loop: BlockBuster,
) -> None:
    nothing_blocks_the_loop.deactivate()
    assert await results({"R3-upgrade": 90, "R3-collect": 4}) == []


@pytest.mark.long
@pytest.mark.usefixtures("postgres_address")
async def test_many_processes_keep_to_limits(nothing_blocks_the_loop: BlockBuster) -> None:
    # By itself: another row in this process would hold up the platform that counts.
    nothing_blocks_the_loop.deactivate()
    assert await results({"R3-limits": 200}) == []
