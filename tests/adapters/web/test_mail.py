"""The pages behind the links in mails, over a real socket: who has a link may do what it says, and nobody else anything."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import aiohttp
import pytest

from adapters.rate_limit import RateLimit
from adapters.web.mail import BY_SUBSCRIPTION
from bot.errors import StoreError
from bot.handlers.links import LinkAction, LinkSigner, SignedLink
from bot.models import Feedback, Preferences, Saved, Subscription, Suppression
from tests.adapters.web.reader import ME, PAPER, Reader, Shown, confirmed, reading, recipient_of, subscribed
from tests.bot.deliveries import change
from tests.bot.handlers.askers import Asker, changes
from tests.fakes.patience import PATIENCE
from tests.fakes.works import paper
from tests.stores.instead import instead

ONE_CLICK = {"List-Unsubscribe": "One-Click"}
ITEMS = ("more", "less", "save")
VERBS = tuple(LinkAction)


@pytest.fixture
async def inbox(ada: Asker) -> Asker:
    """Ada's inbox, which gets the digest of one topic, in a workspace where only administrators change what is posted."""
    mine = recipient_of(ada)
    await confirmed(mine)
    await subscribed(mine)
    await ada.context.store.workspaces.save_preferences(
        ada.actor.workspace, Preferences(manage="admins"), change("slack:T1")
    )
    return mine


@pytest.fixture
async def reader(inbox: Asker) -> AsyncIterator[Reader]:
    async with reading(inbox) as made:
        yield made


async def feedback(inbox: Asker) -> list[tuple[str, str, bool, str]]:
    said: list[Feedback] = list(await inbox.context.store.people.feedback(inbox.actor.workspace, "kv"))
    return [(each.person, each.key, each.more, each.channel) for each in said]


async def saved(inbox: Asker) -> list[Saved]:
    return list(await inbox.context.store.people.saved(inbox.actor.workspace, inbox.actor.person))


async def standing(inbox: Asker) -> list[Subscription]:
    return list(await inbox.here())


def item_for(verb: str) -> str:
    return PAPER if verb in ITEMS else ""


# --- what is done


async def test_a_link_says_what_will_be_done_and_its_button_does_it(inbox: Asker, reader: Reader) -> None:
    url = reader.link("more", "a1", PAPER)
    asked = await reader.open(url)
    assert (asked.status, asked.title, list(asked.buttons)) == (200, "More like this in KV cache?", ["More like this"])
    assert "Paging the KV cache" in asked.text
    assert await feedback(inbox) == []

    told = await reader.press(url, asked, "More like this")

    assert (told.status, told.title) == (200, "More like this in KV cache")
    assert await feedback(inbox) == [("U-ada", PAPER, True, "")]
    undone = await reader.press(url, told, "Undo")
    assert undone.title == "Taken back for KV cache"
    assert await feedback(inbox) == []


async def test_less_takes_the_place_of_more_and_what_is_saved_can_be_taken_back(inbox: Asker, reader: Reader) -> None:
    await reader.follow("more", "a1", PAPER)
    told = await reader.follow("less", "a1", PAPER)
    assert "It stands in place of your more." in told.text
    assert await feedback(inbox) == [("U-ada", PAPER, False, "")]

    told = await reader.follow("save", "a1", PAPER)
    assert [each.key for each in await saved(inbox)] == [PAPER]
    assert list(told.buttons) == ["Undo"], "what shows other things is for the chat"
    await reader.press(reader.link("save", "a1", PAPER), told, "Undo")
    assert await saved(inbox) == []


async def test_what_is_paused_by_a_link_goes_on_by_the_same_link(inbox: Asker, reader: Reader) -> None:
    told = await reader.follow("pause", "a1")
    assert told.title == "KV cache is paused"
    (held,) = await standing(inbox)
    assert held.is_paused(inbox.now)

    asked = await reader.open(reader.link("pause", "a1"))
    assert (asked.title, list(asked.buttons)) == ("KV cache is paused", ["Resume"])
    told = await reader.press(reader.link("pause", "a1"), asked, "Resume")
    assert told.title == "KV cache goes on"
    (held,) = await standing(inbox)
    assert not held.is_paused(inbox.now)


