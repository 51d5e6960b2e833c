"""Commands as text, both ways: `parse` reads what a person typed, `write` gives the canonical form on one line.

The grammar is one line per command (`syntax`): a verb, what it is about, then what else is said. No text raises anything but
UsageError.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.commands import addresses, feedback, finding, saved, service, subscriptions, topics
from bot.commands.borrowed import borrowed
from bot.commands.declaration import CHANNEL, DECLARED, Command, Group, Said, Usage
from bot.commands.words import Word, Words, clean, exactly, is_mail_place, nearest, query_text, shown
from bot.errors import Incomplete, UsageError
from bot.keys import named_keys
from bot.wording import listed

LONGEST = 20_000  # characters: a query of 2,000 in its longest form is shorter

FAMILIES = (
    finding,
    subscriptions,
    addresses,
    topics,
    feedback,
    saved,
    service,
)  # what they declare is known once they are imported
TABLE: tuple[Usage, ...] = tuple(usage for group in Group for usage in DECLARED if usage.group is group)
BY_NAME = {name: usage for usage in TABLE for name in (usage.words, *usage.aliases)}

_OURSELVES = frozenset({"digest", "broadsheet"})  # what the text may begin with before its verb
_SIGNS_ALONE = re.compile("[/,:;.!]+")
_SLASHES = re.compile("/+")
_FIRST = sorted({name.split()[0] for name in BY_NAME})
_SLIP = 0.81  # of the letters, as difflib counts them: "forest" and "rest" have 0.8, "tropical" and "topic" 0.77
_NO_SLIPS = frozenset({"forget"})  # verbs that nothing is a slip of: papers are about forests
_SLIPS_FROM = 5  # letters: "moe" and "lora" are nobody's slips
_LONGEST = 70  # characters of a command in a hint
_SEEN = 300  # characters of a text that tell which command it is
_OF_TOPICS = {usage.words.partition(" ")[2]: usage for usage in TABLE if usage.words.startswith("topic ")}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that is no command, and what is wrong with it."""

    text: str
    error: UsageError


def parse(text: str) -> Command:
    """Return the command that the text says; nothing at all asks for help, and a link or an identifier alone for its card.

    Raises UsageError with the place in the text where it is known, and what was probably meant as its hint; Incomplete where
    a form can be filled in instead.
    """
    if len(text) > LONGEST:
        raise UsageError(f"A command may be {LONGEST:,} characters long; this one has {len(text):,}.", position=LONGEST)
    words = _opened(text)
    begin = words.at
    meant = _verb(words)
    if meant.error is not None or meant.usage is None:
        if (known := _link_or_id(words, begin) or _borrowed(words, begin)) is not None:
            return known
        if meant.query and (error := _mail_meant(words, begin)) is not None:
            raise error
        if meant.query:
            return finding.Search(query_text(meant.query))
        raise meant.error or words.fault("There is no such command.", 0)
    return _read(meant.usage, words)


def _read(usage: Usage, words: Words) -> Command:
    """Return the command from what stands behind its verb; where it takes a place, that may be named anywhere."""
    if CHANNEL not in dict(usage.arguments):
        return usage.command.read(words)
    place = usage.placed(words.take_place(by_mail=usage.takes_mail))
    if usage.takes_mail and not is_mail_place(place):
        begin = words.at
        if (error := addresses.misplaced_address(words, usage, _reads)) is not None:
            raise error
        words.at = begin
    try:
        return usage.command.read(words).placed(place)
    except Incomplete as error:
        error.channel = place
        raise


def _mail_meant(words: Words, begin: int) -> UsageError | None:
    """Return what is told of `email me@example.org TOPIC`; None for words that were not meant so."""
    words.at = begin
    first = words.next()
    is_meant = first is not None and not first.quoted and first.option in addresses.WRITES
    return addresses.misplaced_address(words, subscriptions.Subscribe.usage, _reads) if is_meant else None


def _link_or_id(words: Words, begin: int) -> finding.Show | None:
    """Return the wish for the card of what the text from there on names without a verb; None where it names nothing."""
    words.at = begin
    first = words.peek()
    if first is None or not names_item(first.text):
        return None
    try:
        command = finding.Show.read(words)
    except UsageError:
        return None
    return command if names_item(command.item) else None


def _borrowed(words: Words, begin: int) -> Command | None:
    """Return what the text from there on asks for with a verb of another tool; None where it has none."""
    words.at = begin
    return borrowed(words)


def names_item(text: str) -> bool:
    """Say whether the whole text is a link, or an identifier of a paper or a repository.

    An address without `https://` is one where it names a paper or a repository.
    """
    keys = named_keys(text)
    return any(not key.startswith("url:") for key in keys) or (bool(keys) and "://" in text)


def read(text: str) -> Command | Unreadable:
    """Return the command that the text says, or what is wrong with it. Raises nothing."""
    try:
        return parse(text)
    except UsageError as error:
        return Unreadable(text, error)


def help_for(text: str) -> Usage | None:
    """Return how the command goes that the text means, or probably means; None when nothing is near. Raises nothing."""
    return _verb(_opened(text[:_SEEN])).usage


