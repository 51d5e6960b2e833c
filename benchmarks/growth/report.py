"""The figures as tables, and their place in the documents."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.growth.asking import BEYOND, KINDS
from benchmarks.growth.engines import MEANT
from benchmarks.growth.plot import alt, plot

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "benchmarks.md"
FIGURES = ROOT / "docs" / "growth.json"
PLOT = ROOT / "docs" / "growth.svg"
BEGIN, END = "<!-- growth: python -m benchmarks.growth --docs -->", "<!-- growth ends -->"
COLUMNS = ("FTS5", "tantivy", "raw FTS5", "raw tantivy")
WORDS = HYBRID = 25.0  # milliseconds, the 95th percentile of tantivy by words, and of searches with vectors beyond nearest
LEAST, TIMES = 8.0, 3  # or so many times what tantivy alone takes, where that is more than the former
LONGEST = 250.0  # milliseconds of a processor for any search by FTS5
Figures = Mapping[str, Any]


def tables(figures: Figures) -> str:
    """Return the tables of what was measured, for a document: answers, aims, and what else grows."""
    if not figures:
        return "Nothing is measured yet."
    head = ["", *(f"{int(size):,}" for size in figures)]
    picture = f"![{alt(figures)}]({PLOT.name})"
    return "\n".join([picture, "", *answers(figures), "", *_table(head, aims(figures)), "", *_table(head, costs(figures))])


def document(text: str, figures: Figures) -> str:
    """Return the document with these figures in the place of those that it has."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{tables(figures)}\n{END}{rest.partition(END)[2]}"


def kept(path: Path) -> dict[str, Any]:
    """Return the figures of a file, none where there is none."""
    figures: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return figures


def keep(path: Path, figures: Figures) -> None:
    """Write the figures into a file, with as many digits as say something."""
    path.write_text(json.dumps(_rounded(figures), indent=1) + "\n", "utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value


def write_docs(figures: Figures, docs: Path) -> None:
    """Write the tables into the document, and the plot and the figures beside it."""
    keep(docs.with_name(FIGURES.name), figures)
    docs.write_text(document(docs.read_text("utf-8"), figures), "utf-8")
    docs.with_name(PLOT.name).write_text(plot(figures), "utf-8")


def answers(figures: Figures) -> Iterator[str]:
    """Give the lines of the table of answers."""
    yield from _table(("questions", "papers", *COLUMNS, "same pages", "in part: FTS5, tantivy"), _answers(figures))


def _answers(figures: Figures) -> Iterator[Sequence[str]]:
    for kind in KINDS:
        for at, (size, found) in enumerate(figures.items()):
            of = found["asked"][kind]
            parts = [of[name]["partial"] for name in COLUMNS[:2]]
            cells = [_cuts(of.get(name), of["FTS5"]["asked"]) for name in COLUMNS]
            name = f"`{kind}`" if "*" in kind else kind
            partly = ", ".join(map(str, parts)) if any(parts) else ""
            yield (name * (not at), f"{int(size):,}", *cells, _same(of["pages"]), partly)
        if kind in MEANT:
            yield from _beyond(figures, kind)


def _same(pages: Figures) -> str:
    """Return on how many of the pages that are whole both show the same, and how much of FTS5's is on the other's."""
    if not pages["whole"]:
        return "–"
    share = "" if pages["common"] is None else f"; {pages['common']:.2f}"
    return f"{pages['same']} of {pages['whole']}{share}"


def _beyond(figures: Figures, kind: str) -> Iterator[Sequence[str]]:
    for at, (size, found) in enumerate(figures.items()):
        of = found["asked"][kind]
        cells = [_cuts(of[BEYOND][name]) for name in COLUMNS[:2]]
        nearest = f"nearest {_cuts(of['nearest'])}"
        yield (f"{kind}, beyond nearest" * (not at), f"{int(size):,}", *cells, nearest, "–", "", "")


def _cuts(found: Figures | None, asked: int = 0) -> str:
    """Return the percentiles, and how many questions they are of where these are fewer than were asked."""
    if found is None:
        return "–"
    fewer = f" ({found['asked']})" if found.get("asked", asked) < asked else ""
    return " / ".join(map(number, found["processor"][:3])) + fewer


def number(value: float) -> str:
    """Return the number with two digits that count, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def aims(figures: Figures) -> Iterator[Sequence[str]]:
    """Give the rows of the aims: what was measured, and of which aim where it was missed."""

    def row(name: str, of: Callable[[Figures], tuple[float, float]]) -> Sequence[str]:
        pairs = [of(found["asked"]) for found in figures.values()]
        cells = [f"{number(ours)}, kept" if ours <= aim else f"**{number(ours)} of {number(aim)}**" for ours, aim in pairs]
        return (name, *cells)

    def relative(asked: Figures) -> tuple[float, float]:
        of = asked["words"]
        return of["tantivy"]["processor"][1], max(LEAST, TIMES * of["raw tantivy"]["processor"][1])

    yield row("tantivy by words, p95: 25 ms", lambda asked: (asked["words"]["tantivy"]["processor"][1], WORDS))
    yield row("tantivy by words, p95: 8 ms or 3 × raw", relative)
    for kind in MEANT:
        yield row(
            f"tantivy, {kind} beyond nearest, p95: 25 ms",
            lambda asked, kind=kind: (asked[kind][BEYOND]["tantivy"]["processor"][1], HYBRID),  # type: ignore[misc] # bound
        )
    yield row(
        "FTS5, the longest of all searches: 250 ms",
        lambda asked: (max(asked[kind]["FTS5"]["processor"][3] for kind in KINDS if kind not in _NO_SEARCH), LONGEST),
    )


_NO_SEARCH = ("suggestions", "similar")


def costs(figures: Figures) -> Iterator[Sequence[str]]:
    """Give the rows of what else grows."""
    for name, cell in _COSTS.items():
        cells = []
        for size, found in figures.items():
            try:
                cells.append(cell(found, int(size)))
            except KeyError:  # of a database that was put there
                cells.append("–")
        yield (name, *cells)


def _rate(papers: float, spent: Sequence[float]) -> str:
    return f"{papers / spent[1]:,.0f}"


def _seconds(spent: Sequence[float]) -> str:
    return f"{number(spent[0])} s ({number(spent[1])})"


def _two(found: Figures, how: Callable[[Any], str]) -> str:
    return f"{how(found['FTS5'])} → {how(found['tantivy'])}"


def _held(memory: Figures) -> str:
    return f"{memory['held']:,.0f} ({memory['anonymous']:,.0f} + {memory['of files']:,.0f})"


def _opened(found: Figures, engine: str, at: str) -> str:
    return _held(found["opened"][engine][at])


_KNOWN = ("", ".search", "-shm", "-wal")


def _beside(found: Figures) -> str:
    """Return the megabytes of files beside the database and its index, by their names' ends."""
    others = {name: size for name, size in found["files"].items() if name not in _KNOWN}
    return ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in others.items()) or "none"


