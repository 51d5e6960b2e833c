"""A digest costs an assistant at most 1,500 tokens, and nothing of it is lost by that."""

from dataclasses import replace
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.mcp.digests import MOST_TOKENS, DigestTold, digest_told
from adapters.mcp.results import Told, as_text, tokens_of
from bot.digest import card
from bot.handlers.archive.posted import PostedDigest
from bot.models import ArchivedDigest, ArchivedTopic, Digest, Entry, Link, Ranked, Summary
from bot.summarise.extractive import Extractive
from tests.conftest import NOW
from tests.fakes.digests import GPU
from tests.fakes.edition import items
from tests.fakes.hostile import hostile


def kept(digest: Digest, *others: ArchivedTopic) -> PostedDigest:
    """The digest as the archive has it."""
    archived = ArchivedDigest(mark="m", digest=digest, saved_at=NOW, channels=("C1",), links=("https://slack.example/p1",))
    return PostedDigest(archived, 1, 1, others)


async def entries() -> list[Entry]:
    """The works of a real day, each with its card."""
    made: list[Entry] = []
    for number, each in enumerate(items()):
        item = replace(each, links=(Link("abstract", f"https://arxiv.org/abs/2606.{number:05}"),))
        summary: Summary = await Extractive().summarise(item, NOW)
        made.append(card.entry(Ranked(item, 0.5), summary))
    return made


@pytest.mark.parametrize("count", [1, 4, 7, 16])
async def test_a_real_digest_is_told_within_the_budget_and_each_entry_with_its_key_link_and_gist(count: int) -> None:
    digest = replace(GPU, entries=tuple((await entries())[:count]))
    told = digest_told(kept(digest))
    assert tokens_of(as_text(told)) <= MOST_TOKENS
    assert all(each.key and each.url and each.quoted.gist for each in told.entries)
    if count <= 7:
        assert len(told.entries) == count
        assert not told.more
        assert all(each.quoted.parts for each in told.entries)


async def test_every_quote_stands_where_it_is_said_to() -> None:
    made = await entries()
    for told, entry in zip(_through(kept(replace(GPU, entries=tuple(made)))), made, strict=True):
        for quote in (quote for part in told.quoted.parts for quote in part.quotes):
            name, _, place = quote.at.rstrip("]").partition("[")
            begin, end = map(int, place.split(":"))
            assert getattr(entry.ranked.item, name)[begin:end] == quote.text


def _through(posted: PostedDigest) -> list[Told]:
    """Every entry, as one gets them who calls again as each answer says."""
    found: list[Told] = []
    after = 0
    while True:
        told: DigestTold = digest_told(posted, after)
        found += told.entries
        if not told.more:
            return found
        (call,) = told.more
        assert call.arguments["after"] > after
        after = call.arguments["after"]


@given(st.integers(0, 10_000), st.integers(0, 14))
def test_whatever_strangers_wrote_every_entry_comes_once_in_its_order(seed: int, count: int) -> None:
    posted = kept(hostile(Random(seed), count))
    assert [each.number for each in _through(posted)] == [*range(1, count + 1)]
    as_text(digest_told(posted)).encode()


async def test_what_is_left_out_for_length_is_told() -> None:
    digest = replace(GPU, entries=tuple((await entries())[:7]))
    told = digest_told(kept(digest, ArchivedTopic("llm-agents", "LLM agents", 2, date(2026, 3, 31))))
    assert sum(each.more_parts for each in told.entries) > 0
    assert [(each.topic, each.last) for each in told.others] == [("llm-agents", "2026-03-31")]
    assert told.posted == "https://slack.example/p1"


async def test_a_digest_of_many_says_how_to_go_on() -> None:
    many = [*await entries(), *await entries(), *await entries()]
    told = digest_told(kept(replace(GPU, entries=tuple(many))))
    left = len(many) - len(told.entries)
    assert told.says == (f"{left} entries of {len(many)} are left for length: call digest again as in more.",)
    assert told.more[0].arguments == {"topic": "gpu-systems", "day": "2026-04-01", "after": len(told.entries)}


def test_an_empty_digest_says_why() -> None:
    told = digest_told(kept(replace(GPU, entries=())))
    assert told.entries == ()
    assert told.says[0].startswith("0 of ")


async def test_notes_without_end_leave_room_for_the_entries() -> None:
    notes = tuple(f"Feed {number} gave nothing since yesterday: it says that one should wait." for number in range(60))
    many = replace(GPU, entries=tuple((await entries())[:4]), coverage=replace(GPU.coverage, notes=notes))
    told = digest_told(kept(many))
    assert tokens_of(as_text(told)) <= MOST_TOKENS
    assert len(told.entries) == 4
    assert told.coverage.notes == (*notes[:5], "and 55 more")


def test_behind_the_last_entry_there_is_said_to_be_none() -> None:
    told = digest_told(kept(GPU), 50)
    assert told.says == (f"Nothing is behind entry 50: it has {len(GPU.entries)}.",)
