"""A mail server on the loopback interface, on aiosmtpd, that takes our mails and fails in every way one was seen to fail.

It is as strict as the strictest: a line too long, a byte that is no ASCII, a bare line feed, a header that cannot be parsed
or is there twice is kept in `wrong`, and the run that meets one fails. What it commits it commits at a random instant after
the whole message came, also when who sent it has died meanwhile.
"""

import asyncio
import random
import re
import ssl
import time
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from enum import StrEnum
from typing import Any, cast

from tests.fakes.platform import Behaviour, Fault, Message

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

HOST = "127.0.0.1"
USER, PASSWORD = "broadsheet", "of-the-relay"
_ONCE = ("from", "to", "subject", "date", "message-id", "mime-version", "auto-submitted")
_MOST_OF_A_LINE = 998  # octets: RFC 5322, 2.1.1


class At(StrEnum):
    """Where in a conversation something happens."""

    CONNECT = "connect"
    EHLO = "ehlo"
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"  # before the server says 354
    INSIDE = "inside"  # while the text comes
    TEXT = "text"  # after the whole text came
    COMMITTED = "committed"  # likewise, and it was taken
    RESET = "reset"  # before what was refused is forgotten


@dataclass(slots=True)
class Faults:
    """What is to go wrong; may be changed while it runs."""

    replies: dict[At, str] = field(default_factory=dict)  # said in place of yes: "450 4.2.0 later"
    recipients: dict[str, str] = field(default_factory=dict)  # by address, likewise at RCPT
    drops: set[At] = field(default_factory=set)  # the connection is cut there
    waits: dict[At, float] = field(default_factory=dict)  # seconds
    no_starttls: bool = False  # the offer is taken away
    behaviour: Behaviour | None = None  # shares by which a message is lost, committed or not, as by other platforms


@dataclass(frozen=True, slots=True)
class TakenMail:
    """A mail that was taken."""

    sender: str
    recipient: str
    raw: bytes
    at: float

    @property
    def parsed(self) -> EmailMessage:
        """Return it as the library reads it."""
        return message_from_bytes(self.raw, policy=policy.default)

    @property
    def number(self) -> str:
        """Return what its Message-ID has before the @."""
        return _number(self.raw)


def _number(raw: bytes) -> str:
    found = re.search(rb"^Message-ID: <([^@>]+)@", raw, re.MULTILINE)
    return found[1].decode("ascii") if found else ""


class FakeRelay:
    """What it holds, and how it answers."""

    def __init__(self, tls: ssl.SSLContext | None = None, *, needs_login: bool = False) -> None:
        self.tls, self.needs_login = tls, needs_login
        self.faults = Faults()
        self.port, self.url = 0, ""
        self.taken: list[TakenMail] = []
        self.wrong: list[str] = []
        self.counts: Counter[str] = Counter()  # connections, mails, commits, each Fault
        self._sent: Counter[str] = Counter()  # by marker
        self._working: set[asyncio.Task[None]] = set()

    @property
    def committed(self) -> list[Message]:
        """Every mail that was taken, as the judge of a run knows messages."""
        return [Message(str(at), each.recipient, each.number, "", each.at) for at, each in enumerate(self.taken)]

    @property
    def came(self) -> frozenset[str]:
        """The markers of the mails whose whole text came, whether they were taken or not."""
        return frozenset(self._sent)

    def take(self, envelope: Envelope) -> None:
        raw = bytes(envelope.original_content or b"")
        self.wrong += faults_of(raw)
        self.counts["commits"] += 1
        self.taken.append(TakenMail(str(envelope.mail_from), envelope.rcpt_tos[0], raw, time.time()))

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let the work go on whatever becomes of the connection."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    def drawn(self, raw: bytes) -> tuple[Fault | None, random.Random]:
        """Return what befalls a mail, which follows from the seed, the mail and how often it came."""
        behaviour = self.faults.behaviour or Behaviour(takes=(0.0, 0.0))
        number = _number(raw)
        self._sent[number] += 1
        dice = random.Random(f"{behaviour.seed} {number} {self._sent[number]}")
        return behaviour.draw(dice), dice


def faults_of(raw: bytes) -> list[str]:
    """Return what a strict server or reader would not take of a mail."""
    lines = raw.split(b"\r\n")
    found = [f"a line of {len(each)} octets" for each in lines if len(each) > _MOST_OF_A_LINE]
    if any(byte > 0x7F or byte == 0 for byte in raw):
        found.append("bytes that are no ASCII")
    if any(b"\n" in each or b"\r" in each for each in lines):
        found.append("a bare line end")
    parsed = message_from_bytes(raw, policy=policy.default)
    names = Counter(name.lower() for name in parsed.keys())  # noqa: SIM118 - each as often as it is there
    found += [f"{name} {names[name]} times" for name in _ONCE if names[name] != 1]
    found += [repr(defect) for part in parsed.walk() for defect in part.defects]
    return found


