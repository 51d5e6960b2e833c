"""Digests and replies as Discord's messages."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.render.components import custom_ids, read_button
from adapters.discord.render.messages import DiscordMessage, digest_messages, payloads, reply_messages
from bot.handlers.saved import PAGE as SAVED_AT_ONCE
from bot.handlers.search import PAGE as FOUND_AT_ONCE
from bot.models import (
    PARTS,
    Button,
    Digest,
    Entry,
    Item,
    Kind,
    Layout,
    Link,
    Release,
    Reply,
    ReplyEntry,
    Summary,
    SummaryPart,
    text_key,
)
from tests.adapters import golden
from tests.adapters.discord.hostile import contents, faults
from tests.adapters.discord.render.test_markdown import HOSTILE
from tests.conftest import tries
from tests.fakes.digests import EMPTY, GPU
from tests.fakes.digests import HOSTILE as HOSTILE_DIGEST
from tests.fakes.replies import CARD, FOUND, STARRED, SUBSCRIBED, TITLES, UGLY, page

TODAY = date(2026, 4, 1)
GOLDEN = Path(__file__).parent / "golden"


def picture(postings: list[DiscordMessage]) -> str:
    """Return what a reader sees, as markdown: buttons in brackets, a line between messages."""
    return "\n==========\n".join("\n".join(_lines(each.components)) for each in postings) + "\n"


def _lines(components: Any) -> list[str]:
    made: list[str] = []
    for each in components:
        if each["type"] == 17:
            made += _lines(each["components"])
        elif each["type"] == 1:
            made.append(" ".join(_shown(one) for one in each["components"]))
        elif each["type"] == 14:
            made.append("----------" if each["divider"] else "")
        else:
            made.append(each.get("content") or f"({each['file']['url']})")
    return made


def _shown(one: dict[str, Any]) -> str:
    if "options" not in one:
        return f"[{one['label']}]({one['custom_id']})"
    return "\n".join([f"[{one['placeholder']} ▾]", *(f"    {each['label']}: {each['value']}" for each in one["options"])])


def test_a_page_of_hits_is_one_message_and_one_of_what_is_saved_two_at_most() -> None:
    (hits,) = reply_messages(page(FOUND_AT_ONCE, 4), TODAY)
    saved = reply_messages(page(SAVED_AT_ONCE, 2), TODAY)

    assert len(saved) <= 2
    assert [faults(each.body()) for each in (hits, *saved)] == [[]] * (1 + len(saved))


def test_a_page_of_titles_is_one_message() -> None:
    (titles,) = reply_messages(TITLES, TODAY)

    assert faults(titles.body()) == []


def test_what_a_paper_says_stresses_nothing_and_leads_nowhere() -> None:
    (posting,) = reply_messages(STARRED, TODAY)

    assert "\nSorts \\*in place\\*, by \\[rank\\](<https://x.example>)\n" in picture([posting])


@pytest.mark.parametrize(
    ("name", "postings"),
    [
        ("digest", digest_messages(GPU, layout=Layout.FULL)),
        ("digest-compact-late", digest_messages(GPU, layout=Layout.BRIEF, late=True)),
        ("digest-empty", digest_messages(EMPTY, layout=Layout.FULL)),
        ("digest-hostile", digest_messages(HOSTILE_DIGEST, layout=Layout.FULL)),
        ("reply-card", reply_messages(CARD, TODAY)),
        ("reply-found", reply_messages(FOUND, TODAY)),
        ("reply-subscribed", reply_messages(SUBSCRIBED, TODAY)),
        ("reply-titles", reply_messages(TITLES, TODAY)),
        ("reply-ugly", reply_messages(UGLY, TODAY)),
    ],
)
def test_messages_look_as_they_did(name: str, postings: list[DiscordMessage]) -> None:
    golden.check(GOLDEN / f"{name}.md", picture(postings))
    assert [fault for each in postings for fault in faults(each.body())] == []


def many(count: int, *, long: bool = False) -> Digest:
    """Return a digest of so many entries, each with an item of its own."""
    found = []
    for number in range(count):
        entry = GPU.entries[number % len(GPU.entries)]
        item = replace(entry.ranked.item, key=f"arxiv:2603.{number:05d}")
        parts = tuple(replace(part, text=part.text * (8 if long else 1)) for part in entry.summary.parts)
        found.append(replace(entry, ranked=replace(entry.ranked, item=item), summary=replace(entry.summary, parts=parts)))
    return replace(GPU, entries=tuple(found))


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("long", [True, False])
def test_a_long_digest_is_parted_between_entries_and_loses_none(layout: Layout, long: bool) -> None:
    digest = many(25, long=long)
    postings = digest_messages(digest, layout=layout)

    assert [keys[0] for each in postings for keys in each.keys] == [each.ranked.item.key for each in digest.entries]
    assert [fault for each in postings for fault in faults(each.body())] == []
    heads = [next(iter(contents(each.components))) for each in postings]
    assert all(f"part {part} of {len(postings)}" in head for part, head in enumerate(heads, start=1))
    assert [" seen · " in list(contents(each.components))[-1] for each in postings] == [False] * (len(postings) - 1) + [True]
    assert all(len(each.plain.encode("utf-16-le")) // 2 <= 2000 for each in postings)


def test_the_buttons_of_an_entry_stand_below_it_and_carry_its_commands() -> None:
    (posting,) = digest_messages(GPU, layout=Layout.FULL)
    carried = [read_button(each["custom_id"]) for each in custom_ids(posting.components)]

    assert [each.command for each in carried[:4] if each] == [
        "more arxiv:2603.28342 for gpu-systems",
        "less arxiv:2603.28342 for gpu-systems",
        "save arxiv:2603.28342",
        "similar arxiv:2603.28342",
    ]


def test_a_command_too_long_for_a_button_is_kept_beside_the_message() -> None:
    command = "search " + "kv cache " * 20 + "sort:new"
    (posting,) = reply_messages(Reply(title="Found", buttons=(Button("Later", command), Button("Again", command))), TODAY)

    assert posting.keep == (command,)
    assert [each["custom_id"] for each in custom_ids(posting.components)] == [f"k:{text_key(command)}"]


def test_an_entry_with_many_lines_is_told_whole_with_its_buttons_at_the_end() -> None:
    lines = tuple(f"{number}. interest of that number" for number in range(1, 121))
    reply = Reply(
        title="GPU systems", entries=(ReplyEntry(title="Interests", lines=lines, buttons=(Button("Undo", "undo"),)),)
    )
    postings = reply_messages(reply, TODAY)
    shown = picture(postings)

    assert all(f"{number}\\. interest of that number\n" in shown for number in range(1, 121))
    assert shown.count("[Undo]") == 1
    assert shown.index("120\\. interest") < shown.index("[Undo]")
    assert [fault for each in postings for fault in faults(each.body())] == []


def test_every_step_of_the_settings_is_told() -> None:
    steps = tuple(
        f"*settings {name}* changes it." for name in ("manage", "zone", "top", "quiet", "daily", "alerts", "twice")
    )
    shown = picture(reply_messages(Reply(title="Settings", next_steps=steps), TODAY))

    assert all(f"`/digest settings {name}` changes it." in shown for name in ("manage", "alerts", "twice"))


def test_a_command_in_a_hint_is_shown_as_it_is_typed() -> None:
    reply = Reply(title="That did not work", text=("There is no topic.", "*topics* lists those there are."))
    assert "`/digest topics` lists those there are." in picture(reply_messages(reply, TODAY))


def test_every_message_says_in_plain_text_what_stands_in_it() -> None:
    (posting,) = digest_messages(GPU, layout=Layout.FULL)
    for entry in GPU.entries:
        assert entry.ranked.item.title in posting.plain


def test_a_payload_is_json_with_all_that_sending_needs() -> None:
    (payload,) = payloads(GPU, layout=Layout.FULL, late=False)
    made = json.loads(payload)

    assert set(made) == {"body", "plain", "keep", "keys", "thread", "tag", "hangs"}
    assert made["thread"] == "GPU systems · 2026-04-01"


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


@settings(max_examples=tries(60), deadline=None)
@given(ITEMS, HOSTILE, st.integers(min_value=1, max_value=400), st.sampled_from(Layout))
def test_whatever_strangers_wrote_every_message_is_within_the_limits(
    item: Item, text: str, times: int, layout: Layout
) -> None:
    parts = tuple(SummaryPart(name, text * times) for name in PARTS)
    ranked = replace(GPU.entries[0].ranked, item=item)
    entry = Entry(ranked, Summary(parts, text, text), partner=item)
    digest = replace(GPU, title=text, topic=text, entries=(entry,) * 3)
    reply = Reply(
        title=text,
        text=(text * times,) * 3,
        entries=(
            ReplyEntry(item, gist=text * times, lines=(text * times,) * 30, buttons=(Button(text, text),)),
            ReplyEntry(title=text),
        ),
        next_steps=(text * times,) * 9,
        buttons=(Button(text, text * times),),
    )
    for posting in (*digest_messages(digest, layout=layout, late=True), *reply_messages(reply, TODAY)):
        assert faults(posting.body()) == []
        assert len(posting.plain.encode("utf-16-le")) // 2 <= 2000