async def test_who_unsubscribes_may_take_it_back_and_is_written_to_again_then(inbox: Asker, reader: Reader) -> None:
    (before,) = await standing(inbox)
    url = reader.link("unsubscribe", "a1")
    told = await reader.follow("unsubscribe", "a1")
    assert told.title == "Unsubscribed from KV cache"
    assert "by e-mail to this address" in told.text
    assert await standing(inbox) == []
    recipients = inbox.context.store.recipients
    assert await recipients.suppression(inbox.actor.workspace, ME) is Suppression.UNSUBSCRIBED
    assert [each.person for each in await changes(inbox)][:1] == ["U-ada"]

    told = await reader.press(url, told, "Undo")
    assert "?" not in told.text, "there is no button that would answer"
    (after,) = await standing(inbox)
    assert (after.topic, after.schedule, after.channel) == (before.topic, before.schedule, before.channel)
    assert await recipients.suppression(inbox.actor.workspace, ME) is None
    assert (await reader.open(url)).status == 404, "links hold as long as the subscription that they name"


async def test_no_page_says_the_address_as_a_mail_may_have_been_passed_on(inbox: Asker, reader: Reader) -> None:
    await standing(inbox)
    for verb in ("pause", "unsubscribe"):
        assert ME not in (await reader.open(reader.link(verb, "a1"))).text
        told = await reader.follow(verb, "a1")
        assert ME not in told.text
        assert "mail:" not in told.text
        if verb == "pause":
            assert "resume kv by email, followed by this address," in told.text


async def test_who_ends_one_of_two_is_written_to_for_the_other_and_a_complaint_is_not_forgotten(
    inbox: Asker, reader: Reader
) -> None:
    recipients, workspace = inbox.context.store.recipients, inbox.actor.workspace
    await subscribed(inbox, "gpu-systems", "a2")
    await reader.follow("unsubscribe", "a1")
    assert await recipients.suppression(workspace, ME) is None

    await recipients.suppress(ME, Suppression.COMPLAINED, inbox.now, workspace=workspace)
    told = await reader.follow("unsubscribe", "a2")
    assert await recipients.suppression(workspace, ME) is Suppression.COMPLAINED
    await reader.press(reader.link("unsubscribe", "a2"), told, "Undo")
    assert await recipients.suppression(workspace, ME) is Suppression.COMPLAINED


# --- what is done without anybody pressing