class _Connection(SMTP):
    """One conversation."""

    line_length_limit = 1001

    def __init__(self, relay: FakeRelay, **options: Any) -> None:
        self._relay = relay
        super().__init__(_Hooks(relay), **options)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._relay.counts["connections"] += 1
        super().connection_made(transport)

    async def _handle_client(self) -> None:
        if await self._fails(At.CONNECT):
            return
        await super()._handle_client()

    async def smtp_MAIL(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd's
        if not await self._fails(At.MAIL):
            await super().smtp_MAIL(arg)

    async def smtp_RSET(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd's
        if not await self._fails(At.RESET):
            await super().smtp_RSET(arg)

    async def smtp_RCPT(self, arg: str | None) -> None:  # noqa: N802 - aiosmtpd's
        address = (arg or "").partition("<")[2].partition(">")[0]
        if (said := self._relay.faults.recipients.get(address)) is not None:
            await self.push(said)
        elif not await self._fails(At.RCPT):
            await super().smtp_RCPT(arg)

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - aiosmtpd's
        if await self._fails(At.DATA):
            return
        if At.INSIDE in self._relay.faults.drops:
            await self.push("354 go on")
            await self._reader.read(10)
            self._cut()
            return
        await super().smtp_DATA(arg)

    async def _fails(self, at: At) -> bool:
        faults = self._relay.faults
        await asyncio.sleep(faults.waits.get(at, 0.0))
        if at in faults.drops:
            self._cut()
        elif at in faults.replies:
            await self.push(faults.replies[at])
        return at in faults.drops or at in faults.replies

    def _cut(self) -> None:
        assert self.transport is not None
        cast(asyncio.Transport, self.transport).abort()


class _Hooks:
    """What aiosmtpd calls."""

    def __init__(self, relay: FakeRelay) -> None:
        self._relay = relay

    async def handle_EHLO(  # noqa: N802
        self, server: _Connection, session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        faults = self._relay.faults
        await asyncio.sleep(faults.waits.get(At.EHLO, 0.0))
        if At.EHLO in faults.replies:
            return [faults.replies[At.EHLO]]
        return [each for each in responses if not (faults.no_starttls and "STARTTLS" in each)]

    async def handle_DATA(self, server: _Connection, session: Session, envelope: Envelope) -> str:  # noqa: N802
        relay, faults = self._relay, self._relay.faults
        relay.counts["mails"] += 1
        fault, dice = relay.drawn(bytes(envelope.original_content or b""))
        if fault is not None:
            relay.counts[fault] += 1
        behaviour = faults.behaviour or Behaviour(takes=(0.0, 0.0))
        if At.TEXT in faults.drops or At.TEXT in faults.replies:
            if At.TEXT in faults.drops:
                server._cut()
            return faults.replies.get(At.TEXT, "")
        if fault in (Fault.LIMITED, Fault.ALL_LIMITED, Fault.BROKEN):
            return "451 4.7.1 later" if fault is Fault.LIMITED else "421 4.3.2 later"
        takes = behaviour.stall if fault is Fault.STALL else dice.uniform(*behaviour.takes)
        working = None
        if fault is None or dice.random() < behaviour.commits:
            working = relay.begin(self._take_after(dice.uniform(0, takes), envelope))
        await asyncio.sleep(takes + faults.waits.get(At.TEXT, 0.0))
        if working is not None and fault is None:
            await asyncio.shield(working)
        if fault is not None or At.COMMITTED in faults.drops:
            server._cut()
        return "250 2.0.0 taken"

    async def _take_after(self, seconds: float, envelope: Envelope) -> None:
        await asyncio.sleep(seconds)
        self._relay.take(envelope)


def _authenticator(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=known, handled=False)


@asynccontextmanager
async def running(
    tls: ssl.SSLContext | None = None, *, at_once: bool = False, needs_login: bool = False
) -> AsyncIterator[FakeRelay]:
    """Run one; with `tls` it offers STARTTLS, or `at_once` speaks TLS from the first byte."""
    relay = FakeRelay(tls, needs_login=needs_login)
    connections: list[_Connection] = []
    options: Mapping[str, Any] = {
        "hostname": "relay.example",
        "loop": asyncio.get_running_loop(),
        "tls_context": None if at_once else tls,
        "require_starttls": tls is not None and not at_once,
        "auth_required": needs_login,
        "auth_require_tls": needs_login and not at_once,
        "authenticator": _authenticator,
        "timeout": 60,
    }

    def made() -> _Connection:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a login is asked for where TLS is not aiosmtpd's to see
            connections.append(_Connection(relay, **options))
        return connections[-1]

    server = await asyncio.get_running_loop().create_server(made, HOST, 0, ssl=tls if at_once else None)
    relay.port = server.sockets[0].getsockname()[1]
    relay.url = f"smtp://{HOST}:{relay.port}"
    try:
        yield relay
    finally:
        server.close()
        for each in connections:
            if each.transport is not None:
                cast(asyncio.Transport, each.transport).abort()
            if (handler := each._handler_coroutine) is not None:
                handler.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await handler
        await server.wait_closed()
        await asyncio.gather(*relay._working, return_exceptions=True)
    if relay.wrong:
        raise AssertionError(f"no strict server would have taken it: {relay.wrong[:3]}")
