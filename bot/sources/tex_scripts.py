"""Superscripts and subscripts in Unicode, as far as it has them and fonts show them."""

import re
from itertools import pairwise

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
