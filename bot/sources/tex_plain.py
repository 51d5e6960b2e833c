"""Text cleaned of what is neither word nor sign: control characters, HTML remains, hard wraps."""

import html
import re
import unicodedata

from bot.sources.tex_scripts import subscript, superscript

# Cc and Cs, and the characters that turn or hide the text around them: zero-width space, directional marks, embeddings,
# overrides and isolates, soft hyphen, byte-order mark. The zero-width joiner stays: emoji and several scripts need it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BREAK = re.compile(r"<br\s*/?>|</?p>|<hr\s*/?>|</?[uo]l>|</?li>", re.IGNORECASE)
# Only a pair of tags is markup: `<SEG>`, `BP<n>` and `a<b` are what the author wrote.
_PAIR = re.compile(r"<(b|i|u|em|strong|tt|code|span|small|sc|italic|bold)>([^<>]{0,2000})</\1>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s[^<>]{0,500}>([^<>]{0,500})</a>", re.IGNORECASE)
_SCRIPT = re.compile(r"<(su[bp])>([^<>]{1,40})</\1>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def plain(text: str) -> str:
    """Return the text on one line in NFC, without HTML remains and without characters that cannot be seen."""
    if "<" in text:
        text = _untag(text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    return tidy(text)


def tidy(text: str) -> str:
    """Return the text on one line in NFC without invisible characters."""
    if not text.isprintable():  # plain ASCII mostly is, and then there is nothing to look for
        text = _INVISIBLE.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def _untag(text: str) -> str:
    text = _BREAK.sub(" ", text)
    text = _SCRIPT.sub(lambda found: (superscript if found[1].lower() == "sup" else subscript)(found[2]), text)
    text = _ANCHOR.sub(r"\1", text)
    return _PAIR.sub(r"\2", text)
