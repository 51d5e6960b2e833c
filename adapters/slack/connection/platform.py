"""Being in Slack: the app is built, heard by socket or by HTTP, and closed again."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse

from adapters.chat.context import BackgroundTasks
from adapters.chat.patience import Patience
from adapters.chat.seen import SeenEvents
from adapters.slack.client.api import Authorizer, Clients, library_log, new_session
from adapters.slack.client.errors import FAILURES, failure_reason
from adapters.slack.connection.dispatch import Dispatcher
from adapters.slack.connection.http_server import EventsEndpoint, serving
from adapters.slack.connection.requirements import require_slack_settings
from adapters.slack.connection.socket_mode import TIMEOUTS, SocketMode, SocketTimeouts
from adapters.slack.forms import modals, submissions
from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.installations import Installations
from adapters.slack.install.oauth import InstallPages
from adapters.slack.listeners import events, home, interactions, spoken, steps
from adapters.slack.listeners.answers import SlackAnswers
from adapters.slack.listeners.context import Actors, SlackContext
from adapters.slack.send import SlackMessenger
from adapters.slack.workspaces import PLATFORM, Body, workspace_of
from bot.errors import Delayed, Reach
from bot.ports.runner import Watch
from bot.service.platforms import PlatformContext
from bot.settings.chat import SlackSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SlackPlatform:
    """Slack, connected or trying to be."""

    messenger: SlackMessenger
    clients: Clients
    receiver: "SocketMode | TokenCheck"
    address: tuple[str, int] | None  # of the HTTP server, where there is one

    @property
    def watches(self) -> Sequence[Watch]:
        """What listens."""
        return (Watch("listening to Slack", self.receiver.run),)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        shut = self.clients.installations.trouble() if self.clients.installations else ""
        return " ".join(filter(None, (self.receiver.trouble(now), shut)))


class TokenCheck:
    """With HTTP, Slack comes to us, or to another process; what can go wrong is that the settings' own token is not good."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._why = ""

    def trouble(self, now: datetime) -> str:
        """Return why the token cannot be used, "" while it can."""
        return f"Slack does not know Broadsheet: {self._why}. It is tried again." if self._why else ""

    async def run(self) -> None:
        """Try the token until Slack knows it, then wait for ever. Raises Delayed."""
        try:
            await self._clients.identify_own_token()
        except FAILURES as error:
            self._why = f"`bot_token` in [slack] was not taken ({failure_reason(error)})"
            raise Delayed(self._why, reach=Reach.PLATFORM) from error
        self._why = ""
        await asyncio.Event().wait()


@asynccontextmanager
async def opened(
    settings: SlackSettings, platform: PlatformContext, *, timeouts: SocketTimeouts = TIMEOUTS
) -> AsyncIterator[SlackPlatform]:
    """Yield Slack, ready to post; a `front` that runs its watches hears it too.

    Raises SettingsError for settings that cannot work.
    """
    require_slack_settings(settings)
    async with AsyncExitStack() as stack:
        cipher = _cipher(settings)
        clients = await stack.enter_async_context(_clients(settings, platform, cipher))
        installations = clients.installations
        app, tasks = built_app(clients), BackgroundTasks()
        messenger = SlackMessenger(clients, join_channels=settings.join_channels, chats=platform.chats)
        _listen(app, platform, messenger, clients, tasks)
        seen = SeenEvents(PLATFORM, platform.chats, platform.clock, is_shared=platform.cluster is not None)
        dispatcher = Dispatcher(app, seen, platform.clock, platform.unreadable)
        stack.push_async_callback(tasks.finish)
        stack.push_async_callback(dispatcher.close)  # before that: a listener may still begin something

        def open_again(team: str) -> None:
            platform.channel_opened(workspace_of(team) if team else f"{PLATFORM}:", "")

        pages = None
        if installations and cipher:
            pages = InstallPages(clients, installations, cipher, platform.chats, platform.clock, open_again)
        hears = "front" in platform.roles
        by_http, secret = settings.mode == "http", settings.signing_secret.get_secret_value()
        endpoint = EventsEndpoint(secret, dispatcher, seen, platform.clock) if by_http and hears else None
        address = None
        if hears and (endpoint or pages):
            address = await stack.enter_async_context(serving(settings.host, settings.port, endpoint, pages))
            log.info("Slack and browsers are answered at http://%s:%d", *address)
        receiver: SocketMode | TokenCheck = TokenCheck(clients)
        if hears and not by_http:
            receiver = SocketMode(clients, dispatcher, platform.clock, timeouts=timeouts)
        open_again("")  # there may be another token, or what happened meanwhile was not heard
        yield SlackPlatform(messenger, clients, receiver, address)


