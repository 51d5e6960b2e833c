"""The relay as who sends knows it: a few connections that are kept open, and what became of each mail."""

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic

from aiosmtplib.errors import SMTPException

from adapters.email.relay.connection import Begin, Lost, RelayConnection, Unreached, connected, unnoted
from bot.errors import Delayed, DeliveryError, NetworkFault, Reach, SettingsError, Uncertain
from bot.settings.mail import MailSettings

log = logging.getLogger(__name__)

CONNECTIONS = 4  # at the same time; relays of providers allow ten and fewer
IDLE = 30.0  # seconds for which one that nobody uses is kept; RFC 5321, 4.5.3.2.7, has servers wait for five minutes
_MOST = 100  # mails over one connection: servers count them, too
TURN = 0.5  # seconds for which a delivery waits for one of them, beside what a mail may take: a try may take 15
_SOON = timedelta(seconds=1)
_BUSY = "It waits for others to be sent: the mail server takes some time for each."
_SLOW = "The mail server did not answer in time."
_LOST = "The connection was lost after the message had gone out: the mail server may have it or not."


def trust(settings: MailSettings) -> ssl.SSLContext:
    """Return the certificates that are trusted; reads files. Raises SettingsError where `ca_file` cannot be read."""
    found = ssl.create_default_context()
    if settings.ca_file is not None:
        try:
            found.load_verify_locations(cafile=settings.ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise SettingsError(f'"email.ca_file" names a file that holds no certificates: {settings.ca_file}.') from error
    return found


class Relay:
    """Gives mails to the relay, each once."""

    def __init__(
        self,
        settings: MailSettings,
        trusted: ssl.SSLContext,
        clock: Callable[[], datetime],
        *,
        timer: Callable[[], float] = monotonic,
    ) -> None:
        """`clock` tells since when it fails, in UTC; `timer` how long a connection has not been used, in seconds."""
        self._settings = settings
        self._trusted = trusted
        self._clock = clock
        self._timer = timer
        self._turns = asyncio.Semaphore(CONNECTIONS)
        self._kept: list[tuple[float, RelayConnection]] = []  # since when it is not used; the latest last
        self._failing: tuple[datetime, str] | None = None

    @property
    def trouble(self) -> str:
        """Return since when and why nothing can be sent, "" while all is well."""
        if self._failing is None:
            return ""
        since, reason = self._failing
        return f"No e-mail can be sent since {since:%Y-%m-%d %H:%M} UTC: {reason} It is tried again."

    async def send(self, recipient: str, message: bytes, *, begin: Begin = unnoted, patience: float = TURN) -> None:
        """Give one mail to the relay. Raises Refused (AddressRefused), Rejected, Delayed or Uncertain, without an address.

        `begin` is awaited before the text is sent; where it raises, nothing was. Where a connection that was kept has ended
        meanwhile, and the text was not begun, another one is opened, and `begin` may be awaited again. `patience`
        is for how many seconds it waits for one that others use; that is no part of the time that a mail may take.
        """
        await self._take_turn(patience)
        try:
            await self._in_time(recipient, message, begin)
        except DeliveryError as error:
            self._note(error)
            raise
        finally:
            self._turns.release()
        self._failing = None

    async def _take_turn(self, patience: float) -> None:
        try:
            async with asyncio.timeout(patience):
                await self._turns.acquire()
        except TimeoutError as error:
            raise Delayed(_BUSY, retry_after=_SOON) from error

    async def _in_time(self, recipient: str, message: bytes, begin: Begin) -> None:
        attempt: list[RelayConnection] = []
        try:
            async with asyncio.timeout(self._settings.timeout):
                await self._send(recipient, message, begin, attempt)
        except TimeoutError as error:
            if attempt and attempt[-1].refusal is not None:
                raise attempt[-1].refusal from error
            if attempt and attempt[-1].begun:
                raise Uncertain(_LOST) from error
            raise (Delayed(_SLOW) if attempt else Unreached(_SLOW, NetworkFault.TIMEOUT)) from error

    async def _send(self, recipient: str, message: bytes, begin: Begin, attempt: list[RelayConnection]) -> None:
        if (kept := await self._take()) is not None:
            try:
                await self._give(kept, recipient, message, begin, attempt)
            except (Lost, Delayed) as error:
                if isinstance(error, Delayed) and kept.is_open:
                    raise
                log.debug("a connection to the mail server had ended")
            else:
                return
        fresh = await connected(self._settings, self._trusted)
        try:
            await self._give(fresh, recipient, message, begin, attempt)
        except Lost as error:
            said = "The mail server ended the connection before it had taken the message."
            raise Delayed(said, reach=Reach.PLATFORM) from error

    async def _give(
        self, connection: RelayConnection, recipient: str, message: bytes, begin: Begin, attempt: list[RelayConnection]
    ) -> None:
        attempt.append(connection)
        try:
            await connection.give(self._settings.returns_to, recipient, message, begin)
        except DeliveryError:
            self._keep(connection)
            raise
        except (SMTPException, OSError, Lost) as error:
            connection.cut()
            if connection.begun:
                raise Uncertain(_LOST) from error
            if isinstance(error, TimeoutError):
                raise
            raise Lost from error
        except BaseException:
            connection.cut()
            raise
        self._keep(connection)

    async def _take(self) -> RelayConnection | None:
        """Return the connection that was used last, if it is not too long ago; close those that are."""
        now = self._timer()
        stale = [each for since, each in self._kept if now - since > IDLE or not each.is_open]
        self._kept = [(since, each) for since, each in self._kept if each not in stale]
        for each in stale:
            each.cut()
        return self._kept.pop()[1] if self._kept else None

    def _keep(self, connection: RelayConnection) -> None:
        if connection.is_open and connection.given < _MOST:
            self._kept.append((self._timer(), connection))
        else:
            connection.cut()

    def _note(self, error: DeliveryError) -> None:
        if error.reach is Reach.PLATFORM:
            since = self._failing[0] if self._failing else self._clock()
            self._failing = since, str(error)

    async def close_idle(self) -> None:
        """Close what nobody used for a while."""
        now = self._timer()
        stale = [each for since, each in self._kept if now - since > IDLE or not each.is_open]
        self._kept = [(since, each) for since, each in self._kept if each not in stale]
        for each in stale:
            await each.close()

    async def close(self) -> None:
        """Close all connections."""
        kept, self._kept = self._kept, []
        for _, each in kept:
            await each.close()
