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
from urllib.parse import unquote, urlsplit

import pytest

from adapters.web.site.addresses import day_path, item_path
from tests.adapters.web.browser import Browser, Rooms, browsing, publish, where
from tests.adapters.web.chromium import INSTALLED, chromium
from tests.adapters.web.test_static import served, written
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker

AXE = os.environ.get("BROADSHEET_TEST_AXE", "")  # at import: no test sees the variables
VNU = os.environ.get("BROADSHEET_TEST_VNU", "")
PAPER = item_path(PAPERS[0].key)
WIDTHS = (1280, 390)
_RUN = """axe.run(document).then(found => found.passes.length < 10 ? ["nothing was tried"] :
    found.violations.map(each => [each.id, each.nodes.map(node => node.html).slice(0, 3)]))"""
_STYLE_BY_HASH = "Inline style violates Content Security Policy (meta tag)"  # it does not reckon it; the browser does
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


async def written_pages(ada: Asker, folder: Path) -> list[Path]:
    """Write what is public as files below `archive`, and return those of them that are pages."""
    await written(where(ada, Rooms({"C1"}, {"C1"})), folder / "archive")
    return await asyncio.to_thread(_renamed, folder)


def _renamed(folder: Path) -> list[Path]:
    (folder / "archive-fresh").rename(folder / "archive")
    pages = sorted(folder.rglob("*.html"))
    assert len(pages) > 5
    return pages


@pytest.mark.skipif(not (AXE and INSTALLED), reason="no axe is named by BROADSHEET_TEST_AXE, or there is no Chromium")
async def test_axe_finds_nothing_wrong_with_any_page(ada: Asker, tmp_path: Path) -> None:
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
        files = [str(each.parent.relative_to(tmp_path / "archive")) for each in await written_pages(ada, tmp_path)]
        with served(tmp_path) as base:
            for path in files:
                await tab.go(f"{base}{path}/".replace("/./", "/"))
                found |= {(path, width): each for width in WIDTHS if (each := await _violations(tab, width, axe))}
    assert found == {}
    assert [each for each in tab.complaints if "Content Security Policy" in each] == []


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
        named = {str(each): str(each.relative_to(tmp_path)) for each in await written_pages(ada, tmp_path)}
    for number, page in enumerate(pages):
        name = tmp_path / f"{number}.html"
        await asyncio.to_thread(name.write_text, page.html, encoding="utf-8")
        named[str(name)] = page.url
    command = ("java", "-jar", VNU, "--format", "json", "--exit-zero-always", *named)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, told = await process.communicate()
    said = [each for each in json.loads(told)["messages"] if not each["message"].startswith(_STYLE_BY_HASH)]
    assert [f"{named[unquote(urlsplit(each['url']).path)]}: {each['message']} {each.get('extract')}" for each in said] == []
