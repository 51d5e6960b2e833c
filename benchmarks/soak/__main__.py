"""`python -m benchmarks.soak`: every test in turn, and one Markdown table of how it went.

    python -m benchmarks.soak [--test NAME]… [--deliveries 4000] [--kills 40] [--channels 10000] [--seed 1]

Worker processes run the real store, ledger and deliverer; the platform is tests.fakes.platform, in this process. Where
processes are killed, the times of the protocol are the service's divided by 30 (timeout 0.5 s, lease 1.5 s, quarantine 2 s),
and so are the platform's; storms, fan-out and throughput run with the true ones. Ends with 1 when a target was not kept.
"""

import argparse
import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Sequence

from benchmarks.soak import broken, discord, killed, limits, restored, slack
from benchmarks.soak.row import Row, Size, table


def _alone(module: str) -> Callable[[Size], Awaitable[Sequence[Row]]]:
    """Return a test that is a program of its own, whose last line is its row."""

    async def test(_: Size) -> Sequence[Row]:
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, stdout=PIPE)
        said, _nothing = await process.communicate()
        cells = said.decode().splitlines()[-1].strip("| ").split(" | ")
        return [Row(cells[0], cells[1], cells[2], cells[3], process.returncode == 0)]

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
    "discord-kill": discord.killed,
    "discord-faults": discord.faults,
    "discord-storm": discord.storm,
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


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="append", choices=[*TESTS], help="only this one; may be given again")
    for name, value in (("deliveries", 4000), ("kills", 40), ("channels", 10_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    size = Size(deliveries=asked.deliveries, kills=asked.kills, channels=asked.channels, seed=asked.seed)
    found = asyncio.run(rows(asked.test or [*TESTS], size))
    print(table(found))
    sys.exit(any(each.kept is False for each in found))


if __name__ == "__main__":
    main()
