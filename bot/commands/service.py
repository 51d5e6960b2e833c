"""The commands about the service itself: status, settings, history, help."""

import re
from dataclasses import dataclass, replace
from typing import Annotated, Self

from bot.commands.declaration import (
    ANY_TOPIC,
    Argument,
    Command,
    Group,
    MailPlace,
    Option,
    Permission,
    Usage,
    declared,
    end,
    flag,
    rest,
    text,
)
from bot.commands.words import Words, free_text, words_text

OF_A_CHANNEL = ("alerts", "duplicates", "publish")  # settings that are for one channel: for another its name is the value
_SETTINGS = (
    "manage",
    "zone",
    "top",
    "layout",
    "quiet",
    "daily",
    "at-once",
    "activity",
    "alerts",
    "duplicates",
    "publish",
    "web",
)
_CHANNEL = re.compile(r"#(?P<name>[^\s,;]*[^\s.,;!])[.,;!]*")


@declared("status", Group.SERVICE, example="status", aliases=("health", "stats"))
@dataclass(frozen=True, slots=True)
class Status(Command):
    """Tell the last and next digests, the sources, and what failed."""

    channel: MailPlace = ""


def _setting(words: Words, _usage: Usage) -> str:
    word = words.next()
    return word.text if word else ""


@declared(
    "settings",
    Group.SERVICE,
    example="settings zone Europe/Zurich",
    permission=Permission.SOME,
    aliases=("setting", "config", "preferences"),
)
@dataclass(frozen=True, slots=True)
class ChangeSettings(Command):
    """Show what is settled for everybody here, or settle one thing."""

    name: Annotated[
        str,
        Argument(f"[{'|'.join(_SETTINGS)} VALUE]", text, _setting),
        Option(help="What to settle; without it, everything is shown.", choices=tuple((name, name) for name in _SETTINGS)),
    ] = ""
    value: Annotated[str, rest("", free_text), Option(help="How.", suggests="setting")] = ""
    channel: MailPlace = ""

    def placed(self, channel: str) -> Self:
        """Return it for this channel, "" for that in which it is given; `settings alerts #papers` is *here* in that one."""
        named = _CHANNEL.fullmatch(self.value.strip()) if self.name.strip().lower() in OF_A_CHANNEL else None
        if named and not channel and not self.channel:
            return replace(self, channel=named["name"], value="here")
        return replace(self, channel=channel)


@declared("web", Group.SERVICE, example="web", aliases=("browser", "archive", "pages"))
@dataclass(frozen=True, slots=True)
class Web(Command):
    """Give a link that opens what was posted, and one's saved items, in a browser."""


@declared("history", Group.SERVICE, example="history gpu-systems", aliases=("changes", "log"))
@dataclass(frozen=True, slots=True)
class History(Command):
    """Tell who changed what, everywhere or in one topic."""

    topic: Annotated[str, ANY_TOPIC, Option(help="Only of this topic.", suggests="topic")] = ""


_REVOKE = ("revoke", "end")


@declared("feeds", Group.SERVICE, example="feeds gpu-systems", aliases=("rss", "atom", "opml"))
@dataclass(frozen=True, slots=True)
class Feeds(Command):
    """Give you addresses at which your feed reader reads what is posted and saved, or end them."""

    topic: Annotated[str, Argument("[TOPIC]", text), Option(help="Only of this topic.", suggests="topic")] = ""
    revoke: Annotated[bool, flag("revoke"), Option(help="End the addresses that you got before.")] = False

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read the topic and `revoke`, in either order."""
        revoke = words.take(*_REVOKE) is not None
        words.take("for", "of")
        word = words.next()
        revoke = words.take(*_REVOKE) is not None or revoke
        end(words, cls.usage)
        return cls(word.text if word else "", revoke)


@declared("help", Group.SERVICE, example="help subscribe", aliases=("?", "commands", "usage", "start"))
@dataclass(frozen=True, slots=True)
class Help(Command):
    """Say what can be asked, or how one command goes."""

    command: Annotated[str, rest("[COMMAND]", words_text), Option(help="Which command.", suggests="command")] = ""
