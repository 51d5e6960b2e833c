"""Who reads which feed, and gets what of it, at every reading anew."""

import json
import logging
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from adapters.rate_limit import RateLimit
from adapters.web.feeds.routes import BY_FEED
from adapters.web.site.addresses import item_path
from bot.errors import StoreError
from bot.handlers.links import LinkSigner
from bot.models import Change, Preferences
from tests.adapters.web.feeds.reader import BASE, HOUR, Answer, FeedReader, Rooms, addresses, in_rooms, post, reading
from tests.adapters.web.feeds.reading import read, text_of, wrong_atom
from tests.bot.handlers.askers import PAPERS, Asker
from tests.fakes.digests import GPU
from tests.stores.counted import counted
from tests.stores.instead import instead

ALL, OWN, HERE = "All of them, as OPML", "What you save", "What is saved in this channel"


@pytest.fixture
def rooms() -> Rooms:
    return Rooms({"U-ada": {"C1", "C2"}, "U-bob": {"C1", "C3"}})


@pytest.fixture
async def team(ada: Asker, rooms: Rooms) -> Asker:
    """Ada, in C1, of a workspace that counts what is saved in a channel."""
    await settled(ada, activity=True)
    return in_rooms(ada, rooms)


@pytest.fixture
async def reader(team: Asker) -> AsyncIterator[FeedReader]:
    async with reading(team) as reader:
        yield reader


async def given(asker: Asker, text: str = "feeds") -> dict[str, str]:
    return addresses(await asker.ask(text))


async def test_every_address_that_is_given_can_be_read(team: Asker, reader: FeedReader) -> None:
    await post(team)
    await post(team, ago=HOUR * 24, topic="databases", title="Databases", entries=GPU.entries[:1])
    await team.ask(f"save {PAPERS[0].key}")
    found = await given(team)
    assert list(found) == [ALL, "Databases", "GPU systems", OWN, HERE]
    for name, address in found.items():
        answer = await reader.get(address)
        assert answer.status == 200, name
        if name != ALL:
            assert wrong_atom(answer.body) == []
            as_json = json.loads((await reader.get(address.replace(".atom", ".json"))).body)
            assert [each["id"] for each in as_json["items"]] == [each.id for each in read(answer.body)]
            assert as_json["feed_url"] == address.replace(".atom", ".json")
    assert [each.number for each in read((await reader.get(found["GPU systems"])).body)] == [1, 2, 3]
    assert [each.title for each in read((await reader.get(found[OWN])).body)] == [PAPERS[0].title]
    assert "1 saved, on" in text_of(read((await reader.get(found[HERE])).body)[0].html)
    listed = ET.fromstring((await reader.get(found[ALL])).body)
    assert listed.attrib == {"version": "2.0"}
    assert {each.get("xmlUrl") for each in listed.iter("outline")} == {*found.values()} - {found[ALL]}


