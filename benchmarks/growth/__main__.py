"""How searching, storing and memory grow with the number of papers: FTS5 and tantivy, whole and alone, in the same run.

    python -m benchmarks.growth --corpus papers.jsonl.xz [--sizes 54002 151002 500000 1000000] [--folder DIR]
        [--queries 100] [--json FILE] [--docs]

Of each size there is a database: the papers of the corpus themselves where it is as large, otherwise papers that
benchmarks.resample makes from them. With `--folder` they are kept there, `papers-151002-seed-1/papers.db` with its vectors,
its index and `made.json`, what making them took, so that another run measures only; it works on a copy. One that was put
there by hand is taken, without those figures; its index is made anew.

Each is asked by 100 questions of each kind, the same for all sizes, query by turns through the whole path of either engine
(text, parse, search, ten whole items), by FTS5 alone (the statements that the store runs, unbounded, on a plain connection)
and by tantivy alone (the compiled query on a plain searcher, ten ids). Texts are runs of one to four words of titles, as in
benchmarks.search; "prefix" has the last word half typed, "OR" any of the words or *model*; "hybrid" has the query's vector
too, and what finding what is near takes is measured apart; suggestions are for half-typed queries, through their handler;
similar are papers close to one of 100, by words and vectors. Of three warm runs the quickest counts, in milliseconds of the
processor; the clock's are in the JSON. Who has had half a minute of a processor for a kind is not asked the rest. Where a
page was made in part (Page.examined), it is counted.

Beside it: what storing, vectors and the index took; how large the files are; what a process of either engine takes from its
start to its first answer, and holds; what storing 2,000 new papers and 200 changed ones takes, and what an index takes that
was off meanwhile until it answers. Every step of every size has a process of its own; the files are warm.

`--json FILE` keeps the figures, beside those of other sizes that it has. `--docs` writes docs/growth.json, the plot
docs/growth.svg and the tables in docs/benchmarks.md: of FILE's figures, of what was measured, or of docs/growth.json itself.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import corpus, resample
from benchmarks.growth.asking import ask_all, cuts
from benchmarks.growth.engines import Question, questions
from benchmarks.growth.made import NAME, folder_of, make
from benchmarks.growth.memory import alone
from benchmarks.growth.opening import opening
from benchmarks.growth.report import DOCS, FIGURES, keep, kept, tables, write_docs
from benchmarks.growth.writing import write
from benchmarks.search import NOW
from bot.models import Item

SIZES = (54_002, 151_002)
NEW = 2_000
_OF = 3_000  # papers that those are made of
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """What is asked of every database, and what it is given."""

    papers: Path
    real: int
    asked: Sequence[Question]
    encoding: Sequence[float]  # what the vector of each question took, in milliseconds of a processor
    new: Sequence[Item]


def given(papers: Path, queries: int, new: int) -> Given:
    """Return the questions and the new papers that are made of a corpus."""
    rows = corpus.rows(papers)
    asked, encoding = questions([corpus.paper(row) for row in rows], queries)
    made = resample.papers(rows[-_OF:], 2 * new, seed=2)
    # Beyond the keys of those that are stored.
    fresh = [replace(corpus.paper(row), key=f"arxiv:2699.{at:05}") for at, row in enumerate(made)]
    return Given(papers, len(rows), asked, encoding, fresh)


def measure(size: int, folder: Path, work: Given) -> Figures:
    """Return all figures of one size, and say how far it is."""
    begin = time.perf_counter()
    print(f"{size:,} papers", flush=True)
    making = make(folder, work.papers, size, work.real, work.asked[0].near)
    kept = folder_of(folder, size, work.real)
    found: Figures = {"from": kept.name, "made": making, "encoding": cuts(work.encoding)}
    copied = Path(tempfile.mkdtemp(prefix="measured-", dir=folder))
    try:
        path = shutil.copytree(kept, copied / "copy") / NAME
        for name, step in _steps(path, work).items():
            print(f"  {name} from {time.perf_counter() - begin:,.0f} s on", flush=True)
            found[name] = step()
    finally:
        shutil.rmtree(copied)
    print(f"  done after {time.perf_counter() - begin:,.0f} s", flush=True)
    return found


def _steps(path: Path, work: Given) -> Mapping[str, Callable[[], Figures]]:
    """Return by their names what is measured of a copy, in this order: storing comes last."""
    asked = [(question.text, question.near) for question in work.asked]
    return {
        "files": lambda: sizes(path),
        "opened": lambda: {engine: opening(path, engine, NOW, asked) for engine in ("FTS5", "tantivy")},
        "asked": lambda: alone(ask_all, path, work.asked),
        "written": lambda: alone(write, path, *_halves(work.new)),
    }


def _halves(items: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    return items[: len(items) // 2], items[len(items) // 2 :]


def sizes(path: Path) -> dict[str, int]:
    """Return the bytes of the database, of its index, and of whatever else there is beside it, by its name's end."""
    found: dict[str, int] = {}
    for each in sorted(path.parent.glob(f"{path.name}*")):
        files = [file for file in each.rglob("*") if file.is_file()] if each.is_dir() else [each]
        found[each.name.removeprefix(path.name)] = sum(file.stat().st_size for file in files)
    return {name: size for name, size in found.items() if size >= 1000}  # locks have less


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables, and keep what is to be kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--folder", default="", help="where the databases are kept; a temporary folder without it")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--new", type=int, default=NEW, help="papers that come while the index is off, and again with it")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.corpus is None and not asked.docs:
        parser.error("--corpus names the papers; without it --docs writes the documents again")
    figures = kept(asked.json or FIGURES) if asked.docs or asked.json else {}
    if asked.corpus is not None:
        figures = _measured(asked, figures)
    print(tables(figures))
    if asked.docs:
        write_docs(figures, DOCS)


def _measured(asked: argparse.Namespace, figures: Figures) -> Figures:
    """Measure size by size, and keep the figures after each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(asked.folder or name)
        folder.mkdir(parents=True, exist_ok=True)
        work = given(asked.corpus, asked.queries, asked.new)
        for size in asked.sizes:
            figures = _sorted({**figures, str(size): measure(size, folder, work)})
            if asked.json is not None:
                keep(asked.json, figures)
    return figures


def _sorted(figures: Figures) -> Figures:
    return {size: figures[size] for size in sorted(figures, key=int)}


if __name__ == "__main__":
    main()
