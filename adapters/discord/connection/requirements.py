"""Whether Discord can be reached by the settings at all, and discord.py turned to where they say."""

import logging
from urllib.parse import urlsplit

import yarl
from discord.asset import Asset
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.errors import SettingsError
from bot.settings.chat import DISCORD_ADDRESSES, DiscordSettings

log = logging.getLogger(__name__)


def require_discord_settings(settings: DiscordSettings) -> None:
    """Raise SettingsError for settings with which Discord could never be heard."""
    token = settings.token.get_secret_value()
    if token.strip() != token or token.lower().startswith("bot ") or len(token.split(".")) != 3:
        raise SettingsError(
            "`token` in [discord] must be the bot's token as Discord's developer portal shows it: three parts joined by"
            " dots, without the word Bot."
        )
    if settings.interactions == "http":
        _demand_reachable(settings)


def _demand_reachable(settings: DiscordSettings) -> None:
    if not settings.public_key:
        raise SettingsError(
            "`public_key` in [discord] is empty: with `interactions` = http nobody knows without it what comes from Discord."
            " It stands in the developer portal, under General Information."
        )
    if urlsplit(settings.public_url).scheme != "https" or not urlsplit(settings.public_url).hostname:
        raise SettingsError(
            "`public_url` in [discord] must be the address at which Discord reaches `host` and `port`, beginning with"
            " https://: with `interactions` = http Discord sends there what people do."
        )


def use_addresses(settings: DiscordSettings) -> None:
    """Turn discord.py to the addresses of the settings; they hold for the whole process."""
    Route.BASE = settings.api_url
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)
    Asset.BASE = settings.cdn_url
    if (settings.api_url, settings.gateway_url, settings.cdn_url) != DISCORD_ADDRESSES:
        log.warning("Discord is looked for at %s and %s", settings.api_url, settings.gateway_url)
