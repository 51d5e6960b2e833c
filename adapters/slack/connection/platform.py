"""Being in Slack: the app is built, heard by socket or by HTTP, and closed again."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext

from adapters.slack.client.clients import Clients, new_session, quiet
from adapters.slack.client.failures import FAILURES, reason
from adapters.slack.connection.dispatch import Door
from adapters.slack.connection.http_server import Events, serving
from adapters.slack.connection.requirements import demand_usable
from adapters.slack.connection.seen_events import Once
from adapters.slack.connection.socket_mode import PATIENCE, Patience, Sockets
from adapters.slack.install.encryption import Sealer
from adapters.slack.install.installations import Installs
from adapters.slack.install.oauth import Pages
from adapters.slack.listeners import events
from adapters.slack.listeners.register import register
from adapters.slack.send import SlackMessenger
from bot.errors import Delayed, Reach
from bot.ports.store import Watch
from bot.service.platforms import PlatformContext
from bot.settings.chat import SlackSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SlackPlatform:
    """Slack, connected or trying to be."""

    messenger: SlackMessenger
    clients: Clients
    ear: "Sockets | Introduction"
    address: tuple[str, int] | None  # of the HTTP server, where there is one

    @property
    def watches(self) -> Sequence[Watch]:
        """What listens."""
        return (Watch("listening to Slack", self.ear.run),)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        shut = self.clients.installs.trouble() if self.clients.installs else ""
        return " ".join(filter(None, (self.ear.trouble(now), shut)))


class Introduction:
    """With HTTP, Slack comes to us; what can go wrong is that the settings' own token is not good."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._why = ""

    def trouble(self, now: datetime) -> str:
        """Return why the token cannot be used, "" while it can."""
        return f"Slack does not know Broadsheet: {self._why}. It is tried again." if self._why else ""

    async def run(self) -> None:
        """Try the token until Slack knows it, then wait for ever. Raises Delayed."""
        try:
            await self._clients.introduce()
        except FAILURES as error:
            self._why = f"`bot_token` in [slack] was not taken ({reason(error)})"
            raise Delayed(self._why, reach=Reach.PLATFORM) from error
        self._why = ""
        await asyncio.Event().wait()


@asynccontextmanager
async def opened(
    settings: SlackSettings, line: PlatformContext, *, patience: Patience = PATIENCE
) -> AsyncIterator[SlackPlatform]:
    """Yield Slack, ready to post; who runs its watches hears it too. Raises SettingsError for settings that cannot work."""
    demand_usable(settings)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(new_session())
        sealer = Sealer(settings.encryption_keys.get_secret_value()) if settings.client_id else None
        installs = Installs(line.chats, sealer, line.clock) if sealer else None
        if installs:
            await installs.load()
        clients = Clients(settings, session, line.clock, installs)
        app = built_app(clients)
        work = register(app, line, settings, clients)
        events.listen(app, line, clients)
        once = Once(line.chats, line.clock)
        door = Door(app, once, line.clock)
        stack.push_async_callback(work.finish)
        stack.push_async_callback(door.close)  # before that: a listener may still begin something
        pages = Pages(clients, installs, sealer, line.chats, line.clock) if installs and sealer else None
        by_http = settings.mode == "http"
        heard = Events(settings.signing_secret.get_secret_value(), door, once, line.clock) if by_http else None
        address = None
        if heard or pages:
            address = await stack.enter_async_context(serving(settings.host, settings.port, heard, pages))
            log.info("Slack and browsers are answered at http://%s:%d", *address)
        messenger = SlackMessenger(clients, layout=settings.layout, join_channels=settings.join_channels, chats=line.chats)
        ear = Introduction(clients) if by_http else Sockets(clients, door, line.clock, patience=patience)
        yield SlackPlatform(messenger, clients, ear, address)


class _Authorize(AsyncAuthorize):
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: str | None,
    ) -> AuthorizeResult | None:
        return await self._clients.authorize(enterprise_id, team_id, org_wide=bool(context.is_enterprise_install))


def built_app(clients: Clients) -> AsyncApp:
    """Return the app without listeners. Signatures are the web server's, acknowledging is the door's."""
    return AsyncApp(
        name="broadsheet",
        logger=quiet,
        client=clients.bare(),
        authorize=_Authorize(clients),  # type: ignore[arg-type] # None is for "not installed"
        user_facing_authorize_error_message="Broadsheet is not installed here (any more). An administrator can do that.",
        request_verification_enabled=False,
        process_before_response=True,  # so that the door knows when a listener has ended
    )
