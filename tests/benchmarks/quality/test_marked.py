"""What is shown, held against abstracts that were marked by reading."""

import json
import random
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.inputs import HALVES, MARKED
from benchmarks.quality.marked import HEADLINE, KINDS, LETTERS, is_right, read
from benchmarks.quality.records import Folder
from tests.benchmarks.quality.test_run import ABSTRACT, put

CLAUSE = "throughput improves by 2.4 times"
MARKS: dict[str, Any] = {"l": "PADR", "p": [[0]], "m": [[1], [2]], "e": [[3, CLAUSE]], "w": [], "h": [[3, CLAUSE]]}
RECORD = {"id": "arxiv:2601.00001", "corpus": "recent", "title": "A paged cache", "sentences": ABSTRACT, "marks": MARKS}


def write(folder: Path, name: str, records: Sequence[dict[str, Any]]) -> None:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def measured(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    main(["--data", str(folder), "--embeddings", "off", "--marked", str(folder), "--only", "marked", *more])
    return capsys.readouterr().out


def test_a_text_that_rests_on_the_sentence_and_has_most_of_its_words_is_right() -> None:
    spans = [("It is slow, but throughput improves by 2.4 times.", CLAUSE)]
    quotes = [spans[0][0]]
    assert is_right("Throughput improves by 2.4 times.", quotes, spans)
    assert not is_right("It is slow.", quotes, spans)
    assert not is_right("Throughput improves by 2.4 times.", ["Another sentence."], spans)
    assert not is_right("Throughput improves by 2.4 times.", quotes, [])


def test_parts_are_right_by_the_marks_of_the_half_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none = RECORD | {"marks": {**MARKS, "p": [], "e": [], "h": []}}
    write(tmp_path, "development", [RECORD, none])
    write(tmp_path, "aside", [none])
    told = measured(tmp_path, capsys)
    ours = "| marked, development | development |"
    assert f"{ours} problem, right, of those that have one | **100.0** [100.0, 100.0] |  | 1 abstracts |" in told
    assert f"{ours} problem, right, of those shown | **50.0**" in told
    assert f"{ours} problem, shown, of those that have none (lower is better) | **100.0**" in told
    assert f"{ours} method, right, of those that have one | **100.0** [100.0, 100.0] |  | 2 abstracts |" in told
    assert f"{ours} headline, right in gist or evidence | **100.0**" in told
    assert "marked, aside" not in told
    told = measured(tmp_path, capsys, "--half", "aside")
    assert "| marked, aside | set aside | problem, shown, of those that have none (lower is better) | **100.0**" in told
    assert "marked, development" not in told
    write(tmp_path, "fresh", [none, none])
    told = measured(tmp_path, capsys, "--half", "fresh")
    line = (
        "| marked, fresh | set aside | method, right, of those that have one | **100.0** [100.0, 100.0] |  | 2 abstracts |"
    )
    assert line in told
    assert "marked, aside" not in told


def test_a_text_that_may_not_be_kept_is_found_by_its_id(tmp_path: Path) -> None:
    record: dict[str, Any] = {"id": "acl:p1", "sha256": sha256("\n".join(ABSTRACT).encode()).hexdigest()}
    at = ABSTRACT[3].index(CLAUSE)
    record["marks"] = {**MARKS, "e": [[3, at, at + len(CLAUSE)]]}
    write(tmp_path, "development", [record])
    assert read(tmp_path / "development.jsonl", Folder(tmp_path)) == []
    put(tmp_path, "aclsum.train", [{"id": "p1", "title": "A", "sentences": {"abstract": ABSTRACT}}])
    (found,) = read(tmp_path / "development.jsonl", Folder(tmp_path))
    assert (found.title, found.text) == ("A", " ".join(ABSTRACT))
    assert found.spans["e"] == [(ABSTRACT[3], CLAUSE)]
    put(tmp_path, "aclsum.train", [{"id": "p1", "sentences": {"abstract": ABSTRACT[:3]}}])
    with pytest.raises(ValueError, match="acl:p1 is another than the one that was marked"):
        read(tmp_path / "development.jsonl", Folder(tmp_path))


def test_two_readers_agree_as_far_as_their_marks_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = RECORD | {"marks": {**MARKS, "l": "PADD", "w": [[3]], "e": [[2]]}}
    write(tmp_path, "development", [RECORD])
    write(tmp_path, "aside", [RECORD | {"id": "arxiv:2601.00002"}])
    write(tmp_path, "second", [other, other | {"id": "arxiv:2601.00002"}, other | {"id": "arxiv:2601.00003"}])
    told = measured(tmp_path, capsys)
    assert "| marked twice | whole | letters of sentences agree | **75.0** [75.0, 75.0] |  | 2 abstracts |" in told
    # 3 of 4 alike; by chance P with P, A with A, D with D: (1 + 1 + 2) / 16
    assert "| marked twice | whole | kappa of the letters | **.667**" in told
    assert "| marked twice | whole | why it matters, both say whether there is one | **0.0**" in told
    assert "| marked twice | whole | evidence, the second's best is among the first's | **0.0**" in told
    assert "| marked twice | whole | method, the second's best is among the first's | **100.0**" in told


def test_two_readers_of_the_fresh_abstracts_are_a_set_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = RECORD | {"marks": {**MARKS, "l": "PADD"}}
    fresh = {"id": "arxiv:2601.00002"}
    write(tmp_path, "development", [RECORD])
    write(tmp_path, "fresh", [RECORD | fresh])
    write(tmp_path, "second", [RECORD, other | fresh])
    write(tmp_path, "second_fresh", [other | fresh, other])
    told = measured(tmp_path, capsys)
    assert "| marked twice | whole | letters of sentences agree | **100.0** [100.0, 100.0] |  | 1 abstracts |" in told
    assert (
        "| marked twice, fresh | set aside | letters of sentences agree | **75.0** [75.0, 75.0] |  | 1 abstracts |" in told
    )


def test_a_part_that_is_left_out_is_not_denied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"id": "arxiv:2601.00003", "title": "Caches", "sentences": ABSTRACT[1:2], "span": [], "there": False}
    foreign = bare | {"sentences": ["Диффузионные модели порождают изображения."]}  # said not to be in English
    write(tmp_path, "denied", [each | {"asked": "result"} for each in (bare, bare, foreign)])
    told = measured(tmp_path, capsys)
    assert "| denied | whole | result, denied | **0.0** [0.0, 0.0] |  | 3 abstracts |" in told
    assert "true where denied" not in told


