"""Links by which a recipient acts without the chat: signed, so that nobody can make one up. Pure.

A link names a subscription by e-mail and what is to be done, and the signature is an HMAC-SHA256 (RFC 2104) over both,
of which 128 bits are kept: RFC 2104, 5, allows half of the hash. It holds as long as the subscription does. Following one
shows a page; only pressing its button does something, as programs that look into mails follow every link. What a button of
a page does is signed, too, and for a day: nobody can put another command in its place. By another link an address is
confirmed.

By a third kind a person opens the pages of their workspace in a browser: it is good for a quarter of an hour and once, and
what the browser gets for it is a session of half a day, signed likewise. What a form of such a page does is signed for that
session alone.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import quote
from uuid import UUID

BUTTON_HOLDS = timedelta(days=1)
OPENING_HOLDS = timedelta(minutes=15)
SESSION_HOLDS = timedelta(hours=12)
LONGEST_TOKEN = 12_000  # characters; the longest command of a subscription has a third of it

_LETTER = "letter-"  # before the hash of an address, where a link of a mail has its subscription's number
_SIGNED = 16  # bytes of the signature that are kept


class LinkAction(StrEnum):
    """What a link is for."""

    MORE = "more"
    LESS = "less"
    SAVE = "save"
    PAUSE = "pause"
    UNSUBSCRIBE = "unsubscribe"


@dataclass(frozen=True, slots=True)
class SignedLink:
    """What a link names."""

    action: LinkAction
    subscription: str  # its id
    item: str = ""  # the key of the item that it is about; "" where it is about none


@dataclass(frozen=True, slots=True)
class SignedButton:
    """What a button of a page does that was reached by a link."""

    subscription: str  # the id in the link
    channel: str  # of the recipient: the subscription itself may have ended by the button before
    command: str  # as bot.commands.write makes it
    until: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class SignedSession:
    """Who reads the pages, and where they asked for the link to them."""

    workspace: str
    channel: str
    person: str
    until: int  # seconds since 1970


def letter_link(hashed: str) -> SignedLink:
    """Return what ends the letters with codes to the address of that `address_hash`; it is followed by mail alone."""
    return SignedLink(LinkAction.UNSUBSCRIBE, _LETTER + base64.urlsafe_b64encode(bytes.fromhex(hashed)).decode().rstrip("="))


def letter_hash(subscription: str) -> str:
    """Return the hash that `letter_link` was given, "" for a link of a subscription."""
    if not subscription.startswith(_LETTER):
        return ""
    try:
        return base64.urlsafe_b64decode(subscription.removeprefix(_LETTER) + "=").hex()
    except (binascii.Error, ValueError):
        return ""


class LinkSigner:
    """Makes links and tells whether one was made by it."""

    def __init__(self, key: bytes, base: str = "") -> None:
        """`key` is the database's; `base` is the address at which pages are read from outside, "" where there is none."""
        self._key = key
        self.base = base.rstrip("/")

    def url(self, link: SignedLink) -> str:
        """Return the address of the link; "" where no pages can be read from outside, and for what none can say.

        That is half a character (a lone surrogate), which has no bytes in UTF-8.
        """
        if not self.base:
            return ""
        try:
            item = f"/{quote(link.item, safe='')}" if link.item else ""
            return f"{self.base}/mail/{quote(link.subscription, safe='')}/{link.action}{item}?s={self.signature(link)}"
        except UnicodeEncodeError:
            return ""

    def signature(self, link: SignedLink) -> str:
        """Return the 22 characters of [0-9A-Za-z_-] that sign it."""
        return self._signed([link.action, link.subscription, link.item])

    def holds(self, link: SignedLink, signature: str) -> bool:
        """Say whether the link was signed so, in a time that does not depend on where it differs."""
        return hmac.compare_digest(self.signature(link).encode(), signature.encode("utf-8", "surrogatepass"))

    def button(self, subscription: str, channel: str, command: str, now: datetime) -> str:
        """Return the token of a button, good for BUTTON_HOLDS."""
        until = int((now + BUTTON_HOLDS).timestamp())
        return self._token("button", *map(str, astuple(SignedButton(subscription, channel, command, until))))

    def read_button(self, token: str, subscription: str, now: datetime) -> SignedButton | None:
        """Return what the token's button does; None for one made elsewhere, for another subscription, or too long ago."""
        read = self._read("button", token)
        if read is None:
            return None
        button = SignedButton(read[0], read[1], read[2], int(read[3]))
        return button if button.subscription == subscription and now.timestamp() < button.until else None

    def confirmation_url(self, code: str) -> str:
        """Return where the address is confirmed whose code is kept so; "" where no pages can be read from outside."""
        token = self._token("confirm", code)
        return f"{self.base}/mail/confirm/{token}" if self.base else ""

    def read_confirmation(self, token: str) -> str:
        """Return how the code is kept that the token stands for; "" where it was not made here."""
        read = self._read("confirm", token)
        return read[0] if read is not None and len(read) == 1 else ""

    def opening_url(self, workspace: str, channel: str, person: str, nonce: str, now: datetime) -> str:
        """Return where the person opens the pages; "" where none can be read from outside. `nonce` tells it from others."""
        until = int((now + OPENING_HOLDS).timestamp())
        token = self._token("open", workspace, channel, person, str(until), nonce)
        return f"{self.base}/open/{token}" if self.base else ""

    def read_opening(self, token: str, now: datetime) -> SignedSession | None:
        """Return whose pages the token opens; None where it was not made here, or holds no longer."""
        return self._who("open", token, now)

    def session(self, who: SignedSession, nonce: str, now: datetime) -> str:
        """Return what a browser keeps to be known as theirs for SESSION_HOLDS, in [0-9A-Za-z_.-].

        `nonce` tells it from others: ending one ends no other.
        """
        until = int((now + SESSION_HOLDS).timestamp())
        return self._token("session", who.workspace, who.channel, who.person, str(until), nonce)

    def read_session(self, value: str, now: datetime) -> SignedSession | None:
        """Return whose session it is; None where it was not made here, or holds no longer."""
        return self._who("session", value, now)

    def form(self, session: str, command: str, now: datetime) -> str:
        """Return the token of a form that gives the command in that session, good for BUTTON_HOLDS."""
        return self._token("form", _hashed(session), command, str(int((now + BUTTON_HOLDS).timestamp())))

    def read_form(self, token: str, session: str, now: datetime) -> str | None:
        """Return the command that a form gives; None for one made elsewhere, for another session, or too long ago."""
        read = self._read("form", token)
        if read is None or not hmac.compare_digest(read[0], _hashed(session)):
            return None
        return read[1] if now.timestamp() < int(read[2]) else None

    def slug(self, workspace: str) -> str:
        """Return what stands for the workspace in the addresses of its public pages: 16 of [0-9a-f]."""
        return hmac.digest(self._key, json.dumps(["slug", workspace]).encode(), "sha256")[:8].hex()

    def identifier(self, *parts: str) -> str:
        """Return the URN that belongs to these texts in this database for ever, and tells nobody what they are.

        It is a UUID of version 8 (RFC 9562, 5.8) of an HMAC over them.
        """
        made = bytearray(hmac.digest(self._key, json.dumps(["identifier", *parts]).encode(), "sha256")[:_SIGNED])
        made[6], made[8] = made[6] & 0x0F | 0x80, made[8] & 0x3F | 0x80
        return UUID(bytes=bytes(made)).urn

    def _who(self, purpose: str, token: str, now: datetime) -> SignedSession | None:
        read = self._read(purpose, token)
        if read is None or len(read) != 5 or now.timestamp() >= int(read[3]):
            return None
        return SignedSession(read[0], read[1], read[2], int(read[3]))

    def _token(self, purpose: str, *parts: str) -> str:
        """Return the parts and a signature over them and the purpose, in [0-9A-Za-z_.-]."""
        return f"{_encoded(json.dumps(parts).encode())}.{self._signed([purpose, *parts])}"

    def _read(self, purpose: str, token: str) -> list[str] | None:
        said = token.partition(".")[0]
        if len(token) > LONGEST_TOKEN or not token.isascii():
            return None
        try:
            parts: list[str] = json.loads(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            return None
        made_here = _are_texts(parts) and hmac.compare_digest(self._token(purpose, *parts).encode(), token.encode())
        return parts if made_here else None

    def _signed(self, said: list[str]) -> str:
        return _encoded(hmac.digest(self._key, json.dumps(said).encode(), "sha256")[:_SIGNED])


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _hashed(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
