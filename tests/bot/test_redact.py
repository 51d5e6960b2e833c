"""No secret stands in an error's text, nor does any foreign exception pass the door."""

import inspect
import ssl
import types
from collections.abc import Iterator

import anyio
import h11
import httpcore
import httpx
import idna
import pytest

from bot.errors import SourceUnavailable
from bot.http.client import FOREIGN, Http, Politeness, Request
from bot.redact import MARK, is_secret_header, redacted
from tests.fakes.web import Answer, Web


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter22@example.org/x",
        "https://hunter22@example.org/x",
        "https://example.org/x?token=hunter22&a=1",
        "https://example.org/x?a=1&api_key=hunter22",
        "https://example.org/x?apikey=hunter22",
        "https://example.org/x?access_token=hunter22",
        "https://example.org/x?client_secret=hunter22#f",
        "https://example.org/x?X-Amz-Signature=hunter22",
        "https://example.org/x?key=hunter22",
        "https://example.org/x?password=hunter22",
        "Authorization: Bearer hunter22hunter22",
        "header b'token hunter22'",
        "socks5://u:hunter22@10.0.0.1:1080",
    ],
)
def test_a_secret_is_hidden(text: str) -> None:
    assert "hunter22" not in redacted(text)
    assert MARK in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/x?q=token&monkey=1&sort=key",
        "tokens per second",
        "basic understanding of the token generation",
        "the key idea",
        "me@ or @example.org",
        "",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "address", ["me@example.org", "first.last+papers@mail.example.co.uk", "o'neil@example.org", "me@xn--bcher-kva.example"]
)
@pytest.mark.parametrize("text", ["{}", "to <{}>: 550 no such user", "RCPT TO:{}", "'{}'", "mailto:{}?x", "({},"])
def test_an_address_is_hidden(text: str, address: str) -> None:
    hidden = redacted(text.format(address))
    assert MARK in hidden
    assert "@" not in hidden
    assert "example" not in hidden


def test_a_given_secret_is_hidden_wherever_it_stands() -> None:
    assert redacted("Illegal header value b'Bearer s3cr3t-x\\n', s3cr3t-x", ["Bearer s3cr3t-x"]) == (
        f"Illegal header value b'{MARK}\\n', {MARK}"
    )


@pytest.mark.parametrize(
    "name", ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "api-key", "Private-Token", "X-Auth-Token"]
)
def test_headers_that_carry_credentials_are_known(name: str) -> None:
    assert is_secret_header(name)
    assert not is_secret_header("Accept")


@pytest.mark.parametrize(
    "header", ["Bearer s3cr3t-token-value", "Bearer s3cr3t-token-value\n", "Bearer s3cr3t-token-valu\u00e9\u4e2d"]
)
@pytest.mark.parametrize("path", ["/gone", "/moved", "/cut"])
async def test_no_error_of_the_door_tells_a_secret(web: Web, header: str, path: str) -> None:
    web.answer("/moved", Answer(status=302, headers={"Location": "ftp://u:s3cr3t-pass@example.org/?token=s3cr3t-query"}))
    web.answer("/cut", Answer(reset=True))
    http = Http(user_agent="x", politeness={"127.0.0.1": Politeness(seconds_between=0, retries=0)})
    url = web.url.replace("http://", "http://user:s3cr3t-pass@") + path
    request = Request(url=url, params=(("token", "s3cr3t-query"),), headers={"Authorization": header})
    with pytest.raises(SourceUnavailable) as told:
        await http.fetch(request)
    await http.close()
    error: BaseException | None = told.value
    while error is not None:
        assert "s3cr3t" not in str(error)
        error = error.__cause__


def exceptions_of(module: types.ModuleType) -> Iterator[type[Exception]]:
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, Exception) and not issubclass(found, Warning):
            yield found


@pytest.mark.parametrize("module", [httpx, httpcore, ssl, idna])
def test_every_exception_of_the_libraries_is_translated(module: types.ModuleType) -> None:
    found = list(exceptions_of(module))
    assert found
    assert [error for error in found if not issubclass(error, FOREIGN)] == []


def test_what_httpcore_does_not_wrap_is_known() -> None:
    # httpcore turns h11's two errors into its own; anyio's stream errors can come through from closing and TLS.
    assert {error.__name__ for error in exceptions_of(h11)} == {"ProtocolError", "LocalProtocolError", "RemoteProtocolError"}
    for error in (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
        assert issubclass(error, FOREIGN)
