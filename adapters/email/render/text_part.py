"""A mail as plain text, wrapped at 72 columns: as much as its HTML says, in the same order. Pure."""

from collections.abc import Iterable, Iterator
from unicodedata import east_asian_width

from adapters.email.render.stories import Card, Frame, Line, Sheet

_WIDTH = 72  # columns: RFC 5322 asks for less than 78, and an answer puts signs before the lines
_RULE = "-" * _WIDTH
_DOT = " · "
_INDENT = "    "


def text_part(sheet: Sheet) -> str:
    """Return the mail as text: addresses stand on lines of their own, whole, and everything else is wrapped."""
    groups = [_head(sheet.frame), *map(_line, sheet.index)]
    groups += [[_RULE, "", *_card(each)] for each in sheet.cards]
    groups += [[_RULE, "", *_wrapped(sheet.left_out)]] if sheet.left_out else []
    groups += [*map(_line, sheet.rest), list(_foot(sheet.frame))]
    return "\n\n".join("\n".join(group) for group in groups) + "\n"


def _head(frame: Frame) -> list[str]:
    told = (f"{frame.name}{_DOT}{frame.tally}", frame.day, f"⏰ {frame.late}" if frame.late else "")
    lines = [line for each in told for line in _wrapped(each)]
    return [*lines, "", *_wrapped(frame.nothing)] if frame.nothing else lines


def _line(line: Line) -> list[str]:
    known = (*(f"⚠ {word}" for word in line.warnings), line.gist, *line.facts)
    return [*_numbered(line.number, line.headline.text), *_wrapped(_joined(known), _INDENT), *_address(line.headline.url)]


def _card(card: Card) -> Iterator[str]:
    known = (*(f"⚠ {word}" for word in card.warnings), *card.facts)
    yield from _numbered(card.number, card.headline.text)
    yield from _wrapped(_joined(known), _INDENT)
    yield from _address(card.headline.url)
    for told in filter(None, (card.gist, *(f"{name}: {told}" for name, told in card.parts))):
        yield ""
        yield from _wrapped(told, _INDENT)
    for links in filter(None, (card.links, card.actions)):
        yield ""
        for each in links:
            bare = each.text in each.url
            yield from _address(each.url) if bare else _led(each.text, each.url)


def _foot(frame: Frame) -> Iterator[str]:
    yield "-- "  # a signature begins so (RFC 3676, 4.3), which answers leave out
    yield from _wrapped(frame.coverage)
    yield from _wrapped("".join(words for words, _ in frame.news))
    if listing := frame.others[1]:
        listed = f"type {listing}, followed by {frame.whose}, where it was subscribed"
        yield from _wrapped(f"For the others on topic, {listed}.")
    yield ""
    yield from _wrapped(
        f"{frame.reason} To unsubscribe, type {frame.ending}, followed by {frame.whose}, where it was subscribed."
    )
    for label, url in (("Pause", frame.pause), ("Unsubscribe", frame.unsubscribe)):
        yield from _led(label, url, "") if url else []


def _numbered(number: int, title: str) -> list[str]:
    return _wrapped(title, _INDENT, f"{number}.".ljust(len(_INDENT) - 1) + " ")


def _joined(told: Iterable[str]) -> str:
    return _DOT.join(filter(None, told))


def _led(label: str, url: str, indent: str = _INDENT) -> list[str]:
    return [f"{indent}{label}: {url}"] if url else _wrapped(label, indent)


def _address(url: str) -> list[str]:
    return [f"{_INDENT}{url}"] if url else []


def _wrapped(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Return the text in lines of at most 72 columns; a word that is longer by itself is parted."""
    lines, line = [], indent if first is None else first
    room = _WIDTH - len(indent)
    for word in (piece for each in text.split(" ") for piece in _pieces(each, room)):
        begun = bool(line.strip()) and line != first
        if begun and _columns(line) + 1 + _columns(word) > _WIDTH:
            lines.append(line)
            line, begun = indent, False
        line += f" {word}" if begun else word
    return [*lines, line] if text else []


def _pieces(word: str, room: int) -> Iterator[str]:
    while _columns(word) > room:
        end = next(at for at in range(len(word), 0, -1) if _columns(word[:at]) <= room)
        yield word[:end]
        word = word[end:]
    yield word


def _columns(text: str) -> int:
    """Return how many columns a text takes where letters have one width: two for those of East Asian scripts."""
    return len(text) + sum(east_asian_width(char) in "WF" for char in text if char > "\u10ff")
