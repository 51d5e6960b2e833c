"""Prism between the adapter and the Discord of the tests: what of either does not keep to Discord's OpenAPI description.

    python -m benchmarks.prism --prism COMMAND --spec FILE [TESTS…]

COMMAND is Prism's (@stoplight/prism-cli), FILE Discord's description (github.com/discord/discord-api-spec). The tests named,
else those of Discord from end to end, run with every request of theirs sent through Prism as a validating proxy. It says of
each exchange what breaks the description (the header `sl-violations`), and lets it pass. Counted are the exchanges and their
violations by place and kind, apart those that are no fault of ours (KNOWN). Ends with 1 where others are left. For each
request Prism reads what the description says of it, which takes seconds, once; that is done before the tests begin.

    adapter → /9001/api/v10/… → Prism → /api/v10/… → the Discord of the tests at port 9001
"""

import argparse
import asyncio
import json
import re
import shlex
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import aiohttp
import pytest
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from tests.fakes.discord.calls import ROUTES
from tests.fakes.discord.fake import FakeDiscord

TESTS = (
    *(f"tests/e2e/test_{each}.py" for each in ("discord", "parity", "pressed_twice", "promises", "post")),
    *("tests/e2e/test_private.py", "tests/adapters/discord/test_send.py", "tests/adapters/discord/listeners"),
)
_PORT = "X-Fake-Port"
_HOPS = ("host", "content-length", "transfer-encoding", "content-encoding", "connection")
_EMPTY = {"POST": b"{}", "PUT": b"[]", "PATCH": b"{}"}
_START = 120.0  # seconds in which Prism must have read the description

# What is no fault of ours, and why.
KNOWN: Mapping[str, str] = {
    r"request\.query\.with_counts: .* must be boolean": "discord.py writes a query's yes as 1, which Discord takes",
    r" 429: response\.body: .* required property 'code'": "a 429 has a code only sometimes, say Discord's pages",
    r" (204|401|403|404|429): response: (The received media type \"text/html|Unable to match the returned status code)": (
        "a proxy's page, or an answer without its body, which a test has instead of Discord's"
    ),
    r" (401|403|404|429): response\.body: (Response body must be object|.* required property '(code|message)')": (
        "the same: what stands in it"
    ),
}


class Relay:
    """What passes requests on to Prism, and from there to the right Discord, in a process of its own."""

    def __init__(self, prism: int) -> None:
        self.exchanges: Counter[str] = Counter()  # by method and path, without what differs
        self.violations: Counter[str] = Counter()
        self._prism = prism
        self._session: aiohttp.ClientSession

    async def run(self, front: int, behind: int) -> None:
        """Pass on until standard input ends, and print what was counted."""
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as self._session:
            await _serve(front, self._before)
            await _serve(behind, self._after)
            await asyncio.to_thread(sys.stdin.read)
        print(json.dumps([self.exchanges, self.violations]), flush=True)

    async def _before(self, request: web.Request) -> web.StreamResponse:
        """Pass on to Prism, and note what it says."""
        _, port, path = request.raw_path.split("/", 2)
        url = f"http://127.0.0.1:{self._prism}/{path.removeprefix('api/v10/')}"
        status, headers, body = await self._pass(request, url, {_PORT: port})
        self._note(request.method, path.removeprefix("api/v10"), status, headers)
        headers.popall("sl-violations", None)
        return web.Response(status=status, headers=headers, body=body)

    async def _after(self, request: web.Request) -> web.StreamResponse:
        """Pass on to the Discord that the request is for."""
        port = request.headers.get(_PORT)
        if port is None:  # Prism's first request
            return web.json_response({"url": "wss://gateway.discord.gg"})
        status, headers, body = await self._pass(request, f"http://127.0.0.1:{port}/api/v10{request.raw_path}", {})
        return web.Response(status=status, headers=headers, body=body)

    async def _pass(self, request: web.Request, url: str, more: Mapping[str, str]) -> tuple[int, CIMultiDict[str], bytes]:
        given = {name: value for name, value in request.headers.items() if name.lower() not in (*_HOPS, _PORT.lower())}
        body = await request.read()
        try:
            sent = self._session.request(
                request.method, URL(url, encoded=True), headers={**given, **more}, data=body or None, allow_redirects=False
            )
            async with sent as answer:
                content = await answer.read()
        except aiohttp.ClientError:
            if request.transport is not None:
                request.transport.abort()  # as the Discord of the tests did
            return 502, CIMultiDict(), b""
        kept = CIMultiDict((name, value) for name, value in answer.headers.items() if name.lower() not in _HOPS)
        return answer.status, kept, content

    def _note(self, method: str, path: str, status: int, headers: Mapping[str, str]) -> None:
        where = f"{method} {_plain(path.partition('?')[0])}"
        self.exchanges[where] += 1
        for each in _violations(headers.get("sl-violations", "")):
            self.violations[f"{where} {status}: {each['location']}: {each['message']}"] += 1


