"""Clients of Slack's Web API: one for each workspace, all on one session, none of which tries again by itself."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientSession, ClientTimeout
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.errors import ASK, FAILURES, REVOKED, error_code, failure_reason, slack_delivery_error
from adapters.slack.install.installations import Installations, place_of
from adapters.slack.install.token_rotation import TokenRotation, where_to_install
from adapters.slack.workspaces import Body, installed_team, named_places, team_of
from bot.errors import Delayed, DeliveryError, Reach, Refused, StoreError
from bot.service.platforms import Cluster
from bot.settings.chat import LOOPBACK, SlackSettings

TIMEOUT = 15  # seconds that an answer may take; less than the ledger's lease

log = logging.getLogger(__name__)
# What the libraries say below WARNING holds tokens and what people wrote.
library_log = logging.getLogger(f"{__name__}.library")
library_log.setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the app is in a workspace, as auth.test says."""

    team: str
    enterprise: str
    bot_user: str
    bot: str
    url: str  # of the workspace: https://acme.slack.com
    org_wide: bool


def new_session() -> ClientSession:
    """Return the one session for everything; the client's own timeout does not hold on a session that is given to it."""
    return ClientSession(timeout=ClientTimeout(total=TIMEOUT))


class Clients:
    """Makes the clients, and knows whose token acts where."""

    def __init__(
        self,
        settings: SlackSettings,
        session: ClientSession,
        clock: Callable[[], datetime],
        installations: Installations | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        """Without `installations` there is the settings' own token alone; with a cluster others install and renew too."""
        self._is_shared = cluster is not None
        self.settings, self.session, self.installations = settings, session, installations
        self._token = settings.bot_token.get_secret_value()
        self._own: Identity | None = None
        self._refused = ""  # why Slack refuses the settings' own token for good
        self._known: dict[str, Identity] = {}  # by token
        self._made: dict[str, tuple[str, AsyncWebClient]] = {}  # by workspace, with the token that it was made for
        self.rotation = TokenRotation(settings, self.new_client, clock, installations, cluster)

    def new_client(self, token: str = "", *, team: str = "") -> AsyncWebClient:
        """Return a new client with this token; `team` goes with each call, as an organisation's token demands."""
        client = AsyncWebClient(
            token=token or None,
            base_url=self.settings.api_url + "/",
            timeout=TIMEOUT,
            session=self.session,
            team_id=team or None,
            retry_handlers=[],
            logger=library_log,
        )
        if urlsplit(self.settings.api_url).hostname in LOOPBACK:
            client.proxy = None  # what the environment names is for what lies outside
        return client

    async def client(self, workspace: str) -> AsyncWebClient:
        """Return the client of a workspace ("slack:T0123"), with a token that is good for a while.

        Raises Refused where the app is not installed, and Delayed where its token could not be renewed now.
        """
        team = team_of(workspace)
        token, org_wide = await self._token_of(team)
        kept = self._made.get(workspace)
        if kept is None or kept[0] != token:
            kept = self._made[workspace] = (token, self.new_client(token, team=team if org_wide else ""))
        return kept[1]

    async def _token_of(self, team: str, enterprise: str = "", *, org_wide: bool = False) -> tuple[str, bool]:
        found = await self._found(team, enterprise, org_wide=org_wide)
        if found is not None:
            current = await self.rotation.current(found)
            return str(current.bot_token), bool(current.is_enterprise_install)
        own = self._own
        if self._has_token and (own is None or own.org_wide or own.team == team):
            return self._token, bool(own and own.org_wide)
        if self.installations and self.installations.is_unreadable(team):
            raise Delayed(self.installations.trouble(), reach=Reach.WORKSPACE)
        raise Refused(
            f"Broadsheet is not installed in this Slack workspace (any more); install it {where_to_install(self.settings)}.",
            reach=Reach.WORKSPACE,
        )

    async def _found(self, team: str, enterprise: str, *, org_wide: bool) -> Installation | None:
        """Return whose token acts there, also where another process has just heard of it; raises Delayed."""
        if self.installations is None:
            return None
        found = self.installations.find(team, enterprise, org_wide=org_wide)
        if found is not None or not self._is_shared:
            return found
        await self._read_again(team, enterprise)
        return self.installations.find(team, enterprise, org_wide=org_wide)

    async def _read_again(self, *places: str) -> None:
        try:
            if self.installations is not None:
                await self.installations.read_again(*places)
        except StoreError as error:
            raise Delayed(f"Broadsheet's token could not be read: {error}", reach=Reach.WORKSPACE) from error

    async def meaning(self, client: AsyncWebClient, error: BaseException) -> DeliveryError:
        """Return what a failed call means; one with a token that another process has renewed is to be made again."""
        token = client.token or ""
        if error_code(error) in REVOKED and self._is_shared and self.installations is not None:
            place = self.installations.place_of_token(token)
            await self._read_again(place)
            if place and self.installations.place_of_token(token) != place and self.installations.find(place, place):
                return Delayed("Broadsheet's token was renewed.", reach=Reach.WORKSPACE, retry_after=timedelta(0))
        return slack_delivery_error(error)

    def is_installed(self, team: str, organisation: str = "") -> bool:
        """Say whether the app is known to be in a workspace, or where its token is not known yet, may be.

        With an organisation, whether it is there by that one's installation.
        """
        kept, own = self.installations, self._own
        found = kept.find(team) if kept is not None else None
        if found is not None:
            return not organisation or (bool(found.is_enterprise_install) and place_of(found) == organisation)
        if kept is not None and kept.is_unreadable(team):
            return True
        return self._has_token and (own is None or own.org_wide or own.team == team)

    async def learn_installation(self, body: Body) -> None:
        """Read whose installation a request is to, where this process knows of none: another one may have just been told.

        Who cannot tell leaves it as it is known.
        """
        if not self._is_shared or self.installations is None or self.is_installed(self.team_of_request(body)):
            return
        try:
            await self._read_again(*named_places(body))
        except Delayed as error:
            log.warning("whose installation a request is to could not be read: %s", error)

    @property
    def _has_token(self) -> bool:
        return bool(self._token) and not self._refused

    def team_of_request(self, body: Body) -> str:
        """Return the workspace that anything from Slack belongs to, "" where that cannot be told."""
        return installed_team(body, self.is_installed)

    def organisation(self, team: str) -> str:
        """Return the organisation that a workspace is of, "" where it is of none or that is not known."""
        found = self.installations.find(team) if self.installations else None
        if found is not None:
            return str(found.enterprise_id or "")
        return self._own.enterprise if self._own and self._own.team == team else ""

    async def identify_own_token(self) -> None:
        """Find out who the settings' own token is, where there is one and it is not known yet; raises one of FAILURES."""
        if not self._token or self._own is not None:
            return
        try:
            self._own = await self._identified(self.new_client(self._token))
        except SlackApiError as error:
            self._refused = failure_reason(error) if isinstance(slack_delivery_error(error), Refused) else ""
            raise
        self._refused = ""

    @property
    def is_heard_without_own_token(self) -> bool:
        """Whether Slack refuses the settings' own token for good, and other workspaces have installed the app."""
        return bool(self._refused) and self.installations is not None and bool(self.installations.all())

    def trouble(self) -> str:
        """Return what is wrong with the settings' own token where others are heard all the same, "" where nothing is."""
        if not self.is_heard_without_own_token:
            return ""
        return f"`bot_token` in [slack] was not taken ({self._refused}): copy it anew, or leave it out."

    async def identity(self, workspace: str) -> Identity | None:
        """Return who the app is in a workspace, None where that cannot be told now; asked once."""
        try:
            return await self._identified(await self.client(workspace))
        except (Refused, Delayed, *FAILURES):
            return None

    async def _identified(self, client: AsyncWebClient) -> Identity:
        token = str(client.token)
        if token not in self._known:
            if len(self._known) > 10_000:  # renewed tokens leave theirs behind
                self._known.clear()
            self._known[token] = _identity(await client.auth_test())
        return self._known[token]

    async def bot_user(self, workspace: str) -> str:
        """Return the app's own user in a workspace, "" where that cannot be told."""
        found = self.installations.find(team_of(workspace)) if self.installations else None
        if found is not None and found.bot_user_id:
            return str(found.bot_user_id)
        identity = await self.identity(workspace)
        return identity.bot_user if identity else ""

    async def team_url(self, workspace: str) -> str:
        """Return a workspace's address, "https://acme.slack.com", or "" where that cannot be told."""
        identity = await self.identity(workspace)
        return identity.url if identity else ""

    async def token_works(self, team: str, enterprise: str = "", *, org_wide: bool = False) -> bool:
        """Ask Slack whether the workspace's token is good; False only where Slack says that it is not, or there is none.

        `org_wide` speaks of the organisation's, where there are two.
        """
        try:
            token, _ = await self._token_of(team, enterprise, org_wide=org_wide)
            await self.new_client(token).auth_test()
        except (DeliveryError, *FAILURES) as error:
            return not isinstance(slack_delivery_error(error), Refused)
        return True

    async def is_shut_out(self, workspace: str) -> bool:
        """Ask Slack whether we may act nowhere in a workspace; True only where Slack says so, or we are not installed."""
        try:
            return bool(await self.lacks_access(workspace))
        except (DeliveryError, *FAILURES) as error:
            return isinstance(slack_delivery_error(error), Refused)

    async def lacks_access(self, workspace: str) -> str:
        """Ask Slack whether we may act in a workspace at all; return in a sentence why not, "" where we may.

        An organisation's token is good also where the organisation took a workspace from it: then its list of workspaces
        tells. Raises Refused and Delayed as `client`, and one of FAILURES.
        """
        client = await self.client(workspace)
        who = _identity(await client.auth_test())
        if not who.org_wide:
            return ""
        team, cursor = team_of(workspace), ""
        while True:
            page: Any = await client.auth_teams_list(cursor=cursor, limit=1000)
            if any(each["id"] == team for each in page["teams"]):
                return ""
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return f"The organisation has not given Broadsheet this workspace (any more). {ASK}"

    async def authorize(self, enterprise_id: str | None, team_id: str | None, *, org_wide: bool) -> AuthorizeResult | None:
        """Say by whose token a request is answered; slack-bolt asks for each. None where the app is not installed.

        `org_wide` says that the request is to an organisation's installation.
        """
        team, enterprise = team_id or "", enterprise_id or ""
        if not team:
            log.warning(
                "a request that names no workspace of %s in which Broadsheet is installed is not answered", enterprise
            )
            return None
        try:
            token, _ = await self._token_of(team, enterprise, org_wide=org_wide)
        except (Refused, Delayed) as error:
            log.warning("a request of workspace %s cannot be answered: %s", team or enterprise, error)
            return None
        found = self.installations.find(team, enterprise, org_wide=org_wide) if self.installations else None
        if self.installations and found is not None and found.is_enterprise_install:
            await self.installations.link_workspace(team, enterprise)
        bot_user, bot = await self._bot(token, found)
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_user_id=bot_user, bot_id=bot, bot_token=token
        )

    async def _bot(self, token: str, found: Installation | None) -> tuple[str | None, str | None]:
        """Return the app's user and bot identifiers, without asking Slack where they are known."""
        if found is not None and found.bot_user_id:
            return found.bot_user_id, found.bot_id
        try:
            who = await self._identified(self.new_client(token))
        except FAILURES:
            return None, None
        return who.bot_user or None, who.bot or None


def _identity(answer: Any) -> Identity:
    return Identity(
        team=str(answer.get("team_id") or ""),
        enterprise=str(answer.get("enterprise_id") or ""),
        bot_user=str(answer.get("user_id") or ""),
        bot=str(answer.get("bot_id") or ""),
        url=str(answer.get("url") or "").rstrip("/"),
        org_wide=bool(answer.get("is_enterprise_install")),
    )


class Authorizer(AsyncAuthorize):
    """Tells slack-bolt by whose token a request is answered."""

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
        """Return it, None where the app is not installed."""
        return await self._clients.authorize(enterprise_id, team_id, org_wide=bool(context.is_enterprise_install))
