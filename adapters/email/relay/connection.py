"""One connection to the relay: opened, encrypted, logged in, and one mail at a time given over it."""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

from aiosmtplib import SMTP
from aiosmtplib.errors import SMTPException, SMTPNotSupported, SMTPResponseException, SMTPTimeoutError

from adapters.email.relay.replies import MENDED_BY_THE_OPERATOR, RelayReply, Stage, delivery_error
from bot.errors import Delayed, DeliveryError, NetworkFault, Reach
from bot.settings.mail import MailSettings

_BYE = 1.0  # seconds that a relay has to say good-bye, or to forget a mail
_START = 354  # "start mail input": what follows is the message
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_TAKEN = frozenset({250, 251, 252})


class Unreached(Delayed):
    """The relay could not be reached, or what it said could not be kept secret on the way. Nothing was sent."""

    def __init__(self, message: str, fault: NetworkFault | None = None, *, lasts: bool = False) -> None:
        super().__init__(message, reach=Reach.PLATFORM, retry_after=MENDED_BY_THE_OPERATOR if lasts else None, here=True)
        self.fault = fault


class Lost(Exception):  # noqa: N818 - says what happened
    """The connection ended before the text of a message was begun."""


Begin = Callable[[], Awaitable[None]]  # called just before the text of a mail is sent; what it raises leaves that unsent


async def unnoted() -> None:
    """Note nothing: of what is sent so, nobody asks afterwards whether it was begun."""


class RelayConnection:
    """An open connection. After any exception but a DeliveryError of `give` it is of no use any more."""

    def __init__(self, client: SMTP) -> None:
        self._client = client
        self.begun = False  # the text of the mail that is being given, and not answered yet
        self.refusal: DeliveryError | None = None  # of that mail
        self.given = 0  # mails

    @property
    def is_open(self) -> bool:
        """Whether it can be used, as far as is known here."""
        return self._client.is_connected

    @property
    def extensions(self) -> tuple[str, ...]:
        """What the relay offers, in lower case."""
        return tuple(self._client.esmtp_extensions)

    async def give(self, sender: str, recipient: str, message: bytes, begin: Begin) -> None:
        """Give one mail to the relay, which then answers for it; `begin` is awaited before the first octet of its text.

        Raises a DeliveryError for what the relay refuses, and Lost or whatever the library raises for what ends before that
        is known; `begun` tells whether the relay may have the mail then.
        """
        self.begun, self.refusal = False, None
        try:
            await self._give(sender, recipient, message, begin)
        except DeliveryError as error:
            # From here on it is known: nothing that takes time may hide it.
            self.begun, self.refusal = False, error
            await self._reset()
            raise
        finally:
            self.given += 1

    async def _give(self, sender: str, recipient: str, message: bytes, begin: Begin) -> None:
        size = [b"SIZE=%d" % len(message)] if self._client.supports_extension("size") else []
        await self._asked(Stage.SENDER, b"MAIL", b"FROM:<%s>" % sender.encode("ascii"), *size)
        await self._asked(Stage.RECIPIENT, b"RCPT", b"TO:<%s>" % recipient.encode("ascii"))
        await self._asked(Stage.DATA, b"DATA", wanted=frozenset({_START}))
        await self._begin(begin)
        protocol = self._client.protocol
        if protocol is None or not self.is_open:
            raise Lost
        self.begun = True
        protocol.write(_dotted(message))
        found = await protocol.read_response()
        if found.code not in _TAKEN:
            if not 400 <= found.code < 600:
                raise SMTPException(f"no answer that says anything: {found.code}")
            raise delivery_error(Stage.TEXT, RelayReply(found.code, found.message))

    async def _begin(self, begin: Begin) -> None:
        try:
            await begin()
        except BaseException:
            self._client.close()  # the relay waits for the text, and would take a command for it
            raise

    async def _asked(self, stage: Stage, *command: bytes, wanted: frozenset[int] = _TAKEN) -> None:
        found = await self._client.execute_command(*command)
        if found.code not in wanted:
            raise delivery_error(stage, RelayReply(found.code, found.message))

    async def _reset(self) -> None:
        """Have the relay forget what it was told of a mail; where it does not, the connection is of no use."""
        with suppress(SMTPException, OSError):
            async with asyncio.timeout(_BYE):
                if self.is_open and (await self._client.execute_command(b"RSET")).code == 250:
                    return
        self._client.close()

    async def close(self) -> None:
        """Say good-bye, unless that takes long."""
        with suppress(SMTPException, OSError):
            async with asyncio.timeout(_BYE):
                if self.is_open:
                    await self._client.quit()
        self._client.close()

    def cut(self) -> None:
        """End it at once."""
        self._client.close()


