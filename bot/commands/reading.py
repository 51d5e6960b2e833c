"""What several commands are about: a topic, an item, an item for a topic, and nothing more."""

import re

from bot.commands.quoting import EXACT, item_text
from bot.commands.table import Usage
from bot.commands.typed import plain
from bot.commands.words import SEVERAL_WORDS, Words, shown
from bot.errors import UsageError

_TOPIC = rf"{EXACT}|[^\s\"]+|\"[^\"]*\""
_QUOTED = rf"{EXACT}|\"[^\"]*\"|'[^']+'"
_ENDED = r"[.,;:!?]?"
_FOR = re.compile(rf"(.*\S) for ({_TOPIC}){_ENDED}", re.IGNORECASE)
_QUOTED_FOR = re.compile(rf"({_QUOTED}),?(?: for ({_TOPIC}))?{_ENDED}", re.IGNORECASE)


def missing(words: Words, usage: Usage, what: str) -> UsageError:
    """Return the error for a command that ends too early: what it needs, and an example."""
    return words.fault(f"*{usage.words}* needs {what}: write for example *{usage.example}*.")


def topic_name(words: Words, usage: Usage) -> str:
    """Read the name of a topic."""
    word = words.next()
    if word is None or not word.text.strip():
        raise missing(words, usage, "the name of a topic")
    return word.text


def any_topic(words: Words, usage: Usage) -> str:
    """Read the name of a topic where one is said, and nothing more."""
    words.take("for", "of")
    word = words.next()
    end(words, usage)
    return word.text if word else ""


def end(words: Words, usage: Usage) -> None:
    """See to it that nothing is left."""
    word = words.peek()
    if word is not None:
        over = shown(words.typed.text[word.start : words.end])
        titled = f" {SEVERAL_WORDS}" if re.search("TOPIC|NAME", usage.syntax) else ""
        raise words.fault(f'*{usage.words}* does not understand "{over}".', word, f"It goes *{usage.syntax}*.{titled}")


def item(words: Words, usage: Usage) -> str:
    """Read all that is left as an item."""
    text = item_text(words.rest())
    if not text.strip():
        raise missing(words, usage, "an item")
    return text


def item_for_topic(words: Words, usage: Usage) -> tuple[str, str]:
    """Read all words as a title, but the last `for TOPIC`; behind a quotation only that."""
    words.peek()
    start, left = words.at, words.typed.text[words.at : words.end].rstrip()
    signs = plain(left)
    match = _QUOTED_FOR.fullmatch(signs) or _FOR.fullmatch(signs)
    topic = ""
    if match is not None and match[2] is not None:
        words.at = start + match.start(2)
        said = words.next()
        topic = said.text if said else ""
        left = left[: match.end(1)]
    text = item_text(left)
    if not text.strip():
        raise missing(words, usage, "an item")
    return text, topic


def last_topic(words: Words, usage: Usage) -> str:
    """Read the name of a topic, and nothing more."""
    topic = topic_name(words, usage)
    end(words, usage)
    return topic
