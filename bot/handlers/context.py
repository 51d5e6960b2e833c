"""What every handler works with: the parts of the service, the topics of a workspace, and the register of handlers."""

import contextlib
import difflib
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bot.commands import Command
from bot.digest.request import Layouts, RequestBuilder
from bot.errors import Conflict, UsageError
from bot.handlers.addresses.letters import NO_LETTERS, Letters
from bot.handlers.archive.channel_access import NO_ACCESS, ChannelAccess
from bot.handlers.wording.replies import SHOWN, excerpt
from bot.models import Actor, Change, DigestRequest, Item, Limits, Reply, Subscription, Topic
from bot.ports.digests import Previewer
from bot.ports.source import Fetcher
from bot.ports.store import Store
from bot.ports.vectors import Embedder
from bot.settings.sources import ArxivSettings

# Returns those of the channels that the person may know of: all but the private ones that they are not in.
VisibleChannels = Callable[[Actor, Collection[str]], Awaitable[Collection[str]]]

# Returns what keeps Broadsheet from posting in the actor's channel, in a sentence that says what to mend; "" where nothing
# does, and where nobody can tell now: not to know never stands in anybody's way. Raises nothing.
Obstacle = Callable[[Actor], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class ForumTags:
    """The tags that posts in a forum may have, and whether each post needs one."""

    names: tuple[str, ...] = ()
    required: bool = False

    def has(self, name: str) -> bool:
        """Say whether there is a tag of that name, whatever its case."""
        return name.casefold() in (each.casefold() for each in self.names)

    def lacks(self, name: str) -> bool:
        """Say whether a post needs a tag, and there is none of that name."""
        return self.required and not self.has(name)


# Returns the tags of the actor's channel where that is a forum, None where it is none, or nobody can tell. Raises nothing.
KnownTags = Callable[[Actor], Awaitable[ForumTags | None]]

# Returns the actor as acting in the channel that is named, by its name or identifier: `channel`, `place`, `parent`,
# `may_write` and `may_administer` are those of that channel. Raises UsageError, the same for a channel that is not there and
# for one that the actor may not know of, and DeliveryError where nobody can tell now.
Elsewhere = Callable[[Actor, str], Awaitable[Actor]]

# Returns what each of the items says in a sentence, in their order; "" where it has no text.
Gists = Callable[[Sequence[Item]], Awaitable[Sequence[str]]]

USUAL_ARXIV = ArxivSettings()

_ATTEMPTS = 5  # of a change; whoever gets in the way has done theirs when ours is tried again

Made = TypeVar("Made")


async def all_channels(_actor: Actor, channels: Collection[str]) -> Collection[str]:
    """Return all of them, as where nothing is private."""
    return channels


async def no_obstacle(_actor: Actor) -> str:
    """Return "", as where nothing is known."""
    return ""


async def no_tags(_actor: Actor) -> ForumTags | None:
    """Return None, as where there are no forums."""
    return None


async def no_followers(_actor: Actor) -> str:
    """Return why nothing can be published there, as where no channel can be followed from elsewhere."""
    return "Only an announcement channel in Discord has followers to whom a digest can be published; there is none here."


async def nowhere_else(_actor: Actor, _channel: str) -> Actor:
    """Raise UsageError, as where there is one place alone."""
    raise UsageError("No other channel can be named here.", hint="Leave the channel out.")


def no_such_channel(name: str) -> UsageError:
    """Return the error for a channel that is not there, or of which who asks may not know."""
    return UsageError(f'I know no channel "{excerpt(name)}" that you can see.', hint="Choose one in which you are.")


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """The parts of the service that answer commands, and the operator's settings for them."""

    store: Store
    previewer: Previewer
    packs: Mapping[str, Topic]  # the topics that come with Broadsheet or from the operator's folder
    source_titles: Mapping[str, str]  # every source's name for people by its name
    gists: Gists  # for lists; no language model is asked
    limits: Limits = Limits()
    layouts: Layouts = field(default_factory=Layouts)
    manage: str = "anyone"  # who may change subscriptions, topics and filters: anyone, admins
    window_hours: int = 48
    zone: str = ""  # of new subscriptions where nobody else's is known; an IANA name
    visible_channels: VisibleChannels = all_channels  # a platform's own, where it has private channels
    obstacle: Obstacle = no_obstacle  # a platform's own: asked before a post is promised in the actor's channel
    forum_tags: KnownTags = no_tags  # a platform's own, where it has forums
    publishing: Obstacle = no_followers  # a platform's own, where channels can be followed: what keeps us from publishing
    elsewhere: Elsewhere = nowhere_else  # a platform's own, where it has channels
    letters: Letters = NO_LETTERS  # to addresses that are to be confirmed; without e-mail set up none can be sent
    channel_access: ChannelAccess = NO_ACCESS  # what the platforms say of channels to who is in none of them
    web_url: str = ""  # where our pages are read from outside; "" where there are none
    workspace_word: str = "workspace"  # what people there call one
    arxiv: ArxivSettings = USUAL_ARXIV  # which categories are collected
    embedder: Embedder | None = None  # without one, words alone decide what is found and close
    fetcher: Fetcher | None = None  # without one, what nobody has collected is not known

    @property
    def requests(self) -> RequestBuilder:
        """What digests are asked for, here as for those that are posted."""
        return RequestBuilder(
            self.store.workspaces, self.packs, self.limits, timedelta(hours=self.window_hours), self.layouts
        )

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return every topic of the workspace by name: its own first, then the packs that it has not made its own."""
        return await self.requests.topics(workspace)

    async def topic_named(self, workspace: str, name: str) -> Topic:
        """Return the workspace's topic of that name or title; raises UsageError that suggests the nearest one."""
        topics = await self.topics(workspace)
        typed = slug(name)
        if typed in topics:
            return topics[typed]
        titled = [topic for topic in topics.values() if slug(topic.title) == typed] if typed else []
        if len(titled) == 1:
            return titled[0]
        raise UsageError(f'There is no topic "{excerpt(name)}".', hint=_nearest(typed, topics))

    async def may_manage(self, actor: Actor) -> bool:
        """Say whether the actor may change subscriptions, topics and filters, as the workspace or the operator settled."""
        if actor.is_external:
            return False
        settled = (await self.store.workspaces.preferences(actor.workspace)).manage or self.manage
        return actor.may_administer or (settled == "anyone" and actor.may_write)

    async def check_may_manage(self, actor: Actor) -> None:
        """Raise UsageError when the actor may not change subscriptions, topics and filters."""
        check_is_member(actor)
        if not await self.may_manage(actor):
            raise UsageError(
                "Only administrators may change subscriptions, topics and filters here.",
                hint="Ask one of them; anyone may search, preview with *now*, and try a filter with *filter TOPIC test*.",
            )

    async def acting_in(self, actor: Actor, channel: str) -> Actor:
        """Return the actor as acting in the channel that is named; what they ask below stays that if it was posted there.

        Raises as `elsewhere` does.
        """
        there = await self.elsewhere(actor, channel)
        post = actor.post if there.channel in (actor.channel, actor.parent) else ""
        return replace(there, post=post, is_direct=actor.is_direct and there.channel == actor.channel)

    async def counts_in(self, actor: Actor) -> str:
        """Return the channel in which it counts what the actor says or saves there; "" where it is the actor's own alone.

        A thread is its channel's, but one with digests of its own is told below those. While the workspace has it switched
        off nothing counts, nor later.
        """
        if actor.is_direct or not (await self.store.workspaces.preferences(actor.workspace)).activity:
            return ""
        return actor.channel if not actor.parent or await self._has_digests(actor) else actor.parent

    async def _has_digests(self, actor: Actor) -> bool:
        """Say whether something is subscribed in the actor's channel, or was posted there."""
        if await self.store.workspaces.subscriptions(actor.workspace, channel=actor.channel):
            return True
        return bool(await self.store.digests.past(actor.workspace, actor.channel, limit=1))

    async def subscriptions_here(self, actor: Actor, topic: str) -> Sequence[Subscription]:
        """Return the subscriptions of the actor's channel to the topic of that very name: one of each rhythm at most.

        None for who asks in no channel.
        """
        if not actor.channel:
            return ()
        return await self.store.workspaces.subscriptions(actor.workspace, channel=actor.channel, topic=topic)

    async def is_one_of_several(self, subscription: Subscription) -> bool:
        """Say whether its channel has other subscriptions to its topic, so that only its rhythm tells which is meant."""
        place = {"channel": subscription.channel, "topic": subscription.topic}
        return len(await self.store.workspaces.subscriptions(subscription.workspace, **place)) > 1

    async def topics_here(self, actor: Actor, name: str = "") -> list[tuple[Topic, Subscription | None]]:
        """Return the named topic, or without a name each that the actor's channel subscribes to, with its subscription.

        With each of them, where it has several.
        """
        if name.strip():
            topic = await self.topic_named(actor.workspace, name)
            return [(topic, each) for each in await self.subscriptions_here(actor, topic.name) or (None,)]
        topics = await self.topics(actor.workspace)
        here = await self.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)
        return [(topics[each.topic], each) for each in here if each.topic in topics]

    async def request(self, actor: Actor, topic: Topic, subscription: Subscription | None = None) -> DigestRequest:
        """Return the request for a digest of the topic as it is subscribed in the actor's channel, or as it would be."""
        return await self.requests.request(topic, actor.workspace, actor.channel, subscription)


