"""The signs and words of the language: what the parser reads and `unparse` writes."""

import re

OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT"})  # arXiv's ANDNOT is AND NOT

_QUOTES = "“”„‟«»＂″"
_DASHES = "–—−‐‑－"
# One character for one character, so that a position in an error is a position in what was typed.
TYPED = str.maketrans(
    {**dict.fromkeys(_QUOTES, '"'), **dict.fromkeys(_DASHES, "-"), "：": ":", "（": "(", "）": ")", "＊": "*"}
)

WORD = re.compile(r'[^\s()"]+')
NAMED = re.compile(r"([A-Za-z][A-Za-z_-]*):(?!:)", re.ASCII)  # not C++'s std::vector
TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")  # a topic's name
_KEYED = re.compile(r"(?:arxiv|github|doi|url|https?):\S+", re.IGNORECASE)
_ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}(?:v\d{1,3})?", re.ASCII)


def is_key(word: str) -> bool:
    """Say whether a bare word names one item: `2606.01234`, `arxiv:2606.01234`, `github:owner/name`, an address."""
    return bool(_KEYED.fullmatch(word) or _ARXIV_ID.fullmatch(word))


def trimmed(word: str) -> str:
    """Return a bare word without a star at its end and the punctuation around it, which say nothing."""
    return word.rstrip("*").strip(",;.!?:'`…-*")


def stands_bare(text: str, field: str) -> bool:
    """Say whether a term's text reads back as the same term without quotation marks, behind `field:` when there is one."""
    if text != trimmed(text) or not WORD.fullmatch(text) or text.translate(TYPED) != text:
        return False
    if field:
        return text != "OR"
    return text not in OPERATORS and not is_key(text) and not NAMED.match(text)
