"""Feeds through the real door, the real child process and a real server."""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import SourceChanged, SourceUnavailable
from bot.http.client import Http, Politeness
from bot.models import Batch, Item, Kind, Link, SourceState
from bot.settings.sources import FeedSettings
from bot.sources.feeds.source import FeedSource, fault_of
from tests.effort import effort
from tests.fakes.web import Answer, Asked, Web

PAYLOADS = Path(__file__).parents[3] / "payloads" / "feeds"


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    made = Http(
        user_agent="Broadsheet/1",
        guarded=True,
        allow=frozenset({"127.0.0.1"}),
        politeness={"127.0.0.1": Politeness(seconds_between=0, retries=0)},
    )
    yield made
    await made.close()


async def batch_of(http: Http, web: Web, now: datetime, watermark: str = "") -> Batch:
    source = FeedSource(http, FeedSettings(name="lab", url=web.url + "/feed", title="The Lab"))
    batches = [batch async for batch in source.collect(SourceState(name=source.name, watermark=watermark), now)]
    assert len(batches) == 1
    return batches[0]


async def read(http: Http, web: Web, now: datetime, body: bytes | str, content_type: str = "") -> dict[str, Item]:
    web.answer("/feed", Answer(body, headers={"Content-Type": content_type} if content_type else {}))
    return {item.key: item for item in (await batch_of(http, web, now)).items}


def payload(name: str) -> bytes:
    return (PAYLOADS / name).read_bytes()


# --- what the formats say ------------------------------------------------------------------------------------------


async def test_arxivs_own_feed_gives_papers(http: Http, web: Web, now: datetime) -> None:
    later = datetime(2026, 4, 28, tzinfo=UTC)
    items = await read(http, web, later, payload("arxiv-rss-2026-04-27.xml"), "application/rss+xml")
    assert list(items) == ["arxiv:2604.21935", "arxiv:2604.21936", "arxiv:2604.21937"]
    paper = items["arxiv:2604.21935"]
    assert (paper.kind, paper.version, paper.announce) == (Kind.PAPER, 1, "new")
    assert paper.title == "Math Takes Two: A test for emergent mathematical reasoning in communication"
    assert paper.abstract.startswith("Although language models demonstrate")
    assert paper.authors == ("Michael Cooper", "Samuel Cooper")
    assert paper.categories == ("cs.AI", "cs.LG")
    assert paper.sources == ("feed:lab",)
    assert paper.links == (Link("abstract", "https://arxiv.org/abs/2604.21935"),)
    assert paper.license == "http://creativecommons.org/licenses/by/4.0"
    assert paper.appeared == paper.published == datetime(2026, 4, 27, 4, tzinfo=UTC)


async def test_atom_is_read_as_well(http: Http, web: Web, now: datetime) -> None:
    items = await read(http, web, now, payload("arxiv-atom-2025-08-20.xml"))
    assert "arxiv:2508.13426" in items
    assert items["arxiv:2508.13426"].authors == ("Chunhua Liu", "Kabir Manandhar Shrestha", "Sukai Huang")
    assert items["arxiv:2508.13426"].announce == "cross"


async def test_a_labs_blog_gives_posts_papers_and_repositories(http: Http, web: Web, now: datetime) -> None:
    body = payload("lab-blog.rss")
    items = await read(http, web, now, body)
    post = items["url:https://lab.example/blog/kv"]
    assert (post.kind, post.title) == (Kind.POST, "Faster KV caches for all")
    assert post.abstract == "We made the cache faster.\nSee the paper and code.\nAn example of a page: <!DOCTYPE html>"
    assert post.authors == ("Ada Lovelace",)
    assert post.keywords == ("Systems", "Inference")
    assert post.links == (
        Link("post", "https://lab.example/blog/kv"),
        Link("abstract", "https://arxiv.org/abs/2603.01234"),
        Link("code", "https://github.com/lab/kv"),
    )
    assert post.aliases == ("url:https://lab.example?p=17",)
    assert post.published == datetime(2026, 3, 31, 7, tzinfo=UTC)
    assert items["arxiv:2603.05678"].kind is Kind.PAPER
    assert items["github:lab/kv"].kind is Kind.REPO
    assert items["github:lab/kv"].published is None


