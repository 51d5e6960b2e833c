"""Items that a person names and nobody has collected."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from bot.collect.collector import Collector
from bot.collect.fetching import AN_HOUR, MISSING, PER_HOUR, ItemFetcher
from bot.errors import NetworkFault, SourceChanged, SourceError, SourceUnavailable, UsageError
from bot.models import Item
from bot.sources.registry import AUTHORITY
from tests.fakes.archive import Archive
from tests.fakes.works import paper, repo
from tests.stores.memory import MemoryStore

KEY = "arxiv:2603.00001"
PAPER = paper("2603.00001")


class Seconds:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def fetcher(store: MemoryStore, clock: Seconds, *archives: Archive, **spans: float) -> ItemFetcher:
    return ItemFetcher(store.items, Collector(store, AUTHORITY), archives, clock=clock, **{"seconds": 60.0, **spans})


async def test_what_is_fetched_is_stored_as_if_it_had_been_collected(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    code = repo("lab/one", paper=KEY, stars=7)
    picked = paper("2603.00001", sources=("huggingface",), upvotes=9)
    asked = fetcher(store, clock, Archive("arXiv", PAPER), Archive("Hugging Face", picked, code))

    item = await asked.fetch(KEY, "ada", now)

    assert item is not None
    assert (item.key, item.upvotes, set(item.sources), item.seen) == (KEY, 9, {"arxiv", "huggingface"}, now)
    assert (await store.items.find([code.key]))[code.key].stars == 7
    assert await store.items.last_arrival() == 2
    assert asked.sources_of(KEY) == ("arXiv", "Hugging Face")
    assert asked.sources_of("doi:10.1/x") == ()


async def test_a_stored_item_is_not_asked_for(store: MemoryStore, clock: Seconds, now: datetime) -> None:
    archive = Archive("arXiv", PAPER)
    await store.items.add([PAPER], now)
    assert await fetcher(store, clock, archive).fetch(KEY, "ada", now)
    assert archive.asked == []


async def test_what_nobody_knows_is_nothing_and_is_not_asked_for_again_for_some_minutes(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    archive = Archive("arXiv")
    asked = fetcher(store, clock, archive)
    for _ in range(3):
        assert await asked.fetch(KEY, "ada", now) is None
    assert len(archive.asked) == 1
    clock.now += MISSING
    archive.items = (PAPER,)
    assert await asked.fetch(KEY, "ada", now)


async def test_one_source_is_enough_and_the_first_one_decides_that_there_is_nothing(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    down = SourceUnavailable("https://export.arxiv.org answered 503")
    picked = paper("2603.00001", sources=("huggingface",))
    assert await fetcher(store, clock, Archive("arXiv", failure=down), Archive("HF", picked)).fetch(KEY, "ada", now)

    missing = "arxiv:2603.00002"
    assert await fetcher(store, clock, Archive("arXiv"), Archive("HF", failure=down)).fetch(missing, "ada", now) is None
    with pytest.raises(SourceUnavailable, match="arXiv does not answer as it should just now"):
        await fetcher(store, clock, Archive("arXiv", failure=down), Archive("HF")).fetch(missing, "ada", now)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (SourceUnavailable("x", fault=NetworkFault.NAME), "arXiv could not be reached: its name could not be resolved."),
        (SourceUnavailable("x", fault=NetworkFault.CONNECTION), "arXiv could not be reached: the connection failed."),
        (SourceUnavailable("x", fault=NetworkFault.TIMEOUT), "arXiv could not be reached: no answer came in time."),
        (
            SourceUnavailable("x", retry_after=timedelta(minutes=15)),
            "arXiv takes no more requests for now; ask again in 15 minutes.",
        ),
        (SourceChanged("x"), "arXiv answered in a way that Broadsheet does not understand; the log says how."),
        (SourceUnavailable("http://secret.example:8080 answered 500"), "arXiv does not answer as it should just now."),
    ],
)
async def test_a_failure_is_a_sentence_without_an_address_and_nothing_is_stored(
    store: MemoryStore, clock: Seconds, now: datetime, failure: SourceError, said: str
) -> None:
    archive = Archive("arXiv", PAPER, failure=failure)
    asked = fetcher(store, clock, archive)
    with pytest.raises(SourceError) as caught:
        await asked.fetch(KEY, "ada", now)
    assert str(caught.value) == said
    assert await store.items.last_arrival() == 0
    archive.failure = None
    clock.now += 15 * 60
    assert await asked.fetch(KEY, "ada", now), "the next try is a new one"


async def test_who_asked_to_be_left_alone_is(store: MemoryStore, clock: Seconds, now: datetime) -> None:
    archive = Archive("arXiv", PAPER, failure=SourceUnavailable("x", retry_after=timedelta(minutes=15)))
    asked = fetcher(store, clock, archive)
    for _ in range(3):
        with pytest.raises(SourceUnavailable, match="ask again in"):
            await asked.fetch(KEY, "ada", now)
        clock.now += 60
    assert len(archive.asked) == 1


async def test_who_does_not_answer_in_time_is_named_and_what_came_from_others_counts(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    silent = Archive("arXiv", PAPER)
    silent.let.clear()
    with pytest.raises(SourceUnavailable, match=r"^arXiv did not answer within 0.02 seconds\.$"):
        await fetcher(store, clock, silent, seconds=0.02).fetch(KEY, "ada", now)
    assert await fetcher(store, clock, silent, Archive("HF", PAPER), further=0.02).fetch(KEY, "ada", now)


async def test_a_person_has_one_thing_fetched_at_a_time_and_others_theirs(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    archive = Archive("arXiv", PAPER, paper("2603.00002"))
    archive.let.clear()
    asked = fetcher(store, clock, archive)
    first = asyncio.ensure_future(asked.fetch(KEY, "ada", now))
    await asyncio.sleep(0)
    with pytest.raises(UsageError, match="still being fetched"):
        await asked.fetch("arxiv:2603.00002", "ada", now)
    others = [asyncio.ensure_future(asked.fetch(KEY, who, now)) for who in ("bo", "cy")]
    await asyncio.sleep(0)
    archive.let.set()
    assert {item.key for item in await asyncio.gather(first, *others) if item} == {KEY}
    assert archive.asked == [KEY], "once for all three"
    assert await asked.fetch("arxiv:2603.00002", "ada", now)


async def test_who_goes_away_takes_nothing_from_who_waits_for_the_same(
    store: MemoryStore, clock: Seconds, now: datetime
) -> None:
    archive = Archive("arXiv", PAPER)
    archive.let.clear()
    asked = fetcher(store, clock, archive)
    gone, stays = (asyncio.ensure_future(asked.fetch(KEY, who, now)) for who in ("ada", "bo"))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    archive.let.set()
    assert await stays
    assert await asked.fetch(KEY, "ada", now), "and may ask again"


async def test_a_person_has_so_many_fetched_in_an_hour(store: MemoryStore, clock: Seconds, now: datetime) -> None:
    archive = Archive("arXiv")
    asked = fetcher(store, clock, archive)
    for number in range(PER_HOUR):
        await asked.fetch(f"arxiv:2603.{number:05}", "ada", now)
        clock.now += 1
    with pytest.raises(UsageError, match="within an hour") as caught:
        await asked.fetch("arxiv:2603.99999", "ada", now)
    assert "Ask for this one in" in caught.value.hint
    await asked.fetch("arxiv:2603.99999", "bo", now)
    clock.now += AN_HOUR
    await asked.fetch("arxiv:2603.99998", "ada", now)


async def test_what_is_under_way_is_given_up_at_the_end(store: MemoryStore, clock: Seconds, now: datetime) -> None:
    archive = Archive("arXiv", PAPER)
    archive.let.clear()
    asked = fetcher(store, clock, archive)
    waiting = asyncio.ensure_future(asked.fetch(KEY, "ada", now))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asked.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await store.items.last_arrival() == 0


async def test_another_item_than_the_one_asked_for_is_not_stored(store: MemoryStore, clock: Seconds, now: datetime) -> None:
    class Confused(Archive):
        async def look_up(self, key: str) -> Sequence[Item]:
            return self.items

    assert await fetcher(store, clock, Confused("arXiv", paper("2603.00009"))).fetch(KEY, "ada", now) is None
    assert await store.items.last_arrival() == 0
