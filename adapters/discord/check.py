"""What `broadsheet doctor` tries in Discord: the token, the connections that are left today, the intents, the rights."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from discord import Permissions
from discord.errors import HTTPException
from discord.http import Route

from adapters.discord.client.channels import NAMES
from adapters.discord.client.errors import translated
from adapters.discord.client.http import Door
from adapters.discord.connection.requirements import addressed, demand_usable
from adapters.discord.install.invite import invite, permissions
from adapters.discord.workspaces import PLATFORM
from bot.errors import SettingsError
from bot.ports.chats import Chats
from bot.settings.chat import DiscordSettings

Tried = tuple[str, bool, str]  # what was tried, whether it is well, and a sentence

_FEW = 100  # connections that should be left of a day's thousand
_CONTENT = 1 << 18 | 1 << 19  # flags of an application that may read messages, in many servers or in few
_MOST = 20  # servers that are looked at


async def check(settings: DiscordSettings, now: datetime, chats: Chats | None = None) -> list[Tried]:
    """Try it all. Raises nothing that has to do with Discord."""
    try:
        demand_usable(settings)
    except SettingsError as error:
        return [("Discord", False, str(error))]
    addressed(settings)
    door = Door(settings.token.get_secret_value())
    try:
        return await _tried(door, settings)
    except Exception as error:  # noqa: BLE001 - translated raises what it does not know
        return [("Discord", False, _sentence(error))]
    finally:
        await door.close()


def _sentence(error: Exception) -> str:
    if isinstance(error, HTTPException) and error.status == 401:
        return "the token was not taken: copy it anew from Discord's developer portal, under Bot"
    return str(translated(error))


async def _tried(door: Door, settings: DiscordSettings) -> list[Tried]:
    application: Any = await door.request(Route("GET", "/applications/@me"))
    found: list[Tried] = [("Discord", True, f"application {application['name']}")]
    found += _content(application, settings)
    gateway: Any = await door.request(Route("GET", "/gateway/bot"))
    left = int((gateway.get("session_start_limit") or {}).get("remaining", _FEW))
    if left < _FEW:
        found.append(("Discord connections", False, f"only {left} are left today: something restarts again and again"))
    servers: Any = await door.request(Route("GET", "/users/@me/guilds"))
    found += _servers(servers, str(application["id"]))
    return found


def _content(application: Mapping[str, Any], settings: DiscordSettings) -> list[Tried]:
    if not settings.link_previews or int(application.get("flags") or 0) & _CONTENT:
        return []
    said = "`link_previews` needs the Message Content Intent: switch it on in Discord's developer portal, under Bot"
    return [("Discord intents", False, said)]


def _servers(servers: Sequence[Mapping[str, Any]], application: str) -> list[Tried]:
    if not servers:
        return [("Discord servers", False, f"the bot is in no server: open {invite(application)}")]
    found: list[Tried] = []
    for each in servers[:_MOST]:
        missing = permissions().value & ~_given(each)
        names = ", ".join(name for bit, name in NAMES.items() if missing & bit)
        told = f"{names} is missing: invite the bot again, or give its role these permissions" if names else "all is given"
        found.append((f"{PLATFORM.capitalize()} server {each.get('name')}", not names, told))
    return found


def _given(server: Mapping[str, Any]) -> int:
    value = int(server.get("permissions") or 0)
    return Permissions.all().value if value & Permissions(administrator=True).value else value
