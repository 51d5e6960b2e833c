"""The archive in a real browser, under its own policy: getting in, searching as one types, and what fits the window."""

import pytest

from adapters.web.site.addresses import day_path, item_path
from tests.adapters.web.browser import browsing, sees
from tests.adapters.web.chromium import INSTALLED, chromium
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not INSTALLED, reason="no Chromium is installed: the pages are not tried in a real browser"),
]
_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_TITLES = "[...document.querySelectorAll('#found .headline')].map(each => each.textContent.trim())"


async def test_a_person_gets_in_searches_as_they_type_and_saves_and_the_policy_stands_in_nobodys_way(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as server, chromium() as tab:
        await tab.go(server.opening(ada))
        await tab.evaluate("document.querySelector('button').click()")
        await tab.until("location.pathname === '/' && document.querySelector('.masthead h1') !== null")
        assert await tab.evaluate("document.cookie") == "", "no script reads it"
        await tab.go(f"{server.base}/search")
        await tab.evaluate("document.getElementById('q').focus()")
        await tab.call("Input.insertText", text="cache")
        await tab.until(f"{_TITLES}.length > 0")
        in_chat = await ada.ask("search cache")
        assert await tab.evaluate(_TITLES) == [each.item.title for each in in_chat.entries if each.item]
        assert await tab.evaluate("location.search") == "?q=cache"
        assert await tab.evaluate("document.activeElement.id") == "q", "one types on"
        await tab.go(server.base + item_path(PAPERS[0].key))
        await tab.evaluate("[...document.querySelectorAll('button')].find(each => each.textContent === 'Save').click()")
        await tab.until("document.querySelector('h1').textContent === 'Saved'")
        assert [each.key for each in await ada.context.store.people.saved("slack:T1", "U-ada")] == [PAPERS[0].key]
        assert tab.complaints == []


async def test_no_page_is_wider_than_its_window_and_each_follows_the_systems_colours(ada: Asker) -> None:
    made = await posted(ada, "C1")
    await ada.ask(f"save {PAPERS[0].key}")
    async with browsing(sees(ada, "C1")) as server, chromium() as tab:
        await tab.go(server.opening(ada))
        await tab.evaluate("document.querySelector('button').click()")
        await tab.until("location.pathname === '/'")
        paths = ("/", "/topics", "/t/kv", day_path("kv", made.day), item_path(PAPERS[0].key), "/search?q=cache", "/saved")
        for path in (*paths, "/trends", "/trends/kv"):
            await tab.go(server.base + path)
            colours = set()
            for width, dark in ((1280, False), (820, False), (390, True), (320, False)):
                await tab.look(width, dark=dark)
                assert await tab.evaluate(_WIDER) <= 0, (path, width)
                colours.add(await tab.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
            assert len(colours) == 2, path
        assert tab.complaints == []
