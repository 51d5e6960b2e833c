"""Whether the lines shown as why it matters are lines that a reader would show (`marked/whys_aside.jsonl`).

A reader saw each abstract with its title and the lines that the program of that day could have shown of it, and graded each:
2, glad of it; 1, better than no line; 0, would not show it (`marked/README.md` has the rules). What is shown now is right
where such a line, or one with 60 % of the telling words of one graded 1 or 2 in the same sentence, is it. Of those that have
a reason, so many are shown one; a reason that is in no line counts as one that is there. Measured with `--half aside`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.marked import is_right
from bot.models import PARTS, Item, Kind
from bot.summarise.choice.scoring import WHY
from bot.summarise.extractive import extract

_REACH_SHOWN, _REACH_RIGHT = 0.6, 0.85


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield how many of the abstracts with a reason are shown one, and how many of those shown are right."""
    path = given.marked / "whys_aside.jsonl"
    if given.half != "aside" or not path.exists():
        return
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    whys = [_why(record) for record in records]
    there = [bool(why.found) for why, record in zip(whys, records, strict=True) if _has_one(record)]
    right = [_is_right(why, record) for why, record in zip(whys, records, strict=True) if why.found]
    for figure, values, reach in (
        ("why it matters, shown, of those that have one", there, _REACH_SHOWN),
        ("why it matters, a reader would show it, of those shown", right, _REACH_RIGHT),
    ):
        yield Figure("whys, aside", figure, [of_values("ours", values)], (), len(values), "abstracts", reach, percent=True)


def _why(record: Mapping[str, Any]) -> Any:
    item = Item(key="url:graded", kind=Kind.PAPER, title=record["title"], abstract=" ".join(record["sentences"]))
    return extract(item).parts[PARTS.index(WHY)]


def _has_one(record: Mapping[str, Any]) -> bool:
    return "other" in record or any(grade for _, grade in record["graded"])


def _is_right(why: Any, record: Mapping[str, Any]) -> bool:
    grades = dict(record["graded"])
    if why.text in grades:
        return bool(grades[why.text])
    return is_right(why.text, why.quotes, [(why.quotes[0], text) for text, grade in grades.items() if grade])
