"""The commands about the addresses to which digests are sent: confirm, forget."""

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
from bot.commands.words import Words, unended, words_text


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
