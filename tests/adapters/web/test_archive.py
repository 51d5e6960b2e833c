"""The archive in a browser: what was posted, in its order, with its numbers, and what one may do with it."""

from datetime import timedelta
from itertools import pairwise

import pytest

from adapters.web.page import policy
from adapters.web.site.addresses import command_path, day_path, item_path, own_path, topic_path
from adapters.web.site.views import script
from bot.commands import Trends
from bot.models import Digest, Item, Kind
from tests.adapters.web.browser import Page, Rooms, browsing, publish, sees, where
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker
from tests.conftest import NOW

PAPER = PAPERS[0].key


def headlines(page: Page) -> list[str]:
    return [" ".join(each.text().split()) for each in page.tree.css(".headline")]


def titles(*digests: Digest) -> list[str]:
    return [each.ranked.item.title for digest in digests for each in digest.entries]


async def test_the_front_page_shows_each_topics_newest_digest_as_it_was_posted(ada: Asker) -> None:
    await posted(ada, "C1", days=1)
    gpu, kv = await posted(ada, "C1", "gpu-systems", days=1), await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        front = await browser.enter(ada)
        assert front.title == "Broadsheet"
        assert headlines(front) == titles(kv, gpu)
        for digest in (kv, gpu):
            assert f"{digest.title} {digest.coverage.kept} of {digest.coverage.seen}" in front.text
            assert all(part.text in front.text for entry in digest.entries for part in entry.card)
        assert front.text.count("2 topics") == 1


async def test_topics_days_and_digests_lead_to_each_other(ada: Asker) -> None:
    made = [await posted(ada, "C1", days=days) for days in (0, 1, 40)]
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        topics = await browser.get("/topics")
        assert "KV cache 3 days" in topics.text
        listed = await browser.get("/t/kv")
        days = [day_path("kv", each.day) for each in made]
        assert [each for each in listed.links if "/t/kv/" in each] == [browser.base + each for each in days]
        assert [each.text() for each in listed.tree.css("h2")] == ["April 2026", "March 2026", "February 2026"]
        older = await browser.get(topic_path("kv", before=made[1].day))
        assert [each for each in older.links if "/t/kv/" in each] == [browser.base + days[2]]
        shown = await browser.get(days[1])
        assert headlines(shown) == titles(made[1])
        assert browser.base + days[2] in shown.links, "what was before"


async def test_what_several_channels_were_posted_alike_is_one_digest_of_the_day(ada: Asker) -> None:
    made = await posted(ada, "C1")
    await ada.context.store.digests.save("slack:T1", "C2", made, NOW + timedelta(minutes=5))
    async with browsing(sees(ada, "C1", "C2")) as browser:
        await browser.enter(ada)
        assert headlines(await browser.get(day_path("kv", made.day))) == titles(made)


async def test_a_permalink_has_the_card_where_it_was_posted_and_what_one_may_do(ada: Asker) -> None:
    made = await posted(ada, "C1")
    entry = made.entries[0]
    async with browsing(sees(ada, "C1")) as browser:
        front = await browser.enter(ada)
        url = browser.base + item_path(entry.ranked.item.key)
        assert url in front.links
        page = await browser.get(url)
        assert page.title == entry.ranked.item.title
        assert all(part.text in page.text for part in entry.card)
        assert entry.ranked.item.abstract in page.text
        assert browser.base + day_path("kv", made.day) in page.links
        assert list(page.buttons) == ["More like this", "Less", "Save", "Leave"]


async def test_who_may_read_a_permalink_has_its_entry_for_a_bibliography(ada: Asker) -> None:
    made = await posted(ada, "C1")
    await publish(ada, "C1")
    key = made.entries[0].ranked.item.key
    elsewhere = next(each.key for each in PAPERS if each.key not in {shown.ranked.item.key for shown in made.entries})
    async with browsing(where(ada, Rooms({"C1"}, {"C1"}))) as browser:
        public = f"/w/{browser.signer.slug('slack:T1')}"
        files = [browser.base + public + item_path(key) + "?as=bibtex"]
        assert files[0] in (await browser.get(public + item_path(key))).links
        assert (await browser.get(public + item_path(elsewhere) + "?as=bibtex")).status == 404, (
            "it is nobody's but the team's"
        )
        await browser.enter(ada)
        files += [browser.base + item_path(each) + "?as=bibtex" for each in (key, elsewhere)]
        for url, found in zip(files, (key, key, elsewhere), strict=True):
            file = await browser.get(url)
            assert file.headers["Content-Disposition"] == 'attachment; filename="paper.bib"'
            assert next(each.title for each in PAPERS if each.key == found) in file.html
        assert (await browser.get(item_path(key) + "?as=exe")).status == 404


