"""A page that is held is the page that would be made now; of what everybody gets, the one of a minute ago."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.site.addresses import day_path, item_path
from adapters.web.site.held import HELD, HeldPages
from bot.store.sqlite.store import SqliteStore
from tests.adapters.web.browser import Browser, Rooms, browsing, where
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker, asker
from tests.conftest import NOW, tries

PATHS = (
    *("/", "/topics", "/t/kv", day_path("kv", NOW.date()), item_path(PAPERS[0].key)),
    *("/search?q=cache", "/saved", "/saved/here", "/nowhere"),
)
STEPS: tuple[Callable[[Asker], Awaitable[object]], ...] = (
    lambda ada: ada.ask(f"save {PAPERS[0].key}"),
    lambda ada: ada.ask(f"unsave {PAPERS[0].key}"),
    lambda ada: ada.by(person="U-bob").ask(f"save {PAPERS[1].key}"),
    lambda ada: ada.ask("settings activity on"),
    lambda ada: ada.ask(f"less {PAPERS[1].key} for kv"),
    lambda ada: posted(ada, "C1"),
    lambda ada: posted(ada, "C1", "gpu-systems", days=1),
    lambda ada: posted(ada, "C2", days=2),
    lambda ada: posted(ada, "C1", workspace="slack:T2"),
)


async def html(browser: Browser) -> list[str]:
    return [(await browser.get(path)).html for path in PATHS]


@pytest.mark.parametrize("rooms", [{"C1"}, {"C1", "C2"}])
def test_the_pages_of_a_person_are_as_they_would_be_made_now(rooms: set[str]) -> None:
    @settings(max_examples=tries(4), deadline=None)
    @given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=4))
    def check(steps: list[Callable[[Asker], Awaitable[object]]]) -> None:
        asyncio.run(same_after(steps, rooms))

    check()


async def same_after(steps: list[Callable[[Asker], Awaitable[object]]], rooms: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "held.db")
        await store.open()
        await store.items.add(PAPERS, NOW)
        ada = where(asker(store, NOW), Rooms(rooms))
        jumping = count(0, 1_000).__next__
        async with browsing(ada, monotonic=lambda: 0.0) as held, browsing(ada, monotonic=lambda: float(jumping())) as made:
            await held.enter(ada)
            made.cookies = held.cookies
            for step in (None, *steps):
                if step is not None:
                    await step(ada)
                first = await html(held)
                assert first == await html(held) == await html(made)
            assert first.count(first[-1]) < len(PATHS), "some of them are there"
        await store.close()


# --- by itself


class Made:
    def __init__(self, body: str = "x") -> None:
        self.seconds, self.times, self.body = 0.0, 0, body
        self.pages = HeldPages(lambda: self.seconds)

    async def make(self) -> web.Response:
        self.times += 1
        await asyncio.sleep(0)
        return web.Response(text=self.body, content_type="text/html", headers={"Content-Security-Policy": "none"})

    async def ask(self, name: str = "a", of: int = 1) -> web.Response:
        response = await self.pages.page(name, of, self.make)
        assert isinstance(response, web.Response)
        assert (response.text, response.headers["Content-Security-Policy"]) == (self.body, "none")
        return response


async def test_a_page_is_made_again_after_a_minute_of_another_version_and_of_another_name() -> None:
    made = Made()
    assert await made.ask() is not await made.ask(), "an answer is sent once"
    assert made.times == 1
    await made.ask(of=2)
    await made.ask("b")
    assert made.times == 3
    made.seconds = HELD
    await made.ask()
    assert made.times == 4


async def test_who_asks_at_once_gets_the_page_that_is_being_made() -> None:
    made = Made()
    await asyncio.gather(*(made.ask() for _ in range(5)))
    assert made.times == 1


async def test_large_pages_do_not_fill_the_memory() -> None:
    made = Made("x" * (3 << 20))
    for name in "abcdefgh":
        await made.ask(name)
    await made.ask("h")
    assert made.times == 8
    await made.ask("a")
    assert made.times == 9


async def test_what_cannot_be_made_is_asked_for_again_and_what_is_no_page_is_not_held() -> None:
    made, answers = Made(), iter([web.HTTPNotFound(), web.Response(text="@misc{}", content_type="text/plain")])

    async def make() -> web.StreamResponse:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(web.HTTPNotFound):
        await made.pages.page("a", 1, make)
    response = await made.pages.page("a", 1, make)
    assert response.content_type == "text/plain"
    await made.ask()
    assert made.times == 1
