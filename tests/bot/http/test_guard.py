"""No address that a person may type makes us read what is not on the public internet."""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.errors import SourceUnavailable
from bot.http.client import Http, Politeness, Request
from bot.http.guard import Guard, is_public
from tests.fakes.web import Answer, Web

TLS = Path(__file__).parents[2] / "payloads" / "tls"

# Every way of writing 127.0.0.1, or another address that is nobody's business, that a parser somewhere accepts.
TEXT = """
127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 0.0.0.0 0 0x7f.0.0.1 0x7f000001 0x7f.1 0177.0.0.1 0177.1 017700000001
2130706433 00000177.0.0.1 127.0x0.0.1 127.000.000.001 ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 localhost LOCALHOST
localhost. 127.0.0.1. 10.0.0.1 10.255.255.255 0xa.1 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 3232235521 100.64.0.1
100.100.100.200 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.170.2 168.63.129.16 192.0.0.192
192.0.0.170 192.88.99.1 198.18.0.1 192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
[::1] [::] [0:0:0:0:0:0:0:1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe]
[::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b::8.8.8.8] [64:ff9b:1::a9fe:a9fe] [2002:7f00:1::]
[2002:a9fe:a9fe::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [fe80::1] [fc00::1] [fd00:ec2::254] [fec0::1] [ff02::1]
[100::1] [2001:db8::1] [3fff::1] [5f00::1] [2001:2::1] [2001:10::1] [0000::1] [::0.0.0.1]
"""
FORMS = TEXT.split()

PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "172.15.0.1",
    "11.0.0.1",
    "128.0.0.1",
    "223.255.255.1",
    "2606:4700::1111",
    "2a00:1450::1",
)


class Names:
    """A name server that says what it is told, each answer once, the last for ever; numbers stand for themselves.

    It never asks the real one, so that no test reaches outside.
    """

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.asked: list[str] = []
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        left = self._answers.get(host)
        if left is None and host.rstrip(".").lower() == "localhost":
            return ["127.0.0.1"]
        if left is None:
            found = await asyncio.get_running_loop().getaddrinfo(
                host.rstrip("."), port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )
            return [str(found[0][4][0])]
        return left.pop(0) if len(left) > 1 else left[0]


def door(web: Web, names: Names | None = None, *, allow: frozenset[str] = frozenset()) -> Http:
    """A guarded door that may use the fake's port, so that the address alone decides."""
    return Http(
        user_agent="x",
        guarded=True,
        allow=allow,
        ports=frozenset({port(web)}),
        politeness={"127.0.0.1": Politeness(seconds_between=0, retries=0)},
        resolve=names or Names(),
    )


def port(web: Web) -> int:
    return int(web.url.rpartition(":")[2])


@pytest.mark.parametrize("form", FORMS)
async def test_no_form_of_a_private_address_is_reached(web: Web, form: str) -> None:
    web.rule(lambda asked: Answer(b"secret"))
    http = door(web)
    with pytest.raises(SourceUnavailable, match=r"not on the public internet|could not be resolved|not a web address"):
        await http.fetch(Request(url=f"http://{form}:{port(web)}/"))
    await http.close()
    assert web.asked == []


def test_there_are_many_forms() -> None:
    assert len(set(FORMS)) >= 60


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "example.org", "127.0.0.1%1", "fe80::1%eth0"])
def test_what_is_no_public_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize(
    "form", ["user@127.0.0.1", "user:pw@example.org", "example.org@127.0.0.1", "127.0.0.1\\@example.org"]
)
async def test_user_information_is_refused(web: Web, form: str) -> None:
    web.rule(lambda asked: Answer(b"secret"))
    http = door(web, Names(example_org=[["127.0.0.1"]]))
    with pytest.raises(SourceUnavailable):
        await http.fetch(Request(url=f"http://{form}:{port(web)}/"))
    await http.close()
    assert web.asked == []


@pytest.mark.parametrize("scheme", ["ftp", "file", "gopher", "dict", "unix", "ws", "data", "javascript"])
async def test_only_http_is_spoken(web: Web, scheme: str) -> None:
    http = door(web)
    with pytest.raises(SourceUnavailable, match="not a web address"):
        await http.fetch(Request(url=f"{scheme}://127.0.0.1:{port(web)}/"))
    await http.close()


@pytest.mark.parametrize("number", [1, 22, 25, 6379, 8080, 11211])
async def test_only_the_ports_of_the_web_are_asked(number: int) -> None:
    http = Http(user_agent="x", guarded=True, resolve=Names(feed_example=[["127.0.0.1"]]))
    with pytest.raises(SourceUnavailable, match=f"must use port 80 or 443, not {number}"):
        await http.fetch(Request(url=f"http://feed.example:{number}/"))
    await http.close()


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["2606:4700::1111", "::1"], ["10.1.2.3", "8.8.8.8"]]
)
async def test_a_name_is_refused_when_any_of_its_addresses_is_private(web: Web, answers: list[str]) -> None:
    web.rule(lambda asked: Answer(b"secret"))
    http = door(web, Names(feed_example=[answers]))
    with pytest.raises(SourceUnavailable, match=r"feed\.example is not on the public internet"):
        await http.fetch(Request(url=f"http://feed.example:{port(web)}/"))
    await http.close()
    assert web.asked == []


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1", "http://[::1]", "http://2130706433", "//localhost", "http://inner.example"]
)
async def test_a_redirect_from_an_allowed_host_to_a_private_one_is_refused(web: Web, target: str) -> None:
    web.answer("/feed", Answer(status=302, headers={"Location": f"{target}:{port(web)}/secret"}))
    web.answer("/secret", Answer(b"secret"))
    http = door(web, Names(feed_example=[["127.0.0.1"]], inner_example=[["127.0.0.1"]]), allow=frozenset({"feed.example"}))
    with pytest.raises(SourceUnavailable, match="not on the public internet"):
        await http.fetch(Request(url=f"http://feed.example:{port(web)}/feed"))
    await http.close()
    assert [asked.path for asked in web.asked] == ["/feed"]


