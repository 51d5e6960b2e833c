"""Count how common words are, for `bot/rank/common_words.txt`: `python -m benchmarks.build_common_words --corpus PAPERS`.

PAPERS is `arxiv-recent-2025-03_2026-03.jsonl.xz` (dw-dengwei/daily-arXiv-ai-enhanced; metadata CC0): 54,002 papers of
arXiv's computer science. The same data give the same bytes.
"""

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.corpus import rows
from bot.rank.vectors import weighed

TARGET = Path(__file__).parents[1] / "bot" / "rank" / "common_words.txt"
SHARE = 0.002  # of the papers have a word that is listed
HEAD = """\
# How many of {count} papers have each word in title or abstract, as bot.query.fold writes words; those that one in 500 has.
# Made by benchmarks/build_common_words.py from papers of arXiv's computer science, March 2025 to March 2026 (metadata CC0).
# Words that are left out of every vector (bot/rank/common_words.py) are not listed.
{count}
"""


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="papers, one JSON object per line, .xz")
    papers = rows(parser.parse_args().corpus)
    having: Counter[str] = Counter()
    for paper in papers:
        having.update(weighed(paper["title"], paper["abstract"])[0])
    listed = sorted((-count, word) for word, count in having.items() if count >= SHARE * len(papers))
    lines = [f"{word} {-count}\n" for count, word in listed]
    TARGET.write_text(HEAD.format(count=len(papers)) + "".join(lines), encoding="ascii")
    print(f"{len(lines)} words, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
