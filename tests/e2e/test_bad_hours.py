"""Both chats behind a proxy that refuses, or with codes that nobody knows: what is due is posted when that is over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from discord.http import Route

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from bot.delivery import Deliverer, DeliveryContext, delivery_id, sealed
from bot.models import Delivery, DeliveryState, Layout, Preferences
from tests.adapters.slack.running_messenger import posting
from tests.bot.deliveries import Harness, change
from tests.conftest import NOW
from tests.fakes.digests import GPU
from tests.fakes.discord import running
from tests.fakes.discord.fake import Trouble
from tests.fakes.platform import EVERYWHERE
from tests.fakes.slack import Failure
from tests.fakes.transcript import delivery

CHANNELS = 6
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
PAGE = "<html><head><title>403 Forbidden</title></head></html>"


@dataclass
class Place:
    """A chat with six channels, each with a digest that is due, and who delivers them."""

    harness: Harness
    workspace: str
    channels: list[str]
    refusing: dict[str, Any]  # the fake's
    hows: dict[str, Any]
    messenger: Any
    seen: Any  # how many messages stand in a channel
    told: Any  # how often somebody was told something in private

    async def plant(self, day: int = 0) -> None:
        """Let digests be made that are due on this day."""
        now = NOW + timedelta(days=day)
        payload = self.messenger.render(GPU, layout=Layout.FULL, late=False)[0]
        made: list[Delivery] = []
        for number, channel in enumerate(self.channels, start=1):
            name = delivery_id(f"s{number}", now.date(), 0, 1)
            place = {"workspace": self.workspace, "channel": channel, "topic": "gpu-systems", "id": name}
            made.append(replace(delivery(number, now=now), **place, payload=payload, seal=sealed(payload)))  # type: ignore[arg-type]
        await self.harness.plant(made)

    async def live(self, span: timedelta) -> None:
        """Let the service work for so long."""
        clock = self.harness.clock
        platform = self.workspace.partition(":")[0]
        store = self.harness.store
        if not hasattr(self, "deliverer"):
            context = DeliveryContext(store, store.ledger, {platform: self.messenger})
            self.deliverer = Deliverer(context, pause=clock.pause)
        ends = clock() + span
        while clock() < ends:
            await self.deliverer.deliver_due(clock)
            await self.deliverer.reconcile(clock)
            await self.deliverer.send_notices(clock)
            clock.advance(MINUTE)

    async def states(self) -> dict[str, DeliveryState]:
        return {each.channel: each.state for each in (await self.harness.rows(self.workspace)).values()}

    async def paused(self) -> list[str]:
        return [each.channel for each in await self.harness.store.workspaces.subscriptions(self.workspace) if each.paused]


@asynccontextmanager
async def _slack() -> AsyncIterator[Place]:
    async with posting() as room:
        fake = room.fake
        channels = [fake.add_channel(f"C{number}", f"papers-{number}", joined=True) for number in range(CHANNELS)]
        by_id = {each.id: each for each in channels}
        hows = {"page": Failure(status=403, page=PAGE), "json": Failure(status=403, page='{"error": "access_denied"}')}
        yield Place(
            Harness(),
            "slack:T0TEAM",
            list(by_id),
            fake.faults.refusing,
            hows | {"code": "an_error_of_tomorrow", "form": "metadata_too_large", "known": "is_archived"},
            room.messenger,
            lambda channel: len(fake.messages(by_id[channel])),
            lambda: len([each for each in fake.world.history if each.is_app and each.channel.startswith("D")]),
        )


@asynccontextmanager
async def _discord() -> AsyncIterator[Place]:
    async with running() as fake:
        usual, Route.BASE = Route.BASE, fake.api_url
        door = RestClient(fake.token)
        guild = fake.guild("Lab")
        channels = {str(each.id): each for each in (fake.channel(guild, f"papers-{n}") for n in range(CHANNELS))}
        hows = {"page": Trouble(answer=PAGE, status=403), "json": Trouble(answer='{"error": "blocked"}', status=401)}
        hows |= {"code": Trouble(code=98765, status=403)}
        try:
            yield Place(
                Harness(),
                f"discord:{guild.id}",
                list(channels),
                fake.refusing,
                hows | {"form": 50035, "known": 10003},
                DiscordMessenger(door, Harness().store.chats),
                lambda channel: len(fake.of_bot(channels[channel])),
                lambda: sum(len(fake.of_bot(each)) for each in fake.channels.values() if each.recipient is not None),
            )
        finally:
            await door.close()
            Route.BASE = usual


PLACES = {"slack": _slack, "discord": _discord}


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    async with PLACES[request.param]() as opened:
        yield opened


@pytest.mark.parametrize("how", ["page", "json", "code", "form"])
async def test_a_bad_hour_of_all_channels_pauses_nobody_and_is_made_up_for(place: Place, how: str) -> None:
    await place.plant()
    place.refusing[EVERYWHERE] = place.hows[how]
    await place.live(3 * HOUR)
    assert await place.paused() == []
    assert set((await place.states()).values()) == {DeliveryState.PENDING}
    place.refusing.clear()
    await place.live(HOUR)
    assert set((await place.states()).values()) == {DeliveryState.DONE}
    assert [place.seen(each) for each in place.channels] == [1] * CHANNELS
    assert place.told() == 0


@pytest.mark.parametrize("how", ["page", "json"])
async def test_a_page_about_one_channel_alone_costs_it_no_digest_either(place: Place, how: str) -> None:
    await place.plant()
    place.refusing[place.channels[0]] = place.hows[how]
    await place.live(3 * HOUR)
    place.refusing.clear()
    await place.live(HOUR)
    assert [place.seen(each) for each in place.channels] == [1] * CHANNELS
    assert await place.paused() == []


@pytest.mark.parametrize("how", ["code", "form"])
async def test_what_one_channel_alone_does_not_get_is_skipped_and_said_and_the_next_one_is_posted(
    place: Place, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    await place.plant()
    one, alerts = place.channels[0], place.channels[1]
    await place.harness.store.workspaces.save_preferences(
        place.workspace, Preferences(alerts=alerts), change(place.workspace)
    )
    place.refusing[one] = place.hows[how]
    await place.live(3 * HOUR)
    states = await place.states()
    assert states.pop(one) is DeliveryState.FAILED
    assert set(states.values()) == {DeliveryState.DONE}
    assert await place.paused() == []
    assert (place.seen(one), place.seen(alerts)) == (0, 2)
    assert any("was not posted" in each.message for each in caplog.records)

    place.refusing.clear()
    place.harness.clock.now = NOW + timedelta(days=1)
    await place.plant(day=1)
    await place.live(HOUR)
    assert [place.seen(each) for each in place.channels] == [1, 3, 2, 2, 2, 2]


async def test_a_code_that_is_known_pauses_its_channel_and_tells_its_owner_as_ever(place: Place) -> None:
    await place.plant()
    place.refusing[place.channels[0]] = place.hows["known"]
    await place.live(HOUR / 6)
    assert await place.paused() == [place.channels[0]]
