"""The commands about subscriptions: subscribe with its options in any order, unsubscribe, list, pause, resume."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import time
from typing import Annotated, Any, NamedTuple, Self, TypedDict

from bot.commands.declaration import (
    HERE,
    PERSON,
    Argument,
    Command,
    Group,
    ListPlace,
    MailPlace,
    OneOfSeveral,
    Option,
    Permission,
    Pieces,
    Place,
    TopicHere,
    Usage,
    Usual,
    behind,
    declared,
    flag,
    formatted,
    missing,
    name_text,
    number,
    number_text,
    read_rhythm,
    text,
    topic_name,
)
from bot.commands.schedule import NAMES, SETS, begins_days, is_time, read_days, read_time
from bot.commands.words import SEVERAL_WORDS, Word, Words, clean, nearest, query_text, shown, unended, words_text
from bot.errors import Incomplete, UsageError
from bot.models import MOST_ENTRIES, Layout, Rhythm

_DAYS = (
    ("Every day", "daily"),
    ("Monday to Friday", "weekdays"),
    ("Monday, Wednesday, Friday", "mon,wed,fri"),
    ("Mondays", "weekly"),
    ("Saturday and Sunday", "weekends"),
    ("On the first of the month", "monthly"),
    ("At once, whenever something has come in", "at once"),
)


def _days_written(weekdays: tuple[int, ...]) -> Pieces:
    known = {days: name for name, days in SETS.items()}
    return (known.get(weekdays) or ",".join(NAMES[day] for day in weekdays),)


def _number_written(word: str) -> Callable[[float | Usual], Pieces]:
    return lambda value: (f"{word} {number_text(value)}",)


@declared(
    "subscribe",
    Group.SUBSCRIPTIONS,
    example="subscribe gpu-systems weekdays at 09:00 in Europe/Zurich top 5 filter -survey",
    permission=Permission.MANAGE,
    aliases=("sub",),
    besides=(
        Option(
            name="as_usual",
            help="What goes back to what is usual.",
            choices=(
                ("how many entries", "entries"),
                ("the bar", "min_score"),
                ("the layout", "layout"),
                ("how many entries, and the least score", "entries min_score"),
                ("how many entries, and the layout", "entries layout"),
                ("the least score, and the layout", "min_score layout"),
                ("all three", "entries min_score layout"),
            ),
        ),
    ),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(Command):
    """Subscribe this channel to a topic, or change how it is subscribed: what is not said stays as it is."""

    topic: Annotated[
        str, Argument("TOPIC", text), Option(help="The topic. Leave it out for a form.", suggests="topic", optional=True)
    ]
    weekdays: Annotated[  # 0 is Monday, in order, each once
        tuple[int, ...] | None,
        Argument("[daily|weekdays|weekends|mon,wed,fri|weekly|monthly on 15|at once]", _days_written),
        Option(name="days", help="When: daily, weekdays, mon,wed,fri, weekly, monthly on 15, at once.", offers=_DAYS),
    ] = None
    month_day: Annotated[int | None, Argument("", formatted("monthly on {}"))] = None  # 1–31; never beside weekdays
    at_once: Annotated[bool, Argument("", lambda _: ("at once",))] = False  # never beside either
    at: Annotated[  # whole minutes
        time | None,
        Argument("[at 09:00]", formatted("at {:%H:%M}")),
        Option(help="The time of day, such as 09:00.", suggests="time"),
    ] = None
    zone: Annotated[
        str,
        Argument("[in ZONE]", behind("in")),
        Option(help="The time zone, such as Europe/Zurich.", suggests="zone"),
    ] = ""
    entries: Annotated[  # usual: as the settings say
        int | Usual | None,
        Argument("[top 7]", _number_written("top")),
        Option(help="At most so many entries.", least=1, most=MOST_ENTRIES),
    ] = None
    min_score: Annotated[  # usual: as the topic says
        float | Usual | None,
        Argument("[min 0.3]", _number_written("min")),
        Option(help="The bar: only what is at least so relevant, from 0 to 1.", least=0, most=1),
    ] = None
    layout: Annotated[  # usual: as the settings say
        Layout | Usual | None,
        Argument("[brief|thread|full]", lambda layout: ("layout usual" if layout is Usual.USUAL else layout.value,)),
        Option(
            help="In brief; with each entry in full in a thread; or in full in the channel.",
            choices=tuple((each.value, each.value) for each in Layout),
            value=Layout,
        ),
    ] = None
    always: Annotated[  # False: quiet if empty
        bool | None,
        Argument("[quiet if empty|always]", lambda always: ("always" if always else "quiet if empty",)),
        Option(
            name="when_empty",
            help="What to do when there is nothing to post.",
            choices=(("stay quiet", "quiet"), ("say so", "always")),
            value=lambda chosen: chosen == "always",
        ),
    ] = None
    tag: Annotated[
        str,
        Argument("[tag NAME]", behind("tag")),
        Option(help="In a forum: the tag of each digest; none: that of the topic's title, if there is one.", suggests="tag"),
    ] = ""
    channel: ListPlace = ""
    filter: Annotated[
        str,
        Argument("[filter QUERY…]", behind("filter")),
        Option(help="A query that everything posted here must satisfy.", suggests="query"),
    ] = ""

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `subscribe TOPIC`, and the rest in any order; alone it is filled in in a form."""
        if words.peek() is None:
            raise Incomplete(missing(words, cls.usage, "the name of a topic"), "subscription")
        return cls(topic=topic_name(words, cls.usage, "to"), **read_options(words))

    def by_option(self) -> dict[str, Any]:
        """Return what is chosen for the command by its options: days and time as in a line, what is usual by its name."""
        said = super(Subscribe, self).by_option()
        usual = [name for name in ("entries", "min_score", "layout") if said.get(name) is Usual.USUAL]
        days = {"days": " ".join(map(str, _days_written(self.weekdays)))} if self.weekdays is not None else {}
        days = {"days": f"monthly on {self.month_day}"} if self.month_day is not None else days
        days = {"days": "at once"} if self.at_once else days
        at = {"at": f"{self.at:%H:%M}"} if self.at is not None else {}
        behind = {"as_usual": " ".join(usual)} if usual else {}
        return {name: value for name, value in (said | days | at | behind).items() if value is not Usual.USUAL}

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from its options, of which days and time are read as in a line; without a topic: a form."""
        said = cls.fields_chosen(values)
        days, at = (str(said.pop(name, "")).strip() for name in ("weekdays", "at"))
        at = at.removeprefix("at ")
        if not said.get("topic", "").strip():
            raise Incomplete(UsageError("A topic is missing."), "subscription", channel=said.get("channel", ""))
        read = read_options(Words(clean(days)))
        if at:
            read["at"] = read_options(Words(clean(f"at {at}")))["at"]
        usual = dict.fromkeys(str(values.get("as_usual") or "").split(), Usual.USUAL)
        return replace(cls(topic=said["topic"], **read), **said | usual)


# --- what is no topic yet

_RHYTHM_LAST = re.compile(rf" ({'|'.join(Rhythm)})[.,;!]?\Z", re.IGNORECASE)


def _before_rhythm(words: Words) -> str:
    """Return all that is left but a rhythm at its end, and step over it; "" where nothing else is left."""
    words.peek()
    found = _RHYTHM_LAST.search(words.signs, words.at, words.end)
    written = words.typed.text[words.at : found.start() if found else words.end]
    words.at = found.start() if found else words.end
    return query_text(written)


def _followed(words: Words, usage: Usage) -> str:
    if words.peek() is None:
        raise Incomplete(missing(words, usage, _FOLLOWED), "subscription")
    what = _before_rhythm(words)
    if not what.strip():
        raise missing(words, usage, _FOLLOWED)
    return what


_FOLLOWED = "an author, an organisation, a repository, a phrase or a query"


@declared(
    "follow",
    Group.SUBSCRIPTIONS,
    example='follow author:"Tri Dao" weekly',
    permission=Permission.MANAGE,
    aliases=("watch", "track"),
)
@dataclass(frozen=True, slots=True)
class Follow(Command):
    """Follow an author, an organisation, a repository, a phrase or any query here, without a topic made before."""

    what: Annotated[
        str,
        Argument("author:NAME|org:NAME|OWNER/NAME|PHRASE|QUERY…", text, _followed),
        Option(
            help='Such as author:"Tri Dao", org:nvidia, owner/name, "KV cache", or a profile\'s link.', suggests="followed"
        ),
    ]
    rhythm: Annotated[  # None: as the channel has it, else daily
        Rhythm | None,
        Argument(f"[{'|'.join(Rhythm)}]", formatted("{}"), read_rhythm),
        Option(help="How often; daily where nothing is said."),
    ] = None
    channel: ListPlace = ""


# --- the options of a subscription

_USUAL = (Usual.USUAL.value, "default")  # said of a number: as it is where nobody says anything
_FILLERS = ("and", "with", "but", ",", "&", "-")
# A zone may follow a time without *in*: `at 9 CET`, `at 9am Europe/Zurich`.
_BARE_ZONE = re.compile(r"(?:utc|gmt)(?:[+-]\d{1,2}(?::?\d{2})?)?|[a-z_]+/[a-z_/+-]+\d*", re.ASCII)
_SHORT_ZONE = re.compile("[A-Z]{3,5}")  # CET


class Options(TypedDict, total=False):
    """The fields of Subscribe that were said."""

    weekdays: tuple[int, ...] | None
    month_day: int | None
    at_once: bool
    at: time
    zone: str
    entries: int | Usual
    min_score: float | Usual
    layout: Layout | Usual
    always: bool
    tag: str
    filter: str


def read_options(words: Words) -> Options:
    """Read all that is left; raises UsageError for what is said twice, is not understood, or is out of its bounds."""
    options = Options()
    said: set[str] = set()
    while (word := words.peek()) is not None:
        if words.take(*_FILLERS):
            continue
        name = _option(words, word, said)
        if name in said:
            raise words.fault(f"The {_PARTS[name].called} is said twice; say it once.", word)
        said.add(name)
        options |= _PARTS[name].read(words)
    return options


# --- which option begins here


def _option(words: Words, word: Word, said: set[str]) -> str:
    """Return which part begins with the word, and step over its name when it has one."""
    name, equals, _ = word.option.partition("=")
    if equals and name in _NAMES and words.split(name):
        return _NAMES[name]
    if begins_days(word) or _is_at_once(words):
        return "days"
    if word.option in _NAMES:
        words.next()
        return _NAMES[word.option]
    if is_time(word):
        return "at"
    if word.option in _LAYOUTS:
        return "layout"
    if word.option in _SILENCES:
        return "silence"
    if "at" in said and not word.quoted and (_BARE_ZONE.fullmatch(word.key) or _SHORT_ZONE.fullmatch(word.text)):
        return "zone"
    raise _unknown(words, word, said)


def _is_at_once(words: Words) -> bool:
    at = words.at
    found = read_rhythm(words) is Rhythm.AT_ONCE
    words.at = at
    return found


def _unknown(words: Words, word: Word, said: set[str]) -> UsageError:
    near = nearest(word.option, _WORDS)
    hint = f"Did you mean *{near}*?" if near else SEVERAL_WORDS if not said else ""
    if not near and ":" in word.text:
        hint = "A filter goes last: *filter stars:>100*."
    allowed = (
        "after the topic come days, *at*, *in*, *by*, *top*, *min*, *brief*, *thread* or *full*, *quiet* or *always*, "
        "*tag*, and *filter*."
    )
    return words.fault(f'"{shown(word.text)}" is not understood: {allowed}', word, hint)


# --- what each takes


def _days(words: Words) -> Options:
    if _is_at_once(words):
        read_rhythm(words)
        return {"at_once": True}
    days = read_days(words)
    return {"weekdays": days.weekdays, "month_day": days.month_day}


def _at(words: Words) -> Options:
    return {"at": read_time(words)}


def _zone(words: Words) -> Options:
    """A zone has as many words as stand before the next option."""
    first = words.next()
    if first is None or not first.text.strip() or (not first.quoted and _ends_zone(first)):
        raise words.fault("*in* needs a time zone: write for example *in Europe/Zurich*.", first)
    last = first
    while not first.quoted and (word := words.peek()) is not None and not word.quoted and not _ends_zone(word):
        last = word
        words.next()
    return {"zone": first.text if last is first else unended(words.signs[first.start : last.end])}


def _ends_zone(word: Word) -> bool:
    return word.option.split("=")[0] in _WORDS or begins_days(word) or is_time(word)


def _top(words: Words) -> Options:
    if words.take(*_USUAL):
        return {"entries": Usual.USUAL}
    word = words.next()
    count = number(word)
    if count is None or count != int(count) or not 1 <= count <= MOST_ENTRIES:
        raise words.fault(f"*top* takes a number of entries from 1 to {MOST_ENTRIES}, such as *top 7*.", word)
    words.take("entries", "papers", "items")
    return {"entries": int(count)}


def _min(words: Words) -> Options:
    words.take("score", "relevance")
    if words.take(*_USUAL):
        return {"min_score": Usual.USUAL}
    word = words.next()
    least = number(word)
    if least is None or not 0 <= least <= 1:
        raise words.fault("*min* takes a bar from 0 to 1, such as *min 0.3*.", word)
    return {"min_score": least}


def _layout(words: Words) -> Options:
    if words.take(*_USUAL):
        return {"layout": Usual.USUAL}
    word = words.next()
    layout = None if word is None else _LAYOUTS.get(word.option)
    if layout is None:
        raise words.fault("*layout* is one of *brief*, *thread* and *full*, or *usual*.", word)
    return {"layout": layout}


def _silence(words: Words) -> Options:
    word = words.next()
    always = word is not None and word.option == "always"
    if words.take("if", "when"):
        words.take("empty")
    return {"always": always}


def _by(words: Words) -> Options:
    """What is by e-mail was taken out before: an address does not stand here."""
    raise words.fault("*by* needs an address: write for example *subscribe kv by email me@example.org*.")


def _tag(words: Words) -> Options:
    word = words.next()
    if word is None or not word.text.strip():
        raise words.fault("*tag* needs the name of a tag, in quotation marks where it has several words.", word)
    return {"tag": word.text}


def _filter(words: Words) -> Options:
    at = words.at
    query = query_text(words.rest())
    if not query.strip():
        raise words.fault("*filter* needs a query, and goes last: write for example *filter -survey stars:>100*.", at)
    return {"filter": query}


class _Part(NamedTuple):
    """What may be said of a subscription: what it is called, how it is read, and the words behind which it stands."""

    called: str
    read: Callable[[Words], Options]
    names: tuple[str, ...] = ()


_PARTS = {
    "days": _Part("part about days", _days),
    "at": _Part("time", _at, ("at",)),
    "zone": _Part("time zone", _zone, ("in", "zone", "timezone", "tz")),
    "top": _Part("number of entries", _top, ("top", "max")),
    "min": _Part("bar", _min, ("min", "minimum", "bar")),
    "layout": _Part("layout", _layout, ("layout",)),
    "silence": _Part("part about empty digests", _silence),
    "tag": _Part("tag", _tag, ("tag",)),
    "by": _Part("address", _by, ("by",)),
    "filter": _Part("filter", _filter, ("filter",)),
}
_NAMES = {name: key for key, part in _PARTS.items() for name in part.names}
_LAYOUTS: Mapping[str, Layout] = {**{each.value: each for each in Layout}, "compact": Layout.BRIEF}  # its name of before
_SILENCES = ("quiet", "quiet-if-empty", "always")
_WORDS = (*_NAMES, *_LAYOUTS, *_SILENCES, "daily", "weekdays", "weekends", "weekly", "monthly", "every", "on")


# --- the others


@declared("post", Group.SUBSCRIPTIONS, example="post gpu-systems", permission=Permission.MANAGE, aliases=("post now",))
@dataclass(frozen=True, slots=True)
class Post(Command):
    """Post the next digest of a topic here now, once a day; the first one is the best of the last days."""

    topic: TopicHere
    rhythm: OneOfSeveral = None
    channel: MailPlace = ""


def _topic_or_followed(words: Words, usage: Usage) -> str:
    """Read the name of a topic, or what is followed: of several words it is all but a rhythm at their end."""
    at = words.at
    if words.take("from") is None or words.peek() is None:
        words.at = at
    at = words.at
    name = topic_name(words, usage)
    place = words.at
    read_rhythm(words)
    if words.peek() is None:
        words.at = place
        return name
    words.at = at
    return _before_rhythm(words)


@declared(
    "unsubscribe",
    Group.SUBSCRIPTIONS,
    example="unsubscribe gpu-systems",
    permission=Permission.MANAGE,
    aliases=("unsub", "unfollow"),
)
@dataclass(frozen=True, slots=True)
class Unsubscribe(Command):
    """End this channel's subscription to a topic."""

    topic: Annotated[str, Argument("TOPIC", name_text, _topic_or_followed), HERE]
    rhythm: OneOfSeveral = None
    channel: MailPlace = ""


