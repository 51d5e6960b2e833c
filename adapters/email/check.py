"""What `broadsheet doctor` tries of e-mail: the relay, a test message, and what its domain tells receivers (by DNS).

Receivers look at three records of the sender's domain: SPF, which servers may send for it (RFC 7208); DKIM, the keys of its
signatures (RFC 6376), of which the names cannot be guessed; DMARC, what is to happen without either (RFC 7489).
"""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import datetime

import dns.exception
import dns.resolver
from dns.asyncresolver import Resolver

from adapters.chat.connection import Advice, CheckResult
from adapters.email.message import OutgoingMail, as_bytes
from adapters.email.relay.connection import Unreached, connected
from adapters.email.relay.relay import Relay, trust
from bot.errors import BotError, NetworkFault
from bot.ports.chats import Chats
from bot.settings.mail import MailSettings

_NAME = "e-mail"
_PATIENCE = 5.0  # seconds for one question to the DNS
_SUBJECT = "A test from Broadsheet"
_TEXT = """Broadsheet can send mails to this address.

Nothing is subscribed by it. Where this mail was taken for spam, look at its headers: Authentication-Results says
whether SPF, DKIM and DMARC passed.
"""


async def check(
    settings: MailSettings,
    now: datetime,
    chats: Chats | None = None,
    *,
    resolver: Resolver | None = None,
) -> list[CheckResult]:
    """Try it all; nothing is sent."""
    return [await _relay(settings), *await _domain(settings.domain, resolver)]


async def send_test(settings: MailSettings, address: str, now: datetime) -> CheckResult:
    """Send a message to the address, and tell whether the relay took it."""
    name = "test message"
    mail = OutgoingMail(
        number=secrets.token_hex(16),
        sender=(settings.name, settings.address),
        recipient=address,
        subject=_SUBJECT,
        text=_TEXT,
    )
    try:
        relay = Relay(settings, await asyncio.to_thread(trust, settings), lambda: now)
        try:
            await relay.send(address, await asyncio.to_thread(as_bytes, mail, now))
        finally:
            await relay.close()
    except BotError as error:
        return CheckResult(name, False, str(error))
    return CheckResult(name, True, "the mail server took it; whether it arrives, the inbox shows")


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


# --- the domain


async def _domain(domain: str, resolver: Resolver | None) -> list[CheckResult]:
    """Advise on what the domain of the sender tells; of a domain without a dot, as on one machine, there is nothing."""
    try:
        asked = resolver if resolver is not None else await asyncio.to_thread(Resolver)
        return [
            await _spf(domain, asked),
            await _dkim(domain, asked),
            await _dmarc(domain, asked),
            await _mx(domain, asked),
        ]
    except dns.exception.DNSException as error:
        said = f"the DNS could not be asked for {domain} ({type(error).__name__}): SPF, DKIM and DMARC were not looked at"
        return [Advice("DNS", True, said, NetworkFault.NAME)]


async def _spf(domain: str, resolver: Resolver) -> CheckResult:
    found = [text for text in await _texts(domain, resolver) if text.lower().split(" ")[0] == "v=spf1"]
    if not found:
        return _note("SPF", f"{domain} has no SPF record: a TXT record like `v=spf1 include:RELAY -all` says who sends")
    if len(found) > 1:
        return CheckResult("SPF", False, f"{domain} has {len(found)} SPF records, which counts as none: make one of them")
    if found[0].lower().split()[-1] in ("+all", "all", "?all"):
        return _note("SPF", f"{domain} lets everybody send for it: end its SPF record with ~all or -all")
    return CheckResult("SPF", True, f"{domain} says who sends for it; it must name your mail server")


async def _dkim(domain: str, resolver: Resolver) -> CheckResult:
    # An empty name above others exists (RFC 8020); one that does not has nothing below it.
    try:
        await resolver.resolve(f"_domainkey.{domain}", "TXT", lifetime=_PATIENCE, raise_on_no_answer=False)
    except dns.resolver.NXDOMAIN:
        return _note("DKIM", f"{domain} seems to have no DKIM keys: have the mail server sign, and publish its key")
    said = (
        "keys may be there; whether mails are signed, the headers of a test message say: `broadsheet doctor --mail ADDRESS`"
    )
    return CheckResult("DKIM", True, said)


async def _dmarc(domain: str, resolver: Resolver) -> CheckResult:
    places = [domain, ".".join(domain.split(".")[-2:])]  # the organisation's, as nearly as can be told without a list
    for place in dict.fromkeys(places):
        for text in await _texts(f"_dmarc.{place}", resolver):
            if text.lower().startswith("v=dmarc1"):
                policy = next(
                    (each.strip()[2:] for each in text.lower().split(";") if each.strip().startswith("p=")), "none"
                )
                return CheckResult("DMARC", True, f"{place} asks receivers for p={policy}")
    return _note("DMARC", f"{domain} has none, which large providers want: a TXT record `v=DMARC1; p=none` at _dmarc")


async def _mx(domain: str, resolver: Resolver) -> CheckResult:
    found = await _answers(domain, "MX", resolver)
    if not found or found == ["."]:
        return _note("MX", f"{domain} takes no mail: bounces and answers are lost, and some receivers refuse such senders")
    return CheckResult("MX", True, f"{domain} takes mail")


async def _texts(name: str, resolver: Resolver) -> Sequence[str]:
    return await _answers(name, "TXT", resolver)


async def _answers(name: str, kind: str, resolver: Resolver) -> list[str]:
    """Return the records of a name, none where there are none; raises DNSException where that cannot be known."""
    try:
        answer = await resolver.resolve(name, kind, lifetime=_PATIENCE, raise_on_no_answer=False)
    except dns.resolver.NXDOMAIN:
        return []
    if answer.rrset is None:
        return []
    if kind == "TXT":
        return [b"".join(each.strings).decode("utf-8", "replace") for each in answer.rrset]
    return [str(each.exchange) for each in answer.rrset]


def _note(name: str, text: str) -> CheckResult:
    return Advice(name, True, text)
