"""The one HTTP door: timeouts, retries, politeness per host, size caps, user agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask. `params` are appended to the URL in their order; `json` makes the body."""

    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    json: object = None


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Header names are in lower case; `url` is the one that answered in the end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class Http:
    """One client for everything that Broadsheet fetches."""

    async def fetch(
        self, request: Request, *, accept: frozenset[int] = frozenset({200}), max_bytes: int = 8 * 2**20
    ) -> Response:
        """Return the answer when its status is one of `accept`; raises SourceUnavailable otherwise."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close every connection."""
