"""What `broadsheet doctor` tries in Discord: the token, the connections that are left today, the intents, the rights."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from discord import Permissions
from discord.errors import HTTPException
from discord.http import Route

from adapters.chat.connection import Advice, CheckResult, network_fault, unreached
from adapters.discord.client.api import RestClient
from adapters.discord.client.channels import NAMES
from adapters.discord.client.errors import discord_delivery_error
from adapters.discord.connection.requirements import require_discord_settings, use_addresses
from adapters.discord.install.invite import endpoint, invite, permissions
from adapters.discord.workspaces import PLATFORM
from bot.errors import SettingsError
from bot.ports.chats import Chats
from bot.settings.chat import DiscordSettings

_FEW = 100  # connections that should be left of a day's thousand
_CONTENT = 1 << 18 | 1 << 19  # flags of an application that may read messages, in many servers or in few
_MOST = 20  # servers that are looked at


async def check(settings: DiscordSettings, now: datetime, chats: Chats | None = None) -> list[CheckResult]:
    """Try it all. Raises nothing that has to do with Discord."""
    try:
        require_discord_settings(settings)
    except SettingsError as error:
        return [CheckResult("Discord", False, str(error))]
    use_addresses(settings)
    client = RestClient(settings.token.get_secret_value())
    try:
        return await _tried(client, settings)
    except Exception as error:  # noqa: BLE001 - translated raises what it does not know
        fault = network_fault(error)
        return [unreached("Discord", fault) if fault else CheckResult("Discord", False, _sentence(error))]
    finally:
        await client.close()


def _sentence(error: Exception) -> str:
    if isinstance(error, HTTPException) and error.status == 401:
        return "the token was not taken: copy it anew from Discord's developer portal, under Bot"
    if isinstance(error, HTTPException):
        return f"Discord did not say whether the token is good (status {error.status}): try again in a few minutes"
    return str(discord_delivery_error(error))


async def _tried(client: RestClient, settings: DiscordSettings) -> list[CheckResult]:
    application: Any = await client.request(Route("GET", "/applications/@me"))
    found: list[CheckResult] = [CheckResult("Discord", True, f"application {application['name']}")]
    found += _content(application, settings)
    if settings.user_install and "1" not in (application.get("integration_types_config") or {}):
        said = "`user_install` needs User Install: switch it on in Discord's developer portal, under Installation"
        found.append(CheckResult("Discord installation", False, said))
    found += _interactions(application, settings)
    if settings.interactions == "gateway":
        found += await _connections(client)
    servers: Any = await client.request(Route("GET", "/users/@me/guilds"))
    found += _servers(servers, str(application["id"]))
    return found


def _interactions(application: Mapping[str, Any], settings: DiscordSettings) -> list[CheckResult]:
    """Return whether Discord sends what people do to where it is heard, and what is not heard so."""
    name, entered = "Discord interactions", str(application.get("interactions_endpoint_url") or "")
    if settings.interactions == "gateway":
        said = (
            f"Discord sends commands to {entered}, and not over the gateway: delete the Interactions Endpoint URL in its"
            ' developer portal, under General Information, or set `interactions` to "http"'
        )
        return [CheckResult(name, False, said)] if entered else []
    if application.get("verify_key") != settings.public_key:
        said = "`public_key` is not this application's: copy it from Discord's developer portal, under General Information"
        return [CheckResult(name, False, said)]
    wanted = endpoint(settings.public_url)
    said = f"they come to {wanted}"
    if entered != wanted:
        said = (
            f"enter {wanted} as Interactions Endpoint URL in Discord's developer portal, under General Information, while"
            " Broadsheet runs: Discord tries it"
        )
    return [CheckResult(name, entered == wanted, said), _unheard(settings)]


def _unheard(settings: DiscordSettings) -> CheckResult:
    """Return what is not heard without a gateway, and whether a setting asks for it."""
    asked = [each for each in ("reactions", "link_previews", "mentions") if getattr(settings, each)]
    if asked:
        named = " and ".join(f"`{each}`" for each in asked)
        said = f'{named} cannot be heard over HTTP: switch it off, or set `interactions` to "gateway"'
        return CheckResult("Discord events", False, said)
    said = (
        "over HTTP no reaction, mention or link is heard; that a channel or the bot was removed is noticed when something is"
        " to be posted"
    )
    return Advice("Discord events", True, said)


async def _connections(client: RestClient) -> list[CheckResult]:
    gateway: Any = await client.request(Route("GET", "/gateway/bot"))
    left = int((gateway.get("session_start_limit") or {}).get("remaining", _FEW))
    if left >= _FEW:
        return []
    said = f"only {left} are left today: something restarts again and again"
    return [CheckResult("Discord connections", False, said)]


def _content(application: Mapping[str, Any], settings: DiscordSettings) -> list[CheckResult]:
    if not settings.link_previews or int(application.get("flags") or 0) & _CONTENT:
        return []
    said = "`link_previews` needs the Message Content Intent: switch it on in Discord's developer portal, under Bot"
    return [CheckResult("Discord intents", False, said)]


def _servers(servers: Sequence[Mapping[str, Any]], application: str) -> list[CheckResult]:
    if not servers:
        return [CheckResult("Discord servers", False, f"the bot is in no server: open {invite(application)}")]
    found: list[CheckResult] = []
    for each in servers[:_MOST]:
        missing = permissions().value & ~_given(each)
        names = ", ".join(name for bit, name in NAMES.items() if missing & bit)
        told = f"{names} is missing: invite the bot again, or give its role these permissions" if names else "all is given"
        found.append(CheckResult(f"{PLATFORM.capitalize()} server {each.get('name')}", not names, told))
    return found


def _given(server: Mapping[str, Any]) -> int:
    value = int(server.get("permissions") or 0)
    return Permissions.all().value if value & Permissions(administrator=True).value else value