async def test_a_feed_says_what_kind_it_is_and_for_whom(team: Asker, reader: FeedReader) -> None:
    await post(team)
    found = await given(team)
    for address, media_type in (
        (found["GPU systems"], "application/atom+xml; charset=utf-8"),
        (found["GPU systems"].replace(".atom", ".json"), "application/feed+json; charset=utf-8"),
        (found[ALL], "text/x-opml; charset=utf-8"),
    ):
        headers = (await reader.get(address)).headers
        assert (headers["Content-Type"], headers["Cache-Control"]) == (media_type, "private, no-cache")
    head = await reader.get(found["GPU systems"], "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert (await reader.get(found["GPU systems"], "POST")).status == 405


async def test_who_has_it_already_gets_nothing_again(team: Asker, reader: FeedReader) -> None:
    await post(team, ago=HOUR)
    address = (await given(team))["GPU systems"]
    first = await reader.get(address)
    assert first.status == 200, first.body
    tag, changed = first.headers["ETag"], first.headers["Last-Modified"]
    assert changed == "Wed, 01 Apr 2026 07:00:00 GMT", "since when it shows that"
    for headers in (
        {"If-None-Match": tag},
        {"If-None-Match": f'"other", W/{tag}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": changed},
        {"If-None-Match": tag, "If-Modified-Since": "Wed, 01 Apr 2020 06:00:00 GMT"},
    ):
        again = await reader.get(address, **headers)
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag), headers
        assert again.headers["Cache-Control"] == "private, no-cache"
    for headers in (
        {"If-None-Match": '"other"', "If-Modified-Since": changed},
        {"If-Modified-Since": "Wed, 01 Apr 2026 06:59:59 GMT"},
        {"If-Modified-Since": "nonsense"},
    ):
        assert (await reader.get(address, **headers)).body == first.body, headers
    await post(team, title="Later", ago=timedelta(minutes=1))
    later = await reader.get(address, **{"If-None-Match": tag})
    assert (later.status, len(read(later.body))) == (200, 3)
    assert {each.id for each in read(later.body)} == {each.id for each in read(first.body)}, "the same of one day"


async def test_who_has_it_already_costs_no_digest_and_no_card(team: Asker) -> None:
    calls = Counter[str]()
    team = replace(team, context=replace(team.context, store=counted(team.context.store, calls)))
    await post(team, ago=HOUR)
    await team.ask(f"save {PAPERS[0].key}")
    address = (await given(team))["GPU systems"]
    async with reading(team) as reader:
        tag = (await reader.get(address)).headers["ETag"]
    async with reading(team) as reader:  # which has made nothing yet
        calls.clear()
        assert (await reader.get(address, **{"If-None-Match": tag})).status == 304
        assert {*calls} == {"feeds_by", "channels", "of", "days"}
        assert (await reader.get(address)).headers["ETag"] == tag
        calls.clear()
        assert (await reader.get(address)).status == 200
        assert "digests" not in calls, "what was written is held"


async def test_by_time_alone_nobody_misses_what_changed_without_a_newer_entry(team: Asker, rooms: Rooms) -> None:
    assert rooms.of is not None
    now = [team.now]
    for paper in PAPERS[:2]:
        await team.ask(f"save {paper.key}")
    await post(team, "C1", entries=GPU.entries[:1])
    await post(team, "C3", ago=HOUR, entries=GPU.entries[1:])
    found = await given(team)
    async with reading(team, clock=lambda: now[0]) as reader:
        since = {name: (await reader.get(found[name])).headers["Last-Modified"] for name in (OWN, "GPU systems")}

        async def asked() -> list[int]:
            now[0] += timedelta(minutes=1)
            return [(await reader.get(found[name], **{"If-Modified-Since": at})).status for name, at in since.items()]

        assert await asked() == [304, 304]
        await team.ask(f"unsave {PAPERS[0].key}")
        rooms.of["U-ada"] = {"C1", "C2", "C3"}
        assert await asked() == [200, 200]
        since = {name: (await reader.get(found[name])).headers["Last-Modified"] for name in since}
        await team.ask(f"save {PAPERS[0].key}")
        rooms.of["U-ada"] = {"C1"}
        for name, at in since.items():  # within the second
            again = await reader.get(found[name], **{"If-Modified-Since": at})
            assert (again.status, again.headers.get("Last-Modified")) == (200, None)
    async with reading(team, clock=lambda: now[0]) as reader:
        assert await asked() == [200, 200], "of what was before it began it knows nothing"


async def test_what_was_revoked_leads_nowhere_at_once(team: Asker, reader: FeedReader) -> None:
    await post(team)
    whole, one = await given(team), await given(team, "feeds gpu-systems")
    nowhere = await reader.get(f"{BASE}/feeds/{'0' * 32}/saved.atom")
    await team.ask("feeds gpu-systems revoke")
    assert [(await reader.get(each)).status for each in (*one.values(), *whole.values())] == [404] + [200] * len(whole)
    await team.ask("feeds revoke")
    for each in (*one.values(), *whole.values()):
        told = await reader.get(each)
        assert (told.status, told.body) == (404, nowhere.body)


async def test_an_address_of_one_topic_reads_nothing_else(team: Asker, reader: FeedReader) -> None:
    await post(team)
    await post(team, topic="kv", title="KV cache")
    address = (await given(team, "feeds gpu-systems"))["GPU systems"]
    root = address.rpartition("/topics/")[0]
    assert (await reader.get(address)).status == 200
    for below in ("topics/kv.atom", "saved.atom", "saved-here.json"):
        assert (await reader.get(f"{root}/{below}")).status == 404, below
    (only,) = ET.fromstring((await reader.get(f"{root}/feeds.opml")).body).iter("outline")
    assert only.get("xmlUrl") == address


async def test_nobody_reads_what_another_workspace_posted(team: Asker, rooms: Rooms, reader: FeedReader) -> None:
    other = team.by(workspace="slack:T2")
    await post(other, title="Undisclosed")
    await post(team)
    root = (await given(team))[ALL].rpartition("/")[0]
    assert "Undisclosed" not in (await reader.get(f"{root}/topics/gpu-systems.atom")).body.decode()
    await post(other, topic="theirs")
    assert (await reader.get(f"{root}/topics/theirs.atom")).status == 404
    theirs = await reader.get((await given(other))["Undisclosed"])
    assert "GPU systems" not in {each.title for each in read(theirs.body)}
    assert read(theirs.body)[0].id not in {
        each.id for each in read((await reader.get(f"{root}/topics/gpu-systems.atom")).body)
    }


async def test_what_one_may_know_is_asked_at_every_reading(team: Asker, rooms: Rooms, reader: FeedReader) -> None:
    assert rooms.of is not None
    await post(team, "C1", entries=GPU.entries[:1])
    await post(team, "C2", entries=GPU.entries[1:2])
    await post(team, "C3", entries=GPU.entries[2:])
    await team.ask(f"save {PAPERS[0].key}")
    found = await given(team)

    async def titles() -> set[str]:
        return {each.title for each in read((await reader.get(found["GPU systems"])).body)}

    told = [entry.ranked.item.title for entry in GPU.entries]
    assert await titles() == {*told[:2]}
    assert (await reader.get(found[HERE])).status == 200
    rooms.of["U-ada"] = {"C2", "C3"}
    assert await titles() == {*told[1:]}
    assert (await reader.get(found[HERE])).status == 404, "the list of a channel that they have left"
    rooms.of["U-ada"] = set()
    assert await titles() == set()
    assert (await reader.get(found[OWN])).status == 200, "what they saved is their own"


async def test_who_has_left_the_workspace_reads_nothing_and_reads_on_when_they_are_back(
    team: Asker, rooms: Rooms, reader: FeedReader
) -> None:
    assert rooms.of is not None
    await post(team)
    await team.ask(f"save {PAPERS[0].key}")
    found = await given(team)
    known = [(await reader.get(each)).headers["ETag"] for each in found.values()]
    inside = rooms.of.pop("U-ada")
    for each, tag in zip(found.values(), known, strict=True):
        assert (await reader.get(each)).status == 404
        assert (await reader.get(each, **{"If-None-Match": tag})).status == 404
    rooms.of["U-ada"] = inside
    assert {(await reader.get(each)).status for each in found.values()} == {200}


async def test_while_the_platform_does_not_answer_nothing_is_taken_for_gone(
    team: Asker, rooms: Rooms, reader: FeedReader
) -> None:
    await post(team)
    found = await given(team)
    rooms.of = None
    for address in found.values():
        answer = await reader.get(address)
        assert (answer.status, answer.headers["Retry-After"]) == (503, "300")


async def settled(asker: Asker, **said: Any) -> None:
    note = Change(workspace=asker.actor.workspace, at=asker.now, person="U-ada", what="settings")
    await asker.context.store.workspaces.save_preferences(asker.actor.workspace, Preferences(**said), note)


async def test_everybody_reads_what_a_workspace_made_public_and_nothing_else(
    team: Asker, rooms: Rooms, reader: FeedReader
) -> None:
    for channel, entry in zip(("C1", "C2", "C3"), GPU.entries, strict=True):
        await post(team, channel, entries=(entry,))
    await post(team, "C2", topic="kv", title="KV cache")
    await team.ask(f"save {PAPERS[0].key}")
    signer = LinkSigner(bytes(32), BASE)
    root, other = (f"{BASE}/w/{signer.slug(each)}/feeds" for each in ("slack:T1", "slack:T2"))
    feed = f"{root}/topics/gpu-systems.atom"
    assert (await reader.get(feed)).status == 404, "nothing is public by itself"
    await settled(team, activity=True, public=("C1", "C2"))
    answer = await reader.get(feed)
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "public, max-age=300")
    assert [each.title for each in read(answer.body)] == [GPU.entries[0].ranked.item.title], "not all are in C2"
    assert wrong_atom(answer.body) == []
    home = f"{BASE}/w/{signer.slug('slack:T1')}/t/gpu-systems"
    assert f'<link rel="alternate" type="text/html" href="{home}" />' in answer.body.decode()
    as_json = json.loads((await reader.get(feed.replace(".atom", ".json"))).body)
    assert as_json["home_page_url"] == home
    permalink = f"{BASE}/w/{signer.slug('slack:T1')}{item_path(GPU.entries[0].ranked.item.key)}"
    assert f'<link rel="related" type="text/html" href="{permalink}" />' in answer.body.decode()
    assert (as_json["items"][0]["url"], as_json["items"][0]["external_url"]) == (permalink, read(answer.body)[0].link)
    private = (await reader.get((await given(team))["GPU systems"])).body.decode()
    assert 'rel="related"' not in private, "a page that asks for a session"
    listed = [each.get("xmlUrl") for each in ET.fromstring((await reader.get(f"{root}/feeds.opml")).body).iter("outline")]
    assert listed == [feed]
    nowhere = ["topics/kv.atom", "topics/nothing.json", "saved.atom", "saved-here.atom"]
    for address in (*(f"{root}/{each}" for each in nowhere), f"{other}/feeds.opml", f"{other}/topics/gpu-systems.atom"):
        assert (await reader.get(address)).status == 404, address
    assert {each.id for each in read((await reader.get((await given(team))["GPU systems"])).body)} > {
        each.id for each in read(answer.body)
    }, "an entry is one, whoever reads it"
    rooms.of = None
    assert (await reader.get(feed)).status == 503
    rooms.of = {"U-ada": {"C1"}, "U-bob": set()}
    assert (await reader.get(feed)).status == 404, "it is not everybody's any more"


