"""Slack heard by several processes on one database: any of them may get anything, and each thing is done once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from bot.app import App
from bot.service.platforms import Cluster
from bot.settings.sections import Role
from bot.store.single_process import SoleBudgets, SoleLeases, SoleProcesses
from tests.conftest import NOW
from tests.e2e.slack_rooms import Room, by_oauth, connected, service, settings
from tests.e2e.stage import ITEMS
from tests.e2e.test_slack_connect import Browser, is_helped, posted
from tests.fakes import slack
from tests.fakes.slack.posted import Post


@pytest.fixture
async def fake() -> AsyncIterator[slack.FakeSlack]:
    async with slack.running(tiers=False) as fake:
        yield fake


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with service(tmp_path) as built:
        await built.store.items.add(ITEMS, NOW)
        yield built


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


@dataclass(slots=True)
class Fronts:
    """Two processes, and what stands before them."""

    rooms: tuple[Room, Room]
    post: Post | None

    def to(self, number: int) -> None:
        """Send what comes next to the process of that number, as a balancer may."""
        assert self.post is not None
        self.post.url = f"{self.rooms[number].url}/slack/events"


@asynccontextmanager
async def fronts(fake: slack.FakeSlack, app: App, **given: Any) -> AsyncIterator[Fronts]:
    by_http = {"mode": "http", "signing_secret": fake.signing_secret, "port": 0}
    section = by_oauth(fake) if given.pop("oauth", False) else settings(fake, **(by_http | given))
    leases = SoleLeases()
    budgets, processes = SoleBudgets(), SoleProcesses(leases)
    async with (
        connected(app, section, cluster=Cluster("a", leases, budgets, processes)) as one,
        connected(app, section, cluster=Cluster("b", leases, budgets, processes)) as other,
    ):
        post = fake.delivers_to(f"{one.url}/slack/events") if section.mode == "http" else None
        yield Fronts((one, other), post)


async def test_a_form_opened_by_one_process_is_filled_in_and_sent_to_another(fake: slack.FakeSlack, app: App) -> None:
    async with fronts(fake, app) as there:
        view = await (await fake.command("subscribe", user=fake.ben, channel=fake.general)).view()
        there.to(1)
        options = await fake.options(view, "Topic", "gpu")
        there.to(0)
        view = await (await fake.choose(view, "Topic", options[0])).view()
        there.to(1)
        await fake.submit(view, {"Entries at most": "5"})
        (subscribed,) = await fake.until(lambda: fake.messages(fake.general))
        assert subscribed.text.startswith("Subscribed to GPU systems")
        (held,) = await app.store.workspaces.subscriptions("slack:T0BROAD")
        assert held.entries == 5
        there.to(0)
        answer = await (await fake.command("list", user=fake.ben)).answer()
        assert "GPU systems" in answer.words
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_an_answer_given_by_one_process_is_gone_on_with_at_another(fake: slack.FakeSlack, app: App) -> None:
    async with fronts(fake, app) as there:
        answer = await (await fake.command("search gpu", user=fake.ben)).answer()
        there.to(1)
        newest = await (await fake.click(answer, "Newest first", user=fake.ben)).answer()
        assert "GPU" in newest.words
        there.to(0)
        await fake.write(fake.general, "@Broadsheet paging", user=fake.ben)
        told = await fake.until(lambda: fake.seen_by(fake.ben)[-1:] if len(fake.seen_by(fake.ben)) > 1 else None)
        there.to(1)
        again = await (await fake.click(told[0], "Newest first", user=fake.ben)).answer()
        assert "Paging" in again.words


async def test_what_slack_sends_to_two_processes_is_done_once(fake: slack.FakeSlack, app: App) -> None:
    async with fronts(fake, app) as there:
        assert there.post is not None
        body = {
            "type": "event_callback",
            "event_id": "Ev0TWICE",
            "event_time": int(fake.world.now),
            "team_id": "T0BROAD",
            "api_app_id": "A0BROAD",
            "authorizations": [{"team_id": "T0BROAD", "user_id": "U0APPBROAD", "is_bot": True}],
            "event": {
                "type": "app_mention",
                "user": "U0BEN",
                "channel": fake.general.id,
                "text": "<@U0APPBROAD> paging",
                "ts": "1.1",
                "event_ts": "1.1",
            },
        }
        await there.post.deliver("events_api", body, 3.0, 0, "")
        await fake.until(lambda: fake.seen_by(fake.ben))
        there.to(1)
        await there.post.deliver("events_api", body, 3.0, 1, "http_timeout")
        await is_helped(fake)
        assert len(fake.seen_by(fake.ben)) == 1


async def test_sockets_of_two_processes_share_what_comes(fake: slack.FakeSlack, app: App) -> None:
    async with fronts(fake, app, mode="socket", signing_secret=""):
        await fake.connected(2)
        for _ in range(4):
            await is_helped(fake)
        view = await (await fake.command("topic create", user=fake.ben)).view()
        await fake.submit(view, {"Name": "kernels", "Query: who enters": "kernel"})
        (made,) = await fake.until(lambda: fake.messages(fake.general))
        assert made.text.startswith("Made the topic")
        assert fake.missed == []


async def test_an_installation_begun_at_one_process_is_finished_at_another_and_known_to_both(
    fake: slack.FakeSlack, app: App, session: aiohttp.ClientSession
) -> None:
    async with fronts(fake, app, oauth=True) as there:
        one, other = there.rooms
        began, ends = Browser(fake, one, session), Browser(fake, other, session)
        page = await began.begins()
        ends.cookies = began.cookies
        back = fake.authorise(page)
        assert (await ends.comes_back(back))[0] == 200
        assert (await began.comes_back(back))[0] == 400, "once, wherever"
        assert urlsplit(page).path.endswith("/oauth/v2/authorize")
        there.to(0)
        await is_helped(fake)
        there.to(1)
        await is_helped(fake)
        assert await posted(one) == await posted(other)


async def test_what_a_process_does_is_by_its_roles(fake: slack.FakeSlack, app: App) -> None:
    given = settings(fake)
    deliver: tuple[Role, ...] = ("deliver",)
    async with connected(app, given, roles=deliver) as room:
        assert room.platform.address is None
        assert await posted(room)
        await asyncio.sleep(0)
        assert len(fake.link.all) == 0
    async with connected(app, by_oauth(fake), roles=deliver) as room:
        assert room.platform.address is None