async def test_a_form_does_what_it_says_and_leads_back(ada: Asker) -> None:
    await posted(ada, "C1")
    people = ada.context.store.people
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        page = await browser.get(item_path(PAPER))
        done = await browser.press(page, "Save")
        assert (done.status, done.title) == (200, "Saved")
        assert [each.key for each in await people.saved("slack:T1", "U-ada")] == [PAPER]
        assert browser.base + item_path(PAPER) in done.links
        again = await browser.get(item_path(PAPER))
        assert "Unsave" in again.buttons
        await browser.press(again, "Unsave")
        assert await people.saved("slack:T1", "U-ada") == []
        front = await browser.get("/")
        label = next(each for each in front.buttons if each.startswith("Less"))
        told = await browser.press(front, label)
        assert told.status == 200
        (feedback,) = await people.feedback("slack:T1", "kv")
        assert (feedback.person, feedback.more) == ("U-ada", False)


async def test_what_is_searched_for_is_found_in_the_order_and_words_of_the_chat(ada: Asker) -> None:
    in_chat = await ada.ask("search cache")
    async with browsing(sees(ada)) as browser:
        await browser.enter(ada)
        empty = await browser.get("/search")
        assert empty.tree.css_first("input#q") is not None
        found = await browser.get("/search?q=cache")
        assert headlines(found) == [each.item.title for each in in_chat.entries if each.item]
        assert in_chat.text[0].replace("*", "") in found.text
        assert "posts here" in "".join(in_chat.next_steps)
        assert "posts here" not in found.text, "nobody sets anything up on a page"
        hostile = await browser.get("/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        assert hostile.tree.css_first("input#q").attributes["value"] == '"><script>alert(1)</script>'  # type: ignore[union-attr]
        wrong = await browser.get("/search?q=starz:%3E5")
        assert (wrong.status, "stars" in wrong.text) == (200, True)
        newest = next(each for each in found.links if "sort%3Anew" in each)
        assert (await browser.get(newest)).status == 200


async def test_the_curve_of_a_repository_has_a_page(ada: Asker) -> None:
    for days in (0, 3):
        code = Item(key="github:acme/kit", kind=Kind.REPO, title="acme/kit", stars=61 - days)
        await ada.context.store.items.add([code], NOW - timedelta(days=days))
    async with browsing(sees(ada)) as browser:
        await browser.enter(ada)
        page = await browser.get(command_path(Trends("acme/kit")))
        assert (page.status, page.title) == (200, "Trends: acme/kit")
        assert page.tree.css_first("figure.chart svg") is not None
        assert "3 more stars in 3 days: 58 on 29 March 2026, 61 on 1 April 2026." in page.text


async def test_a_search_has_the_one_script_that_its_policy_names_and_no_other_page_has_any(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        for url, page in (await browser.crawl()).items():
            scripts = [each.text() for each in page.tree.css("script")] if page.html.startswith("<!doctype") else []
            is_search = url.partition("?")[0] == f"{browser.base}/search"
            assert scripts == ([script()] if is_search else [])
            assert page.headers["Content-Security-Policy"] == policy(script() if is_search else "")
    assert "</" not in script()


async def test_what_one_saved_is_listed_and_handed_over_as_a_file(ada: Asker) -> None:
    await ada.ask(f"save {PAPER}")
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        saved = await browser.get("/saved")
        assert (saved.title, headlines(saved)) == ("1 saved item", [PAPERS[0].title])
        file = await browser.get("/saved?as=bibtex")
        assert file.headers["Content-Type"].startswith("application/x-bibtex")
        assert file.headers["Content-Disposition"] == 'attachment; filename="saved.bib"'
        assert PAPERS[0].title in file.html
        assert (await browser.get("/saved?as=exe")).status == 404
        assert (await browser.get("/saved?page=99")).status == 200
        assert (await browser.get("/saved/here")).status == 200


async def test_every_page_has_landmarks_one_first_heading_no_step_left_out_and_names_for_what_is_pressed(ada: Asker) -> None:
    await posted(ada, "C1")
    await ada.ask(f"save {PAPER}")
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        pages = await browser.crawl()
        pages["left"] = await browser.get("/nowhere")
        for url, page in pages.items():
            if not page.html.startswith("<!doctype"):
                continue
            tree = page.tree
            assert (len(tree.css("body > main")), len(tree.css("body > header"))) == (1, 1), url
            levels = [int(str(each.tag)[1]) for each in tree.css("h1, h2, h3")]
            assert levels[0] == 1, url
            assert levels.count(1) == 1, url
            assert all(after - before <= 1 for before, after in pairwise(levels)), url
            ids = [each.attributes["id"] for each in tree.css("[id]")]
            assert len(ids) == len(set(ids)), url
            within = {str(each.attributes["href"])[1:] for each in tree.css("a[href^='#']")}
            assert within <= set(ids), url
            assert all(str(each.attributes["aria-labelledby"]) in ids for each in tree.css("[aria-labelledby]")), url
            assert all("aria-label" in each.attributes for each in tree.css("nav")), url
            assert all(each.text().strip() for each in tree.css("a, button")), url
            named = {each.attributes["for"] for each in tree.css("label")}
            assert {each.attributes.get("id") for each in tree.css("input:not([type=hidden])")} <= named, url
            assert tree.css_first("html").attributes["lang"] == "en"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("arxiv:2603.00001", "/p/arxiv:2603.00001"),
        ("arxiv:hep-th/9901001", "/p/arxiv:hep-th/9901001"),
        ("github:owner/name", "/p/github:owner/name"),
        ("github:owner/..", "/p/github:owner%2F.."),
        ("doi:10.1/a?b#c", "/p/doi:10.1%2Fa%3Fb%23c"),
        ("url:https://x.example//../a%20b", "/p/url:https:%2F%2Fx.example%2F%2F..%2Fa%2520b"),
        ("url:é\ud800", "/p/url:%C3%A9%3F"),
    ],
)
def test_a_permalink_is_of_characters_that_nothing_on_the_way_changes(key: str, path: str) -> None:
    assert item_path(key) == path


