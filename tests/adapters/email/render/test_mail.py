"""Digests as mails."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.email.render.links import NO_LINKS, MailLinks
from adapters.email.render.mail import MOST, Mail, render
from adapters.words import brief_title, card_facts, facts, first_link, told_parts
from bot.commands import Rest, Unsubscribe, parse
from bot.models import Digest, Layout, LeftOut, Link
from tests.adapters import golden
from tests.adapters.email.reading import Reader, cards, listed, wrong
from tests.conftest import tries
from tests.fakes.digests import DAY, EMPTY, GPU
from tests.fakes.digests import HOSTILE as HOSTILE_DIGEST
from tests.fakes.hostile import hostile

GOLDEN = Path(__file__).parent / "golden"
LINKS = MailLinks(
    lambda verb, key: (
        "/".join(
            [
                "https://papers.lab.example/mail/0123456789abcdef",
                verb,
                *([quote(key, safe="", errors="replace")] if key else []),
            ]
        )
        + "?s=AbCdEfGhIjKlMnOpQrStUv"
    )
)
OTHERS = tuple(LeftOut(f"arxiv:2603.{number}", "over the cap", number, 0.4) for number in range(4, 12))
TODAY = replace(GPU, left_out=OTHERS)


def mail(digest: Digest, layout: Layout = Layout.THREAD, *, late: bool = False, links: MailLinks = LINKS) -> Mail:
    return render(digest, layout=layout, late=late, links=links)


def many(count: int, *, long: int = 1) -> Digest:
    """Return a digest of so many entries, each with an item of its own; `long` times as long in their parts."""
    made = []
    for number in range(count):
        entry = GPU.entries[number % 3]
        item = replace(
            entry.ranked.item, key=f"arxiv:2603.{number:05d}", links=(Link("page", f"https://ok.example/{number}"),)
        )
        parts = tuple(replace(part, text=part.text * long) for part in entry.card)
        made.append(replace(entry, ranked=replace(entry.ranked, item=item), card=parts))
    return replace(GPU, entries=tuple(made), left_out=OTHERS)


def plainly(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("thread", mail(TODAY)),
        ("brief-late", mail(replace(GPU, news="*settings* changes it."), Layout.BRIEF, late=True, links=NO_LINKS)),
        ("full-to-a-list", mail(TODAY, Layout.FULL, links=replace(LINKS, is_list=True))),
        ("empty", mail(EMPTY)),
        ("hostile", mail(HOSTILE_DIGEST)),
    ],
)
def test_mails_look_as_they_did(name: str, made: Mail) -> None:
    golden.check(GOLDEN / f"{name}.txt", f"Subject: {made.subject}\nPreheader: {made.preheader}\n\n{made.text}")
    golden.check(GOLDEN / f"{name}.html", made.html)


# --- the subject


@pytest.mark.parametrize(
    ("title", "gists", "subject"),
    [
        (
            "GPU systems",
            ["2-minute video in 4 GB of KV cache.", "b", "c", "d"],
            "GPU systems: 2-minute video in 4 GB of KV cache, +3",
        ),
        ("GPU systems", ["One alone"], "GPU systems: One alone"),
        ("GPU systems", [""], "GPU systems: Kernel-Smith: A Unified Recipe for Evolutionary Kernel…"),
        (
            "GPU systems",
            ["With a two-stage retrieval and reranking pipeline over long documents, recall rises by 12%.", "b"],
            "GPU systems: Kernel-Smith: A Unified Recipe for Evolutionary Kernel…, +1",
        ),
        (
            "GPU systems",
            ["With GRPO, small models reach 80% on AIME at a tenth of what the larger ones cost.", "b"],
            "GPU systems: With GRPO, small models reach 80% on AIME at a tenth of what…, +1",
        ),
        (
            "GPU systems",
            ["With a two-stage pipeline over documents, recall rises."],
            "GPU systems: With a two-stage pipeline over documents, recall rises",
        ),
        ("A" * 80, ["word " * 40, "b"], f"{'A' * 29}…: word word word word word word word word…, +1"),
        ("GPU\r\nBcc: all@evil.example", ["x\u2028y\x85z\x00"], "GPU Bcc: all@evil.example: x y z"),
        ("=?utf-8?q?a=0D=0ABcc:?=", ["=?utf-8?b?QQ==?="], "= ?utf-8?q?a=0D=0ABcc:?=: = ?utf-8?b?QQ== ?="),
    ],
)
def test_the_subject_is_the_first_gist_and_how_many_more_there_are(title: str, gists: Sequence[str], subject: str) -> None:
    entries = tuple(replace(GPU.entries[0], gist=gist) for gist in gists)
    assert mail(replace(GPU, title=title, entries=entries)).subject == subject


def test_the_subject_of_an_empty_digest_says_that_it_is_empty() -> None:
    silent = replace(EMPTY, coverage=replace(EMPTY.coverage, seen=0, dropped=()))
    close = replace(EMPTY, left_out=OTHERS)

    assert mail(EMPTY).subject == "Databases: 0 of 412, nothing came close"
    assert mail(close).subject == "Databases: 0 of 412, none has a place in it"
    assert mail(silent).subject == "Databases: the sources had nothing new"


def test_behind_the_subject_a_list_of_mails_shows_how_much_there_is_and_the_next_titles() -> None:
    made = mail(GPU)

    assert made.preheader == (
        "3 of 412 · 1 min · ResAdapt: Adaptive Resolution for Efficient Multimodal Reasoning · vllm-project/vllm"
    )
    assert Reader(made.html).text.index(made.preheader) < Reader(made.html).text.index("Wednesday")


# --- what it says


def test_the_index_has_the_numbers_the_linked_titles_the_gists_and_the_facts_of_the_chats() -> None:
    for layout in (Layout.BRIEF, Layout.THREAD):
        made = mail(TODAY, layout)
        assert [(each.number, each.title, each.address) for each in listed(made)] == [
            (number, brief_title(entry.ranked.item), first_link(entry.ranked.item))
            for number, entry in enumerate(TODAY.entries, start=1)
        ]
        shown = plainly(Reader(made.html).text)
        for entry in TODAY.entries:
            assert plainly(" · ".join((entry.gist.removesuffix("."), *facts(entry)))) in shown


def test_a_layout_is_the_index_the_cards_or_both() -> None:
    told = {layout: Reader(mail(TODAY, layout).html) for layout in Layout}
    headings = {layout: sum(tag == "h2" for tag, _ in read.elements) for layout, read in told.items()}

    assert headings == {Layout.BRIEF: 0, Layout.THREAD: 3, Layout.FULL: 3}
    assert {layout: len(listed(mail(TODAY, layout))) for layout in Layout} == {
        Layout.BRIEF: 3,
        Layout.THREAD: 3,
        Layout.FULL: 0,
    }
    assert all(mail(TODAY, layout).keys == tuple((each.ranked.item.key,) for each in TODAY.entries) for layout in Layout)


def test_a_card_says_what_the_cards_of_the_chats_say() -> None:
    read = Reader(mail(TODAY, Layout.FULL).html).text
    for entry in TODAY.entries:
        for told in (*card_facts(entry, DAY), entry.gist, *(text for _, text in told_parts(entry))):
            assert plainly(told) in read
    assert "Why here GPU kernel, Triton" in read
    assert "score" not in read


def test_the_index_leads_to_the_cards_by_names_that_every_program_knows() -> None:
    both, brief, full = (Reader(mail(TODAY, layout).html) for layout in (Layout.THREAD, Layout.BRIEF, Layout.FULL))
    named = [attributes["name"] for tag, attributes in both.elements if tag == "a" and "name" in attributes]

    assert [url for url in both.addresses if url.startswith("#")] == [f"#{name}" for name in named]
    assert named == ["card-1", "card-2", "card-3"]
    assert not any(url.startswith("#") for read in (brief, full) for url in read.addresses)


def test_the_plain_text_says_the_same_in_the_same_order() -> None:
    for layout in Layout:
        made = mail(replace(TODAY, news="*settings* changes it."), layout, late=True)
        said = plainly(made.text)
        at = [said.index(f"{number}. {brief_title(each.ranked.item)[:20]}") for number, each in enumerate(TODAY.entries, 1)]
        assert at == sorted(at)
        read = Reader(made.html)
        assert [url for url in dict.fromkeys(read.addresses) if url[0] != "#" and url not in said] == []
        for entry in TODAY.entries:
            assert plainly(entry.gist).removesuffix(".") in said
        assert "⏰ Late: this digest was due on Wednesday 1 April 2026." in said
        assert "412 seen · 3 kept · 8 more on topic" in said
        assert "settings changes it." in said


def test_it_says_why_one_gets_it_how_to_end_it_and_how_to_see_the_others() -> None:
    by_link, by_command = mail(TODAY), mail(TODAY, links=NO_LINKS)
    to_list = mail(TODAY, links=replace(LINKS, is_list=True))

    for made in (by_link, by_command):
        for read in (plainly(made.text), Reader(made.html).text):
            assert "You get this because this address is subscribed to GPU systems." in read
            assert "type unsubscribe gpu-systems by email, followed by this address, where it was subscribed." in read
            assert "For the others on topic, type rest gpu-systems on 2026-04-01 by email, followed by this address," in read
    for read in (plainly(to_list.text), Reader(to_list.html).text):
        assert "this list is subscribed" in read
        assert "type unsubscribe gpu-systems by email, followed by the list's address, where it was subscribed." in read
        assert "type rest" not in read
    verbs = [re.findall(r"/mail/\w+/(\w+)", made.html) for made in (by_link, by_command, to_list)]
    assert verbs == [["more", "less", "save"] * 3 + ["pause", "unsubscribe"], [], []]


def test_the_commands_that_it_names_can_be_typed_with_an_address() -> None:
    named = re.findall(r"type (.*?), followed by this address", plainly(mail(TODAY).text))
    rest, ending = (parse(f"{command} reader@lab.example") for command in named)

    assert isinstance(rest, Rest)
    assert isinstance(ending, Unsubscribe)
    assert (rest.topic, ending.topic, rest.channel) == ("gpu-systems", "gpu-systems", ending.channel)
    assert "reader@lab.example" in ending.channel


def test_an_action_without_an_address_that_is_safe_is_left_out() -> None:
    made = mail(GPU, links=MailLinks(lambda verb, key: "javascript:alert(1)" if verb == "less" else LINKS.signed(verb, key)))

    assert "javascript" not in made.html
    assert re.findall(r"/mail/\w+/(\w+)/", made.html) == ["more", "save"] * 3


# --- how large it is


@pytest.mark.parametrize("count", [5, 7, 20])
def test_digests_of_ordinary_size_are_shown_whole(count: int) -> None:
    made = mail(many(count))
    assert len(made.html.encode()) <= MOST
    assert "left out" not in made.html + made.text


@pytest.mark.parametrize("layout", [Layout.THREAD, Layout.FULL])
def test_what_does_not_fit_keeps_its_line_of_the_index_and_says_so(layout: Layout) -> None:
    made = mail(many(30, long=12), layout)
    shown = len(cards(made))

    assert len(made.html.encode()) <= MOST
    assert 5 < shown < 29
    assert len(listed(made)) == (30 if layout is Layout.THREAD else 30 - shown)
    assert [each.address for each in listed(made)][-1] == "https://ok.example/29"
    said = f"The cards of {shown + 1}–30 are left out: mail programs cut off what is longer."
    assert said in Reader(made.html).text
    assert said in plainly(made.text)
    assert made.html.count('href="#card-') == (shown if layout is Layout.THREAD else 0)
    assert len(made.keys) == 30


@pytest.mark.parametrize("layout", Layout)
def test_fifty_entries_of_whatever_length_fit(layout: Layout) -> None:
    worst, far = "&<\"'\u597d" * 90, f"https://ok.example/{'&' * 1_900}"
    entries = [
        replace(
            each,
            gist=worst,
            why_here=worst,
            ranked=replace(
                each.ranked,
                item=replace(
                    each.ranked.item,
                    title=worst,
                    org=worst,
                    links=(Link("page", f"{far}{number}"),),
                ),
            ),
        )
        for number, each in enumerate(many(50, long=9).entries)
    ]
    made = mail(replace(GPU, entries=tuple(entries), title=worst), layout)

    assert len(made.html.encode()) <= MOST
    assert len(listed(made)) + (len(cards(made)) if layout is Layout.FULL else 0) == 50


# --- how it is made


def test_headings_go_down_one_step_at_a_time_and_tables_are_no_tables_to_who_listens() -> None:
    read = Reader(mail(TODAY).html)
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch(r"h[1-6]", tag)]

    assert levels == [1, 2, 2, 2]
    assert {attributes.get("role") for tag, attributes in read.elements if tag == "table"} == {"presentation"}
    assert next(attributes["lang"] for tag, attributes in read.elements if tag == "html") == "en"
    assert 'role="img" aria-label="13 upvotes">▲13<' in mail(TODAY).html


def luminance(colour: str) -> float:
    """Return WCAG 2.2's relative luminance of #rrggbb."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_from_the_paper_as_wcag_aa_asks() -> None:
    html = mail(replace(TODAY, entries=(*TODAY.entries, *HOSTILE_DIGEST.entries))).html
    styles = Reader(html).styles
    paper = {"light": "#fbf8f1", "dark": "#171614"}
    light = set(re.findall(r"(?<![-\w])color:(#\w{6})", html.replace(styles, ""))) - {paper["light"]}
    dark = set(re.findall(r"(?<![-\w])color: (#\w{6})", styles)) - {paper["dark"]}

    assert (len(light), len(dark)) == (3, 3)
    for scheme, colours in (("light", light), ("dark", dark)):
        for colour in colours:
            less, more = sorted((luminance(colour), luminance(paper[scheme])))
            assert (more + 0.05) / (less + 0.05) >= 4.5, (scheme, colour)