def _dotted(message: bytes) -> bytes:
    """Return the message as it is sent (RFC 5321, 4.5.2): CRLF, a further dot before each that begins a line, the end."""
    lines = _LINE_ENDS.sub(b"\r\n", message).removesuffix(b"\r\n").split(b"\r\n")
    return b"\r\n".join(b"." + line if line.startswith(b".") else line for line in lines) + b"\r\n.\r\n"


async def connected(settings: MailSettings, trusted: ssl.SSLContext) -> RelayConnection:
    """Return an open connection, encrypted and logged in as the settings say.

    Raises Delayed: Unreached where the relay cannot be reached or offers no encryption that can be trusted.
    """
    client = SMTP(
        hostname=settings.host,
        port=settings.port,
        local_hostname=settings.domain,
        timeout=settings.timeout,
        use_tls=settings.tls == "tls",
        start_tls=False,
        tls_context=trusted,
    )
    try:
        await _said(Stage.CONNECT, client.connect())
        await _said(Stage.CONNECT, client.ehlo())
        if settings.tls == "starttls":
            await _encrypt(client)
        if settings.username:
            await _log_in(client, settings)
    except (SMTPException, OSError, ValueError) as error:
        client.close()
        raise _unreached(error) from error
    except BaseException:
        client.close()
        raise
    return RelayConnection(client)


async def _encrypt(client: SMTP) -> None:
    if not client.supports_extension("starttls"):
        said = "The mail server offers no STARTTLS: nothing is sent in the clear. Where it has a port for TLS, set `tls`"
        raise Unreached(
            f'{said} = "tls"; else something between may have taken the offer away.', NetworkFault.TLS, lasts=True
        )
    await _said(Stage.CONNECT, client.starttls())
    await _said(Stage.CONNECT, client.ehlo())


async def _log_in(client: SMTP, settings: MailSettings) -> None:
    if not client.supported_auth_methods:
        raise Unreached("The mail server offers no way to log in: check host, port and tls under [email].", lasts=True)
    await _said(Stage.LOGIN, client.login(settings.username, settings.password.get_secret_value()))


async def _said(stage: Stage, asked: Awaitable[object]) -> None:
    try:
        await asked
    except SMTPResponseException as error:
        raise delivery_error(stage, RelayReply(error.code, error.message)) from error


def _unreached(error: BaseException) -> Unreached:
    fault, said = _fault(error)
    return Unreached(f"The mail server could not be reached: {said or fault}.", fault, lasts=fault is NetworkFault.TLS)


def _fault(error: BaseException) -> tuple[NetworkFault, str]:
    """Return what of the network failed, and in words where these say more."""
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    for each in chain:
        if isinstance(each, ssl.SSLCertVerificationError):
            return NetworkFault.TLS, f"its certificate is not trusted ({each.verify_message})"
        if isinstance(each, ssl.SSLError):
            return NetworkFault.TLS, ""
        if isinstance(each, socket.gaierror):
            return NetworkFault.NAME, ""
    if any(isinstance(each, TimeoutError | SMTPTimeoutError) for each in chain):
        return NetworkFault.TIMEOUT, ""
    if any(isinstance(each, SMTPNotSupported) for each in chain):
        return NetworkFault.TLS, str(error)
    return NetworkFault.CONNECTION, ""
