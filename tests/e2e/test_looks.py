"""A digest whose answer was lost is looked for until that is a proof, on the Slack and the Discord of the tests.

The clock is moved by hand, and the platforms follow it; the messages of others stand in the channel where a look begins.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from discord.http import Route
from pydantic import SecretStr

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from adapters.slack.client.api import Clients, new_session
from adapters.slack.send import EVENT, SlackMessenger
from bot.delivery import Deliverer, DeliveryContext, delivery_id
from bot.models import Delivery, DeliveryState, Layout
from bot.ports.messenger import Messenger
from bot.settings.chat import SlackSettings
from tests.bot.deliveries import Harness
from tests.conftest import NOW
from tests.fakes import discord, slack
from tests.fakes.digests import GPU
from tests.fakes.discord import Channel, FakeDiscord, Guild, Kind, Permission
from tests.fakes.platform import Behaviour, Fault
from tests.fakes.slack import Failure, FakeSlack
from tests.fakes.transcript import Crash, delivery
from tests.stores.instead import instead

MINUTE = timedelta(minutes=1)
ROUND = timedelta(seconds=10)
RESET = Failure(cut=Fault.RESET)


@dataclass
class Stand:
    """A ledger, who delivers, and the clock of both and of the platform."""

    harness: Harness
    messenger: Messenger
    workspace: str

    def __post_init__(self) -> None:
        store = self.harness.store
        context = DeliveryContext(store, store.ledger, {self.messenger.platform: self.messenger})
        self.deliverer = Deliverer(context, pause=self.harness.clock.pause)

    def again(self, messenger: Messenger) -> "Stand":
        """Return another process over the same ledger."""
        return replace(self, messenger=messenger)

    async def plant(self, channel: str, parts: int = 1, number: int = 1) -> list[Delivery]:
        """Let a digest be due in the channel."""
        head = self.messenger.render(GPU, layout=Layout.FULL, late=False)[0]
        below = self.messenger.render(GPU, layout=Layout.THREAD, late=False)[1] if parts > 1 else head
        now = self.harness.clock()
        made = [
            delivery(
                number,
                now=now,
                part=part,
                parts=parts,
                payload=head if part == 1 else below,
                workspace=self.workspace,
                channel=channel,
            )
            for part in range(1, parts + 1)
        ]
        made = [replace(each, id=delivery_id(f"s{number}", now.date(), 0, each.part), topic=f"kv{number}") for each in made]
        await self.harness.plant(made)
        return made

    async def live(self, span: timedelta) -> None:
        """Let so much time pass, with a round every ten seconds."""
        end = self.harness.clock() + span
        while self.harness.clock() < end:
            await self.deliverer.deliver_due(self.harness.clock)
            await self.deliverer.reconcile(self.harness.clock)
            self.harness.clock.advance(ROUND)

    async def states(self) -> list[DeliveryState]:
        return [each.state for each in (await self.harness.rows(self.workspace)).values()]


# --- Slack


@asynccontextmanager
async def slack_stand(
    behaviour: Behaviour | None = None, ahead: timedelta = timedelta(0)
) -> AsyncIterator[tuple[FakeSlack, Stand]]:
    harness = Harness()
    usual = behaviour or Behaviour(takes=(0.0, 0.0))
    async with (
        slack.running(usual, tiers=False, clock=lambda: (harness.clock() + ahead).timestamp()) as fake,
        new_session() as session,
    ):
        settings = SlackSettings(bot_token=SecretStr(fake.bot_token), api_url=fake.api_url)
        clients = Clients(settings, session, harness.clock)
        messenger = SlackMessenger(clients, join_channels=True, chats=harness.store.chats)
        yield fake, Stand(harness, messenger, f"slack:{fake.team.id}")


@pytest.mark.parametrize("commits", [True, False])
async def test_slacks_history_is_read_to_its_end_by_an_app_that_is_given_fifteen_messages_a_minute(commits: bool) -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), page=15, between_looks=60.0)) as (fake, stand):
        await stand.plant(fake.general.id)
        for number in range(100):
            fake.say(fake.general, f"before {number}")
        fake.fail("chat.postMessage", replace(RESET, commits=commits))
        await stand.live(ROUND)
        for number in range(50):
            fake.say(fake.general, f"after {number}")
        await stand.live(30 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(fake.committed) == 1
        assert fake.counts["finds"] <= 2 * 11, "each page is asked for once, and once too soon"
        assert fake.rejected == []


@pytest.mark.parametrize("commits", [True, False])
async def test_a_part_in_slack_is_looked_for_in_its_thread_and_then_in_the_channel_a_page_a_minute(commits: bool) -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), page=15, between_looks=60.0)) as (fake, stand):
        await stand.plant(fake.general.id, parts=2)
        for number in range(40):
            fake.say(fake.general, f"before {number}")
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        fake.fail("chat.postMessage", replace(RESET, commits=commits))
        await stand.deliverer.deliver_due(stand.harness.clock)
        (first,) = fake.committed
        for number in range(40):
            fake.say(fake.general, f"reply {number}", thread=first.id)
        await stand.live(30 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE] * 2
        assert len(fake.committed) == 2


async def test_a_page_that_says_that_there_is_more_and_shows_nothing_new_proves_nothing() -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), page=1)) as (fake, stand):  # a thread's page: its first message alone
        await stand.plant(fake.general.id, parts=2)
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        await stand.live(30 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE, DeliveryState.AMBIGUOUS]
        assert len(fake.committed) == 2


async def test_who_dies_as_he_posts_what_slack_surely_did_not_show_leaves_no_place_to_read_on_from() -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), page=15)) as (fake, stand):
        await stand.plant(fake.general.id)
        for number in range(40):
            fake.say(fake.general, f"before {number}")
        fake.fail("chat.postMessage", replace(RESET, commits=False))
        await stand.live(ROUND)
        usual = stand.messenger.send

        async def die(each: Delivery) -> str:
            await usual(each)
            raise Crash

        dying = stand.again(instead(stand.messenger, send=die))
        with pytest.raises(Crash):
            await dying.live(5 * MINUTE)
        await stand.live(30 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(fake.committed) == 1


@pytest.mark.parametrize("parts", [1, 3])
async def test_a_slack_that_gives_back_no_metadata_shows_nothing_twice(parts: int) -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), keeps_metadata=False)) as (fake, stand):
        await stand.plant(fake.general.id, parts)
        fake.fail("chat.postMessage", replace(RESET, commits=True), times=parts)
        await stand.live(15 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE] * parts
        assert len(fake.committed) == parts


async def test_plain_text_carries_a_second_mark_too() -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0), keeps_metadata=False)) as (fake, stand):
        (planted,) = await stand.plant(fake.general.id)
        fake.fail("chat.postMessage", Failure(error="invalid_blocks"))
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        await stand.live(15 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        (message,) = fake.messages(fake.general)
        assert (message.blocks, message.text.splitlines()[-1]) == ((), planted.id)


async def test_by_a_clock_that_is_behind_slacks_what_was_posted_a_minute_ago_is_found() -> None:
    async with slack_stand(ahead=timedelta(hours=3)) as (fake, stand):
        await stand.plant(fake.general.id)
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(fake.committed) == 1


async def test_in_slack_anothers_message_with_our_mark_is_not_taken_for_ours() -> None:
    async with slack_stand() as (fake, stand):
        (planted,) = await stand.plant(fake.general.id)
        other = fake.say(fake.general, "I am a copy.")
        other.metadata = {"event_type": EVENT, "event_payload": {"d": planted.id}}
        fake.fail("chat.postMessage", RESET)
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len([each for each in fake.messages(fake.general) if each.is_app]) == 1


async def test_what_was_posted_with_metadata_alone_is_still_found() -> None:
    async with slack_stand() as (fake, stand):
        await stand.plant(fake.general.id)
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        await stand.live(ROUND)
        (message,) = fake.messages(fake.general)
        message.blocks = [{name: value for name, value in each.items() if name != "block_id"} for each in message.blocks]
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(fake.committed) == 1


async def test_until_slack_says_who_we_are_nothing_is_taken_for_absent() -> None:
    async with slack_stand(Behaviour(takes=(0.0, 0.0))) as (fake, stand):
        await stand.plant(fake.general.id)
        fake.fail("chat.postMessage", replace(RESET, commits=True))
        fake.fail("auth.test", Failure(error="internal_error"), times=10)
        await stand.live(20 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(fake.committed) == 1


# --- Discord


@asynccontextmanager
async def discord_stand(monkeypatch: pytest.MonkeyPatch, **how: Any) -> AsyncIterator[tuple[FakeDiscord, Guild, Stand]]:
    harness = Harness()
    harness.clock.now = datetime.now(UTC)  # a Discord's identifiers go on from when it was made
    async with discord.running(Behaviour(takes=(0.0, 0.0), remembers=180.0)) as fake:
        fake.clock = harness.clock
        fake.limits.usual = (10_000, 1.0)
        monkeypatch.setattr(Route, "BASE", fake.api_url)
        client = RestClient(fake.token)
        guild = fake.guild("Lab")
        messenger = DiscordMessenger(client, harness.store.chats, clock=harness.clock, **how)
        try:
            yield fake, guild, Stand(harness, messenger, f"discord:{guild.id}")
        finally:
            await client.close()


def ours(fake: FakeDiscord, channel: Channel) -> int:
    return sum(each.author is fake.bot and "GPU systems" in each.text for each in channel.messages.values())


async def lose(fake: FakeDiscord, stand: Stand, *, commits: bool, path: str = "POST /channels") -> None:
    """Let the first try's answer be lost, and let the nonce be forgotten while the service is down."""
    fake.befall(path, fault=Fault.RESET, commits=commits)
    await stand.deliverer.deliver_due(stand.harness.clock)
    stand.harness.clock.advance(5 * MINUTE)


