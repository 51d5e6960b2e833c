"""What two items have in common: whether they are one work, and the words and phrases that tell both from others. Pure.

Nothing is said that is not in both texts. A word tells where few papers at large have it, and few of the store's items;
words that follow one another in both texts are a phrase, which tells more than its words.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from bot.models import Hit, Item
from bot.models.vectors import README
from bot.query.fold import indexed, tokens
from bot.store.rules.halves import half_named, together

Telling = Callable[[str], str]  # the stem of a token, "" of one that says nothing about a subject

MOST = 3  # words and phrases that are named
_ALONE = 4.4  # what a word must tell by itself: one in 80 papers has it
_TOGETHER = 4.2  # what the words of a phrase must tell together
_FIRST = 1.5  # what the first word of a phrase tells at least: "large" and "new" begin none
_LONGEST = 4  # words of a phrase
_IN_TITLE = 1.3  # times that a phrase counts which stands in both titles
_WORD = re.compile(r"[^\W_]+")
_JOINED = frozenset(" \n-\u2010\u2011")  # what may stand between two words of a phrase
_WORDS = 65_536  # that are held with what they fold to, some 10 MB
_LONGEST_TEXT = 6_000  # characters of a text that are read

Stems = tuple[str, ...]
Grams = Mapping[Stems, Counter[str]]  # every word and phrase of a text, with the forms in which it stands there
Runs = list[list[tuple[str, int, int]]]  # by run of words that follow one another: stem, start and end in the text


class _Told(NamedTuple):
    """A word or phrase of both, and what it tells."""

    weight: float
    stems: Stems


def shared(asked: Item, found: Sequence[Item], rarity: Mapping[str, float], stem_of: Telling) -> list[tuple[str, ...]]:
    """Return for each of the found the words and phrases that it and the asked item have and few others, at most `MOST`.

    The most telling come first. `rarity` is the idf of each stem of the asked item, 1 where every item has it; `stem_of`
    gives the stem of a token.
    """
    mine, title = _grams(_text(asked), stem_of), _grams(asked.title, stem_of)

    def known(token: str) -> str:  # of another text no more is needed: a phrase of both has words of both alone
        stem = stem_of(token)
        return stem if (stem,) in mine else ""

    return [_shared(mine, _grams(_text(each), known), title.keys() & _grams(each.title, known), rarity) for each in found]


def _shared(mine: Grams, theirs: Grams, titles: Set[Stems], rarity: Mapping[str, float]) -> tuple[str, ...]:
    told = [
        _Told(_weight(stems, rarity) * (_IN_TITLE if stems in titles else 1), stems) for stems in mine if stems in theirs
    ]
    chosen: list[Stems] = []
    for each in sorted((each for each in told if each.weight), key=lambda each: (-each.weight, each.stems)):
        if not any(set(each.stems) & set(other) for other in chosen):
            chosen.append(each.stems)
    return tuple(_spelt(stems, mine[stems] + theirs[stems]) for stems in chosen[:MOST])


def _text(item: Item) -> str:
    return "\n\n".join((item.title, *item.keywords, item.abstract, item.readme[:README]))


def _weight(stems: Stems, rarity: Mapping[str, float]) -> float:
    """Return what a word or phrase tells, 0 where that is too little to be named."""
    told = [max(0.0, rarity.get(stem, 1.0) - 1) for stem in stems]
    enough = told[0] >= _ALONE if len(told) == 1 else told[0] >= _FIRST and sum(told) >= _TOGETHER
    return sum(told) if enough else 0.0


def _spelt(stems: Stems, forms: Counter[str]) -> str:
    """Return it as it stands most often, and of equals with the fewest capitals, as in the middle of a sentence."""
    return min(forms, key=lambda form: (-forms[form], sum(map(str.isupper, form)), form))


def _grams(text: str, stem_of: Telling) -> Grams:
    """Return every word and every phrase of a text by its stems, with the forms in which it stands there."""
    found: dict[Stems, Counter[str]] = {}
    for run in _runs(text[:_LONGEST_TEXT], stem_of):
        for start in range(len(run)):
            for end in range(start + 1, min(len(run), start + _LONGEST) + 1):
                words = run[start:end]
                form = " ".join(text[words[0][1] : words[-1][2]].split())
                found.setdefault(tuple(stem for stem, _, _ in words), Counter())[form] += 1
    return found


def _runs(text: str, stem_of: Telling) -> Runs:
    """Return the words that tell something, those together that nothing but a blank or a hyphen parts."""
    runs: Runs = [[]]
    before = 0
    for match in _WORD.finditer(text):
        stem = _stem(match[0], stem_of)
        if not stem or text[before : match.start()] not in _JOINED:
            runs.append([])
        if stem:
            runs[-1].append((stem, *match.span()))
        before = match.end()
    return runs


def _stem(word: str, stem_of: Telling) -> str:
    """Return the stem of a word; "" of what says nothing, and of a script without spaces, whose signs are no words."""
    token = _token(word)
    return stem_of(token) if token else ""


@lru_cache(_WORDS)
def _token(word: str) -> str:
    """Return the one token that a word folds to, "" of what folds to none or to several."""
    folded = tokens(word)
    return folded[0] if len(folded) == 1 else ""


# --- one work under several keys


def apart(asked: Item, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, in their order, that are other works than the asked item, and than one another.

    Left out are the item itself under another name, its other half (its code, or the paper of a repository), and what has
    the title and an author of one before: the same paper from another source.
    """
    names = {asked.key, *asked.aliases}
    seen = _marks(asked)
    kept: list[Hit] = []
    for hit in hits:
        other = hit.item
        marks = _marks(other)
        if names.isdisjoint((other.key, *other.aliases)) and not _are_halves(asked, other) and seen.isdisjoint(marks):
            kept.append(hit)
            seen |= marks
    return kept


def as_cards(hits: Sequence[Hit], halves: Mapping[str, Item], limit: int) -> list[Hit]:
    """Return so many of the hits, a paper and its repository as one; `halves` are the other halves by key."""
    items = {**halves, **{hit.item.key: hit.item for hit in hits}}
    found = [(hit.item.key, hit.relevance) for hit in hits]
    cards = together(found, items, {key: key for key in items}, lambda item: True)
    return [Hit(card.lead, card.relevance, card.other) for _, card in cards[: max(0, limit)]]


def _are_halves(asked: Item, other: Item) -> bool:
    if asked.kind is other.kind:
        return False
    named, naming = half_named(asked), half_named(other)
    return other.key == named if named else naming != "" and naming in (asked.key, *asked.aliases)


def _marks(item: Item) -> set[tuple[str, str]]:
    """Return the title with each of the authors, as they are folded; nothing of an item without authors."""
    title = indexed(item.title)
    return {(title, indexed(author)) for author in item.authors} if title else set()
