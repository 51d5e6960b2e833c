from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from bot.models import (
    MAYBE_TWICE,
    Change,
    Delivery,
    DeliveryState,
    Health,
    Occurrence,
    OccurrenceState,
    SourceState,
    Subscription,
)
from tests.bot.handlers.askers import Asker, button, said


async def test_a_new_channel_is_told_how_to_begin_and_what_was_collected(ada: Asker) -> None:
    reply = await ada.ask("status")

    assert reply.text[0].startswith("Nothing is subscribed here yet. *subscribe TOPIC weekdays at 09:00* begins it")
    assert {field.name: field.value for field in reply.fields} == {
        "arXiv": "not asked yet",
        "GitHub": "not asked yet",
        "The lab": "not asked yet",
        "Collected": "5 papers, 0 repositories, 0 posts",
    }


async def test_each_subscription_tells_its_last_and_its_next_digest(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 09:30 in Europe/Zurich")
    (entry,) = (await ada.ask("status")).entries
    assert entry.title == "KV cache (kv)"
    assert entry.lines == (
        "No digest was posted yet.",
        "Next digest: Wednesday 1 April at 09:30, in 30 minutes.",
    )

    digest = (await ada.ask("now kv")).digests[0]
    await ada.context.store.digests.save(ada.actor.workspace, ada.actor.channel, digest, ada.now)
    (entry,) = (await ada.ask("status")).entries
    assert entry.lines[:2] == ("Last digest: Wednesday 1 April.", "It kept 3 of 5: 2 outside the topic.")


async def test_where_everything_went_is_told_of_the_daily_and_the_weekly_digest_apart(ada: Asker) -> None:
    for rhythm in ("daily", "weekly"):
        await ada.ask(f"subscribe kv {rhythm} at 09:30")
    daily, weekly = (await ada.ask("now kv")).digests
    few = replace(weekly, coverage=replace(weekly.coverage, seen=1, kept=1, dropped=()))
    for minutes, digest in enumerate((daily, few)):
        at = ada.now + timedelta(minutes=minutes)
        await ada.context.store.digests.save(ada.actor.workspace, ada.actor.channel, digest, at)

    told = [entry.lines[1] for entry in (await ada.ask("status")).entries]

    assert told == ["It kept 3 of 5: 2 outside the topic.", "It kept 1 of 1."]


async def test_what_is_paused_says_why_and_what_cannot_be_posted_what_to_do(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("subscribe gpu-systems")
    for each in await ada.here():
        if each.topic == "kv":
            changed = replace(each, paused=True, paused_because="the channel was archived")
        else:
            changed = replace(each, schedule=replace(each.schedule, zone="Atlantis/Capital"))
        change = Change(workspace=each.workspace, at=ada.now, person="U", what="subscription")
        await ada.context.store.workspaces.save_subscription(changed, change, replaces=each.revision)

    gone, paused = (await ada.ask("status")).entries

    assert paused.lines[-1] == "Paused by Broadsheet: the channel was archived. When that is mended, it goes on by itself."
    assert [each.command for each in paused.buttons] == ["now kv", "resume kv"]
    assert 'It cannot be posted: The time zone "Atlantis/Capital" is not known.' in gone.lines[-1]
    assert "*subscribe gpu-systems in Europe/Zurich*" in gone.lines[-1]


async def test_a_subscription_whose_topic_is_gone_promises_no_digest(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    (entry,) = (await replace(ada, context=replace(ada.context, packs={})).ask("status")).entries

    assert entry.lines[-1] == "Its topic is not there any more: nothing is posted for it."
    assert [each.command for each in entry.buttons] == ["unsubscribe kv"]


async def test_other_channels_are_counted_and_other_workspaces_are_not(ada: Asker) -> None:
    await ada.by(channel="C2").ask("subscribe kv")
    await ada.by(channel="C2").ask("pause kv")
    await ada.by(workspace="slack:T2").ask("subscribe kv")

    reply = await ada.ask("status")

    assert "1 subscription in other channels, 1 of them paused." in reply.text
    assert button(reply, "All subscriptions") == "list all"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (SourceState(name="arxiv", health=Health.OK, items=412), "well; 412 items, 2 hours ago"),
        (SourceState(name="arxiv", health=Health.QUIET, note="no announcement on Sundays."), "well, with nothing new"),
        (SourceState(name="arxiv", health=Health.DOWN, note="503"), "did not answer; last answered 2 hours ago; 503"),
    ],
)
async def test_a_source_tells_its_health_and_last_answer(ada: Asker, state: SourceState, words: str) -> None:
    await ada.context.store.source_states.save(replace(state, answered=ada.now - timedelta(hours=2)))

    (field,) = (field for field in (await ada.ask("status")).fields if field.name == "arXiv")
    assert field.value.startswith(words)


async def test_a_resting_source_says_when_it_is_asked_again(ada: Asker) -> None:
    rests = SourceState(name="github", health=Health.DOWN, rest_until=ada.now + timedelta(minutes=40))
    await ada.context.store.source_states.save(rests)

    assert "GitHub: did not answer; asked again in 40 minutes" in said(await ada.ask("status"))


NEVER_RAN = "The service has not run yet: nothing is collected or posted until it does."


@pytest.mark.parametrize(
    ("beat", "sentence"),
    [
        ("", NEVER_RAN),
        ("2026-04-01T04:00:00+00:00", "The service gave its last sign of life 3 hours ago: nothing is collected or posted."),
        ("2026-04-01T06:59:00+00:00", ""),
        ("garbled", NEVER_RAN),
    ],
)
async def test_a_service_that_does_not_run_is_noticed(ada: Asker, beat: str, sentence: str) -> None:
    await ada.context.store.facts.set("heartbeat", beat)

    told = [text for text in (await ada.ask("status")).text if "service" in text]
    assert told == ([sentence] if sentence else [])


async def test_a_digest_that_is_due_in_quiet_hours_is_told_with_the_time_at_which_they_end(ada: Asker) -> None:
    await ada.ask("subscribe kv at 23:00 in UTC")
    assert "Wednesday 1 April at 23:00" in said(await ada.ask("status"))
    await ada.ask("settings quiet 22:00-07:30")
    for asked in ("status", "list"):
        told = said(await ada.ask(asked))
        assert "Thursday 2 April at 07:30" in told
    assert "Thursday 2 April at 07:30" in said(await ada.ask("subscribe kv at 23:15"))


DAY = timedelta(days=1)


async def subscribed(asker: Asker) -> Subscription:
    await asker.ask("subscribe kv at 09:30 in Europe/Zurich")
    return (await asker.here())[0]


async def happened(asker: Asker, state: OccurrenceState, *parts: Delivery, ago: timedelta = DAY, **given: Any) -> Occurrence:
    """Let a digest of the channel's subscription have been due."""
    (of,) = await asker.here()
    due = asker.now.replace(hour=7, minute=30) - ago
    occurrence = Occurrence(
        subscription=of.id, workspace=of.workspace, channel=of.channel, topic=of.topic, day=due.date(), due=due
    )
    ledger = asker.context.store.ledger
    await ledger.open_occurrences([occurrence], of, asker.now + DAY)
    if state is not OccurrenceState.DUE or given:
        closed = replace(occurrence, state=state, **given)
        mine = [replace(each, occurrence=(of.id, due.date(), 0), due=due, id=f"{each.id}{due:%d}") for each in parts]
        assert await ledger.close_occurrence(closed, asker.now, deliveries=mine)
    return occurrence


def part(asker: Asker, state: DeliveryState, reason: str = "", number: int = 1) -> Delivery:
    return Delivery(
        id=f"d{number}",
        occurrence=("", date.min, 0),
        workspace=asker.actor.workspace,
        channel=asker.actor.channel,
        topic="kv",
        part=number,
        parts=2,
        payload="text",
        due=asker.now,
        next_at=asker.now,
        state=state,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("state", "given", "sentence"),
    [
        (OccurrenceState.DUE, {}, "is being made"),
        (OccurrenceState.DUE, {"reason": "The disk is full."}, "is being made: The disk is full"),
        (OccurrenceState.EMPTY, {}, "there was nothing to post"),
        (OccurrenceState.SKIPPED, {"reason": "noticed too late"}, "was skipped: noticed too late"),
        (OccurrenceState.MADE, {}, "was posted"),
        (OccurrenceState.MADE, {"late": True}, "was posted late"),
    ],
)
async def test_each_subscription_tells_what_became_of_its_last_digest(
    ada: Asker, state: OccurrenceState, given: dict[str, Any], sentence: str
) -> None:
    await subscribed(ada)
    await happened(ada, OccurrenceState.EMPTY, ago=2 * DAY)
    parts = [part(ada, DeliveryState.DONE)] if state is OccurrenceState.MADE else []
    await happened(ada, state, *parts, **given)

    entry = (await ada.ask("status")).entries[0]

    assert entry.lines[0] == f"Last digest: that of Tuesday 31 March at 09:30 {sentence}."
    assert entry.lines[1].startswith("Next digest: ")


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ([(DeliveryState.DONE, ""), (DeliveryState.PENDING, "")], "waits to be posted"),
        (
            [(DeliveryState.PENDING, "The platform asked for a pause."), (DeliveryState.PENDING, "")],
            "waits to be posted: The platform",
        ),
        (
            [(DeliveryState.DONE, ""), (DeliveryState.AMBIGUOUS, "unknown: The history may not be read.")],
            "posted or not: The history may",
        ),
        (
            [(DeliveryState.FAILED, "The channel is archived."), (DeliveryState.EXPIRED, "")],
            "was not posted: The channel is archived",
        ),
        ([(DeliveryState.DONE, MAYBE_TWICE)], "was posted, maybe twice"),
        ([(DeliveryState.EXPIRED, "It could not be posted in time.")], "was not posted: It could not be posted in time"),
    ],
)
async def test_the_worst_of_a_digests_parts_is_told(
    ada: Asker, parts: list[tuple[DeliveryState, str]], sentence: str
) -> None:
    await subscribed(ada)
    made = [part(ada, state, reason, number) for number, (state, reason) in enumerate(parts, start=1)]
    await happened(ada, OccurrenceState.MADE, *made)

    assert sentence in (await ada.ask("status")).entries[0].lines[0]


