"""What one workspace made is neither found nor changed from another, whichever command is given."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from bot.commands import (
    TABLE,
    ChangeSettings,
    Command,
    Confirm,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Feeds,
    Filter,
    FilterAction,
    Follow,
    Forget,
    Format,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Part,
    Pause,
    Post,
    Profile,
    ProfileAction,
    Rest,
    Resume,
    Save,
    Scope,
    Search,
    Show,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Transfer,
    Trend,
    Trending,
    Trends,
    Unsave,
    Unsubscribe,
    Web,
    Why,
    read,
)
from bot.digest.publisher import Publisher
from bot.handlers.context import HANDLERS
from bot.handlers.handle import answer
from bot.models import Change, FeedAccess, OptIn, Preferences, code_kept, mail_channel
from bot.summarise.extractive import Extractive
from tests.bot.handlers.askers import PAPERS, SOURCES, Asker, said

# Of the other workspace, everything is named as it is there: its topics, its entries by number, the channel, the person.
TOPICS = ("hushed", "kv")  # its own, and its copy of a pack
ITEMS = ("1", PAPERS[0].key, "Sharding a cache in CUDA")
# What it wrote itself. No command below says these words, so no answer has them from what was typed.
ITS_WORDS = ("Undisclosed", "zebrafish", "whispers", "U-bob", "C-bob", "Chatham", "12:34", "0.123")

CHANNEL = mail_channel("0123456789abcdef", "ada@example.org")  # of its recipient

COMMANDS: Mapping[type, tuple[Command, ...]] = {
    Search: (Search("cache"), Search("cache topic-of:hushed")),
    Show: tuple(Show(item, topic, bibtex) for item in ITEMS for topic in ("", *TOPICS) for bibtex in (False, True)),
    Similar: tuple(map(Similar, ITEMS)),
    Trending: tuple(map(Trending, (None, *Trend))),
    Trends: tuple(map(Trends, ("", *TOPICS))),
    Why: tuple(Why(item, topic) for item in ITEMS for topic in ("", *TOPICS)),
    Now: tuple(map(Now, ("", *TOPICS))),
    Rest: tuple(Rest(topic, day) for topic in TOPICS for day in ("", "2026-04-01")),
    Follow: (*map(Follow, TOPICS), Follow("cache"), Follow('author:"Bob"')),
    Subscribe: tuple(Subscribe(topic=topic, entries=3) for topic in TOPICS),
    Post: tuple(map(Post, TOPICS)),
    Unsubscribe: tuple(map(Unsubscribe, TOPICS)),
    ListSubscriptions: (ListSubscriptions(), ListSubscriptions(everywhere=True)),
    Pause: tuple(Pause(topic, until=until) for topic in TOPICS for until in ("", "2w")),
    Resume: tuple(map(Resume, TOPICS)),
    Transfer: (
        Transfer(),
        *map(Transfer, TOPICS),
        Transfer(former="U-bob"),
        Transfer(former="me"),
        Transfer("kv", to="U-bob"),
    ),
    Confirm: (Confirm("123456"),),
    Forget: tuple(Forget(named, surely=surely) for named in ("ada@example.org", CHANNEL) for surely in (False, True)),
    ListTopics: (ListTopics(),),
    ShowTopic: tuple(map(ShowTopic, TOPICS)),
    CreateTopic: (CreateTopic("hushed", "GPU"), CreateTopic("copy", origin="hushed"), CreateTopic("copied", origin="kv")),
    EditTopic: tuple(
        EditTopic(name=topic, part=part, value="1", remove=remove, revision=revision)
        for topic in TOPICS
        for part in Part
        for remove in (False, True)
        for revision in (None, 1, 2)
    ),
    DeleteTopic: tuple(DeleteTopic(topic, anyway) for topic in TOPICS for anyway in (False, True)),
    Filter: tuple(
        Filter(topic, action, "kind:paper", scope) for topic in TOPICS for action in FilterAction for scope in (None, *Scope)
    ),
    More: tuple(More(item, topic) for item in ITEMS for topic in ("", *TOPICS)),
    Less: tuple(Less(item, topic) for item in ITEMS for topic in ("", *TOPICS)),
    Profile: tuple(Profile(topic, action, item) for topic in TOPICS for action in ProfileAction for item in ("", *ITEMS)),
    Save: tuple(map(Save, ITEMS)),
    Unsave: tuple(map(Unsave, ITEMS)),
    ListSaved: tuple(ListSaved(form, here=here) for form in (None, *Format) for here in (False, True)),
    Status: (Status(),),
    ChangeSettings: (
        *map(ChangeSettings, ("", "quiet", "daily", "activity", "alerts", "duplicates")),
        *(
            ChangeSettings("manage", "anyone"),
            ChangeSettings("zone", "Europe/Zurich"),
            ChangeSettings("top", "9"),
            ChangeSettings("quiet", "22-7"),
        ),
        *(
            ChangeSettings("activity", "on"),
            ChangeSettings("daily", "20"),
            ChangeSettings("alerts", "here"),
            ChangeSettings("duplicates", "here"),
            ChangeSettings("duplicates", "off"),
            ChangeSettings("publish", "off"),
            ChangeSettings("web", "private"),
        ),
    ),
    History: tuple(map(History, ("", *TOPICS))),
    Feeds: (Feeds(), *map(Feeds, TOPICS), *(Feeds(topic, revoke=True) for topic in ("hushed", ""))),
    Help: (Help(), Help("subscribe")),
    Web: (Web(),),
}
PUBLIC = {Help, Trending, Web}  # they read nothing that anybody made


@dataclass(frozen=True, slots=True)
class Houses:
    """Two workspaces with the same channel and person in them: one has just begun, the other has made a lot."""

    new: Asker
    other: Asker

    async def belongings(self) -> dict[str, Any]:
        """Everything that the store keeps for the other workspace."""
        store, workspace = self.other.context.store, self.other.actor.workspace
        keys = [paper.key for paper in PAPERS]
        return {
            "topics": await store.workspaces.topics(workspace),
            "subscriptions": await store.workspaces.subscriptions(workspace),
            "feedback": {topic: await store.people.feedback(workspace, topic) for topic in (*TOPICS, "gpu-systems")},
            "counting": {channel: await store.people.saved_in(workspace, channel) for channel in ("C1", "C-bob")},
            "saved": {person: await store.people.saved(workspace, person) for person in ("U-ada", "U-bob")},
            "preferences": await store.workspaces.preferences(workspace),
            "changes": await store.workspaces.changes(workspace, limit=1000),
            "recipients": await store.recipients.of(workspace),
            "posted": {channel: await store.digests.posted(workspace, channel) for channel in ("C1", "C-bob")},
            "postings": await store.digests.postings(workspace, "C1", keys),
            "past": await store.digests.past(workspace, "C1"),
            "feeds": await store.people.feeds_by("bob"),
            "digest": {topic: await store.digests.last(workspace, "C1", topic) for topic in TOPICS},
        }


@pytest.fixture
async def houses(ada: Asker) -> Houses:
    other = ada.by(workspace="slack:T2")
    bob = other.by(person="U-bob", channel="C-bob")
    note = Change(workspace="slack:T2", at=ada.now, person="U-bob", what="settings zone")
    quiet: dict[str, Any] = {
        "quiet_from": time(12, 34),
        "quiet_until": time(13),
        "alerts": "C-bob",
        "prefer_duplicate": ("C-bob",),
        "activity": True,
        "publish": ("C-bob",),
        "public": ("C-bob",),
    }
    await ada.context.store.workspaces.save_preferences(
        "slack:T2", Preferences(zone="Pacific/Chatham", entries=5, **quiet), note
    )
    for asker, text in (
        (bob, "topic create hushed cache OR zebrafish"),
        (bob, "topic edit hushed title Undisclosed matters"),
        (bob, "topic edit hushed description What nobody whispers about"),
        (bob, "topic edit kv description Whatever whispers"),
        (other, "subscribe hushed at 12:34 min 0.123 filter -zebrafish"),
        (other, "subscribe kv at 12:34 filter -whispers"),
        (bob, "subscribe hushed at 12:34"),
        (other, "pause kv"),
        (bob, "more 2603.00001 for hushed"),
        (other, "less 2603.00001 for hushed"),
        (other, "more 2603.00003 for kv"),
        (other, "save 2603.00001"),
    ):
        await asker.ask(text)
    allowed = FeedAccess(
        hashed="bob", platform="slack", workspace="slack:T2", person="U-ada", channel="C1", topic="hushed", made_at=ada.now
    )
    await ada.context.store.people.allow_feeds(allowed)
    for address, code in (("ada@example.org", "654321"), ("bob@example.org", "123456")):
        kept = await keyed(ada, code)
        until = ada.now + timedelta(days=1)
        asked: dict[str, Any] = {"command": "subscribe kv", "asked_at": ada.now, "until": until, "code": kept}
        await ada.context.store.recipients.ask(OptIn(workspace="slack:T2", person="U-ada", address=address, **asked))
    kept = await keyed(ada, "654321")
    await ada.context.store.recipients.confirm("slack:T2", "U-ada", kept, CHANNEL, ada.now)
    order = await other.context.request(other.actor, await other.context.topic_named("slack:T2", "hushed"))
    await Publisher(ada.context.store, Extractive(), SOURCES).publish([order], ada.now, record=True)
    return Houses(ada, other)


async def keyed(ada: Asker, code: str) -> str:
    """Return how a code of Ada's is kept there."""
    kept = code_kept("slack:T2", "U-ada", code)
    return hmac.digest(await ada.context.store.recipients.key(), kept.encode(), "sha256").hex()


