"""The public part of the archive as files: what everybody may read and nothing else, each link leading somewhere."""

import asyncio
import functools
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from selectolax.lexbor import LexborHTMLParser

from adapters.web.folder import MARKER, replaced
from adapters.web.mail import NOWHERE
from adapters.web.site.addresses import day_path, item_path, topic_path
from adapters.web.site.answers import DAYS
from adapters.web.static import Built, build, chosen_workspace, file_of
from bot.errors import UsageError
from bot.handlers.links import LinkSigner
from bot.models import Digest
from tests.adapters.web.browser import Rooms, browsing, live, publish, where
from tests.adapters.web.reader import KEY
from tests.adapters.web.test_crawler import WORLDS, World, digest, item_mark, mark
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import Asker, asker
from tests.conftest import NOW, tries
from tests.stores.memory import MemoryStore

URL = "https://papers.lab.example/archive"


async def written(ada: Asker, folder: Path, workspace: str = "slack:T1", url: str = URL) -> Built:
    """Write what everybody may read of the workspace, beside whatever runs."""
    fresh = folder.parent / f"{folder.name}-fresh"
    return await build(ada.context, LinkSigner(KEY), workspace, fresh, ada.now, url=url)


def pages_of(folder: Path) -> dict[str, str]:
    """Return what is in the files, by their places below the folder."""
    return {str(each.relative_to(folder)): each.read_text(errors="replace") for each in folder.rglob("*") if each.is_file()}


def dead_links(pages: dict[str, str]) -> set[str]:
    """Return the links of ours that no file answers, or that another folder would not have."""
    found = set()
    for place, html in pages.items():
        for each in LexborHTMLParser(html).css("a[href], link[href]") if place.endswith(".html") else ():
            href = str(each.attributes["href"])
            if href.startswith(("https://", "http://", "data:")):
                continue
            path, _, part = unquote(urljoin(f"/{place}", href)).partition("#")
            file = f"{path}index.html".lstrip("/") if path.endswith("/") else path.lstrip("/")
            ids = {one.attributes["id"] for one in LexborHTMLParser(pages.get(file, "")).css("[id]")}
            if href.startswith("/") or file not in pages or (part and part not in ids):
                found.add(f"{place}: {href}")
    return found


async def world_written(world: World, folder: Path) -> bool:
    store = MemoryStore()
    await store.open()
    ada = where(asker(store, NOW), Rooms(set(world.visible), set(world.open)))
    for workspace, channel, topic, days in sorted(world.posted):
        made = digest(workspace, channel, topic, days)
        await store.items.add([each.ranked.item for each in made.entries], NOW)
        await store.digests.save(workspace, channel, made, NOW - timedelta(days=days))
    await publish(ada, *sorted(world.public))
    try:
        await written(ada, folder)
    except UsageError:
        return False
    return True


@settings(max_examples=tries(16), deadline=None)
@given(WORLDS)
def test_nothing_that_is_not_public_is_in_any_file_and_every_link_leads_somewhere(world: World) -> None:
    with tempfile.TemporaryDirectory() as folder:
        is_written = asyncio.run(world_written(world, Path(folder) / "site"))
        pages = pages_of(Path(folder))
    everything = "".join(f"{place}{text}" for place, text in pages.items())
    public = {each for each in world.public & world.open if not each.startswith("mail:")}
    assert is_written == bool(public)
    for workspace, channel in {each[:2] for each in world.posted}:
        is_public = workspace == "slack:T1" and channel in public
        for said in (mark(workspace, channel), item_mark(workspace, channel)):
            assert (said in everything) == is_public, (workspace, channel)
    assert dead_links(pages) == set()
    assert not re.search(r"<form|<input|/search|/saved|/mail/|/open/|name=\"robots\"", everything)
    assert set().union(*(live(text) - _relative(text) for place, text in pages.items() if place.endswith(".html"))) <= {
        "http-equiv"
    }


def _relative(html: str) -> set[str]:
    hrefs = {str(each.attributes["href"]) for each in LexborHTMLParser(html).css("a[href]")}
    return {each for each in hrefs if not urlsplit(each).scheme}


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the folder as any host of files does."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/archive/"
    finally:
        server.shutdown()
        server.server_close()