async def test_a_name_is_asked_once_and_the_connection_goes_to_what_was_looked_at(web: Web) -> None:
    web.rule(lambda asked: Answer(b"here"))
    names = Names(feed_example=[["127.0.0.1"], ["192.0.2.1"]])
    http = door(web, names, allow=frozenset({"feed.example"}))
    assert (await http.fetch(Request(url=f"http://feed.example:{port(web)}/"))).body == b"here"
    await http.close()
    assert names.asked == ["feed.example"]
    assert web.asked[0].headers["host"] == f"feed.example:{port(web)}"


async def test_a_name_that_changes_its_mind_is_refused_the_second_time() -> None:
    names = Names(feed_example=[["1.1.1.1"], ["127.0.0.1"]])
    guard = Guard(resolve=names)
    assert await guard.addresses("feed.example", 80) == ["1.1.1.1"]
    with pytest.raises(SourceUnavailable):
        await guard.addresses("feed.example", 80)


@pytest.mark.parametrize("allow", ["127.0.0.1", "127.0.0.1:{port}", "localhost"])
async def test_an_allowed_host_is_reached(web: Web, allow: str) -> None:
    web.rule(lambda asked: Answer(b"intranet"))
    name = allow.partition(":")[0]
    http = Http(user_agent="x", guarded=True, allow=frozenset({allow.format(port=port(web))}))
    assert (await http.fetch(Request(url=f"http://{name}:{port(web)}/"))).body == b"intranet"
    await http.close()


async def test_an_allowed_host_and_port_does_not_allow_another_port(web: Web) -> None:
    http = Http(user_agent="x", guarded=True, allow=frozenset({"127.0.0.1:1"}))
    with pytest.raises(SourceUnavailable):
        await http.fetch(Request(url=web.url))
    await http.close()


async def test_the_next_address_is_tried_when_one_does_not_answer(web: Web) -> None:
    web.rule(lambda asked: Answer(b"here"))
    http = door(web, Names(feed_example=[["127.0.0.99", "127.0.0.1"]]), allow=frozenset({"feed.example"}))
    assert (await http.fetch(Request(url=f"http://feed.example:{port(web)}/"))).body == b"here"
    await http.close()


async def test_a_name_that_does_not_resolve_or_hangs_is_told() -> None:
    async def hang(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(30)
        return []

    async def fail(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    async def nothing(host: str, port: int) -> Sequence[str]:
        return []

    for resolve, words in ((hang, "in time"), (fail, "could not be resolved"), (nothing, "has no address")):
        politeness = {"feed.example": Politeness(retries=0)}
        http = Http(user_agent="x", guarded=True, timeout=0.1, politeness=politeness, resolve=resolve)
        with pytest.raises(SourceUnavailable, match=words):
            await http.fetch(Request(url="http://feed.example/"))
        await http.close()


async def test_behind_a_proxy_the_name_is_looked_at_before_the_proxy_is_asked(web: Web) -> None:
    web.rule(lambda asked: Answer(b"through the proxy"))
    names = Names(feed_example=[["127.0.0.1"]], good_example=[["1.1.1.1"]])
    http = Http(user_agent="x", guarded=True, proxy=web.url, resolve=names)
    with pytest.raises(SourceUnavailable, match="not on the public internet"):
        await http.fetch(Request(url="http://feed.example/"))
    assert (await http.fetch(Request(url="http://good.example/"))).body == b"through the proxy"
    await http.close()


async def test_over_tls_the_certificate_is_held_against_the_name_not_the_address() -> None:
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trust.load_cert_chain(TLS / "feed.example.pem")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecure")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=trust)
    number = server.sockets[0].getsockname()[1]
    names = Names(feed_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    hosts = frozenset({"feed.example", "other.example"})
    politeness = dict.fromkeys(hosts, Politeness(seconds_between=0, retries=0))
    http = Http(
        user_agent="x", guarded=True, allow=hosts, ca_file=TLS / "authority.pem", politeness=politeness, resolve=names
    )
    assert (await http.fetch(Request(url=f"https://feed.example:{number}/"))).body == b"secure"
    with pytest.raises(SourceUnavailable, match=r"could not be reached.*certificate"):
        await http.fetch(Request(url=f"https://other.example:{number}/"))
    await http.close()
    strangers = Http(
        user_agent="x", guarded=True, allow=hosts, politeness=politeness, resolve=Names(feed_example=[["127.0.0.1"]])
    )
    with pytest.raises(SourceUnavailable, match=r"could not be reached.*certificate"):
        await strangers.fetch(Request(url=f"https://feed.example:{number}/"))
    await strangers.close()
    server.close()
