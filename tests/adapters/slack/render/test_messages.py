import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.render import messages
from adapters.slack.render.blocks import SlackMessage, long_commands
from adapters.slack.render.limits import fits
from adapters.slack.render.messages import HandedOver, channels_in
from adapters.words import entry_buttons
from bot.commands import More, Why, parse
from bot.handlers.left_out import PAGE as TITLES_AT_ONCE
from bot.handlers.saved import PAGE as SAVED_AT_ONCE
from bot.handlers.search.search import PAGE as FOUND_AT_ONCE
from bot.models import (
    Attachment,
    Button,
    Digest,
    Entry,
    Field,
    Item,
    Kind,
    Layout,
    Link,
    Ranked,
    Release,
    Reply,
    ReplyEntry,
    ScorePart,
    text_key,
)
from tests.adapters.golden import check
from tests.adapters.slack.hostile import nodes, read, wrong
from tests.fakes.digests import DAY, EMPTY, GPU, HOSTILE, KERNEL_SMITH
from tests.fakes.replies import ABSTRACT, CARD, FOUND, READING, STARRED, SUBSCRIBED, TITLES, TRENDS, UGLY, page

GOLDEN = Path(__file__).parent / "golden"


def many(count: int) -> Digest:
    """A digest of so many entries, each of another item."""
    made = []
    for number in range(count):
        entry = GPU.entries[number % 3]
        item = replace(entry.ranked.item, key=f"arxiv:2604.{number:05}")
        made.append(replace(entry, ranked=replace(entry.ranked, item=item)))
    return replace(GPU, entries=tuple(made))


def wordy(length: int) -> Digest:
    """A digest of seven entries, each with a card whose first part has so many characters."""
    made = []
    for entry in many(7).entries:
        first, *others = entry.card or entry.summary.parts
        made.append(replace(entry, card=(replace(first, text="x" * length), *others)))
    return replace(GPU, entries=tuple(made))


def written(postings: Sequence[SlackMessage]) -> str:
    """Return the messages as a golden file holds them: the text, then the blocks."""
    return "\n".join(map(_written, postings))


def _written(posting: SlackMessage) -> str:
    blocks = json.dumps(posting.blocks, ensure_ascii=False, indent=1, sort_keys=True)
    return f"{posting.text}\n\n{blocks}\n{json.dumps([posting.keys, posting.keep])}\n"


def buttons(posting: SlackMessage) -> list[tuple[str, str]]:
    return [(node["text"]["text"], node["value"]) for node in nodes(posting.blocks) if node.get("type") == "button"]


def menus(posting: SlackMessage) -> list[list[tuple[str, str, str]]]:
    """Return (label, value, address) of the entries of each menu."""
    found = [node["options"] for node in nodes(posting.blocks) if node.get("type") == "overflow"]
    return [[(each["text"]["text"], each["value"], each.get("url", "")) for each in options] for options in found]


def test_digests_look_as_they_did() -> None:
    check(GOLDEN / "digest-brief-late.txt", written(messages.digest(GPU, layout=Layout.BRIEF, late=True)))
    check(GOLDEN / "digest-thread.txt", written(messages.digest(GPU, layout=Layout.THREAD, late=False)))
    check(GOLDEN / "digest-full.txt", written(messages.digest(GPU, layout=Layout.FULL, late=False)))
    check(GOLDEN / "digest-empty.txt", written(messages.digest(EMPTY, layout=Layout.BRIEF, late=False)))
    check(GOLDEN / "digest-hostile.txt", written(messages.digest(HOSTILE, layout=Layout.BRIEF, late=False)))
    check(GOLDEN / "digest-hostile-full.txt", written(messages.digest(HOSTILE, layout=Layout.FULL, late=False)))


def test_answers_look_as_they_did() -> None:
    told = {"card": CARD, "found": FOUND, "subscribed": SUBSCRIBED, "titles": TITLES, "trends": TRENDS, "ugly": UGLY}
    for name, reply in told.items():
        check(GOLDEN / f"reply-{name}.txt", written(messages.reply(reply, DAY)))


def test_a_page_of_hits_and_one_of_what_is_saved_are_one_message_each() -> None:
    for entries, buttons_each in ((FOUND_AT_ONCE, 4), (SAVED_AT_ONCE, 2)):
        (posting,) = messages.reply(page(entries, buttons_each), DAY)
        assert wrong(posting) == []


