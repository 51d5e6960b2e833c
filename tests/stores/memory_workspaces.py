"""What workspaces made, in dictionaries: the half of the memory store that knows tenants.

Everything stands under its workspace first. Nothing waits here, so each method is a transaction.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from bot.errors import StoreError
from bot.models import Change, Feedback, Preferences, Saved, Subscription, Topic
from bot.store.rules.revisions import expect, expect_readable, expect_settled, expect_stored, expect_subscription


class Workspaces:
    """Topics, subscriptions, feedback, what people saved, preferences, and the audit. As in the port, at once."""

    def __init__(self) -> None:
        self._topics: dict[tuple[str, str], Topic] = {}  # by workspace and name
        self._subscriptions: dict[tuple[str, str, str], Subscription] = {}  # by workspace, channel and topic
        self._feedback: dict[tuple[str, str, str, str], Feedback] = {}  # by workspace, topic, person and key
        self._saved: dict[tuple[str, str, str], Saved] = {}  # by workspace, person and key
        self._preferences: dict[str, Preferences] = {}
        self._changes: list[Change] = []

    def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name."""
        return {place[1]: self._topics[place] for place in sorted(self._topics) if place[0] == workspace}

    def save_topic(self, workspace: str, topic: Topic, change: Change, replaces: int) -> Topic:
        """Keep the topic as the next revision."""
        expect_readable(topic)
        self._expect_topic(workspace, topic.name, replaces)
        self._topics[workspace, topic.name] = fresh = replace(topic, revision=replaces + 1)
        self._changes.append(change)
        return fresh

    def delete_topic(self, workspace: str, name: str, change: Change, replaces: int, *, keep_uses: bool) -> None:
        """Forget the topic, and unless it is to be kept all that was made for it."""
        self._expect_topic(workspace, name, replaces)
        self._topics.pop((workspace, name), None)
        self._changes.append(change)
        if keep_uses:
            return
        for place in [place for place in self._subscriptions if (place[0], place[2]) == (workspace, name)]:
            del self._subscriptions[place]
        for said in [said for said in self._feedback if said[:2] == (workspace, name)]:
            del self._feedback[said]

    def _expect_topic(self, workspace: str, name: str, replaces: int) -> None:
        stored = self._topics.get((workspace, name))
        expect(stored.revision if stored else 0, replaces, f"the topic {name}")

    def subscriptions(self, workspace: str, channel: str, topic: str) -> Sequence[Subscription]:
        """Return the subscriptions in order, "" standing for every channel or topic."""
        return [
            self._subscriptions[tenant, where, name]
            for tenant, where, name in sorted(self._subscriptions)
            if tenant == workspace and channel in ("", where) and topic in ("", name)
        ]

    def every_subscription(self) -> Collection[Subscription]:
        """Return the subscriptions of all workspaces."""
        return self._subscriptions.values()

    def save_subscription(self, subscription: Subscription, change: Change, replaces: int) -> Subscription:
        """Keep the subscription as the next revision."""
        expect_readable(subscription)
        place = _place_in(subscription)
        expect_subscription(self._standing(place), subscription, replaces)
        others = (each for at, each in self._subscriptions.items() if at != place and at[0] == place[0])
        if subscription.id in {each.id for each in others}:
            raise StoreError(f"The subscription {subscription.id} is that of another channel or topic.")
        self._subscriptions[place] = fresh = replace(subscription, revision=replaces + 1)
        self._changes.append(change)
        return fresh

    def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        """Forget the subscription in this revision."""
        place = _place_in(subscription)
        expect_stored(self._standing(place), subscription)
        del self._subscriptions[place]
        self._changes.append(change)

    def _standing(self, place: tuple[str, str, str]) -> tuple[str, int] | None:
        stored = self._subscriptions.get(place)
        return (stored.id, stored.revision) if stored else None

    def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        """Return what was said for the topic, the oldest first."""
        said = [given for place, given in self._feedback.items() if place[:2] == (workspace, topic)]
        return sorted(said, key=lambda given: (given.at, given.person, given.key))

    def save_feedback(self, feedback: Feedback, change: Change) -> None:
        """Keep a person's last word."""
        self._feedback[_place_of(feedback)] = feedback
        self._changes.append(change)

    def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        """Take back what still stands as it is given."""
        standing = {_place_of(each) for each in given if self._feedback.get(_place_of(each)) == each}
        for place in standing:
            del self._feedback[place]
        if standing:
            self._changes.append(change)
        return len(standing)

    def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        """Return what the person put aside, the latest first."""
        own = [self._saved[place] for place in sorted(self._saved) if place[:2] == (workspace, person)]
        return sorted(own, key=lambda saved: saved.at, reverse=True)

    def save_item(self, workspace: str, person: str, saved: Saved) -> bool:
        """Put an item aside, unless it is."""
        place = (workspace, person, saved.key)
        if place in self._saved:
            return False
        self._saved[place] = saved
        return True

    def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back."""
        return self._saved.pop((workspace, person, key), None) is not None

    def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled."""
        return self._preferences.get(workspace, Preferences())

    def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, replaces: Preferences | None
    ) -> None:
        """Keep it."""
        expect_settled(replaces, self.preferences(workspace))
        self._preferences[workspace] = preferences
        self._changes.append(change)

    def changes(self, workspace: str, about: str, limit: int) -> Sequence[Change]:
        """Return the latest changes; of two at one time the one that was written last comes first."""
        own = [change for change in self._changes[::-1] if change.workspace == workspace]
        told = [change for change in own if not about or f"{change.what} ".startswith(f"{about} ")]
        return sorted(told, key=lambda change: change.at, reverse=True)[:limit]

    def held(self) -> frozenset[str]:
        """Return the keys that somebody saved, gave feedback on, or named as an example of a topic."""
        examples = (key for topic in self._topics.values() for key in topic.examples)
        return frozenset({*(place[2] for place in self._saved), *(place[3] for place in self._feedback), *examples})

    def statistics(self) -> Mapping[str, int]:
        """Return how many there are of what counts."""
        return {"topics": len(self._topics), "subscriptions": len(self._subscriptions), "saved": len(self._saved)}


def _place_in(subscription: Subscription) -> tuple[str, str, str]:
    return subscription.workspace, subscription.channel, subscription.topic


def _place_of(feedback: Feedback) -> tuple[str, str, str, str]:
    return feedback.workspace, feedback.topic, feedback.person, feedback.key
