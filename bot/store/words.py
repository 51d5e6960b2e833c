"""What a search sorted `best` asks for: the bare words as alternatives, and the rest of the tree as conditions.

Pure, and shared by every store, so that all of them find the same items.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from Stemmer import Stemmer

from bot.models import And, Term, Tree
from bot.query.fields import spellings_of
from bot.query.fold import Spelling

# Function words of English that carry no subject; in a list of alternatives they would match nearly every item and only cost
# time (bm25 weighs them at about zero). A search that consists of nothing else keeps them.
_FUNCTION_WORDS = (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may more most"
    " no not of on or our should so such than that the their them then there these they this those to via was we were what"
    " when where which who why will with would you your"
)
STOPWORDS = frozenset(_FUNCTION_WORDS.split())


# The fields in which a searched word also stands for its inflections; a name has none.
INFLECTED = ("title", "abstract", "topic")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One bare word of a search: an item has it with any of the spellings, or with a word of any of the stems."""

    spellings: tuple[Spelling, ...]
    stems: frozenset[str]


def split(tree: Tree) -> tuple[tuple[Alternative, ...], Tree]:
    """Return the bare words of the tree's top level, and what must hold besides.

    A bare word stands alone or in the outermost AND, without field, quotes or `*`. Function words are left out as long as
    another word remains.
    """
    parts = tree.parts if isinstance(tree, And) else (tree,)
    bare = tuple(part for part in parts if isinstance(part, Term) and _is_bare(part))
    rest = tuple(part for part in parts if not (isinstance(part, Term) and _is_bare(part)))
    telling = tuple(term for term in bare if term.text.casefold() not in STOPWORDS)
    return tuple(map(_alternative, telling or bare)), And(rest)


def _is_bare(term: Term) -> bool:
    return not (term.field or term.quoted or term.prefix)


def _alternative(term: Term) -> Alternative:
    found = spellings_of(term)
    single = [spelling.tokens[0] for spelling in found if len(spelling.tokens) == 1]
    return Alternative(found, frozenset(stems(word for word in single if inflects(word))))


def inflects(token: str) -> bool:
    """Say whether a folded token is a plain word, which has a stem; numbers, codes and other scripts have none."""
    return len(token) > 2 and token.isalpha() and token.isascii()


def stems(words: Iterable[str]) -> list[str]:
    """Return the stem of each folded token, itself when it does not inflect.

    Snowball's English stemmer (Porter 2), and two spellings made one: -ise/-ize, -yse/-yze ("quantis", "quantiz"), -our/-or.
    A stem is a key to compare by, never shown.
    """
    stemmer = Stemmer("english", 0)
    return [_one_spelling(stemmer.stemWord(word), stemmer) if inflects(word) else word for word in words]


def _one_spelling(stem: str, stemmer: Stemmer) -> str:
    """Go by the stem alone, so that words with one stem keep one; "optimis" becomes what "optimize" has: "optim"."""
    if len(stem) >= 6 and stem.endswith(("is", "ys")):
        return str(stemmer.stemWord(f"{stem[:-1]}ze"))
    if len(stem) >= 6 and stem.endswith("our"):
        return stem[:-2] + "r"
    return stem