@declared(
    "list",
    Group.SUBSCRIPTIONS,
    example="list all",
    aliases=("ls", "subs", "subscriptions", "subscribe list", "list subscriptions"),
)
@dataclass(frozen=True, slots=True)
class ListSubscriptions(Command):
    """List the subscriptions of this channel, or of all channels."""

    everywhere: Annotated[bool, flag("all", "everywhere"), Option(name="all", help="Those of all channels.")] = False
    channel: MailPlace = ""


def _until(words: Words, _usage: Usage) -> str:
    said = words.take("until", "till", "for")
    until = words_text(words.rest()) if words.peek() else ""
    if said and not until:
        raise words.fault("*until* needs a day: write for example *until 2026-12-01*, *until monday* or *until 2w*.")
    return until


@declared(
    "pause",
    Group.SUBSCRIPTIONS,
    example="pause gpu-systems until 2026-12-01",
    permission=Permission.MANAGE,
    aliases=("mute", "snooze"),
)
@dataclass(frozen=True, slots=True)
class Pause(Command):
    """Post nothing of a topic here until a day, or until it is resumed."""

    topic: TopicHere
    rhythm: OneOfSeveral = None
    until: Annotated[
        str,
        Argument("[until WHEN]", behind("until"), _until),
        Option(help="Until when: 2026-12-01, monday, tomorrow, 2w.", suggests="until"),
    ] = ""
    channel: MailPlace = ""


