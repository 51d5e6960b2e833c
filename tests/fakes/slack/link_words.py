"""Links in what people write."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_URL = re.compile(r"https?://[^\s<>|]+")


def urls(text: str) -> list[tuple[str, str]]:
    """Return (domain, address) of each link."""
    return [((urlsplit(each).hostname or "").removeprefix("www."), each) for each in _URL.findall(text)]


def domains(manifest: Mapping[str, Any] | None) -> frozenset[str] | None:
    """Return the domains of which an app asks to hear, None for all."""
    if manifest is None:
        return None
    return frozenset(manifest.get("features", {}).get("unfurl_domains", []))
