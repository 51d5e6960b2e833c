"""The platforms a run can be on: one made for it, or Slack, Discord or a mail server as Broadsheet speaks to them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
from aiohttp.typedefs import Middleware
from pydantic import SecretStr

from adapters.email.relay.relay import Relay, trust
from adapters.email.send import EmailMessenger
from adapters.slack.client.api import Clients
from adapters.slack.send import SlackMessenger
from benchmarks.soak.discord_stand import discord, discord_messenger
from benchmarks.soak.plant import Crowd
from benchmarks.soak.work import Work
from bot.handlers.links import LinkSigner
from bot.models import EMAIL, Abilities, Rate
from bot.ports.chats import Chats
from bot.ports.messenger import Messenger
from bot.ports.store import Store
from bot.settings.chat import SlackSettings
from bot.settings.mail import MailSettings
from tests.fakes import platform, slack, smtp
from tests.fakes.platform import Behaviour, Message
from tests.fakes.platform_messenger import PlatformMessenger

TOKEN = "xoxb-0-SOAK-aaaa"
_OF_A_TRY = 0.8  # of the time that a try may take, so much a mail may: 12 of 15 seconds
_MANY = 6000  # mails a minute to one domain


class Stand(Protocol):
    """What the run asks of a platform that stands."""

    url: str

    @property
    def committed(self) -> Sequence[Message]:
        """Every message that carries a delivery's marker."""
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """How many requests of which kind."""
        ...


@asynccontextmanager
async def slack_stand(
    behaviour: Behaviour, crowd: Crowd, tiers: bool, before: Sequence[Middleware] = ()
) -> AsyncIterator[slack.FakeSlack]:
    """Run the fake Slack with the crowd's workspaces and channels."""
    async with slack.running(behaviour, tiers=tiers, before=before) as fake:
        for number in range(crowd.channels):
            name = crowd.workspace(number).partition(":")[2]
            team = fake.world.teams.get(name) or fake.add_team(name)
            channel = fake.add_channel(f"C{number}", f"channel-{number}", joined=True, team=team)
            for said in range(behaviour.others):
                fake.say(channel, f"message {said}")
        for number in range(crowd.channels):  # after the channels, whose members they need not be
            name = crowd.workspace(number).partition(":")[2]
            fake.add_person(crowd.owner(number), f"person-{number}", team=fake.world.teams[name])
        fake.add_grant(TOKEN).teams = tuple(fake.world.teams)
        yield fake
        # Where the history may not be read, that it may not is the answer to who tries.
        rejected = [each for each in fake.rejected if behaviour.readable or each.error != "missing_scope"]
        if rejected or fake.mentions:
            raise RuntimeError(f"Slack would not have taken it: {rejected[:3]}, {fake.mentions[:3]}")


@asynccontextmanager
async def stand(behaviour: Behaviour, crowd: Crowd, *, tiers: bool) -> AsyncIterator[Stand]:
    """Run the platform of this crowd; with `tiers` Slack counts requests as it says that it does."""
    if crowd.platform == "slack":
        async with slack_stand(behaviour, crowd, tiers) as fake:
            yield fake
    elif crowd.platform == "discord":
        async with discord(behaviour, crowd) as server:
            yield server
    elif crowd.platform == EMAIL:
        async with smtp.running() as relay:
            relay.faults.behaviour = behaviour
            yield relay
    else:
        async with platform.running(behaviour) as found:
            yield found


@asynccontextmanager
async def _slack_messenger(work: Work, chats: Chats) -> AsyncIterator[Messenger]:
    timeout = aiohttp.ClientTimeout(total=work.timeout)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        settings = SlackSettings(bot_token=SecretStr(TOKEN), api_url=f"{work.url}/api")
        clients = Clients(settings, session, lambda: datetime.now(UTC))
        messenger = SlackMessenger(clients, join_channels=True, chats=chats)
        messenger.abilities = _faster(messenger.abilities, work.speed)
        yield messenger


@asynccontextmanager
async def _email_messenger(work: Work, store: Store) -> AsyncIterator[Messenger]:
    port = urlsplit(work.url).port or 0
    settings = MailSettings(
        host=smtp.HOST,
        port=port,
        tls="off",
        sender="Broadsheet <papers@lab.example>",
        timeout=work.timeout * _OF_A_TRY,
        domain_minute=_MANY,
    )
    relay = Relay(settings, await asyncio.to_thread(trust, settings), lambda: datetime.now(UTC))
    try:
        yield EmailMessenger(relay, store.recipients, settings, LinkSigner(b"0" * 32), store.ledger.begin)
    finally:
        await relay.close()


def messenger_of(work: Work, store: Store) -> AbstractAsyncContextManager[Messenger]:
    """Open what posts there."""
    if work.platform == "slack":
        return _slack_messenger(work, store.chats)
    if work.platform == "discord":
        return discord_messenger(work, store.chats)
    if work.platform == EMAIL:
        return _email_messenger(work, store)
    return PlatformMessenger(work.url, work.abilities(), timeout=work.timeout)


def _faster(abilities: Abilities, speed: float) -> Abilities:
    """Return them as they are where time goes so many times as fast."""
    of: Callable[[float | None], float | None] = lambda rate: rate and rate * speed  # noqa: E731
    find = Rate(
        per_channel_second=of(abilities.find.per_channel_second),
        per_workspace_minute=of(abilities.find.per_workspace_minute),
    )
    tell = Rate(
        per_channel_second=of(abilities.tell.per_channel_second),
        per_workspace_minute=of(abilities.tell.per_workspace_minute),
    )
    return replace(
        abilities,
        per_channel_second=of(abilities.per_channel_second),
        per_workspace_minute=of(abilities.per_workspace_minute),
        find=find,
        tell=tell,
    )
