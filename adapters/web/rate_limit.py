"""How much may be asked for in a while, by whoever asks."""

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import web

_NAMES = 10_000  # that are remembered; of more, those that asked for nothing for the longest time are forgotten
_NETWORK = 64  # bits of an IPv6 address: what follows is one household's to choose


class RateLimit:
    """So much a minute for each name, all at once or spread: a token bucket each."""

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def takes(self, name: str, cost: float = 1) -> bool:
        """Say whether there is room for one more thing of that cost, and count it if so."""
        now = self._clock()
        left, at = self._left.pop(name, (self._most, now))
        left = min(self._most, left + (now - at) * self._most / 60)
        fits = left >= cost
        self._left[name] = (left - cost if fits else left, now)
        if len(self._left) > _NAMES:
            self._left.popitem(last=False)
        return fits


def client_of(request: web.Request) -> str:
    """Return by what name a client is counted: its IPv4 address, or its network's IPv6 one.

    Behind a proxy that is the last address in X-Forwarded-For, which the proxy itself put there. It is believed of a
    neighbour alone: of an address that nobody has on the public internet.
    """
    peer = _address(request.remote or "")
    said = ",".join(request.headers.getall("X-Forwarded-For", [])).rpartition(",")[2].strip()
    forwarded = _address(said) if peer is None or not peer.is_global else None
    return _network(forwarded or peer)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def _network(address: IPv4Address | IPv6Address | None) -> str:
    """Return "192.0.2.1/32", "2001:db8:1:2::/64", and "" for none."""
    if address is None:
        return ""
    bits = _NETWORK if isinstance(address, IPv6Address) else address.max_prefixlen
    return str(ip_network((address, bits), strict=False))
