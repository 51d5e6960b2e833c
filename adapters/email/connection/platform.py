"""Sending mails: opened and closed. Nothing is heard here: what comes back comes through `broadsheet mail receive`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapters.email.relay.relay import IDLE, Relay, trust
from adapters.email.send import EmailMessenger
from bot.handlers.links import LinkSigner
from bot.ports.runner import Watch
from bot.service.platforms import PlatformContext
from bot.settings.mail import MailSettings


@dataclass(frozen=True, slots=True)
class EmailPlatform:
    """E-mail, ready to be sent. The relay is first met with the first mail."""

    messenger: EmailMessenger
    relay: Relay

    @property
    def watches(self) -> Sequence[Watch]:
        """What closes connections that nobody uses."""
        return (Watch("keeping connections to the mail server", self._close_idle),)

    def trouble(self, now: datetime) -> str:
        """Return why nothing can be sent now, in a sentence; "" while all is well."""
        return self.relay.trouble

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE)
            await self.relay.close_idle()


@asynccontextmanager
async def opened(settings: MailSettings, platform: PlatformContext) -> AsyncIterator[EmailPlatform]:
    """Yield e-mail, ready to be sent. Raises SettingsError for unusable settings, and StoreError."""
    relay = Relay(settings, await asyncio.to_thread(trust, settings), platform.clock)
    store = platform.handler_context.store
    recipients = store.recipients
    links = LinkSigner(await recipients.key(), platform.web_url)
    messenger = EmailMessenger(relay, recipients, settings, links, store.ledger.begin, clock=platform.clock)
    try:
        yield EmailPlatform(messenger, relay)
    finally:
        await relay.close()
