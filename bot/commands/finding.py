"""The commands that find: search, show, similar, why, now, rest."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from bot.commands.declaration import (
    ANY_TOPIC,
    MOST_PAGES,
    TOPIC_OR_ITEM,
    Argument,
    Command,
    ForTopic,
    Group,
    ItemBeforeTopic,
    ItemName,
    MailPlace,
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
    formatted,
    is_quotation,
    item_before_topic,
    page_number,
    rest,
    topic_behind,
)
from bot.commands.words import Words, item_text, query_text
from bot.keys import named_keys


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


def _abstract_page(words: Words) -> int:
    """Read the page behind `abstract`; a title may begin with the word alone."""
    words.peek()
    return page_number(words) if _PAGE_BEFORE.match(words.signs, words.at, words.end) and words.take("page") else 1


_PAGE_BEFORE = re.compile(r"page [0-9]{1,5} ", re.IGNORECASE)
_ABSTRACT_BEHIND = re.compile(r" -*abstract[.,;:!?]?$", re.IGNORECASE)
_NUMBER = re.compile(r"#?[0-9]{1,3}", re.ASCII)
_BIBTEX_BEHIND = re.compile(r"(?<! for) -*bibtex(?:[.,;:!?]?$|(?= for [^ ]+$))", re.IGNORECASE)


def names_one(item: str) -> bool:
    """Say whether the text is a link, an identifier, or the number of an entry, and no words of a title."""
    return bool(_NUMBER.fullmatch(item) or named_keys(item))


@declared(
    "show",
    Group.FINDING,
    example="show 2606.01234 for gpu-systems",
    aliases=("card", "details", "summarise", "summarize", "tldr"),
    syntax="show [bibtex|abstract] ITEM [for TOPIC]",
    order=("bibtex", "abstract", "page", "item", "topic"),
)
@dataclass(frozen=True, slots=True)
class Show(Command):
    """Show the card of an item: what it says, and why it is here; or its BibTeX, or its whole abstract."""

    item: ItemBeforeTopic
    topic: ForTopic = ""
    bibtex: Annotated[bool, flag("bibtex"), Option(help="Its entry for a bibliography.")] = False
    abstract: Annotated[bool, flag("abstract"), Option(help="Its whole abstract.")] = False
    page: Annotated[
        int, Argument("", formatted("page {}")), Option(help="Which page of the abstract.", least=1, most=MOST_PAGES)
    ] = 1

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `bibtex` before the item, behind it or behind its topic; a title that ends so is to be quoted.

        `abstract` stands before the item, or behind a link, an identifier or a number.
        """
        bibtex = words.take("bibtex") is not None
        abstract = not bibtex and words.take("abstract") is not None
        page = _abstract_page(words) if abstract else 1
        words.peek()
        left = words.signs[words.at : words.end]
        if not (bibtex or abstract) and (behind := _ABSTRACT_BEHIND.search(left)) is not None:
            named = item_text(left[: behind.start()])
            if names_one(named):
                words.at = words.end
                return cls(named, abstract=True)
        found = None if bibtex or abstract or is_quotation(left) else _BIBTEX_BEHIND.search(left)
        if found is None:
            item, topic = item_before_topic(words, cls.usage), topic_behind(words, cls.usage)
        else:
            before = Words(words.typed, words.at, words.at + found.start())
            item, topic = item_before_topic(before, cls.usage), topic_behind(before, cls.usage)
            words.at += found.end()
            topic = topic or topic_behind(words, cls.usage)
        end(words, cls.usage)
        return cls(item, topic, bibtex or found is not None, abstract, page)


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
    channel: MailPlace = ""


def _day(words: Words, _usage: Usage) -> str:
    word = words.next() if words.take("on") else None
    return word.text if word else ""


@declared(
    "rest",
    Group.FINDING,
    example="rest gpu-systems",
    aliases=("left out", "others"),
    order=("topic", "rhythm", "day", "page", "channel"),
)
@dataclass(frozen=True, slots=True)
class Rest(Command):
    """List what else was on topic and is not in the last digest here."""

    topic: TopicNamed
    day: Annotated[
        str,
        Argument("[on DAY]", behind("on"), _day),
        Option(help="Of the digest of this day, such as 2026-06-15.", suggests="day"),
    ] = ""
    page: PageNumber = 1
    rhythm: OneOfSeveral = None
    channel: MailPlace = ""


@declared("now", Group.FINDING, example="now gpu-systems", aliases=("preview", "digest"))
@dataclass(frozen=True, slots=True)
class Now(Command):
    """Preview the next digest of a topic, or of every topic subscribed here."""

    topic: Annotated[str, ANY_TOPIC, Option(help="Only this one of those subscribed here.", suggests="topic")] = ""
    channel: MailPlace = ""


class Trend(StrEnum):
    """What of all that trends is wanted."""

    PAPERS = "papers"
    REPOS = "repos"


_TRENDS = {each.value: each for each in Trend} | {
    "paper": Trend.PAPERS,
    "repo": Trend.REPOS,
    "repositories": Trend.REPOS,
    "code": Trend.REPOS,
}


def _trend(words: Words, _usage: Usage) -> Trend | None:
    word = words.take(*_TRENDS)
    return _TRENDS[word.option] if word else None


@declared("trending", Group.FINDING, example="trending repos", aliases=("top", "hot", "popular", "rising"))
@dataclass(frozen=True, slots=True)
class Trending(Command):
    """Show the most upvoted papers and the fastest rising repositories of the last seven days."""

    kind: Annotated[
        Trend | None,
        Argument(f"[{'|'.join(Trend)}]", formatted("{}"), _trend),
        Option(name="only", help="Only papers, or only repositories."),
    ] = None
    page: PageNumber = 1


@declared("trends", Group.FINDING, example="trends gpu-systems", aliases=("trend", "chart", "charts"))
@dataclass(frozen=True, slots=True)
class Trends(Command):
    """Show how a topic or everything went over the months and which words rise, or a repository's stars."""

    topic: Annotated[
        str, TOPIC_OR_ITEM, Option(help="Only what enters this one; or owner/name, for its stars.", suggests="topic")
    ] = ""
