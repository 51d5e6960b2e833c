"""How good the answers of a search are, by judgements made by reading.

An answer has a query's `id` and the `keys` that were shown; a query has `id` and `there`, whether the collection has
something for it; a judgement has `id`, `key` and `grade`: 2 right, 1 partly, 0 no.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.quality.figures import Result, of_shares, of_values

FIRST = 5
RIGHT = 2
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """How many of the first five of a query are of grade 2, of 1 or 2, shown at all, and how many are known to exist."""

    exact: int
    good: int
    shown: int
    known: int


def answered(queries: Sequence[Line], found: Sequence[Line], judged: Sequence[Line]) -> list[Answered]:
    """Return what each query showed for which something is there; what is not judged counts as wrong."""
    grades = {(line["id"], line["key"]): int(line["grade"]) for line in judged}
    known = Counter(number for (number, _), grade in grades.items() if grade)
    shown = {line["id"]: line["keys"][:FIRST] for line in found}
    rows = []
    for number in (query["id"] for query in queries if query["there"]):
        given = [grades.get((number, key), 0) for key in shown[number]]
        rows.append(Answered(given.count(RIGHT), len(given) - given.count(0), len(given), known[number]))
    return rows


def results(rows: Sequence[Answered]) -> list[Result]:
    """Return the figures over the queries; an empty place among the five is a miss, save in what is shown."""
    few = [row for row in rows if row.known < FIRST]
    many = [row for row in rows if row.known >= FIRST]
    figures = [
        of_values("P@5", [row.good / FIRST for row in rows]),
        of_values("the most that it could be by what is judged", [min(FIRST, row.known) / FIRST for row in rows]),
        of_values("P@5 of grade 2 alone", [row.exact / FIRST for row in rows]),
        of_values("right of the first five that could be", [row.good / max(1, min(FIRST, row.known)) for row in rows]),
        of_shares("right of what is shown", [(row.good, row.shown) for row in rows]),
        of_values("success@5", [row.good > 0 for row in rows]),
    ]
    if many:
        figures.append(of_values(f"P@5, five or more there ({len(many)})", [row.good / FIRST for row in many]))
    if few:
        figures += [
            of_values(f"success@5, fewer than five there ({len(few)})", [row.good > 0 for row in few]),
            of_shares(f"right of what is shown, fewer than five there ({len(few)})", [(row.good, row.shown) for row in few]),
        ]
    return figures


def unjudged(queries: Sequence[Line], found: Sequence[Line], judged: Sequence[Line]) -> int:
    """Return how many results are shown, where something is there, that nobody judged."""
    there = {query["id"] for query in queries if query["there"]}
    known = {(line["id"], line["key"]) for line in judged}
    return sum((line["id"], key) not in known for line in found if line["id"] in there for key in line["keys"][:FIRST])


def report(queries: Sequence[Line], found: Sequence[Line], judged: Sequence[Line]) -> list[str]:
    """Return the figures, a line each; the precisions only with judgements."""
    there = {query["id"]: query["there"] for query in queries}
    words = {query["id"]: query["query"] for query in queries}
    empty = [words[line["id"]] for line in found if there[line["id"]] and not line["keys"]]
    told = [words[line["id"]] for line in found if not there[line["id"]] and line["keys"]]
    absent = len(there) - sum(there.values())
    said = [
        f"nothing shown where something is there: {len(empty)} of {sum(there.values())} {empty}",
        f"nothing shown where nothing is there: {absent - len(told)} of {absent}; something was for {told}",
    ]
    if not judged:
        return said
    for result in results(answered(queries, found, judged)):
        low, high = result.interval
        said.append(f"{result.method}: {result.value:.3f} [{low:.3f}, {high:.3f}]")
    return [*said, f"shown and not judged: {unjudged(queries, found, judged)}"]
