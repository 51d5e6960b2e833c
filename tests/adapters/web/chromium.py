"""A real browser, driven by the protocol of its developer tools, where one is installed."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALLED = next(filter(None, map(shutil.which, NAMES)), "")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-port=0")


class Tab:
    """One page of the browser; what it complains of is kept."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._number = socket, 0
        self.complaints: list[str] = []  # what the log says: what a policy refused, scripts that failed

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return what the browser answers to a method of its protocol."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        async for message in self._socket:
            said = json.loads(message.data)
            if said.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.complaints.append(json.dumps(said["params"]))
            if said.get("id") == self._number:
                assert "error" not in said, said
                answer: dict[str, Any] = said["result"]
                return answer
        raise AssertionError("the browser ended")

    async def evaluate(self, script: str) -> Any:
        """Return what the script gives in the page."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, script: str, seconds: float = 20) -> None:
        """Wait until the script gives something true."""
        async with asyncio.timeout(seconds):
            while True:
                with contextlib.suppress(AssertionError):  # while another page is coming there is nothing to ask
                    if await self.evaluate(script):
                        return
                await asyncio.sleep(0.05)

    async def go(self, url: str) -> None:
        """Open the page of that address."""
        await self.call("Page.navigate", url=url)
        await self.until(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    async def look(self, width: int, *, dark: bool = False) -> None:
        """Look at it in a window of so many pixels."""
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])


@asynccontextmanager
async def chromium() -> AsyncIterator[Tab]:
    """Start the browser, and end it with the block."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        quiet = asyncio.subprocess.DEVNULL
        command = (INSTALLED, *_FLAGS, f"--user-data-dir={folder}", "about:blank")
        process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
        try:
            port = await _port(Path(folder))
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as response:
                    pages = [each for each in await response.json() if each["type"] == "page"]
                async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    tab = Tab(socket)
                    for domain in ("Page", "Log", "Runtime"):
                        await tab.call(f"{domain}.enable")
                    yield tab
        finally:
            process.kill()
            await process.wait()


async def _port(folder: Path) -> str:
    """Return where the browser listens, which it writes into a file."""
    file = folder / "DevToolsActivePort"
    async with asyncio.timeout(30):
        while True:
            if said := await asyncio.to_thread(lambda: file.read_text() if file.exists() else ""):
                return said.splitlines()[0]
            await asyncio.sleep(0.05)
