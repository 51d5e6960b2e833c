"""What is counted of cards."""

import json
from pathlib import Path

import pytest

from benchmarks.cards import JOINS, _Said, draw, has_figure, make, rows, why_class
from bot.models import Item, Kind

ABSTRACT = (
    "Serving large language models is limited by the memory of the cache. In this paper, we propose a paged cache that "
    "shares blocks between requests. Experiments show that throughput improves by 2.4 times over the best baseline. This "
    "makes it possible to serve long contexts on one machine."
)


def faults(text: str) -> set[str]:
    return {name for name, rule in JOINS.items() if rule(_Said(text, frozenset({"nomp"})))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Proposes a cache that sizes itself.", set()),
        ("The method, which is fast, The authors propose it.", {"a capital inside"}),
        ("The cache is split into blocks of.", {"ends in the air"}),
        ("The cache is is split.", {"a word twice"}),
        ("The cache (of pages is split.", {"an open bracket"}),
        ("The cache has two parts: 1) pages, and 2) blocks.", set()),
        ("the cache is split.", {"begins in lower case"}),
        ("nomp is a cache.", set()),
        ("The cache is split and …", {"ends in the air", "broken off"}),
        ("A cache of many blocks.", {"no verb"}),
        ("Existing methods suffer from noise.", set()),
    ],
)
def test_what_a_join_leaves_behind_is_counted(text: str, expected: set[str]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    "text", ["gains 3 points", "is 2.4x faster", "by 12%", "an AUC of 0.93", "1.5 ms", "two orders of magnitude", "24 fps"]
)
def test_a_number_that_measures_is_a_figure(text: str) -> None:
    assert has_figure(text)


@pytest.mark.parametrize(
    "text", ["GPT-4 and Qwen 2.5", "in 2024", "the 1990s", "3D scenes", "three steps", "k8s", "Llama-3.1"]
)
def test_a_name_a_year_and_a_count_are_none(text: str) -> None:
    assert not has_figure(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Keywords: caches, pages", "keywords"),
        ("The code is available.", "availability"),
        ("Points to future work on caches.", "future"),
        ("The study is limited by its small sample.", "limitation"),
        ("This enables long contexts on one machine.", "consequence"),
        ("Caches are crucial for serving.", "importance"),
        ("The cache outperforms the baseline by 3%.", "result"),
        ("Uses a table of blocks.", "method detail"),
        ("Caches are pages.", "other"),
    ],
)
def test_a_why_is_told_by_its_words(text: str, expected: str) -> None:
    assert why_class(text) == expected


def test_a_card_is_counted_as_it_is_shown() -> None:
    made = make(Item(key="arxiv:2601.00001", kind=Kind.PAPER, title="A paged cache", abstract=ABSTRACT))
    told = {what: value for what, _, value in rows([made])}
    assert told["gists with a figure"] == told["cards with a figure"] == 100.0
    assert told["problem: on the card"] == 100.0
    assert told["words, card: most"] == made.words
    assert told["joins: any of these"] == 0.0


def test_papers_that_were_marked_by_reading_are_not_drawn(tmp_path: Path) -> None:
    row = {"title": "A cache", "abstract": ABSTRACT, "authors": [], "categories": [], "created": "2026-01-01"}
    corpus = tmp_path / "papers.jsonl"
    corpus.write_text("".join(json.dumps(row | {"id": f"2601.0000{at}"}) + "\n" for at in range(3)))
    marked = tmp_path / "marked.jsonl"
    marked.write_text('{"id": "arxiv:2601.00001"}\n')
    drawn = draw(corpus, 5, 1, [marked, tmp_path / "absent.jsonl"])
    assert {item.key for item in drawn} == {"arxiv:2601.00000", "arxiv:2601.00002"}
