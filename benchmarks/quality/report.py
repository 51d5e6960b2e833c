"""One table for all figures, as lines of Markdown, and the same as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.figures import Figure, Result

HEAD = (
    "| set | half | figure | ours [95 %] | beside it | n | reach | ours less the best of these [95 %] |",
    "|---|---|---|---|---|---|---|---|",
)


def line(figure: Figure) -> str:
    """Return a figure's line."""
    cells = (
        figure.benchmark,
        figure.half or "whole",
        f"{figure.name}{' (lower is better)' if figure.lower else ''}{f'; {figure.note}' if figure.note else ''}",
        "; ".join(_told(each, figure, first=not at) for at, each in enumerate(figure.ours)),
        "; ".join(f"{each.method} {_number(each.value, figure)}" for each in (*figure.baselines, *figure.ceiling)),
        f"{figure.count:,} {figure.units}",
        _reach(figure),
        _gain(figure),
    )
    return f"| {' | '.join(cells)} |"


def save(path: Path, figures: Sequence[Figure], about: dict[str, object]) -> None:
    """Write everything as JSON."""
    path.write_text(json.dumps({**about, "figures": [_plain(each) for each in figures]}, indent=1) + "\n", encoding="utf-8")


def _told(result: Result, figure: Figure, *, first: bool) -> str:
    low, high = (_number(each, figure) for each in result.interval)
    value = _number(result.value, figure)
    return f"**{value}** [{low}, {high}]" if first else f"{result.method} {value} [{low}, {high}]"


def _reach(figure: Figure) -> str:
    if figure.reach is None:
        return ""
    return f"{'≤' if figure.lower else '≥'} {_number(figure.reach, figure)}: {'yes' if figure.reached else 'no'}"


def _gain(figure: Figure) -> str:
    if figure.gain is None or figure.best is None:
        return ""
    value, low, high = (f"{'+' if each > 0 else ''}{_number(each, figure)}" for each in figure.gain)
    return f"{value} [{low}, {high}]"


def _number(value: float, figure: Figure) -> str:
    if figure.percent:
        return f"{100 * value:.1f}"
    return f"{'-' if value < 0 else ''}{f'{abs(value):.3f}'.removeprefix('0')}"


def _plain(figure: Figure) -> dict[str, object]:
    return {
        "set": figure.benchmark,
        "half": figure.half,
        "figure": figure.name,
        "note": figure.note,
        "n": figure.count,
        "units": figure.units,
        "lower_is_better": figure.lower,
        "reach": figure.reach,
        "reached": figure.reached,
        "best_baseline": figure.best.method if figure.best else None,
        "less_best_baseline": figure.gain,
        **{
            kind: [{"method": each.method, "value": each.value, "interval": each.interval} for each in results]
            for kind, results in (("ours", figure.ours), ("baselines", figure.baselines), ("ceiling", figure.ceiling))
        },
    }
