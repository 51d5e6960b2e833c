"""TeX in titles, abstracts and names turned into readable Unicode text.

arXiv's metadata is ASCII TeX typed by authors and never compiled, so much of it is not valid. The rule here is that no word
may be lost: the text is scanned once, only what is surely TeX (a formula, an accent, a known macro with its argument) is
converted, piece by piece, and everything else passes as it stands. `bot.sources.markup.tex_math` converts the pieces.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS, table
from bot.sources.markup.tex_math import LONGEST, accented, formula, subscript, superscript, symbol

TOO_LONG = 50_000  # characters; the longest abstract that arXiv takes is 1,920, so what is longer is not scanned for TeX
_SHORT_HALF = 3  # letters
_DEEPEST = 20  # arguments in arguments

# Cc and Cs, and the characters that turn or hide the text around them: zero-width space, directional marks, embeddings,
# overrides and isolates, soft hyphen, byte-order mark. The zero-width joiner stays: emoji and several scripts need it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BREAK = re.compile(r"<br\s*/?>|</?p>|<hr\s*/?>|</?[uo]l>|</?li>", re.IGNORECASE)
# Only a pair of tags is markup: `<SEG>`, `BP<n>` and `a<b` are what the author wrote.
_PAIR = re.compile(r"<(b|i|u|em|strong|tt|code|span|small|sc|italic|bold)>([^<>]{0,2000})</\1>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s[^<>]{0,500}>([^<>]{0,500})</a>", re.IGNORECASE)
_RAISED_TAG = re.compile(r"<(su[bp])>([^<>]{1,40})</\1>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

_SIGNS_OF_TEX = re.compile(r"[\\$~{`^_]|--|''")
_SPECIAL = re.compile(r"[\\$~{]|`{1,2}|''|-{2,}|(?<=[\w)\]}])[\^_]")

_ACCENT = re.compile(
    r"""\\(?:(['"`^~=.])|([vucHkrbdt])(?=[\s{]))\s*(?:\{\s*(\\[ij]|[A-Za-z])\s*\}|(\\[ij](?![A-Za-z])|[A-Za-z]))"""
)
# A macro whose first letter was taken for an accent on arXiv's way in: \rho arrives as \r{ho}, \kappa as \k{appa}.
_MANGLED = re.compile(r"\\([vucHkrbdtSL])\s*\{\s*([a-z]{1,9})\s*\}")
_MACRO = re.compile(r"\\([A-Za-z]+)\*?")
_CONTROL = re.compile(r"\\(.)", re.DOTALL)
_OPTION = re.compile(r"\s?\[([^\[\]]{0,200})\]")
_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]{1,40})\}|(-?\d{1,3})(?!\w|[.:,]\w)|([A-Za-z*])(?![\w/.]))")
_PROSE = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,}")
_NO_PROSE = re.compile(r"\\[A-Za-z]+\s*(?:\{[^{}]*\})?|\{[^{}]*\}")
_QUOTED = re.compile(r"`([^`']{1,120})'(?!\w)")
_PAIR_OPENS = re.compile(r"''(?=\w)[^'`]{1,120}(?:'[^'`]{1,60})?''")
_GROUPED = re.compile(r"(?<=\d)\{,\}(?=\d)")  # `1{,}890`
_NOTHING = "\x00"  # what a citation leaves; the space before it goes with it
_GONE = re.compile(r"\s*\x00")
# Hugging Face gives `\\href{address}{text}` as `address{text}`.
_ADDRESS = re.compile(r"https?://[^\s{}]+\Z")
# Markdown's emphasis, not `CFG-Zero*`, `3*128*128`, `10**4` or `$L^*$`.
_STRONG = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*]{1,200})(?<!\s)\*\*(?!\*)")
_EMPHASIS = re.compile(r"(?<![\w*$^)\\])\*(?=[A-Za-z])([^*$\n]{1,120})(?<=[\w.,)])\*(?![\w*])")
# A word that was broken at the end of a line: `infer- ence`, not `low- and high-level`.
_BROKEN = re.compile(r"\b([A-Z]?[a-z]+)- (?!(?:and|or|to|nor|as|vs|but|versus)\b)([a-z]{2,})\b")
_LETTER_FIRST = re.compile(r"[A-Za-zÀ-ɏ]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTROLS = {
    " ": " ",
    ",": " ",
    ";": " ",
    ":": " ",
    "\\": " ",
    "!": "",
    "-": "",
    "/": "",
    "@": "",
    "~": "~",
    "|": "|",
    "\n": " ",
}
_WORDS = {
    "eg": "e.g.", "ie": "i.e.", "etc": "etc.", "etal": "et al.", "cf": "cf.", "vs": "vs.", "wrt": "w.r.t.", "aka": "a.k.a.",
    "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ", "qquad": " ", "space": " ", "newline": " ", "par": " ", "and": ",",
    "textasciitilde": "~", "textquote": '"', "textbackslash": "\\", "slash": "/", "textless": "<", "textgreater": ">",
    "textunderscore": "_", "lbrack": "[", "rbrack": "]", "textbar": "|", "textasciicircum": "^", "textendash": "–",
    "textemdash": "—", "deg": "°", "textmu": "μ",
}  # fmt: skip
_SILENT = _words(
    """
    bf it rm tt sf sc sl em cal bfseries itshape ttfamily sffamily scshape small large Large tiny normalsize noindent
    bigskip smallskip medskip vspace hspace label centering protect xspace maketitle item
    """
)
# The authors' macro for what they made, whose name stands nowhere in the text.
_OWN_NAMES = {
    "modelname": "our model", "ourmodel": "our model", "benchmarkname": "our benchmark", "methodname": "our method",
    "ourmethod": "our method",
}  # fmt: skip
_HIDDEN = _words(
    """
    cite citep citealp citealt citeyear label vspace hspace color bibliographystyle
    """
)
_SECOND = _words(
    """
    textcolor hyperlink hyperref colorbox replaced
    """
)  # the argument after the first is what is read
_DINGBATS = {"51": "✓", "52": "✓", "55": "✗", "56": "✗"} | {str(172 + n): chr(0x2460 + n) for n in range(10)}
_DINGBATS |= {str(182 + n): chr(0x2776 + n) for n in range(10)}