def test_a_page_of_titles_is_one_message() -> None:
    (posting,) = messages.reply(TITLES, DAY)
    assert (wrong(posting), len(TITLES.entries)) == ([], TITLES_AT_ONCE)


def test_what_a_paper_says_stresses_nothing_and_leads_nowhere() -> None:
    (posting,) = messages.reply(STARRED, DAY)

    (told,) = [node for node in nodes(posting.blocks) if node.get("type") == "rich_text_quote"]
    assert told["elements"] == [{"type": "text", "text": "Sorts *in place*, by [rank](https://x.example)"}]


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("digest", [GPU, EMPTY, HOSTILE], ids=["gpu", "empty", "hostile"])
def test_every_message_is_taken_by_slack_and_nothing_in_it_is_live(digest: Digest, layout: Layout) -> None:
    postings = messages.digest(digest, layout=layout, late=True)

    assert [found for each in postings for found in wrong(each)] == []
    assert "Late" in postings[0].text
    assert "Late" in read(postings[0])


def test_a_digest_of_fifty_entries_is_split_between_entries_and_loses_none() -> None:
    digest = many(50)
    for layout in (Layout.BRIEF, Layout.FULL):
        postings = messages.digest(digest, layout=layout, late=False)

        assert [keys for each in postings for keys in each.keys] == [(entry.ranked.item.key,) for entry in digest.entries]
        assert all(wrong(each) == [] for each in postings)
        shown = len(postings[0].keys)
        assert f"{shown} of 50 · continued below" in read(postings[0])
        assert f"GPU systems · {shown + 1}–{shown + len(postings[1].keys)} of 50" in read(postings[1])
        assert " seen · " in read(postings[-1])
        assert not any(each.threaded for each in postings)


# The boundary between messages wanders, by less than the late mark's size at a time.
WANDERING = [wordy(length) for length in range(60, 500, 3)]


@pytest.mark.no_cover
def test_a_digest_is_parted_alike_whether_it_is_late_or_not() -> None:
    seen = set()
    for digest in WANDERING:
        on_time, late = (messages.digest(digest, layout=Layout.FULL, late=late) for late in (False, True))
        assert [each.keys for each in on_time] == [each.keys for each in late]
        seen.add(len(late[0].keys))
    assert len(seen) > 1


@pytest.mark.no_cover
def test_the_footer_never_stands_alone() -> None:
    for digest in WANDERING:
        assert all(each.keys for each in messages.digest(digest, layout=Layout.FULL, late=False))


def test_seven_cards_stand_in_the_channel_in_two_messages_at_most() -> None:
    postings = messages.digest(many(7), layout=Layout.FULL, late=False)

    assert len(postings) <= 2
    assert not any(each.threaded for each in postings)


def test_what_a_channel_is_told_once_stands_at_the_end_as_one_types_it() -> None:
    news = "Digests are short now: *subscribe gpu-systems full* brings the full cards back."
    for layout in Layout:
        told = [
            each for each in messages.digest(replace(GPU, news=news), layout=layout, late=False) if "short now" in each.text
        ]

        assert len(told) == 1
        assert "short now: /digest subscribe gpu-systems full brings" in read(told[0])


def test_in_the_thread_layout_each_card_is_a_message_of_its_own_below_the_brief() -> None:
    head, *cards = messages.digest(GPU, layout=Layout.THREAD, late=False)
    (brief,) = messages.digest(GPU, layout=Layout.BRIEF, late=False)

    assert (head.blocks, head.text, head.keys, head.threaded) == (brief.blocks, brief.text, (), False)
    assert [each.keys for each in cards] == [((entry.ranked.item.key,),) for entry in GPU.entries]
    assert all(each.threaded for each in cards)
    assert all(entry.ranked.item.title in read(each) for entry, each in zip(GPU.entries, cards, strict=True))


def test_each_card_has_three_buttons_and_a_menu_and_each_is_a_command_that_can_be_read() -> None:
    (posting,) = messages.digest(GPU, layout=Layout.FULL, late=False)

    assert [label for label, _ in buttons(posting)] == ["More", "Less", "Save"] * 3
    assert parse(buttons(posting)[0][1]) == More(KERNEL_SMITH.key, "gpu-systems")
    first, *_ = menus(posting)
    assert [label for label, _, _ in first] == ["Abstract", "Why", "Similar", "BibTeX", "Code"]
    assert parse(first[1][1]) == Why(KERNEL_SMITH.key, "gpu-systems")
    assert [url for _, _, url in first if url] == ["https://github.com/InternLM/Kernel-Smith"]