@pytest.mark.parametrize("commits", [True, False])
async def test_in_discord_a_message_is_found_behind_thousands_of_others(
    monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        papers, anna = fake.channel(guild, "papers"), fake.join(guild, fake.user("Anna"))
        await stand.plant(str(papers.id))
        for number in range(1500):
            fake.write(papers, anna, f"nice one {number}")
        await lose(fake, stand, commits=commits)
        await stand.live(20 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert ours(fake, papers) == 1


async def test_a_look_into_a_busy_channel_of_discord_ends_where_nothing_later_can_be_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        papers, anna = fake.channel(guild, "papers"), fake.join(guild, fake.user("Anna"))
        await stand.plant(str(papers.id))
        await lose(fake, stand, commits=False)
        stand.harness.clock.advance(60 * MINUTE)
        for number in range(3000):
            fake.write(papers, anna, f"an hour later {number}")
        before = fake.counts["finds"]
        await stand.live(2 * ROUND)  # it is late by now: once absent, it has its turn again, and says so

        assert await stand.states() == [DeliveryState.DONE]
        assert fake.counts["finds"] - before == 1


async def test_by_a_clock_that_is_behind_discords_what_was_posted_a_minute_ago_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        fake.clock = lambda: stand.harness.clock() + timedelta(hours=3)
        papers, anna = fake.channel(guild, "papers"), fake.join(guild, fake.user("Anna"))
        await stand.plant(str(papers.id))
        for number in range(150):
            fake.write(papers, anna, f"nice one {number}")
        await lose(fake, stand, commits=True)
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert ours(fake, papers) == 1


async def test_in_discord_anothers_message_with_our_mark_is_not_taken_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        papers, other = fake.channel(guild, "papers"), fake.join(guild, fake.user("Copycat"))
        (planted,) = await stand.plant(str(papers.id))
        fake.write(papers, other, f"A copy.\n-# {planted.id}")
        await lose(fake, stand, commits=False)
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert ours(fake, papers) == 1


async def test_a_history_that_was_closed_meanwhile_is_not_taken_for_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        papers = fake.channel(guild, "papers")
        await stand.messenger.find(delivery(channel=str(papers.id), workspace=stand.workspace, now=NOW))  # it is known now
        await stand.plant(str(papers.id))
        await lose(fake, stand, commits=True)
        fake.let(papers, may_not=Permission.READ_MESSAGE_HISTORY)
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.AMBIGUOUS]
        assert ours(fake, papers) == 1


def posts(fake: FakeDiscord, forum: Channel) -> list[Channel]:
    return [each for each in fake.channels.values() if each.parent is forum]


def first_message(fake: FakeDiscord, post: Channel) -> Any:
    return post.messages[post.id]


FORUM = "POST /channels/{channel_id}/threads"


@pytest.mark.parametrize("wait", [timedelta(0), 5 * MINUTE])
async def test_a_forum_is_not_told_done_by_another_post_whose_first_message_was_deleted(
    monkeypatch: pytest.MonkeyPatch, wait: timedelta
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        forum = fake.channel(guild, "digests", kind=Kind.FORUM)
        await stand.plant(str(forum.id), number=2)
        await stand.live(ROUND)
        (other,) = posts(fake, forum)
        fake.delete_message(first_message(fake, other))
        other.name = "Databases · Wednesday 1 April 2026"
        await stand.plant(str(forum.id), number=1)
        fake.befall(FORUM, fault=Fault.RESET, commits=False)
        await stand.deliverer.deliver_due(stand.harness.clock)
        stand.harness.clock.advance(wait)
        await stand.live(10 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE] * 2
        assert len(posts(fake, forum)) == 2


async def test_a_forums_post_without_its_first_message_that_may_be_ours_is_neither_posted_again_nor_called_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        forum = fake.channel(guild, "digests", kind=Kind.FORUM)
        await stand.plant(str(forum.id))
        await lose(fake, stand, commits=True, path=FORUM)
        (post,) = posts(fake, forum)
        fake.delete_message(first_message(fake, post))
        await stand.live(10 * MINUTE)

        assert await stand.states() == [DeliveryState.AMBIGUOUS]
        assert len(posts(fake, forum)) == 1


@pytest.mark.parametrize("off", [-9 * MINUTE, 9 * MINUTE], ids=["behind", "ahead"])
async def test_a_forums_post_is_found_at_once_by_a_clock_that_is_nine_minutes_off(
    monkeypatch: pytest.MonkeyPatch, off: timedelta
) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        stand.harness.clock.advance(20 * MINUTE)
        fake.clock = lambda: stand.harness.clock() - off
        forum = fake.channel(guild, "digests", kind=Kind.FORUM)
        await stand.plant(str(forum.id))
        fake.befall(FORUM, fault=Fault.RESET, commits=True)
        await stand.live(10 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE]
        assert len(posts(fake, forum)) == 1


@pytest.mark.parametrize("put_away", [True, False])
async def test_a_forums_post_is_found_among_many_others_of_ours(monkeypatch: pytest.MonkeyPatch, put_away: bool) -> None:
    async with discord_stand(monkeypatch) as (fake, guild, stand):
        forum = fake.channel(guild, "digests", kind=Kind.FORUM)
        for number in range(2, 65):
            await stand.plant(str(forum.id), number=number)
        await stand.deliverer.deliver_due(stand.harness.clock)
        others = posts(fake, forum)
        assert len(others) == 63
        await stand.plant(str(forum.id), number=1)
        await lose(fake, stand, commits=True, path=FORUM)
        (found,) = [each for each in posts(fake, forum) if each not in others]
        for each in [found, *others] if put_away else ():
            fake.archive(each)
            stand.harness.clock.advance(timedelta(milliseconds=1))
        await stand.live(5 * MINUTE)

        assert await stand.states() == [DeliveryState.DONE] * 64
        assert len(posts(fake, forum)) == 64
