"""The platforms that the settings configure, e-mail too: opened for `run`, tried for `doctor`. Only these are imported."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import Any

from adapters.chat.connection import CheckResult
from bot.errors import BotError, NetworkFault, SettingsError, UsageError
from bot.models import EMAIL, is_address, normal_address
from bot.ports.chats import Chats
from bot.ports.messenger import Messenger
from bot.service.platforms import PendingPlatform, Platform, PlatformContext, why_closed
from bot.settings.chat import DiscordSettings, SlackSettings
from bot.settings.load import Settings
from bot.settings.mail import MailSettings

log = logging.getLogger(__name__)

PATIENCE = timedelta(seconds=30)  # that opening one may take; connecting is what its watches do
TRYING = timedelta(minutes=1)  # that trying its credentials may take

PlatformSettings = SlackSettings | DiscordSettings | MailSettings


@dataclass(frozen=True, slots=True)
class OpenedPlatforms:
    """What could be opened, and what stands by."""

    platforms: tuple[Platform, ...] = ()
    pending: tuple[PendingPlatform, ...] = ()


@asynccontextmanager
async def opened(
    settings: Settings, context: PlatformContext, messengers: MutableMapping[str, Messenger]
) -> AsyncIterator[OpenedPlatforms]:
    """Open every platform that is configured, until the block ends. One that cannot be opened stops nothing: it stands by.

    Those that open later put their messenger among the `messengers`. Raises SettingsError for settings that cannot work.
    """
    platforms: list[Platform] = []
    pending: list[PendingPlatform] = []
    async with AsyncExitStack() as stack:
        for name, section in configured(settings).items():
            opening = partial(_opened, name, section, context)
            try:
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    platforms.append(await stack.enter_async_context(opening()))
            except SettingsError:
                raise
            except (BotError, TimeoutError) as error:
                log.error("%s cannot be opened, and is tried again: %s", name, why_closed(error))  # noqa: TRY400 - foreseen
                pending.append(PendingPlatform(name, opening, messengers, why_closed(error)))
            except Exception as error:
                log.exception("%s cannot be opened, and is tried again", name)
                pending.append(PendingPlatform(name, opening, messengers, why_closed(error)))
        yield OpenedPlatforms(tuple(platforms), tuple(pending))


@asynccontextmanager
async def mail_opened(
    settings: Settings, context: PlatformContext, messengers: MutableMapping[str, Messenger]
) -> AsyncIterator[None]:
    """Let e-mail be sent until the block ends, where it is configured. Raises SettingsError."""
    section = configured(settings).get(EMAIL)
    if section is None:
        yield
        return
    async with _opened(EMAIL, section, context) as platform:
        messengers[EMAIL] = platform.messenger
        yield


@asynccontextmanager
async def asked(
    settings: Settings, context: PlatformContext, messengers: MutableMapping[str, Messenger], name: str
) -> AsyncIterator[None]:
    """Let that platform be asked who sees what until the block ends, where it is configured; beside a service that runs.

    Nothing is heard and no address is taken. Raises SettingsError.
    """
    section = configured(settings).get(name)
    if section is None or name == EMAIL:
        yield
        return
    connect: Any = await asyncio.to_thread(import_module, f"adapters.{name}.connection.platform")
    async with connect.asked(section, context) as messenger:
        messengers[name] = messenger
        yield


def configured(settings: Settings) -> Mapping[str, PlatformSettings]:
    """Return the sections of the platforms that are switched on, by name."""
    sections: dict[str, PlatformSettings] = {
        "slack": settings.slack,
        "discord": settings.discord,
        "email": settings.email,
    }
    return {name: section for name, section in sections.items() if section.enabled}


@asynccontextmanager
async def _opened(name: str, section: PlatformSettings, context: PlatformContext) -> AsyncIterator[Platform]:
    connect: Any = await asyncio.to_thread(import_module, f"adapters.{name}.connection.platform")
    async with connect.opened(section, context) as platform:
        yield platform


async def check_platforms(settings: Settings, now: datetime, chats: Chats) -> Sequence[CheckResult]:
    """Try the credentials and rights of every platform that is configured; each line says what to mend."""
    found: list[CheckResult] = []
    for name, section in configured(settings).items():
        found += await check_platform(name, section, now, chats)
    return found


async def check_platform(
    name: str, section: PlatformSettings, now: datetime, chats: Chats | None = None
) -> Sequence[CheckResult]:
    """Try the credentials and rights of one platform; without `chats` no installation of others is tried."""
    try:
        check: Any = await asyncio.to_thread(import_module, f"adapters.{name}.check")
        async with asyncio.timeout(TRYING.total_seconds()):
            found: Sequence[CheckResult] = await check.check(section, now, chats)
    except TimeoutError:
        said = f"it did not answer within {TRYING.total_seconds():.0f} seconds"
        return [CheckResult(name, False, said, NetworkFault.TIMEOUT)]
    except BotError as error:
        return [CheckResult(name, False, str(error))]
    return found


async def send_test_mail(settings: MailSettings, address: str, now: datetime) -> CheckResult:
    """Send a test message to an address; raises UsageError where that is none, or where mails are not sent from here."""
    if not settings.enabled:
        raise UsageError("Mails are not sent from here: set `host` and `sender` under [email] first.")
    if not is_address(address):
        raise UsageError("A test message needs an address, like me@lab.example.")
    check: Any = await asyncio.to_thread(import_module, "adapters.email.check")
    sent: CheckResult = await check.send_test(settings, normal_address(address), now)
    return sent