def test_a_card_says_nothing_of_scores_and_origins_and_leads_to_each_page_once() -> None:
    (posting,) = messages.reply(CARD, DAY)
    shown = read(posting)

    assert "Why here" in shown
    assert [said for said in ("0.78", "score", "×", "extracted", "abstract,", "Chosen") if said in shown] == []
    assert [node["url"] for node in nodes(posting.blocks) if node.get("type") == "link"] == [
        "https://arxiv.org/abs/2603.28342"
    ]
    assert [label for label, _ in buttons(posting)] == ["More like this", "Less", "Save", "Abstract"]


def test_an_abstract_is_shown_whole_and_nothing_in_it_is_markup() -> None:
    (posting,) = messages.reply(ABSTRACT, DAY)
    quoted = [node for node in nodes(posting.blocks) if node.get("type") == "rich_text_quote"]

    assert [[run["type"] for run in node["elements"]] for node in quoted] == [["text"], ["text"]]
    assert "Sentence 37 measures the kernels." in read(posting)
    assert all("style" not in run for node in quoted for run in node["elements"])
    assert "<!channel>" not in posting.text


def long_texts(reply: Reply) -> tuple[str, ...]:
    """The commands of an answer's buttons, its entries' among them, that must be kept for the buttons to work."""
    shown = [(entry.ranked.item.key, digest.topic) for digest in reply.digests for entry in digest.entries]
    made = [*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)]
    made += [button for key, topic in shown for button in entry_buttons(key, topic)]
    return tuple(dict.fromkeys(long_commands(made)))


def test_a_command_too_long_for_a_button_is_kept_under_its_key() -> None:
    command = "search " + "kv cache " * 100
    reply = Reply(title="x", buttons=(Button("Next", command), Button("Ping", "search <!channel>"), Button("Short", "help")))
    (posting,) = messages.reply(reply, DAY)

    assert buttons(posting) == [
        ("Next", f"k:{text_key(command)}"),
        ("Ping", f"k:{text_key('search <!channel>')}"),
        ("Short", "help"),
    ]
    assert posting.keep == long_texts(reply) == (command, "search <!channel>")


def test_what_takes_something_away_is_asked_again() -> None:
    posting = messages.reply(SUBSCRIBED, DAY)[-1]
    (button,) = [node for node in nodes(posting.blocks) if node.get("type") == "button" and "confirm" in node]

    assert button["confirm"]["title"]["text"] == "Unsubscribe?"
    assert "unsubscribe gpu-systems" in button["confirm"]["text"]["text"]


def test_a_short_file_stands_in_the_answer_and_a_long_one_beside_it() -> None:
    short, long = (Attachment("saved.ris", "text/plain", "TY  - JOUR\nT1  - <!here> *a*\n" * times) for times in (1, 200))
    (with_text,) = messages.reply(Reply(title="Saved", attachment=short), DAY)
    told = HandedOver("saved.ris came as a direct message.")
    (with_file,) = messages.reply(Reply(title="Saved", attachment=long), DAY, told)

    assert "TY  - JOUR\nT1  - <\u2060!here> *a*" in read(with_text)
    assert [messages.file_beside(Reply(title="Saved", attachment=each)) for each in (short, long)] == [None, long]
    assert "saved.ris came as a direct message." in read(with_file)


def test_what_to_do_next_is_told_as_one_types_it() -> None:
    reply = Reply(title="Saved", next_steps=("*saved* lists it; *filter stars:>100* is a clause.",))
    (posting,) = messages.reply(reply, DAY)
    code = [node["text"] for node in nodes(posting.blocks) if (node.get("style") or {}) == {"code": True}]

    assert code == ["/digest saved"]
    assert "/digest saved lists it; filter stars:&gt;100 is a clause." in posting.text


def test_an_address_of_ours_is_a_link_where_it_stands_alone() -> None:
    url = "https://papers.lab.example/open/WyJz.abc_-"
    (posting,) = messages.reply(Reply(title="Here", text=(url, f"See {url}.", "https://a@b.example")), DAY)
    links = [node for node in nodes(posting.blocks) if node.get("type") == "link"]
    assert [(each["url"], each["text"]) for each in links] == [(url, "papers.lab.example/open/WyJz.abc_-")]
    assert url in posting.text