def test_every_command_is_tried_and_has_its_handler() -> None:
    assert set(COMMANDS) == set(HANDLERS) == {usage.command for usage in TABLE}
    assert all(isinstance(command, kind) for kind, commands in COMMANDS.items() for command in commands)


def every_command() -> list[Any]:
    return [pytest.param(usage.command, id=usage.command.__name__) for usage in TABLE]


@pytest.mark.parametrize("kind", every_command())
@pytest.mark.parametrize("manages", [False, True], ids=["person", "administrator"])
async def test_a_command_in_one_workspace_finds_and_changes_nothing_of_another(
    houses: Houses, kind: type, manages: bool, caplog: pytest.LogCaptureFixture
) -> None:
    before = await houses.belongings()
    asker = houses.new.by(may_administer=manages)

    for command in COMMANDS[kind]:
        for text in (command, command):  # a second time: what the first one made is there now
            reply = await answer(asker.context, text, asker.actor, asker.now)
            told = said(reply)
            assert not [word for word in ITS_WORDS if word in told], command
            assert not any(digest.topic == "hushed" and "Undisclosed" in digest.title for digest in reply.digests)

    assert await houses.belongings() == before
    assert not caplog.records  # nothing was answered with a reference to the log


@pytest.mark.parametrize("kind", [each for each in every_command() if each.values[0] not in PUBLIC])
async def test_in_its_own_workspace_the_same_command_finds_or_changes_something(houses: Houses, kind: type) -> None:
    before = await houses.belongings()
    differs = False
    for command in COMMANDS[kind]:
        new, own = houses.new, houses.other
        told = [said(await answer(each.context, command, each.actor, each.now)) for each in (new, own)]
        differs |= told[0] != told[1]

    assert differs or await houses.belongings() != before


