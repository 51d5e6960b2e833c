import json
import re
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings

from adapters.slack.render import messages
from adapters.slack.render.blocks import SlackMessage
from adapters.text import clean
from adapters.words import brief_title, entry_menu, first_link, warnings
from bot.commands import Rest, Show, parse
from bot.models import Digest, Entry, Layout, LeftOut, text_key
from tests.adapters.slack.height import height
from tests.adapters.slack.hostile import nodes, read, wrong
from tests.adapters.slack.mrkdwn import Piece, parsed
from tests.adapters.slack.render.test_messages import buttons, entries, many, menus
from tests.fakes.digests import GPU, KERNEL_SMITH

# What stands for the signs by which Slack would format, end a link or begin a mention.
LIKE = str.maketrans({"∗": "*", "ˍ": "_", "∼": "~", "ˋ": "`", "›": ">", "¦": "|", "\u2060": None, "\xa0": " "})
EIGHT = (LeftOut("arxiv:1", "over the cap", 8, 0.5),) * 8
GISTS = (
    "Can generate coherent 2-minute, 832x480 videos at 16 FPS on a single H200 GPU",
    "Achieves a 2× speedup at 32K context length and 4× at 128K, with no loss of quality",
    "A globally shared pool of model calls supports high-throughput, asynchronous invocation of tools",
)


def brief(digest: Digest, *, late: bool = False) -> list[SlackMessage]:
    return messages.digest(digest, layout=Layout.BRIEF, late=late)


def sections(postings: Sequence[SlackMessage]) -> list[str]:
    """Return the texts of the entries, in mrkdwn."""
    return [block["text"]["text"] for each in postings for block in each.blocks if block["type"] == "section"]


def told(count: int) -> Digest:
    """A digest of so many entries with ordinary gists."""
    made = [replace(each, gist=GISTS[at % 3]) for at, each in enumerate(many(count).entries)]
    return replace(GPU, entries=tuple(made), left_out=EIGHT)


def wide(count: int) -> Digest:
    """A digest of so many entries with as many words as there may be."""
    made = []
    for entry in many(count).entries:
        item = replace(entry.ranked.item, title="Exceptionally Long Titles " * 8, org="Laboratory of Long Names")
        made.append(replace(entry, ranked=replace(entry.ranked, item=item), gist="parallel " * 17 + "throughput"))
    return replace(GPU, entries=tuple(made), left_out=EIGHT)


def test_it_says_how_many_of_how_many_and_how_long_it_takes_and_the_day_where_it_is_late() -> None:
    (on_time,), (late,) = brief(GPU), brief(GPU, late=True)

    assert on_time.blocks[0]["text"]["text"] == "GPU systems · 3 of 412 · 1\xa0min"
    assert "Wednesday" not in read(on_time)
    assert "⏰ Late: this digest was due on Wednesday 1 April 2026." in read(late)


def test_an_entry_is_its_number_its_title_as_the_link_its_gist_and_its_facts() -> None:
    first, *_ = sections(brief(GPU))
    title = "Kernel-Smith: A Unified Recipe for Evolutionary Kernel…"
    gist = "Presents Kernel-Smith, a framework for high-performance GPU kernel and operator generation"

    assert parsed(first) == [
        Piece("text", "1.  ", style="bold"),
        Piece("link", title, "https://arxiv.org/abs/2603.28342", "bold"),
        Piece("text", f"\n{gist}\xa0· ▲13\xa0· code\xa0★3\xa0· InternLM"),
    ]


def test_an_entry_has_at_most_forty_words() -> None:
    for digest in (GPU, told(7), wide(7)):
        for text in sections(brief(digest)):
            words = "".join(piece.text for piece in parsed(text)).split()
            assert sum(any(map(str.isalnum, word)) for word in words) <= 40


def test_an_entrys_menu_begins_with_its_card_and_each_choice_is_a_command() -> None:
    (posting,) = brief(GPU)
    first, *_ = menus(posting)

    assert [label for label, _, _ in first] == ["Details", "More like this", "Less", "Save", "Similar"]
    assert parse(first[0][1]) == Show(KERNEL_SMITH.key, "gpu-systems")
    assert [value for _, value, _ in first] == [each.command for each in entry_menu(KERNEL_SMITH.key, "gpu-systems")]