@pytest.mark.parametrize("verb", VERBS)
async def test_a_program_that_follows_links_changes_nothing(inbox: Asker, reader: Reader, verb: str) -> None:
    url = reader.link(verb, "a1", item_for(verb))
    for method, headers in (
        ("GET", {}),
        ("HEAD", {}),
        ("GET", {"Sec-Purpose": "prefetch", "Purpose": "prefetch"}),
        ("GET", {"User-Agent": "Mozilla/5.0 (compatible; scanner)"}),
    ):
        shown = await reader.open(f"{url}&utm_source=mail", method, headers=headers)
        assert (shown.status, shown.html == "") == (200, method == "HEAD")
    for body in (b"", b"a=b", b"do=", b"do=x", b"List-Unsubscribe=Two-Clicks", b"\xff\xfe", b"List-Unsubscribe=One-Click"):
        if verb == "unsubscribe" and b"One" in body:
            continue
        answer = await reader.open(url, "POST", data=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
        assert answer.status in (400, 404), body
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"):
        answer = await reader.open(url, method)
        assert (answer.status, answer.title) == (405, "That cannot be done here")
        assert set(answer.headers["Allow"].split(",")) == {"GET", "HEAD", "POST"}
    assert await feedback(inbox) == []
    assert await saved(inbox) == []
    assert [each.is_paused(inbox.now) for each in await standing(inbox)] == [False]


async def test_a_mail_program_unsubscribes_with_one_post_and_may_send_it_again(inbox: Asker, reader: Reader) -> None:
    url = reader.link("unsubscribe", "a1")
    with aiohttp.MultipartWriter("form-data") as form:
        form.append("One-Click").set_content_disposition("form-data", name="List-Unsubscribe")
    assert (await reader.open(url, "POST", data=form)).status == 200
    assert await standing(inbox) == []
    assert await inbox.context.store.recipients.suppression(inbox.actor.workspace, ME) is Suppression.UNSUBSCRIBED
    before = len(await changes(inbox))
    for _ in range(2):
        again = await reader.open(url, "POST", data=ONE_CLICK)
        assert (again.status, again.html) == (200, "Unsubscribed.\n")
    assert len(await changes(inbox)) == before
    assert (await reader.open(url)).status == 404


async def test_a_mail_program_hears_of_it_when_it_could_not_be_done(inbox: Asker) -> None:
    async def broken(*_: object) -> None:
        raise StoreError("The disk /srv/papers is full.")

    store = inbox.context.store
    store.workspaces = instead(store.workspaces, delete_subscription=broken)  # type: ignore[misc]
    async with reading(inbox) as reader:
        answer = await reader.open(reader.link("unsubscribe", "a1"), "POST", data=ONE_CLICK)
        told = await reader.follow("unsubscribe", "a1")
    assert answer.status == 503
    assert "The database does not answer" in told.text
    assert "/srv" not in answer.html + told.html
    assert await standing(inbox) != []
    assert await store.recipients.suppression(inbox.actor.workspace, ME) is None


# --- who has no link


def _without_what_differs(shown: Shown) -> tuple[int, str, dict[str, str]]:
    return shown.status, shown.html, {name: value for name, value in shown.headers.items() if name != "Date"}


async def test_every_link_that_leads_nowhere_gets_one_and_the_same_answer(inbox: Asker, ada: Asker) -> None:
    theirs = recipient_of(ada.by(workspace="slack:T2", person="U-eve"), 2, "eve@other.example")
    await confirmed(theirs, "eve@other.example")
    await subscribed(theirs, number="e1")
    many = recipient_of(ada, 3, "all@lab.example")
    await confirmed(many, "all@lab.example", is_list=True)
    await subscribed(many, number="l1")
    await subscribed(ada.by(channel="C1"), number="c1")
    async with reading(inbox, by_address=RateLimit(10_000)) as reader:
        good, another = reader.link("more", "a1", PAPER), reader.link("more", "e1", PAPER)
        nowhere = {
            "nothing": f"{reader.base}/mail",
            "no signature": good.partition("?")[0],
            "an empty one": good.partition("?")[0] + "?s=",
            "of another tenant": good.partition("?")[0] + "?s=" + another.partition("?s=")[2],
            "of another verb": good.replace("/more/", "/less/"),
            "of another item": good.replace("00001", "00002"),
            "of another key": LinkSigner(bytes(32), reader.base).url(SignedLink(LinkAction.MORE, "a1", PAPER)),
            "not ASCII": good[:-1] + "%C3%BC",
            "a verb of nobody's": good.replace("/more/", "/forget/"),
            "of a list": reader.link("unsubscribe", "l1"),
            "of a channel": reader.link("pause", "c1"),
            "of none": reader.link("pause", "zz"),
            "of no item": reader.link("more", "a1"),
            "of an item where none belongs": reader.link("unsubscribe", "a1", PAPER),
            "of an item that is not kept": reader.link("more", "a1", "arxiv:1901.00001"),
            "another page": f"{reader.base}/metrics",
            "a way out": f"{reader.base}/mail/a1/more/%2e%2e%2f%2e%2e%2fetc?s=" + "A" * 22,
        }
        answers = {name: _without_what_differs(await reader.open(url)) for name, url in nowhere.items()}
        assert {answer[0] for answer in answers.values()} == {404}
        assert [name for name, answer in answers.items() if answer != answers["nothing"]] == []
        for name, url in nowhere.items():
            if url.partition("?")[0].count("/") > 4:
                assert (await reader.open(url, "POST", data={"do": "x"})).status == 404, name
                assert (await reader.open(url, "POST", data=ONE_CLICK)).status in (400, 404), name
    assert len(await many.here()) == 1
    assert len(await theirs.here()) == 1
    assert len(await standing(inbox)) == 1


async def test_what_a_button_sends_is_good_for_its_own_page_and_for_a_day(inbox: Asker, ada: Asker) -> None:
    eve = recipient_of(ada.by(workspace="slack:T2", person="U-eve"), 2, "eve@other.example")
    await confirmed(eve, "eve@other.example")
    await subscribed(eve, number="e1")
    time = [inbox.now]
    async with reading(inbox, clock=lambda: time[0]) as reader:
        mine, hers = reader.link("save", "a1", PAPER), reader.link("save", "e1", PAPER)
        shown = await reader.open(mine)
        assert (await reader.press(hers, shown, "Save")).status == 404
        forged = {"do": reader.signer.button("a1", inbox.actor.channel, "topic delete kv", inbox.now)}
        assert (await reader.open(mine, "POST", data=forged)).status == 404, "no command but those of links"
        elsewhere = {"do": reader.signer.button("a1", "C1", f"save {PAPER}", inbox.now)}
        assert (await reader.open(mine, "POST", data=elsewhere)).status == 404, "no channel but a recipient's"
        token = shown.buttons["Save"]["do"]
        for changed in (token[:-1], token + "A", token.swapcase(), token.partition(".")[0], "." + token, "é" + token):
            assert (await reader.open(mine, "POST", data={"do": changed})).status == 404
        time[0] += timedelta(days=1)
        assert (await reader.press(mine, shown, "Save")).status == 404
        assert await saved(inbox) == []
        time[0] -= timedelta(seconds=1)
        assert (await reader.press(mine, shown, "Save")).status == 200
        await inbox.context.store.recipients.forget("", ME, inbox.now)
        assert (await reader.press(mine, shown, "Save")).status == 404
        assert (await reader.open(mine)).status == 404
    assert len(await saved(inbox)) == 1
    assert await saved(eve) == []


# --- hostile items

TITLE = '</h1><script>alert(1)</script><img src=x onerror=alert(1)> *subscribe* "\u202e\x1b[31m& <b>'
HOSTILE = (
    "url:https://lab.example/a+b?c=d&e=%2F..%2F#f",
    "url:https://lab.example/%25%32%46/../..//x",
    "url:https://lab.example/{item}/*bold*/<script>x",
    "github:owner/name",
)
NO_KEYS = (
    "url:https://lab.example/ for gpu-systems",
    'url:"><script>alert(1)</script>',
    "3",
    "url:a b",
    "../..",
    "{item}",
    "url:https://läb.example/<script>",
)


@pytest.mark.parametrize("key", HOSTILE)
async def test_an_item_of_any_key_and_title_is_shown_harmlessly_and_is_the_one_that_is_meant(inbox: Asker, key: str) -> None:
    item = paper(title=TITLE, authors=('<a href="javascript:alert(1)">Eve</a>',), key=key)
    await inbox.context.store.items.add([item], inbox.now)
    async with reading(inbox) as reader:
        for verb in ITEMS:
            url = reader.link(verb, "a1", key)
            asked = await reader.open(url)
            assert "<script>alert(1)</script>" in asked.text
            (label,) = asked.buttons
            told = await reader.press(url, asked, label)
            assert (told.status, "Undo" in told.buttons) == (200, True), told.text
            assert "\u202e" not in asked.html + told.html
    assert [each[1:3] for each in await feedback(inbox)] == [(key, False)]
    assert [each.key for each in await saved(inbox)] == [key]


@pytest.mark.parametrize("key", NO_KEYS)
async def test_an_item_of_a_key_that_no_source_gives_changes_nothing_of_another(inbox: Asker, key: str) -> None:
    await inbox.context.store.items.add([paper(title=TITLE, key=key)], inbox.now)
    async with reading(inbox) as reader:
        for verb in ITEMS:
            assert (await reader.follow(verb, "a1", key)).status == 200
    assert {each[1] for each in await feedback(inbox)} <= {key}
    assert {each.key for each in await saved(inbox)} <= {key}


# --- several at once


async def test_what_is_pressed_twice_at_once_is_done_once(inbox: Asker, reader: Reader) -> None:
    for verb in ("save", "more", "pause", "unsubscribe"):
        url = reader.link(verb, "a1", item_for(verb))
        asked = await reader.open(url)
        (label,) = asked.buttons
        before = len(await changes(inbox))
        answers = await asyncio.gather(*(reader.press(url, asked, label) for _ in range(5)))
        assert {each.status for each in answers} == {200}
        assert len(await changes(inbox)) - before == (0 if verb == "save" else 1), verb
    assert len(await saved(inbox)) == 1
    assert await feedback(inbox) == [("U-ada", PAPER, True, "")]
    assert await standing(inbox) == []


async def test_pages_are_read_while_the_database_is_busy_with_something_else(inbox: Asker) -> None:
    people, free, asked = inbox.context.store.people, asyncio.Event(), asyncio.Event()

    async def slow(feedback: Feedback, change: object) -> None:
        asked.set()
        await free.wait()
        await people.save_feedback(feedback, change)  # type: ignore[arg-type]

    inbox.context.store.people = instead(people, save_feedback=slow)  # type: ignore[misc]
    async with reading(inbox) as reader:
        pressing = asyncio.create_task(reader.follow("more", "a1", PAPER))
        await asyncio.wait_for(asked.wait(), PATIENCE)
        assert (await reader.open(reader.link("less", "a1", PAPER))).status == 200
        assert (await reader.follow("pause", "a1")).status == 200
        assert not pressing.done()
        free.set()
        assert (await pressing).title == "More like this in KV cache"


# --- too much, too often, too slow


async def test_who_asks_too_often_is_told_to_wait_and_mail_programs_are_not(inbox: Asker) -> None:
    wrong, time = "/mail/a1/pause?s=" + "A" * 22, [0.0]
    limit = RateLimit(60, lambda: time[0])
    async with reading(inbox, by_address=limit) as reader:
        assert [(await reader.open(reader.base + wrong)).status for _ in range(4)] == [404, 404, 404, 429]
        answer = await reader.open(reader.link("pause", "a1"))
        assert (answer.status, answer.headers["Retry-After"], answer.title) == (429, "60", "That was too often")
        behind = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}
        assert (await reader.open(reader.link("pause", "a1"), headers=behind)).status == 200, "another client of the proxy"
        time[0] += 1
        assert (await reader.open(reader.link("pause", "a1"))).status == 200
        assert (await reader.open(reader.link("unsubscribe", "a1"), "POST", data=ONE_CLICK)).status == 200
    assert await standing(inbox) == []