_COSTS: Mapping[str, Callable[[Figures, int], str]] = {
    "stored: papers a second of a processor": lambda found, size: _rate(size, found["made"]["stored"]),
    "quick vectors: papers a second of a processor": lambda found, size: _rate(size, found["made"]["vectors"]),
    "the index made: by the clock (of a processor)": lambda found, _: _seconds(found["made"]["index"]["spent"]),
    "– memory meanwhile, its peak, MiB": lambda found, _: f"{found['made']['index']['after']['peak']:,.0f}",
    "file of the database with vectors, MB": lambda found, _: f"{found['files'][''] / 1e6:,.0f}",
    "folder of the index, MB": lambda found, _: f"{found['files']['.search'] / 1e6:,.0f}",
    "other files beside it, MB": lambda found, _: _beside(found),
    "the very first search with vectors": lambda found, _: _seconds(found["made"]["first with vectors"]),
    "first answer after the start, FTS5": lambda found, _: _seconds(found["opened"]["FTS5"]["first"]),
    "first answer after the start, tantivy": lambda found, _: _seconds(found["opened"]["tantivy"]["first"]),
    "first answer with vectors, FTS5": lambda found, _: _seconds(found["opened"]["FTS5"]["first with vectors"]),
    "first answer with vectors, tantivy": lambda found, _: _seconds(found["opened"]["tantivy"]["first with vectors"]),
    "held after the first answer, FTS5, MiB": lambda found, _: _opened(found, "FTS5", "opened"),
    "held after the first answer, tantivy": lambda found, _: _opened(found, "tantivy", "opened"),
    "held with vectors, FTS5": lambda found, _: _opened(found, "FTS5", "with vectors"),
    "held with vectors, tantivy": lambda found, _: _opened(found, "tantivy", "with vectors"),
    "held after all questions, FTS5": lambda found, _: _opened(found, "FTS5", "asked"),
    "held after all questions, tantivy": lambda found, _: _opened(found, "tantivy", "asked"),
    "peak until then, FTS5 → tantivy": lambda found, _: _two(found["opened"], lambda each: f"{each['asked']['peak']:,.0f}"),
    "a query's vector, made: ms of a processor": lambda found, _: " / ".join(map(number, found["encoding"][:3])),
    "2,000 new papers stored, FTS5 → tantivy": lambda found, _: _two(found["written"]["new"], _seconds),
    "200 changed items stored, FTS5 → tantivy": lambda found, _: _two(found["written"]["changed"], _seconds),
    "the index catches up with those": lambda found, _: _seconds(found["written"]["caught up"]["spent"]),
    "held after all that was stored, MiB": lambda found, _: _held(found["written"]["memory"]),
}


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]
