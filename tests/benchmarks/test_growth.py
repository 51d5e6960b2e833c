"""The benchmark of growth: from a corpus to its figures, and from these to the tables and the plot in the documents."""

import json
import re
from argparse import Namespace
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import PLAN, filled
from benchmarks.growth.__main__ import main
from benchmarks.growth.asking import KINDS
from benchmarks.growth.plot import plot
from benchmarks.growth.report import DOCS, FIGURES, PLOT, aims, answers, document, kept, write_docs
from tests.benchmarks.test_resample import real

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def figures() -> dict[str, Any]:
    """Figures of two sizes, as if they were the same for both."""
    first = next(iter(kept(FIGURES).values()))
    return {"54002": deepcopy(first), "151002": deepcopy(first)}


def test_the_tables_in_the_documents_are_those_of_the_figures() -> None:
    text = DOCS.read_text("utf-8")
    assert document(text, kept(FIGURES)) == text, "python -m benchmarks.growth --docs"


def test_the_plot_in_the_documents_is_drawn_from_the_figures() -> None:
    assert plot(kept(FIGURES)) == PLOT.read_text("utf-8"), "python -m benchmarks.growth --docs"


def test_the_plot_has_a_panel_for_each_kind_and_more_time_higher_up(figures: dict[str, Any]) -> None:
    for size, value in zip(figures, (3.0, 20.0), strict=False):
        figures[size]["asked"]["words"]["tantivy"]["processor"][1] = value
    drawing = ElementTree.fromstring(plot(figures))
    kinds = [each.text for each in drawing.iter(f"{SVG}text") if each.get("class") == "kind"]
    dots = [each for each in drawing.iter(f"{SVG}circle") if each.get("class") == "tantivy"]
    assert kinds == list(KINDS)
    assert len(dots) == len(KINDS) * len(figures)
    assert float(dots[0].get("cy", "")) > float(dots[1].get("cy", ""))
    assert float(dots[0].get("cx", "")) < float(dots[1].get("cx", ""))


def test_the_plot_asks_for_nothing_outside_and_is_told_in_words(figures: dict[str, Any]) -> None:
    drawing = plot(figures)
    assert re.findall(r"https?://\S+?(?=\")", drawing) == [SVG.strip("{}")]
    assert "54,002" in (ElementTree.fromstring(drawing).findtext(f"{SVG}title") or "")
    assert "prefers-color-scheme: dark" in drawing


def test_a_missed_aim_says_what_it_was(figures: dict[str, Any]) -> None:
    size = next(iter(figures))
    words = figures[size]["asked"]["words"]
    words["tantivy"]["processor"][1], words["raw tantivy"]["processor"][1] = 12.0, 3.0
    absolute, relative, *_ = aims({size: figures[size]})
    assert absolute[1] == "12.0, kept"
    assert relative[1] == "**12.0 of 9.0**"


def test_answers_say_of_how_many_questions_they_are_and_how_many_were_made_of_a_part(figures: dict[str, Any]) -> None:
    size = next(iter(figures))
    figures[size]["asked"]["OR"]["raw FTS5"]["asked"] = 7
    figures[size]["asked"]["OR"]["FTS5"]["partial"] = 3
    (row,) = [line for line in answers({size: figures[size]}) if line.startswith("| OR |")]
    assert "(7)" in row
    assert row.endswith("| 3, 0 |")


def test_make_bench_measures_the_sizes_that_it_is_given() -> None:
    given = Namespace(corpus="papers.xz", sizes=[10, 20], folder="", docs=True)
    ((options, needed),) = [(options, needed) for name, options, needed in PLAN if name == "growth"]
    assert [*filled(options, given)] == ["--corpus", "papers.xz", "--sizes", "10", "20", "--folder", "", "--docs"]
    assert needed == "corpus"


@pytest.mark.long
def test_a_corpus_is_measured_in_two_sizes_and_a_second_time_without_being_made_again(tmp_path: Path) -> None:
    papers, result = tmp_path / "papers.jsonl", tmp_path / "figures.json"
    papers.write_text("".join(f"{json.dumps(row)}\n" for row in real()[:300]), "utf-8")
    options = ["--corpus", str(papers), "--folder", str(tmp_path / "made"), "--queries", "3", "--new", "20"]
    main([*options, "--json", str(result), "--sizes", "300", "400"])
    first = kept(result)
    main([*options, "--json", str(result), "--sizes", "400"])
    second = kept(result)

    assert list(second) == ["300", "400"]
    assert [second[size]["from"] for size in second] == ["papers-300-real", "papers-400-seed-1"]
    assert second["300"] == first["300"]
    assert second["400"]["made"] == first["400"]["made"]
    assert second["400"]["asked"] != first["400"]["asked"]
    assert {kind: found["pages"]["same"] for kind, found in first["300"]["asked"].items() if kind in ("newest", "OR")} == {
        "newest": 3,
        "OR": 3,
    }
    assert not list((tmp_path / "made").glob("measured-*"))
    docs = tmp_path / "benchmarks.md"
    docs.write_text(DOCS.read_text("utf-8"), "utf-8")
    write_docs(second, docs)
    assert "papers-400" not in docs.read_text("utf-8")
    assert "| 400 |" in docs.read_text("utf-8")
    assert kept(tmp_path / FIGURES.name) == second
