"""Asking every engine every question, by turns, and what each answer takes."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth.engines import MEANT, READ, Ask, Engine, Question, engines
from bot.store.index.follower import IndexFollower
from bot.store.sqlite.store import SqliteStore

KINDS = (*READ, "suggestions", "similar")
BEYOND = "beyond nearest"  # what searches for what is meant take besides finding what is near
CUTS = (50, 95, 99, 100)
RUNS = 3
_ENOUGH = 300.0  # milliseconds of the runs of one question, after two of which no more are made
_BUDGET = 30.0  # seconds of a processor for the questions of one kind to one engine; the others are left out
_SAME = 10  # times that a question is asked which is the same whatever the words


@dataclass(slots=True)
class Answers:
    """What one engine took for the questions of a kind, in milliseconds, the least of some warm runs; and what it showed."""

    processor: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    shown: list[Sequence[object]] = field(default_factory=list)
    partial: list[bool] = field(default_factory=list)
    spent: float = 0.0  # seconds of a processor

    async def add(self, ask: Ask) -> None:
        """Ask a first time to warm the caches, and then some times more."""
        runs: list[tuple[float, float]] = []
        while len(runs) < 1 + RUNS and (len(runs) < 2 or sum(spent for spent, _ in runs) < _ENOUGH):
            processor, clock = time.process_time(), time.perf_counter()
            shown = await ask()
            runs.append((1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock)))
        self.spent += sum(spent for spent, _ in runs) / 1000
        self.processor.append(min(spent for spent, _ in runs[1:]))
        self.clock.append(min(clock for _, clock in runs[1:]))
        self.shown.append(shown.names)
        self.partial.append(shown.partial)

    def figures(self) -> dict[str, Any]:
        """Return how many were asked, of how many a part was shown, and percentiles with the longest."""
        return {
            "asked": len(self.processor),
            "partial": sum(self.partial),
            "processor": cuts(self.processor),
            "clock": cuts(self.clock),
        }


def cuts(times: Sequence[float]) -> list[float]:
    """Return the 50th, the 95th and the 99th percentile, and the longest."""
    return [float(cut) for cut in np.percentile(times, CUTS)]


def ask_all(path: Path, asked: Sequence[Question]) -> dict[str, Any]:
    """Return by kind of question and by engine what answers took, of a database with its index beside it."""
    return asyncio.run(_ask_all(path, asked))


async def _ask_all(path: Path, asked: Sequence[Question]) -> dict[str, Any]:
    plain, indexed = SqliteStore(path), SqliteStore(path, follower=IndexFollower)
    await plain.open()
    await indexed.open()
    follower = indexed.follower
    assert follower is not None
    await follower.built()
    every = engines(plain, indexed)
    found: dict[str, Any] = {kind: await _ask_kind(every, kind, asked) for kind in KINDS}
    assert follower.asked == follower.answered, "the index was not in step"
    for engine in every.values():
        engine.close()
    await indexed.close()
    await plain.close()
    return found


async def _ask_kind(every: Mapping[str, Engine], kind: str, asked: Sequence[Question]) -> dict[str, Any]:
    answers = {name: Answers() for name in every}
    for question in asked[:_SAME] if kind == "(a* OR b*)" else asked:
        for name, engine in every.items():
            kept = answers[name]
            ask = engine.ask(kind, question) if kept.spent < _BUDGET else None
            if ask is not None:
                await kept.add(ask)
    found: dict[str, Any] = {name: each.figures() for name, each in answers.items() if each.processor}
    if kind in MEANT:
        found[BEYOND] = {name: _beyond(answers[name], answers["nearest"]) for name in ("FTS5", "tantivy")}
    return found | {"pages": _compared(answers["FTS5"], answers["tantivy"])}


def _beyond(whole: Answers, nearest: Answers) -> dict[str, Any]:
    pairs = zip(whole.processor, nearest.processor, strict=False)
    return {"processor": cuts([ours - near for ours, near in pairs])}


def _compared(one: Answers, other: Answers) -> dict[str, Any]:
    """Return of how many whole pages both show the same one, and how much of the first engine's is on the other's."""
    rows = zip(one.shown, other.shown, one.partial, other.partial, strict=False)
    pages = [(first, second) for first, second, *partial in rows if not any(partial)]
    common = sum(len(set(first) & set(second)) for first, second in pages)
    same = sum(list(first) == list(second) for first, second in pages)
    shown = sum(len(first) for first, _ in pages)
    return {"whole": len(pages), "same": same, "common": common / shown if shown else None}