async def test_a_link_that_everybody_has_is_not_followed_for_ever(inbox: Asker) -> None:
    async with reading(inbox, by_subscription=RateLimit(3, lambda: 0.0)) as reader:
        url = reader.link("pause", "a1")
        forged = [(await reader.open(url[:-1])).status for _ in range(5)]
        assert (forged, [(await reader.open(url)).status for _ in range(4)]) == ([404] * 5, [200, 200, 200, 429])
    assert BY_SUBSCRIPTION > 3


HALF_A_BODY = (
    b"POST /mail/a1/pause HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ndo"
)


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"GET /mail/a1/pau", b""),
        (HALF_A_BODY, b"HTTP/1.1 408"),
        (b"BREW /mail/a1/pause HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.0 400"),
        (b"GET  / HTTP/9\r\n\r\n", b"HTTP/1.0 400"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.0 400"),
    ],
    ids=["half a head", "half a body", "no method", "no request", "a long one"],
)
async def test_who_is_slow_or_speaks_no_http_is_cut_off(inbox: Asker, sent: bytes, answered: bytes) -> None:
    async with reading(inbox, slowest=0.2) as reader:
        writer_side = await asyncio.open_connection("127.0.0.1", int(reader.base.rpartition(":")[2]))
        writer_side[1].write(sent)
        answer = await asyncio.wait_for(writer_side[0].read(), PATIENCE)
        writer_side[1].close()
        await writer_side[1].wait_closed()
    assert answer.startswith(answered)
    assert bool(answer) is bool(answered)
    assert b"aiohttp" not in answer
    assert b"aaaa" not in answer.partition(b"<style>")[0]


