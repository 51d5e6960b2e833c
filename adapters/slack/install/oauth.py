"""Installing the app by OAuth 2: the two pages that a browser sees.

https://docs.slack.dev/authentication/installing-with-oauth

The state that goes to Slack and comes back is an encrypted word with its time: nothing is kept for who never comes back. It
is taken once, within ten minutes, and only from the browser that was given the same word as a cookie: nobody can make
another finish an installation that they began.
"""

import hmac
import logging
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

from aiohttp import web
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.client.api import Clients
from adapters.slack.client.errors import FAILURES, failure_reason
from adapters.slack.install import permissions
from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.installations import Installations, place_of
from adapters.slack.install.manifest import INSTALL_PATH, REDIRECT_PATH
from adapters.slack.workspaces import PLATFORM
from bot.ports.chats import Chats

LIFE = timedelta(minutes=10)
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>Broadsheet</title><style>body{{font:17px/1.5 Georgia,serif;max-width:34rem;margin:18vh auto;padding:0 1rem;"
    "color:#1f2a37}}h1{{font-size:1.6rem;border-bottom:3px double}}a{{color:inherit}}</style><h1>{title}</h1><p>{text}</p>"
)

log = logging.getLogger(__name__)


class InstallPages:
    """Begins an installation and ends it."""

    def __init__(
        self,
        clients: Clients,
        installations: Installations,
        cipher: TokenCipher,
        chats: Chats,
        clock: Callable[[], datetime],
        installed: Callable[[str], None],
    ) -> None:
        """`installed` is called when somebody has installed it, with the workspace; "" for an organisation."""
        self._clients, self._installations, self._cipher = clients, installations, cipher
        self._chats, self._clock, self._on_installed = chats, clock, installed
        self._settings = clients.settings
        self._address = self._settings.public_url.rstrip("/")
        self._secure = urlsplit(self._address).scheme == "https"
        # A browser takes a cookie of the first name only by HTTPS, for this host alone.
        self._cookie = "__Host-broadsheet-install" if self._secure else "broadsheet-install"

    async def begin(self, _: web.Request) -> web.Response:
        """Send the browser to Slack, with a state and its cookie."""
        word = secrets.token_urlsafe(24)
        query = {
            "client_id": self._settings.client_id,
            "scope": ",".join(permissions.scopes(self._settings)),
            "state": self._cipher.issue_state(word, self._clock()),
            "redirect_uri": self._address + REDIRECT_PATH,
        }
        response = web.Response(
            status=302, headers={"Location": f"{_authorize_url(self._settings.api_url)}?{urlencode(query)}"}
        )
        response.set_cookie(
            self._cookie,
            word,
            max_age=int(LIFE.total_seconds()),
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="Lax",
        )
        return response

    async def finish(self, request: web.Request) -> web.Response:
        """Finish what `install` began, once."""
        if request.query.get("error"):
            return self._told(200, "Not installed", "Slack says that the installation was not allowed. Nothing was changed.")
        if not await self._is_ours(request):
            return self._told(
                400,
                "Not installed",
                "This page belongs to an installation that was begun in another browser, more than ten minutes ago, or that"
                f' is finished. <a href="{escape(self._address + INSTALL_PATH)}">Begin again</a>.',
            )
        try:
            installed = await self._installed(request.query.get("code", ""))
        except FAILURES as error:
            log.warning("an installation in Slack failed: %s", failure_reason(error))
            told = f"Slack did not hand over the app's token ({escape(failure_reason(error))}). Begin again."
            return self._told(502, "Not installed", told)
        log.info("the app was installed in %s", place_of(installed))
        self._on_installed("" if installed.is_enterprise_install else str(installed.team_id or ""))
        where = escape(installed.team_name or installed.enterprise_name or "your workspace")
        return self._told(
            200, "Installed", f"Broadsheet is in {where}. Write <b>/digest help</b> in any channel to see what it can do."
        )

    async def _is_ours(self, request: web.Request) -> bool:
        now = self._clock()
        word = self._cipher.read_state(request.query.get("state", ""), now, LIFE)
        cookie = request.cookies.get(self._cookie, "")
        if word is None or not hmac.compare_digest(word.encode(), cookie.encode()):
            return False
        return await self._chats.first_time(PLATFORM, f"state:{word}", now, 2 * LIFE)

    async def _installed(self, code: str) -> Installation:
        """Exchange the code for the app's token, try it, and keep it."""
        answer = await self._clients.rotation.exchange(code=code, redirect_uri=self._address + REDIRECT_PATH)
        who: Any = await self._clients.new_client(answer["access_token"]).auth_test()
        installed = _installation(answer, str(who.get("bot_id") or ""), str(who.get("url") or ""), self._clock())
        await self._installations.save(installed)
        return installed

    def _told(self, status: int, title: str, text: str) -> web.Response:
        response = web.Response(
            status=status,
            text=_PAGE.format(title=title, text=text),
            content_type="text/html",
            headers={
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
                "Referrer-Policy": "no-referrer",  # the address holds the code
                "X-Content-Type-Options": "nosniff",
            },
        )
        response.del_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="Lax")
        return response


def _authorize_url(api_url: str) -> str:
    """Return where a browser goes: slack.com/oauth/v2/authorize for slack.com/api."""
    return api_url.removesuffix("/api") + "/oauth/v2/authorize"


def _installation(answer: Any, bot: str, url: str, now: datetime) -> Installation:
    enterprise, team = answer.get("enterprise") or {}, answer.get("team") or {}
    org_wide = bool(answer.get("is_enterprise_install"))
    expires = answer.get("expires_in")
    return Installation(
        app_id=answer.get("app_id"),
        enterprise_id=enterprise.get("id"),
        enterprise_name=enterprise.get("name"),
        enterprise_url=url if org_wide else None,
        team_id=team.get("id"),
        team_name=team.get("name"),
        bot_token=answer["access_token"],
        bot_id=bot or None,
        bot_user_id=answer.get("bot_user_id"),
        bot_scopes=answer.get("scope") or "",
        bot_refresh_token=answer.get("refresh_token"),
        bot_token_expires_at=int((now + timedelta(seconds=int(expires))).timestamp()) if expires else None,
        user_id=(answer.get("authed_user") or {}).get("id") or "",
        is_enterprise_install=org_wide,
        token_type=answer.get("token_type"),
        installed_at=now.timestamp(),
    )
