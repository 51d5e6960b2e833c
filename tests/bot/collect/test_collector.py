import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.collect.collector import TRIES, Collector
from bot.errors import SourceChanged, SourceUnavailable, StoreError
from bot.models import Batch, Health, Hit, Item, Page, Release
from bot.ports.facts import COLLECTED, number_of_fact
from bot.sources.registry import AUTHORITY
from bot.store.sqlite.store import SqliteStore
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper, post, repo
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


async def test_what_sources_bring_is_stored_and_the_watermark_moves(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", Batch(items=(paper("2603.00001"),), watermark="one"), Batch(items=(paper("2603.00002"),)))

    (result,) = await Collector(store, AUTHORITY).collect([source], now)

    assert (result.read, result.fresh, result.state.health) == (2, 2, Health.OK)
    assert (await store.source_states.get("arxiv")).watermark == "one"
    assert set(await store.items.find(["arxiv:2603.00001", "arxiv:2603.00002"])) == {"arxiv:2603.00001", "arxiv:2603.00002"}


async def test_when_a_collection_ends_well_or_not_the_last_arrival_is_noted(store: MemoryStore, now: datetime) -> None:
    collector = Collector(store, AUTHORITY)
    failing = Scripted("arxiv", Batch(items=(paper("2603.00001"),)), SourceUnavailable("429 Rate exceeded"))
    await collector.collect([failing], now)
    assert await number_of_fact(store.facts, COLLECTED) == await store.items.last_arrival() == 1
    await collector.collect([Scripted("github", Batch(items=(repo(),)))], now)
    assert await number_of_fact(store.facts, COLLECTED) == await store.items.last_arrival() == 2


async def test_what_a_collection_notes_late_takes_back_nothing_that_another_process_noted(
    store: MemoryStore, now: datetime
) -> None:
    beside = [Scripted("github", Batch(items=(repo(),)))]

    async def noted_late(name: str, value: str) -> None:
        while beside:  # another collection ends in between
            await Collector(store, AUTHORITY).collect([beside.pop()], now)
        await facts.set(name, value)

    facts = store.facts
    late: Any = instead(facts, set=noted_late)
    await Collector(instead(store, facts=late), AUTHORITY).collect(
        [Scripted("arxiv", Batch(items=(paper("2603.00001"),)))], now
    )
    assert await number_of_fact(facts, COLLECTED) == await store.items.last_arrival() == 2


async def test_a_release_of_a_stored_repository_is_noted_once_though_nothing_arrives(
    store: MemoryStore, now: datetime
) -> None:
    async def read(*tags: str) -> int:
        """Let collections read these releases at the same time; return how many arrivals were given, and noted."""
        before = await store.items.last_arrival()
        releases = [Release(tag=tag, published=now) for tag in tags]
        batches = [Batch(items=(repo(release=each, releases_read=now),)) for each in releases]
        await asyncio.gather(*(Collector(store, AUTHORITY).collect([Scripted("github", each)], now) for each in batches))
        after = await store.items.last_arrival()
        assert await number_of_fact(store.facts, COLLECTED) == after
        return after - before

    assert await read("v1.0") == 1, "its own"
    assert [await read(tag) for tag in ("v1.0", "v2.0", "v2", "v2.0.1", "v2.1rc1")] == [0, 1, 0, 0, 0]
    assert await read("v2.1", "v2.1") == 1, "whoever reads it beside"
    assert len(await store.items.arrived(0)) == 1


async def test_a_source_that_fails_never_stops_the_others_and_keeps_what_it_brought(
    store: MemoryStore, now: datetime
) -> None:
    failing = Scripted("arxiv", Batch(items=(paper(),), watermark="half"), SourceUnavailable("429 Rate exceeded"))
    changed = Scripted("huggingface", SourceChanged("no list of papers"))
    fine = Scripted("github", Batch(items=(repo(),)))

    results = await Collector(store, AUTHORITY).collect([failing, changed, fine], now)

    assert [result.state.health for result in results] == [Health.DOWN, Health.CHANGED, Health.OK]
    assert results[0].state.watermark == "half"
    assert results[0].state.note == "429 Rate exceeded"
    assert set(await store.items.find([paper().key, repo().key])) == {paper().key, repo().key}


async def test_what_nobody_foresaw_is_logged_and_takes_only_its_own_source_down(
    store: MemoryStore, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Scripted("arxiv", ZeroDivisionError("oh"))
    with caplog.at_level(logging.ERROR):
        broken_result, fine = await Collector(store, AUTHORITY).collect(
            [broken, Scripted("github", Batch(items=(repo(),)))], now
        )

    assert broken_result.state.health is Health.CHANGED
    assert "ZeroDivisionError" in broken_result.state.note
    assert fine.state.health is Health.OK
    assert "ZeroDivisionError: oh" in caplog.text


async def test_a_store_that_fails_ends_the_round(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", StoreError("The disk is full."))

    with pytest.raises(StoreError):
        await Collector(store, AUTHORITY).collect([source], now)


async def test_a_source_rests_as_long_as_it_asked_and_longer_with_every_failure(store: MemoryStore, now: datetime) -> None:
    asked = Scripted("arxiv", SourceUnavailable("429", retry_after=timedelta(minutes=42)))
    silent = Scripted("github", SourceUnavailable("down"))

    first = await Collector(store, AUTHORITY).collect([asked, silent], now)
    assert [result.state.rest_until for result in first] == [now + timedelta(minutes=42), now + timedelta(minutes=5)]

    again = await Collector(store, AUTHORITY).collect([asked, silent], now + timedelta(minutes=6))
    assert [result.asked for result in again] == [False, True]
    assert again[1].state.rest_until == now + timedelta(minutes=16)
    assert again[1].state.failures == 2

    (forced,) = await Collector(store, AUTHORITY).collect([asked], now + timedelta(minutes=7), force=True)
    assert forced.asked


async def test_a_clock_that_ran_ahead_keeps_no_source_resting_and_no_note_standing(
    store: MemoryStore, now: datetime
) -> None:
    failing = Scripted("arxiv", SourceUnavailable("down"))
    noted = Scripted("github", Batch(items=(repo(),), partial=True, notes=("cut off",)))
    await Collector(store, AUTHORITY).collect([failing, noted], now + timedelta(days=300))
    failing.steps = noted.steps = []

    results = await Collector(store, AUTHORITY).collect([failing, noted], now)

    assert [result.asked for result in results] == [True, True]
    assert results[1].state.note == ""


async def test_an_answer_clears_the_failures(store: MemoryStore, now: datetime) -> None:
    source = Scripted("arxiv", SourceUnavailable("down"))
    await Collector(store, AUTHORITY).collect([source], now)
    source.steps = [Batch(notes=("arXiv announces nothing on Sundays",))]

    (result,) = await Collector(store, AUTHORITY).collect([source], now + timedelta(hours=1))

    assert (result.state.health, result.state.failures, result.state.rest_until) == (Health.QUIET, 0, None)
    assert result.state.note == "arXiv announces nothing on Sundays"


async def test_what_is_missing_of_a_day_makes_it_partial(store: MemoryStore, now: datetime) -> None:
    cut_off = Scripted("github", Batch(items=(repo(),), partial=True, notes=("GitHub's search timed out",)))
    unread = Scripted("arxiv", Batch(items=(paper(),), skipped=1))

    results = await Collector(store, AUTHORITY).collect([cut_off, unread], now)

    assert [result.state.health for result in results] == [Health.PARTIAL, Health.PARTIAL]
    assert results[1].state.note == "1 entry could not be read"


async def test_what_a_days_collection_said_stands_while_later_ones_bring_nothing(store: MemoryStore, now: datetime) -> None:
    source = Scripted("github", Batch(items=(repo(),), partial=True, notes=("GitHub's search timed out",)))
    await Collector(store, AUTHORITY).collect([source], now)
    source.steps = [Batch(notes=("nothing has changed",))]

    (later,) = await Collector(store, AUTHORITY).collect([source], now + timedelta(hours=1))
    (tomorrow,) = await Collector(store, AUTHORITY).collect([source], now + timedelta(hours=24))

    assert (later.state.health, later.state.note, later.state.items) == (Health.PARTIAL, "GitHub's search timed out", 1)
    assert later.state.answered == now + timedelta(hours=1)
    assert (tomorrow.state.health, tomorrow.state.note) == (Health.QUIET, "nothing has changed")


async def test_one_paper_brought_by_two_sources_at_once_is_one_item(store: MemoryStore, now: datetime) -> None:
    sources = [
        Scripted(name, Batch(items=(paper(sources=(name,), upvotes=upvotes),)))
        for name, upvotes in (("arxiv", None), ("huggingface", 8))
    ]

    await Collector(store, AUTHORITY).collect(sources, now)

    (item,) = (await store.items.find([paper().key])).values()
    assert set(item.sources) == {"arxiv", "huggingface"}
    assert item.upvotes == 8


async def test_a_feeds_entry_with_the_title_and_author_of_a_stored_paper_joins_it(store: MemoryStore, now: datetime) -> None:
    known = paper(title="A Long and Quite Particular Title")
    entry = post(title="A long and quite particular title", authors=("Alan Turing",))
    await Collector(store, AUTHORITY).collect([Scripted("arxiv", Batch(items=(known,)))], now)

    await Collector(store, AUTHORITY).collect([Scripted("feed:lab", Batch(items=(entry,)))], now)

    found = await store.items.find([known.key, entry.key])
    assert found[known.key] == found[entry.key]
    assert found[known.key].sources == ("arxiv", "feed:lab")


# --- two processes at once


async def test_what_another_process_stores_while_ours_is_folded_in_is_kept(store: MemoryStore, now: datetime) -> None:
    ours = replace(paper(), sources=("arxiv",))
    theirs = replace(paper(), sources=("huggingface",), upvotes=42)
    find, other = store.items.find, Collector(store, AUTHORITY)

    async def overtaken(keys: Collection[str]) -> Mapping[str, Item]:
        found = await find(keys)
        store.items = plain
        await other.collect([Scripted("huggingface", Batch(items=(theirs,)))], now)
        return found

    plain, store.items = store.items, instead(store.items, find=overtaken)
    (result,) = await Collector(store, AUTHORITY).collect([Scripted("arxiv", Batch(items=(ours,)))], now)

    (stored,) = (await store.items.find([ours.key])).values()
    assert (set(stored.sources), stored.upvotes) == ({"arxiv", "huggingface"}, 42)
    assert result.fresh == 0, "it was new to the other one"


def behind(store: MemoryStore, *found: Item) -> MemoryStore:
    """Return the store with a search index that has not followed it: all that it finds are these."""

    async def search(*_: object, **__: object) -> Page:
        return Page(tuple(Hit(item, 1.0) for item in found), more=False)

    index: Any = instead(store.index, search=search)
    return instead(store, index=index)


async def test_an_entry_that_has_joined_a_paper_is_that_paper_when_the_feed_is_read_again(
    store: MemoryStore, now: datetime
) -> None:
    known = paper(title="A Long and Quite Particular Title")
    entry = post(title="A long and quite particular title", authors=("Alan Turing",))
    collector = Collector(store, AUTHORITY)
    await collector.collect([Scripted("arxiv", Batch(items=(known,)))], now)

    for _ in range(2):
        (collected,) = await collector.collect([Scripted("feed:lab", Batch(items=(entry,)))], now)
        assert (collected.error, collected.fresh) == (None, 0)

    assert [item.key for _, item in await store.items.arrived(0)] == [known.key]


async def test_a_feeds_twin_that_the_search_index_does_not_have_yet_is_found(store: MemoryStore, now: datetime) -> None:
    known = paper(title="A long enough title of a paper", authors=("Ada Lovelace",))
    await store.items.add([known], now)
    entry = post(title=known.title, authors=("A. Lovelace",))

    await Collector(behind(store), AUTHORITY).collect([Scripted("feed:lab", Batch(items=(entry,)))], now)

    found = await store.items.find([known.key, entry.key])
    assert found[known.key] == found[entry.key]
    assert found[known.key].sources == ("arxiv", "feed:lab")


async def test_a_twin_that_the_search_index_has_as_it_was_is_taken_as_it_is(store: MemoryStore, now: datetime) -> None:
    was = paper(title="A long enough title of a paper", authors=("Ada Lovelace",), seen=now)
    gone = replace(was, key="arxiv:2603.00099")
    await store.items.add([replace(was, upvotes=42)], now)
    await store.items.add([repo(f"lab/{number}") for number in range(1000)], now)
    entry = post(title=was.title, authors=("A. Lovelace",))

    await Collector(behind(store, gone, was), AUTHORITY).collect([Scripted("feed:lab", Batch(items=(entry,)))], now)

    stored = (await store.items.find([entry.key]))[entry.key]
    assert (stored.key, stored.upvotes, stored.sources) == (was.key, 42, ("arxiv", "feed:lab"))


async def test_who_is_overtaken_again_and_again_gives_up_and_has_stored_nothing(store: MemoryStore, now: datetime) -> None:
    asked = 0

    async def never(*_: object, **__: object) -> bool:
        nonlocal asked
        asked += 1
        return False

    store.items = instead(store.items, add=never)
    with pytest.raises(StoreError, match="Other processes keep changing the same items"):
        await Collector(store, AUTHORITY).collect([Scripted("arxiv", Batch(items=(paper(),), watermark="one"))], now)

    assert asked == TRIES
    assert (await store.source_states.get("arxiv")).watermark == ""


_ONE_OF_TWO = """
import asyncio, sys, time
from pathlib import Path
from bot.collect.collector import Collector
from bot.sources.registry import AUTHORITY
from bot.store.sqlite.store import SqliteStore
from tests.bot.collect.test_collector import batches_of
from tests.conftest import NOW
from tests.fakes.forked import ROOT
from tests.fakes.patience import PATIENCE
from tests.fakes.scripted import Scripted

async def run(folder, name):
    store = SqliteStore(folder / "b.sqlite3")
    await store.open()
    (folder / f"{name} is ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.001)
    await Collector(store, AUTHORITY).collect([Scripted(name, *batches_of(name))], NOW)
    await store.close()

asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
"""
_BATCHES, _PAPERS = 60, 4


def batches_of(name: str) -> list[Batch]:
    """The same papers whoever brings them, in batches; from Hugging Face with 42 upvotes."""
    told = {"sources": (name,), "upvotes": 42 if name == "huggingface" else None}
    numbers = range(_BATCHES * _PAPERS)
    papers = [replace(paper(f"2603.{number:05}"), **told) for number in numbers]  # type: ignore[arg-type]
    return [Batch(items=tuple(papers[at : at + _PAPERS])) for at in range(0, len(papers), _PAPERS)]


async def test_two_processes_on_one_database_lose_nothing_of_what_either_brings(tmp_path: Path) -> None:
    names = ("arxiv", "huggingface")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _ONE_OF_TWO, str(tmp_path), name, env=environ)
        for name in names
    ]
    try:
        async with asyncio.timeout(PATIENCE):
            while not all((tmp_path / f"{name} is ready").exists() for name in names):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.01)
            (tmp_path / "go").touch()
            assert [await each.wait() for each in started] == [0, 0]
    finally:
        for each in started:
            if each.returncode is None:
                each.kill()

    store = SqliteStore(tmp_path / "b.sqlite3")
    await store.open()
    found = await store.items.find([item.key for batch in batches_of("arxiv") for item in batch.items])
    await store.close()
    assert len(found) == _BATCHES * _PAPERS
    lost = [key for key, item in found.items() if set(item.sources) != set(names) or item.upvotes != 42]
    assert lost == []
