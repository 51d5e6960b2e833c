"""`python -m benchmarks.soak`: every test in turn, and one Markdown table of how it went.

    python -m benchmarks.soak [--test NAME]… [--deliveries 4000] [--kills 40] [--channels 10000] [--seed 1]
    python -m benchmarks.soak --test answers [--commands 2000] [--minutes 46] [--keep FOLDER]
    python -m benchmarks.soak --nightly                the scoreboard, each row at the size that a night has for it
    python -m benchmarks.soak --row R8 [--size 5000]   this row, and each further `--row`; else at its nightly size
    python -m benchmarks.soak --show FILE…             the table of what `--out FILE` kept

`--corpus` names papers as benchmarks.corpus reads them (R10, R11), `--feeds` a folder of feeds (R8); without them the tests'
own are taken. Each row is printed when it is done, and `--out FILE` adds it to a file.

Worker processes run the real store, ledger and deliverer; the platform is tests.fakes.platform, in this process. Where
processes are killed, the times of the protocol are the service's divided by 30 (timeout 0.5 s, lease 1.5 s, quarantine 2 s),
and so are the platform's; storms, fan-out and throughput run with the true ones. Ends with 1 when a target was not kept.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.soak import answers, broken, discord, edits, killed, limits, mail, restored, slack
from benchmarks.soak.row import Row, Size, table
from benchmarks.soak.rows.again import program
from benchmarks.soak.rows.table import SCOREBOARD
from benchmarks.soak.scoreboard import Ask, Result, chosen, keep, kept, markdown, scored


def _alone(module: str) -> Callable[[Size], Awaitable[Sequence[Row]]]:
    """Return a test that is a program of its own, whose last line is its row."""

    async def test(_: Size) -> Sequence[Row]:
        return [await program(module)]

    return test


TESTS: dict[str, Callable[[Size], Awaitable[Sequence[Row]]]] = {
    "kill-nonce": killed.nonce,
    "kill-history": killed.history,
    "kill-both": killed.both,
    "kill-no-right": killed.no_right,
    "plain": killed.plain,
    "faults": limits.faults,
    "storm": limits.storm,
    "fan-out": limits.fan_out,
    "throughput": limits.throughput,
    "slack-kill": slack.killed,
    "slack-faults": slack.faults,
    "slack-storm": slack.storm,
    "slack-fan-out": slack.fan_out,
    "slack-crowded": slack.crowded,
    "slack-slow": slack.slow,
    "slack-no-metadata": slack.without_metadata,
    "discord-crowded": discord.crowded,
    "discord-kill": discord.killed,
    "discord-faults": discord.faults,
    "discord-storm": discord.storm,
    "slack-edits": edits.in_slack,
    "discord-edits": edits.in_discord,
    "mail-kill": mail.killed,
    "answers": answers.answered,
    "restore": restored.restored,
    "broken": broken.broken,
    "zones": _alone("benchmarks.soak.zones"),
    "thirty-days": _alone("benchmarks.soak.thirty_days"),
}


async def rows(names: Sequence[str], size: Size) -> list[Row]:
    """Run the tests of these names."""
    found: list[Row] = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        found += await TESTS[name](size)
        print(found[-1].measured, file=sys.stderr, flush=True)
    return found


async def score(names: Sequence[str], asked: argparse.Namespace) -> list[Result]:
    """Run these rows of the scoreboard, and keep each where it is to be kept."""
    found = []
    for name in chosen(SCOREBOARD, names):
        row = SCOREBOARD[name]
        size = row.nightly if asked.size is None else asked.size
        print(f"{name} …", file=sys.stderr, flush=True)
        ask = Ask(size=size, seed=asked.seed, corpus=asked.corpus, feeds=asked.feeds)
        found.append(await scored(name, row, ask))
        print(markdown(found[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
        if asked.out:
            await asyncio.to_thread(keep, asked.out, found[-1])
    return found


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="append", choices=[*TESTS], help="only this one; may be given again")
    for name, value in (("deliveries", 4000), ("kills", 40), ("channels", 10_000), ("commands", 2000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--minutes", type=float, default=46.0, help="for which commands are given")
    parser.add_argument("--keep", type=Path, help="a folder that is there, in which what the test `answers` made stays")
    parser.add_argument("--nightly", action="store_true", help="every row of the scoreboard, at its nightly size")
    parser.add_argument("--row", action="append", help="only this row of the scoreboard; may be given again")
    parser.add_argument("--size", type=int, help="of the rows, in their own unit")
    for name in ("corpus", "feeds", "out"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--show", type=Path, nargs="+")
    return parser.parse_args()


def main() -> None:
    """Run what was asked for and print the table."""
    logging.basicConfig(level=logging.ERROR)
    asked = _asked()
    if asked.show:
        print(markdown(kept(asked.show)))
        return
    if asked.nightly or asked.row:
        results = asyncio.run(score(asked.row or [*SCOREBOARD], asked))
        print(markdown(results))
        sys.exit(not all(each.kept for each in results))
    names = ("deliveries", "kills", "channels", "commands", "minutes", "seed", "keep")
    size = Size(**{name: getattr(asked, name) for name in names})
    found = asyncio.run(rows(asked.test or [*TESTS], size))
    print(table(found))
    sys.exit(any(each.kept is False for each in found))


if __name__ == "__main__":
    main()
