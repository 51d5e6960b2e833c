"""How long the shipped model takes to load, for a query and for abstracts, and the table beside it.

Two speeds are given: by the clock, and by the processor's seconds, which another program beside it does not change.
"""

import argparse
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpus import papers
from bot.embed import shipped
from bot.embed.minilm import MiniLm
from bot.embed.shipped import Table
from bot.models.vectors import text_of_item

QUERIES = 40
ABSTRACTS = 200


def main() -> None:
    """Print a line per figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="papers, one JSON object per line, .xz")
    given = parser.parse_args()
    items = papers(given.corpus, ABSTRACTS)
    for name in ("minilm", "static"):
        size = (shipped.FOLDER / f"{name}.npz").stat().st_size
        print(f"{name}.npz: {size / 1e6:.1f} MB")
    before, start = _memory(), time.perf_counter()
    model = shipped.minilm()
    print(f"load: {time.perf_counter() - start:.2f} s, {_memory() - before:.0f} MB")
    _alone(model, [item.title for item in items[:QUERIES]])
    texts = [text_of_item(item) for item in items]
    made = _together("transformer", model, texts)
    rough = _together("table", shipped.table(), texts)
    print(f"cosine of the table to the transformer: {np.einsum('ij,ij->i', made, rough).mean():.3f}")


def _alone(model: MiniLm, queries: Sequence[str]) -> None:
    took = []
    for query in queries:
        start = time.perf_counter()
        model.encode([query])
        took.append(1000 * (time.perf_counter() - start))
    print(f"a query: median {np.median(took):.1f} ms, p95 {np.percentile(took, 95):.1f} ms")


def _together(name: str, model: MiniLm | Table, texts: Sequence[str]) -> np.ndarray:
    start, worked = time.perf_counter(), time.process_time()
    made = model.encode(texts)
    clock, processor = time.perf_counter() - start, time.process_time() - worked
    print(f"{name}: {len(texts) / clock:.1f} abstracts/s, {len(texts) / processor:.1f} per second of one processor")
    return made


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