async def test_every_key_is_found_at_its_permalink(ada: Asker) -> None:
    keys = ("github:owner/name", "doi:10.1/a?b#c", "url:https://x.example//../a%20b", "url:https://x.example/é")
    items = [Item(key=key, kind=Kind.POST, title=f"Title {number}") for number, key in enumerate(keys)]
    await ada.context.store.items.add(items, NOW)
    async with browsing(sees(ada)) as browser:
        await browser.enter(ada)
        assert [(await browser.get(item_path(key))).title for key in keys] == [each.title for each in items]


@pytest.mark.parametrize(
    "said", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\nb", "", "/" + "x" * 3000]
)
def test_nobody_is_led_back_to_elsewhere(said: str) -> None:
    assert own_path(said) == ""


@pytest.mark.parametrize("said", ["/", "/p/arxiv:2603.00001", "/search?q=a%20b&page=1", "/t/kv?before=2026-01-01"])
def test_a_page_of_ours_is_led_back_to(said: str) -> None:
    assert own_path(said) == said


async def test_a_path_before_the_pages_stands_in_every_link(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        browser.signer.base += "/papers"  # a proxy takes it away
        browser.strips = "/papers"
        front = await browser.enter(ada)
        assert all(each.startswith(f"{browser.base}/papers/") for each in front.links if "#" not in each)
        assert {page.status for page in (await browser.crawl("/papers/")).values()} == {200}


async def test_trends_are_charts_with_their_numbers_for_who_got_in(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as server:
        assert (await server.get("/trends")).status == 404, "a stranger counts nothing"
        await server.enter(ada)
        whole, of_topic = await server.get("/trends"), await server.get("/trends/kv")
        assert [(each.status, each.title) for each in (whole, of_topic)] == [(200, "Trends"), (200, "Trends in KV cache")]
        assert of_topic.tree.css("figure svg[role=img]")[0].attributes["aria-label"]
        assert (await ada.ask("trends kv")).charts[0].source in of_topic.text
