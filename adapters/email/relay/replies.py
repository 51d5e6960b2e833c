"""What a mail server's reply means for a delivery: of whom it speaks, and whether trying again helps. Pure.

A reply has a code (RFC 5321, 4.2) and mostly an enhanced status (RFC 3463) that says more exactly of what it speaks. Its
text is not told on where an address may stand in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected

MENDED_BY_THE_OPERATOR = timedelta(minutes=5)  # so long a relay is left alone that takes nothing from us
CLOSING = 421  # "service not available, closing transmission channel": RFC 5321, 4.2.3
# At the beginning, as RFC 2034 has it, or as qmail writes it: "(#5.1.1)". Four numbers are an address of a machine.
_STATUS = re.compile(r"(?:^|#|\()([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)")
_OF_MAILBOX = frozenset({550, 551, 553})  # speak of the mailbox, or of much else (RFC 5321, 4.2.3): their words tell
_VAGUE = frozenset({"1.0", "2.0"})  # "other", of the address and of the mailbox: likewise
# What says that there is nobody …
_NOBODY = re.compile(
    r"unknown|no such|no mailbox|(?:not|n't) (?:exist|found|known|local)|unrout(?:e)?able|no longer|"
    r"invalid (?:recipient|address|mailbox|user)|(?:account|mailbox|user|recipient) (?:is )?(?:disabled|inactive|suspended)",
    re.IGNORECASE,
)
# … unless the words speak of who sends, of the way, or of how much came.
_OF_OTHERS = re.compile(
    r"sender|verif|\bmail from\b|\b(?:he|eh)lo\b|relay|rcpthosts|authenticat|\bauth\b|not permitted|denied|\bspf\b|\bdkim\b|"
    r"\bdmarc\b|block|black|spam|reputation|policy|too many|slow down|\brate\b|limit|message|\bhost\b|\bclient\b",
    re.IGNORECASE,
)
_OF_SENDER = re.compile(r"\bsender\b", re.IGNORECASE)
_LONGEST = 160  # characters of a reply's text that are told


class Stage(StrEnum):
    """How far the conversation with a relay was when it failed."""

    CONNECT = "connecting"
    LOGIN = "the login"
    SENDER = "the sender"
    RECIPIENT = "the recipient"
    DATA = "the beginning of the message"
    TEXT = "the message"


class AddressRefused(Refused):
    """The mail server knows that nothing can be delivered to the address."""


@dataclass(frozen=True, slots=True)
class RelayReply:
    """What a relay said."""

    code: int
    text: str = ""

    @property
    def status(self) -> str:
        """Return the enhanced status: "5.1.1", "" where there is none."""
        found = _STATUS.search(self.text.strip())
        return found[1] if found and found[1][0] == str(self.code)[0] else ""

    @property
    def words(self) -> str:
        """Return its text without addresses, whose names say nothing."""
        return re.sub(r"\S+@\S+", "…", " ".join(self.text.split()))

    @property
    def number(self) -> str:
        """Return "550 5.1.1", or the code alone."""
        return f"{self.code} {self.status}".strip()

    @property
    def lasts(self) -> bool:
        """Whether trying again does not help."""
        return self.code >= 500


def delivery_error(stage: Stage, reply: RelayReply) -> DeliveryError:
    """Return what a reply that is no success means; no address stands in its text."""
    if stage in (Stage.CONNECT, Stage.LOGIN, Stage.SENDER):
        return _of_relay(stage, reply)
    if not reply.lasts:
        return _for_now(stage, reply)
    if _speaks_of_address(stage, reply):
        return AddressRefused(f"The mail server does not deliver to the address: {meaning(reply)} ({reply.number}).")
    failure = f"{stage}, {reply.number}"
    said = f"The mail server did not take {stage} ({reply.number})."
    return Rejected(said, failure=failure, of_message=stage is Stage.TEXT)


def meaning(reply: RelayReply) -> str:
    """Return in a few words what a refusal of an address says."""
    subject = ".".join(reply.status.split(".")[1:])
    return _MEANINGS.get(subject, "its server refuses it")


# By the last two numbers of the enhanced status (RFC 3463, 3; iana.org/assignments/smtp-enhanced-status-codes).
_MEANINGS: Mapping[str, str] = {
    "1.0": "its server refuses it",
    "1.1": "there is no such mailbox",
    "1.2": "its domain takes no mail",
    "1.3": "it is not written as its server wants it",
    "1.6": "the mailbox has moved",
    "1.10": "its domain takes no mail",
    "2.1": "the mailbox is switched off",
    "2.2": "the mailbox is full",
    "2.3": "the message is too long for the mailbox",
}


def is_of_address(status: str) -> bool:
    """Say whether an enhanced status speaks of the address or its mailbox (RFC 3463: subjects 1 and 2)."""
    _, _, subject = status.partition(".")
    # X.1.7 and X.1.8 speak of the sender's address. A full mailbox is emptied again (X.2.2), the next mail is shorter
    # (X.2.3), and who expands a list mends it (X.2.4): RFC 3463, 3.3.
    return subject.startswith(("1.", "2.")) and subject not in ("1.7", "1.8", "2.2", "2.3", "2.4")


def _speaks_of_address(stage: Stage, reply: RelayReply) -> bool:
    """Say whether nothing more is to be sent there: where that is not clear, this one mail is not taken, and no more."""
    if reply.status and reply.status.partition(".")[2] not in _VAGUE:
        return is_of_address(reply.status) and not _OF_SENDER.search(reply.words)
    if not reply.status and (stage is not Stage.RECIPIENT or reply.code not in _OF_MAILBOX):
        return False
    return bool(_NOBODY.search(reply.words)) and not _OF_OTHERS.search(reply.words)


def _of_relay(stage: Stage, reply: RelayReply) -> DeliveryError:
    """What a relay says before it knows the recipient holds for all; nobody's subscription is to blame."""
    if stage is Stage.SENDER and reply.status.endswith(".3.4"):  # the size is announced with the sender
        return Rejected(f"The message is too large for the mail server ({reply.number}).", failure=reply.number)
    said = f"The mail server does not take {stage}: {told(reply)}"
    wait = MENDED_BY_THE_OPERATOR if reply.lasts else None
    return Delayed(said, reach=Reach.PLATFORM, retry_after=wait)


def _for_now(stage: Stage, reply: RelayReply) -> Delayed:
    said = f"The mail server does not take {stage} now ({reply.number})."
    if reply.code == CLOSING:
        return Delayed(said, reach=Reach.PLATFORM)
    # X.1.2, X.1.10 and X.4 speak of the recipient's domain and of the way to it.
    _, _, subject = reply.status.partition(".")
    of_domain = subject in ("1.2", "1.10") or subject.startswith("4.")
    return Delayed(said, reach=Reach.WORKSPACE if of_domain else Reach.CHANNEL)


def told(reply: RelayReply) -> str:
    """Return the reply as a person reads it, on one line, without anything like an address."""
    return f"{reply.code} {reply.words[:_LONGEST]}".strip()
