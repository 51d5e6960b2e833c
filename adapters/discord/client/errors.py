"""What Discord's refusals mean for a delivery (docs.discord.com/developers/topics/opcodes-and-status-codes).

Only a code that is known to speak of a place or of the token refuses for good. Any other one says that this message was not
taken. What does not answer as Discord does, is not Discord.
"""

from collections.abc import Mapping
from datetime import timedelta

import aiohttp
from discord.errors import DiscordException, HTTPException, RateLimited

from adapters.discord.client.api import Intercepted, SendingPaused, TooManyRequests
from adapters.discord.client.channels import NO_MESSAGES
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
MISSING_ACCESS, MISSING_PERMISSIONS = 50001, 50013
NOT_A_TEXT_CHANNEL, A_FORUM, INVALID_FORM = 50008, 40058, 50035
ARCHIVED_THREAD, HAS_A_THREAD, LOCKED_THREAD, TOO_MANY_THREADS = 50083, 160004, 160005, 160006
CROSSPOSTED, NO_ANNOUNCEMENTS = 40033, 50024  # published already; a channel that nobody can follow
TAG_REFUSALS = (40066, 40067)  # of a tag that we may not give, of none where one is needed
LONGEST = 24 * 3600.0  # seconds, whatever is asked for

_TOKEN = "Discord does not accept the bot's token; set `discord.token` anew."  # noqa: S105 - a sentence about it
_NO_TAG = "The forum wants a tag on each post, and knows none that is meant; *subscribe TOPIC* in it asks for one."
_NOT_THERE = "Discord does not let me write to this person; direct messages from the server are switched off."
# Never: of a channel or a person, of a server, or of the token.
_FOR_GOOD: Mapping[int, tuple[Reach, str]] = {
    UNKNOWN_CHANNEL: (Reach.CHANNEL, "Discord says that the channel is gone; subscribe again in another one."),
    UNKNOWN_GUILD: (
        Reach.WORKSPACE,
        "Discord says that the server is gone, or that I was removed from it; invite me again.",
    ),
    10013: (Reach.CHANNEL, "Discord knows no such person."),
    MISSING_ACCESS: (Reach.CHANNEL, "I cannot see the channel; give me the permission *View Channel* there."),
    MISSING_PERMISSIONS: (Reach.CHANNEL, "I may not post in the channel; give me the permission *Send Messages* there."),
    50007: (Reach.CHANNEL, _NOT_THERE),
    50278: (Reach.CHANNEL, _NOT_THERE),
    NOT_A_TEXT_CHANNEL: (Reach.CHANNEL, NO_MESSAGES),
    A_FORUM: (Reach.CHANNEL, NO_MESSAGES),
    NO_ANNOUNCEMENTS: (Reach.CHANNEL, NO_MESSAGES),
    **dict.fromkeys(TAG_REFUSALS, (Reach.CHANNEL, _NO_TAG)),
    LOCKED_THREAD: (Reach.CHANNEL, "The thread is locked; unlock it, or subscribe in another channel."),
    40001: (Reach.PLATFORM, _TOKEN),
    50014: (Reach.PLATFORM, _TOKEN),
    40002: (Reach.PLATFORM, "Discord wants the bot's owner to verify their account."),
}
_LIMIT = "Discord takes nothing more there for now."
# Not now.
_LATER: Mapping[int, tuple[Reach, str]] = {
    20016: (Reach.CHANNEL, "The channel is in slow mode."),
    20022: (Reach.CHANNEL, "Discord takes no further edit of what was published for now."),
    20028: (Reach.CHANNEL, _LIMIT),
    20029: (Reach.WORKSPACE, _LIMIT),
    30046: (Reach.CHANNEL, "Discord takes no further edit of an old message for now."),
    40003: (Reach.WORKSPACE, "Discord lets me open no more direct conversations for now."),
    40004: (Reach.PLATFORM, "Discord has switched messages off for a while."),
    40006: (Reach.PLATFORM, "Discord has switched this off for a while."),
    40062: (Reach.PLATFORM, "Discord takes nothing more for now."),
    40333: (Reach.PLATFORM, "Cloudflare does not let this machine's requests through to Discord."),
    110000: (Reach.PLATFORM, "Discord is not ready yet."),
    110001: (Reach.PLATFORM, "Discord is not ready yet."),
    130000: (Reach.PLATFORM, "Discord is overloaded."),
    TOO_MANY_THREADS: (
        Reach.CHANNEL,
        "The server has as many open threads as Discord allows; close some, or switch threads off.",
    ),
}
_AS_WRITTEN = "Discord does not take the message as it was written, which is a fault of Broadsheet's."
_BLOCKED = "The server's or Discord's own filter blocked what the message says."
# Of this one message.
_OF_THE_MESSAGE: Mapping[int, str] = {
    INVALID_FORM: _AS_WRITTEN,
    40005: _AS_WRITTEN,
    50006: _AS_WRITTEN,
    50109: _AS_WRITTEN,
    UNKNOWN_MESSAGE: "The first part of the digest was deleted in Discord.",
    20009: _BLOCKED,
    200000: _BLOCKED,
    200001: _BLOCKED,
    240000: _BLOCKED,
}


def sentence_of(code: int) -> str:
    """Return what a refusal with this code says, which is also said where only its cause was seen."""
    return _FOR_GOOD[code][1]


def discord_delivery_error(error: Exception) -> DeliveryError:
    """Return what an exception of discord.py or of its HTTP client means for what was being sent; no token stands in it."""
    if isinstance(error, RateLimited):
        paused = isinstance(error, SendingPaused)
        reach = Reach.PLATFORM if paused else Reach.CHANNEL
        return Delayed("Discord takes nothing more for now.", reach=reach, retry_after=_span(error.retry_after), here=paused)
    if isinstance(error, TooManyRequests):
        reach = Reach.PLATFORM if error.everywhere else Reach.CHANNEL
        wait = _span(error.retry_after)
        return Delayed("Discord asks for a pause.", reach=reach, retry_after=wait, here=error.shuts_out)
    if isinstance(error, HTTPException):
        return _answered(error)
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError)):
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
    if isinstance(error, Intercepted):
        return Delayed(f"Something on the way to Discord answered in its place (status {status}).", reach=Reach.PLATFORM)
    if status == 401:
        return Refused(_TOKEN, reach=Reach.PLATFORM)
    if code in _FOR_GOOD:
        reach, said = _FOR_GOOD[code]
        return Refused(said, reach=reach)
    if code in _LATER:
        reach, said = _LATER[code]
        return Delayed(said, reach=reach)
    said = _OF_THE_MESSAGE.get(code, "Discord did not take the message.")
    failure = f"status {status}, code {code}"
    of_message = code in _OF_THE_MESSAGE and code != UNKNOWN_MESSAGE
    return Rejected(f"{said[:-1]} ({failure}).", failure=failure, of_message=of_message)


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=min(seconds, LONGEST))
