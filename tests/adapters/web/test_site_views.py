"""The pages of the archive by themselves: whatever strangers wrote, only what our templates have is markup."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from adapters.web.site import views
from adapters.web.site.frame import Frame
from adapters.words import chart_lines
from bot.commands import ListTopics, Save, Search, Unsave, write
from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedPosting,
    ArchivedTopic,
    Button,
    Chart,
    ChartKind,
    ChartValue,
    Digest,
    Entry,
    Field,
    Item,
    Link,
    PaperHistory,
    Reading,
    Reply,
    ReplyEntry,
)
from tests.adapters.web.browser import live
from tests.conftest import NOW, tries
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.replies import TRENDS

TODAY = NOW.date()
MARKS = count()
HERS = Frame(sign=lambda command: f"signed {command}", path="/")
EVERYBODYS = Frame(root="/w/0a1b", path="/")
PIECES = (
    "</title><script>alert(1)</script>",
    "<img src=x onerror=y>",
    '"><a href="javascript:x">',
    "' onmouseover='x",
    "&lt;b&gt;",
    "--><style>*{}</style>",
    "{{ 7*7 }}{% raw %}",
    "</style>",
    "*b*",
    "\u202e",
    "\x1b[31m",
    "\ud800",
    "]]>",
    "a" * 300,
)
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=4).map("".join)
URLS = st.sampled_from(("javascript:alert(1)", "https://ok.example/'\"><x", "https://ok.example/a", "data:text/html,x"))


def entry_of(text: str, url: str = "https://ok.example/a", *, abstract: str = "", other: str = "") -> Entry:
    """An entry that says nothing but the text; another in its parts, and a third of its partner, where they are given."""
    first = GPU.entries[0]
    item = replace(
        first.ranked.item,
        key=f"url:{text}",
        title=text,
        abstract=abstract or text,
        authors=(text, text),
        org=text,
        links=(Link("abstract", url), Link("code", url)),
    )
    ranked = replace(first.ranked, item=item, parts=tuple(replace(each, why=text) for each in first.ranked.parts))
    card = tuple(replace(each, text=abstract or text) for each in first.card)
    return replace(
        first, ranked=ranked, partner=replace(item, title=other or text), gist=abstract or text, card=card, why_here=text
    )


def digest_of(entries: Sequence[Entry], text: str) -> Digest:
    return replace(GPU, topic=text, title=text, entries=tuple(entries), news=text)


def archived(digest: Digest, *links: str) -> ArchivedDigest:
    return ArchivedDigest(mark=str(next(MARKS)), digest=digest, saved_at=NOW, channels=("C1",), links=links)


def history_of(entry: Entry, text: str, url: str) -> PaperHistory:
    return PaperHistory(
        item=entry.ranked.item,
        entry=entry,
        summary=entry.summary,
        postings=(ArchivedPosting(entry.ranked.item.key, "C1", text, text, TODAY, NOW, url),),
        readings=(Reading(TODAY - timedelta(days=1), stars=1), Reading(TODAY, stars=3, upvotes=2)),
        versions=((text, NOW),),
        similar=(entry.ranked.item,),
        saved=False,
    )


def reply_of(item: Item, text: str) -> Reply:
    buttons = (Button(text, write(Save(text))), Button(text, write(Search(text or "x"))), Button(text, text))
    entries = (
        ReplyEntry(item, gist=text, lines=(text,), buttons=buttons, post=text),
        ReplyEntry(title=text, is_section=True),
        ReplyEntry(title=text, lines=(text,)),
    )
    said = {"text": (text,), "quoted": (text,), "next_steps": (text,), "fields": (Field(text, text),)}
    values = (ChartValue(text, 1.0, text, 0.5, TODAY), ChartValue(text, 2.0, text, day=TODAY))
    charts = tuple(Chart(name="x", kind=kind, title=text, values=values, source=text, alt=text) for kind in ChartKind)
    return Reply(title=text, entries=entries, buttons=buttons, charts=charts, **said)  # type: ignore[arg-type]


def every_page(frame: Frame, text: str, url: str) -> dict[str, str]:
    entry = entry_of(text, url)
    digest = archived(digest_of([entry], text), url, url)
    reply = reply_of(entry.ranked.item, text)
    topic = ArchivedTopic(text, text, 3, TODAY)
    days = (ArchivedDay(TODAY, 1, 1),)
    return {
        "front": views.front(frame, [digest, archived(EMPTY)], TODAY),
        "topics": views.topics(frame, [topic], TODAY),
        "topic": views.topic(frame, topic, days, is_latest=False, has_more=True),
        "day": views.day(frame, [digest, digest], TODAY),
        "item": views.item(frame, history_of(entry, text, url), frame.of_entry(entry.ranked.item.key, text), TODAY),
        "search": views.search(frame, text, replace(reply, cards=(entry,)), TODAY),
        "told": views.told(frame, reply, TODAY, back="/"),
    }


@settings(max_examples=tries(60), deadline=None)
@given(TEXTS, URLS, st.sampled_from((HERS, EVERYBODYS)))
def test_nothing_that_strangers_wrote_is_markup_on_any_page(text: str, url: str, frame: Frame) -> None:
    for name, html in every_page(frame, text, url).items():
        html.encode()
        assert live(html) == set(), name
        tree = LexborHTMLParser(html)
        assert len(tree.css("h1")) == len(tree.css("main")) == 1
        assert len(tree.css("script")) == (name == "search")
        assert "\u202e" not in tree.css_first("main").text()  # type: ignore[union-attr]


@pytest.mark.long
def test_twenty_thousand_hostile_titles_and_abstracts_make_no_live_markup() -> None:
    random = Random(7)
    texts = ["".join(random.choices(PIECES[:-1], k=random.randint(1, 5))) + f" {number}" for number in range(20_000)]
    entries = [
        entry_of(title, abstract=abstract, other=other)
        for title, abstract, other in zip(texts[::3], texts[1::3], texts[2::3], strict=False)
    ]
    for at in range(0, len(entries), 50):
        assert live(views.front(HERS, [archived(digest_of(entries[at : at + 50], texts[at]))], TODAY)) == set()


def test_the_hostile_digest_of_the_other_renderers_is_harmless_here_too() -> None:
    html = views.day(HERS, [archived(HOSTILE, "https://chat.example/1")], None)
    assert live(html) == set()
    assert "<script>alert(1)</script>" in LexborHTMLParser(html).css_first("main").text()  # type: ignore[union-attr]


def test_a_stranger_is_offered_nothing_that_would_be_refused() -> None:
    for html in every_page(EVERYBODYS, "x", "https://ok.example/a").values():
        tree = LexborHTMLParser(html)
        assert tree.css("form[method=post]") == []
        hrefs = [str(each.attributes["href"]) for each in tree.css("a[href^='/']")]
        assert all(each.startswith("/w/0a1b/") or each == "/" for each in hrefs), hrefs


def test_a_page_offers_what_it_can_do_and_nothing_else() -> None:
    buttons = [Button(write(each), write(each)) for each in (Save("arxiv:1"), Unsave("arxiv:1"), ListTopics())]
    assert [each.label for each in HERS.actions(buttons)] == ["save arxiv:1", "unsave arxiv:1"]


def test_numbers_go_on_below_each_heading_as_in_the_chat() -> None:
    entries = (ReplyEntry(title="one"), ReplyEntry(title="A heading", is_section=True), ReplyEntry(title="two"))
    html = views.told(HERS, Reply(title="x", entries=entries, first=6), TODAY)
    lists = LexborHTMLParser(html).css("ol")
    assert [each.attributes["start"] for each in lists] == ["6", "7"]


def test_of_many_readings_the_first_and_the_last_are_told() -> None:
    days = [datetime(2026, 3, day, tzinfo=NOW.tzinfo).date() for day in range(1, 32)]
    entry = GPU.entries[0]
    found = history_of(entry, "x", "https://ok.example/a")
    found = replace(found, readings=tuple(Reading(day, stars=day.day) for day in days))
    told = LexborHTMLParser(views.item(HERS, found, (), TODAY)).css("[aria-labelledby=readings] li")
    assert [told[0].text(), told[-1].text(), len(told)] == ["1 March: 1 star", "31 March: 31 stars", 8]


def test_stars_are_a_curve_and_charts_are_pictures_with_their_numbers() -> None:
    days = (TODAY - timedelta(days=3), TODAY)
    found = history_of(GPU.entries[0], "x", "https://ok.example/a")
    found = replace(found, readings=tuple(Reading(day, stars=1000 + day.day) for day in days))
    (curve,) = LexborHTMLParser(views.item(HERS, found, (), TODAY)).css("figure svg")
    assert str(curve.attributes["aria-label"]).startswith("A curve of stars: from 1,0")

    page = LexborHTMLParser(views.told(HERS, TRENDS, TODAY))
    assert [each.attributes["aria-label"] for each in page.css("figure svg")] == [each.alt for each in TRENDS.charts]
    told = [each.text() for each in page.css("figcaption p")]
    assert told == [line for chart in TRENDS.charts for line in chart_lines(chart)]
