import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.collect.collector import Collector
from bot.digest import selection
from bot.digest.publisher import Publisher
from bot.errors import UsageError
from bot.models import Batch, Change, DigestRequest, Feedback, Health, Interest, Item, Limits, Link, Release, Topic
from bot.query import parse
from bot.sources.registry import AUTHORITY
from bot.store.rules.transitions import begins_again, taken_over
from bot.summarise.extractive import Extractive
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper, post, repo
from tests.stores.memory import MemoryStore

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


def request(**given: object) -> DigestRequest:
    return replace(DigestRequest(TOPIC, "local", "local"), **given)  # type: ignore[arg-type]


async def filled(store: MemoryStore, now: datetime, *items: Item) -> None:
    await Collector(store, AUTHORITY).collect([Scripted("arxiv", Batch(items=items))], now)


async def test_a_digest_holds_what_fits_the_topic_and_says_where_the_rest_went(store: MemoryStore, now: datetime) -> None:
    await filled(
        store,
        now,
        about(1, "Paging the KV cache"),
        about(2, "Cooking with gas"),
        about(3, "A cache for old times", appeared=now - timedelta(days=60)),
        about(4, "Withdrawn cache", withdrawn=True),
    )
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([request()], now)

    assert [entry.ranked.item.title for entry in digest.entries] == ["Paging the KV cache"]
    assert digest.entries[0].ranked.reasons
    assert dict(digest.coverage.dropped) == {selection.OLD: 1, selection.WITHDRAWN: 1, selection.QUERY: 1}
    assert digest.coverage.seen == digest.coverage.kept + sum(count for _, count in digest.coverage.dropped)
    assert [report.name for report in digest.coverage.sources] == ["arXiv", "GitHub"]


async def test_a_famous_repository_that_was_pushed_today_is_no_news_until_it_is_released(
    store: MemoryStore, now: datetime
) -> None:
    old = now - timedelta(days=2000)
    famous = repo("lab/cache", abstract="The KV cache, paged", stars=190_000, published=old, updated=now)
    await filled(store, now, famous, about(1, "Paging the KV cache"))
    publisher = Publisher(store, Extractive(), TITLES)

    (digest,) = await publisher.publish([request()], now)
    outcome = await publisher.explain(request(), famous, now)
    assert [entry.ranked.item.key for entry in digest.entries] == ["arxiv:2603.00001"]
    assert digest.coverage.dropped == ((selection.NO_EVENT, 1),)
    assert outcome.reason == selection.NO_EVENT

    release = Release(tag="v2.0", published=now - timedelta(days=1))
    await filled(store, now, replace(famous, release=release, releases_read=now))
    (digest,) = await publisher.publish([request()], now)
    assert {entry.ranked.item.key for entry in digest.entries} == {"arxiv:2603.00001", famous.key}
    assert any("released v2.0 yesterday" in entry.ranked.reasons for entry in digest.entries)


async def test_a_repository_without_an_event_still_stands_on_its_papers_card(store: MemoryStore, now: datetime) -> None:
    code = Link("code", "https://github.com/lab/cache")
    old = about(1, "Paging the KV cache", links=(code,), appeared=now - timedelta(days=9))
    await filled(store, now, old, repo("lab/cache", abstract="KV cache paging", stars=90_000))
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([request()], now)
    assert [(entry.ranked.item.key, entry.partner and entry.partner.key) for entry in digest.entries] == [
        ("arxiv:2603.00001", "github:lab/cache")
    ]
    assert digest.coverage.dropped == ((selection.JOINED, 1),)


async def test_a_preview_changes_nothing_and_a_recorded_digest_is_not_repeated(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))
    publisher = Publisher(store, Extractive(), TITLES)

    preview = await publisher.publish([request()], now)
    recorded = await publisher.publish([request()], now, record=True)
    again = await publisher.publish([request(since_last=False)], now + timedelta(hours=1), record=True)
    next_day = await publisher.publish([request()], now + timedelta(days=1))

    assert [len(each[0].entries) for each in (preview, recorded, again, next_day)] == [1, 1, 0, 0]
    assert again[0].coverage.dropped == ((selection.POSTED, 1),)
    assert (next_day[0].coverage.seen, next_day[0].since) == (0, now + timedelta(hours=1))


