"""How a chat's connection is reported: while it is lost, and when it is tried."""

import socket
import ssl
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import aiohttp

from bot.errors import NetworkFault


class CheckResult(NamedTuple):
    """What `broadsheet doctor` tried, whether it is well, and a sentence.

    `fault` is what of the network failed, None where the platform was reached: then nothing is known of what was tried.
    """

    name: str
    well: bool
    text: str
    fault: NetworkFault | None = None


class Advice(CheckResult):
    """What works as it is, and is worth knowing."""

    __slots__ = ()


def unreached(name: str, fault: NetworkFault) -> CheckResult:
    """Return that the platform could not be reached, which says nothing of its token."""
    return CheckResult(name, False, f"it could not be reached: {fault}; the token was not tried", fault)


def network_fault(error: BaseException) -> NetworkFault | None:
    """Return what of the network failed, by what aiohttp raises; None where the platform answered."""
    if isinstance(error, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError):
        return NetworkFault.PROXY
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror):
        return NetworkFault.NAME
    if isinstance(error, ssl.SSLError):
        return NetworkFault.TLS
    if isinstance(error, TimeoutError):
        return NetworkFault.TIMEOUT
    return NetworkFault.CONNECTION if isinstance(error, aiohttp.ClientConnectionError | OSError) else None


class Outage:
    """Since when nobody is heard in a chat, and why; it begins with the service."""

    def __init__(self, chat: str, clock: Callable[[], datetime]) -> None:
        self._chat, self._clock = chat, clock
        self._since: datetime | None = clock()
        self._reason = "it is being connected"

    @property
    def lasts(self) -> bool:
        """Whether nobody is heard now."""
        return self._since is not None

    def begin(self, reason: str) -> None:
        """Note why nobody is heard; one that lasts goes on with another reason."""
        self._reason = reason
        if self._since is None:
            self._since = self._clock()

    def end(self) -> None:
        """Note that people are heard."""
        self._since = None

    def sentence(self) -> str:
        """Return since when and why nobody is heard, "" while all is well."""
        if self._since is None:
            return ""
        return f"{self._chat} is not heard since {self._since:%Y-%m-%d %H:%M} UTC: {self._reason}. It is tried again."
