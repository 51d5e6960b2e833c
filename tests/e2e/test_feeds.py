"""From the chat to a feed reader: what was posted is read as it was posted, by who may read it there, on either platform."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from adapters.web.server import serving
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.links import LinkSigner
from bot.settings.web import WebSettings
from tests.adapters.web.feeds.reading import Read, read, wrong_atom
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import SlackDesk
from tests.e2e.stage import NO_SOURCES
from tests.e2e.test_parity import answered
from tests.fakes.discord import Permission

BASE = "https://papers.lab.example"
WITH_PAGES: Mapping[str, Any] = {**NO_SOURCES, "web": WebSettings(url=BASE)}
_ADDRESS = re.compile(rf"{BASE}/feeds/[0-9a-f]{{32}}/topics/gpu-systems\.atom")


class FeedReader:
    """Reads feeds of the desk's service."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def status(self, address: str) -> int:
        async with self._session.get(address.replace(BASE, self._url)) as response:
            return response.status

    async def entries(self, address: str) -> list[Read]:
        async with self._session.get(address.replace(BASE, self._url)) as response:
            document = await response.read()
        assert response.status == 200
        assert wrong_atom(document) == []
        return read(document)


@asynccontextmanager
async def pages(desk: SlackDesk | DiscordDesk) -> AsyncIterator[FeedReader]:
    """Serve them, where the platform is asked at every reading."""
    access = ChannelAccess(desk.app.messengers.get, monotonic=count(0, 1_000).__next__)  # type: ignore[arg-type]
    context = replace(desk.app.handler_context, channel_access=access)
    signer = LinkSigner(await desk.app.store.recipients.key(), BASE)
    async with (
        serving(context, signer, lambda: desk.now, "127.0.0.1", 0) as (host, port),
        aiohttp.ClientSession() as session,
    ):
        yield FeedReader(f"http://{host}:{port}", session)


def addressed(words: str) -> str:
    found = _ADDRESS.findall(words)
    assert len(found) == 1, words
    return str(found[0])


def check_as_posted(entries: list[Read], posted: str) -> None:
    """See to it that the feed has the entries of the message, in their order, by their numbers."""
    assert len(entries) > 2
    assert [each.number for each in entries] == [*range(1, len(entries) + 1)]
    places = [posted.index(each.link) for each in entries]
    assert places == sorted(places)
    assert {*re.findall(r"https://arxiv\.org/abs/[\d.]+", posted)} <= {each.link for each in entries}


async def test_who_is_in_the_channel_reads_its_feed_in_slack_and_who_left_it_does_not(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path, sources=WITH_PAGES) as desk, pages(desk) as reader:
        fake, anna, ben = desk.fake, desk.fake.anna, desk.fake.ben
        fake.secret.members.discard(ben.id)
        await fake.invite(fake.secret)
        for line in ("subscribe gpu-systems", "post gpu-systems"):
            await (await fake.command(line, user=anna, channel=fake.secret)).answer()
        await desk.round()
        given = [await (await fake.command("feeds", user=each, channel=fake.general)).answer() for each in (anna, ben)]
        assert "gpu-systems" not in str(given[1].blocks), "nothing of it is told to who is not in it"
        named = await (await fake.command("feeds gpu-systems", user=ben, channel=fake.general)).answer()
        hers, his = addressed(str(given[0].blocks)), addressed(str(named.blocks))
        check_as_posted(await reader.entries(hers), str(fake.messages(fake.secret)[-1].blocks))
        assert await reader.entries(his) == []
        fake.secret.members.discard(anna.id)
        assert await reader.entries(hers) == []
        await (await fake.command("feeds revoke", user=anna, channel=fake.general)).answer()
        assert [await reader.status(each) for each in (hers, his)] == [404, 200]
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_who_sees_the_channel_reads_its_feed_in_discord_and_nobody_else(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path, sources=WITH_PAGES) as desk, pages(desk) as reader:
        fake = desk.fake
        board = fake.channel(desk.guild, "board")
        for verb in ("subscribe", "post"):
            await fake.slash(f"digest-manage {verb}", topic="gpu-systems", user=desk.anna, channel=board)
        await answered()
        await desk.round()
        (posted,) = (each for each in fake.of_bot(board) if " seen · " in each.text)
        given = await fake.slash("digest topic feeds", user=desk.ben, channel=desk.papers)
        his = addressed(given.text)
        check_as_posted(await reader.entries(his), str(posted.components))
        board.overwrites[desk.ben.id] = (Permission(0), Permission.VIEW_CHANNEL)
        assert await reader.entries(his) == []
        assert (fake.wrong, fake.mentions) == ([], [])