def followed(start: str) -> dict[str, str]:
    """Return every page that can be reached by links of ours, by its address; a link that leads nowhere raises."""
    found: dict[str, str] = {}
    waiting = [start]
    while waiting:
        url = waiting.pop()
        if url in found or urlsplit(url).netloc != urlsplit(start).netloc:
            continue
        with urlopen(url) as answer:
            found[url] = answer.read().decode()
        hrefs = [str(each.attributes["href"]) for each in LexborHTMLParser(found[url]).css("a[href]")]
        waiting += [urljoin(url, each).partition("#")[0] for each in hrefs]
    return found


async def public(ada: Asker, *channels: str) -> Asker:
    """Ada, in whose workspace these channels are public and open to everybody."""
    ada = where(ada, Rooms(set(), set(channels)))
    await publish(ada, *channels)
    return ada


async def test_a_plain_host_of_files_sends_the_pages_that_are_served(ada: Asker, tmp_path: Path) -> None:
    made = [await posted(ada, "C1", days=days) for days in (0, 1)]
    await posted(ada, "C1", "gpu-systems")
    ada = await public(ada, "C1")
    built = await build(ada.context, LinkSigner(KEY), "slack:T1", tmp_path / "archive", ada.now, url=URL)

    def read() -> dict[str, str]:
        with served(tmp_path) as start:
            return {each.removeprefix(start): text for each, text in followed(start).items()}

    pages = await asyncio.to_thread(read)
    assert len(pages) == built.pages + built.feeds == len(pages_of(tmp_path)) - built.pictures
    async with browsing(ada) as browser:
        root = f"/w/{browser.signer.slug('slack:T1')}"
        for path in ("/", "/topics", topic_path("kv"), day_path("kv", made[1].day), item_path(_first(made[0]))):
            sent = await browser.get(root + path)
            told = LexborHTMLParser(pages[file_of(path).removesuffix("index.html")]).css("body")
            asked_for = " BibTeX" if path.startswith("/p/") else ""  # a file is not made when it is asked for
            assert " ".join(told[0].text().split()) == sent.text.replace(asked_for, "")
        feed = await browser.get(f"{root}/feeds/topics/kv.json")
    here, there = json.loads(pages["feeds/topics/kv.json"]), json.loads(feed.html)
    for one, other in zip(here["items"], there["items"], strict=True):
        permalink, path = one.pop("url"), other.pop("url").removeprefix(f"{browser.base}{root}")
        assert permalink == f"{URL}/{file_of(path).removesuffix('index.html')}"
        assert file_of(path).removesuffix("index.html") in pages
        assert one == other
    assert here["feed_url"] == f"{URL}/feeds/topics/kv.json"
    pictures = {each for text in pages.values() for each in re.findall(r'"og:image" content="([^"]*)"', text)}
    assert len(pictures) == built.pictures > 3
    files = pages_of(tmp_path / "archive")
    assert {each.removeprefix(f"{URL}/") for each in pictures} == {each for each in files if each.endswith("card.png")}
    assert f'xmlUrl="{URL}/feeds/topics/kv.atom"' in pages["feeds/feeds.opml"]


def _first(made: Digest) -> str:
    return made.entries[0].ranked.item.key


async def test_without_an_address_there_are_no_feeds_and_no_page_names_any(ada: Asker, tmp_path: Path) -> None:
    await posted(ada, "C1")
    built = await build((await public(ada, "C1")).context, LinkSigner(KEY), "slack:T1", tmp_path / "site", ada.now)
    pages = pages_of(tmp_path / "site")
    assert (built.feeds, built.pages) == (0, len(pages))
    assert not any("feeds/" in each for each in (*pages, *pages.values()))


async def test_a_topic_of_more_days_than_a_page_lists_goes_on_in_another_file(ada: Asker, tmp_path: Path) -> None:
    made = digest("slack:T1", "C1", "kv", 0)
    for days in range(DAYS + 3):
        of_day = replace(made, day=(NOW - timedelta(days=days)).date())
        await ada.context.store.digests.save("slack:T1", "C1", of_day, NOW - timedelta(days=days))
    await build((await public(ada, "C1")).context, LinkSigner(KEY), "slack:T1", tmp_path / "site", ada.now)
    pages = pages_of(tmp_path / "site")
    assert len([each for each in pages if re.fullmatch(r"t/kv/\d{4}-\d\d-\d\d/index.html", each)]) == DAYS + 3
    assert len([each for each in pages if each.startswith("t/kv/before-")]) == 1
    gone = file_of(item_path(_first(made)))
    assert NOWHERE.title in pages[gone], "it was never collected"
    assert dead_links(pages) == set()


