"""The fake Discord itself: what it holds clients to, and that the real discord.py gets along with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from tests.fakes.discord import Answer, Channel, FakeDiscord, Fault, Guild, Kind, NotOfferedError, Permission, User, running
from tests.fakes.patience import PATIENCE


class Room:
    """A server with a channel, a person in it, and raw requests as the bot."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self.fake = fake
        fake.limits.buckets.clear()
        self.guild: Guild = fake.guild("Lab")
        self.papers: Channel = fake.channel(self.guild, "papers")
        self.anna: User = fake.join(self.guild, fake.user("Anna"))
        self._session = session

    async def ask(self, method: str, path: str, body: Any = None, *, token: str = "") -> tuple[int, Any]:
        """Return the status and the code or the body."""
        headers = {"Authorization": f"Bot {token or self.fake.token}"}
        async with self._session.request(method, self.fake.api_url + path, json=body, headers=headers) as response:
            data = await response.json() if response.content_type == "application/json" else await response.text()
            return response.status, data.get("code", data) if isinstance(data, dict) and response.status >= 400 else data

    async def post(self, **body: Any) -> tuple[int, Any]:
        return await self.ask("POST", f"/channels/{self.papers.id}/messages", {"content": "Hello", **body})


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with running() as fake, aiohttp.ClientSession() as session:
        yield Room(fake, session)


class Form(discord.ui.Modal, title="Topic"):
    name: discord.ui.TextInput["Form"] = discord.ui.TextInput(label="Name", default="gpu")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Saved {self.name.value}.", ephemeral=True)


class Buttons(discord.ui.View):
    @discord.ui.button(label="More", custom_id="more")
    async def more(self, interaction: discord.Interaction, _: discord.ui.Button["Buttons"]) -> None:
        await interaction.response.edit_message(content="Page 2")

    @discord.ui.button(label="Edit", custom_id="edit")
    async def edit(self, interaction: discord.Interaction, _: discord.ui.Button["Buttons"]) -> None:
        await interaction.response.send_modal(Form())

    @discord.ui.select(custom_id="pick", options=[discord.SelectOption(label="gpu"), discord.SelectOption(label="moe")])
    async def pick(self, interaction: discord.Interaction, select: discord.ui.Select["Buttons"]) -> None:
        await interaction.response.send_message(f"You chose {select.values[0]}.")


