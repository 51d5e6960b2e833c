"""What workspaces made, in dictionaries: the half of the memory store that knows tenants.

Everything stands under its workspace first. Nothing waits here, so each method is a transaction.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from bot.errors import StoreError
from bot.models import (
    MOST_FEEDS,
    AssistantToken,
    Change,
    FeedAccess,
    Feedback,
    Preferences,
    Saved,
    SavedInChannel,
    Subscription,
    Topic,
)
from bot.store.rules.revisions import (
    expect,
    expect_readable,
    expect_settled,
    expect_stored,
    expect_subscription,
    expect_unused,
)
from bot.store.rules.saved import counted_in_channel


class MemoryPeople:
    """bot.ports.workspaces.People; `audit` is the workspaces'."""

    def __init__(self, audit: list[Change], heir: Callable[[str], str]) -> None:
        self.feedback_given: dict[tuple[str, str, str, str], Feedback] = {}  # by workspace, topic, person and key
        self.put_aside: dict[tuple[str, str, str], Saved] = {}  # by workspace, person and key
        # By workspace, channel, key and person: when, and the link.
        self.in_channels: dict[tuple[str, str, str, str], tuple[datetime, str]] = {}
        self._feeds: dict[str, FeedAccess] = {}  # by the hash of the token
        self._changes = audit
        self.heir = heir  # returns the key that an item has now that had another; "" of any other key

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        said = [given for place, given in self.feedback_given.items() if place[:2] == (workspace, topic)]
        return sorted(said, key=lambda given: (given.at, given.person, given.key))

    async def save_feedback(self, feedback: Feedback, change: Change) -> bool:
        held = self.feedback_given.get(_place_of(feedback))
        if held is not None and held.more is feedback.more:
            return False
        self.feedback_given[_place_of(feedback)] = feedback
        self._changes.append(change)
        return True

    async def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        standing = {_place_of(each) for each in given if self.feedback_given.get(_place_of(each)) == each}
        for place in standing:
            del self.feedback_given[place]
        if standing:
            self._changes.append(change)
        return len(standing)

    async def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        own = [self.put_aside[place] for place in sorted(self.put_aside) if place[:2] == (workspace, person)]
        return sorted(own, key=lambda saved: saved.at, reverse=True)

    async def save_item(self, workspace: str, person: str, saved: Saved, *, channel: str = "", link: str = "") -> bool:
        place = (workspace, person, saved.key)
        if channel:
            at, known = self.in_channels.get((workspace, channel, saved.key, person), (saved.at, ""))
            self.in_channels[workspace, channel, saved.key, person] = (max(at, saved.at), known or link)
        if place in self.put_aside:
            return False
        self.put_aside[place] = saved
        return True

    async def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back."""
        for place in [each for each in self.in_channels if (each[0], *each[2:]) == (workspace, key, person)]:
            del self.in_channels[place]
        return self.put_aside.pop((workspace, person, key), None) is not None

    async def saved_in(self, workspace: str, channel: str) -> Sequence[SavedInChannel]:
        here = ((place[2:], held) for place, held in self.in_channels.items() if place[:2] == (workspace, channel))
        return counted_in_channel((self.heir(key) or key, person, at, link) for (key, person), (at, link) in here)

    async def allow_feeds(self, access: FeedAccess) -> bool:
        held = [each for each in self._feeds.values() if _whose(each) == _whose(access)]
        if len(held) < MOST_FEEDS:
            self._feeds[access.hashed] = access
        return len(held) < MOST_FEEDS

    async def feeds_by(self, hashed: str) -> FeedAccess | None:
        return self._feeds.get(hashed)

    async def revoke_feeds(self, workspace: str, person: str, *, topic: str = "") -> int:
        own = [each for each in self._feeds.values() if _whose(each) == (workspace, person) and topic in ("", each.topic)]
        for each in own:
            del self._feeds[each.hashed]
        return len(own)

    def forget_topic(self, workspace: str, name: str) -> None:
        for said in [said for said in self.feedback_given if said[:2] == (workspace, name)]:
            del self.feedback_given[said]


class MemoryWorkspaces:
    """bot.ports.workspaces.Workspaces; `ended` is told of the subscriptions that are no more."""

    def __init__(self, ended: Callable[[Iterable[Subscription]], None], heir: Callable[[str], str]) -> None:
        self._ended = ended
        self._changes: list[Change] = []
        self.people = MemoryPeople(self._changes, heir)
        self._topics: dict[tuple[str, str], Topic] = {}  # by workspace and name
        self._subscriptions: dict[tuple[str, str, str, str], Subscription] = {}  # by workspace, channel, topic and rhythm
        self._preferences: dict[str, Preferences] = {}

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name."""
        return {place[1]: self._topics[place] for place in sorted(self._topics) if place[0] == workspace}

    async def save_topic(self, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        expect_readable(topic)
        self._expect_topic(workspace, topic.name, replaces)
        self._topics[workspace, topic.name] = fresh = replace(topic, revision=replaces + 1)
        self._changes.append(change)
        return fresh

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
        self._expect_topic(workspace, name, replaces)
        if only_unused:
            expect_unused(len(await self.subscriptions(workspace, topic=name)), name)
        self._topics.pop((workspace, name), None)
        self._changes.append(change)
        if keep_uses:
            return
        gone = await self.subscriptions(workspace, topic=name)
        for each in gone:
            del self._subscriptions[_place_in(each)]
        self.people.forget_topic(workspace, name)
        self._ended(gone)

    def _expect_topic(self, workspace: str, name: str, replaces: int) -> None:
        stored = self._topics.get((workspace, name))
        expect(stored.revision if stored else 0, replaces, f"the topic {name}")

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        return [
            self._subscriptions[tenant, where, name, rhythm]
            for tenant, where, name, rhythm in sorted(self._subscriptions)
            if tenant == workspace and channel in ("", where) and topic in ("", name)
        ]

    def every_subscription(self) -> Collection[Subscription]:
        """Return the subscriptions of all workspaces."""
        return self._subscriptions.values()

    def subscription(self, workspace: str, number: str) -> Subscription | None:
        """Return the subscription of that id."""
        return next(
            (each for each in self._subscriptions.values() if (each.workspace, each.id) == (workspace, number)), None
        )

    def put(self, subscription: Subscription) -> None:
        """Keep it as it is, in the place of what stood there."""
        self._subscriptions[_place_in(subscription)] = subscription

    async def save_subscription(self, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        expect_readable(subscription)
        place = _place_in(subscription)
        expect_subscription(self._standing(place), subscription, replaces)
        others = (each for at, each in self._subscriptions.items() if at != place and at[0] == place[0])
        if subscription.id in {each.id for each in others}:
            raise StoreError(f"The subscription {subscription.id} is that of another channel, topic or rhythm.")
        self._subscriptions[place] = fresh = replace(subscription, revision=replaces + 1)
        self._changes.append(change)
        return fresh

    async def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        place = _place_in(subscription)
        expect_stored(self._standing(place), subscription)
        del self._subscriptions[place]
        self._changes.append(change)
        self._ended((subscription,))

    def end_channel(self, workspace: str, channel: str) -> None:
        """End what is subscribed there, as with a recipient that is forgotten."""
        gone = [each for each in self._subscriptions.values() if (each.workspace, each.channel) == (workspace, channel)]
        for each in gone:
            del self._subscriptions[_place_in(each)]
        self._ended(gone)

    def _standing(self, place: tuple[str, str, str, str]) -> tuple[str, int] | None:
        stored = self._subscriptions.get(place)
        return (stored.id, stored.revision) if stored else None

    async def public(self) -> Mapping[str, Sequence[str]]:
        return {name: settled.public for name, settled in sorted(self._preferences.items()) if settled.public}

    async def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled."""
        return self._preferences.get(workspace, Preferences())

    async def preferences_of(self, workspaces: Collection[str]) -> Mapping[str, Preferences]:
        return {each: await self.preferences(each) for each in workspaces}

    async def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        expect_settled(replaces, await self.preferences(workspace))
        self._preferences[workspace] = preferences
        self._changes.append(change)

    async def changes(self, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        own = [change for change in self._changes[::-1] if change.workspace == workspace]
        told = [change for change in own if not about or f"{change.what} ".startswith(f"{about} ")]
        return sorted(told, key=lambda change: change.at, reverse=True)[:limit]

    def held(self) -> frozenset[str]:
        examples = (key for topic in self._topics.values() for key in topic.examples)
        return frozenset(
            {*(place[2] for place in self.people.put_aside), *(place[3] for place in self.people.feedback_given), *examples}
        )

    def statistics(self) -> Mapping[str, int]:
        return {"topics": len(self._topics), "subscriptions": len(self._subscriptions), "saved": len(self.people.put_aside)}


class MemoryAssistants:
    """bot.ports.workspaces.Assistants."""

    def __init__(self) -> None:
        self._tokens: dict[str, AssistantToken] = {}  # by name

    async def allow(self, token: AssistantToken) -> bool:
        held = self._tokens.get(token.name)
        if held is not None and held.revoked_at is None:
            return False
        self._tokens[token.name] = token
        return True

    async def by_hash(self, hashed: str) -> AssistantToken | None:
        return next((each for each in self._tokens.values() if each.hashed == hashed and not each.revoked_at), None)

    async def every(self) -> Sequence[AssistantToken]:
        return [self._tokens[name] for name in sorted(self._tokens)]

    async def revoke(self, name: str, now: datetime) -> bool:
        held = self._tokens.get(name)
        if held is None or held.revoked_at is not None:
            return False
        self._tokens[name] = replace(held, revoked_at=now)
        return True

    async def note_use(self, hashed: str, day: date) -> None:
        for name, held in self._tokens.items():
            if held.hashed == hashed:
                self._tokens[name] = replace(held, used_on=max(day, held.used_on or day))


def _place_in(subscription: Subscription) -> tuple[str, str, str, str]:
    return subscription.workspace, subscription.channel, subscription.topic, subscription.rhythm


def _whose(access: FeedAccess) -> tuple[str, str]:
    return access.workspace, access.person


def _place_of(feedback: Feedback) -> tuple[str, str, str, str]:
    return feedback.workspace, feedback.topic, feedback.person, feedback.key
