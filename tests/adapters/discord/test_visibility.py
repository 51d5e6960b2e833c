"""Who sees which channel of a server, as Discord says: for who asks from a browser."""

from collections.abc import AsyncIterator

import discord.http
import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from bot.errors import DeliveryError
from bot.ports.messenger import Visibility
from tests.fakes.discord import FakeDiscord, Guild, Kind, Permission, running
from tests.stores.memory import MemoryStore

NOTHING, VIEW = Permission(0), Permission.VIEW_CHANNEL


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


async def test_a_private_thread_and_what_is_gone_is_seen_by_nobody(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, papers = f"discord:{guild.id}", fake.channel(guild, "papers")
    thread = fake.thread(papers, "private")
    thread.kind = Kind.PRIVATE_THREAD
    assert await messenger.visible_to(workspace, str(guild.owner.id), [str(thread.id), "1234567"]) == set()


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
