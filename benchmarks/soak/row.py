"""The lines of the table, and how large each test is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    test: str
    size: str
    target: str
    measured: str
    kept: bool | None = None  # whether the target is; None where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is done."""

    deliveries: int = 4000
    kills: int = 40
    channels: int = 10_000
    commands: int = 2000
    minutes: float = 46.0  # for which commands are given
    seed: int = 1
    keep: Path | None = None  # a folder in which what a test made stays


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown; a target that was not kept is said in bold."""
    lines = ["| test | size | target | measured |", "|---|---|---|---|"]
    lines += [
        f"| {each.test} | {each.size} | {each.target} | {'**not kept:** ' if each.kept is False else ''}{each.measured} |"
        for each in rows
    ]
    return "\n".join(lines)
