"""The demo's digests as e-mails, and sending them to a mail server for trying."""

import re
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from adapters.email.message import OutgoingMail, as_bytes, list_id
from adapters.email.relay.relay import Relay
from adapters.email.render.links import NO_LINKS
from adapters.email.render.mail import render
from bot.errors import UsageError
from bot.models import Digest, Layout
from bot.settings.chat import LOOPBACK
from bot.settings.mail import MailSettings

_PLACE = re.compile(r"(?P<host>[\w.-]+|\[[\d:a-f]+\]):(?P<port>\d{1,5})", re.ASCII)
# Names that are nobody's: RFC 2606, 2.
_SENDER, _READER = "Broadsheet <papers@broadsheet.example>", "reader@lab.example"


def as_sent(digest: Digest) -> Mapping[str, str]:
    """Return subject, plain text and HTML of the digest's mail."""
    mail = render(digest, layout=Layout.THREAD, late=False, links=NO_LINKS)
    return {"subject": mail.subject, "text": mail.text, "html": mail.html}


async def sent_to(place: str, digests: Sequence[Digest]) -> list[str]:
    """Send the digests through the mail server at `HOST:PORT` of this machine, unencrypted; return the subjects.

    Raises UsageError for another place, and DeliveryError where the server does not take them.
    """
    found = _PLACE.fullmatch(place.strip())
    host = found["host"].strip("[]") if found else ""
    if found is None or host not in LOOPBACK or not 1 <= int(found["port"]) <= 65_535:
        raise UsageError(
            f'"{place}" is no mail server on this machine.', hint="`--relay 127.0.0.1:8025`; `make relay` is one for trying."
        )
    settings = MailSettings(host=host, port=int(found["port"]), tls="off", sender=_SENDER)
    relay = Relay(settings, ssl.create_default_context(), lambda: datetime.now(UTC))
    try:
        for number, each in enumerate(digests, start=1):
            await relay.send(_READER, _message(number, each, settings))
    finally:
        await relay.close()
    return [as_sent(each)["subject"] for each in digests]


def _message(number: int, digest: Digest, settings: MailSettings) -> bytes:
    said = as_sent(digest)
    mail = OutgoingMail(
        number=f"demo-{number}",
        sender=(settings.name, settings.address),
        recipient=_READER,
        subject=said["subject"],
        text=said["text"],
        html=said["html"],
        list_id=list_id(digest.topic, "demo", settings.domain),
    )
    return as_bytes(mail, digest.until)
