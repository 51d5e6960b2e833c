"""The whole run on a folder of a few small files."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.parts import covered
from benchmarks.quality.records import Folder, Record
from benchmarks.quality.similar import precision

ABSTRACT = [
    "Serving large language models is limited by the memory of the cache.",
    "In this paper, we propose a paged cache that shares blocks between requests.",
    "The cache is split into blocks, which a table maps to memory.",
    "Experiments show that throughput improves by 2.4 times over the best baseline.",
]
LABELS = ["background", "objective", "method", "result"]


def put(folder: Path, name: str, records: Sequence[Record]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def measured(folder: Path, capsys: pytest.CaptureFixture[str], *only: str, **options: Path) -> str:
    more = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    main(["--data", str(folder), "--embeddings", "off", *more, "--only", *only])
    return capsys.readouterr().out


def test_the_files_of_a_test_half_are_found_by_their_names(tmp_path: Path) -> None:
    for name in ("csabstruct.test", "scitldr_a.test", "scitldr_a.dev", "novel.train"):
        put(tmp_path, name, [])
    (tmp_path / "notes.txt").write_text("no records")
    folder = Folder(tmp_path)
    assert folder.parts("scitldr_a") == ["scitldr_a.dev", "scitldr_a.test"]
    assert folder.parts("csabstruct") == ["csabstruct.test"]
    assert folder.unknown() == ["novel.train"]


def test_validation_files_of_any_set_are_known(tmp_path: Path) -> None:
    for name in ("csabstracts.validation", "aclsum.val", "scifact.validation", "cacm.val", "scitldr_a.validation"):
        put(tmp_path, name, [])
    assert Folder(tmp_path).unknown() == []


def test_what_is_not_there_is_left_out_and_what_is_unknown_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "novel.train", [])
    told = measured(tmp_path, capsys, "roles", "search", "archive")
    assert "novel.train is no file that is known here" in told
    assert told.count("left out: what it reads was not given") == 3


def test_the_model_that_ships_is_judged_on_a_test_half(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = {"sents": ABSTRACT[:3], "labels": LABELS[:3], "confs": [1.0] * 3}
    put(tmp_path, "csabstruct.test", [{"sents": ABSTRACT, "labels": LABELS, "confs": [1.0] * 4}, without] * 5)
    told = measured(tmp_path, capsys, "roles", json=tmp_path / "figures.json")
    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["figures"]
    assert {each["set"] for each in written} == {"CSAbstruct test"}
    assert {each["note"] for each in written} == {"as shipped"}
    by_name = {each["figure"]: each for each in written}
    # the commonest of the roles that come ten, ten, ten and five times
    assert by_name["accuracy"]["baselines"][0]["value"] == pytest.approx(10 / 35)
    assert by_name["no result reported, AUC"]["n"] == 10
    assert "| CSAbstruct test | test | accuracy; as shipped |" in told


def test_marked_sentences_and_spans_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = {"challenge": [1, 0, 0, 0], "approach": [0, 1, 0, 0], "outcome": [0, 0, 0, 1]}
    record = {"title": "A paged cache", "sentences": {"abstract": ABSTRACT}}
    put(tmp_path, "aclsum.test", [record | {"highlights": {name: {"abstract": mark} for name, mark in marks.items()}}] * 2)
    text = " ".join(ABSTRACT)
    put(tmp_path, "scholar_inbox_highlights", [{"abstract": text, "spans": [[0, len(ABSTRACT[0]), "problem"]]}] * 2)
    told = measured(tmp_path, capsys, "parts")
    assert (
        "| ACLSum test | test | challenge, hit@1 | **100.0** [100.0, 100.0] | first 100.0; last 0.0; random 25.0 |" in told
    )
    assert "| ACLSum test | test | approach, hit@1 | **100.0**" in told
    assert "| Scholar Inbox | whole | problem, hit@1 | **100.0**" in told
    assert (
        "| ACLSum test | test | outcome, shown and right | **100.0** [100.0, 100.0] | shown at all 100.0 | 2 abstracts |"
        in told
    )
    assert "| Scholar Inbox | whole | problem, shown and right | **100.0**" in told


def test_what_is_shown_is_judged_and_not_the_fittest_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The fittest for a result is the second; as evidence nothing of this is shown.
    sentences = ["We propose a paged cache that shares blocks between requests.", "The cache is made of blocks."]
    marks = {"challenge": [0, 0], "approach": [1, 0], "outcome": [0, 1]}
    records = [
        {
            "title": "A paged cache",
            "sentences": {"abstract": sentences},
            "highlights": {name: {"abstract": mark} for name, mark in marks.items()},
        }
    ] * 6
    put(tmp_path, "aclsum.test", records)
    told = measured(tmp_path, capsys, "parts")
    assert "| ACLSum test | test | outcome, hit@1 | **100.0**" in told
    assert "| ACLSum test | test | outcome, shown and right | **0.0** [0.0, 0.0] | shown at all 0.0 | 6 abstracts |" in told
    assert (
        "| ACLSum test | test | challenge, shown where there is none (lower is better) | **0.0** [0.0, 0.0] |  | 6" in told
    )


def test_search_is_judged_through_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = [{"id": str(at), "title": "", "text": text} for at, text in enumerate(ABSTRACT)]
    put(tmp_path, "cacm.corpus", corpus)
    put(tmp_path, "cacm.queries", [{"id": "1", "q": "blocks of a table?", "rel": ["2"]}, {"id": "2", "q": "x", "rel": []}])
    told = measured(tmp_path, capsys, "search")
    assert "| CACM | whole | nDCG@10 | **1.000** [1.000, 1.000] | FTS5 1.000 | 1 questions |" in told


def test_a_screening_set_is_ranked_by_ten_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    about = [(f"Paged caches {at}", "The cache of attention is paged.", 1) for at in range(12)]
    others = [(f"Wheat yields {at}", "Rain in spring makes wheat grow.", 0) for at in range(12)]
    records = [{"title": title, "abstract": text, "label": label} for title, text, label in (*about, *others)]
    put(tmp_path, "slr.caches", records)
    told = measured(tmp_path, capsys, "labels")
    assert "| caches | whole | average precision, 10 marked more | **1.000** [1.000, 1.000] |" in told
    assert "| caches | whole | average precision, 10 as examples | **1.000** [1.000, 1.000] |" in told


def test_a_span_is_hit_when_more_than_half_of_the_shorter_is_shared() -> None:
    text = "One two three. Four five six."
    assert covered(text, ["One two three.", "Four five six."], [(10, 24)]).tolist() == [0.0, 1.0]


def test_candidates_that_the_store_does_not_tell_of_come_last_and_the_relevant_after_the_others() -> None:
    assert precision(["a"], {"a": 3, "b": 0}) == 1.0
    # the first is irrelevant, and of the two that do not come the relevant one is put last
    assert precision(["a"], {"a": 0, "b": 3, "c": 1}) == pytest.approx(1 / 3)
