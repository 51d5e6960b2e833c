"""Which command a text means: its first word or two, by name or alias, or the nearest name."""

import re
from dataclasses import dataclass

from bot.commands.table import BY_COMMAND, BY_NAME, Usage
from bot.commands.typed import clean
from bot.commands.verbs import CreateTopic, DeleteTopic, EditTopic, ListTopics, Search, ShowTopic
from bot.commands.words import Word, Words, nearest, shown
from bot.errors import UsageError

_OURSELVES = frozenset({"digest", "broadsheet"})  # what the text may begin with before its verb
_ACTIONS = {"show": ShowTopic, "create": CreateTopic, "edit": EditTopic, "delete": DeleteTopic, "list": ListTopics}
_SIGNS_ALONE = re.compile("[/,:;.!]+")
_SLASHES = re.compile("/+")
_FIRST = sorted({name.split()[0] for name in BY_NAME})
_LONGEST = 70  # characters of a command in a hint
_SEEN = 300  # characters of a text that tell which command it is


@dataclass(frozen=True, slots=True)
class Meant:
    """What was understood of the verb: the row of the table, or the nearest one when `error` says what was not."""

    usage: Usage | None
    error: UsageError | None = None


def opened(text: str) -> Words:
    """Return the text's words, behind a mention, a slash, our own name, and within what marks it as code or bold."""
    words = Words(clean(text))
    _unwrap(words)
    _step_over_ourselves(words)
    return words


def verb(words: Words) -> Meant:
    """Step over the verb; nothing at all is the wish for help."""
    first = words.next()
    if first is None:
        return Meant(BY_NAME["help"])
    place = words.at
    second = words.next()
    for name in _spelt(first, second):
        if name in BY_NAME:
            return Meant(BY_NAME[name])
    words.at = place
    if first.option in ("topic", "topics"):
        return _of_topics(words, second)
    name = first.option if first.option in BY_NAME else first.key
    if name in BY_NAME:
        return Meant(BY_NAME[name])
    return _unknown(words, first)


def help_for(text: str) -> Usage | None:
    """Return the row of the command that the text means, or probably means; None when nothing is near. Raises nothing."""
    return verb(opened(text[:_SEEN])).usage


def _unwrap(words: Words) -> None:
    """Leave out a code's backticks and a bold text's asterisks around the whole."""
    left = words.signs.lstrip()
    inner = left.lstrip("`*")
    signs = left[: len(left) - len(inner)]
    if signs:
        words.at = words.end - len(inner)
        words.end = words.at + len(inner.rstrip(f" {signs}"))


def _step_over_ourselves(words: Words) -> None:
    """Step over `@somebody`, then `/digest`, `digest` or `broadsheet`."""
    while (
        (word := words.peek()) is not None and not word.quoted and (word.key[0] == "@" or _SIGNS_ALONE.fullmatch(word.key))
    ):
        words.next()
    if word is None or word.quoted:
        return
    slash = _step_over_slash(words)
    name = word.key.lstrip("/")
    at = words.at
    if name not in _OURSELVES:
        return
    words.next()
    if slash or name != "digest" or _is_verb(words):
        _step_over_slash(words)
    else:
        words.at = at  # `digest` alone, or before a topic, is a command


def _step_over_slash(words: Words) -> bool:
    """Step over slashes before a word and say whether there were any."""
    words.peek()
    found = _SLASHES.match(words.signs, words.at, words.end)
    words.at = found.end() if found else words.at
    return found is not None


def _is_verb(words: Words) -> bool:
    """Say whether a command's name follows, or more words than a topic has."""
    at = words.at
    word, second = words.next(), words.next()
    words.at = at
    return word is not None and (word.key.lstrip("/") in _FIRST or second is not None)


def _spelt(first: Word, second: Word | None) -> tuple[str, ...]:
    if second is None or second.quoted:
        return ()
    names = (f"{first.option} {second.key}", f"topic {second.key}" if first.key == "topics" else "")
    return tuple(name for name in names if name)


def _of_topics(words: Words, second: Word | None) -> Meant:
    """`topic` alone lists them, `topic NAME` shows one; anything else is a slip in the action."""
    if second is None:
        return Meant(BY_COMMAND[ListTopics])
    near = "" if second.quoted else nearest(second.key, _ACTIONS)
    place = words.at
    words.next()
    alone = words.peek() is None
    words.at = place
    if not near and alone:
        return Meant(BY_COMMAND[ShowTopic])
    usage = BY_COMMAND[_ACTIONS[near]] if near else None
    said = f'*topic* cannot "{shown(second.text)}": it can show, create, edit and delete.'
    hint = f"Did you mean *topic {near}*?" if near else "*topics* lists the topics there are."
    return Meant(usage or BY_COMMAND[ShowTopic], words.fault(said, second, hint))


def _unknown(words: Words, first: Word) -> Meant:
    """A misspelt verb, or a query without one."""
    near = nearest(first.option, _FIRST) if not first.quoted else ""
    usage = next((each for name, each in BY_NAME.items() if name.split()[0] == near), None)
    several = words.peek() is not None or first.quoted
    query = words.typed.text[first.start : words.end].strip()
    rest = query[first.end - first.start :]
    hints = [f"Did you mean *{_short(usage.words + rest, usage.words)}*?"] if usage else []
    hints += [f"To search: *{_short(f'search {query}', 'search …')}*."] if several or not usage else []
    hints += ["*help* lists all there is."] if not usage and not several else []
    error = words.fault(f'There is no command "{shown(first.text)}".', first, " ".join(hints))
    return Meant(usage or (BY_COMMAND[Search] if several else None), error)


def _short(text: str, instead: str) -> str:
    """Return the text where it may stand between asterisks, and is not too long to read."""
    return text if len(text) <= _LONGEST and "*" not in text else instead