async def test_where_nobody_can_tell_what_everybody_may_read_nothing_is_written(ada: Asker, tmp_path: Path) -> None:
    await posted(ada, "C1")
    await publish(where(ada, Rooms(set())), "C1")
    for rooms in (Rooms(set(), {"C1"}, answers=False), Rooms(set(), {"C2"})):
        with pytest.raises(UsageError, match="nothing was written"):
            await written(where(ada, rooms), tmp_path / "site")
    assert pages_of(tmp_path) == {}


async def test_the_workspace_is_named_where_there_are_several(ada: Asker) -> None:
    with pytest.raises(UsageError, match="No workspace shows anything"):
        await chosen_workspace(ada.context, "")
    await publish(ada, "C1")
    assert await chosen_workspace(ada.context, "") == "slack:T1"
    await publish(ada, "local", workspace="local")
    assert await chosen_workspace(ada.context, "local") == "local"
    with pytest.raises(UsageError, match="--workspace local or slack:T1"):
        await chosen_workspace(ada.context, "")
    with pytest.raises(UsageError, match="slack:T9 shows nothing"):
        await chosen_workspace(ada.context, "slack:T9")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/", "index.html"),
        ("/topics", "topics/index.html"),
        ("/t/kv?before=2026-04-01", "t/kv/before-2026-04-01/index.html"),
        ("/t/kv/2026-04-01", "t/kv/2026-04-01/index.html"),
        ("/p/arxiv:2603.00001", "p/arxiv/2603.00001/index.html"),
        ("/p/github:owner/name", "p/github/owner/name/index.html"),
        ("/p/github:owner%2F..", "p/github/1a3ea1ba8a6ad8e5a9c3/index.html"),
        ("/feeds/topics/kv.atom", "feeds/topics/kv.atom"),
        ("/feeds/feeds.opml", "feeds/feeds.opml"),
    ],
)
def test_each_path_has_a_file_that_every_system_takes(path: str, file: str) -> None:
    assert re.sub("[0-9a-f]{20}", "#", file_of(path)) == re.sub("[0-9a-f]{20}", "#", file)


# --- the folder


def test_a_folder_is_replaced_whole_and_what_was_left_is_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for said in ("first", "second"):
        with replaced(folder) as fresh:
            (fresh / "index.html").write_text(said)
        (tmp_path / ".site.new").mkdir()
        (tmp_path / ".site.new" / MARKER).write_text("somebody was killed")
        assert (folder / "index.html").read_text() == said
    with replaced(folder):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["site"]
    assert [each.name for each in folder.iterdir()] == [MARKER]


def _interrupted(file: Path) -> None:
    file.write_text("half")
    raise KeyboardInterrupt


def test_who_is_interrupted_leaves_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with replaced(folder) as fresh:
        (fresh / "index.html").write_text("whole")
    with pytest.raises(KeyboardInterrupt), replaced(folder) as fresh:
        _interrupted(fresh / "index.html")
    assert (folder / "index.html").read_text() == "whole"
    folder.rename(tmp_path / ".site.before")  # stopped between two names, where both cannot change at once
    with pytest.raises(ValueError, match="again"), replaced(folder):
        raise ValueError("again")
    assert (folder / "index.html").read_text() == "whole"


def test_a_folder_that_holds_anything_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    with replaced(folder) as fresh, pytest.raises(UsageError, match="Another run writes"), replaced(folder):
        (fresh / "never.html").touch()
    assert [each.name for each in folder.iterdir()] == [MARKER], "an empty one is taken"
    (folder / MARKER).unlink()
    (folder / "thesis.tex").write_text("mine")
    for wrong in (folder, folder / "thesis.tex", tmp_path / "not" / "there"):
        with pytest.raises(UsageError), replaced(wrong):
            pytest.fail("it was not refused")
    assert [each.name for each in folder.iterdir()] == ["thesis.tex"]
