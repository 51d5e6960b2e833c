"""What may stand in the section of the pages that are read in a browser, with its default."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from bot.settings.chat import LOOPBACK
from bot.settings.sections import Host, Section

_LONGEST = 200  # characters: it stands in every link of a mail


def _public(value: str) -> str:
    if not value:
        return ""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("must be an address such as https://papers.lab.example")
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise ValueError("must begin with https:// unless it is on this machine: its links act for who has them")
    if parts.query or parts.fragment or len(value) > _LONGEST or not (value.isascii() and value.isprintable()):
        raise ValueError(f"must be an address in ASCII without ? and #, of at most {_LONGEST} characters")
    return value.rstrip("/")


class WebSettings(Section):
    """Where pages are served, and by what address they are reached from outside; off while `url` is empty."""

    url: Annotated[str, AfterValidator(_public)] = ""
    host: Host = "127.0.0.1"
    port: int = Field(default=3010, ge=0, le=65_535)
