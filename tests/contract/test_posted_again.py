"""A repository is posted again for a later release, and each release once, whoever makes digests at the same time."""

from dataclasses import replace

import pytest

from bot.errors import Conflict
from bot.models import Delivery, DeliveryState, Digest, Item, Kind, LeftOut, OccurrenceState, Release, Rhythm, Window
from tests.conftest import NOW
from tests.contract.made import digest
from tests.contract.test_ledger import DAY, MINUTE, occurrence, part, subscribed, taken
from tests.stores import AnyStore

CODE = Item(key="github:lab/cache", kind=Kind.REPO, title="lab/cache", aliases=("github:old/cache",))


def told(tag: str, *, again: bool, rhythm: Rhythm = Rhythm.DAILY, follows: int = 0, item: Item = CODE) -> Digest:
    """Return a digest that shows the repository with its release of that tag, which happened after the window."""
    bare = digest(0.5)
    (entry,) = bare.entries
    released = replace(item, release=Release(tag=tag, published=NOW))
    shown = replace(entry, ranked=replace(entry.ranked, item=released))
    window = Window(follows, follows + 1, follows)
    carried = (LeftOut(item.key, "", 0, 0.5, arrival=window.through + 1),)
    known = (item.key,) if again else ()
    return replace(bare, entries=(shown,), window=window, rhythm=rhythm, carried=carried, again=known)


async def printed(store: AnyStore, shown: Digest, slot: int = 0) -> Delivery:
    ours = (await store.workspaces.subscriptions("T1") or [await subscribed(store)])[0]
    due, at = occurrence(ours, slot=slot), NOW + slot * MINUTE
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    pending = part(due, 1, 1, made_at=at)
    mine = replace(shown, subscription=ours.id, until=at)
    made = replace(due, state=OccurrenceState.MADE)
    assert await store.ledger.close_occurrence(made, at, digest=mine, deliveries=[pending])
    return pending


async def marks(store: AnyStore) -> set[str]:
    return set(await store.digests.posted("T1", "C-s1"))


async def test_each_release_is_kept_beside_the_repository(store: AnyStore) -> None:
    await printed(store, told("v2", again=False))
    assert await marks(store) == {CODE.key, f"{CODE.key}@", f"{CODE.key}@2.0.0"}
    await printed(store, told("v2.1", again=True, follows=1), slot=1)
    assert f"{CODE.key}@2.1.0" in await marks(store)
    assert [each.key for each in await store.digests.postings("T1", "C-s1", [CODE.key])] == [CODE.key] * 2
    assert await store.maintenance.check() == []


@pytest.mark.parametrize("rhythm", [Rhythm.DAILY, Rhythm.AT_ONCE])
async def test_a_release_that_another_digest_has_posted_is_not_posted_again(store: AnyStore, rhythm: Rhythm) -> None:
    await printed(store, told("v2", again=False))
    await printed(store, told("v2.1", again=True, follows=1), slot=1)
    follows = 2 if rhythm is Rhythm.DAILY else 0
    with pytest.raises(Conflict):
        await printed(store, told("2.1.0", again=True, rhythm=rhythm, follows=follows), slot=2)
    renamed = replace(CODE, key="github:new/cache", aliases=(CODE.key,))
    with pytest.raises(Conflict):
        await printed(store, told("v2.1", again=True, rhythm=rhythm, follows=follows, item=renamed), slot=2)
    await printed(store, told("v2.2", again=True, rhythm=rhythm, follows=follows), slot=2)


async def test_a_repository_that_another_digest_has_posted_meanwhile_is_not_shown_as_new(store: AnyStore) -> None:
    await printed(store, told("v2", again=False))
    with pytest.raises(Conflict):
        await printed(store, told("v2.1", again=False, follows=1), slot=1)


@pytest.mark.parametrize("overtakes", [False, True])
async def test_what_is_renamed_while_digests_are_made_is_posted_by_one_of_them(store: AnyStore, overtakes: bool) -> None:
    before = replace(CODE, key="github:lab/kv", aliases=())
    after = replace(CODE, key="github:lab/kv2", aliases=(before.key,))
    await store.items.add([before], NOW)
    await store.items.add([after], NOW, retired=[before.key])
    one = replace(told("v2", again=False, item=before), carried=())
    other = replace(told("v2", again=False, item=after, rhythm=Rhythm.AT_ONCE), carried=())
    first, second = (other, one) if overtakes else (one, other)
    await printed(store, first, slot=1)
    with pytest.raises(Conflict):
        await printed(store, second, slot=2)


@pytest.mark.parametrize("overtakes", [False, True])
async def test_a_release_is_posted_once_though_its_repository_is_renamed_while_digests_are_made(
    store: AnyStore, overtakes: bool
) -> None:
    before = replace(CODE, key="github:lab/kv", aliases=())
    after = replace(CODE, key="github:lab/kv2", aliases=(before.key,))
    await store.items.add([before], NOW)
    await printed(store, told("v2", again=False, item=before))
    await store.items.add([after], NOW, retired=[before.key])
    one = told("v2.1", again=True, follows=1, item=before)
    other = told("v2.1", again=True, rhythm=Rhythm.AT_ONCE, item=after)
    first, second = (other, one) if overtakes else (one, other)
    await printed(store, first, slot=1)
    with pytest.raises(Conflict):
        await printed(store, second, slot=2)


@pytest.mark.parametrize("overtakes", [False, True])
async def test_a_release_is_posted_once_though_one_digest_looks_at_the_repository_as_new(
    store: AnyStore, overtakes: bool
) -> None:
    await printed(store, told("v2", again=False))
    one = replace(told("v2.1", again=True, follows=1), carried=())
    other = told("v2.1", again=True, rhythm=Rhythm.AT_ONCE)
    first, second = (other, one) if overtakes else (one, other)
    await printed(store, first, slot=1)
    with pytest.raises(Conflict):
        await printed(store, second, slot=2)


async def test_a_release_that_surely_never_appeared_was_not_posted(store: AnyStore) -> None:
    await printed(store, told("v2", again=False))
    second = await printed(store, told("v2.1", again=True, follows=1), slot=1)
    claimed = await taken(store, second)
    assert await store.ledger.record(replace(claimed, state=DeliveryState.FAILED, reason="Closed."), unposted=True)
    assert await marks(store) == {CODE.key, f"{CODE.key}@", f"{CODE.key}@2.0.0"}
    await printed(store, told("v2.1", again=True, follows=1), slot=2)
