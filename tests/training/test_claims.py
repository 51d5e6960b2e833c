"""How the judge of claims is taught, and what is shipped of it."""

import random
from pathlib import Path

import numpy as np

from bot.summarise.llm.claim_features import FEATURES
from bot.summarise.llm.claims import read_judge
from training.claims import CORRUPTIONS, LAST, Told, cases, extracts, learn, summaries, write

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
    told = Told("It reduces memory by up to 31% and is not trained.", TEXT, written=False)
    chance = random.Random(1)
    made = [corrupt(told, ["and teachers rejoice about every lesson"], chance) for corrupt in CORRUPTIONS]
    assert all(way and way != told.said for way in made)
    number, _, _, unbounded, continued = made
    assert number == "It reduces memory by up to 4.5% and is not trained."
    assert unbounded == "It reduces memory by 31% and is not trained."
    assert continued is not None
    assert continued.endswith("and teachers rejoice about every lesson.")


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
