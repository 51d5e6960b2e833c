"""What programs show beside a link to a public page; of what is not public they are told nothing."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import aiohttp

from adapters.web.site.addresses import card_path, day_path, item_path, topic_path
from adapters.web.site.shared import of_day, of_front, of_item
from adapters.words import title
from bot.models import ArchivedDigest, ArchivedPosting
from tests.adapters.pictures.test_png import size
from tests.adapters.web.browser import Page, Rooms, browsing, publish, where
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import Asker
from tests.conftest import NOW
from tests.fakes.digests import EMPTY, GPU
from tests.stores.counted import counted


def told(page: Page) -> dict[str, str]:
    """What a page says of itself to who shows a link to it."""
    found = page.tree.css("meta[property^='og:'], meta[name^='twitter:']")
    return {
        str(each.attributes.get("property") or each.attributes["name"]): str(each.attributes["content"]) for each in found
    }


async def test_public_pages_say_what_they_are_and_show_a_picture_of_each_paper_and_digest(ada: Asker) -> None:
    made = await posted(ada, "C1")
    ada = where(ada, Rooms({"C1"}, {"C1"}))
    await publish(ada, "C1")
    entry = made.entries[0]
    paths = "/", day_path("kv", made.day), item_path(entry.ranked.item.key)
    async with browsing(ada) as browser, aiohttp.ClientSession() as anybody:
        root = f"{browser.base}/w/{browser.signer.slug('slack:T1')}"
        front, day, item = [await browser.get(root + path) for path in paths]
        for page, path in zip((front, day, item), paths, strict=True):
            said = told(page)
            assert (said["og:url"], said["og:image"]) == (root + path, root + card_path(path))
            assert said["twitter:image"] == said["og:image"]
            assert said["twitter:card"] == "summary_large_image"
            async with anybody.get(said["og:image"]) as answer:
                assert size(await answer.read()) == (1200, 630)
                assert answer.headers["Content-Type"] == "image/png"
                assert answer.headers["Cache-Control"] == "public, max-age=300"
                tag = answer.headers["ETag"]
            async with anybody.get(said["og:image"], headers={"If-None-Match": tag}) as again:
                assert (again.status, await again.read(), again.headers["ETag"]) == (304, b"", tag)
        assert told(item)["og:title"] == entry.ranked.item.title
        assert told(item).get("og:description", "") == entry.gist
        for path in ("/topics", topic_path("kv")):
            said = told(await browser.get(root + path))
            assert said["og:url"] == root + path
            assert said["twitter:card"] == "summary"
            assert "og:image" not in said


async def test_who_has_a_picture_costs_no_digest_and_a_changed_one_is_drawn_anew(ada: Asker) -> None:
    made = await posted(ada, "C1")
    calls = Counter[str]()
    counting = replace(ada.context, store=counted(ada.context.store, calls))
    ada = where(replace(ada, context=counting), Rooms({"C1"}, {"C1"}))
    await publish(ada, "C1")
    item = made.entries[0].ranked.item
    async with browsing(ada) as browser, aiohttp.ClientSession() as anybody:
        root = f"{browser.base}/w/{browser.signer.slug('slack:T1')}"

        async def asked(path: str, **headers: str) -> tuple[int, str, bytes]:
            calls.clear()
            async with anybody.get(root + card_path(path), headers=headers) as answer:
                return answer.status, answer.headers["ETag"], await answer.read()

        for path, few in (
            ("/", {"topics", "days"}),
            (day_path("kv", made.day), {"days"}),
            (item_path(item.key), {"find", "postings"}),
        ):
            _, tag, picture = await asked(path)
            assert size(picture) == (1200, 630)
            assert await asked(path, **{"If-None-Match": tag}) == (304, tag, b"")
            assert {*calls} == {"public"} | few
            assert await asked(path) == (200, tag, picture)
            assert {*calls} == {"public"} | few, "the picture is held"

        _, tag, picture = await asked(item_path(item.key))
        await ada.context.store.items.add([replace(item, upvotes=4321)], ada.now)
        status, other, drawn = await asked(item_path(item.key), **{"If-None-Match": tag})
        assert (status, other == tag, drawn == picture) == (200, False, False)

        tags = {path: (await asked(path))[1] for path in ("/", day_path("kv", made.day))}
        more = replace(made, entries=made.entries[:1])
        await ada.context.store.digests.save("slack:T1", "C1", more, ada.now + timedelta(minutes=1))
        for path, tag in tags.items():
            status, other, _ = await asked(path, **{"If-None-Match": tag})
            assert (status, other == tag) == (200, False)


async def test_private_pages_say_nothing_and_have_no_picture(ada: Asker) -> None:
    made, hidden = await posted(ada, "C1"), await posted(ada, "C2", "gpu-systems", days=1)
    ada = where(ada, Rooms({"C1", "C2"}, {"C1", "C2"}))
    await publish(ada, "C1")
    async with browsing(ada) as browser:
        await browser.enter(ada)
        assert all(not told(page) for page in (await browser.crawl()).values() if page.html.startswith("<!doctype"))
        slug = browser.signer.slug("slack:T1")
        public = {each.ranked.item.key for each in made.entries}
        private = [each.ranked.item.key for each in hidden.entries if each.ranked.item.key not in public]
        paths = [card_path(day_path("gpu-systems", hidden.day)), *(card_path(item_path(each)) for each in private)]
        paths += ["/card/p/nothing.png", "/card/t/kv/2026-99-99.png"]
        assert {(await browser.get(f"/w/{slug}{each}")).status for each in paths} == {404}
        assert {(await browser.get(card_path(day_path("kv", made.day)))).status} == {404}, "with a session, too"


async def test_where_nothing_was_posted_the_front_has_no_picture_and_a_persons_own_has_none(ada: Asker) -> None:
    await posted(ada, "C2")
    ada = where(ada, Rooms({"C1", "C2"}, {"C1", "C2"}))
    await publish(ada, "C1")
    async with browsing(ada) as browser:
        await browser.enter(ada)
        root = f"/w/{browser.signer.slug('slack:T1')}"
        assert "og:image" not in told(await browser.get(f"{root}/"))
        assert {(await browser.get(each + card_path("/"))).status for each in (root, "")} == {404}


async def test_while_nobody_can_tell_what_is_public_a_picture_is_asked_for_later(ada: Asker) -> None:
    made = await posted(ada, "C1")
    ada = where(ada, Rooms(set(), answers=False))
    await publish(ada, "C1")
    async with browsing(ada) as browser:
        path = f"/w/{browser.signer.slug('slack:T1')}{card_path(day_path('kv', made.day))}"
        assert (await browser.get(path)).status == 503


def test_a_picture_has_the_title_the_gist_the_day_and_the_counts_that_the_chats_tell() -> None:
    entry = GPU.entries[0]
    posting = ArchivedPosting(entry.ranked.item.key, "C1", GPU.topic, GPU.title, GPU.day, NOW)
    card = of_item(entry.ranked.item, posting, entry.gist, GPU.day)
    assert (card.topic, card.title, card.text) == (GPU.title, entry.ranked.item.title, entry.gist)
    assert card.foot == "Wednesday 1 April 2026 · Du, Ge, Hu +3 · InternLM · 30 March · 13 upvotes"
    posted_day = of_day([ArchivedDigest(mark="m", digest=GPU, saved_at=NOW, channels=("C1",), links=("",))])
    assert (posted_day.title, posted_day.foot) == (GPU.title, "Wednesday 1 April 2026 · 3 of 412")
    assert posted_day.text == " · ".join(title(each.ranked.item) for each in GPU.entries)
    other = replace(GPU, topic="kv", title="KV cache", entries=GPU.entries[::-1])
    both = [ArchivedDigest(mark="m", digest=each, saved_at=NOW, channels=("C1",), links=("",)) for each in (GPU, other)]
    front = of_front(both)
    assert (front.title, front.foot) == ("Wednesday 1 April 2026", "6 entries in 2 topics")
    first, second, third = (title(each.ranked.item) for each in GPU.entries)
    assert front.text == f"{first} · {third} · {second}", "of each topic in turn, and each once"
    assert of_front([replace(both[0], digest=EMPTY)]).text == "Databases"