def test_every_colour_of_light_has_one_of_dark() -> None:
    html = mail(replace(TODAY, entries=(*TODAY.entries, *HOSTILE_DIGEST.entries))).html
    assert 'content="light dark"' in html
    assert "@media (prefers-color-scheme: dark)" in Reader(html).styles
    coloured = {
        attributes.get("class") or tag
        for tag, attributes in Reader(html).elements
        if "color:" in (attributes.get("style") or "")
    }
    ours = {"paper", "hidden", "head", "card", "foot", "td", "index", "number", "soft", "soft rule", "soft links", "fact"}
    assert coloured <= {*ours, "title", "warning", "a", "tr", "html"}


def test_the_document_tells_of_every_property_that_is_used() -> None:
    root = Path(__file__).parents[4]
    told = set(re.findall(r"`([-a-z]+)`", (root / "docs" / "email.md").read_text(encoding="utf-8")))
    styles = "".join(
        (root / "adapters/email/render" / name).read_text(encoding="utf-8") for name in ("mail.css", "dark.css")
    )
    used = set(re.findall(r"[{;]\s*([-a-z]+):", styles))

    assert len(used) > 20
    assert {each for each in used if each not in told and each not in {"border-top", "border-color"}} == set()


# --- hostile text


def check_hostile(seeds: range) -> None:
    flags = [replace(each.ranked.item, withdrawn=True, archived=True, fork=True) for each in GPU.entries]
    warned = [replace(each, ranked=replace(each.ranked, item=item)) for each, item in zip(GPU.entries, flags, strict=True)]
    for seed in seeds:
        random = Random(seed)
        layout, late = random.choice([*Layout]), random.random() < 0.5
        like = mail(replace(TODAY, entries=(*TODAY.entries, *warned), news="x"), layout, late=True)
        made = mail(hostile(random, 10), layout, late=late)
        assert wrong(made, like) == [], seed


def test_whatever_strangers_write_nothing_of_it_is_live() -> None:
    check_hostile(range(30))


@pytest.mark.long
def test_twenty_thousand_hostile_titles_and_abstracts_stay_text() -> None:
    # Ten each; a thousand where every law is tried with half of its examples.
    check_hostile(range(1_000, 3_000 if settings.get_current_profile_name() == "full" else 1_100))


@settings(max_examples=tries(50), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_makes_a_whole_mail(text: str) -> None:
    entry = GPU.entries[0]
    parts = tuple(replace(part, text=text) for part in entry.card)
    item = replace(entry.ranked.item, title=text, authors=(text,), org=text)
    hurt = replace(entry, ranked=replace(entry.ranked, item=item), gist=text, card=parts, why_here=text)
    made = mail(replace(GPU, topic=text, title=text, entries=(hurt,)))

    assert wrong(made, mail(GPU)) == []