class Bot(discord.Client):
    """A small bot on discord.py."""

    def __init__(self, **options: Any) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, guild_reactions=True)
        super().__init__(
            intents=intents, guild_ready_timeout=0.05, allowed_mentions=discord.AllowedMentions.none(), **options
        )
        self.tree = app_commands.CommandTree(self)
        self.heard: list[str] = []

    async def setup_hook(self) -> None:
        group = app_commands.Group(name="digest", description="Your paper of papers")

        @group.command(name="search", description="Find papers")
        async def search(interaction: discord.Interaction, query: str, many: int = 3) -> None:
            await interaction.response.defer(ephemeral=True)
            await interaction.followup.send(f"{many} for {query}", view=Buttons(), ephemeral=True)

        @search.autocomplete("query")
        async def queries(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=f"{typed} cache", value=f"{typed} cache")]

        @self.tree.context_menu(name="Find similar")
        async def similar(interaction: discord.Interaction, message: discord.Message) -> None:
            await interaction.response.send_message(f"Similar to {message.content}")

        self.tree.add_command(group)
        await self.tree.sync()

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        self.heard.append(str(event.emoji))

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        self.heard.append(channel.name)

    async def on_resumed(self) -> None:
        self.heard.append("resumed")

    async def until(self, what: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while what not in self.heard:  # noqa: ASYNC110 -- discord.py has no event to wait for
                await asyncio.sleep(0.02)


@asynccontextmanager
async def connected(room: Room, monkeypatch: pytest.MonkeyPatch, **options: Any) -> AsyncIterator[Bot]:
    monkeypatch.setattr(Route, "BASE", room.fake.api_url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", URL(room.fake.gateway_url))
    async with Bot(**options) as bot:
        task = asyncio.create_task(bot.start(room.fake.token))
        await room.fake.gateway.heard()
        await bot.wait_until_ready()
        yield bot
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def channel_of(bot: Bot, channel: Channel) -> discord.TextChannel:
    found = bot.get_channel(channel.id)
    assert isinstance(found, discord.TextChannel)
    return found


async def test_people_use_a_bot_on_discord_py(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    fake, anna, papers = room.fake, room.anna, room.papers
    async with connected(room, monkeypatch):
        asked = await fake.slash("digest search", query="kv", user=anna, channel=papers)
        assert (asked.text, asked.first, asked.messages[0].is_private) == ("3 for kv", Answer.DEFERRED, True)
        assert (await fake.click(asked.messages[0], "More", user=anna)).text == "Page 2"
        form = await fake.click(asked.messages[0], "Edit", user=anna)
        assert (await fake.submit(form, {})).text == "Saved gpu."
        with pytest.raises(NotOfferedError):
            await fake.submit(form, {})
        form = await fake.click(asked.messages[0], "Edit", user=anna)
        assert (await fake.submit(form, {"Name": "moe"})).text == "Saved moe."
        assert (await fake.choose(asked.messages[0], "moe", user=anna)).text == "You chose moe."
        assert await fake.autocomplete("digest search", "query", "kv", user=anna, channel=papers) == [
            {"name": "kv cache", "value": "kv cache"}
        ]
        message = fake.write(papers, anna, "arxiv.org/abs/2606.01234")
        assert (await fake.menu("Find similar", message, user=anna)).text == f"Similar to {message.content}"
        with pytest.raises(NotOfferedError):
            await fake.slash("digest search", user=anna, channel=papers)
        with pytest.raises(NotOfferedError):
            await fake.slash("digest search", query="kv", many="three", user=anna, channel=papers)
    assert (fake.wrong, fake.mentions) == ([], [])


async def test_a_bot_on_discord_py_posts_everywhere(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    forum = room.fake.channel(room.guild, "digests", Kind.FORUM, tags=("gpu",))
    async with connected(room, monkeypatch) as bot:
        papers = channel_of(bot, room.papers)
        embed = discord.Embed(title="KV cache", url="https://arxiv.org/abs/2606.01234").add_field(
            name="Method", value="Pages."
        )
        first = await papers.send(embed=embed, view=Buttons(), nonce="d1")
        assert (await papers.send(embed=embed, nonce="d1")).id == first.id
        view = discord.ui.LayoutView()
        section: discord.ui.Section[discord.ui.LayoutView] = discord.ui.Section(
            "**KV cache**", accessory=discord.ui.Button(label="Save", custom_id="save")
        )
        view.add_item(discord.ui.Container(discord.ui.TextDisplay("GPU"), discord.ui.Separator(), section))
        await papers.send(view=view)
        await papers.send(file=discord.File(__file__, "saved.bib"))
        thread = await first.create_thread(name="More of it")
        await thread.send("The rest")
        place = bot.get_channel(forum.id)
        assert isinstance(place, discord.ForumChannel)
        post = await place.create_thread(name="GPU of today", content="First", applied_tags=[place.available_tags[0]])
        room.fake.archive(room.fake.channels[thread.id])
        await thread.edit(archived=False)
        await first.add_reaction("👍")
        await first.edit(content="Late")
        assert [each.id async for each in papers.history(after=discord.Object(first.id))] == [*room.papers.messages][1:]
        await (await bot.fetch_user(room.anna.id)).send("Paused")
        assert (await bot.fetch_guild(room.guild.id)).name == "Lab"
        assert {each.id for each in await bot.guilds[0].active_threads()} == {thread.id, post.thread.id}
        await first.delete()
    posted = [each.text for each in room.papers.messages.values()]
    assert posted == ["GPU\n**KV cache**", ""]
    assert [each.text for each in room.fake.private(room.anna).messages.values()] == ["Paused"]
    assert next(iter(room.fake.channels[post.thread.id].messages.values())).text == "First"
    assert (room.fake.wrong, room.fake.mentions) == ([], [])


async def test_what_happened_while_the_gateway_was_gone_is_told_after_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = room.fake
    async with connected(room, monkeypatch) as bot:
        message = await channel_of(bot, room.papers).send("Hello")
        fake.gateway.drop()
        fake.react(room.papers.messages[message.id], "👍", user=room.anna)
        await bot.until("👍")
        await bot.until("resumed")
        fake.gateway.ask_to_reconnect()
        fake.react(room.papers.messages[message.id], "👎", user=room.anna)
        await bot.until("👎")
        assert (fake.gateway.resumes, len(fake.gateway.identifies)) == (2, 1)
        fake.delete_channel(room.papers)
        await bot.until("papers")
    assert fake.wrong == []


async def test_a_client_whose_heartbeats_are_not_acknowledged_comes_back(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = room.fake.gateway
    gateway.interval = 0.2
    async with connected(room, monkeypatch, heartbeat_timeout=1.0) as bot:
        gateway.is_deaf = True
        await gateway.heard(no_more=True)
        gateway.is_deaf = False
        await bot.until("resumed")


async def test_sessions_are_sharded_refused_and_made_invalid(room: Room) -> None:
    fake, url = room.fake, room.fake.gateway_url
    others = [fake.guild(f"Server {number}", number=(number + 1) << 22) for number in range(4)]
    async with aiohttp.ClientSession() as session:

        async def begun(**more: Any) -> aiohttp.ClientWebSocketResponse:
            socket = await session.ws_connect(url)
            assert (await socket.receive_json())["op"] == 10
            await socket.send_json({"op": 2, "d": {"token": fake.token, "intents": 1, **more}})
            return socket

        first, second = [await begun(shard=[number, 2]) for number in range(2)]
        ready = await first.receive_json()
        assert {each["id"] for each in ready["d"]["guilds"]} >= {str(each.id) for each in others[1::2]}
        assert {each["id"] for each in (await second.receive_json())["d"]["guilds"]} >= {
            str(each.id) for each in others[::2]
        }
        fake.gateway.invalidate()
        said = [each async for each in _until_invalid(first)]
        assert said[-1] == {"op": 9, "d": False}
        await first.send_json({"op": 6, "d": {"token": fake.token, "session_id": ready["d"]["session_id"], "seq": 1}})
        assert await first.receive_json() == {"op": 9, "d": False}
        fake.gateway.identify_every = 5.0
        assert (await (await begun()).receive_json())["op"] == 9
        codes = [(await (await begun(**wrong)).receive()).data for wrong in ({"token": "another"}, {"intents": 1 << 1})]
        assert codes == [4004, 4014]
        fake.gateway.is_down = True
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def _until_invalid(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[dict[str, Any]]:
    while True:
        said = await socket.receive_json()
        yield said
        if said["op"] == 9:
            return


async def test_a_nonce_is_remembered_for_a_few_minutes(room: Room) -> None:
    now = room.fake.clock()  # not before the room was made: identifiers follow the clock
    room.fake.clock = lambda: now
    _, first = await room.post(nonce="d1", enforce_nonce=True)
    now += timedelta(seconds=179)
    assert (await room.post(nonce="d1", enforce_nonce=True))[1] == first
    _, history = await room.ask("GET", f"/channels/{room.papers.id}/messages")
    assert (first["nonce"], "nonce" in history[0]) == ("d1", False)  # it is not documented that the history tells it
    assert (await room.post(nonce="d1"))[1]["id"] != first["id"]  # it counts only where that is asked for
    room.fake.delete_message(room.papers.messages[int(first["id"])])
    assert await room.post(nonce="d1", enforce_nonce=True) == (404, 10008)
    now += timedelta(seconds=1)
    assert (await room.post(nonce="d1", enforce_nonce=True))[0] == 200


async def test_lost_rights_are_refused_with_discords_codes(room: Room) -> None:
    fake, papers = room.fake, room.papers
    history = f"/channels/{papers.id}/messages"
    await room.post()
    fake.let(papers, may_not=Permission.READ_MESSAGE_HISTORY)
    assert await room.ask("GET", history) == (200, [])
    fake.let(papers, may_not=Permission.EMBED_LINKS)
    assert await room.post(embeds=[{"title": "KV cache"}]) == (403, 50013)
    fake.let(papers, may_not=Permission.SEND_MESSAGES)
    assert await room.post() == (403, 50013)
    fake.let(papers, may_not=Permission.VIEW_CHANNEL)
    assert await room.post() == (403, 50001)
    fake.let(papers, may=Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY)
    assert (await room.post())[0] == 200
    assert await room.ask("GET", history, token="another") == (401, 0)
    fake.delete_channel(papers)
    assert await room.post() == (404, 10003)
    fake.kick(room.guild)
    assert await room.ask("GET", f"/guilds/{room.guild.id}") == (404, 10004)
    closed = fake.user("Ben")
    closed.is_closed = True
    _, private = await room.ask("POST", "/users/@me/channels", {"recipient_id": str(closed.id)})
    assert await room.ask("POST", f"/channels/{private['id']}/messages", {"content": "Hello"}) == (403, 50007)
    assert fake.wrong == []


async def test_a_locked_thread_stays_shut_and_another_is_opened_by_a_message(room: Room) -> None:
    _, message = await room.post()
    start = f"/channels/{room.papers.id}/messages/{message['id']}/threads"
    _, made = await room.ask("POST", start, {"name": "More"})
    assert await room.ask("POST", start, {"name": "More"}) == (400, 160004)
    thread, say = room.fake.channels[int(made["id"])], f"/channels/{made['id']}/messages"
    room.fake.archive(thread)
    assert (await room.ask("POST", say, {"content": "The rest"}))[0] == 200
    room.fake.archive(thread, locked=True)
    assert await room.ask("POST", say, {"content": "The rest"}) == (403, 160005)
    room.fake.archive(thread)
    room.fake.archived_threads_refuse = True
    assert await room.ask("POST", say, {"content": "The rest"}) == (400, 50083)
    assert (await room.ask("PATCH", f"/channels/{made['id']}", {"archived": False}))[0] == 200
    assert (await room.ask("POST", say, {"content": "The rest"}))[0] == 200


async def test_an_interaction_has_one_first_reply_within_three_seconds_and_lives_for_fifteen_minutes(room: Room) -> None:
    fake, now = room.fake, room.fake.clock()
    fake.clock = lambda: now
    await room.ask("PUT", f"/applications/{fake.application}/commands", [{"name": "help", "description": "All of it"}])
    asked = await fake.slash("help", user=room.anna, channel=room.papers, wait=None)
    callback = f"/interactions/{asked.id}/{asked.token}/callback"
    follow = f"/webhooks/{fake.application}/{asked.token}"
    assert await room.ask("POST", follow, {"content": "Before"}) == (404, 10015)
    now += timedelta(seconds=3)
    assert await room.ask("POST", callback, {"type": 5}) == (404, 10062)
    now -= timedelta(milliseconds=1)
    assert await room.ask("POST", callback, {"type": 5, "data": {"flags": 64}}) == (204, "")
    assert await room.ask("POST", callback, {"type": 5}) == (400, 40060)
    assert (await room.ask("PATCH", f"{follow}/messages/@original", {"content": "Help"}))[0] == 200
    assert (asked.text, asked.messages[0].is_private, room.papers.messages) == ("Help", True, {})
    assert (await room.ask("POST", follow, {"content": "More"}))[0] == 200
    now += timedelta(minutes=15)
    assert await room.ask("POST", follow, {"content": "Too late"}) == (401, 50027)
    assert asked.text == "Help\n\nMore"
    assert fake.wrong == []


async def test_limits_are_told_by_headers_and_a_ban_is_no_json(room: Room) -> None:
    fake = room.fake
    fake.limits.buckets["POST", "/channels/{channel_id}/messages"] = (2, 30.0)
    statuses = [(await room.post())[0] for _ in range(3)]
    other = fake.channel(room.guild, "others")
    assert (statuses, (await room.ask("POST", f"/channels/{other.id}/messages", {"content": "Hello"}))[0]) == (
        [200, 200, 429],
        200,
    )
    fake.limits.per_second = 1
    await asyncio.gather(*(room.ask("GET", "/users/@me") for _ in range(3)))
    assert fake.counts["too fast"] >= 2
    fake.limits.invalid_most = 5
    for _ in range(5):
        await room.ask("GET", "/users/@me", token="another")
    status, page = await room.ask("GET", "/users/@me")
    assert (status, "error code: 1015" in page) == (429, True)


@pytest.mark.parametrize("commits", [True, False])
async def test_an_answer_may_be_lost_after_the_message_was_posted_or_before(room: Room, *, commits: bool) -> None:
    fake = room.fake
    for fault in (Fault.RESET, Fault.HALF):
        fake.befall("POST /channels", fault=fault, commits=commits)
        with pytest.raises(aiohttp.ClientError):
            await room.post()
    fake.befall("POST /channels", fault=Fault.BROKEN, status=503, commits=commits)
    assert (await room.post())[0] == 503
    fake.befall("POST /channels", fault=Fault.BROKEN, status=204, commits=commits)
    assert await room.post() == (204, "")
    fake.befall("POST /channels", code=50001)
    assert await room.post() == (403, 50001)
    assert len(fake.committed) == (4 if commits else 0)
    assert (await room.post())[0] == 200


async def test_text_that_would_notify_somebody_is_noticed(room: Room) -> None:
    everyone = {"content": "@everyone, <@1> and <@&2>"}
    await room.post(**everyone, allowed_mentions={"parse": []})
    assert room.fake.mentions == []
    await room.post(**everyone, allowed_mentions={"parse": ["users"]})
    await room.post(**everyone)
    assert [each.partition(" ")[0] for each in room.fake.mentions] == ["<@1>", "@everyone", "<@1>", "<@&2>"]
