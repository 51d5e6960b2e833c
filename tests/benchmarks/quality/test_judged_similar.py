"""The judged set of similar papers, and what an answer is worth."""

import pytest

from benchmarks.quality.judged_similar import grades, worth


def test_forty_papers_have_ten_judged_answers_at_least_in_two_halves_that_share_none() -> None:
    development, aside = grades("development"), grades("aside")
    assert (len(development), len(aside)) == (20, 20)
    assert development.keys().isdisjoint(aside)
    for judged in (*development.values(), *aside.values()):
        assert len(judged) >= 10
        assert set(judged.values()) <= {0, 1, 2}
    assert all(asked not in judged for half in (development, aside) for asked, judged in half.items())


def test_what_was_not_judged_is_passed_over_and_an_empty_place_is_worth_nothing() -> None:
    judged = {"a": 2, "b": 1, "c": 0, "d": 2}
    assert worth("P@5", ["x", "a", "b"], judged) == pytest.approx(1 / 5)
    assert worth("P@10", ["a", "d"], judged) == pytest.approx(2 / 10)
    assert worth("nDCG@10", ["a", "d", "x", "b", "c"], judged) == pytest.approx(1)
    assert worth("nDCG@10", [], judged) == 0
