"""Whatever two workspaces do, each finds what it made and nothing of the other: the stores against a plain model."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bot.errors import Conflict
from bot.models import Change, Feedback, Preferences, Rhythm, Saved, SavedInChannel, Subscription, Topic
from bot.store import records
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW, tries
from tests.contract import made
from tests.contract.made import CHANNELS, KEYS, PEOPLE, TOPICS
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import emptied

WORKSPACES = ("slack:T1", "slack:T10")  # one's name begins with the other's
at_ease = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

workspaces = st.sampled_from(WORKSPACES)
revisions = st.integers(0, 2)


@given(made.topics(), st.sampled_from(WORKSPACES).flatmap(made.subscriptions), made.preferences(), made.changes("T1"))
@at_ease
def test_what_was_made_reads_back_from_its_text(
    topic: Topic, subscription: Subscription, preferences: Preferences, change: Change
) -> None:
    assert records.topic_from_text(records.to_text(topic)) == topic
    assert records.subscription_from_text(records.to_text(subscription)) == subscription
    assert records.preferences_from_text(records.to_text(preferences)) == preferences
    assert records.change_from_text(records.to_text(change)) == change


@dataclass
class Model:
    """What one workspace should find."""

    topics: dict[str, Topic] = field(default_factory=dict)
    subscriptions: dict[tuple[str, str, str], Subscription] = field(default_factory=dict)
    said: dict[tuple[str, str, str], Feedback] = field(default_factory=dict)
    saved: dict[tuple[str, str], Saved] = field(default_factory=dict)
    counting: dict[tuple[str, str, str], datetime] = field(default_factory=dict)  # by channel, person and key
    preferences: Preferences = field(default_factory=Preferences)
    changes: list[Change] = field(default_factory=list)


class Teams(RuleBasedStateMachine):
    """Two workspaces in several stores, and what each should find."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.Runner()
        self.stores = self.of_every_sort(Path(self.folder.name))
        for store in self.stores:
            self.loop.run(store.open())
        self.models = {name: Model() for name in WORKSPACES}
        self.now = NOW

    def of_every_sort(self, folder: Path) -> tuple[AnyStore, ...]:
        return MemoryStore(), SqliteStore(folder / "teams.db")

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            for store in self.stores:
                self.loop.run(store.close())
            self.loop.close()
            self.folder.cleanup()

    def both(self, ask: Callable[[AnyStore], Awaitable[Any]]) -> Any:
        """Do the same to all and return what all answer: a value, or the sentence of a conflict."""

        async def answer(store: AnyStore) -> Any:
            try:
                return await ask(store)
            except Conflict as conflict:
                return f"Conflict: {conflict}"

        async def run() -> list[Any]:
            return [await answer(store) for store in self.stores]

        first, second = self.loop.run(run())
        assert first == second
        return first

    def change(self, workspace: str, what: str) -> Change:
        return Change(workspace=workspace, at=self.now, person="U1", what=what, after=str(self.now))

    @rule(workspace=workspaces, topic=made.topics(), replaces=revisions)
    def save_topic(self, workspace: str, topic: Topic, replaces: int) -> None:
        model, line = self.models[workspace], self.change(workspace, f"topic {topic.name}")
        answer = self.both(lambda store: store.workspaces.save_topic(workspace, topic, line, replaces=replaces))
        stored = model.topics.get(topic.name)
        if replaces != (stored.revision if stored else 0):
            assert answer.startswith("Conflict")
            return
        model.topics[topic.name] = replace(topic, revision=replaces + 1)
        model.changes.append(line)
        assert answer == model.topics[topic.name]

    @rule(workspace=workspaces, name=st.sampled_from(TOPICS), replaces=revisions, keep=st.booleans())
    def delete_topic(self, workspace: str, name: str, replaces: int, keep: bool) -> None:
        model, line = self.models[workspace], self.change(workspace, f"topic {name}")
        answer = self.both(
            lambda store: store.workspaces.delete_topic(workspace, name, line, replaces=replaces, keep_uses=keep)
        )
        stored = model.topics.get(name)
        if replaces != (stored.revision if stored else 0):
            assert answer.startswith("Conflict")
            return
        model.topics.pop(name, None)
        if not keep:
            model.subscriptions = {place: each for place, each in model.subscriptions.items() if each.topic != name}
            model.said = {place: each for place, each in model.said.items() if each.topic != name}
        model.changes.append(line)

    @rule(subscription=workspaces.flatmap(made.subscriptions), replaces=revisions, same=st.booleans())
    def save_subscription(self, subscription: Subscription, replaces: int, same: bool) -> None:
        model, line = self.models[subscription.workspace], self.change(subscription.workspace, "subscription")
        place = (subscription.channel, subscription.topic, subscription.rhythm)
        stored = model.subscriptions.get(place)
        given = replace(subscription, id=stored.id) if stored and same else subscription
        answer = self.both(lambda store: store.workspaces.save_subscription(given, line, replaces=replaces))
        if replaces != (stored.revision if stored else 0) or (stored and stored.id != given.id):
            assert answer.startswith("Conflict")
            return
        model.subscriptions[place] = replace(given, revision=replaces + 1)
        model.changes.append(line)
        assert answer == model.subscriptions[place]

    @rule(
        workspace=workspaces,
        channel=st.sampled_from(CHANNELS),
        topic=st.sampled_from(TOPICS),
        which=st.sampled_from(Rhythm),
        stale=st.booleans(),
    )
    def delete_subscription(self, workspace: str, channel: str, topic: str, which: Rhythm, stale: bool) -> None:
        model, line = self.models[workspace], self.change(workspace, "subscription")
        stored = model.subscriptions.get((channel, topic, which))
        if stored is None:
            return
        given = replace(stored, revision=stored.revision - 1) if stale else stored
        answer = self.both(lambda store: store.workspaces.delete_subscription(given, line))
        if stale:
            assert answer.startswith("Conflict")
            return
        del model.subscriptions[channel, topic, which]
        model.changes.append(line)

    @rule(feedback=workspaces.flatmap(lambda workspace: made.feedback(workspace, NOW)))
    def say(self, feedback: Feedback) -> None:
        model, line = self.models[feedback.workspace], self.change(feedback.workspace, "feedback")
        given = replace(feedback, at=self.now)
        place = given.topic, given.person, given.key
        fresh = place not in model.said or model.said[place].more is not given.more
        assert self.both(lambda store: store.people.save_feedback(given, line)) is fresh
        if fresh:
            model.said[place] = given
            model.changes.append(line)

    @rule(workspace=workspaces, number=st.integers(0, 5), never=made.feedback(WORKSPACES[0], NOW - timedelta(days=1)))
    def take_back(self, workspace: str, number: int, never: Feedback) -> None:
        model, line = self.models[workspace], self.change(workspace, "feedback")
        standing = dict(list(model.said.items())[:number])
        dropped = self.both(lambda store: store.people.drop_feedback([*standing.values(), never], line))
        assert dropped == len(standing)
        for place in standing:
            del model.said[place]
        if standing:
            model.changes.append(line)

    @rule(
        workspace=workspaces,
        person=st.sampled_from(PEOPLE),
        key=st.sampled_from(KEYS),
        channel=st.sampled_from(("", *CHANNELS)),
    )
    def put_aside(self, workspace: str, person: str, key: str, channel: str) -> None:
        model, saved = self.models[workspace], Saved(key, self.now)
        assert self.both(lambda store: store.people.save_item(workspace, person, saved, channel=channel)) == (
            (person, key) not in model.saved
        )
        model.saved.setdefault((person, key), saved)
        if channel:
            model.counting[channel, person, key] = self.now  # as of the later time

    @rule(workspace=workspaces, person=st.sampled_from(PEOPLE), key=st.sampled_from(KEYS))
    def take_out(self, workspace: str, person: str, key: str) -> None:
        model = self.models[workspace]
        assert self.both(lambda store: store.people.unsave_item(workspace, person, key)) == ((person, key) in model.saved)
        model.saved.pop((person, key), None)
        model.counting = {place: at for place, at in model.counting.items() if place[1:] != (person, key)}

    @rule(workspace=workspaces, preferences=made.preferences())
    def settle(self, workspace: str, preferences: Preferences) -> None:
        model, line = self.models[workspace], self.change(workspace, "settings")
        self.both(lambda store: store.workspaces.save_preferences(workspace, preferences, line))
        model.preferences = preferences
        model.changes.append(line)

    @rule(minutes=st.integers(1, 100))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def reopen(self) -> None:
        for store in self.stores:
            self.loop.run(store.close())
            self.loop.run(store.open())

    @invariant()
    def each_finds_what_it_made(self) -> None:
        for workspace, model in getattr(self, "models", {}).items():
            self.finds_what_it_settled(workspace, model)
            self.finds_its_subscriptions(workspace, model)
            for topic in TOPICS:
                self.finds_what_was_said(workspace, topic, model)
            for person in PEOPLE:
                self.finds_what_was_saved(workspace, person, model)
            for channel in CHANNELS:
                self.finds_what_counts(workspace, channel, model)

    def finds_what_it_settled(self, workspace: str, model: Model) -> None:
        assert self.both(lambda store: store.workspaces.topics(workspace)) == model.topics
        assert self.both(lambda store: store.workspaces.preferences(workspace)) == model.preferences
        assert self.both(lambda store: store.workspaces.changes(workspace, limit=1000)) == model.changes[::-1]

    def finds_its_subscriptions(self, workspace: str, model: Model) -> None:
        everything = [model.subscriptions[place] for place in sorted(model.subscriptions)]
        assert self.both(lambda store: store.workspaces.subscriptions(workspace)) == everything
        here = self.both(lambda store: store.workspaces.subscriptions(workspace, channel=CHANNELS[0]))
        assert here == [each for each in everything if each.channel == CHANNELS[0]]
        of_one = self.both(lambda store: store.workspaces.subscriptions(workspace, topic=TOPICS[0]))
        assert of_one == [each for each in everything if each.topic == TOPICS[0]]

    def finds_what_was_said(self, workspace: str, topic: str, model: Model) -> None:
        said = [each for each in model.said.values() if each.topic == topic]
        found = self.both(lambda store: store.people.feedback(workspace, topic))
        assert found == sorted(said, key=lambda each: (each.at, each.person, each.key))

    def finds_what_was_saved(self, workspace: str, person: str, model: Model) -> None:
        saved = [each for (owner, _), each in model.saved.items() if owner == person]
        found = self.both(lambda store: store.people.saved(workspace, person))
        assert found == sorted(saved, key=lambda each: (NOW - each.at, each.key))

    def finds_what_counts(self, workspace: str, channel: str, model: Model) -> None:
        here = [(key, at) for (place, _, key), at in model.counting.items() if place == channel]
        times = {key: [at for its, at in here if its == key] for key, _ in here}
        expected = [SavedInChannel(key, max(its), len(its)) for key, its in times.items()]
        found = self.both(lambda store: store.people.saved_in(workspace, channel))
        assert found == sorted(expected, key=lambda each: (NOW - each.at, each.key))


TestTeams = Teams.TestCase
TestTeams.settings = settings(at_ease, max_examples=tries(25), stateful_step_count=30)


class TeamsInPostgres(Teams):
    """The same in a PostgreSQL database, beside the store in memory."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def of_every_sort(self, folder: Path) -> tuple[AnyStore, ...]:
        return MemoryStore(), PostgresStore(emptied(self.address), folder, most=1)


def test_two_workspaces_in_postgres_find_what_each_made(postgres: str) -> None:
    wanted = settings(at_ease, max_examples=tries(8), stateful_step_count=20)

    class Here(TeamsInPostgres):
        def __init__(self) -> None:
            super().__init__(postgres)

    run_state_machine_as_test(Here, settings=wanted)