def kept(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (MARKED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def is_exact(span: Sequence[Any], sentences: Sequence[str] | None, count: int) -> bool:
    """Whether a span lies in its sentence, which is known by its place alone where no text is kept."""
    at, *where = span
    if not 0 <= at < count:
        return False
    if sentences is None:
        return not where or (len(where) == 2 and 0 <= where[0] < where[1])
    return not where or (len(where) == 1 and where[0] in sentences[at])


def are_of_the_rules(marks: Mapping[str, Any], sentences: Sequence[str] | None) -> bool:
    """Whether each sentence has a known letter, and each part at most three spans that are exact."""
    letters = marks["l"]
    parts = [marks[part] for part in (*LETTERS.values(), HEADLINE)]
    return (
        set(letters) <= set(KINDS)
        and (sentences is None or len(sentences) == len(letters))
        and all(len(spans) <= 3 for spans in parts)
        and all(is_exact(span, sentences, len(letters)) for spans in parts for span in spans)
    )


def test_the_fresh_abstracts_are_marked_by_the_rules_and_are_in_no_other_file() -> None:
    fresh = kept("fresh")
    ids = {record["id"] for record in fresh}
    assert len(ids) == len(fresh) == 150
    for other in (*(half for half in HALVES if half != "fresh"), "denied", "second", "whys"):
        assert not ids & {record["id"] for record in kept(other)}, other
    for record in fresh:
        sentences = record.get("sentences")
        assert (sentences is None) == (record["corpus"] == "ACL") == ("sha256" in record)
        assert are_of_the_rules(record["marks"], sentences), record["id"]


def test_the_further_abstracts_have_exact_spans_and_are_in_no_other_file() -> None:
    further = kept("further")
    ids = {record["id"] for record in further}
    assert len(ids) == len(further) == 90
    for other in ("development", "denied", "second", "whys"):
        assert not ids & {record["id"] for record in kept(other)}, other
    for record in further:
        sentences, marks = record["sentences"], record["marks"]
        letters = "B" * len(sentences)  # those of the sentences were not marked
        assert are_of_the_rules({**marks, "l": letters}, sentences), record["id"]


def test_the_second_reader_of_the_fresh_abstracts_marked_those_drawn_by_the_rules() -> None:
    fresh = kept("fresh")
    drawn = random.Random(7).sample(fresh, 50)
    again = kept("second_fresh")
    assert [record["id"] for record in again] == [record["id"] for record in drawn]
    for first, second in zip(drawn, again, strict=True):
        assert set(second) == {"id", "marks"}
        assert len(second["marks"]["l"]) == len(first["marks"]["l"]), second["id"]
        assert are_of_the_rules(second["marks"], first.get("sentences")), second["id"]
