"""Every page by programs that know the rules: axe, for who reads with eyes, ears or fingers, and the Nu Html Checker.

They are tried where they are installed: BROADSHEET_TEST_AXE names axe.min.js of npm's axe-core (with a Chromium), and
BROADSHEET_TEST_VNU the vnu.jar of npm's vnu-jar (with Java).
"""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from adapters.web.site.addresses import day_path, item_path
from tests.adapters.web.browser import Browser, Rooms, browsing, publish, where
from tests.adapters.web.chromium import INSTALLED, chromium
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker

AXE = os.environ.get("BROADSHEET_TEST_AXE", "")  # at import: no test sees the variables
VNU = os.environ.get("BROADSHEET_TEST_VNU", "")
PAPER = item_path(PAPERS[0].key)
WIDTHS = (1280, 390)
_RUN = """axe.run(document).then(found => found.passes.length < 10 ? ["nothing was tried"] :
    found.violations.map(each => [each.id, each.nodes.map(node => node.html).slice(0, 3)]))"""
pytestmark = pytest.mark.long


async def every_path(ada: Asker, browser: Browser) -> list[str]:
    """Let there be something on each page, and return where they stand, as a person and as a stranger."""
    await ada.ask("settings activity on")
    for line in (f"save {PAPERS[0].key}", f"save {PAPERS[2].key}"):
        await ada.ask(line)
    made = await posted(ada, "C1")
    await posted(ada, "C1", "gpu-systems", days=1)
    await publish(ada, "C1")
    day = day_path("kv", made.day)
    hers = [
        "/",
        "/topics",
        "/t/kv",
        day,
        PAPER,
        "/search",
        "/search?q=cache",
        "/search?q=starz:%3E5",
        "/saved",
        "/saved/here",
    ]
    root = f"/w/{browser.signer.slug('slack:T1')}"
    return [
        *hers,
        "/trends",
        "/trends/kv",
        f"{root}/",
        f"{root}/topics",
        f"{root}/t/kv",
        root + day,
        root + PAPER,
        "/nowhere",
    ]


@pytest.mark.skipif(not (AXE and INSTALLED), reason="no axe is named by BROADSHEET_TEST_AXE, or there is no Chromium")
async def test_axe_finds_nothing_wrong_with_any_page(ada: Asker) -> None:
    axe = await asyncio.to_thread(Path(AXE).read_text, encoding="utf-8")
    async with browsing(where(ada, Rooms({"C1"}, {"C1"}))) as server, chromium() as tab:
        paths = await every_path(ada, server)
        opening = server.opening(ada)
        await tab.go(opening)
        found = {("opening", width): each for width in WIDTHS if (each := await _violations(tab, width, axe))}
        await tab.evaluate("document.querySelector('button').click()")
        await tab.until("location.pathname === '/'")
        for path in paths:
            await tab.go(server.base + path)
            found |= {(path, width): each for width in WIDTHS if (each := await _violations(tab, width, axe))}
    assert found == {}


async def _violations(tab: Any, width: int, axe: str) -> Any:
    found = []
    for dark in (False, True):
        await tab.look(width, dark=dark)
        await tab.evaluate(f"{axe};0")
        found += await tab.evaluate(_RUN)
    return found


@pytest.mark.skipif(
    not (VNU and shutil.which("java")), reason="no checker is named by BROADSHEET_TEST_VNU, or there is no Java"
)
async def test_every_page_is_valid_html(ada: Asker, tmp_path: Path) -> None:
    async with browsing(where(ada, Rooms({"C1"}, {"C1"}))) as browser:
        paths = await every_path(ada, browser)
        pages = [await browser.get(browser.opening(ada)), await browser.enter(ada)]
        pages += [await browser.get(path) for path in paths]
    files = {str(tmp_path / f"{number}.html"): page for number, page in enumerate(pages)}
    for name, page in files.items():
        await asyncio.to_thread(Path(name).write_text, page.html, encoding="utf-8")
    command = ("java", "-jar", VNU, "--format", "json", "--exit-zero-always", *files)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, told = await process.communicate()
    said = json.loads(told)["messages"]
    assert [f"{pages[int(Path(each['url']).stem)].url}: {each['message']} {each.get('extract')}" for each in said] == []