@asynccontextmanager
async def asked(settings: SlackSettings, platform: PlatformContext) -> AsyncIterator[SlackMessenger]:
    """Yield who tells what is seen in Slack: nobody is heard, and no address is taken. Raises SettingsError as `opened`."""
    require_slack_settings(settings)
    async with _clients(settings, platform, _cipher(settings)) as clients:
        yield SlackMessenger(clients, join_channels=False, chats=platform.chats)


@asynccontextmanager
async def _clients(settings: SlackSettings, platform: PlatformContext, cipher: TokenCipher | None) -> AsyncIterator[Clients]:
    async with new_session() as session:
        installations = Installations(platform.chats, cipher, platform.clock) if cipher else None
        if installations:
            await installations.load()
        yield Clients(settings, session, platform.clock, installations, platform.cluster)


def _cipher(settings: SlackSettings) -> TokenCipher | None:
    return TokenCipher(settings.encryption_keys.get_secret_value()) if settings.client_id else None


def _listen(
    app: AsyncApp, platform: PlatformContext, messenger: SlackMessenger, clients: Clients, tasks: BackgroundTasks
) -> None:
    """Make the app hear everything that a person does, and what befalls it."""
    patience = Patience(sleep=tasks.pause, left=lambda: tasks.left)
    context = SlackContext(
        platform=platform,
        tasks=tasks,
        settings=clients.settings,
        clients=clients,
        actors=Actors(clients, platform.clock, patience),
        answers=SlackAnswers(
            clients,
            platform.chats,
            platform.clock,
            patience,
            platform.untold,
            cluster=platform.cluster,
        ),
        messenger=messenger,
    )
    for each in (interactions, modals, submissions, home, events, spoken, steps):
        each.listen(app, context)
    interactions.listen_to_the_rest(app, context)


def _named(clients: Clients) -> Callable[..., Awaitable[BoltResponse]]:
    """Return what names the workspace of a request to slack-bolt, which of several that stand there takes another one.

    Of who acts in a view or a message the organisation may be another than that of the workspace: it says nothing where the
    workspace's installation is known.
    """

    async def named(body: Body, context: AsyncBoltContext, next_: Callable[[], Awaitable[BoltResponse]]) -> BoltResponse:
        await clients.learn_installation(body)
        team = clients.team_of_request(body)
        context["team_id"] = team or None
        if "event" not in body and "command" not in body and clients.is_installed(team):
            context["enterprise_id"] = None
        return await next_()

    return named


def built_app(clients: Clients) -> AsyncApp:
    """Return the app without listeners. Signatures are the web server's, acknowledging is the dispatcher's."""
    return AsyncApp(
        name="broadsheet",
        logger=library_log,
        client=clients.new_client(),
        authorize=Authorizer(clients),  # type: ignore[arg-type] # None is for "not installed"
        before_authorize=_named(clients),
        user_facing_authorize_error_message="Broadsheet is not installed here (any more). An administrator can do that.",
        request_verification_enabled=False,
        # A step's own token is good for its answer alone; slack-bolt would put it into the client that all requests share.
        attaching_function_token_enabled=False,
        process_before_response=True,  # so that the dispatcher knows when a listener has ended
    )
