"""Who may read feeds by which token, on every store."""

from dataclasses import replace

from bot.models import MOST_FEEDS, FeedAccess
from tests.conftest import NOW
from tests.stores import AnyStore

ADA = FeedAccess(
    hashed="a1",
    platform="slack",
    workspace="slack:T1",
    person="U1",
    channel="C1",
    is_direct=True,
    reading_list="C2",
    topic="kv",
    made_at=NOW,
)


async def test_a_token_is_found_as_it_was_given_by_its_hash_alone(store: AnyStore) -> None:
    plain = FeedAccess(hashed="a2", platform="", workspace="slack:T2", person="U1", channel="", made_at=NOW)
    for each in (ADA, plain):
        assert await store.people.allow_feeds(each)
        assert await store.people.feeds_by(each.hashed) == each
    assert [await store.people.feeds_by(each) for each in ("", "a", "A1", "a1 ", "a3")] == [None] * 5


async def test_a_person_ends_their_own_tokens_of_one_workspace_or_one_topic_at_once(store: AnyStore) -> None:
    whole, other = replace(ADA, hashed="a2", topic=""), replace(ADA, hashed="a3", topic="gpu")
    stay = [replace(ADA, hashed="b1", person="U2"), replace(ADA, hashed="b2", workspace="slack:T2")]
    for each in (ADA, whole, other, *stay):
        await store.people.allow_feeds(each)
    assert await store.people.revoke_feeds("slack:T1", "U1", topic="kv") == 1
    assert [await store.people.feeds_by(each) for each in ("a1", "a2", "a3")] == [None, whole, other]
    assert await store.people.revoke_feeds("slack:T1", "U1") == 2
    assert await store.people.revoke_feeds("slack:T1", "U1") == 0
    assert [await store.people.feeds_by(each) for each in ("a2", "a3")] == [None, None]
    assert [await store.people.feeds_by(each.hashed) for each in stay] == stay


async def test_a_person_has_so_many_tokens_in_a_workspace_and_no_more(store: AnyStore) -> None:
    for number in range(MOST_FEEDS):
        assert await store.people.allow_feeds(replace(ADA, hashed=f"{number}"))
    assert not await store.people.allow_feeds(ADA)
    assert await store.people.feeds_by(ADA.hashed) is None
    assert await store.people.allow_feeds(replace(ADA, hashed="x", person="U2"))
    assert await store.people.allow_feeds(replace(ADA, hashed="y", workspace="slack:T2"))
    assert await store.people.revoke_feeds("slack:T1", "U1") == MOST_FEEDS
    assert await store.people.allow_feeds(ADA)
