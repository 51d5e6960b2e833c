"""The next digest now instead of at its time: opened once a day, and only where something would be posted."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import cast

import pytest

from bot.errors import UsageError
from bot.models import ON_REQUEST, Change, Health, Occurrence, OccurrenceState, Preferences, SourceState
from bot.ports.facts import HEARTBEAT
from bot.query import parse
from tests.bot.handlers.askers import PACKS, Asker, about, asker, said, stored
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

HOUR = timedelta(hours=1)


async def opened(ada: Asker) -> list[Occurrence]:
    """What was asked for in all workspaces and is due."""
    found = await ada.context.store.ledger.occurrences(ada.now + timedelta(days=9))
    return [each for each in found if each.slot == ON_REQUEST]


async def settle(ada: Asker, **settled: object) -> None:
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="settings")
    await ada.context.store.workspaces.save_preferences(ada.actor.workspace, Preferences(**settled), note)  # type: ignore[arg-type]


async def test_what_a_new_subscription_offers_opens_an_occurrence_that_is_due_now(ada: Asker) -> None:
    await ada.ask("subscribe kv daily at 09:30 in Auckland")
    (ours,) = await ada.here()

    reply = await ada.ask("post kv")

    (due,) = await opened(ada)
    assert (due.subscription, due.channel, due.topic, due.due) == (ours.id, "C1", "kv", ada.now)
    assert due.day.isoformat() == "2026-04-01", "in the subscription's zone"
    assert reply.title == "KV cache is posted now"
    assert reply.text == (
        (
            "The digest is made, and posted in this channel in a moment. "
            "The next one comes Thursday 2 April at 09:30, in 13 hours 30 minutes, with what came in since."
        ),
        "The service has not run yet: nothing is collected or posted until it does.",
    )
    assert reply.private


async def test_whoever_asks_twice_on_a_day_is_told_what_became_of_the_first(ada: Asker) -> None:
    await ada.context.store.facts.set(HEARTBEAT, ada.now.isoformat())
    await ada.ask("subscribe kv daily at 09:30 in Zurich")
    await ada.ask("post kv")
    (due,) = await opened(ada)

    being_made = await ada.at(ada.now + timedelta(minutes=5)).by(person="U-bob").ask("post kv")
    await ada.context.store.ledger.close_occurrence(replace(due, state=OccurrenceState.SKIPPED, reason="a reason."), ada.now)
    skipped = await ada.at(ada.now + timedelta(minutes=6)).ask("post kv")

    assert being_made.title == skipped.title == "KV cache was asked for today already"
    assert being_made.text == (
        "Once a day a digest is posted before its time. Today's, asked for at 09:00, is being made.",
        "The next one comes Wednesday 1 April at 09:30, in 25 minutes.",
    )
    assert "Today's, asked for at 09:00, was skipped: a reason." in said(skipped)
    assert await opened(ada) == []

    tomorrow = await ada.at(ada.now + timedelta(hours=18)).ask("post kv")  # 03:00 in Zurich
    assert tomorrow.title == "KV cache is posted now"


async def test_two_who_press_at_once_open_one(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    store = cast("MemoryStore", ada.context.store)
    recent = store.ledger.recent_occurrences
    first = True

    async def overtaken(workspace: str, *, channel: str = "", limit: int = 20) -> Sequence[Occurrence]:
        nonlocal first
        found = await recent(workspace, channel=channel, limit=limit)
        if first:
            first = False
            await ada.by(person="U-bob").ask("post kv")
        return found

    store.ledger = instead(store.ledger, recent_occurrences=overtaken)
    reply = await ada.ask("post kv")

    assert reply.title == "KV cache was asked for today already"
    assert len(await opened(ada)) == 1


async def test_nothing_is_opened_while_the_first_collection_runs_and_the_sources_are_named(now: datetime) -> None:
    store = MemoryStore()
    await store.open()
    ada = asker(store, now)
    await store.source_states.save(SourceState(name="github", health=Health.OK, asked=now, answered=now))

    subscribed = await ada.ask("subscribe kv daily at 09:30 in Zurich")
    reply = await ada.ask("post kv")

    collecting = "arXiv and The lab were not read to the end yet: more will come in."
    assert subscribed.text[-2:] == ("Nothing came in during the last 2 days yet.", collecting)
    assert "Post now" not in said(subscribed)
    assert reply.title == "Nothing of KV cache to post now"
    assert reply.text == (
        "Nothing has come in since Monday 30 March at 09:00.",
        collecting,
        "The next digest comes Wednesday 1 April at 09:30, in 30 minutes.",
    )
    assert await opened(ada) == []


async def test_where_nothing_passes_it_says_what_became_of_all_and_the_days_turn_is_left(ada: Asker) -> None:
    subscribed = await ada.ask("subscribe kv filter stars:>5")
    reply = await ada.ask("post kv")

    assert "Nothing that came in during the last 2 days passes." in subscribed.text
    assert "Post now" not in said(subscribed)
    assert (
        "Of 5 items that came in since Monday 30 March at 07:00 none is posted: 2 outside the topic and 3 filtered out."
        in reply.text
    )
    assert await opened(ada) == []

    await ada.ask("subscribe kv filter kind:paper")
    await ada.ask("post kv")
    assert len(await opened(ada)) == 1


async def test_after_a_digest_it_is_what_came_in_since(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    store, later = ada.context.store, ada.at(ada.now + HOUR)
    order = await ada.context.request(ada.actor, PACKS[0], (await ada.here())[0])
    digest = await ada.context.previewer.preview(order, later.now)
    await store.digests.save(ada.actor.workspace, "C1", digest, later.now)

    nothing = await later.ask("post kv")
    await store.items.add([about(9, "Evicting a cache")], later.now + HOUR)
    something = await later.at(later.now + 2 * HOUR).ask("post kv")

    assert "Nothing has come in since Wednesday 1 April at 08:00." in nothing.text
    assert something.title == "KV cache is posted now"


async def test_quiet_hours_hold_and_their_end_is_said(ada: Asker) -> None:
    await settle(ada, quiet_from=time(6), quiet_until=time(8), zone="UTC")
    await ada.ask("subscribe kv at 09:00")

    reply = await ada.ask("post kv")

    assert reply.title == "KV cache is posted when the quiet hours end"
    assert "That is Wednesday 1 April at 08:00, in 1 hour." in reply.text
    assert len(await opened(ada)) == 1


async def test_a_channel_that_had_its_entries_of_the_day_is_told_so(ada: Asker) -> None:
    await settle(ada, daily_entries=1, zone="UTC")
    await ada.ask("subscribe kv")
    order = await ada.context.request(ada.actor, PACKS[1])
    digest = await ada.context.previewer.preview(order, ada.now)
    await ada.context.store.digests.save(ada.actor.workspace, "C1", digest, ada.now)

    reply = await ada.ask("post kv")

    assert reply.text[0] == "The channel had 1 entry today, as many as *settings daily* allows."
    assert await opened(ada) == []


async def test_what_is_not_subscribed_paused_or_without_a_topic_is_not_posted(ada: Asker) -> None:
    with pytest.raises(UsageError, match="Nothing is subscribed in this channel"):
        await ada.ask("post kv")
    await ada.ask("subscribe kv")
    await ada.ask("pause kv")
    with pytest.raises(UsageError, match="Paused until somebody resumes it") as refused:
        await ada.ask("post kv")
    assert refused.value.hint == "*resume kv* ends the pause."
    await stored(ada, topic="gone", filter=parse("cache"))
    with pytest.raises(UsageError, match="The topic is not there any more") as refused:
        await ada.ask("post gone")
    assert refused.value.hint == "*unsubscribe gone* ends the subscription."
    assert await opened(ada) == []


async def test_only_who_may_manage_posts(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await settle(ada, manage="admins")
    with pytest.raises(UsageError, match="Only administrators"):
        await ada.ask("post kv")
    await ada.by(may_administer=True).ask("post kv")
    assert len(await opened(ada)) == 1


@pytest.mark.parametrize("again", ["subscribe kv", "subscribe kv top 3"])
async def test_who_changes_a_subscription_or_takes_its_end_back_is_offered_nothing(ada: Asker, again: str) -> None:
    await ada.ask("subscribe kv")
    assert "post now?" not in said(await ada.at(ada.now + HOUR).ask(again))
    await ada.at(ada.now + 2 * HOUR).ask("unsubscribe kv")
    assert "post now?" not in said(await ada.at(ada.now + 3 * HOUR).ask(again))
