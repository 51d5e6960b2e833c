"""How tall a digest is in the chats: the recorded day's, drawn by headless Chromium.

    python -m benchmarks.heights [slack] [discord] [--layout brief] [--pictures FOLDER]

The digests are those of `broadsheet demo`, for every pack and with seven entries. Of each: its messages in the channel, how
tall they are together at 700 and 390 CSS pixels, and the bytes of their JSON (Slack's blocks, Discord's components). With
`--pictures`, each is drawn into the folder.
"""

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from adapters.cli.demo.recorded_run import run_demo
from benchmarks.heights.chromium import DESKTOP, PHONE, Column, heights, picture
from benchmarks.heights.discord import DISCORD
from benchmarks.heights.drawing import LAYOUTS, Drawing, Json
from benchmarks.heights.slack import SLACK
from bot.models import Digest
from bot.settings.topic_packs import load_packs

ENTRIES = 7
WIDTHS = (DESKTOP, PHONE)
DRAWINGS = {each.name: each for each in (SLACK, DISCORD)}


@dataclass(frozen=True, slots=True)
class Measured:
    """One digest in one layout."""

    topic: str
    entries: int
    messages: int  # in the channel
    largest: int  # bytes of its largest message's JSON
    heights: tuple[int, ...]  # at each of WIDTHS
    estimates: tuple[int, ...]  # of the same, as tests estimate it


def measured(drawing: Drawing, digests: Sequence[Digest], layout: str) -> list[Measured]:
    """Return how tall each digest is in the channel."""
    shown = [drawing.messages(each, layout)[: drawing.in_channel(layout)] for each in digests]
    columns = [Column("".join(map(drawing.drawn, bodies)), width) for bodies in shown for width in WIDTHS]
    found = iter(heights(drawing.style, columns))
    return [
        Measured(
            topic=each.topic,
            entries=len(each.entries),
            messages=len(bodies),
            largest=max(map(drawing.size, bodies)),
            heights=tuple(next(found) for _ in WIDTHS),
            estimates=tuple(_estimate(drawing, bodies, width) for width in WIDTHS),
        )
        for each, bodies in zip(digests, shown, strict=True)
    ]


def _estimate(drawing: Drawing, bodies: Sequence[Json], width: int) -> int:
    return sum(drawing.estimate(each, width) for each in bodies) if drawing.estimate else 0


def tell(name: str, layout: str, rows: Sequence[Measured]) -> None:
    """Print a table, and the medians of the digests that have all seven entries."""
    print(f"\n{name}, {layout}: messages in the channel, pixels at {' and '.join(map(str, WIDTHS))}, bytes of the largest")
    for each in rows:
        tall = "".join(f"{height:8,}" for height in each.heights)
        print(f"  {each.topic:24} {each.entries:2} entries {each.messages:2}{tall} {each.largest:8,}")
    whole = [each for each in rows if each.entries == ENTRIES]
    if whole:
        tall = "".join(f"{median(each.heights[at] for each in whole):8,.0f}" for at in range(len(WIDTHS)))
        count, largest = median(each.messages for each in whole), median(each.largest for each in whole)
        print(f"  {f'median of {len(whole)}':24} {ENTRIES:2} entries {count:2.0f}{tall} {largest:8,.0f}")
    for at, width in enumerate(WIDTHS):
        off = [each.estimates[at] / each.heights[at] - 1 for each in rows if each.estimates[at]]
        if off:
            print(f"  the tests' estimate at {width}: off by {median(off):+.1%}, from {min(off):+.1%} to {max(off):+.1%}")


def draw(drawing: Drawing, digest: Digest, layout: str, folder: Path) -> None:
    """Write the digest's pictures: what stands in the channel, and where there is a thread that too."""
    bodies, first = drawing.messages(digest, layout), drawing.in_channel(layout)
    places = {"": bodies[:first], "-thread": bodies[first:] if first else ()}
    for place, shown in places.items():
        for width in WIDTHS if shown else ():
            column = Column("".join(map(drawing.drawn, shown)), width)
            picture(drawing.style, column, folder / f"{drawing.name}-{digest.topic}-{layout}{place}-{width}.png")


def main() -> None:
    """Measure, and draw where a folder is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heights", description=__doc__)
    parser.add_argument("--layout", choices=LAYOUTS, action="append", help="only this one")
    parser.add_argument("--pictures", type=Path, help="the folder into which pictures are written")
    parser.add_argument("--topic", action="append", help="only this one")
    parser.add_argument("platforms", nargs="*", help=f"only these: {', '.join(DRAWINGS)}")
    given = parser.parse_args()
    if shutil.which("chromium") is None:
        print("left out: chromium is not installed")
        return
    topics = given.topic or list(load_packs())
    digests = run_demo(shown=False, topics=topics, entries=ENTRIES)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    for name in given.platforms or DRAWINGS:
        for layout in given.layout or LAYOUTS:
            tell(name, layout, measured(DRAWINGS[name], digests, layout))
            for each in digests if given.pictures else ():
                draw(DRAWINGS[name], each, layout, given.pictures)


if __name__ == "__main__":
    main()