async def test_what_is_odd_about_an_entry_does_not_cost_the_others(http: Http, web: Web, now: datetime) -> None:
    web.answer("/feed", Answer(payload("lab-blog.rss")))
    batch = await batch_of(http, web, now)
    items = {item.key: item for item in batch.items}
    assert batch.skipped == 2  # the script link, and the entry with nothing in it
    assert items["url:https://lab.example/blog/mention"].published is None
    assert "@everyone" in items["url:https://lab.example/blog/mention"].title  # text; made harmless where it is shown
    untitled = next(item for item in batch.items if item.key.endswith("/blog/untitled"))
    assert untitled.title.startswith("No title, just a text")
    assert untitled.title.endswith(" …")
    assert untitled.published is None  # the year 2100 is not believed
    assert not any(link.url.startswith(("javascript:", "data:")) for item in batch.items for link in item.links)


async def test_a_journal_gives_its_papers_by_doi_in_its_own_charset(http: Http, web: Web, now: datetime) -> None:
    items = await read(http, web, now, payload("journal.atom"), "application/atom+xml")
    paper = items["doi:10.1234/abc.567"]
    assert (paper.kind, paper.title, paper.abstract) == (Kind.PAPER, "Café & caches", "Caches < cafés.")
    assert paper.authors == ("Zoë Müller", "Li Wei")
    assert paper.aliases == ("url:https://journal.example/articles/1",)
    assert paper.links == (
        Link("doi", "https://doi.org/10.1234/abc.567"),
        Link("page", "https://journal.example/articles/1"),
    )
    assert (paper.license, paper.published) == ("", datetime(2026, 3, 30, 10, tzinfo=UTC))


async def test_a_json_feed_is_read_as_well(http: Http, web: Web, now: datetime) -> None:
    web.answer("/feed", Answer(b"\xef\xbb\xbf" + payload("notes.json"), headers={"Content-Type": "application/feed+json"}))
    batch = await batch_of(http, web, now)
    seven, eight, ten = batch.items
    assert batch.skipped == 2
    assert (seven.title, seven.abstract, seven.authors, seven.keywords) == ("Seven", "Seven & more", ("Ann", "Bo"), ("GPU",))
    assert seven.published == datetime(2026, 3, 31, 6, tzinfo=UTC)
    assert (eight.key, eight.title) == ("url:https://notes.example/8", "No title here.")
    assert (eight.abstract, eight.published) == ("No title here.\nSecond line <b>not a tag</b>.", None)
    assert (ten.key, ten.kind, ten.authors) == ("doi:10.5555/x.y", Kind.PAPER, ("Old Style",))
    assert ten.published == datetime(2026, 3, 1, tzinfo=UTC)


async def test_an_old_paper_in_a_new_list_does_not_become_new(http: Http, web: Web, now: datetime) -> None:
    link, date = "https://arxiv.org/abs/1706.03762", "Mon, 30 Mar 2026 00:00:00 GMT"
    body = rss(f"<item><title>Classic</title><link>{link}</link><pubDate>{date}</pubDate></item>")
    item = (await read(http, web, now, body))["arxiv:1706.03762"]
    assert item.published is None
    assert item.appeared == datetime(2026, 3, 30, tzinfo=UTC)


async def test_one_identifier_for_all_entries_does_not_make_them_one(http: Http, web: Web, now: datetime) -> None:
    entry = "<item><title>{0}</title><link>https://lab.example/{0}</link><guid>https://lab.example/feed</guid></item>"
    items = await read(http, web, now, rss("".join(entry.format(n) for n in "abc")))
    assert len(items) == 3
    assert all(item.aliases == () for item in items.values())


