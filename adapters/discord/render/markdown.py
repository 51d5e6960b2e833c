"""Discord's markdown, written so that nothing in a stranger's text is any. Pure.

What can be escaped gets a backslash; a mention, a timestamp or a command cannot, and gets a zero width space where it would
begin to be one (docs.discord.com/developers/reference#message-formatting).
"""

import re
from collections.abc import Callable
from urllib.parse import quote

from adapters.discord.render.hints import UNKNOWN_IDS, CommandIds, hint_of, mention, offered_as, option_of
from adapters.discord.render.limits import length
from adapters.text import ELLIPSIS, clean, cut, safe_url
from adapters.words import SpanKind, line_spans, spans

_NOTHING = "\u200b"  # zero width space
_STYLE = re.compile(r"([\\*_~`|\[\]])")
# <@1>, <#1>, <@&1>, </name:1>, <:name:1>, <a:name:1>, <t:1>, <id:guide>, <https://…>, <mailto:…>, <sound:…>
_BEGINS = re.compile(r"<(?=[@#/:a-z])", re.IGNORECASE)
_EVERYBODY = re.compile(r"@(?=everyone|here|[!&]?\d)", re.IGNORECASE)
_LINE = re.compile(r"^(#{1,3}(?= )|-(?=#? )|\+(?= )|>|\d{1,9}(?=[.)] ))")
_WEB = re.compile(rf"https?://[^\s<>\"{ELLIPSIS}]++(?!{ELLIPSIS})", re.IGNORECASE)  # one that was cut leads elsewhere
_SCHEME = re.compile(r"\b(https?|discord|steam|mailto)(?=:)", re.IGNORECASE)
_END = ".,:;!?'\")]}"  # belongs to the sentence, not to the address
_IDENTIFIER = re.compile(r"(?<![\w/<#@])\d{17,20}(?![\w/>])")


def escaped(text: str) -> str:
    """Return a stranger's text on one line, shown as it was written; safe web addresses in it stay links."""
    plain = clean(text)
    pieces, end = [], 0
    for found in _WEB.finditer(plain):
        address = found[0].rstrip(_END)
        pieces += [_escaped(plain[end : found.start()]), _address(address)]
        end = found.start() + len(address)
    pieces.append(_escaped(plain[end:]))
    return _LINE.sub(_at_line_start, "".join(pieces))


def escaped_to_fit(text: str, room: int) -> str:
    """Return a stranger's text as `escaped` does, cut at a word so that it takes at most so much room."""
    return _within(text, room, escaped)


def _within(text: str, room: int, write: Callable[[str], str]) -> str:
    """Return as much of the text, written, as takes at most so much room."""
    plain, size = cut(clean(text), room, length), room
    made = write(plain)
    while length(made) > room:
        made = write(cut(plain, size, length))
        size = min(size - 1, size * room // max(length(made), 1))
    return made


def _escaped(text: str) -> str:
    return _unaddressed(_SCHEME.sub(rf"\1{_NOTHING}", _STYLE.sub(r"\\\1", text)))


def _unaddressed(text: str) -> str:
    """Return the text with nothing in it that begins a mention, a timestamp, a command or an emoji."""
    return _EVERYBODY.sub(f"@{_NOTHING}", _BEGINS.sub(f"<{_NOTHING}", text))


def _at_line_start(found: re.Match[str]) -> str:
    # A number keeps its digits: the dot behind it is what makes it a list.
    return f"{found[0]}\\" if found[0][0].isdigit() else f"\\{found[0]}"


def _address(url: str) -> str:
    """Return a safe address as a link that shows itself and nothing of its page; any other as text."""
    safe = _quoted(safe_url(url))
    return f"<{safe}>" if safe else _escaped(url)


def _quoted(url: str) -> str:
    """Return the address without a character that could end it, style it or mention somebody."""
    return re.sub(r"[()<>*`|@\[\]\\]", lambda found: quote(found[0], safe=""), url)


def link(label: str, url: str, room: int) -> str:
    """Return the label as a link, each of the two in at most so much room; the label alone where the address is not safe."""
    safe = _quoted(safe_url(url))
    safe = safe if len(safe) <= room else ""
    shown = _within(label, room, _label)
    return f"[{shown}](<{safe}>)" if safe and shown else shown


def _label(text: str) -> str:
    return _LINE.sub(_at_line_start, _escaped(text))  # an address within a label would keep it from being one


def stressed(text: str, room: int, ids: CommandIds = UNKNOWN_IDS) -> str:
    """Return one of our texts with what stands between asterisks in bold, in at most so much room.

    A line about a command is a sentence of ours.
    """
    return _within(text, room, lambda cut_to: _stressed(cut_to, ids))


def _stressed(text: str, ids: CommandIds) -> str:
    return "".join(
        f"**{escaped(words)}**" if kind is SpanKind.STRESSED else _marked(words, kind, ids)
        for words, kind in line_spans(text)
    )


def _kept(piece: str) -> str:
    """Escape a piece of a sentence, keeping the spaces at its ends."""
    inner = piece.strip()
    if not inner:
        return piece
    return piece[: len(piece) - len(piece.lstrip())] + escaped(inner) + piece[len(piece.rstrip()) :]


def sentence(text: str, room: int, ids: CommandIds = UNKNOWN_IDS) -> str:
    """Return one of our sentences with the commands in it as one gives them: *list all* is </digest list:1> `all:True`.

    Where the command's identifier is not known it stands as text: `/digest list all:True`.
    """
    return _within(text, room, lambda cut_to: _sentence(cut_to, ids))


def _sentence(text: str, ids: CommandIds) -> str:
    return "".join(_marked(words, kind, ids) for words, kind in spans(text))


def _marked(words: str, kind: SpanKind, ids: CommandIds) -> str:
    if kind is SpanKind.PLAIN:
        return _kept(words)
    if kind is SpanKind.TYPED and (listed := hint_of(words)) is not None:
        place = offered_as(listed.path, ids) or listed.path
        named = mention(place, ids)
        if named:
            return " ".join(filter(None, (named, code(listed.options))))
        return code(f"/{place} {listed.options}".rstrip())
    filled = option_of(words)
    return code(filled) if filled else f"**{escaped(words)}**"


def code(text: str) -> str:
    """Return the text as code, in which nothing is read as anything else; what would be a mention elsewhere is none here."""
    # A modifier letter that looks the same as a fence, of which no number is safe.
    plain = _unaddressed(clean(text).replace("`", "\u02cb"))
    return f"`{plain}`" if plain else ""


def bold(text: str, room: int) -> str:
    """Return a stranger's text in bold, in at most so much room."""
    shown = escaped_to_fit(text, room)
    return f"**{shown}**" if shown else ""


def small_print(text: str) -> str:
    """Return a line of markdown as small print; "" stays so."""
    return f"-# {text}" if text else ""


def with_channels(text: str) -> str:
    """Return our own sentence with every identifier in it as a link to the channel that it is."""
    return _IDENTIFIER.sub(lambda found: f"<#{found[0]}>", text)
