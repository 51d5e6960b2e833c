"""Clients of Slack's Web API: one for each workspace, all on one session, none of which tries again by itself."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponseError, ClientSession, ClientTimeout
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.installs import Installs, place_of
from adapters.slack.manifest import INSTALL_PATH
from bot.errors import Delayed, Reach, Refused
from bot.settings_chat import LOOPBACK, SlackSettings

TIMEOUT = 15  # seconds that an answer may take; less than the ledger's lease
RENEWED = timedelta(hours=2)  # before a token's end, at which it is renewed; Slack's last for twelve hours
REVOKED = frozenset(
    {
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "account_inactive",
        "not_authed",
        "org_login_required",
        "team_not_found",
    }
)
FAILURES = (SlackApiError, ClientError, OSError, asyncio.TimeoutError)  # how a call ends that does not succeed

log = logging.getLogger(__name__)
# What the libraries say below WARNING holds tokens and what people wrote.
quiet = logging.getLogger(f"{__name__}.library")
quiet.setLevel(logging.WARNING)


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
    """Hands out clients, and knows whose token acts where."""

    def __init__(
        self,
        settings: SlackSettings,
        session: ClientSession,
        clock: Callable[[], datetime],
        installs: Installs | None = None,
    ) -> None:
        """Without `installs` there is the settings' own token alone."""
        self.settings, self.session, self.installs = settings, session, installs
        self._clock = clock
        self._token = settings.bot_token.get_secret_value()
        self._own: Identity | None = None
        self._known: dict[str, Identity] = {}  # by token
        self._made: dict[str, tuple[str, AsyncWebClient]] = {}  # by workspace, with the token that it was made for
        self._renewing: dict[str, asyncio.Lock] = {}

    def bare(self, token: str = "", *, team: str = "") -> AsyncWebClient:
        """Return a new client with this token; `team` goes with each call, as an organisation's token demands."""
        client = AsyncWebClient(
            token=token or None,
            base_url=self.settings.api_url + "/",
            timeout=TIMEOUT,
            session=self.session,
            team_id=team or None,
            retry_handlers=[],
            logger=quiet,
        )
        if urlsplit(self.settings.api_url).hostname in LOOPBACK:
            client.proxy = None  # what the environment names is for what lies outside
        return client

    async def client(self, workspace: str) -> AsyncWebClient:
        """Return the client of a workspace ("slack:T0123"), with a token that is good for a while.

        Raises Refused where the app is not installed, and Delayed where its token could not be renewed now.
        """
        team = workspace.partition(":")[2]
        token, org_wide = await self._token_of(team)
        kept = self._made.get(workspace)
        if kept is None or kept[0] != token:
            kept = self._made[workspace] = (token, self.bare(token, team=team if org_wide else ""))
        return kept[1]

    async def _token_of(self, team: str, enterprise: str = "", *, org_wide: bool = False) -> tuple[str, bool]:
        found = self.installs.find(team, enterprise, org_wide=org_wide) if self.installs else None
        if found is not None:
            current = await self._renewed(found)
            return str(current.bot_token), bool(current.is_enterprise_install)
        own = self._own
        if self._token and (own is None or own.org_wide or own.team == team):
            return self._token, bool(own and own.org_wide)
        if self.installs and self.installs.is_shut(team):
            raise Delayed(self.installs.trouble(), reach=Reach.WORKSPACE)
        raise Refused(
            "Broadsheet is not installed in this Slack workspace (any more); install it" + self._where(),
            reach=Reach.WORKSPACE,
        )

    def _where(self) -> str:
        address = self.settings.public_url.rstrip("/")
        return f" at {address}{INSTALL_PATH}" if address and self.installs else ", as docs/slack.md says"

    async def _renewed(self, found: Installation) -> Installation:
        """Return the installation with a token that does not end soon; renewed and kept where it would have."""
        if found.bot_token_expires_at is None or not found.bot_refresh_token or self._lasts(found, RENEWED):
            return found
        place = place_of(found)
        async with self._renewing.setdefault(place, asyncio.Lock()):
            # Somebody else may have renewed it meanwhile: its old refresh token is spent.
            assert self.installs is not None  # noqa: S101 - it was found there
            current = self.installs.find(place, place) or found
            return current if self._lasts(current, RENEWED) else await self._renew(current)

    def _lasts(self, found: Installation, span: timedelta) -> bool:
        ends = datetime.fromtimestamp(found.bot_token_expires_at or 0, UTC)
        return ends > self._clock() + span

    async def _renew(self, found: Installation) -> Installation:
        try:
            answer = await self.exchange(grant_type="refresh_token", refresh_token=str(found.bot_refresh_token))
        except FAILURES as error:
            return self._not_renewed(found, error)
        renewed = Installation(**found.to_dict_for_copying())
        renewed.bot_token = answer["access_token"]
        renewed.bot_refresh_token = answer.get("refresh_token") or found.bot_refresh_token
        ends = self._clock() + timedelta(seconds=int(answer["expires_in"]))
        renewed.bot_token_expires_at = int(ends.timestamp())
        assert self.installs is not None  # noqa: S101 - it was found there
        await self.installs.async_save(renewed)
        return renewed

    def _not_renewed(self, found: Installation, error: Exception) -> Installation:
        why, place = reason(error), place_of(found)
        log.warning("the token of %s could not be renewed: %s", place, why)
        if self._lasts(found, timedelta(0)):
            return found
        if why in {"invalid_refresh_token", "invalid_grant"} | REVOKED:
            raise Refused(
                "Slack no longer renews Broadsheet's token for this workspace; install it again" + self._where(),
                reach=Reach.WORKSPACE,
            ) from error
        raise Delayed(f"Broadsheet's token could not be renewed: {why}.", reach=Reach.WORKSPACE) from error

    async def exchange(self, **given: str) -> Any:
        """Call oauth.v2.access: a token for a code, or for a refresh token; raises one of FAILURES.

        Not by slack_sdk's method of that name, which uses a part of aiohttp that is going away.
        """
        secret = self.settings.client_secret.get_secret_value()
        asked = {"client_id": self.settings.client_id, "client_secret": secret, **given}
        return await self.bare().api_call("oauth.v2.access", data=asked)

    async def introduce(self) -> None:
        """Find out who the settings' own token is, where there is one and it is not known yet; raises one of FAILURES."""
        if self._token and self._own is None:
            self._own = await self._identified(self.bare(self._token))

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
        found = self.installs.find(workspace.partition(":")[2]) if self.installs else None
        if found is not None and found.bot_user_id:
            return str(found.bot_user_id)
        identity = await self.identity(workspace)
        return identity.bot_user if identity else ""

    async def team_url(self, workspace: str) -> str:
        """Return a workspace's address, "https://acme.slack.com", or "" where that cannot be told."""
        identity = await self.identity(workspace)
        return identity.url if identity else ""

    async def works(self, team: str, enterprise: str = "") -> bool:
        """Ask Slack whether the workspace's token is good; False only where Slack says that it is not, or there is none."""
        try:
            token, _ = await self._token_of(team, enterprise)
            await self.bare(token).auth_test()
        except Refused:
            return False
        except (Delayed, *FAILURES) as error:
            return reason(error) not in REVOKED
        return True

    async def authorize(self, enterprise_id: str | None, team_id: str | None, *, org_wide: bool) -> AuthorizeResult | None:
        """Say by whose token a request is answered; slack-bolt asks for each. None where the app is not installed.

        `org_wide` says that the request is to an organisation's installation.
        """
        team, enterprise = team_id or "", enterprise_id or ""
        try:
            token, _ = await self._token_of(team, enterprise, org_wide=org_wide)
        except (Refused, Delayed) as error:
            log.warning("a request of workspace %s cannot be answered: %s", team or enterprise, error)
            return None
        found = self.installs.find(team, enterprise, org_wide=org_wide) if self.installs else None
        if self.installs and found is not None and found.is_enterprise_install:
            await self.installs.follow(team, enterprise)
        bot_user, bot = await self._bot(token, found)
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_user_id=bot_user, bot_id=bot, bot_token=token
        )

    async def _bot(self, token: str, found: Installation | None) -> tuple[str | None, str | None]:
        """Return the app's user and bot identifiers, without asking Slack where they are known."""
        if found is not None and found.bot_user_id:
            return found.bot_user_id, found.bot_id
        try:
            who = await self._identified(self.bare(token))
        except FAILURES:
            return None, None
        return who.bot_user or None, who.bot or None


def reason(error: BaseException) -> str:
    """Return why a call failed in a word or two, without anything that was sent: Slack's own word where it gave one."""
    if isinstance(error, SlackApiError):
        response: Any = error.response
        try:
            return str(response["error"])
        except (KeyError, TypeError, ValueError):
            return f"HTTP status {getattr(response, 'status_code', None) or getattr(response, 'status', '?')}"
    if isinstance(error, ClientResponseError):
        return f"HTTP status {error.status}"
    if isinstance(error, asyncio.TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError):
        return "no connection"
    return type(error).__name__


def _identity(answer: Any) -> Identity:
    return Identity(
        team=str(answer.get("team_id") or ""),
        enterprise=str(answer.get("enterprise_id") or ""),
        bot_user=str(answer.get("user_id") or ""),
        bot=str(answer.get("bot_id") or ""),
        url=str(answer.get("url") or "").rstrip("/"),
        org_wide=bool(answer.get("is_enterprise_install")),
    )