def verb_of(text: str) -> Usage | None:
    """Return how the command goes whose name the text begins with; None where it begins with none. Raises nothing."""
    opened = _opened(text[:_SEEN])
    meant = _verb(opened) if opened.peek() is not None else _Meant(None)
    return meant.usage if meant.error is None else None


@dataclass(frozen=True, slots=True)
class _Meant:
    """What was understood of the verb: how its command goes, or the nearest one when `error` says what was not."""

    usage: Usage | None
    error: UsageError | None = None
    query: str = ""  # what is searched for instead, where no verb is near


def _opened(text: str) -> Words:
    """Return the text's words, behind a mention, a slash, our own name, and within what marks it as code or bold."""
    words = Words(clean(text))
    _unwrap(words)
    _step_over_ourselves(words)
    return words


def _verb(words: Words) -> _Meant:
    """Step over the verb; nothing at all is the wish for help."""
    first = words.next()
    if first is None:
        return _Meant(BY_NAME["help"])
    place = words.at
    second = words.next()
    for name in _spelt(first, second):
        if name in BY_NAME:
            return _Meant(BY_NAME[name])
    words.at = place
    if first.option in ("topic", "topics"):
        return _of_topics(words, second)
    name = first.option if first.option in BY_NAME else first.key
    if name in BY_NAME:
        return _Meant(BY_NAME[name])
    return _unknown(words, first)


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


def _of_topics(words: Words, second: Word | None) -> _Meant:
    """`topic` alone lists them, `topic NAME` shows one; anything else is a slip in the action."""
    if second is None:
        return _Meant(topics.ListTopics.usage)
    actions = _OF_TOPICS | {"list": topics.ListTopics.usage}
    near = "" if second.quoted else nearest(second.key, actions)
    place = words.at
    words.next()
    alone = words.peek() is None
    words.at = place
    if not near and alone:
        return _Meant(topics.ShowTopic.usage)
    said = f'*topic* cannot "{shown(second.text)}": it can {listed(list(_OF_TOPICS))}.'
    hint = f"Did you mean *topic {near}*?" if near else "*topics* lists the topics there are."
    return _Meant(actions[near] if near else topics.ShowTopic.usage, words.fault(said, second, hint))


def _unknown(words: Words, first: Word) -> _Meant:
    """A misspelt verb, or words without one, which are searched for."""
    near = _misspelt(first.option) if not first.quoted else ""
    usage = next((each for name, each in BY_NAME.items() if name.split()[0] == near), None)
    query = words.typed.text[first.start : words.end].strip()
    said = f'There is no command "{shown(first.text)}".'
    if usage is None:
        return _Meant(finding.Search.usage, words.fault(said, first), query)
    rest = query[first.end - first.start :]
    hint = f"Did you mean *{_short(usage.words + rest, usage.words)}*?"
    if words.peek() is not None:
        hint += f" To search: *{_short(f'search {query}', 'search …')}*."
    return _Meant(usage, words.fault(said, first, hint))


def _misspelt(word: str) -> str:
    """Return the verb that the word is a slip of, "" where it may as well be meant: most words that begin no command do.

    A slip has two neighbouring letters in each other's place; a word of five letters and more may differ a little otherwise.
    """
    swapped = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(min(len(word), _SEEN) - 1))
    verb = next((each for each in swapped if each in _FIRST), "")
    slips = (each for each in _FIRST if each not in _NO_SLIPS)
    return verb or (nearest(word, slips, cutoff=_SLIP) if len(word) >= _SLIPS_FROM else "")


def _short(text: str, instead: str) -> str:
    """Return the text where it may stand between asterisks, and is not too long to read."""
    return text if len(text) <= _LONGEST and "*" not in text else instead


_FORMS: tuple[Callable[[str], str], ...] = (str, '"{}"'.format, exactly)  # the plainest first


def write(command: Command) -> str:
    """Return the command as text: `parse(write(command)) == command` for every command that can be said at all.

    A text in it stands as it is where it reads back so, else between quotation marks, else exactly (bot/commands/words.py).
    """
    pieces = (command.usage.words, *command.written())
    said = [place for place, piece in enumerate(pieces) if isinstance(piece, Said)]
    forms = {place: _plainest(pieces[place]) for place in said}
    if _reads_back(text := _joined(pieces, forms), command):
        return text
    forms = dict.fromkeys(said, len(_FORMS) - 1)
    for place in said:
        for form in range(_plainest(pieces[place]), len(_FORMS)):
            forms[place] = form
            if _reads_back(_joined(pieces, forms), command):
                break
    return _joined(pieces, forms)


def _plainest(piece: str | Said) -> int:
    return int(isinstance(piece, Said) and piece.one_word and " " in piece.text)


def _reads(text: str) -> bool:
    return isinstance(read(text), Command)


def _reads_back(text: str, command: Command) -> bool:
    try:
        return parse(text) == command
    except UsageError:
        return False


def _joined(pieces: Iterable[str | Said], forms: dict[int, int]) -> str:
    return " ".join(
        piece.before + _FORMS[forms[place]](piece.text) if isinstance(piece, Said) else piece
        for place, piece in enumerate(pieces)
    )
