"""Which addresses a URL that a person typed may lead to.

A feed's address is foreign text, and so is every redirect it answers with: without a guard it could make this process
read what only this machine or its network may read. The check stands at the socket: every address that a name resolves to
is looked at, and the connection goes to one of those very addresses, so a name that changes its mind in between wins
nothing.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

from bot.errors import NetworkFault, SourceUnavailable

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

PORTS = frozenset({80, 443})

# What `is_global` lets through, wholly or in some versions of Python, and is not the public internet: the IANA
# special-purpose registries (RFC 6890 and its successors), and the addresses of clouds that answer to their own machines.
_DENIED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers; a cloud's metadata service at 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's host agent, on a public address
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata service at 192.0.0.192
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/8",  # unspecified, loopback, IPv4-mapped and -compatible
        "64:ff9b::/96",  # NAT64: any IPv4 address at all
        "64:ff9b:1::/48",
        "100::/64",
        "100:0:0:1::/64",
        "2001::/23",  # Teredo, benchmarking, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4: any IPv4 address at all
        "2620:4f:8000::/48",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)


def is_public(address: str) -> bool:
    """Tell whether an IP address, as text, belongs to the public internet."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if found.is_multicast or not found.is_global:
        return False
    return not any(found in network for network in _DENIED if network.version == found.version)


async def lookup(host: str, port: int) -> Sequence[str]:
    """Return every address of a name, as the system resolves it; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """Refuses what is not the public internet. `allow` names the exceptions: `host` or `host:port`, in lower case."""

    def __init__(
        self, allow: frozenset[str] = frozenset(), ports: frozenset[int] = PORTS, resolve: Resolve = lookup
    ) -> None:
        self._allow = allow
        self._ports = ports
        self._resolve = resolve

    def check_url(self, host: str, port: int, userinfo: bool) -> None:
        """Refuse what can be seen from the URL alone; raises SourceUnavailable."""
        if userinfo:
            raise SourceUnavailable("a feed's address must not carry a user name or password")
        if port not in self._ports and not self._is_allowed(host, port):
            raise SourceUnavailable(
                f"a feed's address must use port {' or '.join(map(str, sorted(self._ports)))}, not {port}"
            )

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses that may be connected to; raises SourceUnavailable when any of them is not public."""
        self.check_url(host, port, userinfo=False)
        found = await self._look_up(host, port)
        if not self._is_allowed(host, port) and not all(is_public(address) for address in found):
            raise SourceUnavailable(f"{host} is not on the public internet; allow it in the settings if that is meant")
        return found

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise SourceUnavailable(f"the name {host} could not be resolved", fault=NetworkFault.NAME) from error
        if not found:
            raise SourceUnavailable(f"the name {host} has no address", fault=NetworkFault.NAME)
        return found

    def _is_allowed(self, host: str, port: int) -> bool:
        return host.lower() in self._allow or f"{host.lower()}:{port}" in self._allow
