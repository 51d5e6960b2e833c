"""Every row of the scoreboard by its name."""

from collections.abc import Mapping

from benchmarks.soak.many import collecting, kills, machines, rates
from benchmarks.soak.many import upgrades as many_upgrades
from benchmarks.soak.rows import (
    addresses,
    again,
    all_due,
    clock,
    commands,
    connections,
    drops,
    feeds,
    instances,
    refusals,
    rendering,
    sources,
    suite,
    upgrades,
)
from benchmarks.soak.scoreboard import Scored

SCOREBOARD: Mapping[str, Scored] = {
    "R1": Scored(
        test="`kill -9`, Discord",
        unit="deliveries, a kill for 40",
        nightly=20_000,
        short=60,
        run=connections.kills_in_discord,
    ),
    "R2": Scored(
        test="`kill -9`, Slack", unit="deliveries, a kill for 40", nightly=20_000, short=60, run=connections.kills_in_slack
    ),
    "R2-no-history": Scored(
        test="`kill -9`, Slack, its history may not be read",
        unit="deliveries, a kill for 40",
        nightly=20_000,
        short=60,
        run=connections.kills_in_slack_without_history,
    ),
    "R3": Scored(
        test="`kill -9`, many processes on PostgreSQL",
        unit="deliveries, 3 kills for 100",
        nightly=10_000,
        short=60,
        run=kills.killed,
    ),
    "R3-lost": Scored(test="one of two machines is lost", unit="deliveries", nightly=2000, short=60, run=machines.lost),
    "R3-cut": Scored(
        test="one of two machines is cut off and let back", unit="deliveries", nightly=2000, short=60, run=machines.cut_off
    ),
    "R3-away": Scored(test="the PostgreSQL server is away", unit="deliveries", nightly=2000, short=60, run=machines.away),
    "R3-failover": Scored(
        test="the PostgreSQL server fails over", unit="deliveries", nightly=2000, short=60, run=machines.failed_over
    ),
    "R3-limits": Scored(
        test="Discord's limits over four processes", unit="channels", nightly=10_000, short=200, run=rates.limited
    ),
    "R3-workers": Scored(
        test="workers on PostgreSQL beside one process on SQLite",
        unit="channels",
        nightly=5000,
        short=200,
        run=rates.compared,
    ),
    "R3-upgrade": Scored(
        test="a rolling upgrade of many processes", unit="deliveries", nightly=2000, short=90, run=many_upgrades.rolled
    ),
    "R3-collect": Scored(
        test="two processes collect, copies follow", unit="kills", nightly=200, short=4, run=collecting.collected
    ),
    "R4-slack": Scored(
        test="connection faults, Slack",
        unit="of each of 5 kinds",
        nightly=5000,
        short=20,
        run=connections.faults_in_slack,
    ),
    "R4-discord": Scored(
        test="connection faults, Discord",
        unit="of each of 5 kinds",
        nightly=5000,
        short=20,
        run=connections.faults_in_discord,
    ),
    "R5-slack": Scored(test="429 storm, Slack", unit="channels", nightly=10_000, short=20, run=connections.storm_in_slack),
    "R5-discord": Scored(
        test="429 storm, Discord", unit="channels", nightly=10_000, short=40, run=connections.storm_in_discord
    ),
    "R6": Scored(test="clock changes", unit="years, all zones", nightly=5, short=5, run=again.zones),
    "R7": Scored(test="clock jumps, a blocked loop", unit="times", nightly=200, short=6, run=clock.jumping),
    "R8": Scored(test="hostile feeds", unit="executions", nightly=1_000_000, short=300, run=feeds.hostile_feeds),
    "R9": Scored(test="SSRF forms", unit="all forms", nightly=0, short=8, run=addresses.guarded),
    "R10": Scored(test="command fuzz", unit="commands", nightly=200_000, short=60, run=commands.fuzzed),
    "R11": Scored(test="rendering", unit="titles × 2 platforms", nightly=20_000, short=70, run=rendering.rendered),
    "R12": Scored(test="disk full, read-only, locked", unit="times", nightly=30, short=3, run=again.unwritable),
    "R13": Scored(test="restore of a day-old backup", unit="restores", nightly=20, short=2, run=again.backups),
    "R14": Scored(test="refused for good", unit="of each of 12 codes", nightly=50, short=1, run=refusals.every_code),
    "R15": Scored(test="source faults", unit="times each of 20", nightly=50, short=1, run=sources.failing),
    "R16": Scored(test="simulated days", unit="days", nightly=30, short=1, run=again.thirty_days),
    "R17": Scored(test="tenant isolation", unit="all", nightly=0, short=0, run=suite.isolated),
    "R18": Scored(test="secrets", unit="all tests", nightly=0, short=1, run=suite.secrets),
    "R19": Scored(test="Socket Mode and gateway fall", unit="drops", nightly=500, short=16, run=drops.falling),
    "R20": Scored(test="upgrades", unit="times each schema", nightly=5, short=1, run=upgrades.every_schema),
    "R21": Scored(test="two instances, rolling restarts", unit="rounds", nightly=200, short=2, run=instances.rolling),
    "gate-due-slack": Scored(
        test="all channels due at once, Slack", unit="channels", nightly=10_000, short=40, run=all_due.all_due_in_slack
    ),
    "gate-due-discord": Scored(
        test="all channels due at once, Discord", unit="channels", nightly=10_000, short=40, run=all_due.all_due_in_discord
    ),
    "gate-refusals": Scored(test="all channels refuse", unit="refusals", nightly=5000, short=60, run=refusals.every_owner),
}
