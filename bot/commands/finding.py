"""The commands that find: search, show, similar, why, now, rest."""

import re
from dataclasses import dataclass
from typing import Annotated, Self

from bot.commands.declaration import (
    ANY_TOPIC,
    Argument,
    Command,
    ForTopic,
    Group,
    ItemBeforeTopic,
    ItemName,
    OneOfSeveral,
    Option,
    PageNumber,
    Said,
    TopicNamed,
    Usage,
    behind,
    declared,
    end,
    flag,
    is_quotation,
    item_before_topic,
    rest,
    topic_behind,
)
from bot.commands.words import Words, query_text


def _page(words: Words, _usage: Usage) -> str:
    word = words.next() if words.split("page") else None
    return word.text if word else ""


@declared(
    "search",
    Group.FINDING,
    example='search "kv cache" stars:>100 published:30d sort:new',
    aliases=("find", "query", "lookup"),
    order=("page", "query"),
)
@dataclass(frozen=True, slots=True)
class Search(Command):
    """Search everything collected."""

    query: Annotated[
        str,
        rest("QUERY…", query_text, "something to search for"),
        Option(help='Words, "phrases", fields like stars:>100.', suggests="query"),
    ]
    page: Annotated[
        str,  # where to go on, as an earlier reply's button says
        Argument("", lambda page: (Said(page, "page="),), _page),
        Option(help="Where an earlier answer ended."),
    ] = ""


_BIBTEX_BEHIND = re.compile(r"(?<! for) -*bibtex(?:[.,;:!?]?$|(?= for [^ ]+$))", re.IGNORECASE)


@declared(
    "show",
    Group.FINDING,
    example="show 2606.01234 for gpu-systems",
    aliases=("card", "details"),
    order=("bibtex", "item", "topic"),
)
@dataclass(frozen=True, slots=True)
class Show(Command):
    """Show the card of an item: what it says, and why it is here; or its BibTeX."""

    item: ItemBeforeTopic
    topic: ForTopic = ""
    bibtex: Annotated[bool, flag("bibtex"), Option(help="Its entry for a bibliography.")] = False

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `bibtex` before the item, behind it or behind its topic; a title that ends so is to be quoted."""
        bibtex = words.take("bibtex") is not None
        words.peek()
        left = words.signs[words.at : words.end]
        found = None if bibtex or is_quotation(left) else _BIBTEX_BEHIND.search(left)
        if found is None:
            item, topic = item_before_topic(words, cls.usage), topic_behind(words, cls.usage)
        else:
            before = Words(words.typed, words.at, words.at + found.start())
            item, topic = item_before_topic(before, cls.usage), topic_behind(before, cls.usage)
            words.at += found.end()
            topic = topic or topic_behind(words, cls.usage)
        end(words, cls.usage)
        return cls(item, topic, bibtex or found is not None)


@declared("similar", Group.FINDING, example="similar https://arxiv.org/abs/2606.01234", aliases=("related", "similar to"))
@dataclass(frozen=True, slots=True)
class Similar(Command):
    """Find what is close to an item, or to the item behind a link."""

    item: ItemName


@declared("why", Group.FINDING, example="why 2606.01234 for gpu-systems", aliases=("explain", "why not"))
@dataclass(frozen=True, slots=True)
class Why(Command):
    """Say why an item was, or was not, posted here."""

    item: ItemBeforeTopic
    topic: ForTopic = ""


def _day(words: Words, _usage: Usage) -> str:
    word = words.next() if words.take("on") else None
    return word.text if word else ""


@declared(
    "rest",
    Group.FINDING,
    example="rest gpu-systems",
    aliases=("left out", "others"),
    order=("topic", "rhythm", "day", "page"),
)
@dataclass(frozen=True, slots=True)
class Rest(Command):
    """List what else was on topic and is not in the last digest here."""

    topic: TopicNamed
    day: Annotated[
        str,
        Argument("[on DAY]", behind("on"), _day),
        Option(help="Of the digest of this day, such as 2026-06-15."),
    ] = ""
    page: PageNumber = 1
    rhythm: OneOfSeveral = None


@declared("now", Group.FINDING, example="now gpu-systems", aliases=("preview", "digest"))
@dataclass(frozen=True, slots=True)
class Now(Command):
    """Preview the next digest of a topic, or of every topic subscribed here."""

    topic: Annotated[str, ANY_TOPIC, Option(help="Only this one of those subscribed here.", suggests="topic")] = ""
