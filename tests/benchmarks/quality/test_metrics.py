"""The measures, on cases that are worked out by hand."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality import metrics


def test_a_perfect_order_has_all_the_gain() -> None:
    assert metrics.ndcg([3, 2, 1, 0], [0, 1, 2, 3]) == pytest.approx(1.0)


def test_the_gain_at_the_second_place_counts_less() -> None:
    # 1 / log2(3), over 1 / log2(2)
    assert metrics.ndcg([0, 1], [1, 0]) == pytest.approx(1 / math.log2(3))


def test_what_stands_beyond_the_tenth_place_gains_nothing() -> None:
    assert metrics.ndcg([0] * 10 + [1], [1]) == 0.0


def test_without_anything_relevant_there_is_no_gain() -> None:
    assert metrics.ndcg([0, 0], [0, 0]) == 0.0


def test_what_was_not_found_lowers_the_gain() -> None:
    # of two relevant ones only the first came: 1 / (1 + 1 / log2(3))
    assert metrics.ndcg([1, 0], [1, 1]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_the_reciprocal_rank_is_none_beyond_the_tenth() -> None:
    assert metrics.reciprocal_rank(["a", "b", "c"], "c") == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank([*"abcdefghij", "k"], "k") == 0.0


def test_average_precision_is_the_mean_over_the_relevant() -> None:
    scores, relevant = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False])
    assert metrics.average_precision(scores, relevant) == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_the_area_under_the_curve_counts_pairs_and_halves_of_ties() -> None:
    scores, truths = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    # of four pairs three are right, and one is a tie
    assert metrics.auc(scores, truths) == pytest.approx(3.5 / 4)


def test_one_kind_alone_has_no_curve() -> None:
    assert math.isnan(metrics.auc(np.array([0.1, 0.2]), np.array([True, True])))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=12))
def test_the_area_is_the_share_of_pairs_in_order(pairs: list[tuple[int, bool]]) -> None:
    scores, truths = np.array([score for score, _ in pairs], float), np.array([truth for _, truth in pairs])
    if truths.all() or not truths.any():
        return
    won = [np.sign(one - other) / 2 + 0.5 for one in scores[truths] for other in scores[~truths]]
    assert metrics.auc(scores, truths) == pytest.approx(np.mean(won))


def test_precision_at_half_of_what_is_true() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    truths = np.array([True, False, True, False, True])
    # two of the three true ones are half of them or more; three were listed to find them
    assert metrics.precision_at_recall(scores, truths, 0.5) == pytest.approx(2 / 3)


def test_what_ties_with_the_last_is_listed_too() -> None:
    scores, truths = np.array([0.9, 0.9, 0.1]), np.array([True, False, False])
    assert metrics.precision_at_recall(scores, truths, 0.5) == pytest.approx(1 / 2)


def test_macro_f1_weighs_every_class_alike_and_leaves_out_those_that_never_occur() -> None:
    confusion = np.array([[8.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    first, second = 2 * 8 / (10 + 9), 2 * 1 / (2 + 3)
    assert metrics.macro_f1(confusion) == pytest.approx((first + second) / 2)
    assert metrics.accuracy(confusion) == pytest.approx(9 / 12)


def test_a_confidence_that_says_how_often_it_is_right_has_no_error() -> None:
    sure = np.array([0.75] * 4)
    assert metrics.calibration_error(sure, np.array([True, True, True, False])) == pytest.approx(0.0)
    assert metrics.calibration_error(sure, np.array([True, False, False, False])) == pytest.approx(0.5)


def test_full_confidence_falls_into_the_last_bin() -> None:
    assert metrics.calibration_error(np.array([1.0]), np.array([True])) == 0.0


def test_the_loss_weighs_a_wrong_order_by_how_far_apart_the_ratings_are() -> None:
    # scores against ratings: 5 before 1 is right (4), 3 before 5 is wrong (2), 3 and 1 tie (half of 2)
    rated = [(0.5, 5.0), (0.2, 1.0), (0.9, 3.0)]
    assert metrics.misplaced(rated) == (2.0, 8.0)
    assert metrics.misplaced([(0.5, 3.0), (0.5, 1.0)]) == (1.0, 2.0)


def test_the_loss_does_not_depend_on_the_order_of_the_ratings() -> None:
    rated = [(0.5, 5.0), (0.2, 1.0), (0.9, 3.0), (0.2, 4.0)]
    assert len({metrics.misplaced(order) for order in permutations(rated)}) == 1
