"""The commands about the addresses to which digests are sent: confirm, forget; and an address that stands amiss."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from bot.commands.declaration import (
    ADDRESS,
    Argument,
    Command,
    Group,
    Option,
    Permission,
    Usage,
    declared,
    flag,
    missing,
    rest,
    text,
)
from bot.commands.words import Word, Words, unended, words_text
from bot.errors import UsageError
from bot.models import is_address


@declared("confirm", Group.SUBSCRIPTIONS, example="confirm 123456", permission=Permission.MANAGE, aliases=("verify",))
@dataclass(frozen=True, slots=True)
class Confirm(Command):
    """Confirm an e-mail address by the code that was sent to it; then what was asked for is done."""

    code: Annotated[str, rest("CODE", words_text, "the code of the mail"), Option(help="The six digits of the mail.")]


def _address(words: Words, usage: Usage) -> str:
    words.take("email", "e-mail", "list", "address")
    word = words.next()
    if word is None or not word.text.strip():
        raise missing(words, usage, "an address")
    return word.text if word.quoted else unended(word.text)


@declared("forget", Group.SUBSCRIPTIONS, example="forget me@example.org")
@dataclass(frozen=True, slots=True)
class Forget(Command):
    """Erase an e-mail address, with all that is subscribed for it; an administrator may erase anybody's."""

    address: Annotated[
        str,
        Argument("ADDRESS", text, _address),
        Option(help="The address.", suggests=ADDRESS),
    ]
    surely: Annotated[bool, flag("surely")] = False  # its button says it


# --- an address that stands amiss

# What people write before an address.
_BEFORE = frozenset({"to", "by", "for", "via", "at", "per", "with", "my", "email", "e-mail", "mail", "list", "mailing"})
WRITES = frozenset({"email", "e-mail", "mail", "send"})  # what people begin with in place of `subscribe`
_BLANKS = re.compile(r"\s+")
_UNSHOWN = re.compile("[*`]")  # they end what is bold
_LONGEST = 120  # characters of a line in a hint
_NEEDS = re.compile(r" ([A-Z]+)")


def misplaced_address(words: Words, usage: Usage, reads: Callable[[str], bool]) -> UsageError | None:
    """Return what is told of an address that stands where none is read, with the line that works; None without one.

    What is quoted is somebody's words. The words are stepped over. `reads` says whether a line is a command.
    """
    before: list[Word] = []
    while (word := words.next()) is not None:
        if not word.quoted and "/" not in word.text and is_address(_bare(word)):  # not `owner/name@v1.2`
            return words.fault('An address stands behind "by email".', word, _works(words, usage, before, word, reads))
        before.append(word)
    return None


def _bare(word: Word) -> str:
    return unended(word.text)


def _works(words: Words, usage: Usage, before: list[Word], word: Word, reads: Callable[[str], bool]) -> str:
    """Return the hint: the same line with the address in its place, or an example where that cannot be shown."""
    how, begin = "email", before[0].start if before else word.start
    end = word.start
    while before and not before[-1].quoted and before[-1].option.rstrip(":") in _BEFORE:
        last = before.pop()
        how, end = "list" if last.option == "list" else how, last.start
    first = words.next() if not before else None  # what it is about stands first
    pieces = [words.typed.text[begin:end]] if before else [_said(words, first)] if first else _needed(usage)
    line = " ".join([usage.words, *pieces, f"by {how} {_bare(word)}", words.rest()])
    plainly = " ".join([usage.words, *_needed(usage), f"by {how}"])
    lines = (_BLANKS.sub(" ", line).strip(), f"{plainly} {_bare(word)}")
    shown = (each for each in lines if len(each) <= _LONGEST and not _UNSHOWN.search(each) and reads(each))
    line = next(shown, f"{plainly} me@example.org")
    return f"For example: *{line}*."


def _said(words: Words, word: Word) -> str:
    return words.typed.text[word.start : word.end]


def _needed(usage: Usage) -> list[str]:
    """Return the name of what the command has to be told first, as its syntax has it."""
    found = _NEEDS.match(usage.syntax.removeprefix(usage.words))
    return [found[1]] if found else [] if usage.syntax.startswith(f"{usage.words} [") else ["TOPIC"]