def _violations(said: str) -> Iterator[dict[str, str]]:
    for each in json.loads(said) if said else ():
        if each.get("severity") == "Error":
            location = ".".join("#" if str(part).isdigit() else str(part) for part in each.get("location", ()))
            yield {"location": location, "message": each["message"]}


def _plain(path: str) -> str:
    """Return the path without what differs from request to request."""
    words = path.strip("/").split("/")
    named = {"interactions": 2, "webhooks": 2}
    found: list[str] = []
    for at, word in enumerate(words):
        secret = any(words[at - back] in named for back in (1, 2) if at >= back and back <= named.get(words[at - back], 0))
        found.append("#" if word.isdigit() or (secret and word != "callback") else word)
    return "/" + "/".join(found)


async def _serve(port: int, handler: Any) -> None:
    app = web.Application(client_max_size=2**25)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def measure(command: Sequence[str], spec: Path, tests: Sequence[str]) -> int:
    """Run the tests through Prism, print what was counted, and return the exit status."""
    prism, front, behind = (_free_port() for _ in range(3))
    proxy = [*command, "proxy", str(spec), f"http://127.0.0.1:{behind}", "--port", str(prism), "--verboseLevel", "silent"]
    relay = [sys.executable, "-m", "benchmarks.prism", "--relay", *map(str, (prism, front, behind))]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(relay, stdin=pipe, stdout=pipe, text=True) as passing,
        subprocess.Popen(proxy, stdout=subprocess.DEVNULL) as checking,
    ):
        try:
            _read_all(prism, checking)
            FakeDiscord.way = f"http://127.0.0.1:{front}"
            status = pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *tests])
        finally:
            said, _ = passing.communicate()
            checking.terminate()
    exchanges, violations = (Counter[str](each) for each in json.loads(said))
    known = Counter({what: number for what, number in violations.items() if _why(what)})
    print(_report(exchanges, violations - known, known))
    return int(bool(violations - known or not exchanges or status not in (0, 1)))


def _read_all(port: int, prism: "subprocess.Popen[bytes]") -> None:
    """Let Prism read what the description says of each request that the Discord of the tests takes: seconds for each."""
    for each in ROUTES:
        path = re.sub(r"\{.*?\}", "100000000000000001", each.path)
        _ask(port, prism, Request(f"http://127.0.0.1:{port}{path}", method=each.method, data=_EMPTY.get(each.method)))


def _ask(port: int, prism: "subprocess.Popen[bytes]", request: Request) -> None:
    end = time.monotonic() + _START
    request.add_header("Content-Type", "application/json")
    while time.monotonic() < end:
        if prism.poll() is not None:
            raise SystemExit(f"Prism ended with {prism.returncode}.")
        with suppress(HTTPError):
            try:
                urlopen(request, timeout=_START).close()
            except URLError as error:
                if isinstance(error, HTTPError):
                    return
                time.sleep(0.5)
                continue
        return
    raise SystemExit("Prism does not answer.")


def _why(what: str) -> str:
    """Return why it is no fault of ours; "" where it is one."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, what)), "")


def _report(exchanges: Counter[str], ours: Counter[str], known: Counter[str]) -> str:
    counted = f"{ours.total():,} violations of ours, and {known.total():,} that are none"
    lines = [f"{exchanges.total():,} exchanges at {len(exchanges)} places; {counted}"]
    lines += [f"{number:6,}  {what}" for what, number in exchanges.most_common()]
    lines += [f"VIOLATION {number:6,}  {what}" for what, number in ours.most_common()]
    lines += [f"known {number:6,}  {what} ({_why(what)})" for what, number in known.most_common()]
    return "\n".join(lines)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prism", description=__doc__)
    parser.add_argument("--prism", help="the command that starts Prism")
    parser.add_argument("--spec", type=Path, help="Discord's OpenAPI description")
    parser.add_argument("--relay", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    if given.relay:
        prism, front, behind = given.relay
        asyncio.run(Relay(prism).run(front, behind))
        return
    if not given.prism or not given.spec:
        parser.error("--prism and --spec are needed")
    sys.exit(measure(shlex.split(given.prism), given.spec, given.tests or TESTS))


if __name__ == "__main__":
    main()