async def test_another_sites_identifier_is_no_alias(http: Http, web: Web, now: datetime) -> None:
    body = rss("<item><title>x</title><link>https://lab.example/x</link><guid>https://bank.example/y</guid></item>")
    assert (await read(http, web, now, body))["url:https://lab.example/x"].aliases == ()


# --- asking again --------------------------------------------------------------------------------------------------


async def test_a_feed_that_has_not_changed_is_quiet(http: Http, web: Web, now: datetime) -> None:
    def rule(asked: Asked) -> Answer:
        same = asked.headers.get("if-none-match") == 'W/"v1"' and "if-modified-since" in asked.headers
        headers = {"ETag": 'W/"v1"', "Last-Modified": "Tue, 31 Mar 2026 00:00:00 GMT"}
        return Answer(b"" if same else payload("lab-blog.rss"), 304 if same else 200, headers)

    web.rule(rule)
    first = await batch_of(http, web, now)
    assert first.items
    assert first.watermark
    again = await batch_of(http, web, now, first.watermark)
    assert again.items == ()
    assert again.watermark is None


@pytest.mark.parametrize(
    "mark", ["", "rubbish", "[]", '{"url": "https://other.example/feed", "etag": "x"}', '{"etag": "a\\nb"}']
)
async def test_a_watermark_that_does_not_fit_is_left_aside(http: Http, web: Web, now: datetime, mark: str) -> None:
    web.answer("/feed", Answer(payload("lab-blog.rss")))
    assert (await batch_of(http, web, now, mark)).items
    assert "if-none-match" not in web.asked[0].headers


async def test_a_validator_that_could_not_be_sent_back_is_not_kept(http: Http, web: Web, now: datetime) -> None:
    web.answer("/feed", Answer(payload("lab-blog.rss"), headers={"ETag": '"ä"', "Last-Modified": "x" * 500}))
    mark = (await batch_of(http, web, now)).watermark
    assert mark is not None
    assert "etag" not in json.loads(mark)


async def test_a_check_says_how_the_feed_stands(http: Http, web: Web, now: datetime) -> None:
    web.answer("/old", Answer(status=301, headers={"Location": "/feed"}))
    web.answer("/feed", Answer(payload("lab-blog.rss")))
    said = await FeedSource(http, FeedSettings(name="lab", url=web.url + "/old")).check(now)
    assert said == f"5 entries, the newest of 2026-04-01; 2 could not be read; it has moved to {web.url}/feed"


# --- input that must not hurt --------------------------------------------------------------------------------------


def rss(items: str) -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{items}</channel></rss>'


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><rss><channel><title>&j;</title></channel></rss>"
)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "nothing instead"),
        (b" \n\xef\xbb\xbf", "neither RSS"),
        (b"<!DOCTYPE html><html><body>Sorry</body></html>", "a web page"),
        (b"\xef\xbb\xbf  <HTML><head></head></HTML>", "a web page"),
        (b"<?xml version='1.0'?><!-- x --><html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", "a web page"),
        (LAUGHS.encode(), "DOCTYPE"),
        (LAUGHS.encode("utf-16"), "DOCTYPE"),
        (LAUGHS.encode("utf-32"), "DOCTYPE"),
        (b"<?xml version='1.0'?><!-- <rss> --><?pi <a?><!DOCTYPE r SYSTEM 'file:///etc/passwd'><rss/>", "DOCTYPE"),
        (b"{", "JSON that is damaged"),
        (b'{"a": 1}', "no JSON Feed"),
        (b'{"items": {}}', "no JSON Feed"),
        (b'{"items": ' + b"[" * 100_000, "JSON that is damaged"),
        (b"just text", "neither RSS"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50, "neither RSS"),
        (b"%PDF-1.7\n" + b"\x00\xff" * 1000, "neither RSS"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither RSS"),
        # The library raises what it likes at these.
        (b"<rss><channel><item><title>&#xD800;</title></item><b>&</channel></rss>", "something too damaged"),
        (b"<rss><channel><item><title>&#x110000;</title></item><b>&</channel></rss>", "something too damaged"),
        (b'<?xml version="1.0" encoding="\x84TF-8"?><rss><channel><item/></channel></rss>', "something too damaged"),
    ],
)
async def test_what_is_no_feed_is_told(http: Http, web: Web, now: datetime, body: bytes, words: str) -> None:
    with pytest.raises(SourceChanged, match=rf"127\.0\.0\.1 sent .*{words}"):
        await read(http, web, now, body)


