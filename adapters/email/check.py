"""What `broadsheet doctor` tries of e-mail: the relay, as far as the login."""

import asyncio
from datetime import datetime

from adapters.chat.connection import CheckResult
from adapters.email.relay.connection import Unreached, connected
from adapters.email.relay.relay import trust
from bot.errors import BotError
from bot.ports.chats import Chats
from bot.settings.mail import MailSettings

_NAME = "e-mail"


async def check(settings: MailSettings, now: datetime, chats: Chats | None = None) -> list[CheckResult]:
    """Try it all; nothing is sent."""
    return [await _relay(settings)]


async def _relay(settings: MailSettings) -> CheckResult:
    try:
        async with asyncio.timeout(2 * settings.timeout):
            connection = await connected(settings, await asyncio.to_thread(trust, settings))
            await connection.close()
    except Unreached as error:
        return CheckResult(_NAME, False, str(error), error.fault)
    except TimeoutError:
        return CheckResult(_NAME, False, f"{settings.host} did not answer in time")
    except BotError as error:
        return CheckResult(_NAME, False, str(error))
    how = {"starttls": "over STARTTLS", "tls": "over TLS", "off": "in the clear"}[settings.tls]
    login = f", logged in as {settings.username}" if settings.username else ""
    return CheckResult(_NAME, True, f"{settings.host} port {settings.port} answers {how}{login}")
