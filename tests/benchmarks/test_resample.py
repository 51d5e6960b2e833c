"""A corpus made from real papers is like them: the recorded day of the demo, and four times as many papers made from it."""

import gzip
import json
import random
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

import numpy as np
import pytest

from benchmarks import corpus
from benchmarks.resample import Tail, papers
from bot.query.fold import tokens
from bot.sources.arxiv.search_api import parse

RUN = 8  # words


@lru_cache
def real() -> list[dict[str, Any]]:
    """The recorded day as records, over four weeks as days would be; by authors made up, as the recording names none."""
    chance = random.Random(5)
    body = gzip.decompress(files("adapters.cli.demo.recordings").joinpath("arxiv.atom.gz").read_bytes())
    return [
        {
            "id": item.key.removeprefix("arxiv:"),
            "title": item.title,
            "abstract": item.abstract,
            "authors": [
                f"A{number} L{number}" for number in map(int, map(chance.paretovariate, [0.4] * chance.randint(1, 7)))
            ],
            "categories": list(item.categories),
            "first_seen": date(2026, 3, 1 + at % 28).isoformat(),
        }
        for at, item in enumerate(parse(body).items)
    ]


@lru_cache
def made() -> list[dict[str, Any]]:
    """Four times as many papers."""
    return list(papers(real(), 4 * len(real())))


def vocabulary(rows: Sequence[dict[str, Any]]) -> int:
    return len({word for row in rows for word in tokens(f"{row['title']} {row['abstract']}")})


def runs(text: str) -> set[tuple[str, ...]]:
    each = text.split()
    return {tuple(each[at : at + RUN]) for at in range(len(each) - RUN + 1)}


@pytest.mark.parametrize("field", ["title", "abstract"])
def test_texts_are_as_long_as_real_ones(field: str) -> None:
    """The quartiles and the tenths at either end differ by a word of titles and by 8 % of abstracts at most."""
    ours, theirs = (
        np.percentile([len(row[field].split()) for row in rows], [10, 25, 50, 75, 90]) for rows in (made(), real())
    )
    assert ours == pytest.approx(theirs, abs=1, rel=0.08)


def test_as_many_papers_have_as_many_words_and_authors() -> None:
    """As many as real ones have: within 10 % for words, at the whole and at its half, and for authors."""
    for number in (len(real()), len(real()) // 2):
        ours, theirs = made()[:number], real()[:number]
        assert vocabulary(ours) == pytest.approx(vocabulary(theirs), rel=0.1)
        names = [len({name for row in rows for name in row["authors"]}) for rows in (ours, theirs)]
        assert names[0] == pytest.approx(names[1], rel=0.1)


def test_words_grow_on_as_the_real_ones_do() -> None:
    """Heaps' law: to four times as many papers with the exponent that the real ones show from their half on, within 0.1."""
    theirs = np.log2(vocabulary(real()) / vocabulary(real()[::2]))
    ours = np.log2(vocabulary(made()) / vocabulary(made()[::4])) / 2
    assert ours == pytest.approx(theirs, abs=0.1)


def test_words_are_as_frequent_as_real_ones() -> None:
    """Zipf's law: the papers that have the word of a rank, within a fifth."""

    def frequencies(rows: Sequence[dict[str, Any]]) -> list[int]:
        _, counts = np.unique([each for row in rows for each in set(tokens(row["abstract"]))], return_counts=True)
        ordered = np.sort(counts)[::-1]
        return [int(ordered[rank]) for rank in (0, 9, 99, 499, 999)]

    ours = frequencies(made()[: len(real())])
    assert ours == pytest.approx(frequencies(real()), rel=0.2)


def test_a_seed_and_a_size_give_the_same_papers() -> None:
    first, again, other = (
        [json.dumps(row) for row in islice(papers(real(), size, seed), 100)] for size, seed in ((900, 1), (900, 1), (900, 2))
    )
    assert first == again
    assert not set(first) & set(other)


def test_a_corpus_of_any_size_is_made_one_paper_at_a_time() -> None:
    assert len(list(islice(papers(real(), 10**7), 3))) == 3


def test_no_paper_is_another_one() -> None:
    rows = made()
    assert len({corpus.paper(row).key for row in rows}) == len(rows)
    assert len({row["abstract"] for row in rows} | {row["abstract"] for row in real()}) == len(rows) + len(real())
    real_runs = [runs(row["abstract"]) for row in real()]
    taken = [
        max(len(mine & theirs) for theirs in real_runs) / len(mine) for row in rows[::20] if (mine := runs(row["abstract"]))
    ]
    assert np.median(taken) < 0.5
    assert max(taken) < 0.95


def test_days_come_in_order_up_to_the_last_and_history_and_days_grow_alike() -> None:
    days = [date.fromisoformat(row["first_seen"]) for row in made()]
    assert days == sorted(days)
    assert days[-1] == date(2026, 3, 28)
    assert (days[-1] - days[0]).days == pytest.approx(2 * 28, abs=2)  # four times as many papers, twice as long


def test_papers_without_abstracts_make_none() -> None:
    with pytest.raises(ValueError, match="abstract"):
        next(papers([{**real()[0], "abstract": " "}], 3))


@pytest.mark.parametrize("growth", [0.4, 0.6, 0.8])
def test_an_endless_list_gives_new_things_as_heaps_law_says(growth: float) -> None:
    tail = Tail(3.0, growth)
    assert np.log2(tail.distinct(2_000_000) / tail.distinct(1_000_000)) == pytest.approx(growth, abs=0.02)