async def test_an_item_is_shown_once_when_several_topics_want_it(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))
    other = replace(TOPIC, name="other", title="Other")

    first, second = await Publisher(store, Extractive(), TITLES).publish([request(), request(topic=other)], now)

    assert (len(first.entries), len(second.entries)) == (1, 0)
    assert second.coverage.dropped == ((selection.SHOWN, 1),)


async def test_another_channel_gets_its_own_copy(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))

    digests = await Publisher(store, Extractive(), TITLES).publish([request(), request(channel="two")], now, record=True)

    assert [len(digest.entries) for digest in digests] == [1, 1]


async def test_filter_score_and_cap_each_drop_with_their_reason(store: MemoryStore, now: datetime) -> None:
    papers = [about(n, f"{word} KV cache") for n, word in enumerate(("Paging", "Sharding", "Hashing", "Pruning"))]
    await filled(store, now, *papers, about(9, "Another cache"))
    picky = request(filter=parse("-sharding"), limits=Limits(entries=2))
    strict = request(topic=replace(TOPIC, min_score=1.0))

    first, second = await Publisher(store, Extractive(), TITLES).publish([picky, strict], now)
    await Publisher(store, Extractive(), TITLES).publish([strict], now)

    dropped = dict(first.coverage.dropped)
    assert dropped[selection.FILTER] == 1
    assert dropped[selection.CAP] + dropped.get(selection.TWIN, 0) == 2
    assert dict(second.coverage.dropped)[selection.SCORE] == 3


async def test_a_paper_and_its_repository_come_as_one_card(store: MemoryStore, now: datetime) -> None:
    code = Link("code", "https://github.com/lab/cache")
    await filled(store, now, about(1, "Paging the KV cache", links=(code,)), repo("lab/cache", abstract="KV cache paging"))

    (digest,) = await Publisher(store, Extractive(), TITLES).publish([request()], now)

    (entry,) = digest.entries
    assert {entry.ranked.item.key, entry.partner and entry.partner.key} == {"arxiv:2603.00001", "github:lab/cache"}
    assert digest.coverage.dropped == ((selection.JOINED, 1),)


async def test_nothing_collected_gives_an_empty_digest_that_says_so(store: MemoryStore, now: datetime) -> None:
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([request()], now)

    assert digest.entries == ()
    assert (digest.coverage.seen, digest.coverage.kept) == (0, 0)
    assert {report.health for report in digest.coverage.sources} == {Health.NEVER}


async def test_a_digest_of_a_clock_that_ran_ahead_hides_nothing(store: MemoryStore, now: datetime) -> None:
    publisher, request = Publisher(store, Extractive(), TITLES), DigestRequest(TOPIC, "local", "local")
    await publisher.publish([request], now + timedelta(days=300), record=True)
    await store.items.add([about(1, "KV cache")], now - timedelta(hours=1))

    (digest,) = await publisher.publish([request], now)

    assert digest.coverage.seen == 1


async def test_nothing_that_came_in_before_the_baseline_is_posted_or_counted(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, "Paging the KV cache")], now - timedelta(hours=2))
    await store.items.add([about(2, "Sharding a cache")], now - timedelta(hours=1))

    subscribed = request(baseline=now - timedelta(hours=1), baseline_arrival=1)
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([subscribed], now)

    assert [entry.ranked.item.key for entry in digest.entries] == ["arxiv:2603.00002"]
    assert (digest.since, digest.coverage.seen, digest.coverage.kept) == (now - timedelta(hours=1), 1, 1)


