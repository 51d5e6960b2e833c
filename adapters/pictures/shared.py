"""The picture that stands beside a link to a page, where a program shows one (ogp.me): 1,200 by 630 dots.

Its texts are measured by the font's own widths, wrapped, and cut with "…" where they are too long: nothing leaves the card.
The font has Latin, Greek and Cyrillic. A text of which it lacks more than a third is left out rather than drawn as gaps: in
the place of such a title stands what else the thing is called. The page that it stands for says all of it.
"""

from dataclasses import dataclass

from adapters.pictures.png import advances, drawable, drawn
from adapters.pictures.svg import LIGHT, escaped
from adapters.text import clean, cut

WIDTH, HEIGHT = 1200, 630

_LEFT, _ROOM = 80, 1040  # where lines begin, and how wide they may be
_TITLES = ((72, 2), (60, 3), (50, 4))  # sizes of type with the most lines; the first in which it stands whole
_TEXT, _SMALL = 34, 28
_LEADING = 1.25
_TOP, _FOOT = 110, 560  # base lines of the topmost line and of the last one
_LACKING = 1 / 3
_WIDEST = 1.2  # ems, for a sign of which nothing is known
_READ = 600  # characters of a text: far more than a card holds


@dataclass(frozen=True, slots=True)
class SharedCard:
    """What stands on the picture, from the top down."""

    topic: str  # beside our name; "" for none
    title: str
    name: str  # instead of a title that the font cannot draw
    text: str
    foot: str


def shared(card: SharedCard) -> bytes:
    """Return the picture as PNG. It takes some tens of milliseconds: not on the event loop."""
    return drawn(shared_svg(card))


def shared_svg(card: SharedCard) -> str:
    """Return the picture as SVG, in our font."""
    title = _shown(card.title) or drawable(card.name[:_READ])
    size, most = next((each for each in _TITLES if len(_lines(title, each[0], each[1] + 1)) <= each[1]), _TITLES[-1])
    topic = _shown(card.topic)
    parts, y = [_line(f"Broadsheet · {topic}" if topic else "Broadsheet", _TOP, _SMALL, LIGHT.accent)], float(_TOP + 20)
    for line in _lines(title, size, most):
        y += size * _LEADING
        parts.append(_line(line, y, size, LIGHT.ink))
    y += 24
    room = int((_FOOT - 70 - y) // (_TEXT * _LEADING))
    for line in _lines(_shown(card.text), _TEXT, room):
        y += _TEXT * _LEADING
        parts.append(_line(line, y, _TEXT, LIGHT.soft))
    parts.append(_line(card.foot, _FOOT, _SMALL, LIGHT.ink))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="{LIGHT.font}"><rect width="{WIDTH}" height="{HEIGHT}" fill="{LIGHT.paper}"/>'
        f'<rect width="{WIDTH}" height="14" fill="{LIGHT.accent}"/>'
        f'<path d="M{_LEFT} {_FOOT - 44}H{_LEFT + _ROOM}" stroke="{LIGHT.rule}" stroke-width="2"/>{"".join(parts)}</svg>'
    )


def _line(text: str, y: float, size: int, fill: str) -> str:
    said = _cut(drawable(text[:_READ]), size)
    return f'<text x="{_LEFT}" y="{y:.0f}" font-size="{size}" fill="{fill}">{escaped(said)}</text>'


def _shown(text: str) -> str:
    """Return what of the text can be drawn, "" where too much of it cannot."""
    known, said = advances(), clean(text)[:_READ]
    letters = [char for char in said if char.isalnum()]
    lacking = sum(ord(char) not in known for char in letters)
    return "" if lacking > len(letters) * _LACKING else drawable(said)


def _lines(text: str, size: int, most: int) -> list[str]:
    """Return the text in lines of the card's width, at most so many; the last is cut where there are more."""
    found: list[str] = []
    words = text.split()
    while words and len(found) < most:
        count = 1
        while count < len(words) and _width(" ".join(words[: count + 1]), size) <= _ROOM:
            count += 1
        is_last = len(found) + 1 == most
        found.append(_cut(" ".join(words if is_last else words[:count]), size))
        words = words[count:]
    return found


def _cut(text: str, size: int) -> str:
    return cut(text, _ROOM, lambda part: round(_width(part, size)))


def _width(text: str, size: int) -> float:
    known = advances()
    return size * sum(known.get(ord(char), _WIDEST) for char in text)
