"""Two processes that collect the same papers into one database: nothing of what either brings is lost."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bot.collect.collector import Collector
from bot.models import Batch, Item
from bot.sources.registry import AUTHORITY
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import two
from tests.conftest import NOW
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper, repo

_PAPERS, _BATCH = 48, 4


def brought_by(name: str) -> list[Item]:
    """The same papers whoever brings them: each source names itself, and tells something that no other does."""
    told: dict[str, object] = {"sources": (name,), "aliases": (), "upvotes": 42 if name == "huggingface" else None}
    papers = [replace(paper(f"2603.{number:05}"), **told) for number in range(_PAPERS)]  # type: ignore[arg-type]
    if name == "feed:journal":
        return [replace(each, aliases=(f"doi:10.1/{each.key}",)) for each in papers]
    if name == "github":
        return [repo(f"lab/code{at}", paper=each.key) for at, each in enumerate(papers)]
    return papers


def batches_of(name: str, seed: int) -> list[Batch]:
    """Return what the source brings, in an order of its own."""
    items = brought_by(name)
    random.Random(seed).shuffle(items)
    return [Batch(items=tuple(items[at : at + _BATCH]), watermark=f"{name} {at}") for at in range(0, len(items), _BATCH)]


NAMES = ("arxiv", "huggingface", "feed:journal", "github")


async def expect_all_told(store: PostgresStore) -> None:
    """Fail where a paper lacks what one of the sources told of it."""
    found = await store.items.find([f"doi:10.1/arxiv:2603.{number:05}" for number in range(_PAPERS)])
    assert len(found) == _PAPERS
    for item in found.values():
        assert set(item.sources) == {"arxiv", "huggingface", "feed:journal"}
        assert item.upvotes == 42
    names = [f"github:lab/code{at}" for at in range(_PAPERS)]
    known = await store.items.find(names)
    codes = {name: known[name] for name in names}
    assert [code.paper for code in codes.values()] == [f"arxiv:2603.{number:05}" for number in range(_PAPERS)]
    assert {item.repo for item in found.values()} <= {"", *codes}
    assert (await store.items.counts())["items"] == 2 * _PAPERS
    assert await store.maintenance.check() == []


@pytest.mark.parametrize("seed", range(2))
async def test_no_source_no_upvote_no_alias_and_no_repository_is_lost(postgres: str, tmp_path: Path, seed: int) -> None:
    async with two(postgres, tmp_path) as stores:
        collectors = [Collector(store, AUTHORITY) for store in stores]
        sources = [Scripted(name, *batches_of(name, seed * 10 + at)) for at, name in enumerate(NAMES)]
        results = await asyncio.gather(collectors[0].collect(sources[:2], NOW), collectors[1].collect(sources[2:], NOW))
        assert all(each.error is None for some in results for each in some)
        await expect_all_told(stores[0])
        for name in NAMES:
            assert (await stores[1].source_states.get(name)).watermark == f"{name} {_PAPERS - _BATCH}"


@pytest.mark.parametrize("seed", range(2))
async def test_nor_where_processes_are_killed_in_the_middle_and_begin_again(
    postgres: str, tmp_path: Path, seed: int
) -> None:
    """A process that is killed in the middle of anything leaves whole transactions; the next one reads it all again."""
    chance = random.Random(seed)
    async with two(postgres, tmp_path) as stores:

        async def collect(at: int) -> None:
            name = NAMES[at]
            for _ in range(3):
                source = Scripted(name, *batches_of(name, chance.randrange(99)))
                round_ = asyncio.ensure_future(Collector(stores[at % 2], AUTHORITY).collect([source], NOW, force=True))
                await asyncio.wait([round_], timeout=chance.uniform(0.0, 0.2))
                round_.cancel()
                await asyncio.gather(round_, return_exceptions=True)
            source = Scripted(name, *batches_of(name, chance.randrange(99)))
            await Collector(stores[at % 2], AUTHORITY).collect([source], NOW, force=True)

        await asyncio.gather(*map(collect, range(len(NAMES))))
        await expect_all_told(stores[0])


async def test_many_processes_that_bring_the_same_papers_at_once_all_get_their_turn(postgres: str, tmp_path: Path) -> None:
    """Each of them folds anew until what it read is still so: none may be beaten to it too often."""
    async with two(postgres, tmp_path) as stores:
        names = [f"feed:{at}" for at in range(10)]
        batch = Batch(items=tuple(paper(f"2603.{number:05}") for number in range(_BATCH)))

        async def collect(at: int) -> None:
            told = Batch(items=tuple(replace(item, sources=(names[at],)) for item in batch.items))
            await Collector(stores[at % 2], AUTHORITY).collect([Scripted(names[at], told, told, told)], NOW)

        await asyncio.gather(*map(collect, range(len(names))))
        for item in (await stores[0].items.find([item.key for item in batch.items])).values():
            assert set(item.sources) == set(names)
