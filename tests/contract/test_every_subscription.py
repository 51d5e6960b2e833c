"""What the service may ask of all workspaces at once."""

from dataclasses import replace
from datetime import timedelta

from bot.models import Change, Schedule, Subscription
from tests.conftest import NOW
from tests.stores import AnyStore


def subscription(workspace: str, channel: str, topic: str) -> Subscription:
    return Subscription(
        id=f"{workspace} {channel} {topic}",
        workspace=workspace,
        channel=channel,
        topic=topic,
        schedule=Schedule(),
        baseline=NOW,
    )


async def test_the_subscriptions_of_all_workspaces_are_there_paused_ones_too(store: AnyStore) -> None:
    assert await store.ledger.every_subscription() == []

    places: list[tuple[str, str, str]] = [("T2", "C1", "kv"), ("T1", "C2", "kv"), ("T1", "C1", "kv"), ("T1", "C1", "gpu")]
    kept = []
    for place in places:
        given = subscription(*place)
        if place[1] == "C2":
            given = replace(given, paused=True, paused_until=NOW + timedelta(days=1))
        change = Change(workspace=place[0], at=NOW, person="U1", what="subscription")
        kept.append(await store.workspaces.save_subscription(given, change, replaces=0))

    assert await store.ledger.every_subscription() == kept[::-1]


async def test_of_what_is_paused_only_what_the_service_paused_is_given_by_itself(store: AnyStore) -> None:
    assert await store.ledger.paused_by_service() == []

    gone = "The channel is gone."
    given = [
        subscription("T2", "C1", "kv").held_back(None, NOW, gone),
        subscription("T1", "C1", "kv").held_back(None, NOW, gone),
        subscription("T1", "C2", "kv").held_back(None, NOW),
        subscription("T1", "C3", "kv").held_back(NOW + timedelta(days=1), NOW, gone),
        subscription("T1", "C4", "kv"),
        subscription("T1", "C5", "kv").held_back(None, NOW, gone).lifted(NOW),
    ]
    kept = []
    for each in given:
        change = Change(workspace=each.workspace, at=NOW, person="U1", what="subscription")
        kept.append(await store.workspaces.save_subscription(each, change, replaces=0))
    await store.ledger.open_occurrences([], kept[1], NOW + timedelta(days=1))

    assert await store.ledger.paused_by_service() == [kept[1], kept[0]]
    assert (kept[5].lifted_at, kept[5].lifts, kept[5].paused) == (NOW, 1, False)
