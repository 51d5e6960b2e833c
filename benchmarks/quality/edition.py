"""The digest of 14 June 2026: our summaries of the five papers that it chose, against what it wrote of them.

ROUGE of the whole summary against the paragraph, and of each part against the sentence of the paragraph that stands for it
(problem, method, evidence, why it matters, in this order). Five papers: the intervals are wide. Baselines: the first four
sentences of the abstract for the whole, its first and its last for a part.
"""

from collections.abc import Iterator, Sequence

from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.rouge import rouge
from bot.models import PARTS
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract
from tests.fakes.edition import chosen, items

_WHOLE = (0.62, 0.38, 0.43)
_WHY = 0.25


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figures; they need no file."""
    by_title = {item.title: item for item in items()}
    told = [(by_title[title], text) for title, text in chosen()]
    summaries = [[part.text for part in extract(item).parts] for item, _ in told]
    abstracts = [split(item.abstract) for item, _ in told]
    for kind, label in enumerate("12L"):
        ours = [rouge(" ".join(parts), [text])[kind] for parts, (_, text) in zip(summaries, told, strict=True)]
        opening = [rouge(" ".join(each[:4]), [text])[kind] for each, (_, text) in zip(abstracts, told, strict=True)]
        yield _figure(f"whole, ROUGE-{label}", ours, {"first four sentences": opening}, _WHOLE[kind])
    wanted = [split(text) for _, text in told]
    for column, part in enumerate(PARTS):
        pairs = [(parts[column], sentences[column]) for parts, sentences in zip(summaries, wanted, strict=True)]
        baselines = {
            name: [rouge(each[at], [sentences[column]])[0] for each, sentences in zip(abstracts, wanted, strict=True)]
            for name, at in (("first", 0), ("last", -1))
        }
        reach = _WHY if column == len(PARTS) - 1 else None
        yield _figure(f"{part.lower()}, ROUGE-1", [rouge(own, [text])[0] for own, text in pairs], baselines, reach)


def _figure(name: str, ours: Sequence[float], baselines: dict[str, list[float]], reach: float | None) -> Figure:
    others = [of_values(method, values) for method, values in baselines.items()]
    return Figure(
        "the digest (looked at)", name, [of_values("ours", ours)], others, len(ours), "papers", reach, percent=True
    )
