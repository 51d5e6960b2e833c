"""Slack's tokens in two processes on one store: each renewed once and known to both, as is what is installed or removed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.connection.platform import SlackPlatform, opened
from adapters.slack.install.installations import Installations
from bot.app import App
from bot.errors import Delayed, Refused, StoreError
from bot.service.platforms import Cluster
from bot.settings.chat import SlackSettings
from tests.e2e.slack_rooms import Clock, by_oauth, service
from tests.fakes import slack
from tests.fakes.platform import Behaviour
from tests.stores.instead import instead

HERE, GENERAL = "slack:T0BROAD", "C0GENERAL"
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@dataclass
class Process:
    """One of the processes, connected to Slack."""

    platform: SlackPlatform

    @property
    def installations(self) -> Installations:
        found = self.platform.clients.installations
        assert found is not None
        return found

    async def token(self) -> str:
        """Return the token with which it posts, once it has posted."""
        await self.platform.messenger.announce(HERE, GENERAL, "A digest.")
        return str((await self.platform.clients.client(HERE)).token)

    async def installs(self, fake: slack.FakeSlack) -> None:
        """Let somebody install the app, and this process hear of it."""
        page = f"https://slack.invalid/?client_id={fake.client_id}&scope=chat:write,channels:read&redirect_uri="
        code = fake.authorise(page).partition("code=")[2].partition("&")[0]
        answer = await self.platform.clients.rotation.exchange(code=code)
        ends = int(self.platform.clients.rotation._clock().timestamp()) + answer["expires_in"]
        made = Installation(team_id="T0BROAD", user_id="U0ANNA", bot_token=answer["access_token"], bot_token_expires_at=ends)
        made.bot_refresh_token = answer["refresh_token"]
        await self.installations.save(made)


@pytest.fixture
async def fake() -> AsyncIterator[slack.FakeSlack]:
    async with slack.running(tiers=False) as fake:
        fake.oauth.rotates = True
        yield fake


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with service(tmp_path) as built:
        yield built


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def connected(app: App, given: SlackSettings, clock: Clock, name: str, stack: AsyncExitStack) -> Process:
    cluster = Cluster(name, app.store.leases, app.store.budgets, app.store.processes)
    context = replace(app.platform_context(clock), cluster=cluster)
    return Process(await stack.enter_async_context(opened(given, context)))


@pytest.fixture
async def both(fake: slack.FakeSlack, app: App, clock: Clock) -> AsyncIterator[tuple[Process, Process]]:
    """Give two processes, the first of which has heard of an installation."""
    async with AsyncExitStack() as stack:
        one, two = [await connected(app, by_oauth(fake), clock, name, stack) for name in ("one", "two")]
        await one.installs(fake)
        yield one, two


def exchanges(fake: slack.FakeSlack) -> int:
    return len([each for each in fake.requests if each.method == "oauth.v2.access"])


async def test_what_one_process_heard_of_an_installation_the_other_acts_by(both: tuple[Process, Process]) -> None:
    one, two = both
    assert await two.token() == await one.token()


async def test_two_processes_renew_a_token_once_and_both_post_by_the_new_one(
    fake: slack.FakeSlack, both: tuple[Process, Process], clock: Clock
) -> None:
    one, two = both
    old = await one.token()
    assert await two.token() == old
    clock.ahead += 11 * HOUR
    fake.behaviour = Behaviour(takes=(0.2, 0.2))
    posted = await asyncio.gather(*(each.token() for each in (one, two, one, two)))
    assert old in posted  # the other one goes on with what is still good
    assert exchanges(fake) == 2
    clock.ahead += MINUTE
    renewed = await one.token()
    assert renewed != old
    assert await two.token() == renewed
    assert exchanges(fake) == 2


async def test_what_another_process_renewed_long_ago_is_read_before_slack_is_asked(
    fake: slack.FakeSlack, both: tuple[Process, Process], clock: Clock
) -> None:
    one, two = both
    await two.token()
    clock.ahead += 11 * HOUR
    renewed = await one.token()
    clock.ahead += 3 * HOUR  # the old one has ended
    assert await two.token() == renewed
    assert exchanges(fake) == 2


async def test_while_another_process_renews_a_token_that_has_ended_it_is_waited_for(
    app: App, both: tuple[Process, Process], clock: Clock
) -> None:
    _, two = both
    old = await two.token()
    lease = await app.store.leases.take("slack token T0BROAD", "three", HOUR)
    assert lease is not None
    clock.ahead += 11 * HOUR
    assert await two.token() == old
    clock.ahead += 2 * HOUR
    with pytest.raises(Delayed, match="another process is at it"):
        await two.token()
    await app.store.leases.give_back(lease)
    clock.ahead += MINUTE
    assert await two.token() not in {"", old}


async def test_a_token_of_an_installation_made_anew_in_another_process_is_found_when_the_old_one_is_refused(
    fake: slack.FakeSlack, both: tuple[Process, Process]
) -> None:
    one, two = both
    old = await two.token()
    fake.world.grants[old].trouble = "token_revoked"
    await one.installs(fake)
    with pytest.raises(Delayed, match="was renewed") as delayed:
        await two.token()
    assert delayed.value.retry_after == timedelta(0)
    assert await two.token() == await one.token() != old


async def test_what_is_refused_and_was_not_renewed_by_anybody_is_refused(
    fake: slack.FakeSlack, both: tuple[Process, Process]
) -> None:
    _, two = both
    fake.world.grants[await two.token()].trouble = "token_revoked"
    with pytest.raises(Refused):
        await two.token()


async def test_what_another_process_dropped_is_dropped_when_it_is_refused(
    fake: slack.FakeSlack, both: tuple[Process, Process]
) -> None:
    one, two = both
    fake.world.grants[await two.token()].trouble = "account_inactive"
    await one.installations.drop("T0BROAD")
    with pytest.raises(Refused):
        await two.token()
    with pytest.raises(Refused, match="not installed"):
        await two.token()


async def test_a_renewed_token_that_could_not_be_kept_is_kept_by_the_next_one_who_needs_it(
    fake: slack.FakeSlack, app: App, both: tuple[Process, Process], clock: Clock
) -> None:
    one, two = both
    await two.token()
    kept = one.installations._chats

    async def busy(_: object) -> None:
        raise StoreError("The disk is full.")

    one.installations._chats = instead(kept, save_installation=busy)
    clock.ahead += 11 * HOUR
    renewed = await one.token()
    one.installations._chats = kept
    assert await one.token() == renewed
    clock.ahead += MINUTE
    assert await two.token() == renewed
    assert exchanges(fake) == 2
