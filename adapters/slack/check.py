"""What `broadsheet doctor` tries in Slack: every token, its scopes, the socket, the clock."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from adapters.chat.connection import CheckResult, network_fault, unreached
from adapters.slack.client.api import Clients, new_session
from adapters.slack.client.errors import FAILURES, error_code, failure_reason, slack_delivery_error
from adapters.slack.connection.requirements import require_slack_settings
from adapters.slack.install import permissions
from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.installations import Installations, place_of
from adapters.slack.install.manifest import is_public
from bot.errors import SettingsError, Uncertain
from bot.ports.chats import Chats
from bot.settings.chat import SlackSettings

WRONG_CLOCK = timedelta(minutes=1)  # Slack's requests are refused when they seem five minutes old
MOST = 20  # installations that are tried
_PAUSE = frozenset({"ratelimited", "rate_limited"})  # said of every token


async def check(settings: SlackSettings, now: datetime, chats: Chats | None = None) -> list[CheckResult]:
    """Try it all; of installations those that `chats` keeps. Raises nothing that has to do with Slack."""
    try:
        require_slack_settings(settings)
    except SettingsError as error:
        return [CheckResult("Slack", False, str(error))]
    async with new_session() as session:
        installations = await _installations(settings, now, chats)
        clients = Clients(settings, session, lambda: now, installations)
        found = await _tokens(clients, now)
        if any(each.fault for each in found):
            return found
        if settings.mode == "socket":
            found.append(await _socket(clients))
        elif not is_public(settings.public_url):
            said = "`public_url` in [slack] is no https:// address: set it to where Slack reaches `port`"
            found.append(CheckResult("Slack address", False, said))
    return found


async def _installations(settings: SlackSettings, now: datetime, chats: Chats | None) -> Installations | None:
    if chats is None or not settings.client_id:
        return None
    installations = Installations(chats, TokenCipher(settings.encryption_keys.get_secret_value()), lambda: now)
    await installations.load(reencrypt=False)
    return installations


async def _tokens(clients: Clients, now: datetime) -> list[CheckResult]:
    found: list[CheckResult] = []
    if token := clients.settings.bot_token.get_secret_value():
        found += await _token(clients, "Slack", token, now)
    if (installations := clients.installations) is None:
        return found
    if shut := installations.trouble():
        found.append(CheckResult("Slack installations", False, shut))
    everywhere = installations.all()
    for each in everywhere[:MOST]:
        # As it is kept: were it renewed here, the service would hold one that is spent.
        found += await _token(clients, f"Slack {place_of(each)}", str(each.bot_token), now)
        if found[-1].fault:
            return found  # what could not be reached now cannot be reached for the others either
    if len(everywhere) > MOST or not everywhere:
        told = (
            f"{len(everywhere)} installations, of which {MOST} were tried" if everywhere else "nobody has installed it yet"
        )
        found.append(CheckResult("Slack installations", True, told))
    return found


async def _token(clients: Clients, name: str, token: str, now: datetime) -> list[CheckResult]:
    try:
        answer: Any = await clients.new_client(token).auth_test()
    except FAILURES as error:
        return [_failed(name, error, "the token was not taken ({}): install the app again, and copy its token anew")]
    found: list[CheckResult] = [CheckResult(name, True, f"in {answer.get('team')} as {answer.get('user')}")]
    return found + _scopes(clients.settings, name, answer.headers) + _clock(name, answer.headers, now)


def _scopes(settings: SlackSettings, name: str, headers: Mapping[str, str]) -> list[CheckResult]:
    granted = {each.strip() for each in _header(headers, "x-oauth-scopes").split(",")}
    missing = [each for each in permissions.scopes(settings) if each not in granted]
    if not missing:
        return []
    told = f"missing: {', '.join(missing)}; give the app the manifest of `broadsheet slack manifest`, and install it again"
    return [CheckResult(f"{name} scopes", False, told)]


def _clock(name: str, headers: Mapping[str, str], now: datetime) -> list[CheckResult]:
    try:
        theirs = parsedate_to_datetime(_header(headers, "date"))
    except ValueError:
        return []
    off = abs(theirs - now)
    if off <= WRONG_CLOCK:
        return []
    return [
        CheckResult(
            f"{name} clock", False, f"this machine's clock is {off.total_seconds():.0f} s off Slack's: let NTP set it"
        )
    ]


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


async def _socket(clients: Clients) -> CheckResult:
    try:
        await clients.new_client().apps_connections_open(app_token=clients.settings.app_token.get_secret_value())
    except FAILURES as error:
        refused = "none can be opened ({}): switch Socket Mode on at the app's page, and give `app_token` connections:write"
        return _failed("Slack socket", error, refused)
    return CheckResult("Slack socket", True, "can be opened")


def _failed(name: str, error: Exception, refused: str) -> CheckResult:
    """Tell a refusal from a Slack that could not be reached, or could not answer: those say nothing of the token."""
    if fault := network_fault(error):
        return unreached(name, fault)
    reason, code = failure_reason(error), error_code(error)
    if code and code not in _PAUSE and not isinstance(slack_delivery_error(error), Uncertain):
        return CheckResult(name, False, refused.format(reason))
    return CheckResult(name, False, f"Slack did not say whether the token is good ({reason}): try again in a few minutes")