def test_where_one_writes_messages_a_command_has_no_slash() -> None:
    section = ReplyEntry(title="Finding", lines=("*search*: Search",), is_section=True)
    reply = Reply(title="Saved", text=("*saved* lists it.",), entries=(section,), next_steps=("*list* says more.",))
    (posting,) = messages.reply(reply, DAY, before="")
    code = [node["text"] for node in nodes(posting.blocks) if (node.get("style") or {}) == {"code": True}]

    assert code == ["saved", "search", "list"]
    assert "saved lists it." in posting.text
    assert "/digest" not in posting.text


def test_a_heading_of_our_own_has_no_number_and_its_lines_name_commands_as_one_types_them() -> None:
    section = ReplyEntry(title="Finding", lines=("*search*: Search; *profile* too.", "the *search*"), is_section=True)
    (posting,) = messages.reply(Reply(title="Help", entries=(section,)), DAY)
    runs = [(node["text"], node.get("style") or {}) for node in nodes(posting.blocks) if node.get("type") == "text"]

    assert ("Finding", {"bold": True}) in runs
    assert [words for words, style in runs if style == {"code": True}] == ["/digest search", "/digest profile"]
    assert runs[-1] == ("search", {"bold": True})


def test_the_frame_of_a_command_does_not_begin_on_the_line_before() -> None:
    (posting,) = messages.reply(Reply(title="Help", text=("*list*: what is posted", "*now*: a preview")), DAY)
    code = [node["text"] for node in nodes(posting.blocks) if (node.get("style") or {}) == {"code": True}]

    assert code == ["/digest list", "/digest now"]


def test_channels_and_people_are_shown_as_what_they_are_called() -> None:
    reply = Reply(title="Subscriptions", text=("gpu in C1, not in C12, by U1",), channels=("C1",), people=("U1",))
    (private,) = messages.reply(reply, DAY)
    (open_to_all,) = messages.reply(replace(reply, private=False), DAY)

    assert [node["channel_id"] for node in nodes(private.blocks) if node.get("type") == "channel"] == ["C1"]
    assert [node["user_id"] for node in nodes(private.blocks) if node.get("type") == "user"] == ["U1"]
    assert wrong(private, ["C1", "U1"]) == wrong(open_to_all, ["C1"]) == []
    assert "U1" in read(open_to_all)


def test_a_notice_names_its_channel_and_its_commands() -> None:
    posting = messages.notice(
        "The digests of kv in C0123ABCD9 are paused. CVPR2026 waits; *resume kv* there posts them again."
    )

    assert [node["channel_id"] for node in nodes(posting.blocks) if node.get("type") == "channel"] == ["C0123ABCD9"]
    assert "/digest resume kv" in posting.text
    assert wrong(posting, ["C0123ABCD9"]) == []


def test_a_card_for_a_preview_has_no_buttons() -> None:
    blocks = messages.card(Entry(Ranked(KERNEL_SMITH, 0.0), GPU.entries[0].summary), DAY)

    assert {block["type"] for block in blocks} == {"rich_text", "context"}
    assert fits(blocks)
    assert "Chosen" not in json.dumps(blocks)


def test_a_message_without_its_blocks_still_says_what_it_said() -> None:
    (posting,) = messages.digest(GPU, layout=Layout.FULL, late=False)
    plain = messages.plain(posting)

    assert plain.blocks == ()
    for entry in GPU.entries:
        assert entry.ranked.item.title in plain.text
    assert "<https://arxiv.org/abs/2603.28342|Kernel-Smith" in plain.text


# --- whatever strangers write

