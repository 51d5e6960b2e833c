"""The archive: what was posted, read again by day and topic, and never more than its reader may know of."""

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.models import (
    ArchivedDay,
    ArchivedDigest,
    ArchivedTopic,
    Coverage,
    Delivery,
    DeliveryState,
    Digest,
    Health,
    Item,
    Kind,
    LeftOut,
    Link,
    Occurrence,
    OccurrenceState,
    Release,
    ScorePart,
    SourceReport,
    Summary,
    SummaryPart,
)
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW, tries
from tests.contract.both import with_both, with_postgres
from tests.contract.made import change, digest, paper, subscription
from tests.stores import AnyStore

Saved = list[tuple[tuple[str, str, str], int, list[int]]]  # workspace, channel and topic, day, papers

DAY, TODAY = timedelta(days=1), NOW.date()
LEASE = timedelta(minutes=5)


async def made(store: AnyStore, what: Digest, *, channel: str = "C1", minutes: int = 0, parts: int = 1) -> list[Delivery]:
    """The deliveries of a digest that is made for a subscription of a channel, and is still to be sent."""
    at = NOW + timedelta(minutes=minutes)
    ours = subscription(channel, what.topic)
    if not await store.workspaces.subscriptions("T1", channel=channel, topic=what.topic):
        await store.workspaces.save_subscription(ours, change(f"subscription {channel}"), replaces=0)
    place = {"workspace": "T1", "channel": channel, "topic": what.topic, "due": at}
    occurrence = Occurrence(subscription=ours.id, day=what.day, slot=minutes, **place)  # type: ignore[arg-type]
    await store.ledger.open_on_request(occurrence)
    key = (ours.id, what.day, minutes)
    found = [
        Delivery(
            id=f"{ours.id}{minutes}p{part}".replace("-", "")[-25:],
            occurrence=key,
            part=part,
            parts=parts,
            payload="{}",
            next_at=at,
            made_at=at,
            **place,  # type: ignore[arg-type]
        )
        for part in range(1, parts + 1)
    ]
    closed = replace(occurrence, state=OccurrenceState.MADE)
    what = replace(what, subscription=ours.id, rhythm="daily")
    assert await store.ledger.close_occurrence(closed, at, digest=what, deliveries=found)
    return found


async def ended(store: AnyStore, delivery: Delivery, state: DeliveryState, *, unposted: bool = False) -> None:
    claimed = await store.ledger.claim(delivery, NOW + DAY, LEASE)
    assert claimed is not None
    done = replace(claimed, state=state, message="m1", link="https://chat.example/m1", lease_until=None)
    assert await store.ledger.record(done, unposted=unposted)


async def test_a_digest_is_in_the_archive_from_when_its_first_message_is_posted(store: AnyStore) -> None:
    first, second = await made(store, digest(0.9, 0.5), parts=2)
    assert await store.archive.channels("T1") == []
    await ended(store, first, DeliveryState.DONE)
    assert await store.archive.channels("T1") == ["C1"]
    (found,) = await store.archive.digests("T1", ["C1"], "kv", TODAY)
    assert (found.channels, found.links, found.saved_at) == (("C1",), ("https://chat.example/m1",), NOW)
    await ended(store, second, DeliveryState.FAILED)
    assert await store.archive.topics("T1", ["C1"]) == [ArchivedTopic("kv", "KV", 1, TODAY)]


@pytest.mark.parametrize("state", [DeliveryState.FAILED, DeliveryState.AMBIGUOUS])
@pytest.mark.parametrize("unposted", [False, True])
async def test_what_was_not_surely_posted_is_not_in_the_archive(
    store: AnyStore, state: DeliveryState, unposted: bool
) -> None:
    (delivery,) = await made(store, digest(0.9))
    await ended(store, delivery, state, unposted=unposted)
    assert await store.archive.channels("T1") == []
    assert await store.archive.days("T1", ["C1"], "kv") == []
    assert await store.archive.postings("T1", ["C1"], [paper(1).key]) == []


