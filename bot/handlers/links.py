"""Links by which a recipient acts without the chat: signed, so that nobody can make one up. Pure.

A link names a subscription by e-mail and what is to be done, and the signature is an HMAC-SHA256 (RFC 2104) over both,
of which 128 bits are kept: RFC 2104, 5, allows half of the hash. It holds as long as the subscription does. Following one
shows a page; only pressing its button does something, as programs that look into mails follow every link.
"""

import base64
import hmac
import json
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

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


class LinkSigner:
    """Makes links and tells whether one was made by it."""

    def __init__(self, key: bytes, base: str = "") -> None:
        """`key` is the database's; `base` is the address at which pages are read from outside, "" where there is none."""
        self._key = key
        self.base = base.rstrip("/")

    def url(self, link: SignedLink) -> str:
        """Return the address of the link; "" where no pages can be read from outside."""
        if not self.base:
            return ""
        item = f"/{quote(link.item, safe='')}" if link.item else ""
        return f"{self.base}/mail/{quote(link.subscription, safe='')}/{link.action}{item}?s={self.signature(link)}"

    def signature(self, link: SignedLink) -> str:
        """Return the 22 characters of [0-9A-Za-z_-] that sign it."""
        said = json.dumps([link.action, link.subscription, link.item]).encode()
        return base64.urlsafe_b64encode(hmac.digest(self._key, said, "sha256")[:_SIGNED]).decode().rstrip("=")

    def holds(self, link: SignedLink, signature: str) -> bool:
        """Say whether the link was signed so, in a time that does not depend on where it differs."""
        return hmac.compare_digest(self.signature(link).encode(), signature.encode("utf-8", "surrogatepass"))
