"""The queries by which a search is judged."""

import json
from collections import Counter
from pathlib import Path

QUERIES = Path(__file__).parents[3] / "benchmarks" / "quality" / "searched" / "queries.jsonl"


def test_sixty_queries_say_what_is_wanted_and_whether_it_is_there() -> None:
    queries = [json.loads(line) for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    assert [query["id"] for query in queries] == [f"q{number:02}" for number in range(1, 61)]
    assert len({query["query"].casefold() for query in queries}) == 60
    assert all(query["query"].strip() and query["want"].strip() for query in queries)
    assert Counter(query["there"] for query in queries) == {True: 48, False: 12}
    assert all(("example" in query) == query["there"] for query in queries)
