"""Each kind of corruption does what its name says, and nothing where it cannot."""

import random

import pytest

from benchmarks.quality.corruptions import KINDS, gathered

TEXT = (
    "Long contexts are slow. We present Sieve for PagedAttention, which improves throughput by up to 2.4x. "
    "On five tasks, memory falls by 71%, enabling larger batches on a single machine in practice."
)
OTHER = "They evaluate with RocksDB, allowing small teams to serve large models at home."
ELSEWHERE = gathered([TEXT, OTHER], [*TEXT.split(". "), OTHER])
SAID = "It uses PagedAttention and improves throughput by up to 2.4x, and memory falls by 71%."


def corrupted(kind: str, said: str = SAID) -> set[str | None]:
    return {KINDS[kind](said, TEXT, ELSEWHERE, random.Random(seed)) for seed in range(30)}


def test_names_and_consequences_of_other_texts_are_gathered() -> None:
    assert set(ELSEWHERE.names) == {"RocksDB", "PagedAttention", "Sieve"}
    assert "allowing small teams to serve large models at home" in ELSEWHERE.consequences


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("name invented", SAID.replace("PagedAttention", "RocksDB")),
        ("negation", SAID.replace("improves", "improves").replace("uses", "does not use")),
        ("direction reversed", SAID.replace("improves", "worsens")),
        ("direction reversed", SAID.replace("falls", "rises")),
        ("bound dropped", SAID.replace("up to ", "")),
        ("consequence appended", f"{SAID[:-1]}, allowing small teams to serve large models at home."),
    ],
)
def test_a_claim_is_corrupted_in_one_way(kind: str, made: str) -> None:
    assert made in corrupted(kind)


def test_a_changed_number_stands_nowhere_in_the_text_and_another_subjects_does() -> None:
    assert all(said and said != SAID and "up to" in said for said in corrupted("number changed"))
    assert corrupted("another subject's number") == {None}  # the two have different units
    assert corrupted("another subject's number", "It gains 3.") == {None}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "consequence appended"])
def test_where_there_is_nothing_to_corrupt_nothing_is(kind: str) -> None:
    assert corrupted(kind, "they sleep well") == {None}
