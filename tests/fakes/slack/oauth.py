"""Installing over OAuth: docs.slack.dev/authentication/installing-with-oauth, and token rotation."""

import base64
import binascii
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web

from tests.fakes.slack.call import Call
from tests.fakes.slack.state import Grant, Json, Team
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

_CODE_LIVES = 600.0  # seconds
TOKEN_LIVES = 43_200.0


@dataclass(slots=True)
class Code:
    """What a person allowed on the page."""

    team: Team
    user: str
    allowed: frozenset[str]
    redirect: str
    at: float
    whole_organisation: bool
    used: bool = False


class OAuth:
    """The page "Add to Slack", and oauth.v2.access."""

    def __init__(self, world: World, client_id: str, client_secret: str) -> None:
        self.rotates = False  # whether tokens end after twelve hours
        self._world = world
        self._client = client_id, client_secret
        self._codes: dict[str, Code] = {}

    async def page(self, request: web.Request) -> web.Response:
        """Allow at once, as the first person of the first workspace, and send the browser back."""
        team = next(iter(self._world.teams.values()))
        user = next(each.id for each in team.people.values() if not each.is_bot)
        return web.Response(status=302, headers={"Location": self.allowed(str(request.url), team, user)})

    def allowed(self, url: str, team: Team, user: str, *, whole: bool = False, allows: bool = True) -> str:
        """Return where the browser is sent once somebody decided on the page at `url`; raises AssertionError."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked.get("client_id") == self._client[0], "another app's client_id"
        assert asked.get("scope"), "no scope is asked for"
        redirect = asked.get("redirect_uri", "")
        back = {"state": asked["state"]} if "state" in asked else {}
        if not allows:
            return f"{redirect}?{urlencode({'error': 'access_denied', **back})}"
        code = f"1111.2222.{secrets.token_hex(16)}"
        allowed = frozenset(asked["scope"].split(","))
        self._codes[code] = Code(team, user, allowed, redirect, self._world.now, whole)
        return f"{redirect}?{urlencode({'code': code, **back})}"

    def access(self, world: World, call: Call) -> Json:
        """Give a token for a code, or a new one for a refresh token."""
        client = _basic(call.grant.token)
        given = client or (call.args.get("client_id", ""), call.args.get("client_secret", ""))
        if given[0] != self._client[0]:
            raise Wrong("invalid_client_id")
        if given[1] != self._client[1]:
            raise Wrong("bad_client_secret")
        if call.args.get("grant_type") == "refresh_token":
            return self._refreshed(call.args.get("refresh_token", ""))
        return self._exchanged(call.args.get("code", ""), call.args.get("redirect_uri", ""))

    def _exchanged(self, name: str, redirect: str) -> Json:
        code = self._codes.get(name)
        if code is None or self._world.now - code.at > _CODE_LIVES:
            raise Wrong("invalid_code")
        if code.used:
            raise Wrong("code_already_used")
        if code.redirect and redirect != code.redirect:
            raise Wrong("bad_redirect_uri")
        code.used = True
        enterprise = code.team.enterprise if code.whole_organisation else ""
        for each in self._world.teams.values():
            each.is_org_wide = each.is_org_wide or bool(enterprise and each.enterprise == enterprise)
        grant = self._granted((code.team.id,) if not enterprise else (), enterprise, code.allowed)
        return self._shown(grant, code.team, code.user)

    def _refreshed(self, refresh: str) -> Json:
        old = next((each for each in self._world.grants.values() if refresh and each.refresh == refresh), None)
        if old is None or old.trouble:
            raise Wrong("invalid_refresh_token")
        old.refresh = ""
        grant = self._granted(old.teams, old.enterprise, old.scopes)
        return self._shown(grant, next(self._world.reachable(grant)), "")

    def _granted(self, teams: tuple[str, ...], enterprise: str, allowed: frozenset[str]) -> Grant:
        kind = "xoxe.xoxb-1-" if self.rotates else "xoxb-"
        grant = Grant(token=f"{kind}{secrets.token_hex(12)}", kind="bot", teams=teams, enterprise=enterprise, scopes=allowed)
        if self.rotates:
            grant.expires = self._world.now + TOKEN_LIVES
            grant.refresh = f"xoxe-1-{secrets.token_hex(12)}"
        self._world.grants[grant.token] = grant
        return grant

    def _shown(self, grant: Grant, team: Team, user: str) -> Json:
        organisation = {"id": team.enterprise, "name": "Broad Org"} if team.enterprise else None
        rotation = {"refresh_token": grant.refresh, "expires_in": int(TOKEN_LIVES)} if grant.refresh else {}
        return {
            "app_id": "A0BROAD",
            "authed_user": {"id": user},
            "scope": ",".join(sorted(grant.scopes)),
            "token_type": "bot",
            "access_token": grant.token,
            "bot_user_id": team.app_user.id,
            **rotation,
            "team": None if grant.enterprise else {"id": team.id, "name": team.name},
            "enterprise": organisation,
            "is_enterprise_install": bool(grant.enterprise),
        }


def _basic(token: str) -> tuple[str, str] | None:
    try:
        name, _, secret = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, secret) if name else None
