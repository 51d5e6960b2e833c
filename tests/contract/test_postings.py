"""What was posted in a workspace, and what pruning keeps for it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.models import (
    Item,
    Kind,
    LeftOut,
    PastDigest,
    Posting,
    Saved,
    Topic,
)
from tests.conftest import NOW
from tests.contract.made import KEYS, change, digest, paper, said, subscription
from tests.stores import AnyStore

DAY = timedelta(days=1)
TODAY = NOW.date()
PLAIN = Topic(name="kv", title="KV")


async def test_postings_say_when_of_which_topic_and_with_what_score_the_latest_first(store: AnyStore) -> None:
    code = Item(key="github:a/b", kind=Kind.REPO, title="a/b")
    await store.digests.save("T1", "C1", digest(0.9, 0.5), NOW)
    await store.digests.save("T1", "C1", digest(0.75, first=2, topic="other", day=TODAY + DAY, partner=code), NOW + DAY)
    await store.digests.save("T1", "C2", digest(0.1), NOW)
    await store.digests.save("T2", "C1", digest(0.1), NOW)

    first, second = paper(1).key, paper(2).key
    assert await store.digests.postings("T1", "C1", [first, "arxiv:unknown"]) == [Posting(first, "kv", TODAY, NOW, 0.9)]
    assert await store.digests.postings("T1", "C1", {second, code.key}) == [
        Posting(second, "other", TODAY + DAY, NOW + DAY, 0.75),
        Posting(code.key, "other", TODAY + DAY, NOW + DAY, None),
        Posting(second, "kv", TODAY, NOW, 0.5),
    ]
    assert await store.digests.postings("T1", "C1", []) == []
    assert await store.digests.postings("T1", "C3", [first]) == []
    assert await store.digests.posted("T1", "C1") == {first, second, code.key, f"{code.key}@"}


async def test_a_posting_knows_for_which_subscription_it_was(store: AnyStore) -> None:
    await store.digests.save("T1", "C1", replace(digest(0.9), subscription="s1", rhythm="weekly"), NOW)
    (found,) = await store.digests.postings("T1", "C1", [paper(1).key])
    assert found.subscription == "s1"


async def test_an_item_posted_under_an_older_key_is_found_by_it(store: AnyStore) -> None:
    await store.digests.save("T1", "C1", digest(0.9), NOW)
    heir = paper(7, aliases=(paper(1).key,))
    await store.items.add([heir], NOW, retired=[paper(1).key])
    found = await store.digests.postings("T1", "C1", [heir.key, *heir.aliases])
    assert found == [Posting(paper(1).key, "kv", TODAY, NOW, 0.9)]


async def shown(store: AnyStore, workspace: str = "T1", channel: str = "C1", **asked: Any) -> list[tuple[str, ...]]:
    """The entries of the channel's past digests."""
    return [each.entries for each in await store.digests.past(workspace, channel, **asked)]


async def test_past_digests_come_the_last_saved_first_of_a_topic_or_with_entries_alone(store: AnyStore) -> None:
    assert await shown(store) == []
    await store.digests.save("T1", "C1", digest(0.9, 0.5, first=3), NOW + DAY)
    await store.digests.save("T1", "C1", digest(0.4), NOW)
    await store.digests.save("T1", "C1", digest(), NOW + 2 * DAY)
    both, one = (paper(3).key, paper(4).key), (paper(1).key,)
    assert await shown(store) == [(), both, one]
    assert await shown(store, with_entries=True) == [both, one]
    assert await shown(store, with_entries=True, limit=1) == [both]
    assert await shown(store, saved_by=NOW + DAY, limit=1) == [both]
    assert await shown(store, topic="kv", saved_by=NOW) == [one]
    await store.digests.save("T1", "C1", digest(0.1, first=9, topic="other"), NOW + DAY)
    assert await shown(store, with_entries=True) == [(paper(9).key,), both, one]
    assert await shown(store, topic="other") == [(paper(9).key,)]
    assert await shown(store, channel="C2") == []
    assert await shown(store, workspace="T2") == []