async def test_what_is_posted_stays_in_the_archive_when_the_ledger_has_forgotten_it(store: AnyStore) -> None:
    (delivery,) = await made(store, digest(0.9))
    await ended(store, delivery, DeliveryState.DONE)
    later = NOW + 400 * DAY
    await store.maintenance.prune(items_before=later, readings_before=later.date(), now=later)
    assert await store.ledger.deliveries("T1") == []
    (posting,) = await store.archive.postings("T1", ["C1"], [paper(1).key])
    assert (posting.link, posting.topic, posting.title, posting.at) == ("https://chat.example/m1", "kv", "KV", NOW)
    entry = await store.archive.posted_entry("T1", posting)
    assert entry is not None
    assert entry.ranked.item == paper(1)


async def test_days_are_told_last_first_and_what_several_channels_were_posted_alike_counts_once(store: AnyStore) -> None:
    for number in range(5):
        on = digest(0.9, 0.5, first=10 * number + 1, day=TODAY + number * DAY)
        for channel in ("C1", "C2"):
            await store.digests.save("T1", channel, on, NOW + number * DAY)
    await store.digests.save("T1", "C2", digest(0.3, first=99, day=TODAY), NOW)
    both = ["C1", "C2"]
    assert await store.archive.days("T1", both, "kv", before=TODAY + 2 * DAY) == [
        ArchivedDay(TODAY + DAY, 1, 2),
        ArchivedDay(TODAY, 2, 3),
    ]
    assert [each.day for each in await store.archive.days("T1", ["C1"], "kv", limit=2)] == [TODAY + 4 * DAY, TODAY + 3 * DAY]
    one, other = await store.archive.digests("T1", both, "kv", TODAY)
    assert (one.channels, other.channels) == (("C1", "C2"), ("C2",))
    assert [entry.ranked.item.key for entry in one.digest.entries] == [paper(1).key, paper(2).key]
    assert await store.archive.topics("T1", both) == [ArchivedTopic("kv", "KV", 5, TODAY + 4 * DAY)]


async def test_a_digest_is_read_again_as_it_was_saved(store: AnyStore) -> None:
    item = Item(
        key="github:a/b",
        kind=Kind.REPO,
        title="a/b \ud83d",
        authors=("a",),
        links=(Link("code", "https://github.com/a/b"),),
        release=Release(tag="v1", published=NOW),
        seen=NOW,
        stars=7,
    )
    parts = (SummaryPart("Problem", "Slow.", True, ("Slow.",)),)
    plain = digest(0.5, partner=item)
    entry = replace(plain.entries[0], summary=Summary(parts, "abstract", "extractive"), gist="It is quick.")
    entry = replace(entry, ranked=replace(entry.ranked, parts=(ScorePart("phrases", 0.5, "matches *KV*"),), relevance=0.5))
    coverage = Coverage((SourceReport("arXiv", Health.OK, 3, "said"),), 3, 1, (("cap", 2),), ("late",), "covers 5 days")
    left = (LeftOut("arxiv:1", "cap", 2, 0.4, since=NOW, arrival=3),)
    whole = replace(
        plain, entries=(entry,), coverage=coverage, left_out=left, carried=left, again=("github:a/b",), news="New.", others=2
    )
    await store.digests.save("T1", "C1", whole, NOW)
    (found,) = await store.archive.digests("T1", ["C1"], "kv", TODAY)
    assert found.digest == whole


async def test_a_digest_of_an_older_version_is_read_without_what_that_did_not_note(store: AnyStore) -> None:
    made = digest(0.9)
    await store.digests.save("T1", "C1", made, NOW)
    if isinstance(store, SqliteStore):
        less = "json_remove(data, '$.window', '$.left_out', '$.again')"
        older = f"json_set({less}, '$.bar', 0.3, '$.carried', json_array('arxiv:1'))"
        await store.connections.write(lambda db: db.execute(f"update digests set data = {older}"))
    (found,) = await store.archive.digests("T1", ["C1"], "kv", TODAY)
    assert found.digest == made


async def test_a_damaged_digest_keeps_nobody_from_reading_the_others(store: AnyStore) -> None:
    await store.digests.save("T1", "C1", digest(0.9), NOW)
    await store.digests.save("T1", "C1", digest(0.9, first=2), NOW + DAY)
    if isinstance(store, SqliteStore):
        await store.connections.write(lambda db: db.execute("update digests set data = '{' where id = 1"))
        (found,) = await store.archive.digests("T1", ["C1"], "kv", TODAY)
        assert found.saved_at == NOW + DAY
        (posting,) = await store.archive.postings("T1", ["C1"], [paper(1).key])
        assert await store.archive.posted_entry("T1", posting) is None


