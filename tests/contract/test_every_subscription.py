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
