"""What was posted as Atom and JSON Feed: whole, the same, and harmless whatever strangers wrote."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.feeds.atom import atom
from adapters.web.feeds.entries import MOST, Feed, FeedEntry, saved_entries, topic_entries
from adapters.web.feeds.json_feed import json_feed
from adapters.web.feeds.opml import opml
from adapters.words import brief_title, coverage_line, first_link, title, told_parts
from bot.handlers.feeds.contents import SavedEntry
from bot.handlers.links import LinkSigner
from bot.models import ArchivedDigest, Digest, ReplyEntry
from bot.sources.feeds.child import read_feed
from tests.adapters import golden
from tests.adapters.web.feeds.reading import read, text_of, wrong_atom, wrong_html
from tests.conftest import NOW, tries
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.hostile import hostile

GOLDEN = Path(__file__).parent / "golden"
IDENTIFY = LinkSigner(bytes(32)).identifier
HOUR = timedelta(hours=1)


def posted(*digests: Digest) -> list[ArchivedDigest]:
    """Digests as the archive gives them: the newest first, an hour after one another."""
    return [
        ArchivedDigest(mark=str(number), digest=each, saved_at=NOW - number * HOUR, channels=("C1",), links=("",))
        for number, each in enumerate(digests)
    ]


def feed(entries: Sequence[FeedEntry], about: str = "GPU systems") -> Feed:
    address = "https://papers.lab.example/feeds/0123456789abcdef0123456789abcdef/topics/gpu-systems.atom"
    updated = max((each.at for each in entries), default=NOW)
    return Feed(id=IDENTIFY("feed"), title=about, about=about, address=address, updated=updated, entries=tuple(entries))


def made(*digests: Digest) -> Feed:
    return feed(topic_entries(posted(*digests), ("w", "gpu-systems"), IDENTIFY))


def test_the_feeds_look_as_they_did() -> None:
    golden.check(GOLDEN / "gpu-systems.atom", atom(made(GPU, EMPTY)).decode() + "\n")
    golden.check(GOLDEN / "gpu-systems.json", json_feed(made(GPU, EMPTY)).decode() + "\n")
    told = [("GPU systems", "https://a.example/x.atom"), ('<"&', "https://a.example/?a=1&b")]
    golden.check(GOLDEN / "feeds.opml", opml("Broadsheet", told).decode() + "\n")


@pytest.mark.parametrize("digests", [(), (GPU,), (EMPTY,), (GPU, EMPTY, HOSTILE), (hostile(Random(7), 50),) * 2])
def test_atom_is_as_its_grammar_asks(digests: tuple[Digest, ...]) -> None:
    days = [replace(each, day=each.day - timedelta(days=number)) for number, each in enumerate(digests)]
    assert wrong_atom(atom(made(*days))) == []


def test_what_is_wrong_with_a_feed_is_seen() -> None:
    good = atom(made(GPU))
    for before, after in (
        (b"<title>", b"<title><b>x</b>"),
        (b"+00:00</updated>" if b"+00:00" in good else b"Z</updated>", b"</updated>"),
        (b"&lt;p&gt;", b"&lt;script&gt;"),
        (b"&lt;a href=", b"&lt;a onclick="),
        (b"https://arxiv.org/abs", b"javascript:x"),
        (b"urn:uuid:", b"urn:"),
        (b'type="html"', b'type="htm"'),
    ):
        assert before in good
        assert wrong_atom(good.replace(before, after)) != [], before


def test_a_program_reads_the_entries_as_they_were_posted() -> None:
    later = replace(GPU, day=GPU.day + timedelta(days=1), entries=GPU.entries[:2])
    shown = read(atom(made(later, GPU)))
    wanted = [(number, entry) for digest in (later, GPU) for number, entry in enumerate(digest.entries, start=1)]

    assert [each.number for each in shown] == [number for number, _ in wanted]
    for one, (_, entry) in zip(shown, wanted, strict=True):
        item, text = entry.ranked.item, text_of(one.html)
        assert (one.title, one.link) == (title(item), first_link(item))
        assert [told for _, told in told_parts(entry) if told not in text] == []
        assert entry.gist in text
    assert sorted(shown, key=lambda each: each.at, reverse=True) == shown, "also where a program sorts them by time"
    covered = [
        coverage_line(digest) in text_of(one.html) for one, digest in zip(shown, [later] * 2 + [GPU] * 3, strict=True)
    ]
    assert covered == [False, True, False, False, True], "a digest's last entry ends as the digest does"


def test_a_digest_without_entries_says_why() -> None:
    (one,) = read(atom(made(EMPTY)))
    assert (one.number, one.title, one.link) == (0, "Databases, Wednesday 1 April 2026", "")
    assert "0 of 412: nothing came close to the topic today." in text_of(one.html)


def test_both_forms_say_the_same() -> None:
    both = made(GPU, EMPTY)
    as_json = json.loads(json_feed(both))
    shown = [(each["id"], each["title"], each.get("url", ""), each["content_html"]) for each in as_json["items"]]
    assert shown == [(each.id, each.title, each.link, each.html) for each in read(atom(both))]
    assert {type(each["id"]) for each in as_json["items"]} == {str}
    for document, media_type in ((atom(both), "application/atom+xml"), (json_feed(both), "application/feed+json")):
        found = read_feed(document, "https://papers.lab.example/x", media_type)
        assert [(each["id"], each["title"]) for each in found["entries"]] == [one[:2] for one in shown], "as we read feeds"
        assert found["skipped"] == 0


def test_a_feed_has_the_newest_fifty_entries() -> None:
    many = [replace(GPU, day=GPU.day - timedelta(days=number)) for number in range(30)]
    entries = made(*many).entries
    assert len(entries) == MOST
    assert [each.id for each in entries] == [each.id for each in made(*many[:17]).entries[:MOST]]


def test_an_entry_keeps_its_identifier_whatever_else_changes() -> None:
    before, again = made(GPU, EMPTY), made(GPU, EMPTY)
    assert before == again
    afresh = topic_entries(posted(EMPTY, GPU), ("w", "gpu-systems"), LinkSigner(bytes(32), "https://new.example").identifier)
    assert {each.id for each in afresh} == {each.id for each in before.entries}, (
        "after a restart, elsewhere, in another order"
    )
    edited = replace(GPU, title="GPUs", entries=tuple(replace(each, gist="Other.") for each in GPU.entries))
    assert [each.id for each in made(edited).entries] == [each.id for each in made(GPU).entries]


def test_no_two_entries_have_one_identifier() -> None:
    of = [("w", "kv"), ("w", "gpu"), ("w2", "kv"), ("w", "k", "v")]
    days = [GPU, replace(GPU, day=GPU.day + timedelta(days=1)), EMPTY, replace(EMPTY, day=EMPTY.day + timedelta(days=1))]
    ids = [each.id for one in of for digest in days for each in topic_entries(posted(digest), one, IDENTIFY)]
    assert len(ids) == len({*ids}) == 4 * (3 + 3 + 1 + 1)
    assert LinkSigner(b"k" * 32).identifier("w") != IDENTIFY("w"), "nor do two databases"


def saved(*shown: ReplyEntry) -> Feed:
    held = [SavedEntry(each.title or f"k{number}", NOW - number * HOUR, each) for number, each in enumerate(shown)]
    return feed(saved_entries(held, ("w", "person", "ada"), IDENTIFY), "What you saved")


def test_a_list_is_a_feed_too() -> None:
    item = GPU.entries[0].ranked.item
    gone = ReplyEntry(title="doi:10.1/x", lines=("It is not kept here any more.", "https://doi.org/10.1/x"))
    lines = ("2 saved, the last on Wednesday 1 April",)
    both = saved(ReplyEntry(item, gist="Kernels evolve.", lines=lines, post="https://chat.example/1"), gone)
    assert wrong_atom(atom(both)) == []
    first, second = read(atom(both))
    assert (first.title, first.link, second.title, second.link) == (
        title(item),
        first_link(item),
        "doi:10.1/x",
        "https://doi.org/10.1/x",
    )
    for part in ("Du, Ge, Hu +3 · InternLM · 30 March", "Kernels evolve.", *lines, "See the post"):
        assert part in text_of(first.html)
    assert 'href="https://chat.example/1"' in first.html


# --- hostile text


def check_hostile(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        digest = hostile(random, 10)
        shown = [
            ReplyEntry(each.ranked.item, gist=each.gist, lines=(each.why_here,), post=each.gist) for each in digest.entries
        ]
        for one in (made(digest), saved(*shown)):
            one = replace(one, title=title(digest.entries[0].ranked.item), about=brief_title(digest.entries[1].ranked.item))
            assert wrong_atom(atom(one)) == [], seed
            told: dict[str, Any] = json.loads(json_feed(one))
            assert [piece for each in told["items"] for piece in wrong_html(each["content_html"])] == [], seed
            assert [each.title for each in read(atom(one))] == [each["title"] for each in told["items"]], seed


def test_whatever_strangers_write_nothing_of_it_is_live() -> None:
    check_hostile(range(20))


@pytest.mark.long
def test_twenty_thousand_hostile_titles_and_abstracts_stay_text() -> None:
    # Twenty each; two thousand where every law is tried with half of its examples.
    check_hostile(range(1_000, 2_000 if settings.get_current_profile_name() == "full" else 1_100))


@settings(max_examples=tries(100), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_makes_a_whole_feed(text: str) -> None:
    entry = GPU.entries[0]
    item = replace(entry.ranked.item, title=text, key=text, authors=(text,), org=text, categories=(text,))
    parts = tuple(replace(part, text=text) for part in entry.card)
    hurt = replace(entry, ranked=replace(entry.ranked, item=item), gist=text, card=parts, why_here=text)
    one = made(replace(GPU, topic=text, title=text, entries=(hurt,)))
    assert wrong_atom(atom(one)) == []
    json.loads(json_feed(one))
