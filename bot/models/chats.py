"""What chat platforms gave us to be there, and the keys of what their buttons have no room for."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import datetime


def text_key(text: str) -> str:
    """Return the key under which a text is kept: 22 characters of [0-9A-Za-z_-], 128 bits of its SHA-256."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """That somebody installed us in a workspace, or in an organisation of many; with what we may act there by."""

    platform: str  # slack
    place: str  # the platform's own identifier: T0123, or E0123 for a whole organisation
    sealed: bytes = field(repr=False)  # tokens and all, encrypted by the adapter; the store never sees what is in it
    made_by: str = ""  # the person
    at: datetime  # when it was last made or its tokens were renewed
