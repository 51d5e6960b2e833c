"""How one gets in: by a link from the chat, once, for a while; and that nothing else does anything."""

import asyncio
from datetime import datetime, timedelta

from adapters.rate_limit import RateLimit
from adapters.web.site.addresses import day_path, item_path
from adapters.web.site.held import HELD as PAGES_HELD
from adapters.web.site.visitors import WRONG
from bot.handlers.archive.channel_access import SEEN_HELD
from bot.handlers.links import LinkSigner
from tests.adapters.web.browser import Browser, Page, Rooms, browsing, publish, sees, where
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import PAPERS, Asker
from tests.conftest import NOW

PAPER = PAPERS[0].key


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def same(page: Page) -> tuple[object, ...]:
    """What somebody sees who compares answers."""
    return page.status, page.html, {name: value for name, value in page.headers.items() if name != "Date"}, page.cookies


async def test_a_link_opens_the_archive_once_and_looking_at_it_uses_nothing_up(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        url = browser.opening(ada)
        for method in ("GET", "HEAD", "GET"):
            assert (await browser.get(url, method)).cookies == ()
        asked = await browser.get(url)
        entered = await browser.press(asked, "Open")
        (cookie,) = entered.cookies
        assert [each.strip() for each in cookie.split(";")[1:]] == ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax"]
        assert (entered.status, entered.headers["Location"]) == (303, "/")
        for method in ("GET", "POST"):
            assert (await browser.get(url, "POST", data={"do": "open"})).status == 404, method


async def test_two_who_press_at_once_do_not_both_get_in(ada: Asker) -> None:
    async with browsing(sees(ada)) as browser:
        url = browser.opening(ada)
        answers = await asyncio.gather(*(browser.get(url, "POST", data={"do": "open"}) for _ in range(4)))
        assert sorted(each.status for each in answers) == [303, 404, 404, 404]


async def test_a_cookie_is_bound_to_its_host_where_the_pages_are_reached_by_tls(ada: Asker) -> None:
    async with browsing(sees(ada)) as browser:
        url = browser.opening(ada)
        browser.signer.base = "https://papers.lab.example"
        entered = await browser.get(url, "POST", data={"do": "open"}, headers={"Sec-Fetch-Site": "same-origin"})
        (cookie,) = entered.cookies
        assert cookie.startswith("__Host-broadsheet=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= {each.strip() for each in cookie.split(";")}
        assert "Domain" not in cookie


async def test_links_and_sessions_that_we_never_made_or_that_are_over_open_nothing(ada: Asker) -> None:
    await posted(ada, "C1")
    clock = Clock()
    async with browsing(sees(ada, "C1"), clock=clock) as browser:
        url = browser.opening(ada)
        token = url.rpartition("/")[2]
        other = LinkSigner(bytes(32), browser.base)
        elsewhere = Browser(browser.base, other, browser._session).opening(ada)
        forged = [f"{url}x", url[:-1], url.replace(token, token[::-1]), elsewhere, f"{browser.base}/open/x", f"{url}%00"]
        nothing = await browser.get("/nowhere")
        answers = [await browser.get(each, method) for each in forged for method in ("GET", "POST")]
        assert [each.url for each in answers if same(each) != same(nothing)] == []
        clock.now += timedelta(minutes=15)
        assert same(await browser.get(url, "POST", data={"do": "open"})) == same(nothing), "it is over"
        clock.now = NOW
        entered = await browser.enter(ada)
        assert entered.status == 200
        clock.now += timedelta(hours=12)
        assert same(await browser.get("/topics")) == same(nothing), "the session is over"


async def test_a_session_that_was_not_signed_here_is_none(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        await browser.enter(ada)
        (cookie,) = browser.cookies
        nothing = None
        for said in (f"{cookie}x", cookie[:-1], cookie.replace(".", ""), "x", cookie.split(".")[1], ""):
            browser.cookies = (said,)
            nothing = nothing or await browser.get("/nowhere")
            assert same(await browser.get("/topics")) == same(nothing)


async def test_what_is_not_there_forbidden_or_another_workspaces_is_answered_alike(ada: Asker) -> None:
    made = await posted(ada, "C2")
    foreign = await posted(ada, "C9", "gpu-systems", workspace="slack:T2")
    async with browsing(sees(ada, "C1", "C9")) as browser:
        await browser.enter(ada)
        nothing = await browser.get("/nowhere")
        assert nothing.status == 404
        for path in (
            day_path("kv", made.day),
            "/t/kv",
            day_path("gpu-systems", foreign.day),
            "/t/gpu-systems",
            "/t/nothing",
            "/t/kv/2026-99-99",
            "/t/kv?before=x",
            item_path("arxiv:1901.99999"),
            "/w/nobody/",
            "/w/nobody/topics",
            "/saved?as=exe",
        ):
            assert same(await browser.get(path)) == same(nothing), path


async def test_a_form_does_nothing_but_for_the_session_for_which_it_was_signed(ada: Asker) -> None:
    await posted(ada, "C1")
    people = ada.context.store.people
    async with browsing(sees(ada, "C1")) as hers, browsing(sees(ada, "C1")) as his:
        await hers.enter(ada)
        await his.enter(ada.by(person="U-bob"))
        where, fields = (await hers.get(item_path(PAPER))).buttons["Save"]
        signed = fields["do"]
        mail = hers.signer.button("a1", "C1", f"save {PAPER}", NOW)
        subscribed = hers.signer.form(hers.cookies[0], "subscribe kv", NOW)
        for said in ({}, {"do": ""}, {"do": signed + "x"}, {"do": f"save {PAPER}"}, {"do": mail}, {"do": subscribed}):
            assert (await hers.get(where, "POST", data=said)).status == 403, said
        for header in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "https://evil.example"},
        ):
            assert (await hers.get(where, "POST", data=fields, headers=header)).status == 403, header
        path = where.removeprefix(hers.base)
        assert (await his.get(path, "POST", data=fields)).status == 403
        assert (await his.get("/leave", "POST", data={"do": (await hers.get("/")).buttons["Leave"][1]["do"]})).status == 403
        hers.cookies = ()
        assert (await hers.get(where, "POST", data=fields)).status == 404
        assert [await people.saved("slack:T1", who) for who in ("U-ada", "U-bob")] == [[], []]


async def test_who_leaves_reads_nothing_more(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        front = await browser.enter(ada)
        left = await browser.press(front, "Leave")
        assert (left.status, left.title) == (200, "You have left")
        assert (await browser.get("/topics")).status == 404
        assert "web" in (await browser.get("/")).text


async def test_who_may_not_know_of_a_channel_any_more_reads_it_a_minute_later_no_more(ada: Asker) -> None:
    made, seconds, rooms = await posted(ada, "C2"), [0.0], Rooms({"C2"})
    path = day_path("kv", made.day)
    async with browsing(where(ada, rooms, lambda: seconds[0])) as browser:
        await browser.enter(ada)
        assert (await browser.get(path)).status == 200
        rooms.visible.clear()
        seconds[0] = SEEN_HELD
        assert (await browser.get(path)).status == 404


async def test_who_left_the_channel_where_they_asked_reads_nothing_of_it(ada: Asker) -> None:
    await posted(ada, "C1")
    await ada.ask("settings activity on")
    await ada.ask(f"save {PAPER}")
    rooms = Rooms({"C1"})
    async with browsing(where(ada, rooms)) as browser:
        front = await browser.enter(ada)
        assert f"{browser.base}/saved/here" in front.links
        assert PAPERS[0].title in (await browser.get("/saved/here")).text
    rooms.visible.clear()
    async with browsing(where(ada, rooms)) as browser:  # a minute later
        front = await browser.enter(ada)
        assert f"{browser.base}/saved/here" not in front.links
        nothing = await browser.get("/nowhere")
        assert same(await browser.get("/saved/here")) == same(nothing)
        by_its_number = await browser.get("/search?q=1")
        assert PAPERS[0].title not in by_its_number.text


async def test_who_left_the_workspace_reads_and_searches_nothing_though_the_session_holds(ada: Asker) -> None:
    await posted(ada, "C1")
    await ada.ask(f"save {PAPER}")
    seconds, rooms = [0.0], Rooms({"C1"})
    async with browsing(where(ada, rooms, lambda: seconds[0])) as browser:
        await browser.enter(ada)
        assert (await browser.get("/saved")).status == 200
        rooms.left.add(ada.actor.person)
        seconds[0] = SEEN_HELD
        nothing = await browser.get("/nowhere")
        for path in ("/", "/saved", "/search?q=cache", item_path(PAPER)):
            assert same(await browser.get(path)) == same(nothing)


async def test_a_copy_of_the_cookie_of_who_left_opens_nothing(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1")) as browser:
        front, copied = await browser.enter(ada), browser.cookies
        assert (await browser.press(front, "Leave")).status == 200
        browser.cookies = copied
        nothing = await browser.get("/nowhere")
        for path in ("/", "/topics", "/saved", item_path(PAPER)):
            assert same(await browser.get(path)) == same(nothing)
        assert (await browser.press(front, "Leave")).status == 404
        browser.cookies = ()
        assert (await browser.enter(ada)).status == 200, "another link gives another session"


async def test_while_the_platform_is_silent_nothing_of_other_channels_is_shown_and_the_page_says_so(ada: Asker) -> None:
    for channel in ("C1", "C2"):
        await posted(ada, channel, "kv" if channel == "C1" else "gpu-systems")
    async with browsing(where(ada, Rooms({"C1", "C2"}, answers=False))) as browser:
        front = await browser.enter(ada)
        assert "cannot be told now" in front.text
        assert "KV cache" in front.text
        assert "GPU systems" not in front.text


async def test_what_a_workspace_made_public_is_read_without_a_link_and_nothing_else_is(ada: Asker) -> None:
    kv, gpu = await posted(ada, "C1"), await posted(ada, "C2", "gpu-systems")
    rooms = Rooms({"C1", "C2"}, {"C1"})
    async with browsing(where(ada, rooms)) as browser:
        assert "web" in (await browser.get("/")).text, "nothing is public yet"
        await publish(ada, "C1", "C2")
        to = (await browser.get("/")).headers["Location"]
        assert to == f"/w/{browser.signer.slug('slack:T1')}/"
        front = await browser.get(to)
        assert (front.status, front.headers.get("X-Robots-Tag")) == (200, None)
        assert kv.entries[0].ranked.item.title in front.text
        assert "GPU systems" not in front.text
        root = to.rstrip("/")
        assert (await browser.get(root + day_path("kv", kv.day))).status == 200
        assert (await browser.get(root + item_path(kv.entries[0].ranked.item.key))).status == 200
        hidden = [root + day_path("gpu-systems", gpu.day), root + item_path("arxiv:2603.00004"), day_path("kv", kv.day)]
        hidden += ["/saved", "/search?q=x", f"{root}/search?q=x", f"{root}/saved"]
        nothing = await browser.get("/nowhere")
        assert [each for each in hidden if same(await browser.get(each)) != same(nothing)] == []


async def test_a_page_that_everybody_gets_is_made_once_a_minute_and_never_for_who_may_know_of_less(ada: Asker) -> None:
    seconds, rooms = [0.0], Rooms(set(), {"C1"})
    await posted(ada, "C1", days=1)
    await publish(ada, "C1")
    async with browsing(where(ada, rooms), monotonic=lambda: seconds[0]) as browser:
        root = f"/w/{browser.signer.slug('slack:T1')}/"
        first = (await browser.get(root)).html
        await posted(ada, "C1", "gpu-systems")
        assert (await browser.get(root)).html == first
        seconds[0] = PAGES_HELD
        assert "GPU systems" in (await browser.get(root)).text
        await publish(ada)
        assert (await browser.get(root)).status == 404, "at once"


async def test_where_several_workspaces_are_public_none_is_named(ada: Asker) -> None:
    for workspace in ("slack:T1", "slack:T2"):
        await posted(ada, "C1", workspace=workspace)
        await publish(ada, "C1", workspace=workspace)
    async with browsing(where(ada, Rooms(set(), {"C1"}))) as browser:
        welcome = await browser.get("/")
        assert (welcome.status, welcome.links) == (200, [])


async def test_who_asks_too_often_is_told_so(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1"), by_address=RateLimit(3 * WRONG)) as browser:
        answers = [(await browser.get("/open/x.y")).status for _ in range(4)]
        assert (answers[0], answers[-1]) == (404, 429)
    async with browsing(sees(ada, "C1"), by_session=RateLimit(2)) as browser:
        await browser.enter(ada)
        answers = [(await browser.get("/search?q=x")).status for _ in range(3)]
        assert answers == [200, 200, 429]
        assert (await browser.get("/")).status == 200, "reading goes on"


async def test_bodies_are_bounded_and_in_time(ada: Asker) -> None:
    await posted(ada, "C1")
    async with browsing(sees(ada, "C1"), slowest=0.2) as browser:
        front = await browser.enter(ada)
        assert (await browser.get("/do", "POST", data={"do": "x" * 20_000})).status == 413
        assert (
            await browser.get("/do", "POST", data=b"\xff" * 99, headers={"Content-Type": "multipart/form-data"})
        ).status == 400
        assert (await browser.get("/search?q=" + "x" * 2001)).status == 400

        async def slow() -> object:
            yield b"do="
            await asyncio.sleep(1)

        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert (await browser.get("/do", "POST", data=slow(), headers=form)).status == 408
        assert front.status == 200
