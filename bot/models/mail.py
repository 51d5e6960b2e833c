"""Who is sent digests by e-mail, and who has yet to say yes. Pure.

A subscription by e-mail is a row like any other: its channel is an opaque identifier, and the address stands with the
recipient alone, so that neither a log nor the audit nor the ledger ever holds one.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

EMAIL = "email"  # the platform whose messenger sends them
MAIL = "mail:"  # what the channel of a subscription by e-mail begins with
MOST_SOFT_BOUNCES = 5  # within SOFT_BOUNCES_COUNT of each other: then nothing is sent there any more
SOFT_BOUNCES_COUNT = timedelta(days=30)
CODE_HOLDS = timedelta(hours=24)
MOST_TRIES = 5  # at the codes of one person

# RFC 5321, 4.5.3.1, has the lengths; of RFC 5322's local parts the dot-atom alone, which is all that anybody is given.
_LONGEST, _LONGEST_LOCAL = 254, 64
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"({_ATOM}(?:\.{_ATOM})*)@({_LABEL}(?:\.{_LABEL})+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """An address of a workspace to which digests are sent, confirmed by who reads it."""

    channel: str  # of its subscriptions
    workspace: str
    address: str = field(repr=False)
    person: str  # who asked for it in the chat, and confirmed it: what is done by its links is done by them
    is_list: bool = False  # read by several: then nothing can be done by links
    confirmed_at: datetime
    soft_bounces: int = 0  # each within SOFT_BOUNCES_COUNT of the one before
    bounced_at: datetime | None = None  # the last soft one
    stopped: str = ""  # why nothing is sent there, in a sentence, until it is confirmed again; "" while it is

    def bounced(self, said: str, now: datetime, *, hard: bool) -> Self:
        """Return it after a message came back; a hard bounce stops it, and but for a list MOST_SOFT_BOUNCES soft ones do."""
        if hard:
            return replace(self, stopped=self.stopped or said)
        goes_on = self.bounced_at is not None and now - self.bounced_at <= SOFT_BOUNCES_COUNT
        count = self.soft_bounces + 1 if goes_on else 1
        stopped = self.stopped or (said if count >= MOST_SOFT_BOUNCES and not self.is_list else "")
        return replace(self, soft_bounces=count, bounced_at=now, stopped=stopped)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptIn:
    """That a person asked for digests at an address, which is to be confirmed by a code that is sent there."""

    workspace: str
    person: str
    address: str = field(repr=False)
    is_list: bool = False
    code: str = field(repr=False)  # as `code_kept` returns it
    command: str  # what is done once it is confirmed, as it would be typed
    asked_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """How many codes were asked for lately."""

    by_person: int = 0  # by this person in this workspace
    to_address: int = 0  # to this address, in any workspace, without those that never held: these were not sent
    in_workspace: int = 0
    by_person_to_address: int = 0
    in_all: int = 0  # as to_address


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An address that was confirmed, and what is to be done for it."""

    recipient: Recipient
    command: str


class Suppression(StrEnum):
    """Why an address is not written to, remembered when everything else of it is forgotten."""

    UNSUBSCRIBED = "unsubscribed"
    FORGOTTEN = "forgotten"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


# So long no codes are sent to an address of which they were complained, or came back.
LETTERS_REFUSED: Mapping[Suppression, timedelta] = {
    Suppression.COMPLAINED: timedelta(days=365),
    Suppression.BOUNCED: timedelta(days=30),
}


def is_mail(channel: str) -> bool:
    """Say whether what is subscribed there is sent by e-mail."""
    return channel.startswith(MAIL)


def is_address(text: str) -> bool:
    """Say whether the text is an address that can be written to: `name@domain`, in ASCII but for the domain."""
    return _found(text) is not None


def normal_address(text: str) -> str:
    """Return the address as it is kept and compared: the domain in ASCII and lower case, the name as it is written.

    Raises ValueError where it is none.
    """
    found = _found(text)
    if found is None:
        raise ValueError("no e-mail address")
    return f"{found[1]}@{found[2].lower()}"


def folded_address(address: str) -> str:
    """Return what two spellings of one address have in common; no provider tells mailboxes apart by upper case."""
    return normal_address(address).lower()


def address_hash(key: bytes, address: str) -> str:
    """Return by what an address is known that is not kept, in hex: an HMAC-SHA256 (RFC 2104) of its folded form."""
    return hmac.digest(key, folded_address(address).encode(), "sha256").hex()


def mail_channel(number: str, address: str) -> str:
    """Return the channel of a new recipient: `number` is 16 random hexadecimal digits, and the domain's tag follows."""
    domain = folded_address(address).rpartition("@")[2]
    return f"{MAIL}{number}.{hashlib.sha256(domain.encode()).hexdigest()[:6]}"


def domain_tag(channel: str) -> str:
    """Return what the channels of one domain's addresses have in common: six hexadecimal digits."""
    return channel.rpartition(".")[2]


def code_kept(workspace: str, person: str, code: str) -> str:
    """Return what is kept of a code, in hex: it tells whether the same person gives the same one in the same workspace."""
    return hashlib.sha256(f"{workspace}\n{person}\n{code}".encode("utf-8", "surrogatepass")).hexdigest()


def _found(text: str) -> re.Match[str] | None:
    found = _ADDRESS.fullmatch(_ascii_domain(text))
    # What looks like an encoded word (RFC 2047) is read as another address by who takes headers apart.
    return found if found is not None and _fits(found[0]) and "=?" not in found[0] else None


def _ascii_domain(text: str) -> str:
    name, sign, domain = text.strip().rpartition("@")
    try:
        return f"{name}{sign}{domain.encode('idna').decode('ascii')}" if not domain.isascii() else text.strip()
    except UnicodeError:
        return ""


def _fits(address: str) -> bool:
    return len(address) <= _LONGEST and len(address.rpartition("@")[0]) <= _LONGEST_LOCAL