@declared(
    "resume",
    Group.SUBSCRIPTIONS,
    example="resume gpu-systems",
    permission=Permission.MANAGE,
    aliases=("unmute", "unpause"),
)
@dataclass(frozen=True, slots=True)
class Resume(Command):
    """Post again what was paused."""

    topic: TopicHere
    rhythm: OneOfSeveral = None
    channel: MailPlace = ""


# --- whose they are

_WHOSE = ("from", "to", "back")


def _topic_to_transfer(words: Words, usage: Usage) -> str:
    word = words.peek()
    return "" if word is None or word.option in _WHOSE else topic_name(words, usage)


def _behind(word: str) -> Argument:
    """Take a person, or a time, behind a word: a mention as the client wrote it, or an identifier."""

    def read(words: Words, _usage: Usage) -> str:
        if not words.take(word):
            return ""
        found = words.next()
        if found is None or not found.text.strip():
            raise words.fault(f"*{word}* needs a person: mention one.", found)
        return found.text

    return Argument(f"[{word} PERSON]" if word != "back" else "", behind(word), read)


@declared(
    "transfer",
    Group.SUBSCRIPTIONS,
    example="transfer gpu-systems to me",
    permission=Permission.MANAGE,
    aliases=("hand over", "take over"),
)
@dataclass(frozen=True, slots=True)
class Transfer(Command):
    """Show whose the subscriptions are, or make one of this channel, or all of somebody, another person's."""

    topic: Annotated[
        str,
        Argument("[TOPIC]", text, _topic_to_transfer),
        Option(help="One that is subscribed here; without it, all of a person.", suggests="subscription"),
    ] = ""
    former: Annotated[str, _behind("from"), Option(name="from", help="Whose they are now.", suggests=PERSON)] = ""
    to: Annotated[str, _behind("to"), Option(help="Whose they will be; you, where nobody is said.", suggests=PERSON)] = ""
    back: Annotated[str, _behind("back")] = ""  # when the transfer was made that is taken back; its button says it
    channel: Place = ""
