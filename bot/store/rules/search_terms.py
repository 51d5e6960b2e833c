"""What a search sorted `best` asks for: the bare words as alternatives, and the rest of the tree as conditions.

Pure, and shared by every store, so that all of them find the same items.
"""

import threading
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from bot.models import And, Item, Term, Tree
from bot.query.fields import read_of, spellings_of
from bot.query.fold import indexed

# Function words of English that carry no subject; in a list of alternatives they would match nearly every item and only cost
# time (bm25 weighs them at about zero). A search that consists of nothing else keeps them.
_FUNCTION_WORDS = (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may more most"
    " no not of on or our should so such than that the their them then there these they this those to via was we were what"
    " when where which who why will with would you your"
)
Words = tuple[tuple[str, ...], ...]
STOPWORDS = frozenset(_FUNCTION_WORDS.split())
STEMS_VERSION = f"2/{Stemmer.version()}"  # raise the first number when a rule here changes
_REMEMBERED = 1_000  # items whose folded texts are remembered, about 6 MB: as many as are written at a time
_MOST_STEMS = 300_000  # in each memo, about 40 MB; then it starts afresh


def split(tree: Tree) -> tuple[Words, Tree]:
    """Return the bare words of the tree's top level, each as its ways to be found, and what must hold besides.

    A bare word stands alone or in the outermost AND, without field, quotes or `*`. Function words are left out as long as
    another word remains. A way is a stem, which an item has in its folded texts or among their `stems`; or, when the word is
    several tokens, a phrase of the folded texts, with spaces between. A word that folds to nothing is left out; when all of
    them do, there is one word without a way, which no item has.
    """
    parts = tree.parts if isinstance(tree, And) else (tree,)
    bare = tuple(part for part in parts if isinstance(part, Term) and is_bare(part))
    rest = tuple(part for part in parts if not is_bare(part))
    telling = tuple(term for term in bare if term.text.casefold() not in STOPWORDS)
    words = (tuple(dict.fromkeys(_sought(way.tokens) for way in spellings_of(term))) for term in telling or bare)
    return tuple(dict.fromkeys(filter(None, words))) or ((),) * bool(bare), And(rest)


def _sought(tokens: tuple[str, ...]) -> str:
    return stem_of(tokens[0]) if len(tokens) == 1 else " ".join(tokens)


def is_bare(part: Tree) -> bool:
    """Say whether it is a word that stands alone."""
    return isinstance(part, Term) and not (part.field or part.quoted or part.prefix)


class _Stems(dict[str, str]):
    """Each folded token's stem, worked out once.

    Snowball's English stemmer (Porter 2), and spellings made one that it keeps apart: -ise/-ize, -yse/-yze, -our/-or.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._lock = threading.Lock()  # the stemmer keeps state, and several threads fold

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        with self._lock:
            stem = self._stem(token) if len(token) > 2 and token.isalpha() else token
        self[token] = stem
        return stem

    def _stem(self, token: str) -> str:
        stem: str = self._stemmer.stemWord(token)
        if len(stem) >= 6 and stem.endswith(("is", "ys")):
            # By the stem alone, so that words with one stem keep one: "optimis" becomes what "optimize" has, "optim".
            return str(self._stemmer.stemWord(f"{stem[:-1]}ze"))
        return f"{stem[:-2]}r" if len(stem) >= 6 and stem.endswith("our") else stem


class _Others(dict[str, str]):
    """Each folded token's stem where it differs from the token, otherwise ""."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem = stem_of(token)
        self[token] = other = "" if stem == token else stem
        return other


stem_of = _Stems().__getitem__
_other_of = _Others().__getitem__


def stems(folded: str) -> str:
    """Return the stems of a folded text's tokens, in their order, of those that are not their own stem."""
    return " ".join(filter(None, map(_other_of, folded.split())))


def stemmed(texts: tuple[str, ...]) -> tuple[str, str]:
    """Return the stems of the first of an item's folded texts, its title, and of all others."""
    return stems(texts[0]), stems(" ".join(texts[1:]))


class FoldedTexts(NamedTuple):
    """The folded texts of an item, in the order of TEXT, and the stems of its title and of all others."""

    texts: tuple[str, ...]
    title_stems: str
    other_stems: str


def folded_texts(item: Item) -> FoldedTexts:
    """Return what search indexes hold of the item's texts; that of the last thousand texts is remembered.

    Two indexes are told of an item one after the other, and most of what changes is not its text.
    """
    return _folded(read_of(item))


@lru_cache(maxsize=_REMEMBERED)
def _folded(read: tuple[tuple[str, ...], ...]) -> FoldedTexts:
    texts = tuple(indexed(*each) for each in read)
    return FoldedTexts(texts, *stemmed(texts))
