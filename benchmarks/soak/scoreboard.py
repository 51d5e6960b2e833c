"""The scoreboard: what every night is to show, each row at any size, and what came of it.

A row's size is a number of its own unit. `short` shows that the row works; `nightly` is what it is to be run at.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.soak.row import Row

ROOT = Path(__file__).parents[2]
_HEADS = ("row", "test", "size run", "nightly", "target", "measured")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """How much is done, by which seed, and where what is read lies that the tests do not bring themselves."""

    size: int
    seed: int = 1
    corpus: Path | None = None  # papers, one JSON object per line
    feeds: Path | None = None  # a folder of feeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A row: what is tried, in which unit, and what is promised."""

    test: str
    unit: str  # of its sizes
    nightly: int  # 0: there is but one, which `unit` says
    short: int
    run: Callable[[Ask], Awaitable[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A row that was run."""

    row: str
    test: str
    size: str
    nightly: str
    target: str
    measured: str
    kept: bool
    seconds: float
    commit: str


async def scored(name: str, row: Scored, ask: Ask) -> Result:
    """Run the row; one that ends in an error was not kept, and says so."""
    begun = time.monotonic()
    try:
        found = await row.run(ask)
    except Exception as error:  # noqa: BLE001 - the other rows are run all the same
        found = Row(row.test, f"{ask.size:,} {row.unit}", "", f"{type(error).__name__}: {error}"[:500], False)
    return Result(
        row=name,
        test=row.test,
        size=found.size,
        nightly=f"{row.nightly:,} {row.unit}" if row.nightly else row.unit,
        target=found.target,
        measured=found.measured,
        kept=bool(found.kept),
        seconds=round(time.monotonic() - begun, 1),
        commit=await asyncio.to_thread(_commit),
    )


def chosen(rows: Mapping[str, Scored], names: Iterable[str]) -> list[str]:
    """Return the rows of these names, in order; "R4" is each of R4's. Raises KeyError where there is none."""
    found: list[str] = []
    for name in names:
        here = [each for each in rows if each == name or each.startswith(f"{name}-")]
        if not here:
            raise KeyError(name)
        found += here
    return list(dict.fromkeys(found))


def keep(path: Path, result: Result) -> None:
    """Add a line with the result to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def kept(paths: Iterable[Path]) -> list[Result]:
    """Return what stands in these files, the latest of each row."""
    lines = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    latest = {line["row"]: Result(**line) for line in lines}
    return [latest[name] for name in sorted(latest, key=_place)]


def _place(name: str) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, name.partition("-")[0]))
    return (int(digits) if digits else 99, name)


def markdown(results: Sequence[Result]) -> str:
    """Return the table; what was not kept is said in bold."""
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS))]
    for each in results:
        measured = f"{'' if each.kept else '**not kept:** '}{each.measured}; {each.seconds:.0f} s"
        lines.append(_line([each.row, each.test, each.size, each.nightly, each.target, measured]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"


def _commit() -> str:
    """Return what the code is; "" outside a repository."""
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()