def check_is_member(actor: Actor) -> None:
    """Raise UsageError when the actor is of another organisation: how the workspace is set up is its own."""
    if actor.is_external:
        raise UsageError(
            "That is for members of the workspace whose Broadsheet this is.",
            hint="Ask one of them. You can search, preview a digest, save papers, and say more or less of them.",
        )


def slug(text: str) -> str:
    """Return text as a topic's name would spell it: "GPU Systems" is gpu-systems; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text[: 4 * SHOWN]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SHOWN].rstrip("-")


def _nearest(typed: str, topics: Mapping[str, Topic]) -> str:
    titles = {slug(topic.title): topic.name for topic in topics.values()}
    known = {**titles, **{name: name for name in topics}}
    words = set(typed.split("-"))
    close = difflib.get_close_matches(typed, known, n=2, cutoff=0.5) if typed else []
    close += [each for each in known if words & set(each.split("-"))] if not close else []  # gpu is a word of gpu-systems
    names = list(dict.fromkeys(known[each] for each in close))[:2]
    return f"Did you mean {' or '.join(names)}?" if names else "*topics* lists those there are."


async def retry_on_conflict(attempt: Callable[[], Awaitable[Made]]) -> Made:
    """Return what the attempt makes; it reads anew each time, and the last Conflict is raised."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(Conflict):
            return await attempt()
    return await attempt()


def change_by(actor: Actor, what: str, before: str, after: str, now: datetime) -> Change:
    """Return the line of the audit for what the actor changes: `what` it is, as it was and as it is."""
    return Change(workspace=actor.workspace, at=now, person=actor.person, what=what, before=before, after=after)


# --- which function answers which command: a handler says it of itself, and no list names it again

C = TypeVar("C", bound=Command)
Handler = Callable[[HandlerContext, C, Actor, datetime], Awaitable[Reply]]

HANDLERS: dict[type[Command], Handler[Any]] = {}  # filled as the modules of the handlers are imported


def handles(command: type[C]) -> Callable[[Handler[C]], Handler[C]]:
    """Make the function the one that answers the command; raises ValueError where another one does already."""

    def answered_by(handler: Handler[C]) -> Handler[C]:
        if HANDLERS.setdefault(command, handler) is not handler:
            raise ValueError(f"{command.__name__} is answered by {HANDLERS[command].__qualname__} already")
        return handler

    return answered_by
