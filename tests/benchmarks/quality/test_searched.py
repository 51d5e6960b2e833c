"""The queries by which a search is judged."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.searched_figures import unjudged

FOLDER = Path(__file__).parents[3] / "benchmarks" / "quality" / "searched"


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_sixty_queries_say_what_is_wanted_and_whether_it_is_there() -> None:
    queries = _lines("queries.jsonl")
    assert [query["id"] for query in queries] == [f"q{number:02}" for number in range(1, 61)]
    assert len({query["query"].casefold() for query in queries}) == 60
    assert all(query["query"].strip() and query["want"].strip() for query in queries)
    assert Counter(query["there"] for query in queries) == {True: 48, False: 12}
    assert all(("example" in query) == query["there"] for query in queries)


def test_each_judgement_is_of_a_query_that_has_something_and_is_given_once() -> None:
    judged = _lines("judged.jsonl")
    there = {query["id"] for query in _lines("queries.jsonl") if query["there"]}
    assert {line["id"] for line in judged} == there
    assert len({(line["id"], line["key"]) for line in judged}) == len(judged)
    assert Counter(line["grade"] for line in judged) == {2: 235, 1: 69, 0: 90}


@pytest.mark.parametrize("name", ["before", "before-best", "best-first", "titles", "names"])
def test_all_that_the_kept_answers_show_is_judged(name: str) -> None:
    queries, answers = _lines("queries.jsonl"), _lines(f"answers.{name}.jsonl")
    assert [line["id"] for line in answers] == [query["id"] for query in queries]
    assert all(len(line["keys"]) <= 5 for line in answers)
    assert unjudged(queries, answers, _lines("judged.jsonl")) == 0


def test_forty_more_queries_are_of_other_words_and_judged_in_the_same_way() -> None:
    queries, judged = _lines("development/queries.jsonl"), _lines("development/judged.jsonl")
    assert [query["id"] for query in queries] == [f"d{number:02}" for number in range(1, 41)]
    asked = {query["query"].casefold() for query in queries}
    assert len(asked) == 40
    assert not asked & {query["query"].casefold() for query in _lines("queries.jsonl")}
    assert all(query["want"].strip() for query in queries)
    there = {query["id"] for query in queries if query["there"]}
    assert {line["id"] for line in judged} == there
    assert len(there) == 37
    assert len({(line["id"], line["key"]) for line in judged}) == len(judged)
    assert Counter(line["grade"] for line in judged) == {2: 195, 1: 61, 0: 95}
    for name in ("before", "names"):
        answers = _lines(f"development/answers.{name}.jsonl")
        assert [line["id"] for line in answers] == [query["id"] for query in queries]
        assert unjudged(queries, answers, judged) == 0
