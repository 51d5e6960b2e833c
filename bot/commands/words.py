"""The words of a command: its text made plain, taken one word after another, and how a text is quoted.

Slack writes `<https://…|label>`, `<@U123|name>`, `<#C123|general>` and `&amp; &lt; &gt;`; Discord `<@123>`, `<#123>` and
`</name:123>`. Clients put in non-breaking spaces, invisible signs and line breaks. Quotation marks and dashes stay as typed
in cleaned text: what is written in words keeps them, and who compares looks at `plain`.

A text stands in a command as it is, between quotation marks, or exactly. Exactly is `="kv%0Acache"`, one word that no chat
client changes: the text as a form's value is sent (a blank is `+`, any other sign the bytes of its UTF-8 in hexadecimal). It
is for what buttons carry; it is never taken for a word of the grammar.
"""

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus

from bot.errors import UsageError

# --- a text made plain, with the way back to where each character stood

_QUOTES = "“”„‟«»＂″"
_DASHES = "–—−‐‑－"
# One character for one character, so that positions stay.
_PLAIN = str.maketrans({**dict.fromkeys(_QUOTES, '"'), **dict.fromkeys(_DASHES, "-"), **dict.fromkeys("‘’‚‛", "'")})

JOINERS = "\u200b\u200c\u200d"  # they may stand within a word: between two Persian letters, or where a line may break
_UNSEEN = JOINERS + "\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_OTHER = rf"\t-\r\x00-\x08\x0e-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_UNSEEN}"  # but a space
_ODD = re.compile(
    r"<(?P<url>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>"
    r"|<(?P<named>[@#!][^<>|\s]*)(?:\|(?P<name>[^<>]*))?>"
    r"|</(?P<slash>[\w -]+):\d+>"
    r"|&(?P<entity>amp|lt|gt);"
    r"|(?P<half>[\ud800-\udfff]+)"
    rf"|[{_OTHER}][ {_OTHER}]*| [ {_OTHER}]+"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}


@dataclass(frozen=True, slots=True)
class Typed:
    """The text made plain, and where its pieces stood in what was typed."""

    text: str
    starts: tuple[int, ...]  # where each piece begins in `text`
    origins: tuple[int, ...]  # where it began in what was typed

    def origin(self, position: int) -> int:
        """Return where the character at this position stood in what was typed; within a link, where the link began."""
        piece = bisect_right(self.starts, position) - 1
        kept = piece % 2 == 0  # pieces are kept and replaced by turns
        return self.origins[piece] + (position - self.starts[piece] if kept else 0)


