"""Filters tried before they are set, and items that a search found scored for a topic."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.digest.publisher import Publisher
from bot.models import DigestRequest, Interest, Item, Topic
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.fakes.works import paper, repo
from tests.stores.memory import MemoryStore

WEEK = timedelta(days=7)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), interests=(Interest("KV cache", 2.0),))


def request(of_channel: str = "", of_topic: str = "", **given: object) -> DigestRequest:
    topic = replace(TOPIC, filter=parse(of_topic), **given)  # type: ignore[arg-type]
    return DigestRequest(topic, "local", "local", filter=parse(of_channel))


def about(number: int, title: str, **given: object) -> Item:
    return paper(f"2603.{number:05}", title=title, abstract=f"{title}. We measure it on GPUs.", **given)


@pytest.fixture
async def store(now: datetime) -> MemoryStore:
    store = MemoryStore()
    titles = ("The KV cache, paged", "A genome cache, paged", "A cache of maps", "Cooking with gas")
    await store.items.add([about(9, "A cache of last month")], now - 30 * timedelta(days=1))
    await store.items.add(
        [about(number, title, upvotes=number) for number, title in enumerate(titles)], now - timedelta(days=3)
    )
    return store


def publisher_of(store: MemoryStore) -> Publisher:
    return Publisher(store, Extractive(), {"arxiv": "arXiv"})


async def test_a_filter_is_tried_on_what_entered_the_topic_in_the_span(store: MemoryStore, now: datetime) -> None:
    tested = await publisher_of(store).try_filter(request("paged"), now - WEEK, now)

    assert (tested.seen, tested.entered, tested.passed) == (4, 3, 2)
    assert [(each.ranked.item.title, each.passes, each.clause) for each in tested.through] == [
        ("The KV cache, paged", True, 'title has "paged"'),
        ("A genome cache, paged", True, 'title has "paged"'),
    ]
    assert [(each.ranked.item.title, each.passes, each.clause) for each in tested.stopped] == [
        ("A cache of maps", False, 'no text has "paged"')
    ]


async def test_both_filters_hold_and_each_is_named(store: MemoryStore, now: datetime) -> None:
    tested = await publisher_of(store).try_filter(request("-genome", "paged"), now - WEEK, now)

    assert (tested.entered, tested.passed) == (3, 1)
    assert tested.through[0].clause == 'title has "paged"; no text has "genome"'
    assert {each.ranked.item.title: each.clause for each in tested.stopped} == {
        "A genome cache, paged": 'title has "genome" (this channel\'s filter)',
        "A cache of maps": 'no text has "paged" (the topic\'s filter)',
    }


async def test_the_best_of_either_side_are_shown_and_no_more_than_asked_for(store: MemoryStore, now: datetime) -> None:
    await store.items.add(
        [about(20 + number, f"Yet another cache, the {number}th", upvotes=number) for number in range(9)], now
    )
    tested = await publisher_of(store).try_filter(request("yet"), now - WEEK, now, shown=2)

    assert (tested.passed, tested.entered - tested.passed) == (9, 3)
    for shown in (tested.through, tested.stopped):
        scores = [each.ranked.score for each in shown]
        assert len(shown) == 2
        assert scores == sorted(scores, reverse=True)
    assert tested.through[0].ranked.item.key == "arxiv:2603.00028"


async def test_without_a_filter_everything_passes(store: MemoryStore, now: datetime) -> None:
    tested = await publisher_of(store).try_filter(request(), now - WEEK, now)
    assert (tested.entered, tested.passed, tested.stopped) == (3, 3, ())
    assert tested.through[0].clause == "everything is let in"


async def test_a_filter_may_ask_for_the_score(store: MemoryStore, now: datetime) -> None:
    tested = await publisher_of(store).try_filter(request("score:>0.3"), now - WEEK, now)
    assert 0 < tested.passed < tested.entered
    assert tested.through[-1].ranked.score > 0.3 >= tested.stopped[0].ranked.score


async def test_what_was_no_news_when_it_was_seen_is_not_counted_as_entered(store: MemoryStore, now: datetime) -> None:
    no_news = about(30, "A withdrawn cache", withdrawn=True), about(31, "An old cache", appeared=now - timedelta(days=90))
    await store.items.add([*no_news, repo("lab/cache", published=now - timedelta(days=900))], now)

    tested = await publisher_of(store).try_filter(request(), now - WEEK, now)

    assert (tested.seen, tested.entered) == (7, 4)


async def test_a_topic_that_leaves_sources_out_leaves_them_out_here(store: MemoryStore, now: datetime) -> None:
    await store.items.add([repo("lab/cache")], now)
    tested = await publisher_of(store).try_filter(request(sources=("github",)), now - WEEK, now)
    assert [each.ranked.item.key for each in tested.through] == ["github:lab/cache"]


async def test_a_filter_that_is_changed_and_tried_again_is_tried_anew(store: MemoryStore, now: datetime) -> None:
    publisher = publisher_of(store)
    await publisher.try_filter(request("paged"), now - WEEK, now)
    await store.items.add([about(40, "A cache, paged twice")], now)

    again = await publisher.try_filter(request("paged"), now - WEEK, now)
    other = await publisher.try_filter(request("-paged"), now - WEEK, now)

    assert (again.entered, again.passed, other.passed) == (4, 3, 1)


async def test_nothing_seen_is_an_answer(now: datetime) -> None:
    tested = await publisher_of(MemoryStore()).try_filter(request("paged"), now - WEEK, now)
    assert (tested.seen, tested.entered, tested.passed, tested.through, tested.stopped) == (0, 0, 0, (), ())


async def test_what_a_search_found_is_scored_as_its_digest_scores_it(store: MemoryStore, now: datetime) -> None:
    publisher = publisher_of(store)
    found = [about(3, "Cooking with gas"), about(2, "A cache of maps", upvotes=2), about(50, "A KV cache never stored")]

    scored = await publisher.score(request("-maps"), found, now)

    assert [each.item.key for each in scored] == ["arxiv:2603.00050", "arxiv:2603.00002"]
    assert scored[0].score > scored[1].score > 0
    assert await publisher.score(request(), [], now) == []


async def test_of_a_topic_that_lets_nearly_everything_in_all_are_counted(now: datetime) -> None:
    store = MemoryStore()
    many = [
        paper(f"2604.{number:05}", title=f"A cache {'of maps' if number % 700 else 'paged'}", abstract="")
        for number in range(2_100)
    ]
    await store.items.add(many, now - timedelta(days=1))

    tested = await publisher_of(store).try_filter(request("paged"), now - WEEK, now)

    assert (tested.seen, tested.entered, tested.passed) == (2_100, 2_100, 3)
    assert [each.ranked.item.title for each in tested.through] == ["A cache paged"] * 3
    assert {each.clause for each in tested.stopped} == {'no text has "paged"'}
