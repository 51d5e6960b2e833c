"""The 95th percentiles of all questions over the number of papers, as one SVG: a panel for each kind."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from benchmarks.growth.asking import KINDS

COLUMNS = 3
_WIDTH, _HEIGHT = 230, 150  # of what is drawn in a panel
_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 34, 34, 30  # around it
_HEAD = 74
_LOW, _HIGH = 0.1, 10_000.0  # milliseconds at the lower and the upper edge
_AIM = 25.0
_LINES = {
    "FTS5": "fts5",
    "tantivy": "tantivy",
    "raw FTS5": "fts5 raw",
    "raw tantivy": "tantivy raw",
    "nearest": "nearest raw",
}
_WHOLE = ("FTS5", "tantivy")
# Colours of the Okabe-Ito palette, which colour-blind people tell apart too, and lighter ones of the same hues on black.
_STYLE = """
svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --rule: #d1d9e0; --fts5: #b34700; --tantivy: #005f9e }
@media (prefers-color-scheme: dark) {
svg { --paper: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --rule: #3d444d; --fts5: #f0a35e; --tantivy: #6cb6ff }
}
text { font: 11px system-ui, sans-serif; fill: var(--soft) } .title { font-size: 14px; font-weight: 600; fill: var(--ink) }
.kind { font-size: 12.5px; font-weight: 600; fill: var(--ink) } .grid { stroke: var(--rule) } path, line { fill: none }
.fts5 { stroke: var(--fts5) } .nearest { stroke: var(--soft) } .tantivy { stroke: var(--tantivy) }
.line { stroke-width: 2 } circle { stroke-width: 1 }
.raw { stroke-dasharray: 4 3; stroke-width: 1.5 } .aim { stroke: var(--soft); stroke-dasharray: 1 3 }
text.fts5 { fill: var(--fts5); stroke: none } text.tantivy { fill: var(--tantivy); stroke: none }
circle.fts5 { fill: var(--fts5) } circle.tantivy { fill: var(--tantivy) }
"""


class Panel(NamedTuple):
    """The place of one kind of question, and the sizes on its lower edge."""

    x: float
    y: float
    sizes: Sequence[int]

    def across(self, size: float) -> float:
        """Return where a number of papers stands."""
        low, high = math.log(self.sizes[0]), math.log(self.sizes[-1])
        return self.x + _WIDTH * ((math.log(size) - low) / (high - low) if high > low else 0.5)

    def up(self, value: float) -> float:
        """Return where a time stands; what is beyond an edge stands there."""
        inside = min(max(value, _LOW), _HIGH)
        return self.y + _HEIGHT * (1 - math.log(inside / _LOW) / math.log(_HIGH / _LOW))


def plot(figures: Mapping[str, Any]) -> str:
    """Return the SVG; a page in which it stands needs nothing else, whether it is light or dark."""
    sizes = [int(size) for size in figures]
    rows = -(-len(KINDS) // COLUMNS)
    wide = COLUMNS * (_LEFT + _WIDTH + _RIGHT) + 10
    tall = _HEAD + rows * (_TOP + _HEIGHT + _BOTTOM) + 6
    parts = list(_head())
    for at, kind in enumerate(KINDS):
        down, over = divmod(at, COLUMNS)
        x = over * (_LEFT + _WIDTH + _RIGHT) + _LEFT
        panel = Panel(x, _HEAD + down * (_TOP + _HEIGHT + _BOTTOM) + _TOP, sizes)
        parts += [*_frame(panel, kind), *_lines(panel, [found["asked"][kind] for found in figures.values()])]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" role="img">\n'
        f"<title>{escape(alt(figures))}</title>\n<style>{_STYLE}</style>\n"
        f'<rect width="{wide}" height="{tall}" style="fill: var(--paper)"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def alt(figures: Mapping[str, Any]) -> str:
    """Return what the plot shows in a sentence or two."""
    first, last = min(figures, key=int), max(figures, key=int)
    words = [f"{each:.0f}" for size in (first, last) for each in _words(figures[size])]
    return (
        f"95th percentiles of the processor's milliseconds from {int(first):,} to {int(last):,} papers, by kind of question."
        f" Words, the whole path: FTS5 {words[0]} to {words[2]}, tantivy {words[1]} to {words[3]}."
    )


def _words(found: Mapping[str, Any]) -> list[float]:
    return [found["asked"]["words"][name]["processor"][1] for name in ("FTS5", "tantivy")]


def _head() -> Iterator[str]:
    yield _text(10, 24, "What an answer takes as the collection grows", "title")
    yield _text(10, 42, "95th percentile, milliseconds of a processor; dotted: 25 ms. Both scales are logarithmic.")
    for at, (name, kind) in enumerate(_LINES.items()):
        x = 10 + 150 * at
        yield f'<path class="line {kind}" d="M{x} 60H{x + 26}"/>'
        yield _text(x + 32, 64, f"{name}, whole path" if name in _WHOLE else name)


def _frame(panel: Panel, kind: str) -> Iterator[str]:
    yield _text(panel.x, panel.y - 12, kind, "kind")
    for value in (0.1, 1, 10, 100, 1_000, 10_000):
        y = panel.up(value)
        yield f'<path class="grid" d="M{panel.x} {y:.1f}h{_WIDTH}"/>'
        yield _text(panel.x - 6, y + 4, f"{value:,}", anchor="end")
    yield f'<path class="aim" d="M{panel.x} {panel.up(_AIM):.1f}h{_WIDTH}"/>'
    for size in panel.sizes:
        said = f"{size / 1e6:g} M" if size >= 1_000_000 else f"{size // 1000} k"
        yield _text(panel.across(size), panel.y + _HEIGHT + 16, said, anchor="middle")


def _lines(panel: Panel, asked: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    ends: list[tuple[float, str, str]] = []
    for name, kind in _LINES.items():
        values = [(size, each[name]["processor"][1]) for size, each in zip(panel.sizes, asked, strict=True) if name in each]
        places = [(panel.across(size), panel.up(value)) for size, value in values]
        if not places:
            continue
        yield f'<path class="line {kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
        if name in _WHOLE:
            yield from (f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places)
            ends.append((places[-1][1], f"{values[-1][1]:,.{0 if values[-1][1] >= 10 else 1}f}", kind))
    for y, said, kind in _apart(ends):
        yield _text(panel.x + _WIDTH + 5, y + 4, said, kind)


def _apart(ends: Sequence[tuple[float, str, str]], least: float = 12) -> list[tuple[float, str, str]]:
    """Return the two texts at the ends of lines, moved apart where one would cover the other."""
    if len(ends) < 2 or abs(ends[0][0] - ends[1][0]) >= least:
        return [*ends]
    (high, *one), (low, *other) = sorted(ends)
    middle = (high + low) / 2
    return [(middle - least / 2, one[0], one[1]), (middle + least / 2, other[0], other[1])]


def _text(x: float, y: float, said: str, kind: str = "", anchor: str = "") -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in (("class", kind), ("text-anchor", anchor)) if value)
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(said)}</text>'