async def test_a_baseline_that_is_but_a_time_leaves_out_nothing_that_a_collection_of_before_stored_later(
    store: MemoryStore, now: datetime
) -> None:
    begun, paused_until = now - timedelta(hours=3), now - timedelta(hours=2)
    for number, seen in enumerate((begun - timedelta(days=1), begun - timedelta(hours=1), begun, now), start=1):
        await store.items.add([about(number, f"KV cache {number}")], seen)

    after_a_pause = request(baseline=paused_until, made_arrival=2)
    (digest,) = await Publisher(store, Extractive(), TITLES).publish([after_a_pause], now)

    assert (digest.since, digest.window.after, digest.coverage.seen) == (paused_until, 2, 2)


async def test_a_baseline_moves_no_digest_back(store: MemoryStore, now: datetime) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    await publisher.publish([request()], now - timedelta(hours=3), record=True)

    earlier = await publisher.preview(request(baseline=now - timedelta(days=30)), now)
    from_a_clock_ahead = await publisher.preview(request(baseline=now + timedelta(days=30)), now)

    assert earlier.since == from_a_clock_ahead.since == now - timedelta(hours=3)


async def test_a_first_digest_on_request_reaches_back_before_the_baseline_and_the_next_begins_where_it_ended(
    store: MemoryStore, now: datetime
) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    await store.items.add([about(1, "An old cache", appeared=now - timedelta(days=3))], now - timedelta(hours=49))
    await store.items.add([about(2, "Sharding a cache")], now - timedelta(hours=47))
    asked = request(baseline=now, reach_back=True)

    (first,) = await publisher.publish([asked], now, record=True)
    await store.items.add([about(3, "Pruning a cache")], now + timedelta(hours=1))
    later = now + timedelta(hours=2)
    again, regular = [await publisher.preview(each, later) for each in (asked, replace(asked, reach_back=False))]

    assert [entry.ranked.item.key for entry in first.entries] == ["arxiv:2603.00002"]
    assert first.since == now - timedelta(hours=48)
    for digest in (again, regular):
        assert [entry.ranked.item.key for entry in digest.entries] == ["arxiv:2603.00003"]
        assert digest.since == now


async def test_who_subscribes_anew_after_long_reaches_back_one_window_and_no_farther(
    store: MemoryStore, now: datetime
) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    await publisher.publish([request()], now - timedelta(days=30), record=True)

    digest = await publisher.preview(request(baseline=now, reach_back=True), now)
    of_last_week = await publisher.preview(request(baseline=now - timedelta(days=6), reach_back=True), now)

    assert digest.since == now - timedelta(hours=48)
    assert of_last_week.since == now - timedelta(days=6), "nothing since it was subscribed is passed over"