async def test_the_list_of_a_channel_ends_when_the_workspace_counts_no_more(team: Asker, reader: FeedReader) -> None:
    await post(team)
    address = (await given(team))[HERE]
    assert (await reader.get(address)).status == 200
    await team.by(may_administer=True).ask("settings activity off")
    assert (await reader.get(address)).status == 404


async def test_a_topic_of_which_nothing_was_posted_yet_is_an_empty_feed_and_one_that_is_none_is_nowhere(
    team: Asker, reader: FeedReader
) -> None:
    root = (await given(team))[ALL].rpartition("/")[0]
    assert read((await reader.get(f"{root}/topics/kv.atom")).body) == []
    for name in ("nothing", "..%2F..%2Fetc", "%00", "%ED%A0%80", "*", "kv%20"):
        assert (await reader.get(f"{root}/topics/{name}.atom")).status == 404, name
    for address in (root, f"{root}/topics/kv.rss", f"{root}/topics/kv", f"{BASE}/feeds", f"{BASE}/w/x/feeds/feeds.opml"):
        assert (await reader.get(address)).status == 404, address


async def test_who_asks_too_often_is_told_to_wait(team: Asker) -> None:
    await post(team)
    address, wrong = (await given(team))["GPU systems"], f"{BASE}/feeds/{'0' * 32}/saved.atom"
    async with reading(team, by_address=RateLimit(60, lambda: 0.0)) as reader:
        assert [(await reader.get(wrong)).status for _ in range(4)] == [404, 404, 404, 429]
        limited = await reader.get(address)
        assert (limited.status, limited.headers["Retry-After"]) == (429, "60")
    async with reading(team, by_feed=RateLimit(2, lambda: 0.0)) as reader:
        assert [(await reader.get(address)).status for _ in range(3)] == [200, 200, 429]
        assert (await reader.get((await given(team))["GPU systems"])).status == 200, "another's"
        await settled(team, public=("C1",))
        public = f"{BASE}/w/{LinkSigner(bytes(32)).slug('slack:T1')}/feeds/topics/gpu-systems.atom"
        assert [(await reader.get(public)).status for _ in range(3)] == [200] * 3, "what is public nobody uses up for others"
    assert BY_FEED > 2


async def test_no_log_has_an_address(team: Asker, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise StoreError("The disk /srv/papers is full.")

    async def unforeseen(*_: object, **__: object) -> None:
        raise RuntimeError("nobody foresaw this")

    caplog.set_level(logging.DEBUG)
    await post(team)
    found = await given(team)
    store = team.context.store
    kept: list[Answer] = []
    for failing in (broken, unforeseen):
        people = instead(store.people, feeds_by=store.people.feeds_by, saved=failing)
        there = replace(team, context=replace(team.context, store=instead(store, people=people)))  # type: ignore[arg-type]
        async with reading(there) as reader:
            kept += [await reader.get(each) for each in (found[OWN], found["GPU systems"], f"{BASE}/feeds/x")]
    assert [each.status for each in kept] == [503, 200, 404, 500, 200, 404]
    token = found[OWN].split("/feeds/")[1].partition("/")[0]
    assert len(token) == 32
    assert token not in caplog.text
    assert all(token not in each.body.decode() for each in kept if each.status >= 400)
