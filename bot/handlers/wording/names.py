"""Names: as people type them, and as answers repeat and number them. Pure."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from bot.models import Item, Topic
from bot.wording import shortened, some

SHOWN = 60  # characters of what was typed that an answer repeats
_LISTED = 9  # things of a list that an error names


def slug(text: str) -> str:
    """Return text as a topic's name would spell it: "GPU Systems" is gpu-systems; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text[: 4 * SHOWN]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SHOWN].rstrip("-")


def shown(text: str) -> str:
    """Return what was typed, short enough to be repeated in a sentence."""
    return shortened(text[: 4 * SHOWN], SHOWN)


def numbered(text: str, most: int) -> int | None:
    """Return the number from 1 to `most` that was typed, as "3" or "#3"; None when it is none of these."""
    number = text.strip().removeprefix("#")
    return int(number) if re.fullmatch(r"[0-9]{1,3}", number) and 1 <= int(number) <= most else None


def in_order(said: Sequence[str]) -> str:
    """Return "1. title; 2. abstract", as `numbered` takes them; of more than nine how many there are besides."""
    return some([f"{number}. {shown(each)}" for number, each in enumerate(said, 1)], _LISTED, "; ")


# --- words


def title_of(topics: Mapping[str, Topic], name: str) -> str:
    """Return the topic's title, or its name when the topic is not there any more."""
    return topics[name].title if name in topics else name


def one_line(text: str) -> str:
    """Return the text on one line, without blanks around it."""
    return " ".join(text.split())


def called(item: Item) -> str:
    """Return the item's title, or its key when it has none."""
    return one_line(item.title) or item.key
