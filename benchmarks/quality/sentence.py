"""One sentence that says it all: SciTLDR's abstracts, ROUGE against one-sentence summaries by authors and reviewers.

Of several summaries the one with the highest ROUGE-1 counts, for all three measures, as is customary (Cachola and others,
2020), so that figures rise with their number: the training file has one per paper, the development file two, the test file
more; of the first two, papers with three or more are the ones to hold against the test file. Baselines: the first sentence,
a random one (its mean over all), the title. No choice can exceed the sentence that is
best by each measure.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import CROSSED, UNSEEN, Inputs
from benchmarks.quality.metrics import Floats
from benchmarks.quality.records import Record, of_test
from benchmarks.rouge import of_closest
from bot.summarise.choice.scoring import whole_scores

_REACH = (0.44, 0.215, 0.357)
_MANY = 3  # summaries of a paper, as in the test file


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures of every file that is there."""
    learned = [name for name in given.folder.parts("scitldr_a") if not of_test(name)]
    crossed = given.cross_validated("parts", given.folder.all(learned)) if learned else []
    for name in given.folder.parts("scitldr_a"):
        records = given.folder.records(name)
        if name in learned:
            places, crossed, note = crossed[: len(records)], crossed[len(records) :], CROSSED
        else:
            places, note = [int(whole_scores(record["source"], record["title"]).argmax()) for record in records], UNSEEN
        title = f"SciTLDR {name.partition('.')[2]}"
        many = [at for at, record in enumerate(records) if len(references(record)) >= _MANY]
        yield from _figures(title, records, places, note, aims=name not in learned)
        if name in learned and many:
            chosen = [records[at] for at in many], [places[at] for at in many]
            yield from _figures(f"{title}, three summaries or more", *chosen, note, aims=True)


def _figures(name: str, records: Sequence[Record], places: Sequence[int], note: str, *, aims: bool) -> Iterator[Figure]:
    every = [np.array([of_closest(each, references(record)) for each in record["source"]]) for record in records]
    titles = np.array([of_closest(record["title"], references(record)) for record in records])
    for kind, label in enumerate("12L"):
        scores: list[Floats] = [table[:, kind] for table in every]
        yield Figure(
            name,
            f"ROUGE-{label}, one sentence",
            [of_values("ours", [each[place] for each, place in zip(scores, places, strict=True)])],
            (
                of_values("first", [each[0] for each in scores]),
                of_values("random", [each.mean() for each in scores]),
                of_values("title", titles[:, kind]),
            ),
            len(records),
            "abstracts",
            _REACH[kind] if aims else None,
            percent=True,
            note=note,
            ceiling=[of_values("no sentence is above", [each.max() for each in scores])],
        )


def references(record: Record) -> list[str]:
    """Return the summaries that people wrote of a paper."""
    target = record["target"]
    return [target] if isinstance(target, str) else list(target)
