"""Says whether a text reads as English, which the rules of this room know."""

import re
from functools import lru_cache

# The commonest words of English abstracts, first those that no neighbouring language has, then those that some have too.
_COMMON = frozenset(
    ["the", "of", "and", "to", "is", "for", "we", "that", "with", "this", "are", "by", "from", "our", "which", "it"]
)
_COMMON_TOO = frozenset(
    ["in", "a", "on", "as", "be", "an", "can", "have", "has", "their", "these", "such", "or", "at", "using"]
)
_LEAST_COMMON, _LEAST_SHARE = 0.05, 0.1  # of all words: the first list alone, and both
_ENOUGH = 15  # words; fewer are judged by their letters alone
_LOOKED_AT = 4_000  # characters


@lru_cache(maxsize=64)  # a text's parts and its gist ask for the same
def reads_as_english(text: str) -> bool:
    """Judge by the share of common words, in a text of a few words by its letters."""
    opening = text[:_LOOKED_AT]
    if not opening.isascii():
        letters = [sign for sign in opening if sign.isalpha()]
        if sum(sign.isascii() for sign in letters) * 2 < len(letters):
            return False
    words = re.findall(r"[^\W\d_]+", opening.lower())
    if len(words) < _ENOUGH:
        return True
    common = sum(word in _COMMON for word in words)
    both = common + sum(word in _COMMON_TOO for word in words)
    return common >= _LEAST_COMMON * len(words) and both >= _LEAST_SHARE * len(words)
