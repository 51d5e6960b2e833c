"""Digests as Discord's messages."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cli.demo.recorded_run import run_demo
from adapters.discord.render.components import DiscordMessage, nested, read_button
from adapters.discord.render.digests import BRIEF_ENTRIES, digest_messages, payloads
from bot.commands import Show, parse
from bot.models import PARTS, Digest, Entry, Item, Kind, Layout, LeftOut, Link, Release, Summary, SummaryPart
from tests.adapters import golden
from tests.adapters.discord.height import estimated
from tests.adapters.discord.hostile import contents, faults
from tests.adapters.discord.picture import picture
from tests.adapters.discord.render.test_markdown import HOSTILE
from tests.conftest import tries
from tests.fakes.digests import EMPTY, GPU
from tests.fakes.digests import HOSTILE as HOSTILE_DIGEST

GOLDEN = Path(__file__).parent / "golden"
OTHERS = tuple(LeftOut(f"arxiv:2603.{number}", "over the cap", number, 0.4) for number in range(4, 12))
TODAY = replace(GPU, left_out=OTHERS)


def many(count: int, *, long: bool = False) -> Digest:
    """Return a digest of so many entries, each with an item of its own."""
    found = []
    for number in range(count):
        entry = GPU.entries[number % len(GPU.entries)]
        item = replace(entry.ranked.item, key=f"arxiv:2603.{number:05d}")
        parts = tuple(replace(part, text=part.text * (8 if long else 1)) for part in entry.card)
        found.append(replace(entry, ranked=replace(entry.ranked, item=item), card=parts))
    return replace(GPU, entries=tuple(found), left_out=OTHERS)


def first_keys(postings: list[DiscordMessage]) -> list[str]:
    """Return the keys of the entries that they show."""
    return [keys[0] for each in postings for keys in each.keys]


@pytest.mark.parametrize(
    ("name", "postings"),
    [
        ("digest-brief", digest_messages(TODAY, layout=Layout.BRIEF)),
        ("digest-brief-late", digest_messages(replace(GPU, news="*settings* changes it."), layout=Layout.BRIEF, late=True)),
        ("digest-brief-20", digest_messages(many(20), layout=Layout.BRIEF)),
        ("digest-thread", digest_messages(TODAY, layout=Layout.THREAD)),
        ("digest-full", digest_messages(TODAY, layout=Layout.FULL)),
        ("digest-empty", digest_messages(replace(EMPTY, left_out=OTHERS), layout=Layout.BRIEF)),
        ("digest-hostile", digest_messages(HOSTILE_DIGEST, layout=Layout.THREAD)),
    ],
)
def test_digests_look_as_they_did(name: str, postings: list[DiscordMessage]) -> None:
    golden.check(GOLDEN / f"{name}.md", picture(postings))
    assert [fault for each in postings for fault in faults(each.body())] == []


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("long", [True, False])
def test_a_long_digest_is_parted_between_entries_and_loses_none(layout: Layout, long: bool) -> None:
    digest = many(25, long=long)
    postings = digest_messages(digest, layout=layout)
    channel, thread = [[each for each in postings if each.hangs is hangs] for hangs in (False, True)]
    every = [each.ranked.item.key for each in digest.entries]

    assert first_keys(channel) == every
    assert first_keys(thread) == (every if layout is Layout.THREAD else [])
    assert postings == [*channel, *thread], "a thread hangs below what stands in the channel"
    assert [fault for each in postings for fault in faults(each.body())] == []
    assert all(len(each.plain.encode("utf-16-le")) // 2 <= 2000 for each in postings)


def test_a_message_says_how_much_of_the_digest_it_shows() -> None:
    digest = many(25)
    said = [list(contents(each.components)) for each in digest_messages(digest, layout=Layout.BRIEF)]

    assert said[0][0].startswith("### GPU systems · 3 of 412 · ")
    assert [texts[-1] for texts in said[:2]] == [f"-# {last} of 25 · continued below" for last in (12, 24)]
    assert [texts[0] for texts in said[1:]] == ["-# GPU systems · 13–24 of 25", "-# GPU systems · 25 of 25"]
    assert ["412 seen" in texts[-1] for texts in said] == [False, False, True]


def test_a_brief_of_twelve_is_one_message_however_long_their_titles_and_gists_are() -> None:
    entries = [
        replace(
            each, ranked=replace(each.ranked, item=replace(each.ranked.item, title="A_long* title " * 30, org="Org " * 90))
        )
        for each in many(BRIEF_ENTRIES).entries
    ]
    digest = replace(GPU, entries=tuple(replace(each, gist="eighteen-syllabic-words " * 18) for each in entries))
    (message,) = digest_messages(digest, layout=Layout.BRIEF)

    assert len(message.keys) == BRIEF_ENTRIES
    assert faults(message.body()) == []


@settings(max_examples=tries(30), deadline=None)
@given(st.integers(0, 30), st.sampled_from(Layout), st.booleans())
def test_a_late_digest_is_parted_like_one_in_time(count: int, layout: Layout, long: bool) -> None:
    digest = many(count, long=long)
    in_time, late = [digest_messages(digest, layout=layout, late=late) for late in (False, True)]

    assert [(each.keys, each.hangs) for each in in_time] == [(each.keys, each.hangs) for each in late]
    assert ["Late: this digest was due on " in each.plain for each in late] == [True] + [False] * (len(late) - 1)


def test_one_select_opens_the_card_of_each_entry_of_a_brief() -> None:
    (message,) = digest_messages(TODAY, layout=Layout.BRIEF)
    (select,) = [each for each in nested(message.components) if each["type"] == 3]
    chosen = [read_button(each["value"]) for each in select["options"]]

    assert select["placeholder"] == "Open a card…"
    assert [parse(each.command) for each in chosen if each] == [
        Show(each.ranked.item.key, "gpu-systems") for each in GPU.entries
    ]
    assert select["options"][0]["label"] == f"1. {GPU.entries[0].ranked.item.title}"
    buttons = [each["label"] for each in nested(message.components) if each["type"] == 2]
    assert buttons == ["8 more on topic"], "an entry in brief has none of its own"


def test_the_buttons_of_a_card_stand_below_it_and_carry_its_commands() -> None:
    (message,) = digest_messages(GPU, layout=Layout.FULL)
    carried = [read_button(each["custom_id"]) for each in nested(message.components) if "custom_id" in each]

    assert [each.command for each in carried[:7] if each] == [
        "more arxiv:2603.28342 for gpu-systems",
        "less arxiv:2603.28342 for gpu-systems",
        "save arxiv:2603.28342",
        "show abstract arxiv:2603.28342",
        "why arxiv:2603.28342 for gpu-systems",
        "similar arxiv:2603.28342",
        "show bibtex arxiv:2603.28342",
    ]


@pytest.mark.parametrize("layout", Layout)
def test_no_entry_says_its_score_or_where_its_summary_is_from_or_leads_to_one_page_twice(layout: Layout) -> None:
    for message in digest_messages(GPU, layout=layout):
        said = "\n".join(contents(message.components))
        addresses = [part.partition(">)")[0] for part in said.split("](<")[1:]]

        assert "score" not in said.casefold()
        assert not any(word in said for word in ("extract", "Summary", "Chosen", "×", "does not state"))
        assert len(addresses) == len(set(addresses))


def test_a_digest_says_once_what_else_the_channel_is_to_know() -> None:
    digest = replace(many(20), news="Digests are short now: *subscribe gpu-systems full* brings the cards back.")
    for layout in Layout:
        said = [each.plain for each in digest_messages(digest, layout=layout)]
        assert (
            sum("`/digest-manage subscribe topic:gpu-systems layout:full` brings the cards back." in each for each in said)
            == 1
        )


@settings(max_examples=tries(20), deadline=None)
@given(st.integers(1, 30), st.sampled_from(Layout), st.booleans())
def test_a_digest_is_parted_alike_whether_its_commands_can_be_clicked(count: int, layout: Layout, long: bool) -> None:
    digest = replace(
        many(count, long=long), news="Digests are short now: *subscribe gpu-systems full* brings the cards back."
    )
    ids = {"digest": "1" * 20, "digest-manage": "2" * 20}
    as_text, clickable = (digest_messages(digest, layout=layout, ids=each) for each in ({}, ids))

    assert [(each.keys, each.hangs) for each in as_text] == [(each.keys, each.hangs) for each in clickable]
    said = "\n".join(text for each in clickable for text in contents(each.body()["components"]))
    assert f"</digest-manage subscribe:{ids['digest-manage']}> `topic:gpu-systems layout:full` brings" in said
    live = [f"live: </digest-manage subscribe:{ids['digest-manage']}>"]
    assert [fault for each in clickable for fault in faults(each.body())] == live


def test_every_message_says_in_plain_text_what_stands_in_it() -> None:
    (message,) = digest_messages(TODAY, layout=Layout.FULL)
    for entry in GPU.entries:
        assert entry.ranked.item.title in message.plain
    assert "412 seen" in message.plain


def test_a_payload_is_json_with_all_that_sending_needs() -> None:
    brief, *cards = (json.loads(each) for each in payloads(GPU, layout=Layout.THREAD, late=False))

    assert set(brief) == {"body", "plain", "keep", "keys", "thread", "tag", "hangs"}
    assert brief["thread"] == "GPU systems · 2026-04-01"
    assert [brief["hangs"], *(each["hangs"] for each in cards)] == [False, True, True, True]
    assert [each["keys"] for each in cards] == [[keys] for keys in brief["keys"]], "a reaction to a card says which one"


def test_seven_entries_in_brief_are_no_taller_than_two_screens_of_a_phone() -> None:
    topics = ("ai-safety", "llm-agents", "nlp-evaluation", "rag-search", "speech-audio", "vision-language")
    digests = [each for each in run_demo(shown=False, topics=topics, entries=7) if len(each.entries) == 7]
    bodies = [[each.body() for each in digest_messages(digest, layout=Layout.BRIEF)] for digest in digests]

    assert len(digests) > 1
    assert {len(each) for each in bodies} == {1}
    assert median(estimated(body, 700) for (body,) in bodies) <= 800
    assert median(estimated(body, 390) for (body,) in bodies) <= 1400


# --- what strangers wrote


ITEMS = st.builds(
    Item,
    key=HOSTILE.map(lambda text: f"url:{text}"),
    kind=st.sampled_from(Kind),
    title=HOSTILE,
    authors=st.lists(HOSTILE, max_size=6).map(tuple),
    org=HOSTILE,
    categories=st.lists(HOSTILE, max_size=2).map(tuple),
    sources=st.lists(HOSTILE, max_size=3).map(tuple),
    links=st.lists(st.builds(Link, st.sampled_from(["abstract", "code", "page"]), HOSTILE), max_size=3).map(tuple),
    published=st.none() | st.just(datetime(2026, 3, 30, tzinfo=UTC)),
    release=st.none() | st.builds(Release, tag=HOSTILE, published=st.just(datetime(2026, 3, 30, tzinfo=UTC))),
    stars=st.none() | st.integers(min_value=0, max_value=10**12),
)


def hostile_entry(item: Item, text: str, times: int) -> Entry:
    """Return an entry of which everything is that text, so many times over."""
    parts = tuple(SummaryPart(name, text * times) for name in PARTS)
    ranked = replace(GPU.entries[0].ranked, item=item)
    return Entry(ranked, Summary(parts, text, text), item, gist=text * times, card=parts, why_here=text * times)


@settings(max_examples=tries(60), deadline=None)
@given(ITEMS, HOSTILE, st.integers(min_value=1, max_value=400), st.sampled_from(Layout), st.integers(1, 14))
def test_whatever_strangers_wrote_every_message_is_within_the_limits(
    item: Item, text: str, times: int, layout: Layout, count: int
) -> None:
    entry = hostile_entry(item, text, times)
    digest = replace(GPU, title=text, topic=text, entries=(entry,) * count, left_out=OTHERS, news=text * times)
    for posting in digest_messages(digest, layout=layout, late=True):
        assert faults(posting.body()) == []
        assert len(posting.plain.encode("utf-16-le")) // 2 <= 2000
