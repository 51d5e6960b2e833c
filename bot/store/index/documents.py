"""What tantivy's index holds of an item.

The folded texts as they are, with the places of their words, for phrases and for what is asked of one text; all of them and
the stems of their words once more in one text, in which a word of the title stands twice, for the best match; how their
words begin, as the list of what begins with a letter would have to be put together from those of ten thousands of words; the
labels, spelt as FTS5's are; and the numbers.
"""

from collections.abc import Mapping
from importlib.metadata import version

from tantivy import Document, Index, Schema, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from bot.models import Item
from bot.query.fields import DATE, TEXT, date_of
from bot.query.fold import VERSION
from bot.store.records import micros, newness
from bot.store.rules.labels import labels_text
from bot.store.rules.search_terms import STEMS_VERSION, folded_texts

# Another text is another index: raise the first number when the fields change.
INDEX_VERSION = f"2 {version('tantivy')} {VERSION} {STEMS_VERSION}"
BEST, TITLE_STEM, LABEL, BEGINNING = "best", "title_stem", "label", "beginning"
LONGEST_BEGINNING = 3  # characters: of what is longer, a few thousand words at most begin so
COUNTS = ("stars", "forks", "upvotes")
# A field that grows as an order does, so that the first of an order are among those that have the most of it.
BY = {"new": "newest", "best": "newest", "stars": "by_stars", "upvotes": "by_upvotes"}
_WORDS = "words"  # the tokeniser: what is indexed is folded already
_SHIFT = 39  # bits for the seconds of a date, from the year 1 on
_MOST = (1 << 63 - _SHIFT) - 1
_YEAR_1 = 62_135_596_800  # seconds before 1970


def schema() -> Schema:
    """Return the fields."""
    made = SchemaBuilder().add_integer_field("id", indexed=True, fast=True)
    for name in ("seen", "newest", "by_stars", "by_upvotes", *DATE, *COUNTS):
        made.add_integer_field(name, fast=True)
    for name in TEXT:
        made.add_text_field(name, tokenizer_name=_WORDS)
    made.add_text_field(BEST, tokenizer_name=_WORDS, index_option="freq")
    for name in (TITLE_STEM, LABEL, BEGINNING):
        made.add_text_field(name, tokenizer_name=_WORDS, index_option="basic")
    return made.build()


def opened(path: str, fields: Schema) -> Index:
    """Return the index in the folder, made where there is none; raises ValueError for what is no index of these fields."""
    index = Index(fields, path)
    index.register_tokenizer(_WORDS, TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return index


def document(number: int, item: Item) -> Document:
    """Return what is indexed of the item with this arrival."""
    texts, title, others = folded_texts(item)
    whole = " ".join(texts)
    best = f"{texts[0]} {title} {whole} {title} {others}"
    dates = {name: date_of(item, name) for name in DATE}
    times = {"seen": item.seen, "newest": newness(item)[0], **dates}
    known: Mapping[str, int | None] = {
        "id": number,
        **{name: None if time is None else micros(time) for name, time in times.items()},
        **{name: getattr(item, name) for name in COUNTS},
    }
    newest = known["newest"] or 0
    return Document(
        **{name: value for name, value in known.items() if value is not None},
        **{f"by_{name}": _order(known[name], newest) for name in ("stars", "upvotes")},
        **dict(zip(TEXT, texts, strict=True)),
        **{BEST: best, TITLE_STEM: title, LABEL: labels_text(item), BEGINNING: _beginnings(whole)},
    )


def _beginnings(text: str) -> str:
    found = set(text.split())
    every: set[str] = set()
    for length in range(LONGEST_BEGINNING, 0, -1):
        found = {word[:length] for word in found}
        every |= found
    return " ".join(every)


def _order(count: int | None, newest: int) -> int:
    """Return a number that is larger for who has more, and of who has as many for the newer; smallest without a count."""
    place = 0 if count is None else min(max(count, -1) + 2, _MOST)
    return (place << _SHIFT) + newest // 1_000_000 + _YEAR_1
