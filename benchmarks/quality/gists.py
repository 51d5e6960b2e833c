"""How good the lines under the titles are, by readers' grades (`marked/gists_graded.jsonl`).

A reader saw each title and the six lines that the program of that day told best, and graded each: 3, what is new in
concrete words or the headline result with its figure; 2, clearly what the work is, does or found; 1, of some use; 0, weak:
better no line (`marked/README.md` has the rules). Of the papers that the corpus has and whose line is one of those graded:
how many are weak, and how many good or better, beside the line that comes first in the text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.corpus import papers
from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import Inputs
from bot.models import Item
from bot.summarise.short_gist import short_gist

_WEAK, _GOOD = 0, 2
_REACH_WEAK = 1 / 15


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the shares of weak and of good lines; they need the corpus."""
    path = given.marked / "gists_graded.jsonl"
    if given.corpus is None or not path.exists():
        return
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    grades: Mapping[str, Mapping[str, int]] = {record["id"]: dict(record["graded"]) for record in records}
    items = [item for item in papers(given.corpus) if item.key in grades]
    told = [(_shown(item, grades[item.key]), next(iter(grades[item.key].values()))) for item in items]
    graded = [(shown, first) for shown, first in told if shown is not None]
    if graded:
        yield _share("weak", [shown == _WEAK for shown, _ in graded], [first == _WEAK for _, first in graded], _REACH_WEAK)
        yield _share("good or better", [shown >= _GOOD for shown, _ in graded], [first >= _GOOD for _, first in graded])


def _shown(item: Item, grades: Mapping[str, int]) -> int | None:
    return grades.get(short_gist(item).text)


def _share(name: str, ours: Sequence[bool], first: Sequence[bool], reach: float | None = None) -> Figure:
    baseline = [of_values("the first line of the text", first)]
    results = [of_values("ours", ours)]
    return Figure("gists", name, results, baseline, len(ours), "papers", reach, percent=True, lower=reach is not None)