async def test_what_went_wrong_lately_is_told_by_name_and_all_is_counted(ada: Asker) -> None:
    await subscribed(ada)
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.DONE), ago=DAY, late=True)
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.AMBIGUOUS, "unknown: nobody can look"), ago=2 * DAY)
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.FAILED, "The channel is archived."), ago=3 * DAY)
    await happened(ada, OccurrenceState.SKIPPED, ago=4 * DAY, reason="overtaken by a later digest")
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.EXPIRED, "unsubscribed"), ago=5 * DAY)
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.FAILED, "long ago"), ago=9 * DAY)

    reply = await ada.ask("status")

    assert [(each.title, each.lines) for each in reply.entries[1:]] == [
        ("KV cache, Monday 30 March at 09:30", ("It may have been posted or not: nobody can look.",)),
        ("KV cache, Sunday 29 March at 09:30", ("It was not posted: The channel is archived.",)),
        ("KV cache, Saturday 28 March at 08:30", ("It was skipped: overtaken by a later digest.",)),
    ]
    told = {field.name: field.value for field in reply.fields}["Digests here, last 7 days"]
    assert told == "1 posted (1 late), 1 may have been posted or not, 1 not posted, 1 skipped, 1 not wanted any more"
    assert "long ago" not in said(reply)


async def test_why_the_last_digest_was_not_posted_and_all_is_paused_is_said_once(ada: Asker) -> None:
    held = await subscribed(ada)
    why = "The channel is archived."
    await happened(ada, OccurrenceState.MADE, part(ada, DeliveryState.FAILED, why))
    change = Change(workspace=held.workspace, at=ada.now, person="U", what="subscription")
    paused = replace(held, paused=True, paused_because=why)
    await ada.context.store.workspaces.save_subscription(paused, change, replaces=held.revision)

    reply = await ada.ask("status")

    assert said(reply).count("archived") == 1
    assert [each.lines for each in reply.entries] == [
        (
            "Last digest: that of Tuesday 31 March at 09:30 was not posted.",
            "Paused by Broadsheet: The channel is archived. When that is mended, it goes on by itself.",
        )
    ]


async def test_many_troubles_are_told_briefly(ada: Asker) -> None:
    await subscribed(ada)
    for days in range(7):
        await happened(ada, OccurrenceState.SKIPPED, ago=days * DAY + timedelta(hours=2), reason="too late")

    entries = (await ada.ask("status")).entries[1:]

    assert len(entries) == 6
    assert entries[-1].title == "1 more digest with trouble before"  # the last one is told of with its subscription


async def test_trouble_in_other_channels_is_counted_and_that_of_other_workspaces_is_not(ada: Asker) -> None:
    for asker in (ada.by(channel="C2"), ada.by(workspace="slack:T2", channel="C3")):
        await subscribed(asker)
        await happened(asker, OccurrenceState.MADE, part(asker, DeliveryState.FAILED, "secret reason"))

    reply = await ada.ask("status")

    assert "In other channels, 1 digest of the last 7 days was not posted, or may not have been." in reply.text
    assert "secret reason" not in said(reply)
