"""What is asked of the publisher for a channel: the topic as it is subscribed there, or as it would be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.models import DigestRequest, Limits, Subscription, Topic
from bot.ports.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """Knows what the operator settled, and asks the store what each workspace did."""

    workspaces: Workspaces
    packs: Mapping[str, Topic]  # the topics that come with Broadsheet or from the operator's folder
    limits: Limits = Limits()
    window: timedelta = timedelta(hours=48)

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return every topic of the workspace by name: its own first, then the packs that it has not made its own."""
        own = await self.workspaces.topics(workspace)
        return {**own, **{name: topic for name, topic in self.packs.items() if name not in own}}

    async def request(
        self, topic: Topic, workspace: str, channel: str, subscription: Subscription | None = None
    ) -> DigestRequest:
        """Return the request for the topic for the channel."""
        settled = (await self.workspaces.preferences(workspace)).entries
        entries = (subscription.entries if subscription else None) or settled or self.limits.entries
        request = DigestRequest(topic, workspace, channel, limits=replace(self.limits, entries=entries), window=self.window)
        if subscription is None:
            return request
        return replace(
            request,
            filter=subscription.filter,
            min_score=subscription.min_score,
            baseline=subscription.baseline,
            baseline_arrival=subscription.baseline_arrival,
        )
