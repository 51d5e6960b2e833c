"""The figures of a judged search, on a set small enough to be counted by hand."""

import pytest

from benchmarks.searched_figures import Answered, Line, answered, report, results, unjudged

QUERIES: list[Line] = [
    {"id": "a", "query": "common", "there": True},
    {"id": "b", "query": "rare", "there": True},
    {"id": "c", "query": "missed", "there": True},
    {"id": "d", "query": "nobody", "there": False},
    {"id": "e", "query": "nothing", "there": False},
]
JUDGED: list[Line] = [
    *({"id": "a", "key": f"a{n}", "grade": grade} for n, grade in enumerate((2, 2, 1, 0, 2, 1, 2))),
    {"id": "b", "key": "b0", "grade": 2},
    {"id": "b", "key": "b1", "grade": 0},
    {"id": "c", "key": "c0", "grade": 1},
]
FOUND: list[Line] = [
    {"id": "a", "keys": ["a0", "a1", "a2", "a3", "unread", "a5", "a6"]},
    {"id": "b", "keys": ["b0", "b1"]},
    {"id": "c", "keys": []},
    {"id": "d", "keys": ["d0"]},
    {"id": "e", "keys": []},
]


def test_the_first_five_are_counted_by_grade_and_what_nobody_judged_is_wrong() -> None:
    assert answered(QUERIES, FOUND, JUDGED) == [Answered(2, 3, 5, 6), Answered(1, 1, 2, 1), Answered(0, 0, 0, 1)]


def test_an_empty_place_is_a_miss_but_not_where_only_what_is_shown_counts() -> None:
    figures = {result.method: result.value for result in results(answered(QUERIES, FOUND, JUDGED))}
    assert figures == {
        "P@5": pytest.approx((3 + 1 + 0) / 15),
        "the most that it could be by what is judged": pytest.approx((5 + 1 + 1) / 15),
        "P@5 of grade 2 alone": pytest.approx((2 + 1 + 0) / 15),
        "right of the first five that could be": pytest.approx((3 / 5 + 1 + 0) / 3),
        "right of what is shown": pytest.approx(4 / 7),
        "success@5": pytest.approx(2 / 3),
        "P@5, five or more there (1)": pytest.approx(3 / 5),
        "success@5, fewer than five there (2)": pytest.approx(1 / 2),
        "right of what is shown, fewer than five there (2)": pytest.approx(1 / 2),
    }


def test_an_interval_holds_its_figure() -> None:
    for result in results(answered(QUERIES, FOUND, JUDGED)):
        low, high = result.interval
        assert low <= result.value <= high


def test_what_is_shown_and_not_judged_is_counted_among_the_first_five_of_what_is_there() -> None:
    assert unjudged(QUERIES, FOUND, JUDGED) == 1


def test_a_report_tells_the_empty_and_those_where_nothing_was_to_be_shown() -> None:
    said = report(QUERIES, FOUND, JUDGED)
    assert said[0] == "nothing shown where something is there: 1 of 3 ['missed']"
    assert said[1] == "nothing shown where nothing is there: 1 of 2; something was for ['nobody']"
    assert said[-1] == "shown and not judged: 1"


def test_without_judgements_only_the_empty_are_told() -> None:
    assert len(report(QUERIES, FOUND, [])) == 2
