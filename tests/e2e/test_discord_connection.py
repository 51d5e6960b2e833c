"""Being in Discord: what falls is begun anew, what is over is said, and what cannot work is refused at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import discord
import pytest
from discord.gateway import KeepAliveHandler
from pydantic import SecretStr

from adapters.discord.check import check
from adapters.discord.connection.gateway import GatewayTimeouts
from adapters.discord.connection.platform import opened
from bot.errors import NetworkFault, SettingsError
from bot.settings.chat import DiscordSettings
from tests.conftest import NOW
from tests.e2e.discord_desk import DiscordDesk, restarted, sitting
from tests.fakes.discord import FakeDiscord, Fault, Kind, Permission
from tests.fakes.patience import PATIENCE


async def until(holds: Callable[[], bool | Awaitable[bool]], seconds: float = PATIENCE) -> None:
    """Wait for something that comes about by itself; raises TimeoutError."""
    end = asyncio.get_running_loop().time() + seconds
    while not (held if isinstance(held := holds(), bool) else await held):
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)


def asked(fake: FakeDiscord, path: str, method: str = "") -> int:
    return sum(path in call.path and call.method.startswith(method) for call in fake.calls)


async def answers(desk: DiscordDesk) -> bool:
    return bool((await desk.fake.slash("digest topic list", user=desk.ben, channel=desk.papers)).text)


async def test_the_commands_are_told_once_and_again_only_when_they_change(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, before = desk.fake, asked(desk.fake, "/commands", "PUT")
        assert before == 1
        fake.gateway.end_clients()
        await until(lambda: len(fake.gateway.identifies) >= 2)
        await fake.gateway.heard()
        assert await answers(desk)
        assert asked(fake, "/commands", "PUT") == before
        await desk.app.store.facts.set(f"discord commands of {fake.application}", "as they were once")
        fake.gateway.end_clients()
        await until(lambda: asked(fake, "/commands", "PUT") == 2)


async def test_a_gateway_that_cannot_be_resumed_is_identified_to_anew(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        desk.fake.gateway.forget()
        desk.fake.gateway.drop()
        await until(lambda: len(desk.fake.gateway.identifies) >= 2)
        await desk.fake.gateway.heard()
        assert await answers(desk)


async def test_digests_are_posted_while_nobody_is_heard_and_it_is_said(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.slash(
            "digest-manage subscribe",
            user=desk.anna,
            channel=desk.papers,
            topic="gpu-systems",
            days="daily",
            at="09:00",
            zone="UTC",
        )
        await fake.posted(desk.papers)
        await until(lambda: desk.platform.trouble(NOW) == "")
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        await desk.round()
        fake.gateway.is_down = True
        fake.gateway.drop()
        await desk.app.store.items.add(desk.fresh(), desk.now)
        await desk.round(desk.due(held))
        assert any("GPU systems" in each.text for each in fake.of_bot(desk.papers)[1:])
        fake.gateway.is_down = False
        await fake.gateway.heard()
        assert await answers(desk)


async def test_a_gateway_that_is_down_at_the_first_connection_is_tried_again(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        fake.gateway.is_down = True
        fake.gateway.end_clients()  # the next client meets it as its first
        await fake.gateway.heard(no_more=True)
        await until(lambda: "not heard" in desk.platform.trouble(NOW))
        fake.gateway.is_down = False
        await fake.gateway.heard(60)
        await until(lambda: desk.platform.trouble(NOW) == "")
        assert await answers(desk)


async def test_every_shard_is_waited_for_before_all_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, asked_to = asyncio.Event(), []

    async def wait(self: discord.Client, shard: int | None, *, initial: bool = False) -> None:
        asked_to.append(shard)
        if shard:
            await begin.wait()  # instead of five seconds

    monkeypatch.setattr(discord.AutoShardedClient, "before_identify_hook", wait)
    async with sitting(tmp_path, shards=2) as desk:
        await until(lambda: 1 in asked_to)
        await asyncio.sleep(0.2)  # several looks
        assert "not heard" in desk.platform.trouble(NOW), "one of two is connected"
        begin.set()
        await until(lambda: desk.platform.trouble(NOW) == "")
        assert await answers(desk)


async def test_with_hardly_any_connections_left_none_is_made(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        fake.identifies_left = 3
        before = len(fake.gateway.identifies)
        fake.gateway.end_clients()
        await until(lambda: "hardly any new connections" in desk.platform.trouble(NOW))
        assert len(fake.gateway.identifies) == before


@pytest.mark.parametrize("gone", ["channel", "server"])
async def test_what_is_gone_is_paused_and_its_owner_told_once(tmp_path: Path, gone: str) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, topic="gpu-systems", days="daily")
        if gone == "channel":
            fake.delete_channel(desk.papers)
        else:
            fake.kick(desk.guild)

        async def paused() -> bool:
            (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
            return held.paused

        await until(paused)
        if gone == "channel":
            await desk.round()
            await desk.round()
            await until(lambda: any(each.kind is Kind.PRIVATE and each.messages for each in fake.channels.values()))
            (conversation,) = [each for each in fake.channels.values() if each.kind is Kind.PRIVATE]
            assert len(conversation.messages) == 1


@pytest.mark.parametrize("gone", ["permission", "server"])
async def test_what_was_paused_goes_on_when_discord_lets_us_in_again(tmp_path: Path, gone: str) -> None:
    async with sitting(tmp_path) as desk:
        fake, jobs = desk.fake, {each.name: each for each in desk.service.jobs}
        await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, topic="gpu-systems", days="daily")
        if gone == "permission":
            fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
            closed = desk.app.platform_context(lambda: desk.now).channel_closed
            await closed(desk.workspace, str(desk.papers.id), "I may not post there.")
        else:
            fake.kick(desk.guild)

        async def paused() -> bool:
            await jobs["resume"].run()
            (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
            return held.paused

        async def goes_on() -> bool:
            return not await paused()

        await until(paused)
        if gone == "permission":
            fake.let(desk.papers, Permission.SEND_MESSAGES)
        else:
            fake.invite(desk.guild)
        await until(goes_on)
        changes = await desk.app.store.workspaces.changes(desk.workspace)
        assert [each.after.partition(":")[0] for each in changes if each.person == "broadsheet"] == [
            "posted as scheduled",
            "paused",
        ]


async def test_a_server_that_is_not_there_for_a_while_pauses_nothing(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, topic="gpu-systems", days="daily")
        asked = len(fake.calls)
        fake.outage(desk.guild)
        fake.befall("GET /guilds", fault=Fault.BROKEN, status=503)
        fake.dispatch("GUILD_DELETE", {"id": str(desk.guild.id)}, guild=desk.guild)  # nobody can tell whether that is so
        await until(lambda: any(each.path.startswith("/guilds") for each in fake.calls[asked:]))
        fake.outage(desk.guild, over=True)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert not held.paused


async def test_a_reaction_counts_while_it_stands(tmp_path: Path) -> None:
    async with sitting(tmp_path, reactions=True) as desk:
        fake = desk.fake
        await fake.slash(
            "digest-manage subscribe",
            user=desk.anna,
            channel=desk.papers,
            topic="gpu-systems",
            days="daily",
            at="09:00",
            entries=1,
            zone="UTC",
        )
        await fake.posted(desk.papers)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        await desk.round()
        await desk.app.store.items.add(desk.fresh(), desk.now)
        await desk.round(desk.due(held))
        message = fake.of_bot(desk.papers)[-1]

        async def said(count: int) -> None:
            async def counted() -> bool:
                return len(await desk.app.store.people.feedback(desk.workspace, "gpu-systems")) == count

            await until(counted)

        fake.react(message, "👍🏽", user=desk.ben)
        await said(1)
        fake.unreact(message, "👍🏽", user=desk.ben)
        await said(0)


async def test_a_reaction_in_a_direct_message_is_ones_own_and_counts_for_no_channel(tmp_path: Path) -> None:
    async with sitting(tmp_path, reactions=True) as desk:
        fake, workspace = desk.fake, f"discord:@{desk.ben.id}"
        direct = fake.private(desk.ben)
        await fake.slash("digest settings", name="activity", value="on", user=desk.ben, channel=direct)
        given = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "entries": 1, "zone": "UTC"}
        await fake.slash("digest-manage subscribe", user=desk.ben, channel=direct, options=given)
        (held,) = await desk.app.store.workspaces.subscriptions(workspace)
        await desk.round()
        await desk.app.store.items.add(desk.fresh(), desk.now)
        await desk.round(desk.due(held))
        fake.react(fake.of_bot(direct)[-1], "👍", user=desk.ben)
        people = desk.app.store.people

        async def counted() -> bool:
            return bool(await people.feedback(workspace, "gpu-systems"))

        await until(counted)
        (said,) = await people.feedback(workspace, "gpu-systems")
        assert said.channel == ""


async def test_a_link_that_somebody_posts_is_previewed_once(tmp_path: Path) -> None:
    async with sitting(tmp_path, link_previews=True) as desk:
        fake = desk.fake
        fake.write(desk.papers, desk.ben, "have you seen https://arxiv.org/abs/2603.00001 ?")
        (shown,) = await fake.posted(desk.papers)
        assert "Paging the KV cache" in shown.text
        fake.write(desk.papers, desk.anna, "again https://arxiv.org/abs/2603.00001v2 and https://arxiv.org/abs/2603.00002")
        await fake.posted(desk.papers, 2)
        assert len(fake.of_bot(desk.papers)) == 2, "each once in half an hour"
        asked = await fake.menu("Find similar papers", next(iter(desk.papers.messages.values())), user=desk.ben)
        assert asked.text
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_a_command_in_an_answer_can_be_clicked_also_after_a_restart(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        known = {each["name"]: each["id"] for each in desk.fake.commands[0].values()}

        async def hint() -> str:
            return str((await desk.fake.slash("digest list", user=desk.ben, channel=desk.papers)).text)

        wanted = f"</digest-manage subscribe:{known['digest-manage']}> `topic:"
        assert wanted in await hint()
        async with restarted(desk) as again:
            desk = again
            assert wanted in await hint()


async def test_who_may_not_manage_is_not_offered_what_manages(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        offered = [each["name"] for each in desk.fake.offered(desk.ben, desk.papers)]
        assert "digest" in offered
        assert "digest-manage" not in offered
        assert "digest-manage" in [each["name"] for each in desk.fake.offered(desk.anna, desk.papers)]
    (tmp_path / "other").mkdir()
    async with sitting(tmp_path / "other", manage="anyone") as desk:
        assert "digest-manage" in [each["name"] for each in desk.fake.offered(desk.ben, desk.papers)]


async def test_what_is_typed_is_completed(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        found = await fake.autocomplete("digest topic show", "topic", "gpu", user=desk.ben, channel=desk.papers)
        assert "gpu-systems" in [each["value"] for each in found]
        found = await fake.autocomplete("digest-manage subscribe", "zone", "zur", user=desk.anna, channel=desk.papers)
        assert "Europe/Zurich" in [each["value"] for each in found]


@pytest.mark.parametrize("token", ["Bot a.b.c", "abc", " a.b.c", "a.b"])
async def test_a_token_that_is_none_is_refused_at_once(token: str, tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        with pytest.raises(SettingsError, match=r"`token` in \[discord\]"):
            async with opened(DiscordSettings(token=SecretStr(token)), desk.app.platform_context(lambda: NOW)):
                pass


async def test_a_token_that_was_reset_is_named_as_what_to_mend(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        desk.fake.token = "MTIz.another.token"
        desk.fake.gateway.drop()
        await until(lambda: "the token was not taken" in desk.platform.trouble(NOW))


async def test_doctor_says_what_to_mend(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        settings = desk.app.settings.discord
        told = {name: (well, text) for name, well, text, _ in await check(settings, NOW)}
        assert told["Discord"][0]
        assert told["Discord server Lab"] == (True, "all is given")
        desk.guild.roles[desk.guild.id].permissions &= ~Permission.ATTACH_FILES
        told = {name: (well, text) for name, well, text, _ in await check(settings, NOW)}
        assert not told["Discord server Lab"][0]
        assert told["Discord server Lab"][1].startswith("Attach Files is missing")
        (found,) = await check(settings.model_copy(update={"token": SecretStr("x.y.z")}), NOW)
        assert found[:2] == ("Discord", False)
        assert "copy it anew" in found[2]


@pytest.mark.usefixtures("unknown_names")
async def test_doctor_tells_a_discord_that_cannot_be_reached_from_a_token_that_was_refused(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    async with sitting(tmp_path) as desk:
        settings = desk.app.settings.discord
        away = settings.model_copy(update={"api_url": f"http://127.0.0.1:{unused_tcp_port}/api/v10"})
        said = "it could not be reached: the connection failed; the token was not tried"
        assert await check(away, NOW) == [("Discord", False, said, NetworkFault.CONNECTION)]
        (unknown,) = await check(settings.model_copy(update={"api_url": "https://discord.invalid/api/v10"}), NOW)
        assert (unknown.fault, "its name could not be resolved" in unknown.text) == (NetworkFault.NAME, True)

        desk.fake.befall("GET /applications/@me", fault=Fault.BROKEN, status=503, commits=False)
        (unclear,) = await check(settings, NOW)
        assert unclear.text == "Discord did not say whether the token is good (status 503): try again in a few minutes"


async def test_no_token_reaches_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="adapters")
    async with sitting(tmp_path) as desk:
        desk.fake.gateway.end_clients()
        await until(lambda: len(desk.fake.gateway.identifies) >= 2)
        desk.fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
        await desk.fake.slash("digest search", query="gpu", user=desk.ben, channel=desk.papers)
        assert desk.fake.token not in caplog.text


IMPATIENT = GatewayTimeouts(silent=0.6, deaf=1.5, gap=0.2, look=0.05)


class RenamedShard:
    """What discord.py tells of a shard, with other private names."""

    def __init__(self, parent: Any, shard_count: int | None) -> None:
        self._renamed = parent
        self.id: int = parent.id
        self.shard_count = shard_count

    @property
    def latency(self) -> float:
        return float(self._renamed.ws.latency)

    def is_closed(self) -> bool:
        return not self._renamed.ws.open


async def test_a_client_whose_heartbeats_are_not_acknowledged_makes_room_for_another(tmp_path: Path) -> None:
    async with sitting(tmp_path, timeouts=IMPATIENT, interval=0.1) as desk:
        gateway = desk.fake.gateway
        await until(lambda: desk.platform.trouble(NOW) == "")
        gateway.is_deaf = True
        await until(lambda: "no heartbeat was acknowledged" in desk.platform.trouble(NOW))
        assert await answers(desk), "events are heard still"
        await until(lambda: len(gateway.identifies) >= 2)
        gateway.is_deaf = False
        await until(lambda: desk.platform.trouble(NOW) == "")
        assert await answers(desk)


async def test_a_healthy_client_is_kept_by_a_discord_py_in_which_every_private_name_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(name: str) -> property:
        def fail(self: object) -> None:
            raise AttributeError(name)

        return property(fail, lambda self, value: None)

    monkeypatch.setattr(KeepAliveHandler, "_last_ack", hidden("_last_ack"), raising=False)
    monkeypatch.setattr(discord.shard, "ShardInfo", RenamedShard)
    async with sitting(tmp_path, timeouts=IMPATIENT, interval=0.1) as desk:
        gateway = desk.fake.gateway
        await until(lambda: gateway.heartbeats >= 30)  # in twice the time for which a deaf one is kept
        assert desk.platform.trouble(NOW) == ""
        assert await answers(desk)
        assert (len(gateway.identifies), gateway.resumes) == (1, 0)
        gateway.is_deaf = True
        await until(lambda: len(gateway.identifies) >= 2)


async def test_a_connection_that_is_lost_for_a_while_is_made_again_by_the_client_that_was_there(tmp_path: Path) -> None:
    async with sitting(tmp_path, timeouts=replace(IMPATIENT, silent=20.0, deaf=30.0), interval=0.1) as desk:
        gateway = desk.fake.gateway
        await until(lambda: gateway.heartbeats >= 5)
        clients = asked(desk.fake, "/gateway/bot")
        gateway.is_down = True
        gateway.drop()
        await until(lambda: "the connection was lost" in desk.platform.trouble(NOW))
        gateway.is_down = False
        await gateway.heard()
        await until(lambda: desk.platform.trouble(NOW) == "")
        assert await answers(desk)
        assert asked(desk.fake, "/gateway/bot") == clients, "no second client was made"


async def test_a_client_that_loses_the_word_that_it_is_to_end_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, lost = discord.AutoShardedClient.connect, asyncio.Event()

    async def connect(self: discord.AutoShardedClient, *, reconnect: bool = True) -> None:
        try:
            await usual(self, reconnect=reconnect)
        except asyncio.CancelledError:  # as asyncio.wait_for does where what it waits for has just come
            lost.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(discord.AutoShardedClient, "connect", connect)
    async with asyncio.timeout(PATIENCE), sitting(tmp_path):
        pass
    assert lost.is_set()