async def test_a_truncated_feed_gives_what_had_come(http: Http, web: Web, now: datetime) -> None:
    items = await read(http, web, now, payload("arxiv-rss-2026-04-27.xml")[:-2500])
    assert "arxiv:2604.21935" in items


async def test_every_truncation_gives_items_or_a_clear_error(http: Http, web: Web, now: datetime) -> None:
    whole = payload("lab-blog.rss")
    told = []
    for end in range(40, len(whole), 400):
        try:
            await read(http, web, now, whole[:end])
        except SourceChanged as error:
            told.append(str(error))
    assert all("127.0.0.1 sent" in words for words in told)


async def test_an_empty_feed_is_no_error(http: Http, web: Web, now: datetime) -> None:
    assert await read(http, web, now, rss("")) == {}
    assert await read(http, web, now, '{"version": "https://jsonfeed.org/version/1", "items": []}') == {}


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "windows-1252"])
async def test_a_wrong_or_missing_charset_still_gives_text(http: Http, web: Web, now: datetime, codec: str) -> None:
    body = rss("<item><title>Caché</title><link>https://a.example/x</link></item>").encode(codec)
    item = (await read(http, web, now, body, "text/xml; charset=us-ascii"))["url:https://a.example/x"]
    assert item.title.startswith("Cach")


async def test_a_feed_of_ten_megabytes_is_not_read(http: Http, web: Web, now: datetime) -> None:
    with pytest.raises(SourceUnavailable, match="larger than 2,097,152 bytes"):
        await read(http, web, now, rss("<item><title>x</title></item>" * 400_000))


async def test_a_compression_bomb_is_counted_inflated(http: Http, web: Web, now: datetime) -> None:
    web.answer("/feed", Answer(gzip.compress(b"<" * 100_000_000), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(SourceUnavailable, match="larger than"):
        await batch_of(http, web, now)


async def test_no_more_than_five_hundred_entries_are_taken(http: Http, web: Web, now: datetime) -> None:
    web.answer("/feed", Answer(rss("".join(f"<item><link>https://a.example/{n}</link></item>" for n in range(600)))))
    batch = await batch_of(http, web, now)
    assert (len(batch.items), batch.skipped) == (500, 100)


async def test_a_file_or_an_address_as_a_body_is_not_opened(http: Http, web: Web, now: datetime) -> None:
    for body in ("/etc/passwd", f"{web.url}/secret", "file:///etc/passwd"):
        with pytest.raises(SourceChanged, match="neither RSS"):
            await read(http, web, now, body)
    assert all(asked.path == "/feed" for asked in web.asked)


async def test_a_feed_on_a_private_address_is_refused(web: Web, now: datetime) -> None:
    guarded = Http(user_agent="x", guarded=True)
    with pytest.raises(SourceUnavailable):
        await batch_of(guarded, web, now)
    await guarded.close()
    assert web.asked == []


async def test_a_feed_that_only_begins_is_looked_at_beside_the_event_loop(http: Http, web: Web, now: datetime) -> None:
    body = b"<!-- a -->" * 200_000 + b"<!DOCTYPE html>"
    whole = effort(lambda: fault_of(body))
    web.answer("/feed", Answer(body))
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            used = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - used)

    watching = asyncio.create_task(watch())
    with pytest.raises(SourceChanged, match="a web page"):
        await batch_of(http, web, now)
    watching.cancel()
    assert longest < whole / 2
