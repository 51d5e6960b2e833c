import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot import compose
from bot.errors import SourceChanged, SourceUnavailable, StoreError
from bot.models import Batch, Health, Interest, Item, Limits, Link, Order, Topic
from bot.pipeline import Collector
from bot.press import Publisher
from bot.query import parse
from bot.store.memory import MemoryStore
from bot.summarise.extractive import Extractive
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper, post, repo

TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), interests=(Interest("KV cache", 2.0),))
TITLES = {"arxiv": "arXiv", "github": "GitHub"}


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


def about(number: int, title: str, **given: object) -> Item:
    return paper(f"2603.{number:05}", title=title, abstract=f"{title}. We measure it on GPUs.", **given)


# --- collect


async def test_what_sources_bring_is_stored_and_the_watermark_moves(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", Batch(items=(paper("2603.00001"),), watermark="one"), Batch(items=(paper("2603.00002"),)))

    (result,) = await Collector(store).collect([source], now)

    assert (result.read, result.fresh, result.state.health) == (2, 2, Health.OK)
    assert (await store.source_state("arxiv")).watermark == "one"
    assert set(await store.find(["arxiv:2603.00001", "arxiv:2603.00002"])) == {"arxiv:2603.00001", "arxiv:2603.00002"}


async def test_a_source_that_fails_never_stops_the_others_and_keeps_what_it_brought(
    store: MemoryStore, now: datetime
) -> None:
    failing = Scripted("arxiv", Batch(items=(paper(),), watermark="half"), SourceUnavailable("429 Rate exceeded"))
    changed = Scripted("huggingface", SourceChanged("no list of papers"))
    fine = Scripted("github", Batch(items=(repo(),)))

    results = await Collector(store).collect([failing, changed, fine], now)

    assert [result.state.health for result in results] == [Health.DOWN, Health.CHANGED, Health.OK]
    assert results[0].state.watermark == "half"
    assert results[0].state.note == "429 Rate exceeded"
    assert set(await store.find([paper().key, repo().key])) == {paper().key, repo().key}


async def test_what_nobody_foresaw_is_logged_and_takes_only_its_own_source_down(
    store: MemoryStore, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Scripted("arxiv", ZeroDivisionError("oh"))
    with caplog.at_level(logging.ERROR):
        broken_result, fine = await Collector(store).collect([broken, Scripted("github", Batch(items=(repo(),)))], now)

    assert broken_result.state.health is Health.CHANGED
    assert "ZeroDivisionError" in broken_result.state.note
    assert fine.state.health is Health.OK
    assert "ZeroDivisionError: oh" in caplog.text


async def test_a_store_that_fails_ends_the_round(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", StoreError("The disk is full."))

    with pytest.raises(StoreError):
        await Collector(store).collect([source], now)


async def test_a_source_rests_as_long_as_it_asked_and_longer_with_every_failure(store: MemoryStore, now: datetime) -> None:
    asked = Scripted("arxiv", SourceUnavailable("429", retry_after=timedelta(minutes=42)))
    silent = Scripted("github", SourceUnavailable("down"))

    first = await Collector(store).collect([asked, silent], now)
    assert [result.state.rest_until for result in first] == [now + timedelta(minutes=42), now + timedelta(minutes=5)]

    again = await Collector(store).collect([asked, silent], now + timedelta(minutes=6))
    assert [result.asked for result in again] == [False, True]
    assert again[1].state.rest_until == now + timedelta(minutes=16)
    assert again[1].state.failures == 2

    (forced,) = await Collector(store).collect([asked], now + timedelta(minutes=7), force=True)
    assert forced.asked


async def test_a_clock_that_ran_ahead_keeps_no_source_resting_and_no_note_standing(
    store: MemoryStore, now: datetime
) -> None:
    failing = Scripted("arxiv", SourceUnavailable("down"))
    noted = Scripted("github", Batch(items=(repo(),), partial=True, notes=("cut off",)))
    await Collector(store).collect([failing, noted], now + timedelta(days=300))
    failing.steps = noted.steps = []

    results = await Collector(store).collect([failing, noted], now)

    assert [result.asked for result in results] == [True, True]
    assert results[1].state.note == ""


async def test_an_answer_clears_the_failures(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", SourceUnavailable("down"))
    await Collector(store).collect([source], now)
    source.steps = [Batch(notes=("arXiv announces nothing on Sundays",))]

    (result,) = await Collector(store).collect([source], now + timedelta(hours=1))

    assert (result.state.health, result.state.failures, result.state.rest_until) == (Health.QUIET, 0, None)
    assert result.state.note == "arXiv announces nothing on Sundays"


async def test_what_is_missing_of_a_day_makes_it_partial(store: MemoryStore, now: datetime) -> None:
    cut_off = Scripted("github", Batch(items=(repo(),), partial=True, notes=("GitHub's search timed out",)))
    unread = Scripted("arxiv", Batch(items=(paper(),), skipped=1))

    results = await Collector(store).collect([cut_off, unread], now)

    assert [result.state.health for result in results] == [Health.PARTIAL, Health.PARTIAL]
    assert results[1].state.note == "1 entry could not be read"


async def test_what_a_days_collection_said_stands_while_later_ones_bring_nothing(store: MemoryStore, now: datetime) -> None:
    source = Scripted("github", Batch(items=(repo(),), partial=True, notes=("GitHub's search timed out",)))
    await Collector(store).collect([source], now)
    source.steps = [Batch(notes=("nothing has changed",))]

    (later,) = await Collector(store).collect([source], now + timedelta(hours=1))
    (tomorrow,) = await Collector(store).collect([source], now + timedelta(hours=24))

    assert (later.state.health, later.state.note, later.state.items) == (Health.PARTIAL, "GitHub's search timed out", 1)
    assert later.state.answered == now + timedelta(hours=1)
    assert (tomorrow.state.health, tomorrow.state.note) == (Health.QUIET, "nothing has changed")


async def test_one_paper_brought_by_two_sources_at_once_is_one_item(store: MemoryStore, now: datetime) -> None:
    sources = [
        Scripted(name, Batch(items=(paper(sources=(name,), upvotes=upvotes),)))
        for name, upvotes in (("arxiv", None), ("huggingface", 8))
    ]

    await Collector(store).collect(sources, now)

    (item,) = (await store.find([paper().key])).values()
    assert set(item.sources) == {"arxiv", "huggingface"}
    assert item.upvotes == 8


async def test_a_feeds_entry_with_the_title_and_author_of_a_stored_paper_joins_it(store: MemoryStore, now: datetime) -> None:
    known = paper(title="A Long and Quite Particular Title")
    entry = post(title="A long and quite particular title", authors=("Alan Turing",))
    await Collector(store).collect([Scripted("arxiv", Batch(items=(known,)))], now)

    await Collector(store).collect([Scripted("feed:lab", Batch(items=(entry,)))], now)

    found = await store.find([known.key, entry.key])
    assert found[known.key] == found[entry.key]
    assert found[known.key].sources == ("arxiv", "feed:lab")


# --- publish


def order(**given: object) -> Order:
    return replace(Order(TOPIC, "local", "local"), **given)  # type: ignore[arg-type]


async def filled(store: MemoryStore, now: datetime, *items: Item) -> None:
    await Collector(store).collect([Scripted("arxiv", Batch(items=items))], now)


async def test_a_digest_holds_what_fits_the_topic_and_says_where_the_rest_went(store: MemoryStore, now: datetime) -> None:
    await filled(
        store,
        now,
        about(1, "Paging the KV cache"),
        about(2, "Cooking with gas"),
        about(3, "A cache for old times", appeared=now - timedelta(days=60)),
        about(4, "Withdrawn cache", withdrawn=True),
    )
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([order()], now)

    assert [entry.ranked.item.title for entry in digest.entries] == ["Paging the KV cache"]
    assert digest.entries[0].ranked.reasons
    assert dict(digest.coverage.dropped) == {compose.OLD: 1, compose.WITHDRAWN: 1, compose.QUERY: 1}
    assert digest.coverage.seen == digest.coverage.kept + sum(count for _, count in digest.coverage.dropped)
    assert [report.name for report in digest.coverage.sources] == ["arXiv", "GitHub"]


async def test_a_preview_changes_nothing_and_a_recorded_digest_is_not_repeated(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))
    publisher = Publisher(store, Extractive(), TITLES)

    preview = await publisher.publish([order()], now)
    recorded = await publisher.publish([order()], now, record=True)
    again = await publisher.publish([order(since_last=False)], now + timedelta(hours=1), record=True)
    next_day = await publisher.publish([order()], now + timedelta(days=1))

    assert [len(each[0].entries) for each in (preview, recorded, again, next_day)] == [1, 1, 0, 0]
    assert again[0].coverage.dropped == ((compose.POSTED, 1),)
    assert (next_day[0].coverage.seen, next_day[0].since) == (0, now + timedelta(hours=1))


async def test_an_item_is_shown_once_when_several_topics_want_it(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))
    other = replace(TOPIC, name="other", title="Other")

    first, second = await Publisher(store, Extractive(), TITLES).publish([order(), order(topic=other)], now)

    assert (len(first.entries), len(second.entries)) == (1, 0)
    assert second.coverage.dropped == ((compose.SHOWN, 1),)


async def test_another_channel_gets_its_own_copy(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))

    digests = await Publisher(store, Extractive(), TITLES).publish([order(), order(channel="two")], now, record=True)

    assert [len(digest.entries) for digest in digests] == [1, 1]


async def test_filter_score_and_cap_each_drop_with_their_reason(store: MemoryStore, now: datetime) -> None:
    papers = [about(n, f"{word} KV cache") for n, word in enumerate(("Paging", "Sharding", "Hashing", "Pruning"))]
    await filled(store, now, *papers, about(9, "Another cache"))
    picky = order(filter=parse("-sharding"), limits=Limits(entries=2))
    strict = order(topic=replace(TOPIC, min_score=1.0))

    first, second = await Publisher(store, Extractive(), TITLES).publish([picky, strict], now)
    await Publisher(store, Extractive(), TITLES).publish([strict], now)

    dropped = dict(first.coverage.dropped)
    assert dropped[compose.FILTER] == 1
    assert dropped[compose.CAP] + dropped.get(compose.TWIN, 0) == 2
    assert dict(second.coverage.dropped)[compose.SCORE] == 3


async def test_a_paper_and_its_repository_come_as_one_card(store: MemoryStore, now: datetime) -> None:
    code = Link("code", "https://github.com/lab/cache")
    await filled(store, now, about(1, "Paging the KV cache", links=(code,)), repo("lab/cache", abstract="KV cache paging"))

    (digest,) = await Publisher(store, Extractive(), TITLES).publish([order()], now)

    (entry,) = digest.entries
    assert {entry.ranked.item.key, entry.partner and entry.partner.key} == {"arxiv:2603.00001", "github:lab/cache"}
    assert digest.coverage.dropped == ((compose.JOINED, 1),)


async def test_nothing_collected_gives_an_empty_digest_that_says_so(store: MemoryStore, now: datetime) -> None:
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([order()], now)

    assert digest.entries == ()
    assert (digest.coverage.seen, digest.coverage.kept) == (0, 0)
    assert {report.health for report in digest.coverage.sources} == {Health.NEVER}


async def test_a_digest_of_a_clock_that_ran_ahead_hides_nothing(store: MemoryStore, now: datetime) -> None:
    publisher, order = Publisher(store, Extractive(), TITLES), Order(TOPIC, "local", "local")
    await publisher.publish([order], now + timedelta(days=300), record=True)
    await store.add([about(1, "KV cache")], now - timedelta(hours=1))

    (digest,) = await publisher.publish([order], now)

    assert digest.coverage.seen == 1
