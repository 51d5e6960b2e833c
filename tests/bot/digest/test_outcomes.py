"""What becomes of single items: one by one, and held against whole digests."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.digest import selection
from bot.digest.publisher import Publisher
from bot.models import (
    Change,
    Coverage,
    Digest,
    DigestRequest,
    Entry,
    Feedback,
    Interest,
    Item,
    ItemOutcome,
    Limits,
    Ranked,
    Summary,
    Topic,
)
from bot.query import parse
from bot.settings.topic_packs import load_packs
from bot.summarise.extractive import Extractive
from tests.conftest import tries
from tests.fakes import edition as june
from tests.fakes.works import paper, post, repo
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)
JUNE = datetime(2026, 6, 14, 20, tzinfo=UTC)
TITLES = {"arxiv": "arXiv", "github": "GitHub"}
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), interests=(Interest("KV cache", 2.0),))


def request(**given: object) -> DigestRequest:
    return replace(DigestRequest(TOPIC, "local", "local"), **given)  # type: ignore[arg-type]


def about(number: int, title: str, **given: object) -> Item:
    return paper(f"2603.{number:05}", title=title, abstract=f"{title}. We measure it on GPUs.", **given)


@pytest.fixture
async def store(now: datetime) -> MemoryStore:
    return MemoryStore()


def publisher_of(store: MemoryStore) -> Publisher:
    return Publisher(store, Extractive(), TITLES)


async def post_them(store: MemoryStore, items: Sequence[Item], now: datetime) -> None:
    """Let the channel have had the items, in a digest of another topic."""
    entries = tuple(Entry(Ranked(item, 0.5), Summary((), "", "")) for item in items)
    digest = Digest("other", "Other", now.date(), now - DAY, now, entries, Coverage((), len(items), len(items)))
    await store.digests.save("local", "local", digest, now)


# --- one by one


async def test_an_item_of_the_next_digest_is_told_with_its_score_and_place(store: MemoryStore, now: datetime) -> None:
    better, worse = about(1, "The KV cache, paged"), about(2, "A genome cache")
    await store.items.add([worse, better], now)

    outcomes = [await publisher_of(store).explain(request(min_score=0.0), item, now) for item in (better, worse)]

    assert [(outcome.reason, outcome.place, outcome.least) for outcome in outcomes] == [("", 1, 0.0), ("", 2, 0.0)]
    assert outcomes[0].ranked is not None
    assert outcomes[0].ranked.reasons[0].startswith("matches *KV* ×2, *cache* ×2")
    assert outcomes[0].clause == 'title has "cache"'
    assert (outcomes[0].since, outcomes[0].instead) == (now - timedelta(hours=48), None)


async def test_what_does_not_enter_the_topic_is_told_with_the_clause_that_kept_it_out(
    store: MemoryStore, now: datetime
) -> None:
    await store.items.add([about(1, "Cooking with gas"), about(2, "A cache", sources=("feed:lab",))], now)
    topic = replace(TOPIC, sources=("arxiv", "github"))

    outside, elsewhere = [
        await publisher_of(store).explain(request(topic=topic), about(number, ""), now) for number in (1, 2)
    ]

    assert (outside.reason, outside.clause, outside.ranked) == (selection.QUERY, 'no text has "cache"', None)
    assert (elsewhere.reason, elsewhere.clause) == (selection.SOURCE, "source is feed:lab, not arxiv or github")


@pytest.mark.parametrize(
    ("of_topic", "of_channel", "clause"),
    [
        ("", "-paged", 'title has "paged"'),
        ("stars:>5", "", "stars is not known"),
        ("-survey", "-paged", 'title has "paged" (this channel\'s filter)'),
        ("-paged", "-cache", 'title has "paged" (the topic\'s filter)'),
        ("", "score:>0.99", "score 0."),
    ],
)
async def test_what_is_filtered_out_is_told_with_the_clause_and_whose_filter_it_is(
    store: MemoryStore, now: datetime, of_topic: str, of_channel: str, clause: str
) -> None:
    item = about(1, "The KV cache, paged")
    await store.items.add([item], now)
    asked = request(topic=replace(TOPIC, filter=parse(of_topic)), filter=parse(of_channel))

    outcome = await publisher_of(store).explain(asked, item, now)

    assert (outcome.reason, outcome.place) == (selection.FILTER, 1)
    assert outcome.clause.startswith(clause)


async def test_what_is_too_little_relevant_is_told_with_what_is_asked_for(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, "A cache")], now)

    outcome = await publisher_of(store).explain(request(min_score=0.99), about(1, ""), now)

    assert (outcome.reason, outcome.least) == (selection.SCORE, 0.99)
    assert outcome.ranked is not None
    assert 0 <= outcome.ranked.relevance < 0.99


async def test_what_has_just_the_relevance_that_is_needed_is_in_the_digest(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, "A cache")], now)
    free = await publisher_of(store).explain(request(), about(1, ""), now)
    assert free.ranked is not None

    just = await publisher_of(store).explain(request(min_score=free.ranked.relevance), about(1, ""), now)

    assert (just.reason, just.least) == ("", free.ranked.relevance)


async def test_what_became_too_old_takes_no_place_from_what_is_news(store: MemoryStore, now: datetime) -> None:
    old, new = about(1, "The KV cache, a KV cache", appeared=now - 4 * DAY), about(2, "A genome cache")
    await store.items.add([old], now - 4 * DAY)
    await store.items.add([new], now)
    asked = request(window=5 * DAY, limits=Limits(max_age=3 * DAY))

    dropped, kept = [await publisher_of(store).explain(asked, item, now) for item in (old, new)]

    assert (dropped.reason, dropped.place) == (selection.OLD, None)
    assert (kept.reason, kept.place) == ("", 1)


async def test_what_nobody_collected_is_told_the_place_that_it_would_have_among_the_others(
    store: MemoryStore, now: datetime
) -> None:
    await store.items.add([about(1, "The KV cache, paged"), about(2, "A genome cache")], now)
    strangers = about(3, "A KV cache of a cache"), about(4, "Maps of a cache of maps"), about(5, "Cooking with gas")

    outcomes = [await publisher_of(store).explain(request(), each, now) for each in strangers]

    known = await publisher_of(store).score(request(), [about(1, "The KV cache, paged"), about(2, "A genome cache")], now)
    scores = [each.score for each in known]
    for outcome in outcomes[:2]:
        assert outcome.ranked is not None
        assert outcome.place == 1 + sum(score > outcome.ranked.score for score in scores)
    assert {outcome.place for outcome in outcomes[:2]} <= {1, 2, 3}
    assert (outcomes[2].place, outcomes[2].otherwise) == (None, selection.QUERY)


async def test_items_from_the_index_and_from_beside_it_are_ranked_together_with_reasons_where_asked(
    store: MemoryStore, now: datetime
) -> None:
    known = [about(1, "A genome cache"), about(2, "A cache of maps")]
    await store.items.add(known, now)
    known = list((await store.items.find({each.key for each in known})).values())
    strangers = [about(3, "The KV cache, a KV cache"), about(4, "Cooking with gas")]

    ranked = await publisher_of(store).score(request(), [*known, *strangers], now, first=1, last=2)

    assert ranked[0].item.key == strangers[0].key
    assert {each.item.key for each in ranked[1:]} == {each.key for each in known}
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    assert [bool(each.parts) for each in ranked] == [False, True, False]


async def test_what_is_over_the_cap_is_told_with_its_place(store: MemoryStore, now: datetime) -> None:
    words = ("The KV cache in optical networks", "A genome cache", "Weather and a cache of maps")
    await store.items.add([about(number, title) for number, title in enumerate(words)], now)

    outcomes = [await publisher_of(store).explain(request(limits=Limits(1)), about(number, ""), now) for number in range(3)]

    assert [outcome.reason for outcome in outcomes] == ["", selection.CAP, selection.CAP]
    assert sorted(outcome.place or 0 for outcome in outcomes) == [1, 2, 3]


async def test_a_near_twin_is_told_with_the_better_one(store: MemoryStore, now: datetime) -> None:
    first, twin = about(1, "The KV cache, paged", upvotes=90), about(2, "The KV cache, paged")
    await store.items.add([first, twin], now)

    outcome = await publisher_of(store).explain(request(), twin, now)

    assert outcome.reason == selection.TWIN
    assert outcome.instead is not None
    assert outcome.instead.key == first.key


async def test_the_other_half_of_a_card_is_told_with_the_half_that_leads(store: MemoryStore, now: datetime) -> None:
    the_paper = about(1, "The KV cache, paged", repo="github:lab/pager")
    its_repo = repo("lab/pager", abstract="Pages", paper=the_paper.key)
    await store.items.add([the_paper, its_repo], now)

    outcome = await publisher_of(store).explain(request(), its_repo, now)

    assert (outcome.reason, outcome.ranked, outcome.clause) == (selection.JOINED, None, 'no text has "cache"')
    assert outcome.instead is not None
    assert outcome.instead.key == the_paper.key


async def test_a_half_whose_card_is_not_shown_shares_the_fate_of_the_card(store: MemoryStore, now: datetime) -> None:
    best = about(1, "The KV cache: KV cache upon KV cache", upvotes=90)
    the_paper = about(2, "A genome cache", repo="github:lab/genes")
    its_repo = repo("lab/genes", abstract="Cache of genes.", paper=the_paper.key, stars=0)
    foreign = about(3, "Weather and a cache of maps", repo="github:lab/rain")
    its_code = repo("lab/rain", abstract="Rain.", paper=foreign.key)
    items = [best, the_paper, its_repo, foreign, its_code]
    await store.items.add(items, now)

    outcomes = [await publisher_of(store).explain(request(limits=Limits(1)), item, now) for item in items]

    assert [outcome.reason for outcome in outcomes] == ["", selection.CAP, selection.CAP, selection.CAP, selection.QUERY]


async def test_what_was_first_seen_before_is_judged_as_if_it_were_new(store: MemoryStore, now: datetime) -> None:
    early, outside = about(1, "A genome cache"), about(2, "Cooking with gas")
    await store.items.add([early, outside], now - 3 * DAY)
    await store.items.add([about(3, "The KV cache, paged")], now)

    outcome = await publisher_of(store).explain(request(), early, now)
    never = await publisher_of(store).explain(request(), about(4, "A cache that nobody collected"), now)
    neither = await publisher_of(store).explain(request(), outside, now)

    assert {each.reason for each in (outcome, never, neither)} == {selection.NOT_IN_TIME}
    assert [each.otherwise for each in (outcome, never, neither)] == ["", "", selection.QUERY]
    assert (outcome.place, outcome.since) == (2, now - 2 * DAY)
    assert never.ranked is not None
    assert (neither.ranked, neither.clause) == (None, 'no text has "cache"')


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (about(1, "A cache", appeared=None, published=datetime(2025, 1, 1, tzinfo=UTC)), selection.OLD),
        (about(1, "A cache", withdrawn=True), selection.WITHDRAWN),
    ],
)
async def test_what_is_no_news_is_told_so(store: MemoryStore, now: datetime, item: Item, reason: str) -> None:
    await store.items.add([item], now)
    assert (await publisher_of(store).explain(request(), item, now)).reason == reason


async def test_an_item_that_was_posted_keeps_its_score(store: MemoryStore, now: datetime) -> None:
    item = about(1, "The KV cache, paged")
    await store.items.add([item], now)
    await post_them(store, [item], now)

    outcome = await publisher_of(store).explain(request(), item, now)

    assert (outcome.reason, outcome.place) == (selection.POSTED, 1)


async def test_an_item_known_under_another_key_now_is_told_as_what_it_became(store: MemoryStore, now: datetime) -> None:
    asked = post("cache")
    await store.items.add([about(1, "The KV cache, paged", aliases=(asked.key,))], now)

    outcome = await publisher_of(store).explain(request(), asked, now)

    assert (outcome.item.key, outcome.reason) == ("arxiv:2603.00001", "")


# --- all of them


def _works() -> tuple[Item, ...]:
    """The items of a real day, and what a day may bring besides: twins, halves of cards, old, withdrawn and known ones."""
    day = june.items()
    twin = replace(day[0], key="arxiv:2606.00001", sources=("arxiv",), aliases=("doi:10.1/twin",))
    both = replace(day[1], repo="github:lab/arbor"), repo("lab/arbor", abstract="Tree search for agents.", paper=day[1].key)
    lone = repo("lab/alone", abstract="GPU kernels and caches.", paper="arxiv:2606.00002")
    pointing = replace(day[2], key="arxiv:2606.00003", title="Scheduling on GPUs", repo="github:lab/arbor")
    old = paper("2501.00001", title="An old GPU cache", appeared=JUNE - 90 * DAY, published=JUNE - 90 * DAY)
    gone = paper("2606.00004", title="A withdrawn GPU cache", appeared=JUNE, published=JUNE, withdrawn=True)
    news = post("gpu", title="GPU news", appeared=JUNE, published=JUNE)
    return (*(item for item in day if item.key != day[1].key), twin, *both, lone, pointing, old, gone, news)


WORKS = _works()
QUERIES = ("", "GPU OR cache OR agents", "kind:paper", "-kind:repo", "score:>0.2", "upvotes:>5", "title:model* OR gpu")
PACK = load_packs()["gpu-systems"]
topics = st.builds(
    lambda query, kept, sources, least: replace(
        PACK, query=parse(query) if query else PACK.query, filter=parse(kept), sources=sources, min_score=least
    ),
    *(st.sampled_from(QUERIES),) * 2,
    st.sampled_from(((), (), ("arxiv",), ("feed:lab", "github"))),
    st.sampled_from((0.0, 0.2)),
)
requests = st.builds(
    DigestRequest,
    topics,
    st.just("local"),
    st.just("local"),
    st.builds(Limits, st.integers(1, 6), st.integers(0, 2), st.sampled_from((14 * DAY, 400 * DAY))),
    st.sampled_from(QUERIES).map(parse),
    st.sampled_from((None, 0.0, 0.3)),
    baseline=st.sampled_from((None, None, JUNE - timedelta(hours=1))),
)
some_works = st.lists(st.sampled_from(WORKS), max_size=5, unique_by=lambda item: item.key)


@settings(deadline=None, max_examples=tries(30), suppress_health_check=[HealthCheck.too_slow])
@given(requests, some_works, some_works, some_works)
def test_every_item_is_told_what_the_digest_does_with_it(
    asked: DigestRequest, early: list[Item], posted: list[Item], liked: list[Item]
) -> None:
    async def told() -> None:
        store = MemoryStore()
        await store.items.add(WORKS, JUNE)
        await store.items.add([replace(item, seen=JUNE - timedelta(hours=9)) for item in early], JUNE)
        await post_them(store, posted, JUNE)
        for item in liked:
            said = Feedback(workspace="local", topic=PACK.name, person="ada", key=item.key, more=True, at=JUNE)
            await store.people.save_feedback(said, Change(workspace="local", at=JUNE, person="ada", what="feedback"))
        publisher = publisher_of(store)
        (digest,) = await publisher.publish([asked], JUNE)
        window = [item for _, item in await store.items.arrived(digest.window.after, digest.window.through)]
        outcomes = [await publisher.explain(asked, item, JUNE) for item in window]

        assert await publisher.preview(asked, JUNE) == digest
        assert [outcome.item for outcome in outcomes] == window
        assert {outcome.item.key for outcome in outcomes if not outcome.reason} == {
            each.ranked.item.key for each in digest.entries
        }
        counts = Counter(outcome.reason for outcome in outcomes if outcome.reason)
        assert sorted(counts.items()) == sorted(digest.coverage.dropped)
        assert digest.coverage.seen == digest.coverage.kept + counts.total() == len(window)
        _consistent(digest, outcomes)

    asyncio.run(told())


def _consistent(digest: Digest, outcomes: Sequence[ItemOutcome]) -> None:
    shown = {item.key for entry in digest.entries for item in (entry.ranked.item, entry.partner) if item is not None}
    entries = {entry.ranked.item.key: entry.ranked for entry in digest.entries}
    for outcome in outcomes:
        assert outcome.reason in ("", *selection.REASONS)
        assert (outcome.item.key in shown) == (outcome.reason in ("", selection.JOINED))
        assert (outcome.reason in (selection.TWIN, selection.JOINED)) <= (outcome.instead is not None)
        if not outcome.reason:
            assert outcome.ranked == entries[outcome.item.key]
        if outcome.reason == selection.SCORE:
            assert outcome.ranked is not None
            assert outcome.ranked.relevance < outcome.least
