"""What Discord's refusals mean for a delivery (docs.discord.com/developers/topics/opcodes-and-status-codes)."""

from collections.abc import Mapping
from datetime import timedelta

import aiohttp
from discord.errors import DiscordException, HTTPException, RateLimited

from adapters.discord.client.api import SendingPaused, TooManyRequests
from bot.errors import Delayed, DeliveryError, Reach, Refused, Uncertain

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
MISSING_ACCESS, MISSING_PERMISSIONS = 50001, 50013
NOT_A_TEXT_CHANNEL, INVALID_FORM = 50008, 50035
ARCHIVED_THREAD, HAS_A_THREAD = 50083, 160004
LONGEST = 24 * 3600.0  # seconds, whatever is asked for

_SENTENCES: Mapping[int, tuple[Reach, str]] = {
    UNKNOWN_CHANNEL: (Reach.CHANNEL, "Discord says that the channel is gone; subscribe again in another one."),
    UNKNOWN_GUILD: (
        Reach.WORKSPACE,
        "Discord says that the server is gone, or that I was removed from it; invite me again.",
    ),
    UNKNOWN_MESSAGE: (Reach.CHANNEL, "The first part of the digest was deleted in Discord."),
    MISSING_ACCESS: (Reach.CHANNEL, "I cannot see the channel; give me the permission *View Channel* there."),
    MISSING_PERMISSIONS: (Reach.CHANNEL, "I may not post in the channel; give me the permission *Send Messages* there."),
    50007: (
        Reach.CHANNEL,
        "Discord does not let me write to this person; direct messages from the server are switched off.",
    ),
    NOT_A_TEXT_CHANNEL: (Reach.CHANNEL, "The channel takes no messages; subscribe in a text channel, a thread or a forum."),
    40001: (Reach.PLATFORM, "Discord does not accept the bot's token; set `discord.token` anew."),
    50014: (Reach.PLATFORM, "Discord does not accept the bot's token; set `discord.token` anew."),
    160005: (Reach.CHANNEL, "The thread is locked; unlock it, or subscribe in another channel."),
    160006: (Reach.CHANNEL, "The server has as many open threads as Discord allows; close some, or switch threads off."),
    INVALID_FORM: (Reach.CHANNEL, "Discord does not take the message as it was written, which is a fault of Broadsheet's."),
}


def sentence_of(code: int) -> str:
    """Return what a refusal with this code says, which is also said where only its cause was seen."""
    return _SENTENCES[code][1]


def discord_delivery_error(error: Exception) -> DeliveryError:
    """Return what an exception of discord.py or of its HTTP client means for what was being sent; no token stands in it."""
    if isinstance(error, RateLimited):
        reach = Reach.PLATFORM if isinstance(error, SendingPaused) else Reach.CHANNEL
        return Delayed("Discord takes nothing more for now.", reach=reach, retry_after=_span(error.retry_after))
    if isinstance(error, TooManyRequests):
        reach = Reach.PLATFORM if error.everywhere else Reach.CHANNEL
        return Delayed("Discord asks for a pause.", reach=reach, retry_after=_span(error.retry_after))
    if isinstance(error, HTTPException):
        return _answered(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return Delayed("Discord cannot be reached.", reach=Reach.PLATFORM)
    if isinstance(error, (aiohttp.ClientError, TimeoutError, OSError)):
        return Uncertain("The connection to Discord broke before its answer came.")
    if isinstance(error, (DiscordException, ValueError, TypeError, KeyError)):
        return Uncertain("Discord answered in a way that cannot be read.")
    raise error


def _answered(error: HTTPException) -> DeliveryError:
    status, code = error.status, error.code
    if status >= 500 or status == 408:
        return Uncertain(f"Discord had a fault of its own (status {status}), and may have taken the message.")
    if status == 401:
        reach, said = _SENTENCES[40001]
        return Refused(said, reach=reach)
    if code in _SENTENCES:
        reach, said = _SENTENCES[code]
        return Refused(said, reach=reach)
    return Refused(f"Discord refused the message (status {status}, code {code}).")


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=min(seconds, LONGEST))
