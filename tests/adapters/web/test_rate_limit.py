"""How much may be asked for in a while."""

import pytest
from aiohttp.test_utils import make_mocked_request

from adapters.web.rate_limit import RateLimit, client_of


def test_so_much_a_minute_is_taken_at_once_or_spread() -> None:
    time = [0.0]
    limit = RateLimit(6, lambda: time[0])
    assert [limit.takes("a") for _ in range(7)] == [True] * 6 + [False]
    assert limit.takes("b", 6)
    time[0] += 10
    assert [limit.takes("a") for _ in range(2)] == [True, False]
    time[0] += 600
    assert [limit.takes("a", 6), limit.takes("a")] == [True, False]


def test_of_very_many_names_those_that_ask_are_remembered() -> None:
    limit = RateLimit(2, lambda: 0.0)
    assert limit.takes("me", 2)
    for number in range(25_000):
        limit.takes(f"n{number}")
        assert not limit.takes("me")


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
