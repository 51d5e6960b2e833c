"""How a text stands in a command: as it is, between quotation marks, or exactly.

Exactly is `="kv%0Acache"`, one word that no chat client changes: the text as a form's value is sent (a blank is `+`, any
other sign the bytes of its UTF-8 in hexadecimal). It is for what buttons carry; it is never taken for a word of the grammar.
"""

import re
from urllib.parse import quote_plus, unquote_plus

from bot.commands.normalise import JOINERS, plain

EXACT = r'="(?:[A-Za-z0-9_.~+-]|%[0-9A-Fa-f]{2})*"'
_EXACT = re.compile(rf"{EXACT}[.,;]?")
_PAIRS = {'"': '"', "'": "'", "`": "`"}
_ENDED = re.compile(r"(?<=[\w\")*”])[.,;!?]\Z")  # not the open end of a range, `stars:10..`
_NUMBERED = re.compile(r"#\d+", re.ASCII)
_UNJOINED = dict.fromkeys(map(ord, JOINERS))


def exactly(text: str) -> str:
    """Return the text in the form that always reads back."""
    return f'="{quote_plus(text, errors="replace")}"'


def exact(written: str) -> str | None:
    """Return the text that is written exactly, None when it is not."""
    if not _EXACT.fullmatch(written):
        return None
    try:
        return unquote_plus(written.rstrip(".,;")[2:-1], errors="strict")
    except UnicodeDecodeError:
        return None


def unjoined(text: str) -> str:
    """Return a name or an address without what nobody sees in it."""
    return text if text.isascii() else text.translate(_UNJOINED)


def query_text(written: str) -> str:
    """Return a query as it is to be parsed: its quotation marks mean something and stay, a sentence's end does not."""
    written = written.strip()
    found = exact(plain(written))
    if found is not None:
        return found
    if len(written) > 1 and written[0] == written[-1] == "`" and "`" not in written[1:-1]:
        return written[1:-1].strip()
    return _ENDED.sub("", written)


def free_text(written: str) -> str:
    """Return a title or another text for people, without the quotation marks around the whole."""
    written = written.strip()
    signs = plain(written)
    found = exact(signs)
    if found is not None:
        return found
    pair = _PAIRS.get(signs[:1])
    if pair and len(signs) > 1 and signs[-1] == pair and pair not in signs[1:-1]:
        return written[1:-1].strip()
    return written


def words_text(written: str) -> str:
    """Return a text as `free_text` does, without a sentence's signs at its end."""
    written = written.strip()
    return free_text(written.rstrip(".,;") or written)


def item_text(written: str) -> str:
    """Return an item as named: a title, a key, an address without what is put around it, the number of an entry."""
    bare = written.strip().rstrip(".,;")
    text = words_text(written)
    if text != bare or " " in text:
        return text
    text = unjoined(text).strip("<>[]").rstrip("?!:") or text
    if text.endswith(")") and "(" not in text[1:]:
        text = text.lstrip("(").rstrip(").,;")
    return text[1:] if _NUMBERED.fullmatch(text) else text
