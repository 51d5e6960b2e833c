"""Turn HTML that somebody else wrote into readable text: no markup, no scripts, nothing that a screen would act on.

The one place where the HTML library is imported.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_INPUT = 200_000  # characters
MAX_TAGS = 5_000  # measured: 5,000 nested elements parse in 0.02 s, 100,000 in 9 s, since each new one walks up the others
MAX_TEXT = 20_000  # characters

_DROPPED = frozenset(
    {
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "title",
        "iframe",
        "object",
        "embed",
        "svg",
        "math",
        "canvas",
        "audio",
    }
    | {"video", "select", "textarea", "button", "form", "input"}
)
_BLOCKS = frozenset(
    {"p", "div", "br", "hr", "li", "ul", "ol", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tr", "pre"}
    | {"blockquote", "section", "article", "header", "footer", "aside", "nav", "main", "figure", "figcaption", "details"}
    | {"summary", "address", "caption"}
)
_CELLS = frozenset({"td", "th"})
# Controls, lone surrogates, and the marks that reverse or hide text. The joiners that emoji and scripts need stay.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]"
)
_SPACE = re.compile(r"[^\S\n]+")
_HREF = re.compile(r"(?i)^\s*https?://")


def text_of_html(html: str, limit: int = MAX_TEXT) -> str:
    """Return the text of a page or a piece of one, a line per block, at most `limit` characters; never raises.

    Input beyond MAX_INPUT characters or MAX_TAGS tags is not read.
    """
    body = _body(html)
    return _lines("".join(_pieces(body)) if body is not None else "")[:limit].rstrip()


def clean_text(text: str, limit: int = MAX_TEXT) -> str:
    """Return plain text, not HTML, folded and cut in the same way."""
    return _lines(text[:MAX_INPUT])[:limit].rstrip()


def links_of_html(html: str, limit: int = 100) -> tuple[str, ...]:
    """Return the http and https addresses that the HTML links, in order, each once, at most `limit`."""
    body = _body(html)
    if body is None:
        return ()
    found = (node.attributes.get("href") or "" for node in body.css("a"))
    return tuple(dict.fromkeys(url.strip() for url in found if _HREF.match(url)))[:limit]


def _body(html: str) -> LexborNode | None:
    html = html[:MAX_INPUT].encode("utf-8", "replace").decode()  # a lone surrogate would be refused
    for tags, found in enumerate(re.finditer("<", html)):
        if tags == MAX_TAGS:
            html = html[: found.start()]
            break
    return LexborHTMLParser(html).body


def _pieces(top: LexborNode) -> Iterator[str]:
    """Walk the tree without recursion: foreign HTML may be nested deeper than any stack."""
    node: LexborNode | None = top
    verbatim = 0
    while node is not None:
        tag = node.tag or ""
        yield _before(node, tag, verbatim > 0)
        if node.child is not None and tag not in _DROPPED:
            verbatim += tag == "pre"
            node = node.child
            continue
        while node is not None and node.next is None and node.mem_id != top.mem_id:
            node = node.parent
            if node is not None:
                verbatim -= node.tag == "pre"
                yield _after(node.tag or "")
        node = node.next if node is not None and node.mem_id != top.mem_id else None


def _before(node: LexborNode, tag: str, verbatim: bool) -> str:
    if tag == "-text":
        text = node.text_content or ""
        return text if verbatim else re.sub(r"\s+", " ", text)
    return _after(tag)


def _after(tag: str) -> str:
    return "\n" if tag in _BLOCKS else " " if tag in _CELLS else ""


def _lines(text: str) -> str:
    folded = (_SPACE.sub(" ", line).strip() for line in _INVISIBLE.sub("", text.replace("\r", "\n")).split("\n"))
    return "\n".join(line for line in folded if line)
