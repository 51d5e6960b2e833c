"""Figures, their intervals, and how they are told."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality import figures, metrics, report
from benchmarks.quality.figures import Figure, of_choice, of_shares, of_sums, of_values


def figure(ours: list[float], *baselines: list[float], **more: Any) -> Figure:
    beside = [of_values(f"baseline {at}", each) for at, each in enumerate(baselines)]
    return Figure("set", "hits", [of_values("ours", ours)], beside, len(ours), "abstracts", **more)


def test_a_mean_lies_within_its_interval() -> None:
    result = of_values("ours", [0.0, 1.0] * 50)
    low, high = result.interval
    assert result.value == 0.5
    # the normal approximation of a share: ± 1.96 × 0.05
    assert low == pytest.approx(0.4, abs=0.03)
    assert high == pytest.approx(0.6, abs=0.03)


def test_what_never_varies_has_no_width() -> None:
    assert of_values("ours", [0.25] * 8).interval == (0.25, 0.25)


def test_a_share_is_of_the_sums() -> None:
    assert of_shares("ours", [(1.0, 1.0), (0.0, 3.0)]).value == 0.25


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_sums_and_single_draws_tell_the_same(values: list[float]) -> None:
    one = of_values("ours", values)
    other = of_choice("ours", len(values), lambda chosen: float(np.asarray(values)[chosen].mean()))
    assert one.value == pytest.approx(other.value)
    assert one.draws == pytest.approx(other.draws)


def test_tables_are_summed_before_they_are_judged() -> None:
    tables = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 2.0], [0.0, 0.0]]])
    assert of_sums("ours", tables, metrics.accuracy).value == pytest.approx(2 / 4)


def test_a_difference_is_taken_draw_by_draw() -> None:
    # ours is better by a tenth on each unit: the difference does not vary, however much the units do
    units = [0.1, 0.5, 0.9, 0.2, 0.7]
    gain = figure([unit + 0.1 for unit in units], units).gain
    assert gain == pytest.approx((0.1, 0.1, 0.1))


def test_the_best_baseline_is_the_lowest_where_lower_is_better() -> None:
    lower, higher = figure([0.1], [0.3], [0.2], lower=True).best, figure([0.1], [0.3], [0.2]).best
    assert lower is not None
    assert higher is not None
    assert (lower.method, higher.method) == ("baseline 1", "baseline 0")


def test_an_aim_is_reached_from_its_side() -> None:
    assert figure([0.8], reach=0.8).reached is True
    assert figure([0.79], reach=0.8).reached is False
    assert figure([0.19], reach=0.2, lower=True).reached is True
    assert figure([0.19]).reached is None


def test_a_line_tells_all_that_was_measured() -> None:
    told = report.line(figure([0.8, 0.8], [0.5, 0.5], reach=0.75, percent=True, note="as shipped"))
    ours = "| set | whole | hits; as shipped | **80.0** [80.0, 80.0] | baseline 0 50.0 |"
    assert told == f"{ours} 2 abstracts | ≥ 75.0: yes | +30.0 [+30.0, +30.0] |"


def test_numbers_below_one_are_told_without_their_nought() -> None:
    assert "**.250** [.250, .250]" in report.line(figure([0.25]))
    assert "-.250" in report.line(figure([0.25], [0.5]))
    assert "**10.500**" in report.line(figure([10.5]))


def test_everything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    report.save(path, [figure([0.8], [0.5], reach=0.75)], {"embeddings": "off"})
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["embeddings"] == "off"
    (found,) = written["figures"]
    assert found["ours"] == [{"method": "ours", "value": 0.8, "interval": [0.8, 0.8]}]
    assert found["reached"] is True
    assert found["best_baseline"] == "baseline 0"


def test_there_are_as_many_draws_for_all() -> None:
    assert len(of_values("ours", [1.0, 0.0]).draws) == figures.DRAWS


@pytest.mark.parametrize(
    ("name", "half"),
    [
        ("SciTLDR dev, three summaries or more", "development"),
        ("CSAbstruct dev+train, the surest", "development"),
        ("CS-Abstracts validation", "development"),
        ("ACLSum test", "test"),
        ("marked, aside", "set aside"),
        ("marked, fresh", "set aside"),
        ("Scholar Inbox", ""),
    ],
)
def test_a_figure_says_which_half_it_is_of(name: str, half: str) -> None:
    assert Figure(name, "hits", [], [], 0, "abstracts").half == half