def clean(typed: str) -> Typed:
    """Return the text on one line: links as addresses, mentions as names, runs of blanks as one, unseen signs gone."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    at = length = 0
    for match in _ODD.finditer(typed):
        for piece, origin in ((typed[at : match.start()], at), (_said(match), match.start())):
            starts.append(length)
            origins.append(origin)
            pieces.append(piece)
            length += len(piece)
        at = match.end()
    starts.append(length)
    origins.append(at)
    return Typed("".join([*pieces, typed[at:]]), tuple(starts), tuple(origins))


def plain(text: str) -> str:
    """Return the text with straight quotation marks and plain dashes, character for character."""
    return text.translate(_PLAIN)


def _said(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "url" | "label":
            return _address(match["url"], match["label"] or "")
        case "named" | "name":
            return _mention(match["named"], match["name"] or "")
        case "slash":
            return f"/{match['slash']}"
        case "entity":
            return _ENTITIES[match["entity"]]
        case "half":
            return "\ufffd"  # half a character: no database or network takes it
        case _:
            return _gap(match)


def _address(url: str, label: str) -> str:
    """A bare host that the client made a link of (`Node.js`) is the word that was typed."""
    url, label = _unescaped(url), _unescaped(label)
    bare = url.partition("://")[2] or url.partition(":")[2]
    return label if label == bare and "/" not in label else url


def _mention(named: str, name: str) -> str:
    """A mention is its name, where the client tells it."""
    sign = named[0] if named[0] in "@#" else "@"
    return sign + name.lstrip("@#") if name else sign + named[1:]


def _gap(match: re.Match[str]) -> str:
    if _BLANK.search(match[0]):
        return " "
    before, after = match.string[: match.start()][-1:], match.string[match.end() : match.end() + 1]
    within = before.isalnum() and after.isalnum()
    return match[0] if within and not match[0].strip(JOINERS) else ""


def _unescaped(text: str) -> str:
    return re.sub("&(amp|lt|gt);", lambda found: _ENTITIES[found[1]], text)


# --- how a text is quoted

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


# --- one word after another

_QUOTED = re.compile(r'"([^"]*)"(?=[\s.,;:!?]|$)')
_EXACTLY = re.compile(rf"{EXACT}(?=[\s.,;]|$)")
_SIGNS = ".,;:!?"  # what may follow a word in a sentence
# What is quoted, stepped over; and a place: `in #papers`, `in "#Weekly papers"`, `by email me@example.org`, or exactly.
_EXACT_CHANNEL = EXACT.replace('="', '="%23', 1)
_CHANNEL = rf'in (?P<channel>{_EXACT_CHANNEL}|"#[^"]+"|#[^\s"]+)'
_BY_MAIL = rf'by (?P<how>e-?mail|mail|list) (?P<address>{EXACT}|"[^"]+"|[^\s"=][^\s"]*@[^\s"]+|mail:[^\s"]+)'
_QUOTED_OR_EXACT = rf'{EXACT}|"[^"]*"'
_CHANNELS = re.compile(rf"(?<![^ ]){_CHANNEL}(?=[ .,;:!?]|$)|{_QUOTED_OR_EXACT}", re.IGNORECASE)
_PLACES = re.compile(rf"(?<![^ ])(?:{_CHANNEL}|{_BY_MAIL})(?=[ .,;:!?]|$)|{_QUOTED_OR_EXACT}", re.IGNORECASE)
# How a place by e-mail stands in a command: an address, that of a mailing list, or the channel of a recipient.
_MAIL_PLACE = re.compile(r"(?P<how>email|list):(?P<address>.*@.*)|(?P<channel>mail:[0-9a-f]{16}\.[0-9a-f]{6})", re.DOTALL)
_IDENTIFIER = re.compile(r"\bmail:[0-9a-f]{16}\.[0-9a-f]{6}\b")
_BY_IDENTIFIER = re.compile(rf"\bby (?:e-?mail|mail|list) {_IDENTIFIER.pattern}")
SEVERAL_WORDS = 'A title of several words stands between quotation marks, such as "GPU systems".'
_LONGEST = 40  # characters of a word that is quoted in a sentence, or compared with those there are


class Word(NamedTuple):
    """One word: its text, without quotation marks or a sentence's signs behind it, and where it stands.

    One that was not quoted has plain dashes: a topic is found however a telephone wrote its name.
    """

    text: str
    start: int
    end: int
    key: str = ""  # what it is compared by; "" when it was quoted, so that a quoted word is never one of the grammar
    quoted: bool = False

    @property
    def option(self) -> str:
        """The key without the dashes of a shell's option; telephones make one long dash of two."""
        if not self.key.startswith("-"):
            return self.key
        bare = self.key.lstrip("-")
        return bare if bare[:1].isalpha() else self.key