# --- the law: nobody is shown a digest of another channel or workspace

PLACES = st.tuples(st.sampled_from(["T1", "T2"]), st.sampled_from(["C1", "C2", "C3"]), st.sampled_from(["kv", "rag"]))
SAVED = st.lists(st.tuples(PLACES, st.integers(0, 3), st.lists(st.integers(1, 4), unique=True, max_size=3)), max_size=9)


ASKED_WORKSPACE, ASKED_CHANNELS = st.sampled_from(["T1", "T2", "T3"]), st.sets(st.sampled_from(["C1", "C2", "C3", "C4"]))
at_ease = settings(deadline=None, suppress_health_check=list(HealthCheck))


@given(SAVED, ASKED_WORKSPACE, ASKED_CHANNELS)
@settings(at_ease, max_examples=40)
def test_no_digest_of_another_channel_or_workspace_is_ever_shown(saved: Saved, workspace: str, channels: set[str]) -> None:
    asyncio.run(with_both(lambda store: shows_no_other(store, saved, workspace, channels)))


@given(saved=SAVED, workspace=ASKED_WORKSPACE, channels=ASKED_CHANNELS)
@settings(at_ease, max_examples=tries(40))
def test_no_digest_of_another_one_is_ever_shown_from_postgres(
    postgres: str, saved: Saved, workspace: str, channels: set[str]
) -> None:
    asyncio.run(with_postgres(postgres, lambda store: shows_no_other(store, saved, workspace, channels)))


async def shows_no_other(store: AnyStore, saved: Saved, workspace: str, channels: set[str]) -> None:
    allowed = [each for each in saved if each[0][0] == workspace and each[0][1] in channels and each[2]]

    for number, ((its, channel, topic), day, papers) in enumerate(saved):
        made = digest(topic=topic, day=TODAY + day * DAY)
        entries = tuple(digest(0.5, first=each).entries[0] for each in papers)
        # Each says whose it is, so that none is taken for another one.
        own = replace(made, entries=entries, title=f"{its} {channel}")
        await store.digests.save(its, channel, own, NOW + number * DAY)
    shown = await everything(store, workspace, sorted(channels))
    assert sorted((each.digest.topic, each.digest.day, each.saved_at) for each in shown) == sorted(
        (topic, TODAY + day * DAY, NOW + number * DAY)
        for number, ((_, _, topic), day, _) in enumerate(saved)
        if saved[number] in allowed and number in firsts(saved, workspace, channels)
    )
    assert {channel for each in shown for channel in each.channels} <= channels
    assert all(each.digest.title.startswith(workspace) for each in shown)
    keys = [paper(each).key for each in range(1, 5)]
    for posting in await store.archive.postings(workspace, sorted(channels), keys):
        assert posting.channel in channels
        assert posting.title == f"{workspace} {posting.channel}"
    assert set(await store.archive.channels(workspace)) == {
        each[0][1] for each in saved if each[0][0] == workspace and each[2]
    }


def firsts(saved: Saved, workspace: str, channels: set[str]) -> set[int]:
    """The numbers of those that lead among the digests that show the same."""
    seen: dict[object, int] = {}
    for number, ((its, channel, topic), day, papers) in enumerate(saved):
        if its == workspace and channel in channels and papers:
            seen.setdefault((channel, topic, day, tuple(papers)), number)
    return set(seen.values())


async def everything(store: AnyStore, workspace: str, channels: list[str]) -> list[ArchivedDigest]:
    """All that can be read by the topics and their days."""
    found: list[ArchivedDigest] = []
    for topic in await store.archive.topics(workspace, channels):
        days: list[date] = [each.day for each in await store.archive.days(workspace, channels, topic.name)]
        assert (topic.days, topic.last) == (len(days), days[0])
        for day in days:
            found += await store.archive.digests(workspace, channels, topic.name, day)
    return found
