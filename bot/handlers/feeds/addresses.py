"""Where feeds are read: the addresses that are given out, and the token in those of a person. Pure but for the token.

A token is 128 random bits; what is kept of it is its SHA-256, which tells nobody the token.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

_TOKEN = 16  # bytes


class Form(StrEnum):
    """A form in which a feed is read, as its address ends."""

    ATOM = "atom"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class FeedAddresses:
    """The addresses of the feeds that stand together below one."""

    root: str = field(repr=False)

    @property
    def everything(self) -> str:
        """The list of the feeds, as OPML."""
        return f"{self.root}/feeds.opml"

    def saved(self, form: Form = Form.ATOM) -> str:
        """What the person saved."""
        return f"{self.root}/saved.{form}"

    def here(self, form: Form = Form.ATOM) -> str:
        """What anybody saved in the channel."""
        return f"{self.root}/saved-here.{form}"

    def topic(self, name: str, form: Form = Form.ATOM) -> str:
        """What was posted of the topic."""
        return f"{self.root}/topics/{quote(name, safe='', errors='replace')}.{form}"


def new_token() -> str:
    """Return a token: 32 hexadecimal digits, which no program for chats takes for markup."""
    return secrets.token_hex(_TOKEN)


def token_kept(token: str) -> str:
    """Return what is kept of a token, in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def private_feeds(base: str, token: str) -> FeedAddresses:
    """Return where a person's feeds are read; `base` is the address at which pages are read from outside."""
    return FeedAddresses(f"{base}/feeds/{token}")


def public_feeds(base: str, slug: str) -> FeedAddresses:
    """Return where the feeds of a workspace's public channels are read."""
    return FeedAddresses(f"{base}/w/{slug}/feeds")