@dataclass(slots=True)
class Words:
    """The cleaned text of a command and how far it has been read."""

    typed: Typed
    at: int = 0
    end: int = 0
    signs: str = field(init=False)  # the text with plain quotation marks and dashes
    _looked: tuple[int, int] = (-1, -1)  # where `peek` looked last, and
    _seen: Word | None = None  # what it saw there

    def __post_init__(self) -> None:
        self.signs = plain(self.typed.text)
        self.end = self.end or len(self.signs)

    def peek(self) -> Word | None:
        """Return the next word without stepping over it; None at the end."""
        while self.at < self.end and self.signs[self.at] == " ":
            self.at += 1
        if self._looked != (self.at, self.end):
            self._looked, self._seen = (self.at, self.end), self._look() if self.at < self.end else None
        return self._seen

    def _look(self) -> Word:
        at, sign = self.at, self.signs[self.at]
        if sign == "=" and (found := _EXACTLY.match(self.signs, at, self.end)) and (text := exact(found[0])) is not None:
            return Word(text, at, found.end(), quoted=True)
        if sign == '"' and (found := _QUOTED.match(self.signs, at, self.end)):
            return Word(self.typed.text[found.start(1) : found.end(1)].strip(), at, found.end(), quoted=True)
        blank = self.signs.find(" ", at, self.end)
        end = self.end if blank < 0 else blank
        text = unended(self.signs[at:end])
        return Word(text, at, end, text.lower())

    def next(self) -> Word | None:
        """Return the next word and step over it, and over signs of a sentence behind it; None at the end."""
        word = self.peek()
        if word is not None:
            self.at = word.end
            while word.quoted and self.at < self.end and self.signs[self.at] in _SIGNS:
                self.at += 1
        return word

    def take(self, *keys: str) -> Word | None:
        """Step over the next word when it is one of these, and return it."""
        word = self.peek()
        return self.next() if word is not None and word.option in keys else None

    def split(self, name: str) -> bool:
        """Step over `name=` when the next word begins so."""
        word = self.peek()
        if word is None or not word.option.startswith(f"{name}="):
            return False
        self.at = self.signs.index("=", word.start) + 1
        return True

    def take_place(self, *, by_mail: bool) -> str:
        """Return the place that is named in what is left, "" where none is, and leave it out.

        That is a channel, `in #papers`; or an address, `by email me@example.org`, where the command takes one: then it is
        "email:me@example.org", or "list:…" of a mailing list. Within quotation marks these are words of somebody's. The last
        of several is meant.
        """
        places = _PLACES if by_mail else _CHANNELS
        named = [(each, _place_in(each)) for each in places.finditer(self.signs, self.at, self.end)]
        named = [(each, place) for each, place in named if place]
        if not named:
            return ""
        found, place = named[-1]
        blank = " " * (found.end() - found.start())
        whole = self.typed.text[: found.start()] + blank + self.typed.text[found.end() :]
        self.typed = replace(self.typed, text=whole)
        self.signs = plain(whole)
        self._looked = (-1, -1)
        if not self.signs[found.end() : self.end].strip(f" {_SIGNS}"):
            self.end = max(self.at, len(self.signs[: found.start()].rstrip()))
        return place

    def rest(self) -> str:
        """Return all that is left, as typed, and step over it."""
        text = self.typed.text[self.at : self.end].strip()
        self.at = self.end
        return text

    def fault(self, message: str, where: Word | int | None = None, hint: str = "") -> UsageError:
        """Return the error that points at a word or position; None is the end of the text."""
        place = where.start if isinstance(where, Word) else self.end if where is None else where
        return UsageError(message, position=self.typed.origin(place), hint=hint)


def _place_in(found: re.Match[str]) -> str:
    """Return the place that was found, "" where it is none."""
    said = found.groupdict()
    if said["channel"]:
        return channel_name(exact(said["channel"]) or said["channel"].strip('"'))
    if not (address := said.get("address")):
        return ""
    bare = address[0] not in '="'
    text = unended(address) if bare else exact(address) or address.strip('"')
    place = text if is_mail_place(text) else f"{'list' if said['how'].lower() == 'list' else 'email'}:{text}"
    return place if is_mail_place(place) else ""


def is_mail_place(place: str) -> bool:
    """Say whether the place of a command is an address, not a channel of a chat."""
    return _MAIL_PLACE.fullmatch(place) is not None


def mail_place(place: str) -> tuple[str, str]:
    """Return behind which word the place by e-mail stands, email or list, and what stands there; ("", "") for another."""
    found = _MAIL_PLACE.fullmatch(place)
    if found is None:
        return "", ""
    return (found["how"] or "email", found["address"] or found["channel"])


def without_identifiers(typed: str) -> str:
    """Return a command as it is told to people where it names an address by its identifier; it is not to be typed."""
    return _IDENTIFIER.sub("an address", _BY_IDENTIFIER.sub("by e-mail", typed))


def with_addresses(text: str, known: Mapping[str, str]) -> str:
    """Return a text of ours with these addresses where it has their identifiers."""
    return _IDENTIFIER.sub(lambda found: known.get(found[0], found[0]), text)


def channel_name(text: str) -> str:
    """Return a channel's name or identifier as it was typed, without its sign and a sentence's signs behind it."""
    return unjoined(text).lstrip("# ").rstrip(f"{_SIGNS} ")


def unended(text: str) -> str:
    """Return a name without a sentence's signs behind it, and without what nobody sees in it."""
    return unjoined(text.rstrip(_SIGNS) or text)


def shown(text: str) -> str:
    """Return a text of somebody's for a sentence of ours: short, and without signs that stress."""
    text = text.replace("*", "")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word that was probably meant, "" when none is near."""
    return next(iter(difflib.get_close_matches(word.lower()[:_LONGEST], list(known), 1, cutoff)), "")
