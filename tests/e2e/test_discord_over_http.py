"""Discord without a gateway: what people do comes over HTTP, to any of several processes."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from adapters.discord.check import check
from adapters.discord.connection.http_server import LARGEST
from adapters.discord.connection.platform import DiscordPlatform, opened
from adapters.discord.install.invite import INTERACTIONS_PATH
from bot.app import App, built
from bot.errors import SettingsError
from bot.service.platforms import Cluster
from bot.settings.chat import DiscordSettings
from bot.settings.sections import Role
from bot.store.single_process import SoleBudgets, SoleLeases, SoleProcesses
from tests.conftest import NOW
from tests.e2e.discord_desk import settings_for, usual_addresses
from tests.e2e.stage import ITEMS
from tests.e2e.test_discord_connection import until
from tests.e2e.watches import kept
from tests.fakes.discord import Channel, FakeDiscord, Fault, Guild, Kind, Permission, User, running

SUBSCRIBE = "digest-manage subscribe"
PUBLIC = "https://digest.example.org"


@dataclass(slots=True)
class Fronts:
    """Processes that are sent what people do, and a server: a channel, Anna who may manage it, and Ben who may not."""

    fake: FakeDiscord
    app: App
    platforms: list[DiscordPlatform]
    guild: Guild
    papers: Channel
    anna: User
    ben: User

    def url(self, number: int) -> str:
        """Where the process of that number answers."""
        address = self.platforms[number].address
        assert address is not None
        return f"http://{address[0]}:{address[1]}{INTERACTIONS_PATH}"

    def to(self, number: int) -> None:
        """Send what comes next to the process of that number, as a balancer may."""
        self.fake.interactions_endpoint_url = self.url(number)

    @property
    def faults(self) -> Any:
        return self.fake.wrong, self.fake.mentions, self.fake.gateway.identifies


@asynccontextmanager
async def fronts(folder: Path, many: int = 1, roles: tuple[Role, ...] = ("front", "deliver"), **given: Any) -> Any:
    async with running() as fake, AsyncExitStack() as stack:
        fake.clock = lambda: NOW
        guild = fake.guild("Lab")
        papers = fake.channel(guild, "papers")
        anna = fake.join(guild, fake.user("Anna"), Permission.MANAGE_CHANNELS)
        ben = fake.join(guild, fake.user("Ben"))
        over_http: dict[str, Any] = {"interactions": "http", "public_key": fake.public_key, "public_url": PUBLIC, "port": 0}
        settings = settings_for(fake, folder, **(over_http | given))
        stack.enter_context(usual_addresses())
        app = await stack.enter_async_context(built(settings, exclusive=True))
        await app.store.items.add(ITEMS, NOW)
        leases, platforms = SoleLeases(), []
        for number in range(many):
            cluster = Cluster(f"p{number}", leases, SoleBudgets(), SoleProcesses(leases)) if many > 1 else None
            context = replace(app.platform_context(lambda: NOW), cluster=cluster, roles=roles)
            platforms.append(await stack.enter_async_context(opened(settings.discord, context)))
            await stack.enter_async_context(kept(platforms[-1].watches))
        there = Fronts(fake, app, platforms, guild, papers, anna, ben)
        if platforms[0].address:
            await until(lambda: not any(each.trouble(NOW) for each in platforms))
            await fake.set_interactions_endpoint(there.url(0))
        yield there


async def test_what_people_do_is_answered_without_a_gateway(tmp_path: Path) -> None:
    async with fronts(tmp_path) as there:
        fake = there.fake
        asked = await fake.slash("digest search", query="kv cache", user=there.ben, channel=there.papers)
        assert "KV cache" in asked.text
        assert await fake.autocomplete("digest topic show", "topic", "gpu", user=there.ben, channel=there.papers)
        form = await fake.slash(SUBSCRIBE, user=there.anna, channel=there.papers)
        done = await fake.submit(form, {"topic": "gpu-systems", "when": "weekdays at 09:00 in UTC"})
        assert done.text
        await fake.posted(there.papers)
        listed = await fake.slash("digest list", user=there.ben, channel=there.papers)
        assert "GPU systems" in listed.text
        assert there.faults == ([], [], [])


async def test_channels_are_known_as_the_gateway_would_tell_of_them(tmp_path: Path) -> None:
    async with fronts(tmp_path) as there:
        fake, workspace = there.fake, f"discord:{there.guild.id}"
        board = fake.channel(there.guild, "board")
        board.overwrites[there.ben.id] = (Permission(0), Permission.VIEW_CHANNEL)
        forum = fake.channel(there.guild, "digests", Kind.FORUM, tags=("GPU", "Agents"))
        for channel, words in ((board, "merger"), (there.papers, "-survey")):
            await fake.slash(SUBSCRIBE, topic="gpu-systems", filter=words, user=there.anna, channel=channel)
        for person, shown in ((there.anna, True), (there.ben, False)):
            told = await fake.slash("digest list", options={"all": True}, user=person, channel=there.papers)
            assert "survey" in told.text
            assert ("merger" in told.text) is shown, person.name
        tags = await fake.autocomplete(
            SUBSCRIBE, "tag", "ag", user=there.anna, channel=there.papers, options={"channel": forum}
        )
        assert [each["value"] for each in tags] == ["Agents"]
        said = await fake.slash(
            SUBSCRIBE, user=there.anna, channel=there.papers, options={"topic": "llm-agents", "channel": forum, "tag": "GPU"}
        )
        assert "will be posted in #digests" in said.text
        asked = [each.path for each in fake.calls if each.path.startswith("/guilds/")]
        assert len(asked) == len(set(asked)), "asked for once in a minute"
        assert len(await there.app.store.workspaces.subscriptions(workspace)) == 3
        assert there.faults == ([], [], [])


async def test_a_server_that_cannot_be_asked_for_keeps_nobody_from_an_answer(tmp_path: Path) -> None:
    async with fronts(tmp_path) as there:
        there.fake.befall("GET /guilds", fault=Fault.BROKEN, status=503, times=20)
        asked = await there.fake.slash("digest search", query="kv cache", user=there.ben, channel=there.papers)
        assert "KV cache" in asked.text


async def test_a_form_opened_by_one_process_is_sent_to_another(tmp_path: Path) -> None:
    async with fronts(tmp_path, many=2) as there:
        fake = there.fake
        form = await fake.slash("digest-manage topic create", user=there.anna, channel=there.papers)
        there.to(1)
        wrong = await fake.submit(form, {"name": "paging", "query": "stars:many"})
        (again,) = wrong.messages
        there.to(0)
        reopened = await fake.click(again, "Go on in the form", user=there.anna)
        there.to(1)
        await fake.submit(reopened, {"query": "paging"})
        await fake.posted(there.papers)
        there.to(0)
        shown = await fake.slash("digest topic show", topic="paging", user=there.anna, channel=there.papers)
        assert "paging" in shown.text
        assert there.faults == ([], [], [])


async def test_an_interaction_that_comes_to_two_processes_is_done_once(tmp_path: Path) -> None:
    async with fronts(tmp_path, many=2) as there:
        fake = there.fake
        asked = await fake.slash("digest search", query="kv cache", user=there.ben, channel=there.papers)
        before = len(fake.calls)
        assert [await fake.resend(asked, there.url(number)) for number in (0, 1)] == [202, 202]
        later = await fake.slash("digest topic list", user=there.ben, channel=there.papers)
        assert later.text
        assert sum(str(asked.id) in each.part.values() for each in fake.calls[before:]) == 0


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_what_discord_did_not_sign_lately_is_refused(tmp_path: Path, session: aiohttp.ClientSession) -> None:
    async with fronts(tmp_path) as there:
        fake, url = there.fake, there.url(0)
        assert (await fake.send_signed({"type": 1}, forged=True))[0] == 401
        fake.clock = lambda: NOW - timedelta(minutes=6)
        assert (await fake.send_signed({"type": 1}))[0] == 401
        fake.clock = lambda: NOW + timedelta(minutes=6)
        assert (await fake.send_signed({"type": 1}))[0] == 401
        fake.clock = lambda: NOW
        odd: list[dict[str, str]] = [
            {},
            {"X-Signature-Timestamp": "soon", "X-Signature-Ed25519": "00" * 64},
            {"X-Signature-Timestamp": str(int(NOW.timestamp())), "X-Signature-Ed25519": "no"},
            {"X-Signature-Timestamp": str(int(NOW.timestamp())), "X-Signature-Ed25519": "é" * 128},
        ]
        for headers in odd:
            async with session.post(url, data=b"{}", headers=headers) as response:
                assert response.status == 401
        async with session.post(url, data=io.BytesIO(b"x" * (LARGEST + 1)), headers=odd[1]) as response:
            assert response.status == 413
        async with session.get(url) as response:
            assert response.status == 405


async def test_what_is_signed_and_cannot_be_read_is_survived(tmp_path: Path) -> None:
    async with fronts(tmp_path) as there:
        fake = there.fake
        asked = await fake.slash("digest topic list", user=there.ben, channel=there.papers)
        assert (await fake.send_signed({"type": 2, "id": "5", "token": 7}))[0] == 202
        assert (await fake.send_signed({"type": 2, "guild_id": {}, "authorizing_integration_owners": []}))[0] == 202
        body: Any = json.loads("[1]")
        assert (await fake.send_signed(body))[0] == 400
        assert (await fake.slash("digest topic list", user=there.ben, channel=there.papers)).text == asked.text


async def test_what_a_process_does_is_by_its_roles(tmp_path: Path) -> None:
    async with fronts(tmp_path, roles=("deliver",)) as there:
        (platform,) = there.platforms
        assert (platform.watches, platform.address, platform.trouble(NOW)) == ((), None, "")
        for roles, many in ((("gateway",), 1), (("front",), 0)):
            settings = there.app.settings.discord.model_copy(update={"interactions": "gateway"})
            context = replace(there.app.platform_context(lambda: NOW), roles=roles)
            async with opened(settings, context) as other:
                assert len(other.watches) == many


async def test_nobody_is_heard_before_discord_said_who_we_are(tmp_path: Path) -> None:
    async with fronts(tmp_path) as there:
        fake = there.fake
        good, fake.token = fake.token, "MTIz.another.token"
        context = there.app.platform_context(lambda: NOW)
        async with opened(there.app.settings.discord, context) as platform, kept(platform.watches):
            assert platform.address is not None
            url = f"http://{platform.address[0]}:{platform.address[1]}{INTERACTIONS_PATH}"
            await until(lambda: "the token was not taken" in platform.trouble(NOW))
            assert (await fake.send_signed({"type": 1}, url=url))[0] == 200
            assert (await fake.send_signed({"type": 2}, url=url))[0] == 503
            fake.token = good
            await until(lambda: platform.trouble(NOW) == "")


async def test_doctor_says_what_to_enter_and_what_is_not_heard(tmp_path: Path) -> None:
    async with fronts(tmp_path, reactions=True) as there:
        settings = there.app.settings.discord

        async def told() -> dict[str, tuple[bool, str]]:
            return {each.name: (each.well, each.text) for each in await check(settings, NOW)}

        wanted = f"{PUBLIC}{INTERACTIONS_PATH}"
        well, text = (await told())["Discord interactions"]
        assert not well
        assert wanted in text
        there.fake.interactions_endpoint_url = wanted
        found = await told()
        assert found["Discord interactions"][0]
        assert not found["Discord events"][0]
        assert "`reactions`" in found["Discord events"][1]
        settings = settings.model_copy(update={"public_key": "ab" * 32})
        assert "public_key" in (await told())["Discord interactions"][1]
        settings = settings.model_copy(update={"interactions": "gateway"})
        well, text = (await told())["Discord interactions"]
        assert not well
        assert "Interactions Endpoint URL" in text


@pytest.mark.parametrize(
    ("given", "named"), [({"public_key": ""}, "`public_key`"), ({"public_url": "http://digest.example.org"}, "`public_url`")]
)
async def test_settings_with_which_nothing_could_be_heard_are_refused(
    given: dict[str, str], named: str, tmp_path: Path
) -> None:
    async with running() as fake, built(settings_for(fake, tmp_path), exclusive=True) as app:
        section: dict[str, Any] = {"interactions": "http", "public_key": "ab" * 32, "public_url": PUBLIC} | given
        settings = DiscordSettings(token=SecretStr("MTIz.x.y"), **section)
        with pytest.raises(SettingsError, match=named):
            async with opened(settings, app.platform_context(lambda: NOW)):
                await asyncio.sleep(0)
