"""Who asks, by the address that they ask from."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import web

_NETWORK = 64  # bits of an IPv6 address: what follows is one household's to choose


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