EVIL = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="<>|!@#*_~`&;:[]()\n\u202e\u200b\u2060\x00 aC1UéÅ文👩\u0301\ud800", max_size=200),
    st.sampled_from(
        [
            "<!channel>",
            "<!here|x> @channel @everyone",
            "<@U0123456>",
            "<#C0123456|general>",
            "<https://evil.example|arxiv.org>",
            "&lt;!channel&gt; &amp;lt;!here&amp;gt;",
            "<\u200b!channel>",
            "<!subteam^S123|team> <!date^0^{date}|x>",
            "*bold* _it_ ~no~ `code` ```pre``` > quote",
            "javascript:alert(1)",
            "mailto:a@b.example ✉",
            "A" * 5000,
            "文" * 3000,
            "👩‍👩‍👧" * 800,
            "",
        ]
    ),
)
LINKS = st.one_of(
    EVIL,
    st.builds("https://ok.example/{}".format, EVIL),
    st.just("https://ok.example/" + "x" * 1900),
    st.just("https://a.example|<!channel>"),
)
ITEMS = st.builds(
    Item,
    key=st.builds("url:{}".format, EVIL),
    kind=st.sampled_from(Kind),
    title=EVIL,
    abstract=EVIL,
    authors=st.lists(EVIL, max_size=6).map(tuple),
    org=EVIL,
    categories=st.lists(EVIL, max_size=2).map(tuple),
    sources=st.lists(st.builds("feed:{}".format, EVIL), max_size=3).map(tuple),
    links=st.lists(st.builds(Link, st.sampled_from(["abstract", "code", "page", "discussion"]), LINKS), max_size=4).map(
        tuple
    ),
    license=EVIL,
    language=EVIL,
    release=st.none() | st.builds(Release, tag=EVIL, published=st.just(datetime(2026, 3, 30, tzinfo=UTC))),
    stars=st.none() | st.integers(0, 10**9),
    withdrawn=st.booleans(),
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """An entry in which every text is a stranger's."""
    summary = GPU.entries[0].summary
    parts = tuple(replace(part, text=draw(EVIL)) for part in summary.parts)
    return Entry(
        Ranked(draw(ITEMS), 0.5, (ScorePart("phrases", 0.5, f"matches *{draw(EVIL)}*"),)),
        replace(summary, parts=parts, made_by=draw(EVIL), note=draw(EVIL)),
        draw(st.none() | ITEMS),
        gist=draw(EVIL),
        card=parts,
        why_here=draw(EVIL),
    )


@settings(deadline=None)
@given(st.lists(entries(), max_size=3), EVIL, st.sampled_from(Layout))
def test_no_text_of_a_stranger_makes_a_digest_live_or_too_long(made: list[Entry], title: str, layout: Layout) -> None:
    digest = replace(GPU, title=title, topic=title or "x", entries=tuple(made))
    postings = messages.digest(digest, layout=layout, late=True)

    assert [found for each in postings for found in wrong(each)] == []
    assert [keys for each in postings for keys in each.keys] == [(entry.ranked.item.key,) for entry in made]


REPLIES = st.builds(
    Reply,
    title=EVIL,
    text=st.lists(EVIL, max_size=4).map(tuple),
    entries=st.lists(
        st.builds(
            ReplyEntry,
            item=st.none() | ITEMS,
            title=EVIL,
            gist=EVIL,
            lines=st.lists(EVIL, max_size=8).map(tuple),
            buttons=st.lists(st.builds(Button, EVIL, EVIL, st.booleans()), max_size=4).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    fields=st.lists(st.builds(Field, EVIL, EVIL), max_size=4).map(tuple),
    attachment=st.none() | st.builds(Attachment, EVIL, st.just("text/plain"), EVIL),
    next_steps=st.lists(EVIL, max_size=3).map(tuple),
    buttons=st.lists(st.builds(Button, EVIL, EVIL, st.booleans()), max_size=12).map(tuple),
)


@settings(deadline=None)
@given(REPLIES)
def test_no_text_of_a_stranger_makes_an_answer_live_or_too_long(reply: Reply) -> None:
    postings = messages.reply(reply, date(2026, 4, 1))

    assert [found for each in postings for found in wrong(each)] == []
    assert {text for each in postings for text in each.keep} == set(long_texts(reply))


@settings(deadline=None)
@given(EVIL)
def test_no_notice_is_live(text: str) -> None:
    assert wrong(messages.notice(text), channels_in(text)) == []


def test_an_entry_leads_to_the_post_in_which_it_stood_where_that_is_an_address() -> None:
    (made,) = messages.reply(READING, DAY)
    found = [each for each in nodes(made.blocks) if each.get("text") == "See the post"]
    assert [(each["type"], each["url"]) for each in found] == [
        ("link", "https://chat.example/p1"),
        ("link", "https://chat.example/p3"),
    ]
    assert "javascript" not in json.dumps(made.blocks)
    assert wrong(made) == []
