"""What workspaces settled, and what their people said and put aside; nothing of another one is ever found or changed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from bot.models import AssistantToken, Change, FeedAccess, Feedback, Preferences, Saved, SavedInChannel, Subscription, Topic


class Workspaces(Protocol):
    """Topics, subscriptions and preferences, and the audit of every change.

    Each write keeps its `change` in the same transaction. `replaces` is the revision that the writer has read, 0 where
    there was nothing: Conflict is raised, and nothing written, when the stored one is another.
    """

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name, in the order of the names."""
        ...

    async def save_topic(self, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        """Keep the topic as revision `replaces + 1`, and return it so.

        Only the text of a query is kept: raises StoreError when its tree is another, UsageError when it is no query.
        """
        ...

    async def delete_topic(
        self,
        workspace: str,
        name: str,
        change: Change,
        *,
        replaces: int,
        keep_uses: bool = False,
        only_unused: bool = False,
    ) -> None:
        """Forget the topic, its subscriptions and its feedback; with `keep_uses` those stay, as a pack takes its place.

        With `only_unused`, Conflict is raised where it has a subscription.
        """
        ...

    async def public(self) -> Mapping[str, Sequence[str]]:
        """Return the channels that each workspace made public, of those that made any; by workspace."""
        ...

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        """Return the workspace's subscriptions, of one channel or topic where named, ordered by channel, topic, rhythm."""
        ...

    async def save_subscription(self, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        """Keep the subscription of its channel to its topic and rhythm as revision `replaces + 1`, and return it so.

        Raises Conflict also when the stored one has another id, and for its filter what `save_topic` does for a query.
        """
        ...

    async def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        """Forget the subscription; raises Conflict when it is not stored in this revision."""
        ...

    async def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled for itself."""
        ...

    async def preferences_of(self, workspaces: Collection[str]) -> Mapping[str, Preferences]:
        """Return what each of these workspaces settled for itself, by its name; one that cannot be read is left out.

        For what the operator's service does for all of them; nothing of it may be told in another workspace.
        """
        ...

    async def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        """Keep it; with `replaces`, what the writer has read, raises Conflict when something else stands there by now."""
        ...

    async def changes(self, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        """Return the latest changes, the newest first; with `about`, those whose `what` is or begins with these words."""
        ...


class People(Protocol):
    """What single people said of items and put aside. Feedback keeps its `change` in the same transaction."""

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        """Return what was said for the topic, the oldest first."""
        ...

    async def save_feedback(self, feedback: Feedback, change: Change) -> bool:
        """Keep what a person says of an item for a topic, in place of what the person said of it before.

        Returns False where the person said the same before: that stays as it is, and no change is written.
        """
        ...

    async def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        """Take back what was said, as far as it still stands so; return how many were dropped. 0 writes no change."""
        ...

    async def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        """Return what the person put aside, the latest first."""
        ...

    async def save_item(self, workspace: str, person: str, saved: Saved, *, channel: str = "", link: str = "") -> bool:
        """Put an item aside, and where a channel is given have it count there; return False when it already was put aside.

        What counts in a channel already is counted as of the later time; of its links the first one that is known is kept.
        """
        ...

    async def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back from what the person put aside, in every channel; return False when it was not there."""
        ...

    async def saved_in(self, workspace: str, channel: str) -> Sequence[SavedInChannel]:
        """Return what people put aside in the channel, each item once, the latest first.

        Items that have become one are one, and who saved several of its keys is one person.
        """
        ...

    async def allow_feeds(self, access: FeedAccess) -> bool:
        """Let feeds be read by a token; return False, and keep nothing, where the person has MOST_FEEDS in the workspace."""
        ...

    async def feeds_by(self, hashed: str) -> FeedAccess | None:
        """Return what the token of that hash is for, of whatever workspace; None where it does not hold (any more)."""
        ...

    async def revoke_feeds(self, workspace: str, person: str, *, topic: str = "") -> int:
        """End the person's tokens, those for one topic alone where it is named; return how many there were."""
        ...


class Assistants(Protocol):
    """The tokens of assistants, in all workspaces: the operator gives them and ends them."""

    async def allow(self, token: AssistantToken) -> bool:
        """Keep the token; return False, and keep nothing, where another of its name holds.

        One of its name that was revoked is forgotten.
        """
        ...

    async def by_hash(self, hashed: str) -> AssistantToken | None:
        """Return the token of that hash; None where there is none, or it was revoked."""
        ...

    async def every(self) -> Sequence[AssistantToken]:
        """Return all tokens, those that were revoked too, in the order of their names."""
        ...

    async def revoke(self, name: str, now: datetime) -> bool:
        """End the token of that name; return False where none of that name holds."""
        ...

    async def note_use(self, hashed: str, day: date) -> None:
        """Note that something was asked by the token on the day, where no later one is noted."""
        ...
