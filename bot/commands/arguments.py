"""What several commands take: a topic, an item, an item for a topic, a text up to the end, a word that may be said."""

import re
from collections.abc import Callable
from enum import Enum
from typing import Annotated

from bot.commands.declaration import Argument, Option, Pieces, Said, Usage, missing
from bot.commands.normalise import plain
from bot.commands.quoting import EXACT, item_text
from bot.commands.words import Word, Words

_TOPIC = rf"{EXACT}|[^\s\"]+|\"[^\"]*\""
_QUOTED = rf"{EXACT}|\"[^\"]*\"|'[^']+'"
_ENDED = r"[.,;:!?]?"
_FOR = re.compile(rf"(.*\S) for ({_TOPIC}){_ENDED}", re.IGNORECASE)
_QUOTED_FOR = re.compile(rf"({_QUOTED}),?(?: for ({_TOPIC}))?{_ENDED}", re.IGNORECASE)
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:[.,]\d{0,30})?|[.,]\d{1,30})(?:e-\d{1,3})?%?", re.ASCII)


class Usual(Enum):
    """That something is to be as it is where nobody said anything else."""

    USUAL = "usual"


# --- how a value is written


def text(value: str) -> Pieces:
    """Write a text of somebody's."""
    return (Said(value),)


def formatted(form: str) -> Callable[[object], Pieces]:
    """Return what writes a value in this form."""
    return lambda value: (form.format(value),)


def behind(word: str) -> Callable[[str], Pieces]:
    """Return what writes a text behind a word."""
    return lambda value: (word, Said(value))


def number_text(value: float | Usual) -> str:
    """Return a number as it reads back, without a fraction that is none."""
    return value.value if isinstance(value, Usual) else repr(value).removesuffix(".0")


# --- what is read


def number(word: Word | None) -> float | None:
    """Return a number as people write it: `0.4`, `0,4`, `.4`, `40%`; None when the word is none."""
    if word is None or not _NUMBER.fullmatch(word.key):
        return None
    value = float(word.key.rstrip("%").replace(",", "."))
    return value / 100 if word.key.endswith("%") else value


def topic_name(words: Words, usage: Usage, skipped: str = "") -> str:
    """Read the name of a topic, before which people put a word that is stepped over."""
    at = words.at
    if skipped and words.take(skipped) and words.peek() is None:
        words.at = at
    word = words.next()
    if word is None or not word.text.strip():
        raise missing(words, usage, "the name of a topic")
    return word.text


def topic(shown: str = "TOPIC", skipped: str = "") -> Argument:
    """Take the name of a topic."""
    return Argument(shown, text, lambda words, usage: topic_name(words, usage, skipped))


def _any_topic(words: Words, _usage: Usage) -> str:
    words.take("for", "of")
    word = words.next()
    return word.text if word else ""


def _item_before_topic(words: Words, usage: Usage) -> str:
    """Read all words as a title, but the last `for TOPIC`; behind a quotation only that."""
    words.peek()
    start, left = words.at, words.typed.text[words.at : words.end].rstrip()
    signs = plain(left)
    match = _QUOTED_FOR.fullmatch(signs) or _FOR.fullmatch(signs)
    words.at = words.end
    if match is not None and match[2] is not None:
        words.at = start + match.start(2) - len("for ")
        left = left[: match.end(1)]
    item = item_text(left)
    if not item.strip():
        raise missing(words, usage, "an item")
    return item


def _topic_behind(words: Words, _usage: Usage) -> str:
    word = words.next() if words.take("for") else None
    return word.text if word else ""


def rest(shown: str, read: Callable[[str], str], needs: str = "") -> Argument:
    """Take all that is left, as `read` understands it; where it is needed, an empty one is an error."""

    def read_rest(words: Words, usage: Usage) -> str:
        found = read(words.rest())
        if needs and not found.strip():
            raise missing(words, usage, needs)
        return found

    return Argument(shown, text, read_rest)


def flag(word: str, *also: str) -> Argument:
    """Take a word that may be said."""
    return Argument(f"[{word}]", lambda _: (word,), lambda words, _: words.take(word, *also) is not None)


# --- what several commands take

ITEM = Option(help="A number of the last digest, a link, an identifier or a title.", suggests="item")
HERE = Option(help="A topic that is subscribed here.", suggests="subscription")
NAMED = Option(name="topic", help="The topic.", suggests="topic")
ANY_TOPIC = Argument("[TOPIC]", text, _any_topic)
FOR = Option(help="For which topic; needed where several are subscribed here.", suggests="topic")

ItemName = Annotated[str, rest("ITEM", item_text, "an item"), ITEM]
ItemBeforeTopic = Annotated[str, Argument("ITEM", text, _item_before_topic), ITEM]
ForTopic = Annotated[str, Argument("[for TOPIC]", behind("for"), _topic_behind), FOR]
TopicHere = Annotated[str, topic(), HERE]
TopicNamed = Annotated[str, topic(), NAMED]