def readable(text: str) -> str:
    """Return the text on one line as a person would read it: accents, formulas and quotes in Unicode, no markup.

    Never raises and never drops a word that was meant to be read; what is not understood stays as it was typed. Plain text
    comes back unchanged but for its white space and invisible characters.
    """
    text = _GROUPED.sub(",", _plain(text))
    if len(text) > TOO_LONG or not _SIGNS_OF_TEX.search(text):
        return text
    return _tidy(_GONE.sub("", _read(text, 0)))


def _plain(text: str) -> str:
    """Return the text on one line in NFC, without HTML remains and without characters that cannot be seen."""
    if "<" in text:
        text = _untag(text)
    if "*" in text:
        text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", text))
    if "- " in text:
        text = _BROKEN.sub(_joined, text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    return _tidy(text)


def _tidy(text: str) -> str:
    """Return the text on one line in NFC without invisible characters."""
    if not text.isprintable():  # plain ASCII mostly is, and then there is nothing to look for
        text = _INVISIBLE.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def _joined(broken: re.Match[str]) -> str:
    """`inference` for `infer- ence`, where that is a word and the halves are not two."""
    halves = broken[1], broken[2]
    may_be_two = len(broken[1]) > _SHORT_HALF and all(map(_is_word, halves))
    return "".join(halves) if not may_be_two and _is_word("".join(halves)) else broken[0]


def _is_word(text: str) -> bool:
    return all(word in table() or word in STOPWORDS for word in tokens(text))


def _untag(text: str) -> str:
    text = _BREAK.sub(" ", text)
    text = _RAISED_TAG.sub(lambda found: (superscript if found[1].lower() == "sup" else subscript)(found[2]), text)
    text = _ANCHOR.sub(r"\1", text)
    return _PAIR.sub(r"\2", text)


def _read(tex: str, depth: int) -> str:
    """Copy the text, each piece of TeX converted on the way."""
    if depth > _DEEPEST:
        return tex
    braces, said, at = _pairs(tex), [], 0
    while found := _SPECIAL.search(tex, at):
        said.append(tex[at : found.start()])
        reader = _READERS.get(tex[found.start()], _punctuation)
        piece, at = reader(tex, found.start(), braces, depth)
        said.append(piece)
    said.append(tex[at:])
    return "".join(said)


def _pairs(tex: str) -> dict[int, int]:
    """Return where each brace that has a partner is closed."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(r"\\.|[{}]", tex, re.DOTALL):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            pairs[opened.pop()] = found.start()
    return pairs


_Read = tuple[str, int]  # what was said, and where to read on


def _punctuation(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    """Quotes and dashes."""
    sign = tex[at]
    length = len(tex[at : at + 80]) - len(tex[at : at + 80].lstrip(sign))
    if sign == "-":
        return _dash(tex, at, length)
    if length == 2:
        opens = sign == "`" or (_PAIR_OPENS.match(tex, at) is not None and (at == 0 or tex[at - 1] in " (["))
        return ("“" if opens else "”" if at and not tex[at - 1].isspace() else "''"), at + 2
    quoted = _QUOTED.match(tex, at) if sign == "`" and length == 1 and not tex[at - 1 : at].isalnum() else None
    if quoted:
        return f"‘{_read(quoted[1], depth + 1)}’", quoted.end()
    return sign * max(length, 1), at + max(length, 1)


def _dash(tex: str, at: int, length: int) -> _Read:
    before, after = tex[at - 1 : at] or " ", tex[at + length : at + length + 1] or " "
    option = before in " (`'\"[" and after.isalpha() and length == 2  # --help
    if option or length > 3:
        return "-" * length, at + length
    return ("–" if length == 2 else "—"), at + length


def _tilde(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    """TeX's unbreakable space between two words; elsewhere (`~30%`, `4~6`, `/~name`) the sign itself."""
    before, after = tex[at - 1 : at] or " ", tex[at + 1 : at + 2] or " "
    between_numbers = after.isdecimal() and (before.isdecimal() or before in "%×")
    joins = before not in " (/[~=<>" and not between_numbers and (after.isalnum() or after in "\\$({[“`'\"")
    return (" " if joins else "~"), at + 1


def _script(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    """A raised or lowered number or letter outside a formula: 10^21, L_2, V_{0.5}; a_long_name stays."""
    found = _SCRIPT.match(tex, at)
    short = re.search(
        r"(?:^|[^\w/.@])(?:[^\W_]|\d{1,3}|[A-Za-z]{1,3})$|\\[A-Za-z]{1,10}$|[)\]}]$", tex[max(0, at - 12) : at]
    )
    if not found or not short:
        return tex[at], at + 1
    inner = found[2] or found[3] or found[4]
    if found[4] and tex[at] == "_":
        return tex[at], at + 1  # x_i is as short as it gets, and A_b may be a name
    inner = _read(inner, depth + 1)
    return (superscript if tex[at] == "^" else subscript)(inner), found.end()


def _brace(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    """A group: its braces go when they are TeX's, and stay when they are the author's set or template."""
    closed = braces.get(at)
    if closed is None:
        return "{", at + 1
    inner = tex[at + 1 : closed]
    if address := _ADDRESS.search(tex, max(0, at - LONGEST), at):
        said = _read(inner, depth + 1).strip()
        return "" if not said or _bare(said) == _bare(address[0]) else f" ({said})", closed + 1
    if re.fullmatch(r"[\w.:'’-]*", inner) or re.match(r"\s*\\", inner) or re.search(r"\\['\"`^~=.]|\\[vucHkrb]\b", inner):
        return _read(inner, depth + 1).strip() if inner.strip() else "", closed + 1
    return "{", at + 1


# --- formulas --------------------------------------------------------------------------------------------------------


def _dollar(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    width = 2 if tex.startswith("$$", at) else 1
    for found in _closings(tex, "$" * width, at + width):
        inner = tex[at + width : found]
        if inner and _is_formula(inner, tex[found + width : found + width + 1]):
            return _placed(tex, at, inner, found + width)
        if _balanced(inner):
            break
    return "$" * width, at + width


def _closings(tex: str, dollars: str, start: int) -> Iterator[int]:
    """Yield where a formula that starts here may end: at the next dollar, or beyond the formulas inside its braces."""
    for found in islice(re.compile(r"(?<!\\)" + re.escape(dollars)).finditer(tex, start, start + LONGEST), 8):
        yield found.start()


def _balanced(inner: str) -> bool:
    return inner.count("{") - inner.count("\\{") == inner.count("}") - inner.count("\\}")


def _is_formula(inner: str, after: str) -> bool:
    """Tell a formula from the words between two prices ("costs $5 and $10")."""
    if not _balanced(inner):
        return False
    if not re.search(r"[\w\s]", inner):  # $>$, $\%$ and the like
        return True
    prose = len(_PROSE.findall(_NO_PROSE.sub(" ", inner)))
    if re.search(r"[\\^_]", inner) and prose < 2:
        return True
    if after.isdecimal() or inner[0].isspace() != inner[-1].isspace():
        return False
    return prose < (1 if inner[0].isspace() else 3)


def _placed(tex: str, at: int, inner: str, end: int) -> _Read:
    """Convert a formula; a bare sub- or superscript on a word (PM$_{2.5}$, H$_2$O) belongs to that word."""
    said = formula(inner)
    lowered = re.fullmatch(r"\s*_\s*(?:\{([\d.:]+)\}|\d)\s*", inner)
    if lowered and said == f"_{lowered[1]}":
        said = lowered[1]
    if said.startswith("_") and (at == 0 or tex[at - 1].isspace()):
        said = said.lstrip("_")
    return said, end


def _bracketed(tex: str, at: int, opened: str) -> _Read | None:
    closed = tex.find({"(": "\\)", "[": "\\]"}[opened], at + 2, at + 2 + LONGEST)
    return None if closed < 0 else _placed(tex, at, tex[at + 2 : closed], closed + 2)


# --- macros ----------------------------------------------------------------------------------------------------------


def _backslash(tex: str, at: int, braces: dict[int, int], depth: int) -> _Read:
    if (accent := _accent(tex, at)) is not None:
        return accent
    if escaped := re.compile(r"\\u([0-9a-fA-F]{4})(?![0-9a-zA-Z]*\})").match(tex, at):
        return chr(int(escaped[1], 16)), escaped.end()  # JSON's escape, typed as it stood
    if found := _MACRO.match(tex, at):
        return _macro(tex, found, braces, depth)
    if not (control := _CONTROL.match(tex, at)):
        return "\\", at + 1
    sign = control[1]
    if sign in "([" and (whole := _bracketed(tex, at, sign)) is not None:
        return whole
    if sign == "@":
        return ("@" if tex[at + 2 : at + 3].isalnum() else ""), control.end()
    if sign in "'\"`":  # an escaped quote, for no accent fitted
        return sign, control.end()
    return _CONTROLS.get(sign, sign), control.end()


def _accent(tex: str, at: int) -> _Read | None:
    if mangled := _MANGLED.match(tex, at):
        whole = mangled[1] + mangled[2]
        if len(mangled[2]) > 1 and (meant := symbol(whole)):
            return meant, mangled.end()
    found = _ACCENT.match(tex, at)
    if not found or _is_escaped_quote(tex, at, found):
        return None
    letter = found[3] or found[4]
    made = accented(f"\\{found[1] or found[2]}{{{letter}}}")
    return (made, found.end()) if made else None


def _is_escaped_quote(tex: str, at: int, found: re.Match[str]) -> bool:
    r"""Tell `model\'s` and `\"quoted\"` from accents."""
    after_letter = at > 0 and bool(_LETTER_FIRST.match(tex[at - 1]))
    if found[1] == "'" and found[4] == "s":
        return after_letter and not tex[found.end() : found.end() + 1].isalpha()
    if found[1] != '"' or after_letter:
        return found[1] == '"' and tex[at + 2].isspace()
    return tex[at + 2].isspace() or bool(re.search(r'\\"(?![A-Za-z{\\])', tex[found.end() : found.end() + 200]))


def _macro(tex: str, found: re.Match[str], braces: dict[int, int], depth: int) -> _Read:
    name, end = found[1], found.end()
    if name == "verb" and (verbatim := re.compile(r"([|!+/])(.{1,200}?)\1").match(tex, end)):
        return verbatim[2], verbatim.end()
    option = _OPTION.match(tex, end)
    opened = option.end() if option and tex[option.end() : option.end() + 1] == "{" else end
    if (closed := braces.get(opened)) is not None:
        return _with_argument(tex, name, opened, closed, braces, depth)
    return _alone(tex, name, end)


def _with_argument(tex: str, name: str, opened: int, closed: int, braces: dict[int, int], depth: int) -> _Read:
    def read(start: int, stop: int) -> str:
        return _read(tex[start + 1 : stop], depth + 1)

    second = braces.get(closed + 1)
    if closed == opened + 1:
        return _alone(tex, name, opened)[0].rstrip(), closed + 1  # \name{} ends the macro's name
    if name in _HIDDEN:
        return _NOTHING, closed + 1
    if name in ("citet", "citeauthor"):  # a citation that is a part of its sentence
        return f"[{tex[opened + 1 : closed]}]", closed + 1
    if name == "href" and second is not None:
        return _linked(tex[opened + 1 : closed], read(closed + 1, second)), second + 1
    if name in _SECOND and second is not None:
        return read(closed + 1, second), second + 1
    if name in _MATHS or (symbol(name) and name not in _WITH_TEXT):
        end = second + 1 if name in _MATHS and _MATHS[name] == 2 and second is not None else closed + 1
        return formula(tex[tex.rfind("\\", 0, opened) : end]), end
    return _WITH_TEXT.get(name, str)(read(opened, closed)), closed + 1


def _linked(url: str, said: str) -> str:
    url = url.replace("\\_", "_").replace("\\%", "%").replace("\\#", "#").strip()
    return url if not said or _bare(said) == _bare(url) else f"{said} ({url})"


def _bare(url: str) -> str:
    return url.removeprefix("https://").removeprefix("http://").rstrip("/.").lower()


def _alone(tex: str, name: str, end: int) -> _Read:
    """A macro without argument: a symbol, a switch, or the name of something that only its author can resolve."""
    spaced = re.compile(r"\s?").match(tex, end)
    after = spaced.end() if spaced else end
    if name in _SILENT:
        return "", end if name == "xspace" else after
    if name in _WORDS:
        return _WORDS[name], end
    if name in _OWN_NAMES:
        before = tex[: end - len(name) - 1].rstrip()
        return f"{'O' if before.endswith(('.', '!', '?')) else 'o'}{_OWN_NAMES[name][1:]}", end
    if said := symbol(name):
        return said, after if said.isalpha() and tex[after : after + 1].islower() else end
    if len(name) == 1:
        return "\\" + name, end  # \n is a line break that somebody escaped
    return name, end


_MATHS = {
    "frac": 2,
    "tfrac": 2,
    "dfrac": 2,
    "binom": 2,
    "sqrt": 1,
    "mathbb": 1,
    "mathcal": 1,
    "hat": 1,
    "tilde": 1,
    "bar": 1,
}
_MATHS |= {"overline": 1, "widehat": 1, "widetilde": 1, "vec": 1, "unicode": 1, "mathrm": 1, "mathbf": 1, "mathsf": 1}
_WITH_TEXT: dict[str, Callable[[str], str]] = {
    "footnote": lambda said: f" ({said.strip()})",
    "textsuperscript": superscript,
    "textsubscript": subscript,
    "ding": lambda said: _DINGBATS.get(said, said),
    "enquote": lambda said: f"“{said}”",
    "keywords": lambda said: f" Keywords: {said}",
    "textquote": lambda said: f"“{said}”",
}
_READERS: dict[str, Callable[[str, int, dict[int, int], int], _Read]] = {
    "\\": _backslash,
    "$": _dollar,
    "{": _brace,
    "~": _tilde,
    "^": _script,
    "_": _script,
}
