"""What assistants are given costs them in tokens, and what answering them costs the machine.

    python -m benchmarks.mcp [--runs 5]

The recorded sources of the demo are collected, and digests of seven entries of three topics stored as posted. Then
`broadsheet mcp` is started as an assistant's program starts it, and asked by the official client. Printed are

- how long each answer is, as a model gets it, in tokens: characters / 4, the estimate by which digests are cut;
- the median seconds from the start of the process to its first answer, and its resident set once everything was asked (MiB),
  with those of `broadsheet version`, bare Python and `broadsheet search`, in the same rounds, and as multiples of Python's.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from adapters.cli.demo.recorded_run import NOW, TOPICS, settings_for
from adapters.cli.demo.replay import replay
from adapters.mcp.results import tokens_of
from benchmarks.startup import ENTRY, ROOT, Cost, measured
from bot.app import LOCAL, built

ENTRIES = 7  # of a digest, the usual number
MOST = 1_500  # tokens that a digest may have


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, and the tokens of its answer."""

    tool: str
    arguments: Mapping[str, Any]
    tokens: int


async def stored(folder: Path) -> Path:
    """Collect what was recorded, store a digest of each topic as posted in the terminal, and return the settings file."""
    async with replay() as url, built(settings_for(url, folder, TOPICS)) as app:
        await app.collector.collect(app.sources, NOW)
        requests = [await app.request(name, entries=ENTRIES) for name in TOPICS]
        for digest in await app.publisher.publish(requests, NOW):
            await app.store.digests.save(LOCAL, LOCAL, digest, NOW)
        file = folder / "broadsheet.toml"
        file.write_text(f"database = '{app.settings.database_path}'\n[embeddings]\nuse = 'off'\n")
    return file


def started(folder: Path, file: Path) -> StdioServerParameters:
    """Return how an assistant's program starts it."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    arguments = ["-c", ENTRY, "--config", str(file), "--now", NOW.isoformat(), "mcp"]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environ, cwd=folder)


async def asked(folder: Path, file: Path) -> tuple[Cost, list[Asked]]:
    """Start it, ask everything once, and return the seconds until its first answer, its memory, and the answers' lengths."""
    begun = time.perf_counter()
    async with Client(stdio_client(started(folder, file)), mode="auto") as client:
        tools = await client.list_tools()
        wall = time.perf_counter() - begun
        found = [Asked("(the list of the tools)", {}, tokens_of(tools.model_dump_json(by_alias=True, exclude_none=True)))]
        first = ""
        for tool, arguments in _calls():
            given = {name: value or first for name, value in arguments.items()}
            result = await client.call_tool(tool, given)
            if result.is_error:
                raise SystemExit(f"{tool}({given}) failed: {result.content}")
            first = first or result.structured_content["entries"][0]["key"]
            found.append(Asked(tool, given, sum(tokens_of(getattr(each, "text", "")) for each in result.content)))
        return Cost(wall, await asyncio.to_thread(_memory)), found


def _calls() -> list[tuple[str, dict[str, str]]]:
    """Return what is asked; "" stands for the first entry of the first digest."""
    return [
        *(("digest", {"topic": name}) for name in TOPICS),
        ("search", {"query": "GPU kernel"}),
        ("show", {"item": ""}),
        ("why", {"item": "", "topic": TOPICS[0]}),
        ("similar", {"item": ""}),
        ("trending", {}),
        ("topics", {}),
    ]


def _memory() -> float:
    """Return the resident set of the process that we started and that answers, in MiB."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"PPid:\t{os.getpid()}\n" in status and b"mcp" in words:
            return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
    raise SystemExit("the process that answers is not found")


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=5)
    runs = arguments.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="broadsheet-mcp-") as name:
        folder = Path(name)
        file = asyncio.run(stored(folder))
        others = {
            "python -c pass": ["-c", "pass"],
            "broadsheet version": ["-c", ENTRY, "version"],
            "broadsheet search": ["-c", ENTRY, "--config", str(file), "search", "GPU kernel"],
        }
        costs: dict[str, list[Cost]] = {each: [] for each in [*others, "broadsheet mcp"]}
        answers: list[Asked] = []
        for _ in range(runs + 1):  # the first warms up
            for other, given in others.items():
                costs[other].append(measured([sys.executable, *given], folder))
            cost, answers = asyncio.run(asked(folder, file))
            costs["broadsheet mcp"].append(cost)
        for each in answers:
            said = ", ".join(f"{name}: {value}" for name, value in each.arguments.items())
            print(f"{each.tokens:6,} tokens  {each.tool} {said}")
        longest = max(each.tokens for each in answers if each.tool == "digest")
        print(f"the longest digest has {longest:,} tokens of {MOST:,}")
        _print_costs({each: found[1:] for each, found in costs.items()})


def _print_costs(costs: Mapping[str, list[Cost]]) -> None:
    walls = {name: statistics.median(each.wall for each in found) for name, found in costs.items()}
    peaks = {name: statistics.median(each.peak for each in found) for name, found in costs.items()}
    for name in costs:
        wall, peak = walls[name] / walls["python -c pass"], peaks[name] / peaks["python -c pass"]
        print(f"{name:20} {walls[name]:6.2f} s ({wall:5.1f})  {peaks[name]:6.0f} MiB ({peak:4.1f})")


if __name__ == "__main__":
    main()
