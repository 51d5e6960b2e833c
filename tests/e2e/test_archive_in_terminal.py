"""The archive of the terminal's own workspace: the link that `broadsheet web` prints opens what the service serves."""

import asyncio

import aiohttp
import pytest

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk
from tests.e2e.test_service import at, free_port, running
from tests.fakes.patience import PATIENCE


async def fetched(session: aiohttp.ClientSession, method: str, url: str, **more: str) -> tuple[int, str]:
    async with session.request(method, url, headers=more) as answer:
        return answer.status, await answer.text()


async def served(session: aiohttp.ClientSession, url: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await fetched(session, "GET", url)
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
            else:
                return


@pytest.mark.long
async def test_the_link_of_the_terminal_opens_what_was_posted_there_once(desk: Desk) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with (desk.folder / "broadsheet.toml").open("a", encoding="utf-8") as file:
        file.write(f'[web]\nurl = "{base}"\nport = {port}\n')
    await desk.run("collect")
    assert (await desk.run("digest", "gpu-systems", "--record")).status == Exit.OK
    told = await desk.run(*at("04:20:00"), "web")
    (link,) = (line.strip() for line in told.out.splitlines() if "/open/" in line)
    async with (
        running(desk, *at("04:20:00")),
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):
        await served(browser, base)
        assert "GPU systems" not in (await fetched(browser, "GET", base))[1]
        status, front = await fetched(browser, "POST", link, **{"Sec-Fetch-Site": "same-origin"})
        assert (status, "GPU systems" in front) == (200, True)
        status, day = await fetched(browser, "GET", f"{base}/t/gpu-systems/2026-04-01")
        assert (status, "more on topic" in day) == (200, True)
        assert (await fetched(browser, "POST", link, **{"Sec-Fetch-Site": "same-origin"}))[0] == 404
