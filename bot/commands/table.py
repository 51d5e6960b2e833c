"""The one table of commands: from it come the verbs, the help, the terminal's subcommands and the platforms' menus."""

from dataclasses import dataclass
from enum import StrEnum

from bot.commands.verbs import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Pause,
    Profile,
    Resume,
    Save,
    Search,
    Settings,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Unsave,
    Unsubscribe,
    Why,
)


class Group(StrEnum):
    """What a command is about, as the help is ordered."""

    FINDING = "finding"
    SUBSCRIPTIONS = "subscriptions"
    TOPICS = "topics"
    TASTE = "taste"
    SAVED = "saved"
    SERVICE = "service"


class Right(StrEnum):
    """What one must be allowed to do for a command."""

    ANYONE = "anyone"
    MANAGE = "manage"
    SOME = "some"  # manage for what changes something; anyone may look


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How one command goes.

    `words` are at most two, in lower case, of at most 32 characters: the second one is a sub-command's name.
    """

    words: str  # "topic create"
    command: type[Command]
    syntax: str  # "topic create NAME QUERY…"
    help: str  # one sentence
    example: str  # in the form that bot.commands.write gives
    group: Group
    right: Right = Right.ANYONE
    aliases: tuple[str, ...] = ()  # what people try


_FINDING = (
    Usage(
        words="search",
        command=Search,
        syntax="search QUERY…",
        help="Search everything collected.",
        example='search "kv cache" stars:>100 published:30d sort:new',
        group=Group.FINDING,
        aliases=("find", "query", "lookup"),
    ),
    Usage(
        words="similar",
        command=Similar,
        syntax="similar ITEM",
        help="Find what is close to an item, or to the item behind a link.",
        example="similar https://arxiv.org/abs/2606.01234",
        group=Group.FINDING,
        aliases=("related", "similar to"),
    ),
    Usage(
        words="why",
        command=Why,
        syntax="why ITEM [for TOPIC]",
        help="Say why an item was, or was not, posted here.",
        example="why 2606.01234 for gpu-systems",
        group=Group.FINDING,
        aliases=("explain", "why not"),
    ),
    Usage(
        words="now",
        command=Now,
        syntax="now [TOPIC]",
        help="Preview the next digest of a topic, or of every topic subscribed here.",
        example="now gpu-systems",
        group=Group.FINDING,
        aliases=("preview", "digest"),
    ),
)

_SUBSCRIPTIONS = (
    Usage(
        words="subscribe",
        command=Subscribe,
        syntax=(
            "subscribe TOPIC [daily|weekdays|weekends|mon,wed,fri|weekly|monthly on 15] [at 09:00] [in ZONE] [top 7] "
            "[min 0.4] [compact|full] [quiet if empty|always] [filter QUERY…]"
        ),
        help="Subscribe this channel to a topic, or change how it is subscribed: what is not said stays as it is.",
        example="subscribe gpu-systems weekdays at 09:00 in Europe/Zurich top 5 filter -survey",
        group=Group.SUBSCRIPTIONS,
        right=Right.MANAGE,
        aliases=("sub", "follow"),
    ),
    Usage(
        words="unsubscribe",
        command=Unsubscribe,
        syntax="unsubscribe TOPIC",
        help="End this channel's subscription to a topic.",
        example="unsubscribe gpu-systems",
        group=Group.SUBSCRIPTIONS,
        right=Right.MANAGE,
        aliases=("unsub", "unfollow"),
    ),
    Usage(
        words="list",
        command=ListSubscriptions,
        syntax="list [all]",
        help="List the subscriptions of this channel, or of the whole workspace.",
        example="list all",
        group=Group.SUBSCRIPTIONS,
        aliases=("ls", "subs", "subscriptions", "subscribe list", "list subscriptions"),
    ),
    Usage(
        words="pause",
        command=Pause,
        syntax="pause TOPIC [until WHEN]",
        help="Post nothing of a topic here until a day, or until it is resumed.",
        example="pause gpu-systems until 2026-12-01",
        group=Group.SUBSCRIPTIONS,
        right=Right.MANAGE,
        aliases=("mute", "snooze"),
    ),
    Usage(
        words="resume",
        command=Resume,
        syntax="resume TOPIC",
        help="Post again what was paused.",
        example="resume gpu-systems",
        group=Group.SUBSCRIPTIONS,
        right=Right.MANAGE,
        aliases=("unmute", "unpause"),
    ),
)

_TOPICS = (
    Usage(
        words="topics",
        command=ListTopics,
        syntax="topics",
        help="List the topics that can be subscribed.",
        example="topics",
        group=Group.TOPICS,
        aliases=("topic list", "list topics"),
    ),
    Usage(
        words="topic show",
        command=ShowTopic,
        syntax="topic show NAME",
        help="Show what a topic is made of.",
        example="topic show gpu-systems",
        group=Group.TOPICS,
        aliases=("show topic", "topic view", "topic info"),
    ),
    Usage(
        words="topic create",
        command=CreateTopic,
        syntax="topic create NAME QUERY… | topic create NAME from OTHER",
        help="Make a topic of your own, from a query or from another topic.",
        example='topic create kv-cache "kv cache" OR "paged attention"',
        group=Group.TOPICS,
        right=Right.MANAGE,
        aliases=("create topic", "topic new", "new topic", "topic add", "add topic"),
    ),
    Usage(
        words="topic edit",
        command=EditTopic,
        syntax="topic edit NAME [remove] title|description|query|interest|example|sources|min|repositories VALUE…",
        help="Change one part of a topic; interests, examples and repositories are added, or with remove taken away.",
        example='topic edit kv-cache interest weight 2.5 "prefix caching"',
        group=Group.TOPICS,
        right=Right.MANAGE,
        aliases=("edit topic", "topic set", "topic change"),
    ),
    Usage(
        words="topic delete",
        command=DeleteTopic,
        syntax="topic delete NAME [anyway]",
        help="Delete a topic of your own; anyway also deletes one that channels subscribe to.",
        example="topic delete kv-cache",
        group=Group.TOPICS,
        right=Right.MANAGE,
        aliases=("delete topic", "topic remove", "remove topic", "topic rm"),
    ),
    Usage(
        words="filter",
        command=Filter,
        syntax="filter TOPIC [here|everywhere] [show|set|add|remove|clear|test] [QUERY…]",
        help="Show, change or try the filter of a topic, for this channel or everywhere.",
        example="filter gpu-systems test has:code -survey",
        group=Group.TOPICS,
        right=Right.SOME,
        aliases=("filters",),
    ),
)

_TASTE = (
    Usage(
        words="more",
        command=More,
        syntax="more ITEM [for TOPIC]",
        help="Say that an item is what a topic is for; said again, it is taken back.",
        example="more 3 for gpu-systems",
        group=Group.TASTE,
        aliases=("like", "upvote", "+1"),
    ),
    Usage(
        words="less",
        command=Less,
        syntax="less ITEM [for TOPIC]",
        help="Say that an item is not what a topic is for; said again, it is taken back.",
        example="less owner/name for gpu-systems",
        group=Group.TASTE,
        aliases=("dislike", "downvote", "-1"),
    ),
    Usage(
        words="profile",
        command=Profile,
        syntax="profile TOPIC [show|undo [ITEM]|reset|export]",
        help="Show, undo, reset or export what a topic has learned from more and less.",
        example="profile gpu-systems",
        group=Group.TASTE,
        right=Right.SOME,
        aliases=("taste", "learned"),
    ),
)

_SAVED = (
    Usage(
        words="save",
        command=Save,
        syntax="save ITEM",
        help="Put an item aside for yourself.",
        example="save 2606.01234",
        group=Group.SAVED,
        aliases=("bookmark", "star"),
    ),
    Usage(
        words="unsave",
        command=Unsave,
        syntax="unsave ITEM",
        help="Take an item back from what you saved.",
        example="unsave 2606.01234",
        group=Group.SAVED,
        aliases=("unbookmark", "unstar"),
    ),
    Usage(
        words="saved",
        command=ListSaved,
        syntax="saved [bibtex|ris|markdown] [page 2]",
        help="List what you saved, or hand it over as a file.",
        example="saved bibtex",
        group=Group.SAVED,
        aliases=("bookmarks", "list saved"),
    ),
)

_SERVICE = (
    Usage(
        words="status",
        command=Status,
        syntax="status",
        help="Tell the last and next digests, the sources, and what failed.",
        example="status",
        group=Group.SERVICE,
        aliases=("health",),
    ),
    Usage(
        words="settings",
        command=Settings,
        syntax="settings [manage|zone|top|quiet|daily|alerts|duplicates VALUE]",
        help="Show what the workspace settled, or settle one thing.",
        example="settings zone Europe/Zurich",
        group=Group.SERVICE,
        right=Right.SOME,
        aliases=("setting", "config", "preferences"),
    ),
    Usage(
        words="history",
        command=History,
        syntax="history [TOPIC]",
        help="Tell who changed what in the workspace, or in one topic.",
        example="history gpu-systems",
        group=Group.SERVICE,
        aliases=("changes", "log"),
    ),
    Usage(
        words="help",
        command=Help,
        syntax="help [COMMAND]",
        help="Say what can be asked, or how one command goes.",
        example="help subscribe",
        group=Group.SERVICE,
        aliases=("?", "commands", "usage"),
    ),
)

TABLE: tuple[Usage, ...] = (*_FINDING, *_SUBSCRIPTIONS, *_TOPICS, *_TASTE, *_SAVED, *_SERVICE)
BY_COMMAND = {usage.command: usage for usage in TABLE}
BY_NAME = {name: usage for usage in TABLE for name in (usage.words, *usage.aliases)}
