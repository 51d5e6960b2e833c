"""How the judge of claims is taught, and what is shipped of it."""

import random
from pathlib import Path

import numpy as np
import pytest

from bot.summarise.llm.claim_features import FEATURES
from bot.summarise.llm.claims import read_judge
from training.claims import CORRUPTIONS, LAST, Told, cases, extracts, learn, summaries, write
from training.claims_in_other_words import reworded

TEXT = (
    "Caches for long contexts take much memory, which limits how many users a server has at a time. "
    "We present {name}, a cache that keeps the tokens to which later layers attend, and is not trained. "
    "Which tokens these are is told by a small table, which is made once for each model and read before every answer. "
    "It reduces memory by 31% and increases throughput by up to 4.5 times, allowing more users on one server."
)
NAMES = ("Tidy", "Neat", "Trim", "Spare")
PAPERS = [
    {"id": str(at), "title": f"{name}: a cache", "abstract": TEXT.format(name=name), "first_seen": "2025-05-01"}
    for name in NAMES
    for at in range(100)
]
RECORDS = [
    {
        "title": f"{name}: a cache",
        "source": TEXT.format(name=name).split(". "),
        "target": [f"{name} reduces memory by 31% and is not trained."],
    }
    for name in NAMES
]


def test_papers_of_the_last_months_and_short_ones_teach_nothing() -> None:
    late = [{**paper, "first_seen": LAST} for paper in PAPERS]
    short = [{**paper, "abstract": "Withdrawn."} for paper in PAPERS]
    assert list(extracts(iter([*late, *short]))) == []
    assert {told.source.partition(":")[0] for told in extracts(iter(PAPERS))} == set(NAMES)


def test_each_way_of_corrupting_changes_one_thing() -> None:
    said = "It often reduces memory by up to 31% and is not trained."
    assert made("_other_number", said) == {said.replace("31", "4.5")}
    assert made("_unbounded", said) == {said.replace("up to ", ""), said.replace("often ", "")}
    assert made("_undenied", said) == {said.replace("not ", "")}
    assert made("_widened", said) == {said.replace("often", "always")}
    assert made("_in_words", said) == {said.replace("31%", words) for words in ("half", "two thirds", "eighty percent")}
    assert all(way and way.endswith("and teachers rejoice about every lesson.") for way in made("_continued", said))
    for kind in ("_denied", "_turned"):
        assert said not in made(kind, said)
        assert None not in made(kind, said)


def test_the_sides_of_a_comparison_and_the_subjects_of_clauses_are_exchanged() -> None:
    assert made("_exchanged", "We show that the cache outperforms two tables in hits.") == {
        "We show that two tables outperforms the cache in hits."
    }
    assert made("_exchanged", "The cache is much faster than tables.") == {"tables is much faster than The cache."}
    assert made("_subjects_exchanged", "Caches keep keys for long, while tables keep values for a day.") == {
        "tables keep keys for long, while Caches keep values for a day."
    }
    assert made("_numbers_exchanged", "It took 3 hours and 5 users.") == {"It took 5 hours and 3 users."}


@pytest.mark.parametrize("kind", [each.__name__ for each in CORRUPTIONS if each.__name__ != "_continued"])
def test_where_there_is_nothing_to_corrupt_nothing_is(kind: str) -> None:
    assert made(kind, "They sleep") == {None}


def made(kind: str, said: str) -> set[str | None]:
    corrupt = next(each for each in CORRUPTIONS if each.__name__ == kind)
    told = Told(said, TEXT, written=False)
    return {corrupt(told, ["and teachers rejoice about every lesson"], random.Random(seed)) for seed in range(30)}


def test_other_words_leave_figures_names_and_turning_points() -> None:
    said = "Experiments show that we achieve 31% higher accuracy (see below) than Sieve without any training, on 16 tasks."
    told = {reworded(said, random.Random(seed)) for seed in range(30)}
    assert len(told) > 5
    for each in told:
        assert "31%" in each
        assert "higher" in each or "greater" in each
        assert "Sieve without" in each
        assert "16 tasks" in each or "sixteen" in each


def test_what_was_learned_reads_back_as_written_and_tells_the_corrupted(tmp_path: Path) -> None:
    given = list(cases([*extracts(iter(PAPERS)), *summaries(RECORDS)]))
    judge = learn(given)
    write(judge, tmp_path / "claims.json")
    again = read_judge(tmp_path / "claims.json")
    assert again.bar == judge.bar
    assert np.array_equal(again.hidden, judge.hidden)
    rows, wrong = np.array([case.row for case in given]), np.array([case.is_wrong for case in given])
    assert rows.shape[1] == len(FEATURES)
    assert judge.heights(rows[wrong]).mean() > judge.heights(rows[~wrong]).mean()


def test_the_same_texts_teach_the_same() -> None:
    one, other = (learn(list(cases(list(summaries(RECORDS))))) for _ in range(2))
    assert np.array_equal(one.hidden, other.hidden)
    assert one.bar == other.bar