async def test_an_order_sets_the_score_that_an_entry_needs_instead_of_the_topic(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"))
    strict = replace(TOPIC, min_score=1.0)
    publisher = Publisher(store, Extractive(), TITLES)

    digests = [
        await publisher.preview(each, now)
        for each in (request(topic=strict), request(topic=strict, min_score=0.0), request(min_score=1.0))
    ]

    assert [len(digest.entries) for digest in digests] == [0, 1, 0]


async def test_the_topics_filter_holds_besides_the_channels(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, about(1, "Paging the KV cache"), about(2, "Sharding a cache"), about(3, "Pruning a cache"))
    asked = request(topic=replace(TOPIC, filter=parse("-paging")), filter=parse("-sharding"))

    (digest,) = await Publisher(store, Extractive(), TITLES).publish([asked], now)

    assert [entry.ranked.item.title for entry in digest.entries] == ["Pruning a cache"]
    assert digest.coverage.dropped == ((selection.FILTER, 2),)


async def test_a_preview_is_what_publishing_would_post(store: MemoryStore, now: datetime) -> None:
    await filled(store, now, *(about(number, f"The KV cache of {number} banks") for number in range(9)), repo())
    publisher = Publisher(store, Extractive(), TITLES)

    preview = await publisher.preview(request(), now)

    assert [preview] == await publisher.publish([request()], now)
    assert len(preview.entries) > 0


async def test_digests_that_are_made_at_once_are_those_made_one_by_one_and_a_bad_topic_fails_alone(
    store: MemoryStore, now: datetime
) -> None:
    await filled(store, now, *(about(number, f"The KV cache of {number} banks") for number in range(9)), repo())
    queries = ("cache", "bank*", "7", "cache -3", "nothing", "", "gpus", "kv")
    topics = [replace(TOPIC, name=f"t{number}", query=parse(query)) for number, query in enumerate(queries * 3)]
    topics.insert(5, replace(TOPIC, interests=(Interest("(cache"),)))
    publisher = Publisher(store, Extractive(), TITLES)

    together = await asyncio.gather(
        *(publisher.preview(request(topic=topic), now) for topic in topics), return_exceptions=True
    )

    for topic, made in zip(topics, together, strict=True):
        if made is together[5]:
            assert isinstance(made, UsageError)
        else:
            assert made == await Publisher(store, Extractive(), TITLES).preview(request(topic=topic), now)


# --- feedback


async def says(store: MemoryStore, now: datetime, person: str, key: str, *, more: bool) -> None:
    feedback = Feedback(workspace="local", topic="kv", person=person, key=key, more=more, at=now)
    await store.people.save_feedback(feedback, Change(workspace="local", at=now, person=person, what=f"feedback kv {key}"))


async def test_what_people_want_less_of_falls_back_in_the_next_digest(store: MemoryStore, now: datetime) -> None:
    sparse = paper("2602.00009", title="Sparse attention kernels", abstract="Sparse attention kernels skip blocks of keys.")
    await store.items.add([sparse], now - timedelta(days=40))
    await filled(store, now, about(1, "A cache for sparse attention kernels"), about(2, "A cache for optical networks"))
    publisher = Publisher(store, Extractive(), TITLES)
    before = await publisher.preview(request(), now)

    await says(store, now, "ada", sparse.key, more=False)
    after = await publisher.preview(request(), now)
    elsewhere = await publisher.preview(request(topic=replace(TOPIC, name="other")), now)

    scores = [{entry.ranked.item.key: entry.ranked.score for entry in each.entries} for each in (before, after, elsewhere)]
    assert scores[1]["arxiv:2603.00001"] < scores[0]["arxiv:2603.00001"]
    assert scores[1]["arxiv:2603.00002"] >= scores[0]["arxiv:2603.00002"]
    assert scores[2] == scores[0]


async def test_feedback_on_an_older_key_counts_for_the_item(store: MemoryStore, now: datetime) -> None:
    sparse = paper("2602.00009", title="Sparse attention kernels", abstract="Sparse attention kernels skip blocks of keys.")
    await store.items.add([replace(sparse, aliases=("url:https://lab.example/sparse",))], now - timedelta(days=40))
    await filled(store, now, about(1, "A cache for sparse attention kernels"))
    publisher = Publisher(store, Extractive(), TITLES)
    (before,) = (await publisher.preview(request(), now)).entries

    await says(store, now, "ada", "url:https://lab.example/sparse", more=True)
    (after,) = (await publisher.preview(request(), now)).entries

    assert after.ranked.score > before.ranked.score


# --- what was posted before


async def test_what_was_posted_under_a_key_that_changed_is_not_posted_again(store: MemoryStore, now: datetime) -> None:
    early = post("cache", title="A Cache for Everything One Needs", authors=("Ada Lovelace",), abstract="A cache.")
    collector, publisher = Collector(store, AUTHORITY), Publisher(store, Extractive(), TITLES)
    await collector.collect([Scripted("feed:lab", Batch(items=(early,)))], now)
    (first,) = await publisher.publish([request()], now, record=True)

    numbered = about(1, "A Cache for Everything One Needs", aliases=(early.key,))
    await collector.collect([Scripted("arxiv", Batch(items=(numbered,)))], now + timedelta(hours=1))
    again = await publisher.preview(request(since_last=False), now + timedelta(hours=2))

    assert [entry.ranked.item.key for entry in first.entries] == [early.key]
    assert list(await store.items.find([early.key])) == [early.key]
    assert (again.entries, again.coverage.dropped) == ((), ((selection.POSTED, 1),))


async def test_a_paper_that_was_posted_is_not_repeated_beside_its_repository(store: MemoryStore, now: datetime) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    await filled(store, now, about(1, "Paging the KV cache", links=(Link("code", "https://github.com/lab/cache"),)))
    (first,) = await publisher.publish([request()], now, record=True)

    await filled(store, now + timedelta(hours=1), repo("lab/cache", abstract="KV cache paging"))
    (second,) = await publisher.publish([request()], now + timedelta(hours=2), record=True)

    assert [entry.ranked.item.key for entry in first.entries] == ["arxiv:2603.00001"]
    assert [(entry.ranked.item.key, entry.partner) for entry in second.entries] == [("github:lab/cache", None)]


async def test_the_half_of_a_card_is_posted_with_it_under_every_key(store: MemoryStore, now: datetime) -> None:
    code = Link("code", "https://github.com/lab/cache")
    the_paper, its_repo = about(1, "Paging the KV cache", links=(code,)), repo("lab/cache", abstract="KV cache paging")
    await filled(store, now, the_paper, its_repo)
    publisher = Publisher(store, Extractive(), TITLES)
    await publisher.publish([request()], now, record=True)

    renamed = repo("lab/pager", abstract="KV cache paging", aliases=(its_repo.key,))
    await Collector(store, AUTHORITY).collect([Scripted("github", Batch(items=(renamed,)))], now + timedelta(hours=1))
    again = await publisher.preview(request(since_last=False), now + timedelta(hours=2))

    assert (again.entries, again.coverage.dropped) == ((), ((selection.POSTED, 2),))


async def test_a_repository_of_two_papers_stands_on_one_card_of_all_the_digests(store: MemoryStore, now: datetime) -> None:
    code = (Link("code", "https://github.com/lab/cache"),)
    papers = about(1, "Paging the KV cache", links=code), about(2, "Optical networks", links=code)
    await filled(store, now, *papers, repo("lab/cache", abstract="KV cache paging"))
    optics = Topic(name="optics", title="Optics", query=parse("optical"))

    first, second = await Publisher(store, Extractive(), TITLES).publish([request(), request(topic=optics)], now)

    shown = [
        [each and each.key for each in (entry.ranked.item, entry.partner)] for entry in (*first.entries, *second.entries)
    ]
    assert sorted(map(str, shown[0])) == ["arxiv:2603.00001", "github:lab/cache"]
    assert shown[1] == ["arxiv:2603.00002", None]


# --- repositories that were there before


async def titles_of(publisher: Publisher, now: datetime, **given: object) -> list[str]:
    (digest,) = await publisher.publish([request(**given)], now, record=True)
    coverage = digest.coverage
    assert coverage.seen == coverage.kept + sum(count for _, count in coverage.dropped)
    return [entry.ranked.item.title for entry in digest.entries]


@pytest.mark.parametrize("known_for", [timedelta(days=2), timedelta(days=60)])
async def test_a_known_repository_is_news_when_something_happens_to_it_and_once(
    store: MemoryStore, now: datetime, known_for: timedelta
) -> None:
    publisher, old = Publisher(store, Extractive(), TITLES), now - timedelta(days=900)
    known = repo("lab/cache", abstract="The KV cache, paged", stars=9_000, published=old, updated=now - known_for)
    await filled(store, now - known_for, known, about(9, "A first paper", appeared=now - known_for))
    assert await titles_of(publisher, now - known_for) == []
    assert await titles_of(publisher, now - timedelta(hours=1)) == []

    release = Release(tag="v2.0", published=now - timedelta(hours=3))
    await filled(store, now, replace(known, updated=now, release=release, releases_read=now))
    assert await titles_of(publisher, now, since_last=False, window=timedelta(hours=1)) == []
    assert await titles_of(publisher, now) == ["lab/cache"]
    again = replace(release, tag="v2.1", published=now + timedelta(days=3))
    later = now + timedelta(days=4)
    await filled(store, later, replace(known, updated=later, release=again, releases_read=later))
    assert await titles_of(publisher, later) == ["lab/cache"]  # a later release is another event
    assert await titles_of(publisher, later + timedelta(hours=1)) == []
    renamed, later = replace(again, tag="2.1.0", published=later), later + timedelta(hours=2)
    await filled(store, later, replace(known, updated=later, release=renamed, releases_read=later))
    assert await titles_of(publisher, later) == []  # v2.1 under another name
    corrected, later = replace(again, tag="v2.1.1", published=later), later + timedelta(hours=2)
    await filled(store, later, replace(known, updated=later, release=corrected, releases_read=later))
    assert await titles_of(publisher, later) == []


async def test_what_happens_outside_the_topic_is_counted_once_and_not_every_day(store: MemoryStore, now: datetime) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    release = Release(tag="v2.0", published=now)
    await filled(store, now, repo("lab/pans", abstract="Cooking with gas", updated=now, release=release, releases_read=now))
    first, second = [(await publisher.publish([request()], at, record=True))[0] for at in (now, now + timedelta(days=1))]
    assert [(each.coverage.seen, each.coverage.dropped) for each in (first, second)] == [
        (1, ((selection.QUERY, 1),)),
        (0, ()),
    ]


async def test_code_that_came_with_its_paper_is_looked_at_with_it_and_code_that_was_there_before_again(
    store: MemoryStore, now: datetime
) -> None:
    publisher, code = Publisher(store, Extractive(), TITLES), (Link("code", "https://github.com/lab/cache"),)
    await filled(
        store, now, about(1, "Cooking", links=code, appeared=now), repo("lab/cache", abstract="A cache", updated=now)
    )
    later = now + timedelta(days=1)
    assert await titles_of(publisher, later, window=timedelta(hours=1)) == []

    await filled(store, later, about(2, "Baking", links=code, appeared=later))
    assert await titles_of(publisher, later, window=timedelta(hours=1)) == ["lab/cache"]


async def test_what_happened_before_a_subscription_was_made_is_not_told_for_it(store: MemoryStore, now: datetime) -> None:
    release = Release(tag="v2.0", published=now - timedelta(days=1))
    known = repo("lab/cache", abstract="The KV cache, paged", updated=now, release=release, releases_read=now)
    await filled(store, now - timedelta(days=20), known)
    await filled(store, now, known, about(9, "A first paper"))
    baseline = {"baseline": now - timedelta(hours=2), "baseline_arrival": 1}
    assert await titles_of(Publisher(store, Extractive(), TITLES), now, **baseline) == []
    assert await titles_of(Publisher(store, Extractive(), TITLES), now, **baseline | {"reach_back": True}) == ["lab/cache"]


async def test_what_happened_and_fell_to_the_cap_does_not_have_the_past_indexed_again(
    store: MemoryStore, now: datetime
) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    release = Release(tag="v2.0", published=now)
    known = repo("lab/cache", abstract="A cache", updated=now, release=release, releases_read=now)
    await filled(store, now - timedelta(days=40), known)
    await filled(store, now, about(1, "Paging the KV cache"))
    (digest,) = await publisher.publish([request(limits=Limits(entries=1))], now, record=True)
    assert [(each.key, each.reason, each.arrival) for each in digest.left_out] == [
        (known.key, selection.CAP, 3)
    ]  # as if it came next
    assert await titles_of(publisher, now + timedelta(days=1)) == ["lab/cache"]


async def test_what_happened_is_marked_in_a_digest_so_that_no_other_posts_it_too(store: MemoryStore, now: datetime) -> None:
    publisher = Publisher(store, Extractive(), TITLES)
    release = Release(tag="v2.0", published=now)
    known = repo("lab/cache", abstract="The KV cache", updated=now, release=release, releases_read=now)
    await filled(store, now - timedelta(days=40), known)
    await filled(store, now, about(2, "Cooking with gas"))
    digest = await publisher.preview(request(), now)
    assert taken_over(digest) == [known.key]
    assert begins_again(digest.window.after, {each.key: each.arrival for each in digest.carried}, ()) == digest.window.after
