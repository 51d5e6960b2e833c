"""Who sees which channel of a server, as Discord says: for who asks from a browser."""

from collections.abc import AsyncIterator

import discord.http
import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from adapters.discord.workspaces import workspace_of
from bot.errors import DeliveryError
from bot.ports.messenger import Visibility
from tests.fakes.discord import FakeDiscord, Guild, Kind, Permission, running
from tests.stores.memory import MemoryStore

NOTHING, VIEW, HISTORY = Permission(0), Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with running() as made:
        monkeypatch.setattr(discord.http.Route, "BASE", made.api_url)
        yield made


@pytest.fixture
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Lab")


@pytest.fixture
async def messenger(fake: FakeDiscord) -> AsyncIterator[DiscordMessenger]:
    door = RestClient(fake.token)
    yield DiscordMessenger(door, MemoryStore().chats)
    await door.close()


async def test_a_member_sees_what_their_roles_and_the_channels_exceptions_let_them(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    assert isinstance(messenger, Visibility)
    workspace, ben = f"discord:{guild.id}", fake.join(guild, fake.user("Ben"))
    head = fake.join(guild, fake.user("Head"), Permission.ADMINISTRATOR)
    papers, hidden, shared = (fake.channel(guild, name) for name in ("papers", "hidden", "shared"))
    for each in (hidden, shared):
        each.overwrites[guild.id] = (NOTHING, VIEW)
    shared.overwrites[ben.id] = (VIEW, NOTHING)
    below, under = fake.thread(papers, "below"), fake.thread(hidden, "under")
    every = [str(each.id) for each in (papers, hidden, shared, below, under)]
    assert await messenger.visible_to(workspace, str(ben.id), every) == {str(each.id) for each in (papers, shared, below)}
    for person in (head, guild.owner):
        assert await messenger.visible_to(workspace, str(person.id), every) == set(every[:-1])  # we do not see the last
    assert await messenger.open_to_all(workspace, every) == {str(papers.id), str(below.id)}


async def test_who_may_not_read_a_channels_history_does_not_read_what_was_posted_there(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, papers, ben = f"discord:{guild.id}", fake.channel(guild, "papers"), fake.join(guild, fake.user("Ben"))
    board, below = fake.channel(guild, "board"), fake.thread(papers, "below")
    papers.overwrites[ben.id] = (NOTHING, HISTORY)
    every = [str(each.id) for each in (papers, board, below)]
    assert await messenger.visible_to(workspace, str(ben.id), every) == {str(board.id)}
    assert await messenger.open_to_all(workspace, every) == set(every)
    papers.overwrites[guild.id] = (NOTHING, HISTORY)
    assert await messenger.open_to_all(workspace, every) == {str(board.id)}


async def test_a_private_thread_is_read_by_who_is_in_it_or_manages_threads_and_is_never_open(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, papers, hidden = f"discord:{guild.id}", fake.channel(guild, "papers"), fake.channel(guild, "hidden")
    inside, outside = (fake.join(guild, fake.user(name)) for name in ("Inside", "Outside"))
    moderator = fake.join(guild, fake.user("Moderator"), Permission.MANAGE_THREADS)
    thread, under = fake.thread(papers, "private"), fake.thread(hidden, "under")
    hidden.overwrites[inside.id] = (NOTHING, VIEW)
    for each in (thread, under):
        each.kind = Kind.PRIVATE_THREAD
        each.people.add(inside.id)
    every = [str(thread.id), str(under.id), "1234567"]
    seen = {
        person.name: await messenger.visible_to(workspace, str(person.id), every) for person in (inside, outside, moderator)
    }
    assert seen == {"Inside": {str(thread.id)}, "Outside": set(), "Moderator": {str(thread.id), str(under.id)}}
    assert await messenger.open_to_all(workspace, every) == set()
    thread.owner = fake.user("Another")
    assert await messenger.visible_to(workspace, str(inside.id), every) == set(), "which we are not in"


async def test_who_is_in_no_server_of_the_workspace_sees_nothing(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, papers, other = f"discord:{guild.id}", fake.channel(guild, "papers"), fake.guild("Other")
    stranger, elsewhere = fake.user("Stranger"), fake.join(other, fake.user("Elsewhere"))
    for person in (stranger, elsewhere):
        assert not await messenger.visible_to(workspace, str(person.id), [str(papers.id)])
    assert not await messenger.visible_to(f"discord:{other.id}", str(elsewhere.id), [str(papers.id)])


async def test_a_conversation_is_its_persons_own_and_never_open(messenger: DiscordMessenger) -> None:
    assert list(await messenger.visible_to("discord:@17", "17", ["99"])) == ["99"]
    assert not await messenger.visible_to("discord:@17", "18", ["99"])
    assert not await messenger.open_to_all("discord:@17", ["99"])


async def test_where_discord_does_not_say_nobody_is_taken_to_know_of_anything(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = str(fake.channel(guild, "papers").id)
    for asked in ("GET /guilds", "GET /channels"):
        fake.befall(asked, code=40001)
        with pytest.raises(DeliveryError):
            await messenger.visible_to(f"discord:{guild.id}", str(guild.owner.id), [papers, "1234567"])
    fake.kick(guild)
    with pytest.raises(DeliveryError):
        await messenger.open_to_all(f"discord:{guild.id}", [papers])


async def test_who_is_a_member_is_told_and_a_conversation_has_its_person_alone(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, ben, other = f"discord:{guild.id}", fake.join(guild, fake.user("Ben")), fake.user("Other")
    assert await messenger.is_member(workspace, str(ben.id))
    assert await messenger.is_member(workspace, str(guild.owner.id))
    assert not await messenger.is_member(workspace, str(other.id))
    assert not await messenger.is_member(workspace, "1234567")
    assert await messenger.is_member(workspace_of(None, str(ben.id)), str(ben.id))
    assert not await messenger.is_member(workspace_of(None, str(ben.id)), str(other.id))
    with pytest.raises(DeliveryError):
        await messenger.is_member("discord:1234567", str(ben.id))
