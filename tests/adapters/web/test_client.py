"""By which address a client is counted."""

import pytest
from aiohttp.test_utils import make_mocked_request

from adapters.web.client import client_of


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", "", "198.51.100.7/32"),
        ("127.0.0.1", "203.0.113.9", "203.0.113.9/32"),
        ("10.0.0.2", "203.0.113.9, 198.51.100.7", "198.51.100.7/32"),
        ("8.8.8.8", "203.0.113.9", "8.8.8.8/32"),
        ("::ffff:8.8.8.8", "203.0.113.9", "8.8.8.8/32"),
        ("127.0.0.1", "unknown", "127.0.0.1/32"),
        ("::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("", "203.0.113.9", "203.0.113.9/32"),
        ("", "", ""),
    ],
)
def test_a_client_is_named_by_its_address_or_network(peer: str, forwarded: str, client: str) -> None:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = make_mocked_request("GET", "/", headers=headers).clone(remote=peer)
    assert client_of(request) == client