def test_what_is_too_long_for_a_choice_is_kept() -> None:
    long = "url:https://ok.example/" + "x" * 130
    entry = replace(GPU.entries[0], ranked=replace(GPU.entries[0].ranked, item=replace(KERNEL_SMITH, key=long)))
    (posting,) = brief(replace(GPU, entries=(entry,)))

    kept = [each.command for each in entry_menu(long, "gpu-systems")]
    assert posting.keep == tuple(kept)
    assert [value for _, value, _ in menus(posting)[0]] == [f"k:{text_key(each)}" for each in kept]


def test_what_else_is_on_topic_is_a_button_at_the_end() -> None:
    (posting,) = brief(replace(GPU, left_out=EIGHT))

    ((label, command),) = buttons(posting)
    assert (label, parse(command)) == ("8 more on topic", Rest("gpu-systems", "2026-04-01"))
    assert [block["type"] for block in posting.blocks[-2:]] == ["context", "actions"]
    assert buttons(brief(GPU)[0]) == []


def test_twelve_entries_are_one_message_and_more_say_how_many_and_go_on() -> None:
    for made in (told, wide):
        (one,) = brief(made(12))
        assert len(one.keys) == 12
    first, second = brief(told(20))

    assert (len(first.keys), len(second.keys)) == (12, 8)
    assert "12 of 20 · continued below" in read(first)
    assert "GPU systems · 13–20 of 20" in read(second)
    assert sections([second])[0].startswith("*13.  ")
    assert "8 more on topic" in read(second)


def test_seven_entries_are_two_screens_of_a_phone_at_most() -> None:
    (posting,), (longest,) = brief(told(7)), brief(wide(7))

    assert height(posting.blocks, 700) <= 800
    assert height(posting.blocks, 390) <= 1_400
    assert len(json.dumps(posting.blocks, ensure_ascii=False, separators=(",", ":")).encode()) <= 8_000
    assert height(longest.blocks, 700) <= 1_000
    assert height(longest.blocks, 390) <= 1_900


def test_its_text_says_the_same_in_lines() -> None:
    (posting,) = brief(GPU)

    for block, entry in zip((b for b in posting.blocks if b["type"] == "section"), GPU.entries, strict=True):
        shown = "".join(piece.text for piece in parsed(block["text"]["text"]))
        said = "".join(piece.text for piece in parsed(posting.text))
        assert " ".join(shown.split()) in " ".join(said.split())
        assert first_link(entry.ranked.item) in posting.text


@settings(deadline=None)
@given(entries())
def test_whatever_strangers_write_an_entry_is_a_number_one_link_and_plain_text(entry: Entry) -> None:
    (posting,) = brief(replace(GPU, entries=(entry,)))
    (text,) = sections([posting])
    pieces, item = parsed(text), entry.ranked.item
    head, _, below = text.partition("\n")

    assert wrong(posting) == []
    assert pieces[0] == Piece("text", pieces[0].text, style="bold")
    assert pieces[0].text.startswith("1.  ")
    links = [piece for piece in pieces if piece.kind == "link"]
    assert [piece.url for piece in links] in ([first_link(item)], [])
    assert {piece.style for piece in parsed(head)} == {"bold"}
    assert [(piece.kind, piece.style) for piece in parsed(below)] in ([], [("text", "")])
    shown = "".join(piece.text for piece in parsed(head)).removeprefix("1.  ").translate(LIKE)
    assert shown == brief_title(item).translate(LIKE) or brief_title(item).translate(LIKE).startswith(shown.rstrip("…"))
    read_below = plainly("".join(piece.text for piece in parsed(below)))
    assert read_below.startswith(plainly(clean(entry.gist))[:30].rstrip(". "))
    assert all(f"⚠ {word}" in below for word in warnings(item))


def plainly(text: str) -> str:
    """Return the text without what stands in for a sign, and with one space for each stretch of them."""
    return re.sub(r"\s+", " ", text.translate(LIKE))


def test_no_menu_is_without_an_entry_and_none_is_shown_twice() -> None:
    (posting,) = brief(told(12))

    assert len(menus(posting)) == 12
    assert len({node["value"] for node in nodes(posting.blocks) if "value" in node}) == 12 * 5 + 1
