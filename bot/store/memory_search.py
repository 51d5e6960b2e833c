"""How the memory store ranks: what a search finds, and what is closest to an item."""

from collections import Counter
from collections.abc import Sequence

from bot.models import Hit, Item
from bot.query.fields import TEXT, text_of
from bot.query.fold import BARRIER
from bot.store.similar import asked, closest
from bot.store.words import Words, stemmed


def similar(item: Item, others: Sequence[Item], number: int, limit: int) -> list[Hit]:
    """Return those of the others whose texts are closest to the item's, of `number` that were ever stored."""
    about = asked(item)
    having = [(other, stems) for other in others if (stems := _tokens(other).intersection(about.telling))]
    counts = Counter(stem for _, stems in having for stem in stems)
    idf = about.idf({stem: counts[stem] for stem in about.telling}, number)
    return closest(about, idf, item, (other for other, _ in having), limit)


def _tokens(item: Item) -> set[str]:
    """Return the words of the item's texts and their stems."""
    texts = tuple(text_of(item, field) for field in TEXT)
    return set(" ".join((*texts, *stemmed(texts))).split())


def relevance(item: Item, words: Words) -> float:
    """Return 3 for each of the words that the item has, 1 more for its title, and as much again when it has all of them."""
    title, *rest = texts = tuple(text_of(item, field) for field in TEXT)
    text = f" {BARRIER} ".join(rest)
    stems = stemmed(texts)
    places = {False: (f" {title} {stems[0]} ", f" {text} {stems[1]} "), True: (f" {title} ", f" {text} ")}

    def score(ways: tuple[str, ...]) -> int:
        found = [[f" {way} " in place for place in places[" " in way]] for way in ways]
        return max((4 if in_title else 3 if in_text else 0 for in_title, in_text in found), default=0)

    scores = list(map(score, words))
    return float(sum(scores) * (1 + all(scores)))
