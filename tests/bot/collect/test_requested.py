"""What subscribed topics ask of the sources."""

from dataclasses import replace
from datetime import datetime

from bot.collect.requested import TopicRequests
from bot.models import Change, Schedule, Subscription, Topic
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

PACKS = {
    "kv": Topic(name="kv", title="KV", repositories=("topic:kv-cache",), examples=("arxiv:2603.00001", "Keys and values.")),
    "gpu": Topic(name="gpu", title="GPU", repositories=("topic:cuda", "topic:kv-cache")),
    "unused": Topic(name="unused", title="Unused", repositories=("topic:unused",)),
}


async def subscribe(store: MemoryStore, now: datetime, workspace: str, *topics: str, paused: bool = False) -> None:
    for topic in topics:
        subscription = Subscription(
            id=f"{workspace} {topic}",
            workspace=workspace,
            channel="C1",
            topic=topic,
            schedule=Schedule(),
            baseline=now,
            paused=paused,
        )
        await store.workspaces.save_subscription(subscription, change(workspace, now), replaces=0)


def change(workspace: str, now: datetime) -> Change:
    return Change(workspace=workspace, at=now, person="U1", what="something")


async def test_packs_that_a_channel_subscribed_are_searched_for_and_others_are_not(now: datetime) -> None:
    store = MemoryStore()
    await subscribe(store, now, "slack:T1", "kv", "gone")
    await subscribe(store, now, "discord:7", "gpu", paused=True)

    assert await TopicRequests(store.items, store.workspaces, store.ledger, PACKS).searches() == (
        "topic:cuda",
        "topic:kv-cache",
    )


async def test_a_workspaces_own_topic_comes_before_the_pack_and_only_there(now: datetime) -> None:
    store = MemoryStore()
    requests = TopicRequests(store.items, store.workspaces, store.ledger, PACKS)
    await subscribe(store, now, "slack:T1", "kv")
    own = replace(PACKS["kv"], repositories=("topic:mine",))
    own = await store.workspaces.save_topic("slack:T1", own, change("slack:T1", now), replaces=0)
    await store.workspaces.save_topic("slack:T2", replace(own, name="not-subscribed"), change("slack:T2", now), replaces=0)
    assert await requests.searches() == ("topic:mine",)

    await store.workspaces.save_topic(
        "slack:T1", replace(own, repositories=("topic:other",)), change("slack:T1", now), replaces=1
    )
    assert await requests.searches() == ("topic:other",)


async def test_example_papers_are_asked_for_until_they_are_known(now: datetime) -> None:
    store = MemoryStore()
    requests = TopicRequests(store.items, store.workspaces, store.ledger, PACKS)
    await subscribe(store, now, "slack:T1", "kv", "odd")
    odd = Topic(name="odd", title="Odd", examples=("arxiv:math/0309136", "arxiv:../../etc", "github:a/b"))
    await store.workspaces.save_topic("slack:T1", odd, change("slack:T1", now), replaces=0)
    assert await requests.papers() == ("2603.00001", "math/0309136")

    await store.items.add([paper("2603.00001")], now)
    assert await requests.papers() == ("math/0309136",)


async def test_the_categories_of_what_is_subscribed_are_needed_each_once(now: datetime) -> None:
    store = MemoryStore()
    packs = {
        "kv": replace(PACKS["kv"], categories=("cs.RO", "cs.AI")),
        "gpu": replace(PACKS["gpu"], categories=("cs.AI", "stat.ML")),
        "unused": replace(PACKS["unused"], categories=("cs.CR",)),
        "repos": Topic(name="repos", title="Repos", sources=("github",), categories=("cs.SE",)),
    }
    requests = TopicRequests(store.items, store.workspaces, store.ledger, packs)
    assert await requests.categories() == ()
    await subscribe(store, now, "slack:T1", "kv", "gpu", "repos", "gone")
    assert sorted(await requests.categories()) == ["cs.AI", "cs.RO", "stat.ML"]
