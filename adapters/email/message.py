"""A mail as it goes out: its headers, and its parts in encodings that pass through every server. Pure.

RFC 5322 for the message, RFC 2919 for List-Id, RFC 2369 and RFC 8058 for unsubscribing, RFC 3834 for Auto-Submitted. Headers
with addresses of the web are put before those that the library folds: it would encode what is longer than a line.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from urllib.parse import quote

from adapters.text import clean

_LABEL = re.compile(r"[^a-z0-9-]+")
_SUBJECT = 200  # characters
_SHORT = 69  # of a line of 78 (RFC 5322, 2.1.1), what `Subject: ` leaves
_LINE = 900  # octets of a header of one line; RFC 5322, 2.1.1, allows 998


@dataclass(frozen=True, slots=True)
class Unsubscribing:
    """How a mail program may offer to unsubscribe; "" for a way that there is none."""

    url: str = ""  # an address that takes RFC 8058's POST
    inbox: str = ""  # an address whose mails are read …
    token: str = ""  # … and what the subject of one says then

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers; none where there is no way."""
        by_mail = f"<mailto:{self.inbox}?subject={quote(f'unsubscribe {self.token}')}>" if self.inbox and self.token else ""
        ways = [f"<{self.url}>" if self.url else "", by_mail]
        said = ", ".join(way for way in ways if way and len(way) < _LINE // 2)
        if not said:
            return {}
        one_click = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"} if "<https://" in said else {}
        return {"List-Unsubscribe": said, **one_click}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """What is sent to one address."""

    number: str  # before the @ of its Message-ID
    sender: tuple[str, str]  # name and address
    recipient: str
    subject: str
    text: str
    html: str = ""
    list_id: str = ""
    unsubscribing: Unsubscribing = Unsubscribing()

    @property
    def domain(self) -> str:
        """Return the sender's domain."""
        return self.sender[1].rpartition("@")[2]

    @property
    def message_id(self) -> str:
        """Return the Message-ID without its angle brackets."""
        return f"{self.number}@{self.domain}"


def list_id(topic: str, workspace: str, domain: str) -> str:
    """Return what the mails of one topic of one workspace have in common (RFC 2919): "gpu-systems.1f3870be.lab.example".

    The workspace's own identifier is not told.
    """
    label = _LABEL.sub("-", topic.lower()).strip("-")[:60] or "digest"
    tag = hashlib.sha256(workspace.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{label}.{tag}.{domain}"


def as_bytes(mail: OutgoingMail, at: datetime) -> bytes:
    """Return the mail in ASCII with CRLF, no line longer than 998 octets; `at` is aware UTC."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(*mail.sender)
    message["To"] = _address("", mail.recipient)
    message["MIME-Version"] = "1.0"
    message.set_content(_plain(mail.text), cte="quoted-printable")
    if mail.html:
        message.add_alternative(_plain(mail.html), subtype="html", cte="quoted-printable")
    whole = {
        "Message-ID": f"<{mail.message_id}>",
        "Date": format_datetime(at),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",  # what Exchange asks for in place of the line above
        **({"List-Id": f"<{mail.list_id}>"} if mail.list_id else {}),
        **mail.unsubscribing.headers,
    }
    first = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in whole.items())
    first += f"Subject: {_encoded(_words(mail.subject)[:_SUBJECT])}\r\n"
    return first.encode("ascii") + message.as_bytes()


def _encoded(text: str) -> str:
    """Return the text in ASCII, as encoded words (RFC 2047) on lines where it is longer than one or has other signs.

    The library, left to itself, encodes some words of a text and doubles the spaces where it begins a line.
    """
    if text.isascii() and len(text) <= _SHORT:
        return text
    return Header(text, "utf-8", maxlinelen=_SHORT).encode(linesep="\r\n")


def _address(name: str, address: str) -> Address:
    return Address(display_name=_words(name), addr_spec=address)


def _words(text: str) -> str:
    """Return the text as a header may be given it.

    What looks like an encoded word (RFC 2047) is parted: the library reads it, and writes the line ends in it as they are.
    """
    return clean(text).replace("=?", "= ?")


def _one_line(value: str) -> str:
    """Return a value of ours as it stands in a header; raises ValueError for one that would break out of its line."""
    if not (value.isascii() and value.isprintable()) or len(value) > _LINE:
        raise ValueError("a header's value is not one line of ASCII")
    return value


def _plain(text: str) -> str:
    """Return the text as UTF-8 can hold it, in lines, without control characters, which would end lines elsewhere."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in text if char in "\n\t" or char.isprintable() or ord(char) > 0x9F)
