"""What `broadsheet doctor` tries in Slack: every token, its scopes, the socket, the clock."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from adapters.slack.client.clients import Clients, new_session
from adapters.slack.client.failures import FAILURES, reason
from adapters.slack.connection.requirements import demand_usable
from adapters.slack.install import permissions
from adapters.slack.install.encryption import Sealer
from adapters.slack.install.installations import Installs, place_of
from adapters.slack.install.manifest import is_public
from bot.errors import SettingsError
from bot.ports.chats import Chats
from bot.settings.chat import SlackSettings

Tried = tuple[str, bool, str]  # what was tried, whether it is well, and a sentence

WRONG_CLOCK = timedelta(minutes=1)  # Slack's requests are refused when they seem five minutes old
MOST = 20  # installations that are tried


async def check(settings: SlackSettings, now: datetime, chats: Chats | None = None) -> list[Tried]:
    """Try it all; of installations those that `chats` keeps. Raises nothing that has to do with Slack."""
    try:
        demand_usable(settings)
    except SettingsError as error:
        return [("Slack", False, str(error))]
    async with new_session() as session:
        installs = await _installs(settings, now, chats)
        clients = Clients(settings, session, lambda: now, installs)
        found = await _tokens(clients, now)
        if settings.mode == "socket":
            found.append(await _socket(clients))
        elif not is_public(settings.public_url):
            found.append(
                (
                    "Slack address",
                    False,
                    "`public_url` in [slack] is no https:// address: set it to where Slack reaches `port`",
                )
            )
    return found


async def _installs(settings: SlackSettings, now: datetime, chats: Chats | None) -> Installs | None:
    if chats is None or not settings.client_id:
        return None
    installs = Installs(chats, Sealer(settings.encryption_keys.get_secret_value()), lambda: now)
    await installs.load(seal_anew=False)
    return installs


async def _tokens(clients: Clients, now: datetime) -> list[Tried]:
    found: list[Tried] = []
    if token := clients.settings.bot_token.get_secret_value():
        found += await _token(clients, "Slack", token, now)
    if (installs := clients.installs) is None:
        return found
    if shut := installs.trouble():
        found.append(("Slack installations", False, shut))
    everywhere = installs.all()
    for each in everywhere[:MOST]:
        # As it is kept: were it renewed here, the service would hold one that is spent.
        found += await _token(clients, f"Slack {place_of(each)}", str(each.bot_token), now)
    if len(everywhere) > MOST or not everywhere:
        told = (
            f"{len(everywhere)} installations, of which {MOST} were tried" if everywhere else "nobody has installed it yet"
        )
        found.append(("Slack installations", True, told))
    return found


async def _token(clients: Clients, name: str, token: str, now: datetime) -> list[Tried]:
    try:
        answer: Any = await clients.bare(token).auth_test()
    except FAILURES as error:
        return [(name, False, f"the token was not taken ({reason(error)}): install the app again, and copy its token anew")]
    found: list[Tried] = [(name, True, f"in {answer.get('team')} as {answer.get('user')}")]
    return found + _scopes(clients.settings, name, answer.headers) + _clock(name, answer.headers, now)


def _scopes(settings: SlackSettings, name: str, headers: Mapping[str, str]) -> list[Tried]:
    granted = {each.strip() for each in _header(headers, "x-oauth-scopes").split(",")}
    missing = [each for each in permissions.scopes(settings) if each not in granted]
    if not missing:
        return []
    return [
        (
            f"{name} scopes",
            False,
            f"missing: {', '.join(missing)}; give the app the manifest of `broadsheet slack manifest`, and install it again",
        )
    ]


def _clock(name: str, headers: Mapping[str, str], now: datetime) -> list[Tried]:
    try:
        theirs = parsedate_to_datetime(_header(headers, "date"))
    except ValueError:
        return []
    off = abs(theirs - now)
    if off <= WRONG_CLOCK:
        return []
    return [(f"{name} clock", False, f"this machine's clock is {off.total_seconds():.0f} s off Slack's: let NTP set it")]


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


async def _socket(clients: Clients) -> Tried:
    try:
        await clients.bare().apps_connections_open(app_token=clients.settings.app_token.get_secret_value())
    except FAILURES as error:
        why = reason(error)
        return (
            "Slack socket",
            False,
            f"none can be opened ({why}): switch Socket Mode on at the app's page, and give `app_token` connections:write",
        )
    return ("Slack socket", True, "can be opened")
