"""The dashboard that an operator copies asks for nothing that is not told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.health.metrics import exposition
from bot.models import DeliveryState
from bot.service.health import LaneMetrics, Metrics, ProcessMetrics, SharedMetrics, SourceMetrics

DASHBOARD = json.loads((Path(__file__).parents[3] / "config" / "grafana-dashboard.json").read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
FULL = Metrics(
    uptime=60.0,
    tick_age=3.0,
    lag=0.01,
    blocked=0,
    jobs={"tick": (4, 0)},
    counts={},
    ledger={**{str(state): 0 for state in DeliveryState}, "due": 0},
    sources=[SourceMetrics("arxiv", True, 60.0, 10, 0, 0)],
    platforms={"slack": True},
    unreadable={"slack": 0},
    untold={"slack": 0},
    vectors={"whole": 1},
    shared=SharedMetrics(
        lanes=[LaneMetrics("deliver", "slack:3", 5, 12.0)],
        leases=["clock"],
        processes=[ProcessMetrics("host-1-a", "clock make", "1", 2.0)],
        rests=["call discord"],
        rescues={"job": 0, "lane": 0, "process": 0},
        waits={"discord": 1.5},
        behind=(0, 0.5),
    ),
)


def told() -> dict[str, set[str]]:
    """Every name that can be asked for, with its labels; a name without a sample is told all the same."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(exposition(FULL).decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_metric_and_label_that_a_panel_asks_for_is_told(expression: str) -> None:
    names = set(re.findall(r"\bbroadsheet_\w+", expression))
    grouped = {label for labels in re.findall(r"\bby \(([^)]*)\)", expression) for label in labels.split(", ")}
    matched = set(re.findall(r"[{,](\w+)[=!]", expression)) - {"job", "instance"}

    assert names
    assert names <= set(told())
    for name in names:
        assert grouped | matched <= told()[name]


def test_the_panels_have_places_of_their_own_and_name_their_data_source() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at: dict[str, Any] = panel["gridPos"]
        here = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not here & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        assert panel["datasource"]["uid"] == "${datasource}"
        taken |= here
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_nothing_is_told_of_the_process_that_prometheus_would_tell_by_itself() -> None:
    assert all(name.startswith("broadsheet_") for name in told())


def test_the_metrics_of_the_document_are_those_that_are_told() -> None:
    text = (Path(__file__).parents[3] / "docs" / "running.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `(broadsheet_\w+)` \|", text, re.MULTILINE) == list(told())
