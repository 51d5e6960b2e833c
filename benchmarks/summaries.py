"""How fast extractive summaries are made, and where the time goes: milliseconds of a processor per abstract.

    python -m benchmarks.summaries [--corpus FILE] [--show]

Of the papers of one edition, or of the last thousand of the corpus: the whole summary, and apart the splitting into
sentences and the roles of these, the best of five rounds. The model is loaded before. `--show` prints the edition's five
beside what a digest wrote of them. How good they are, `benchmarks.quality` measures.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.corpus import papers
from bot.models import Item, Kind
from bot.summarise.choice.roles import role_probabilities
from bot.summarise.english.sentences import split
from bot.summarise.extractive import extract
from tests.fakes.edition import chosen, items

_LAST, _ROUNDS = 1000, 5


def best_of(rounds: int, each: Callable[[Item], object], over: Sequence[Item]) -> float:
    """Return the milliseconds of processor time per item, of the quickest round."""
    taken = []
    for _ in range(rounds):
        extract.cache_clear()
        began = time.process_time()
        for item in over:
            each(item)
        taken.append(time.process_time() - began)
    return 1000 * min(taken) / len(over)


def show() -> None:
    """Print what a digest wrote of five papers, and our summaries of them."""
    by_title = {item.title: extract(item) for item in items()}
    for title, text in chosen():
        print(f"\n# {title}", *(f"  {part.name}: {part.text}" for part in by_title[title].parts), f"  -- {text}", sep="\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summaries", description=__doc__)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        show()
    over = papers(given.corpus)[-_LAST:] if given.corpus else [each for each in items() if each.kind is Kind.PAPER]
    extract(over[0])
    whole = best_of(_ROUNDS, extract, over)
    splitting = best_of(_ROUNDS, lambda item: split(item.abstract), over)
    roles = best_of(_ROUNDS, lambda item: role_probabilities(split(item.abstract)), over) - splitting
    print(f"{len(over)} papers: {whole:.2f} ms per summary, {1000 / whole:.0f} a second on one core;")
    print(f"of it {splitting:.2f} ms splitting into sentences, {roles:.2f} ms their roles.")


if __name__ == "__main__":
    main()
