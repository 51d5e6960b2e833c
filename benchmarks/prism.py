"""Prism between the adapter and the Discord of the tests: what of either does not keep to Discord's OpenAPI description.

    python -m benchmarks.prism --prism COMMAND --spec FILE [TESTS…]

COMMAND is Prism's (@stoplight/prism-cli), FILE Discord's description (github.com/discord/discord-api-spec). The tests named,
else those of Discord from end to end, run with every request of theirs sent through Prism as a validating proxy. It says of
each exchange what breaks the description (the header `sl-violations`), and lets it pass. Counted are the exchanges and their
violations by place and kind, those apart that the description itself is at fault for (KNOWN). Ends with 1 where others are
left. What Prism needs of a first request, in which it reads the description, is taken before.

    adapter → /9001/api/v10/… → Prism → /api/v10/… → the Discord of the tests at port 9001
"""

import argparse
import asyncio
import json
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import aiohttp
import pytest
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from tests.fakes.discord.fake import FakeDiscord

TESTS = ("tests/e2e/test_discord.py", "tests/e2e/test_parity.py", "tests/adapters/discord")
_PORT = "X-Fake-Port"
_HOPS = ("host", "content-length", "transfer-encoding", "content-encoding", "connection")
_START = 120.0  # seconds in which Prism must have read the description

# What the description says wrongly: where, of what, and why. What is written of a place holds for all below it.
KNOWN: Mapping[tuple[str, str], str] = {}


@dataclass(slots=True)
class Record:
    """What was passed on."""

    exchanges: Counter[str] = field(default_factory=Counter)  # by method and path, numbers left out
    ours: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)


class Relay:
    """What passes requests on to Prism, and from there to the right Discord; it runs in a thread of its own."""

    def __init__(self, prism: int) -> None:
        self.record = Record()
        self.port = _free_port()
        self.behind = _free_port()
        self._prism = prism
        self._session: aiohttp.ClientSession

    def run(self) -> None:
        """Pass on until the process ends."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as self._session:
            await _serve(self.port, self._before)
            await _serve(self.behind, self._after)
            await asyncio.Event().wait()

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
            assert request.transport is not None
            request.transport.abort()  # as the Discord of the tests did
            return 502, CIMultiDict(), b""
        kept = CIMultiDict((name, value) for name, value in answer.headers.items() if name.lower() not in _HOPS)
        return answer.status, kept, content

    def _note(self, method: str, path: str, status: int, headers: Mapping[str, str]) -> None:
        where = f"{method} {_plain(path.partition('?')[0])}"
        self.record.exchanges[where] += 1
        for each in _violations(headers.get("sl-violations", "")):
            what = f"{where} {status}: {each['location']}: {each['message']}"
            known = any(where.startswith(place) and part in what for place, part in KNOWN)
            (self.record.known if known else self.record.ours)[what] += 1


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
        found.append("#" if word.isdigit() or (secret and word not in ("callback",)) else word)
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
    port = _free_port()
    relay = Relay(port)
    threading.Thread(target=relay.run, daemon=True).start()
    upstream = f"http://127.0.0.1:{relay.behind}"
    with subprocess.Popen(
        [*command, "proxy", str(spec), upstream, "--port", str(port), "--verboseLevel", "error"], stdout=subprocess.DEVNULL
    ) as prism:
        try:
            _wait_for(port, prism)
            FakeDiscord.way = f"http://127.0.0.1:{relay.port}"
            status = pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *tests])
        finally:
            prism.terminate()
    print(_report(relay.record))
    return int(bool(relay.record.ours or not relay.record.exchanges or status not in (0, 1)))


def _wait_for(port: int, prism: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end:
        if prism.poll() is not None:
            raise SystemExit(f"Prism ended with {prism.returncode}.")
        try:
            with urlopen(f"http://127.0.0.1:{port}/gateway", timeout=_START):
                return
        except (OSError, URLError):
            time.sleep(0.5)
    raise SystemExit("Prism does not answer.")


def _report(record: Record) -> str:
    lines = [
        f"{record.exchanges.total():,} exchanges at {len(record.exchanges)} places;"
        f" {record.ours.total():,} violations, {record.known.total():,} that the description is at fault for"
    ]
    lines += [f"{number:6,}  {what}" for what, number in record.exchanges.most_common()]
    lines += [f"VIOLATION {number:6,}  {what}" for what, number in record.ours.most_common()]
    lines += [f"known {number:6,}  {what}" for what, number in record.known.most_common()]
    return "\n".join(lines)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prism", description=__doc__)
    parser.add_argument("--prism", required=True, help="the command that starts Prism")
    parser.add_argument("--spec", type=Path, required=True, help="Discord's OpenAPI description")
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    sys.exit(measure(shlex.split(given.prism), given.spec, given.tests or TESTS))


if __name__ == "__main__":
    main()
