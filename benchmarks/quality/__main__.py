"""Measure everything that the folder allows: one table, beside baselines of the same run.

    python -m benchmarks.quality --data FOLDER [--hf FOLDER] [--corpus FILE] [--json FILE] [--cache FOLDER] [--only NAME …]

docs/benchmarks.md says what each figure is. Files that are not there are left out, and so is what needs an option that was
not given; both are said. With `--embeddings off` everything is measured by words alone, with `fast` by the small table.
"""

import argparse
import importlib
import time
from pathlib import Path

from benchmarks.quality import report
from benchmarks.quality.embedding import Embedding, as_set
from benchmarks.quality.figures import Figure
from benchmarks.quality.inputs import HALVES, MARKED, Inputs
from benchmarks.quality.records import Folder

# Modules of this package: each has `measure`, which yields its figures.
MEASURES = (
    "roles", "parts", "marked", "whys", "gists", "sentence", "claims", "edition", "dangling", "search", "known", "similar",
    "judged_similar", "profiles", "labels", "archive", "digests",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Print the table as it grows, and what was left out."""
    asked = _parser().parse_args(arguments)
    given = _given(asked)
    for name in given.folder.unknown():
        print(f"{name} is no file that is known here: left out.")
    print("\n".join(report.HEAD), flush=True)
    figures: list[Figure] = []
    seconds: dict[str, float] = {}
    for name in asked.only or MEASURES:
        began = time.perf_counter()
        found = []
        for figure in importlib.import_module(f"benchmarks.quality.{name}").measure(given):
            print(report.line(figure), flush=True)
            found.append(figure)
        figures += found
        seconds[name] = round(time.perf_counter() - began, 1)
        if not found:
            print(f"| {name} | left out: what it reads was not given | | | | | | |", flush=True)
    space = given.embedding.space if given.embedding else "off"
    reached = [each.reached for each in figures if each.reached is not None]
    took = ", ".join(f"{name} {took:.0f}" for name, took in seconds.items())
    print(f"\n{sum(reached)} of {len(reached)} aims reached; embeddings: {space}; seconds: {took}.")
    if asked.json:
        report.save(asked.json, figures, {"files": given.folder.names(), "embeddings": space, "seconds": seconds})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a folder with judged files, NAME.jsonl.gz")
    parser.add_argument("--hf", type=_named, help="a folder with days of Hugging Face Daily Papers, YYYY-MM-DD.json.gz")
    parser.add_argument("--corpus", type=_named, help="recent papers, one JSON object per line, .xz")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--cache", type=Path, help="where to keep vectors and cross-validated answers between runs")
    parser.add_argument("--embeddings", choices=("on", "fast", "off"), default="on")
    parser.add_argument("--days", type=int, default=12, help="how many days of Daily Papers are ranked")
    parser.add_argument("--marked", type=Path, default=MARKED, help="a folder with abstracts marked by reading")
    parser.add_argument("--half", choices=HALVES, default="development", help="of the marked abstracts")
    parser.add_argument("--only", nargs="+", choices=MEASURES, metavar="NAME", help=", ".join(MEASURES))
    return parser


def _named(path: str) -> Path | None:
    """An empty name is none: `make bench` hands on what it was not given."""
    return Path(path) if path else None


def _given(asked: argparse.Namespace) -> Inputs:
    embedder = as_set(asked.embeddings)
    return Inputs(
        Folder(asked.data),
        Embedding(embedder, asked.cache) if embedder else None,
        asked.cache,
        asked.corpus,
        asked.hf,
        asked.days,
        asked.marked,
        asked.half,
    )


if __name__ == "__main__":
    main()
