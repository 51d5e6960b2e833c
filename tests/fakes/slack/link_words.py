"""Links in what people write."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_URL = re.compile(r"https?://[^\s<>|]+")
_LINKED = re.compile(r"https?://[^\s<>|?]+|\b(?:\w+\.)+(?:org|com|co|js)(?:/[^\s<>|?]*)?")


def urls(text: str) -> list[tuple[str, str]]:
    """Return (domain, address) of each link."""
    return [((urlsplit(each).hostname or "").removeprefix("www."), each) for each in _URL.findall(text)]


def written(text: str, app: str) -> str:
    """Return what somebody typed as Slack hands it on: signs escaped, links and bare hosts marked, the app mentioned by id.

    docs.slack.dev/messaging/formatting-message-text, "Retrieving messages".
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    linked = _LINKED.sub(lambda found: f"<{found[0]}>" if "://" in found[0] else f"<http://{found[0]}|{found[0]}>", escaped)
    return linked.replace("@Broadsheet", f"<@{app}>")


def domains(manifest: Mapping[str, Any] | None) -> frozenset[str] | None:
    """Return the domains of which an app asks to hear, None for all."""
    if manifest is None:
        return None
    return frozenset(manifest.get("features", {}).get("unfurl_domains", []))
