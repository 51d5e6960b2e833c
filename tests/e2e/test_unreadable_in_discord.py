"""One event that discord.py cannot read costs that event alone: the same client hears everything else, everywhere."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest
from discord.gateway import DiscordWebSocket
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.connection import isolation
from adapters.health.metrics import exposition
from tests.conftest import tries
from tests.e2e.discord_desk import DiscordDesk, sitting
from tests.e2e.test_discord_connection import until
from tests.fakes.discord import Channel, Permission, User
from tests.fakes.discord.asked import Asked, Doing
from tests.fakes.discord.malformed import events
from tests.fakes.malformed import malformed, put, without

SAID = "in a form that I could not read"


class Two:
    """A service in two servers: what happens in the first must cost the second nothing."""

    def __init__(self, desk: DiscordDesk) -> None:
        self.desk = desk
        fake = desk.fake
        guild = fake.guild("Elsewhere")
        self.channel = fake.channel(guild, "news")
        self.eve = fake.join(guild, fake.user("Eve"), Permission.MANAGE_CHANNELS)

    @property
    def begun(self) -> tuple[int, int]:
        """How often a client was connected anew, or resumed."""
        gateway = self.desk.fake.gateway
        return len(gateway.identifies), gateway.resumes

    @property
    def unreadable(self) -> int:
        return self.desk.app.unreadable["discord"]

    async def is_answered(self) -> None:
        """Ask in both servers, and be answered by the client that was there from the beginning."""
        await answered(self.desk, self.eve, self.channel)
        await answered(self.desk, self.desk.ben, self.desk.papers)
        assert self.begun == (1, 0)


async def answered(desk: DiscordDesk, user: User, channel: Channel) -> Asked:
    asked = await desk.fake.slash("digest topic list", user=user, channel=channel)
    assert asked.messages
    assert SAID not in asked.text
    return asked


@asynccontextmanager
async def two(folder: Path, **given: Any) -> AsyncIterator[Two]:
    async with sitting(folder, **given) as desk:
        yield Two(desk)


@settings(max_examples=tries(24))
@given(data=st.data())
def test_after_any_malformed_event_commands_are_answered_by_the_same_client(data: st.DataObject) -> None:
    async def law(folder: Path) -> None:
        async with two(folder, reactions=True, link_previews=True) as both:
            desk = both.desk
            every = events(desk.fake, desk.guild, desk.papers, desk.ben)
            for _ in range(8):
                name = data.draw(st.sampled_from(sorted(every)))
                desk.fake.gateway.send_event(name, data.draw(malformed(every[name])))
                await both.is_answered()
            assert desk.platform.trouble(desk.now) == ""

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(law(Path(folder)))


@pytest.mark.parametrize("name", ["READY", "RESUMED", "GUILD_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "MESSAGE_CREATE"])
async def test_an_event_without_anything_in_it_is_named_in_the_log_and_counted(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with two(tmp_path, link_previews=True) as both:
        both.desk.fake.gateway.send_event(name, None)
        await both.is_answered()
        assert f"discord: {name} (" in caplog.text
        assert "TypeError" in caplog.text or "AttributeError" in caplog.text
        assert both.unreadable == 1
        metrics = exposition(await both.desk.service.health.measure()).decode()
        assert 'broadsheet_unreadable_events_total{platform="discord"} 1.0' in metrics


async def test_a_server_that_cannot_be_read_is_left_out_at_every_connection_and_its_people_are_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with two(tmp_path) as both:
        fake, papers = both.desk.fake, both.desk.guild
        secret = both.desk.fake.channel(papers, "secret")

        def without_names(guild: dict[str, Any]) -> dict[str, Any]:
            mine = int(guild["id"]) == papers.id
            return guild | {"channels": [{"id": "5", "type": 0}], "roles": [{}]} if mine else guild

        fake.gateway.garble["GUILD_CREATE"] = without_names
        fake.gateway.forget()
        fake.gateway.drop()
        await until(lambda: both.begun == (2, 0))
        await fake.gateway.heard()
        await until(lambda: both.unreadable == 1)
        assert "discord: GUILD_CREATE (" in caplog.text
        assert "KeyError 'id'" in caplog.text
        for asked in (
            await fake.slash("digest list", user=both.desk.ben, channel=both.desk.papers, all=True),
            await fake.slash("digest list", user=both.desk.anna, channel=secret, all=True),
            await answered(both.desk, both.eve, both.channel),
        ):
            assert asked.messages
            assert "Something went wrong" not in asked.text
        assert both.begun == (2, 0)


@pytest.mark.parametrize("lacks", ["session_id", "user", "guilds", "shard", "resume_gateway_url"])
async def test_a_session_whose_beginning_cannot_be_read_is_heard_all_the_same(lacks: str, tmp_path: Path) -> None:
    async with two(tmp_path) as both:
        gateway = both.desk.fake.gateway
        gateway.garble["READY"] = lambda said: put(said, ("guilds", 0), {}) if lacks == "guilds" else without(said, (lacks,))
        gateway.forget()
        gateway.drop()
        await until(lambda: both.begun == (2, 0))
        await until(lambda: both.unreadable == 1)
        await answered(both.desk, both.eve, both.channel)
        await answered(both.desk, both.desk.ben, both.desk.papers)
        assert both.begun == (2, 0)
        gateway.drop()  # what is to be resumed and cannot be is begun anew
        del gateway.garble["READY"]
        await until(lambda: sum(both.begun) >= 3)
        await gateway.heard()
        await answered(both.desk, both.eve, both.channel)


@pytest.mark.parametrize("lacks", ["version", "attachment_size_limit", "application_id", "type", "channel", "member"])
async def test_who_asks_in_a_form_that_cannot_be_read_is_told_so(
    lacks: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def garbled(said: dict[str, Any]) -> Any:
        return put(said, (lacks,), []) if lacks in ("channel", "member") else without(said, (lacks,))

    async with two(tmp_path) as both:
        fake = both.desk.fake
        fake.gateway.garble["INTERACTION_CREATE"] = garbled
        asked = await fake.slash("digest topic list", user=both.desk.ben, channel=both.desk.papers)
        assert SAID in asked.text
        assert "discord: INTERACTION_CREATE (" in caplog.text
        assert asked.token not in caplog.text
        del fake.gateway.garble["INTERACTION_CREATE"]
        await both.is_answered()


async def test_who_asks_without_being_named_is_told_so(tmp_path: Path) -> None:
    async with two(tmp_path) as both:
        fake = both.desk.fake
        fake.gateway.garble["INTERACTION_CREATE"] = lambda said: without(said, ("member",))
        asked = await fake.slash("digest topic list", user=both.desk.ben, channel=both.desk.papers)
        assert SAID in asked.text


async def test_what_is_being_typed_in_a_form_that_cannot_be_read_is_offered_nothing(tmp_path: Path) -> None:
    async with two(tmp_path) as both:
        fake = both.desk.fake
        fake.gateway.garble["INTERACTION_CREATE"] = lambda said: {**said, "version": None, "channel": 1}
        found = await fake.autocomplete("digest topic show", "topic", "gpu", user=both.desk.ben, channel=both.desk.papers)
        assert found == []
        assert any(each.doing is Doing.AUTOCOMPLETE and each.first for each in fake.asked.values())


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "null",
        "{",
        "7",
        '{"op": 99, "d": {}}',
        '{"op": null}',
        '{"op": 0, "t": ["READY"], "d": {}}',
        '{"op": 0, "t": null, "d": null}',
        '{"op": 0}',
        "[" * 10_000,
    ],
)
async def test_what_is_no_event_at_all_is_left_out(raw: str, tmp_path: Path) -> None:
    async with two(tmp_path) as both:
        both.desk.fake.gateway.send_raw(raw)
        await both.is_answered()


@pytest.mark.parametrize("greeting", [None, {}, {"heartbeat_interval": "x"}])
async def test_a_greeting_that_cannot_be_read_is_asked_for_again(greeting: Any, tmp_path: Path) -> None:
    async with two(tmp_path) as both:
        gateway = both.desk.fake.gateway
        for each in gateway.lines:
            each.send({"op": 10, "d": greeting})
        await until(lambda: both.begun == (2, 0))
        await gateway.heard()
        await answered(both.desk, both.eve, both.channel)


async def test_a_discord_py_that_reads_events_elsewhere_is_used_as_it_is_and_that_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usual: Any = DiscordWebSocket.received_message
    usual = getattr(usual, "__wrapped__", usual)

    class Renamed:
        """Stands where another version has another name."""

        def __get__(self, socket: Any, owner: Any) -> Any:
            raise AttributeError("received_message")

    async def poll_event(self: DiscordWebSocket) -> None:
        message = await self.socket.receive()
        if not isinstance(message.data, str | bytes):
            raise discord.ConnectionClosed(self.socket, shard_id=self.shard_id)
        await usual(self, message.data)

    monkeypatch.setattr(DiscordWebSocket, "poll_event", poll_event)
    monkeypatch.setattr(DiscordWebSocket, "received_message", Renamed())
    monkeypatch.setattr(isolation, "_said", set())
    async with two(tmp_path) as both:
        await both.is_answered()
        both.desk.fake.gateway.send_event("GUILD_CREATE", None)
        await until(lambda: both.begun == (2, 0))
        await both.desk.fake.gateway.heard()
        await answered(both.desk, both.eve, both.channel)
    assert caplog.text.count("This discord.py reads events in another way") == 1
