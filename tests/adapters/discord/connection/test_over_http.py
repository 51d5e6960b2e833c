"""What is known of a server without a gateway, and for how long."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import aiohttp
import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.connection import over_http
from adapters.discord.connection.over_http import Servers


class Discord:
    """What is asked of Discord: how often, and whether it answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_away = False
        self.holds_up: asyncio.Event | None = None

    async def get_guild(self, number: str, *, with_counts: bool) -> Mapping[str, Any]:
        self.asked.append(number)
        if self.holds_up is not None:
            await self.holds_up.wait()
        if self.is_away:
            raise aiohttp.ClientConnectionError
        return {"id": number}

    async def get_all_guild_channels(self, number: str) -> list[Any]:
        return [{"id": "1"}]

    async def get_active_threads(self, number: str) -> Mapping[str, Any]:
        return {"threads": [], "members": []}

    async def get_member(self, number: str, person: str) -> Mapping[str, Any]:
        return {"user": {"id": person}}


class Stage:
    """What is known, by a clock that is set."""

    def __init__(self) -> None:
        self.discord, self.now = Discord(), 1000.0
        self.known: dict[str, Any] = {}
        client = cast("RestClient", self.discord)
        self.servers = Servers(client, self.remember, self.known.pop, clock=lambda: self.now)

    def remember(self, told: Any) -> None:
        self.known[told["id"]] = told


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_server_is_asked_for_once_a_minute(stage: Stage) -> None:
    for _ in range(3):
        await stage.servers.look("7", "99")
    assert stage.discord.asked == ["7"]
    assert stage.known["7"] == {"id": "7", "channels": [{"id": "1"}], "threads": [], "members": [{"user": {"id": "99"}}]}
    stage.now += 61
    await stage.servers.look("7", "99")
    assert stage.discord.asked == ["7", "7"]


async def test_what_discord_does_not_say_anew_stands_for_ten_minutes(stage: Stage) -> None:
    await stage.servers.look("7", "99")
    stage.discord.is_away = True
    stage.now += 500
    await stage.servers.look("7", "99")
    await stage.servers.look("7", "99")
    assert (list(stage.known), stage.discord.asked) == (["7"], ["7", "7"])
    stage.now += 101
    await stage.servers.look("7", "99")
    assert stage.known == {}
    stage.discord.is_away = False
    stage.now += 61
    await stage.servers.look("7", "99")
    assert list(stage.known) == ["7"]


async def test_many_who_wait_for_one_server_ask_once(stage: Stage) -> None:
    stage.discord.holds_up = asyncio.Event()
    waiting = [asyncio.create_task(stage.servers.look("7", "99")) for _ in range(5)]
    await asyncio.sleep(0)
    stage.discord.holds_up.set()
    await asyncio.gather(*waiting)
    assert stage.discord.asked == ["7"]


async def test_the_latest_servers_alone_are_known(stage: Stage) -> None:
    for number in range(over_http.MOST + 1):
        await stage.servers.look(str(number), "99")
    assert len(stage.known) == over_http.MOST
    assert "0" not in stage.known