async def test_what_a_digest_left_out_is_kept_with_it_with_what_it_asked_for(store: AnyStore) -> None:
    left = (
        LeftOut(paper(8).key, "over the cap", 2, 0.4, 0.3, "github:a/b", NOW - DAY, 17),
        LeftOut(paper(9).key, "below the bar", 3, 0.2),
    )
    made = replace(digest(0.9), left_out=left, others=104, above=2, cap=1, min_score=0.3, carried=left[:1])
    await store.digests.save("T1", "C1", made, NOW)

    (past,) = await store.digests.past("T1", "C1", topic="kv")

    assert past == PastDigest(
        "kv", "KV", TODAY, NOW, (paper(1).key,), left, 104, above=2, cap=1, min_score=0.3, seen=1, kept=1, gists=("",)
    )
    assert past.numbered == (paper(1).key, paper(8).key, paper(9).key)


async def test_the_gists_that_a_digest_posted_are_kept_with_it(store: AnyStore) -> None:
    made = digest(0.9)
    made = replace(made, entries=(replace(made.entries[0], gist="Pages the KV cache."),))
    await store.digests.save("T1", "C1", made, NOW)

    (past,) = await store.digests.past("T1", "C1", topic="kv")

    assert past.gist_of(paper(1).key) == "Pages the KV cache."
    assert past.gist_of(paper(2).key) == ""


async def test_a_digest_that_counts_in_words_of_before_is_read_as_it_was_written(store: AnyStore) -> None:
    said = (("outside the query", 400), ("below the score", 11))
    left = (LeftOut(paper(9).key, "below the score", 3, 0.2),)
    made = digest(0.9)
    made = replace(made, left_out=left, coverage=replace(made.coverage, seen=412, dropped=said))
    await store.digests.save("T1", "C1", made, NOW)

    (past,) = await store.digests.past("T1", "C1", topic="kv")

    assert (past.seen, past.dropped, past.left_out) == (412, said, left)
    assert past.numbered == (paper(1).key, paper(9).key)


# --- upkeep


async def test_pruning_keeps_what_somebody_saved_judged_or_named_as_an_example(store: AnyStore) -> None:
    given = [
        paper(1),
        paper(2),
        paper(3, aliases=("doi:10.1/saved",)),
        paper(4, aliases=("doi:10.1/judged",)),
        paper(5),
        paper(6),
    ]
    await store.items.add(given, NOW)
    await store.people.save_item("T1", "U1", Saved(paper(1).key, NOW))
    await store.people.save_item("T1", "U1", Saved("doi:10.1/saved", NOW))
    await store.people.save_feedback(said(paper(2).key, more=False), change())
    await store.people.save_feedback(said("doi:10.1/judged"), change())
    await store.workspaces.save_topic("T1", replace(PLAIN, examples=("A text", paper(5).key)), change(), replaces=0)

    dropped = await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW)

    assert dropped["items"] == 1
    assert set(await store.items.find([item.key for item in given])) == {item.key for item in given[:5]}


async def test_what_nobody_holds_any_more_goes_at_the_next_pruning(store: AnyStore) -> None:
    await store.items.add([paper(1), paper(2)], NOW)
    await store.workspaces.save_topic("T1", replace(PLAIN, examples=(paper(2).key,)), change(), replaces=0)
    await store.people.save_feedback(said(paper(1).key), change())
    await store.people.save_item("T1", "U1", Saved(paper(1).key, NOW))
    await store.workspaces.delete_topic("T1", "kv", change(), replaces=1)
    assert (await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW))["items"] == 1
    await store.people.unsave_item("T1", "U1", paper(1).key)
    assert (await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW))["items"] == 1


async def test_statistics_count_what_all_workspaces_made(store: AnyStore) -> None:
    for workspace in ("T1", "T2"):
        line = change(workspace=workspace)
        await store.workspaces.save_topic(workspace, PLAIN, line, replaces=0)
        for channel in ("C1", "C2"):
            await store.workspaces.save_subscription(subscription(channel, workspace=workspace), line, replaces=0)
        for key in KEYS:
            await store.people.save_item(workspace, "U1", Saved(key, NOW))
    counts = await store.maintenance.statistics()
    assert (counts["topics"], counts["subscriptions"], counts["saved"]) == (2, 4, 6)
    assert await store.maintenance.check() == []
