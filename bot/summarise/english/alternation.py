"""Writes a pattern for any of many words as a tree of their beginnings, which is tried letter by letter.

`re` tries the words of a plain alternation one after the other; hundreds of them at each place of a text take long.
"""

import re
from collections.abc import Iterable

_Tree = dict[str, "_Tree"]  # what may follow, by its first letter; "" where a word ends
_END: _Tree = {}


def one_of(words: Iterable[str]) -> str:
    """Return a pattern that matches each of the words, and nothing else; of two that both stand there the longer one.

    Words are taken as they are written: no sign of them is a pattern's. Raises ValueError where there is no word.
    """
    tree: _Tree = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = _END
    if not tree:
        raise ValueError("no words")
    return f"(?:{_pattern(tree)})"


def _pattern(tree: _Tree) -> str:
    ways = [_way(letter, rest) for letter, rest in tree.items() if letter]
    if not ways:
        return ""
    singles = all(rest.keys() == {""} for letter, rest in tree.items() if letter)
    if len(ways) == 1 and ("" not in tree or singles):
        told = ways[0]
    else:
        told = f"[{''.join(ways)}]" if singles else f"(?:{'|'.join(ways)})"
    return f"{told}?" if "" in tree else told


def _way(letter: str, rest: _Tree) -> str:
    return re.escape(letter) + _pattern(rest)
