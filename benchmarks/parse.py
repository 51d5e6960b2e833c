"""Parse rate of arXiv's Atom against feedparser: `python -m benchmarks.parse [FILE…] [--rounds N]`.

Both get the same bytes in the same run: a recorded page of 100 results unless files are named. Ours makes whole Items of
them (TeX, links, licence, withdrawals); feedparser makes its dictionaries.
"""

import argparse
import gzip
import time
from collections.abc import Callable
from pathlib import Path

import feedparser

from bot.sources.arxiv import search_api
from bot.sources.markup import tex_math

PAGE = Path(__file__).parents[1] / "tests" / "payloads" / "arxiv" / "api-page.xml.gz"


def main() -> None:
    """Print entries per second of both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[PAGE])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for path in asked.files:
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        ours = rate(lambda body=body: _ours(body), asked.rounds)  # type: ignore[misc]
        theirs = rate(lambda body=body: len(feedparser.parse(body).entries), asked.rounds)  # type: ignore[misc]
        print(f"{path.name} ({len(body):,} bytes)")
        print(f"  broadsheet {ours:10,.0f} entries/s")
        print(f"  feedparser {theirs:10,.0f} entries/s")
        print(f"  ratio      {ours / theirs:10.1f}")


def rate(parse: Callable[[], int], rounds: int) -> float:
    """Return entries per second of the fastest round."""
    best = 0.0
    for _ in range(rounds):
        started = time.perf_counter()
        entries = parse()
        best = max(best, entries / (time.perf_counter() - started))
    return best


def _ours(body: bytes) -> int:
    for cached in (tex_math._formula, tex_math.symbol, tex_math.accented):
        cached.cache_clear()  # every round is a first one
    return search_api.parse(body).entries


if __name__ == "__main__":
    main()
