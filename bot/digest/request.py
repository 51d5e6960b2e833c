"""What is asked of the publisher for a channel: the topic as it is subscribed there, or as it would be."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.models import DigestRequest, Layout, Limits, Position, Preferences, Subscription, Topic, is_mail
from bot.ports.items import Items
from bot.ports.workspaces import Workspaces

# An item is seen when the collection begins that brings it; no collection takes longer.
LONGEST_COLLECTION = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Layouts:
    """How digests are laid out where neither a subscription nor its workspace says it."""

    usual: Layout = Layout.BRIEF
    platforms: Mapping[str, Layout] = field(default_factory=dict)  # on those that the operator settled otherwise


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """Knows what the operator settled, and asks the store what each workspace did."""

    workspaces: Workspaces
    packs: Mapping[str, Topic]  # the topics that come with Broadsheet or from the operator's folder
    limits: Limits = Limits()
    window: timedelta = timedelta(hours=48)
    layouts: Layouts = Layouts()

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return every topic of the workspace by name: its own first, then the packs that it has not made its own."""
        own = await self.workspaces.topics(workspace)
        return {**own, **{name: topic for name, topic in self.packs.items() if name not in own}}

    async def request(
        self,
        topic: Topic,
        workspace: str,
        channel: str,
        subscription: Subscription | None = None,
        settled: Preferences | None = None,
    ) -> DigestRequest:
        """Return the request for the topic for the channel; `settled` is what the workspace did, where that was read."""
        settled = settled or await self.workspaces.preferences(workspace)
        entries = (subscription.entries if subscription else None) or settled.entries or self.limits.entries
        limits = replace(self.limits, entries=entries)
        if topic.followed and topic.repositories:  # nothing but repositories: they take no paper's place
            limits = replace(limits, repositories=entries)
        request = DigestRequest(topic, workspace, channel, limits=limits, window=self.window)
        if subscription is None:
            return request
        return replace(
            request,
            subscription=subscription.id,
            rhythm=subscription.rhythm,
            filter=subscription.filter,
            min_score=subscription.min_score,
            baseline=subscription.baseline,
            baseline_arrival=subscription.baseline_arrival,
            made_arrival=subscription.made_arrival or 0,
        )

    async def layout(
        self, workspace: str, subscription: Subscription | None = None, settled: Preferences | None = None
    ) -> Layout:
        """Return how a digest is laid out: as the subscription says, else its workspace, else the operator.

        `settled` is what the workspace settled, where that was read. One by e-mail has its cards below its index unless
        its subscription says otherwise: nothing can be opened there.
        """
        said = subscription.layout if subscription else None
        if said is None and subscription is not None and is_mail(subscription.channel):
            return Layout.THREAD
        wished = said or (settled or await self.workspaces.preferences(workspace)).layout
        return wished or self.layouts.platforms.get(workspace.partition(":")[0], self.layouts.usual)


async def stored_since(items: Items, time: datetime, now: datetime) -> Position:
    """Return where all begins that was stored from a time on; some of what was stored in the hours before is with it.

    For a subscription that begins at a time of which no arrival was noted: rather is an item looked at that came in shortly
    before than one lost that was seen before and stored after.
    """
    return Position(await items.arrival_before(time - LONGEST_COLLECTION, now), time)
