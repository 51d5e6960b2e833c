"""TeX formulas as one line of Unicode. The only door to pylatexenc: its parser and its tables of symbols."""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latex2text import get_default_latex_context_db as text_tables
from pylatexenc.latexwalker import LatexCharsNode, LatexGroupNode, LatexMacroNode, LatexWalker, LatexWalkerParseError
from pylatexenc.latexwalker import get_default_latex_context_db as parse_tables
from pylatexenc.macrospec import MacroSpec

logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)  # it warns about every faulty abstract; we fall back instead

LONGEST = 1_000  # characters of one formula; what is longer is no formula a reader wants on one line
_DEEPEST = 30  # braces in braces


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Arguments of macros that pylatexenc does not know or takes none for.
_ARGUMENTS = {
    "{": (
        "operatorname boldsymbol bm mathop substack pmod bmod unicode uline sout smash phantom pmb mathds mathbbm "
        "textnormal textmd textup scalebox acute grave check breve mathring vec dot ddot widehat widetilde num si ce"
    ),
    "{{": "tfrac dfrac cfrac binom tbinom dbinom overset underset stackrel SI hyperlink href",
}
_SYMBOLS = {
    "sim": "~", "thicksim": "~", "times": "×", "cdot": "·", "ast": "*", "star": "⋆", "to": "→", "colon": ":",
    "circledR": "®",
    "prime": "′", "lt": "<", "gt": ">", "dots": "…", "ldots": "…", "cdots": "…", "dotsc": "…", "dotsb": "…", "mid": "|",
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖", "lvert": "|", "rvert": "|", "vert": "|", "leqslant": "≤",
    "geqslant": "≥",
    "le": "≤", "ge": "≥", "leq": "≤", "geq": "≥", "deg": "°", "degree": "°", "backslash": "\\", "setminus": "∖", "phi": "φ",
    "varphi": "φ", "epsilon": "ε", "varepsilon": "ε", "upmu": "μ", "mu": "μ", "micro": "µ", "square": "□", "Box": "□",
    "langle": "⟨", "rangle": "⟩", "perp": "⊥", "bot": "⊥", "top": "⊤", "longrightarrow": "→", "Longrightarrow": "⇒",
    "implies": "⇒", "iff": "⇔", "gets": "←", "mathsection": "§", "checkmark": "✓", "nrightarrow": "↛", "textdegree": "°",
    "copyright": "©", "textcopyright": "©", "triangleq": "≜", "coloneqq": "≔", "lesssim": "≲", "gtrsim": "≳",
    "ll": "≪", "gg": "≫",
}  # fmt: skip
_SPACES = {",": " ", ";": " ", ":": " ", ">": " ", " ": " ", "\\": " ", "quad": " ", "qquad": " ", "space": " ", "!": ""}
_SPACES |= {"-": "", "/": "", "@": "", "newline": " ", "hspace": " ", "enspace": " ", "thinspace": " ", "negthinspace": ""}
# Size, font and placement: nothing to read.
_SILENT = _words(
    """
    left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle
    limits nolimits rm bf it tt sf sc sl em cal mit small large Large footnotesize normalsize tiny mathstrut nonumber
    noindent protect null relax bfseries itshape ttfamily sffamily scshape boldmath unboldmath centering color hfill
    strut
    """
)
_FUNCTIONS = _words(
    """
    log ln lg exp sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan max min sup inf lim limsup liminf arg
    argmax argmin det dim ker gcd hom Pr poly polylog mod
    """
)
_COMBINING = {
    "hat": "\u0302", "widehat": "\u0302", "check": "\u030c", "tilde": "\u0303", "widetilde": "\u0303", "acute": "\u0301",
    "grave": "\u0300", "dot": "\u0307", "ddot": "\u0308", "breve": "\u0306", "bar": "\u0304", "overline": "\u0304",
    "vec": "\u20d7", "mathring": "\u030a",
}  # fmt: skip
_ACCENT_NAMES = frozenset("'\"`^~=.vucHkrbdt")
_DOUBLE_STRUCK = dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))  # those that every font has; 𝔽 and the like stay plain
# Superscripts and subscripts in Unicode, as far as it has them and fonts show them.
_SIGNS = "0123456789+-=()"
_RAISED = dict(zip(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾", strict=True))
_LOWERED = dict(zip(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
_RAISED_LETTERS = dict(
    zip(
        "abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        strict=True,
    )
)
_LOWERED_LETTERS = dict(zip("aehijklmnoprstuvxβγρφχ", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
# Signs that stand high by themselves.
_HIGH = {
    "∘": "°",
    "°": "°",
    "*": "*",
    "∗": "*",
    "⋆": "⋆",
    "★": "★",
    "′": "′",
    "″": "″",
    "†": "†",
    "‡": "‡",
    "⊤": "ᵀ",
    "%": "%",
}
_HIGH |= {"®": "®", "™": "™", "©": "©"}
_ORDINALS = frozenset({"st", "nd", "rd", "th"})

_RELATION = re.compile(r"(?<=[^\s(\[{|]) ?([≤≥≈≡≠∈∉⊂⊆⊃⊇→←↔⇒⇔↦≪≫≲≳∝≃≅⪯⪰∧∨∪∩≜≔]) ?(?=[^\s)\]}|])")

_OPERATOR = re.compile(r"(?<=\S) ([×·±∓÷]) ?(?=\S)")  # TeX's source has a space before it, and one that ends its name


def formula(tex: str) -> str:
    """Return the formula (without its dollars) as one line of Unicode; what cannot be parsed, without its backslashes."""
    if len(tex) > LONGEST:
        return unmarked(tex)
    return _formula(tex)


@lru_cache(maxsize=8192)
def _formula(tex: str) -> str:
    nodes = _parsed(tex)
    if nodes is None:
        return unmarked(tex)
    said = _said(nodes)
    said = _OPERATOR.sub(r" \1 ", _RELATION.sub(r" \1 ", said))
    said = re.sub(r"\s+", " ", said).strip()
    return unicodedata.normalize("NFC", said)


def unmarked(tex: str) -> str:
    """Return the text with braces and backslashes gone and every word of it still there."""
    tex = re.sub(r"\\[A-Za-z]+\s*(?=\{)", "", tex)  # a macro with an argument: the argument is what is read
    return re.sub(r"\\([A-Za-z]+) ?|[\\{}]", lambda found: symbol(found[1] or "") or (found[1] or ""), tex)


@lru_cache(maxsize=2048)
def symbol(name: str) -> str:
    """Return the character that a macro without arguments stands for, "" for a macro that stands for none."""
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    known = _TEXT_TABLES.get_macro_spec(name) if name else None
    written = getattr(known, "simplify_repl", None)
    if not isinstance(written, str) or "%" in written or len(written.strip()) > 2:
        return ""
    return written.strip()


@lru_cache(maxsize=1024)
def accented(tex: str) -> str:
    r"""Return the letter that an accent macro with its letter makes (`\v{S}` is Š), "" when Unicode has no such letter."""
    try:
        made = unicodedata.normalize("NFC", str(_ACCENTS.latex_to_text(tex)))
    except _FAILURES:
        return ""
    return made if len(made) == 1 else ""


def _parse_context() -> Any:
    tables = parse_tables()
    specs = [MacroSpec(name, shape) for shape, names in _ARGUMENTS.items() for name in names.split()]
    tables.add_context_category("broadsheet", macros=specs, prepend=True)
    return tables


_TEXT_TABLES = text_tables()
# pylatexenc fails in many ways on what people type, not only in its own.
_FAILURES = (LatexWalkerParseError, RecursionError, ValueError, IndexError, AttributeError, TypeError)
_PARSE_TABLES = _parse_context()
_ACCENTS = LatexNodes2Text(math_mode="text")


def _parsed(tex: str) -> Sequence[Any] | None:
    """Return pylatexenc's tree, None when it cannot make one."""
    if _depth(tex) > _DEEPEST:
        return None
    tex = re.sub(r"(?<!\\)%", r"\\%", tex)  # a bare % is a per cent sign here, never a comment
    try:
        nodes, _, _ = LatexWalker(tex, latex_context=_PARSE_TABLES, tolerant_parsing=False).get_latex_nodes()
    except _FAILURES:
        return None
    return list(nodes)


def _depth(tex: str) -> int:
    deepest = depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", tex):
        depth += 1 if brace == "{" else -1
        deepest = max(deepest, depth)
    return deepest


# --- the tree that pylatexenc made, read aloud -----------------------------------------------------------------------


def _atoms(nodes: Sequence[Any]) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, LatexCharsNode):
            yield from re.findall(r"(?<=[\^_])-?\d+|.", node.chars, re.DOTALL)  # 10^-3, 10^21: what is meant
        elif node is not None:
            yield node


def _said(nodes: Sequence[Any]) -> str:
    """Join what the nodes say; the atom after ^ or _ is raised or lowered."""
    said: list[str] = []
    script: Callable[[str], str] | None = None
    for atom in _atoms(nodes):
        if script is not None:
            if (isinstance(atom, str) and atom.isspace()) or getattr(atom, "macroname", "") in _SILENT:
                continue
            _join(said, script(_atom(atom)))
            script = None
        elif isinstance(atom, str) and atom in ("^", "_"):  # a node compares with nodes only and raises at a str
            script = superscript if atom == "^" else subscript
        elif isinstance(atom, LatexMacroNode) and atom.macroname in _FUNCTIONS:
            _function(said, atom)
        else:
            _join(said, _atom(atom))
    return "".join(said)


def _join(said: list[str], text: str) -> None:
    """Append, with a space where a function's name would run into a letter or digit."""
    if said and said[-1] in _FUNCTIONS and text[:1].isalnum():
        said.append(" ")
    said.append(text)


def _function(said: list[str], atom: Any) -> None:
    if said and said[-1][-1:].isalnum():
        said.append(" ")
    said.append(atom.macroname)


def _atom(atom: Any) -> str:
    if isinstance(atom, str):
        return {"~": " ", "'": "′", "−": "-"}.get(atom, atom)
    if isinstance(atom, LatexMacroNode):
        return _macro(atom)
    if hasattr(atom, "nodelist"):  # a group, an environment, a formula inside \text
        inner = _said(atom.nodelist)
        opened = atom.delimiters[0] if isinstance(atom, LatexGroupNode) else "{"
        return inner if opened == "{" else f"{atom.delimiters[0]}{inner}{atom.delimiters[1]}"
    written = getattr(atom, "specials_chars", "")
    return {"~": " ", "&": " "}.get(written, written)


def _macro(node: Any) -> str:
    name, given = node.macroname, list((node.nodeargd.argnlist if node.nodeargd else None) or ())
    if name in _SPACES:
        return _SPACES[name]
    if name in _SILENT:
        return ""
    if name in _COMBINING and given:
        return _with_mark(_said(given[-1:]), _COMBINING[name])
    if name in _STRUCTURES:
        return _STRUCTURES[name](given)
    if not given or given[-1] is None:
        return symbol(name) or _unknown(node)
    if name in _ACCENT_NAMES and (accent := accented(node.latex_verbatim().strip())):
        return accent
    return _said(given[-1:])  # \text, \mathbf, \textcolor{red}{…}: the last argument is what is read


def _unknown(node: Any) -> str:
    if len(node.macroname) == 1 and not node.macroname.isalpha():
        return str(node.macroname)  # \{ \% \_ \$
    return str(node.macroname) + (" " if node.macro_post_space else "")


def _with_mark(text: str, mark: str) -> str:
    return text + mark if len(text) == 1 else text


def _whole(text: str) -> str:
    """Bracket what would fall apart beside a slash or under a root."""
    return (
        text if len(text) == 1 or text.isalnum() or re.fullmatch(r"[\d.,]+|\([^()]*\)|\w[⁰-₎₀-ₜ¹²³]*", text) else f"({text})"
    )


def _fraction(given: Sequence[Any]) -> str:
    return "/".join(_whole(_said([part])) for part in given[-2:])


def _root(given: Sequence[Any]) -> str:
    degree = superscript(_said(given[:1])).removeprefix("^") if len(given) > 1 and given[0] is not None else ""
    return f"{degree.strip('[]()')}√{_whole(_said(given[-1:]))}"


def _binomial(given: Sequence[Any]) -> str:
    return f"binom({', '.join(_said([part]) for part in given[-2:])})"


def _code_point(given: Sequence[Any]) -> str:
    """MathJax's `unicode{x2013}`, which arXiv's own pages use for dashes."""
    text = _said(given[-1:]).strip()
    found = re.fullmatch(r"[xX]([0-9a-fA-F]{2,5})|([0-9]{2,6})", text)
    return chr(int(found[1], 16) if found[1] else int(found[2])) if found else text


def _double_struck(given: Sequence[Any]) -> str:
    text = _said(given[-1:])
    return _DOUBLE_STRUCK.get(text, text)


def _stacked(given: Sequence[Any]) -> str:
    said = [_said([part]) for part in given[-2:]]
    return said[1] + superscript(said[0]) if len(said) == 2 else "".join(said)


_STRUCTURES: dict[str, Callable[[Sequence[Any]], str]] = {
    "frac": _fraction,
    "tfrac": _fraction,
    "dfrac": _fraction,
    "cfrac": _fraction,
    "sqrt": _root,
    "binom": _binomial,
    "tbinom": _binomial,
    "dbinom": _binomial,
    "unicode": _code_point,
    "mathbb": _double_struck,
    "mathds": _double_struck,
    "overset": _stacked,
    "stackrel": _stacked,
    "phantom": lambda given: "",
    "textsuperscript": lambda given: superscript(_said(given[-1:])),
    "textsubscript": lambda given: subscript(_said(given[-1:])),
    "pmod": lambda given: f" (mod {_said(given[-1:])})",
    "bmod": lambda given: f" mod {_said(given[-1:])}",
}


# --- superscripts and subscripts ---------------------------------------------------------------------------------------


def superscript(text: str) -> str:
    """Return the text raised: `2` as ², `-1` as ⁻¹, `n-1` as ⁿ⁻¹; what Unicode cannot raise as ^word or ^(…)."""
    text = text.strip()
    if text in _HIGH or text in _ORDINALS or not text:
        return _HIGH.get(text, text)
    return _raised(text) or _spelt("^", text)


def subscript(text: str) -> str:
    """Return the text lowered: `2` as ₂, `i+1` as ᵢ₊₁; what Unicode cannot lower as _word or _(…)."""
    text = text.strip()
    return _shift(text, _LOWERED, _LOWERED_LETTERS) or _spelt("_", text) if text else ""


def _raised(text: str) -> str:
    return _shift(text, _RAISED, _RAISED_LETTERS)


def _shift(text: str, signs: dict[str, str], letters: dict[str, str]) -> str:
    """Return "" when a character is missing, or when two letters stand together: ₘₐₓ is harder to read than _max."""
    if any(first.isalpha() and second.isalpha() for first, second in pairwise(text)):
        return ""
    table = signs | letters
    shifted = [table.get(character, "") for character in text.replace(" ", "").replace("−", "-")]
    return "".join(shifted) if all(shifted) else ""


def _spelt(mark: str, text: str) -> str:
    return mark + text if len(text) == 1 or re.fullmatch(r"[\w.:*]+", text) else f"{mark}({text})"