async def test_a_body_that_is_too_large_or_no_form_is_not_taken(inbox: Asker, reader: Reader) -> None:
    url = reader.link("pause", "a1")
    assert (await reader.open(url, "POST", data={"do": "x" * 20_000})).status == 413
    multipart = {"Content-Type": "multipart/form-data; boundary=b"}
    for body in (
        b"--b\r\nContent-Disposition: form-data; name=do; filename=x\r\n\r\nabc\r\n--b--\r\n",
        b"--b\r\nContent-Disposition: form-data; name=do\r\nContent-Transfer-Encoding: nonsense\r\n\r\nabc\r\n--b--\r\n",
        b"--b\r\n\r\n\r\n--b--",
        b"no boundary",
        b"",
    ):
        assert (await reader.open(url, "POST", data=body, headers=multipart)).status in (400, 404), body
    for kind in ("multipart/form-data", "application/json", "application/x-www-form-urlencoded; charset=nonsense"):
        assert (await reader.open(url, "POST", data=b"do=%ff", headers={"Content-Type": kind})).status in (400, 404), kind
    assert [each.is_paused(inbox.now) for each in await standing(inbox)] == [False]


async def test_what_nobody_foresaw_is_told_with_a_reference_and_nothing_else(
    inbox: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: object) -> None:
        raise RuntimeError("secret")

    store = inbox.context.store
    store.recipients = instead(store.recipients, subscription=broken)  # type: ignore[misc]
    async with reading(inbox) as reader:
        shown = await reader.open(reader.link("pause", "a1"))
    assert (shown.status, "secret" in shown.html) == (500, False)
    reference = shown.text.rpartition(" as ")[2].rstrip(".")
    assert f"[{reference}]" in caplog.text
    assert replace(shown, html="").buttons == {}
