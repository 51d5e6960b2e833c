"""Answers reach the one who asked, whatever Slack takes; and who asks is known."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from adapters.slack.client.api import Clients, new_session
from adapters.slack.listeners.answers import AnswerTarget, SlackAnswers
from adapters.slack.listeners.context import Actors, profile_of
from bot.models import Attachment, Button, Reply, text_key
from bot.settings.chat import SlackSettings
from tests.conftest import NOW
from tests.fakes import slack
from tests.fakes.slack import Failure
from tests.fakes.slack.state import Channel
from tests.stores.memory import MemoryStore

WORKSPACE = "slack:T0BROAD"
REPLY = Reply(title="Found", text=("Two papers.",), buttons=(Button("Next", "search gpu"),))


@dataclass(slots=True)
class Room:
    """What answers, the Slack that it answers in, and a clock."""

    fake: slack.FakeSlack
    clients: Clients
    store: MemoryStore
    now: datetime = NOW

    @property
    def answers(self) -> SlackAnswers:
        return SlackAnswers(self.clients, self.store.chats, lambda: self.now)

    def address(self, channel: Channel, *, url: bool = True) -> AnswerTarget:
        """Where ben is answered after a command in that channel."""
        way = self.fake.answers.way("commands", self.fake.ben.id, channel)[0] if url else ""
        return AnswerTarget(workspace=WORKSPACE, channel=channel.id, person=self.fake.ben.id, url=way)

    @property
    def told(self) -> list[tuple[str, str]]:
        """What ben was told, and where."""
        return [(each.text.split("\n")[0], each.channel) for each in self.fake.seen_by(self.fake.ben)]


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with slack.running(tiers=False) as fake, new_session() as session:
        settings = SlackSettings(bot_token=fake.bot_token, app_token=fake.app_token, api_url=fake.api_url)  # type: ignore[arg-type]
        yield Room(fake, Clients(settings, session, lambda: NOW), MemoryStore())


async def test_what_takes_long_is_announced_and_then_told(room: Room) -> None:
    found = asyncio.Event()

    async def asking() -> Reply:
        await found.wait()
        return REPLY

    answering = asyncio.create_task(room.answers.answer(room.address(room.fake.random), asking()))
    (looking,) = await room.fake.until(lambda: room.fake.seen_by(room.fake.ben))
    assert looking.text == "Looking…"
    found.set()
    assert await answering == REPLY
    assert room.told[-1] == ("Found", "C0RANDOM")
    assert room.fake.requests == []


async def test_beyond_five_messages_or_thirty_minutes_the_web_api_answers(room: Room) -> None:
    address = room.address(room.fake.general)
    for _ in range(5):
        await room.answers.send_reply(address, REPLY)
    await room.answers.send_reply(address, REPLY)
    assert [error for error, _ in room.fake.answers.refused] == ["used_url"]
    assert room.told == [("Found", "C0GENERAL")] * 6
    assert [each.method for each in room.fake.requests] == ["chat.postEphemeral"]


async def test_where_the_app_is_not_in_the_channel_the_answer_comes_as_a_direct_message(room: Room) -> None:
    await room.answers.send_reply(room.address(room.fake.secret, url=False), REPLY)
    public = Reply(title="Subscribed", private=False)
    await room.answers.send_reply(room.address(room.fake.random, url=False), public)
    assert room.told == [("Found", "D0BEN"), ("Subscribed", "D0BEN")]


async def test_blocks_that_slack_does_not_take_are_told_as_text(room: Room) -> None:
    refused = {"type": "section", "block_id": "x", "text": {"type": "mrkdwn", "text": ""}}

    async def asking() -> Reply:
        return REPLY

    await room.answers.answer(room.address(room.fake.random), asking(), [refused])
    assert room.told == [("Found", "C0RANDOM")]
    assert room.fake.seen_by(room.fake.ben)[0].blocks == []


async def test_a_long_file_comes_as_a_direct_message_and_its_place_says_so(room: Room) -> None:
    file = Attachment("saved.bib", "application/x-bibtex", "@article{a}\n" * 1000)
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="3 saved items as bibtex", attachment=file))
    (sent,) = room.fake.files
    assert sent["name"] == "saved.bib"
    assert room.told[1][1] == "D0BEN"
    assert room.told[0] == ("3 saved items as bibtex", "C0RANDOM")


async def test_what_a_button_has_no_room_for_is_kept(room: Room) -> None:
    long = "search " + " OR ".join(f"word{number}" for number in range(200))
    await room.answers.send_reply(room.address(room.fake.random), Reply(title="Nothing", buttons=(Button("Any", long),)))
    assert await room.store.chats.kept_text(WORKSPACE, text_key(long)) == long


async def test_an_answer_that_slack_takes_nowhere_is_logged_and_harms_nobody(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    room.fake.fail("chat.postEphemeral", Failure(error="internal_error"))
    room.fake.fail("conversations.open", Failure(error="internal_error"))
    await room.answers.send_reply(room.address(room.fake.general, url=False), REPLY)
    assert "could not be told: internal_error" in caplog.text
    assert room.fake.bot_token not in caplog.text


# --- who asks


async def test_slack_is_asked_about_a_person_once_in_ten_minutes(room: Room) -> None:
    actors = Actors(room.clients, lambda: room.now)
    asked = await asyncio.gather(*(actors.actor(WORKSPACE, "C1", "U0ANNA") for _ in range(3)))
    assert [(each.may_administer, each.zone) for each in asked] == [(True, "Europe/Zurich")] * 3
    room.fake.anna.is_admin = False
    room.now += timedelta(minutes=9)
    assert (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    room.now += timedelta(minutes=2)
    assert not (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    assert [each.method for each in room.fake.requests] == ["users.info"] * 2


async def test_a_person_of_whom_slack_says_nothing_administers_nothing_and_is_asked_about_again(room: Room) -> None:
    actors = Actors(room.clients, lambda: room.now)
    room.fake.fail("users.info", Failure(error="internal_error"))
    assert not (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer
    assert (await actors.actor(WORKSPACE, "C1", "U0ANNA")).may_administer


@pytest.mark.parametrize(
    ("user", "may"),
    [
        ({"is_owner": True}, True),
        ({"is_admin": True}, True),
        ({"is_primary_owner": True}, True),
        ({"is_admin": False}, False),
        ({"is_admin": True, "is_stranger": True}, False),
        ({}, False),
    ],
)
def test_owners_and_administrators_of_the_workspace_administer(user: dict[str, object], may: bool) -> None:
    assert profile_of(user).may_administer is may
