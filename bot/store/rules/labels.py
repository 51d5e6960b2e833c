"""Labels as words of a search index, of whichever engine."""

import re
from functools import lru_cache

from bot.models import Item
from bot.query.fields import LABEL, labels_of

LABELS = {"category": "c", "source": "s", "kind": "k", "language": "l", "license": "r", "has": "h", "id": "i"}
_LONGEST_LABEL = 3000  # characters; encoded at most 8 bytes each, below FTS5's token limit of 32768 bytes
_ODD = re.compile("[^a-z0-9]")


@lru_cache(maxsize=2_000)  # the authors of a few days: more would be memory that grows for a month
def label_token(field: str, value: str) -> str:
    """Return a label as one token, which no text can hold: `_l`, the field's letter, and the value spelt in [a-z0-9_].

    A value begins with another exactly when their tokens do, so that `cat:cs.*` is a prefix here too.
    """
    spelt = _ODD.sub(lambda odd: f"_{ord(odd[0]):x}_", value[:_LONGEST_LABEL])
    return f"_l{LABELS[field]}_{spelt}"


def labels_text(item: Item) -> str:
    """Return all labels of the item, with spaces between."""
    return " ".join(label_token(field, value) for field in LABEL for value in labels_of(item, field))