async def test_two_workspaces_have_topics_of_one_name_each_its_own(houses: Houses) -> None:
    await houses.new.ask("topic create hushed GPU")
    await houses.new.ask("subscribe hushed at 07:00")
    await houses.new.ask("topic delete hushed anyway")

    assert "Undisclosed matters" in said(await houses.other.ask("topic show hushed"))
    assert [each.topic for each in await houses.other.here()] == ["hushed", "kv"]


async def test_what_was_said_elsewhere_does_not_rank_here(houses: Houses) -> None:
    scores = {}
    for asker in (houses.new, houses.other):
        topic = replace(
            (await asker.context.topic_named(asker.actor.workspace, "kv")), filter=houses.new.context.packs["kv"].filter
        )
        order = await asker.context.request(asker.actor, replace(topic, title="KV"))
        digest = await asker.context.previewer.preview(replace(order, channel="empty"), asker.now)
        scores[asker.actor.workspace] = {entry.ranked.item.key: entry.ranked.score for entry in digest.entries}

    assert scores["slack:T1"]["arxiv:2603.00003"] < scores["slack:T2"]["arxiv:2603.00003"]


async def test_a_button_that_was_made_in_another_workspace_does_nothing_there(houses: Houses, now: datetime) -> None:
    before = await houses.belongings()
    asked = await houses.other.ask("topic delete hushed")

    for button in asked.buttons:
        await answer(houses.new.context, read(button.command), houses.new.actor, now + timedelta(minutes=1))

    assert await houses.belongings() == before
