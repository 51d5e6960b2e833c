r"""Unicode as LaTeX that BibTeX, biber and LaTeX all read. Pure.

Accented and special Latin letters become commands in braces (`{\"o}`): BibTeX, which knows bytes, would otherwise cut
them in two when it abbreviates a first name. Other scripts stay as they are, which biber and today's LaTeX read. Braces
become mathematics (`$\lbrace$`), since BibTeX counts every brace, an escaped one too.
"""

import unicodedata

_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "{": "$\\lbrace$",
    "}": "$\\rbrace$",
    "\\": "$\\backslash$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "~": "{\\textasciitilde}",
    "^": "{\\textasciicircum}",
    '"': "{''}",
}
_LETTERS = {
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "å": "aa",
    "Å": "AA",
}
_LETTERS |= {"ı": "i", "ȷ": "j", "đ": "dj", "Đ": "DJ", "ð": "dh", "Ð": "DH", "þ": "th", "Þ": "TH", "ŋ": "ng", "Ŋ": "NG"}
# Combining marks, and the accents that LaTeX sets (LaTeX2e: An unofficial reference manual, "Accents")
_ABOVE = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c", "`'^~=u.\"rHv", strict=True))
_BELOW = dict(zip("\u0323\u0327\u0328\u0331", "dckb", strict=True))
_ACCENTS = {**_ABOVE, **_BELOW}


def to_latex(text: str) -> str:
    """Return one line of text for a field of a BibTeX entry; its braces are balanced."""
    return "".join(map(_char, unicodedata.normalize("NFC", text)))


def _char(char: str) -> str:
    if char.isascii():
        return _SIGNS.get(char, char)
    if char in _LETTERS:
        return f"{{\\{_LETTERS[char]}}}"
    base, *marks = list(unicodedata.normalize("NFD", char))
    if not marks or not base.isascii() or not all(mark in _ACCENTS for mark in marks):
        return char
    written = base
    for mark in marks:
        accent = _ACCENTS[mark]
        if written in "ij" and mark in _ABOVE:
            written = f"\\{written}"
        bare = written.startswith("{") or (len(written) == 1 and not accent.isalpha())
        written = f"{{\\{accent}{written}}}" if bare else f"{{\\{accent}{{{written}}}}}"
    return written
