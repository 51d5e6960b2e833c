import asyncio
from collections.abc import Collection
from dataclasses import replace
from datetime import time, timedelta

import pytest

from bot.commands import Subscribe, parse
from bot.errors import Conflict, StoreError, UsageError
from bot.handlers.handle import answer
from bot.models import Actor, Change, Layout, Preferences, Reply, Rhythm, Schedule
from bot.settings.sources import ArxivSettings
from tests.bot.handlers.askers import Asker, button, changes, said, stored


async def test_subscribing_says_what_is_posted_where_when_and_when_next(ada: Asker) -> None:
    reply = await ada.ask(
        "subscribe kv weekdays at 9:30 in zurich top 5 min 0.4 compact always filter kind:paper -blockchain"
    )

    assert reply.title == "Subscribed to KV cache"
    what, *rest = reply.text
    assert what == (
        "What fits *KV cache* that passes the filter will be posted in this channel on weekdays at 09:30 (Europe/Zurich), "
        "the best first."
    )
    assert rest == [
        "The next digest comes Wednesday 1 April at 09:30, in 30 minutes.",
        "Nothing from before now will be posted by itself.",
        "The best of the last 2 days: post now?",
    ]
    assert {field.name: field.value for field in reply.fields} == {
        "When": "on weekdays at 09:30 (Europe/Zurich)",
        "Next": "Wednesday 1 April at 09:30, in 30 minutes",
        "Entries": "up to 5",
        "Bar": "0.4 of relevance",
        "Filter": "kind:paper -blockchain",
        "Layout": "brief",
        "When there is nothing": "says so",
    }
    assert [each.label for each in reply.buttons] == ["Post now", "Preview", "Pause", "Unsubscribe", "Try the filter"]
    assert button(reply, "Post now") == "post kv"
    assert not reply.private


async def test_subscribing_says_what_is_collected_for_it_and_what_is_not(ada: Asker) -> None:
    await ada.ask("topic edit kv categories cs.RO cs.AI math.OC")
    told = " ".join((await ada.ask("subscribe kv")).text)
    again = " ".join((await ada.ask("subscribe kv at 10:00")).text)
    assert "For it, arXiv's cs.RO and math.OC are collected too." in told
    assert "collected" not in again

    forbidden = Asker(replace(ada.context, arxiv=ArxivSettings(follow_topics=False)), ada.actor, ada.now)
    told = " ".join((await forbidden.ask("subscribe kv at 11:00")).text)
    assert "arXiv's cs.RO and math.OC are not collected, so that papers are missed." in told


async def test_a_new_subscription_has_its_baseline_now_and_the_usual_day(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    (made,) = await ada.here()
    assert made.baseline == made.made_at == ada.now
    assert made.schedule == Schedule(at=time(9), zone="UTC")
    assert (made.entries, made.min_score, made.layout, made.always) == (None, None, None, False)
    assert (made.channel, made.made_by, made.revision) == ("C1", "U-ada", 1)


async def test_the_operators_zone_stands_where_nobody_elses_is_known(ada: Asker) -> None:
    there = Asker(replace(ada.context, zone="Europe/Rome"), ada.actor, ada.now)
    told = {field.name: field.value for field in (await there.ask("settings")).fields}
    assert told["Time zone of new subscriptions"].endswith("else Europe/Rome")
    await there.ask("subscribe kv")
    assert (await there.here())[0].schedule.zone == "Europe/Rome"


@pytest.mark.parametrize(
    ("settled", "own", "zone"),
    [
        ("", "", "UTC"),
        ("", "America/New_York", "America/New_York"),
        ("Europe/Zurich", "America/New_York", "Europe/Zurich"),
        ("Mars/Olympus", "America/New_York", "America/New_York"),
        ("Mars/Olympus", "Moon/Copernicus", "UTC"),
    ],
)
async def test_a_zone_that_is_not_said_is_the_workspaces_else_the_persons(
    ada: Asker, settled: str, own: str, zone: str
) -> None:
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="settings")
    await ada.context.store.workspaces.save_preferences(ada.actor.workspace, Preferences(zone=settled), note)

    await ada.by(zone=own).ask("subscribe kv")

    assert [each.schedule.zone for each in await ada.here()] == [zone]


async def test_what_is_not_said_again_stays_as_it_is(ada: Asker) -> None:
    await ada.ask("subscribe kv mon,wed at 8 in Tokyo top 3 min 0.2 compact filter kind:paper")
    (first,) = await ada.here()

    reply = await ada.at(ada.now + timedelta(days=1)).ask("subscribe kv at 18:00 full")

    (second,) = await ada.here()
    assert reply.title == "Changed the subscription to KV cache"
    assert second == replace(
        first, schedule=replace(first.schedule, at=time(18)), layout=Layout.FULL, revision=first.revision + 1
    )


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("daily", "weekdays", (0, 1, 2, 3, 4)),
        ("mon,wed,fri", "daily", (0, 1, 2, 3, 4, 5, 6)),
        ("weekly", "weekly on friday", (4,)),
        ("fri", "weekly", (0,)),
    ],
)
async def test_what_is_due_as_often_is_changed(ada: Asker, first: str, second: str, days: tuple[int, ...]) -> None:
    await ada.ask(f"subscribe kv {first} at 08:00 top 3")

    reply = await ada.ask(f"subscribe kv {second}")

    assert reply.title == "Changed the subscription to KV cache"
    assert [(each.schedule.weekdays, each.schedule.at, each.entries) for each in await ada.here()] == [(days, time(8), 3)]


async def test_a_digest_of_another_rhythm_comes_beside_and_may_take_the_others_place(ada: Asker) -> None:
    await ada.ask("subscribe kv daily at 08:00 top 3")
    (daily,) = await ada.here()

    reply = await ada.ask("subscribe kv weekly at 09:00")

    assert reply.title == "Subscribed to KV cache"
    assert "It comes beside the daily one: what one of them shows, the other does not repeat." in reply.text
    first, second = await ada.here()
    assert (first, second.rhythm, second.entries, second.schedule.at) == (daily, "weekly", None, time(9))
    assert [button(reply, label) for label in ("Post now", "Pause", "Unsubscribe")] == [
        "post kv weekly",
        "pause kv weekly",
        "unsubscribe kv weekly",
    ]

    ended = await ada.ask(button(reply, "End the daily one"))
    assert (ended.title, ended.text[0]) == (
        "Unsubscribed from KV cache, daily",
        "Nothing more of its daily digest will be posted in this channel. Its weekly digest goes on.",
    )
    assert await ada.here() == [second]
    await ada.ask(button(ended, "Undo"))
    assert [each.rhythm for each in await ada.here()] == ["daily", "weekly"]


@pytest.mark.parametrize(
    "typed", ["subscribe kv at 10:00", "unsubscribe kv", "pause kv", "resume kv", "post kv", "filter kv add has:code"]
)
async def test_which_of_several_is_asked_and_never_guessed(ada: Asker, typed: str) -> None:
    async def press(text: str) -> Reply:
        return await answer(ada.context, parse(text), ada.actor, ada.now)

    await ada.ask("subscribe kv weekdays at 08:00")
    await ada.ask("subscribe kv monthly on 15")
    before = await ada.here()

    asked = await press(typed)

    assert asked.title == "Which one?"
    assert "daily and monthly" in said(asked)
    assert [each.label for each in asked.buttons] == ["Daily", "Monthly"]
    assert await ada.here() == before
    await press(button(asked, "Monthly"))
    after = {each.rhythm: each for each in await ada.here()}
    assert after[Rhythm.DAILY] == before[0]
    assert typed in ("post kv", "resume kv") or after.get(Rhythm.MONTHLY) != before[1]


async def test_what_was_ended_before_is_told_without_denying_the_one_that_goes_on(ada: Asker) -> None:
    for rhythm in ("daily", "weekly"):
        reply = await ada.ask(f"subscribe kv {rhythm}")
    ends = button(reply, "End the daily one")
    await ada.ask(ends)

    assert (await ada.ask(ends)).title == "KV cache, daily, is not subscribed here any more"
    await ada.ask("unsubscribe kv")
    assert (await ada.ask(ends)).title == "KV cache is not subscribed here any more"


async def test_a_rhythm_that_is_not_subscribed_is_told(ada: Asker) -> None:
    await ada.ask("subscribe kv daily")

    with pytest.raises(UsageError, match="KV cache has no weekly digest here") as caught:
        await ada.ask("pause kv weekly")
    assert caught.value.hint == "It has a daily one."


async def test_each_of_several_is_listed_with_its_rhythm_and_its_buttons(ada: Asker) -> None:
    await ada.ask("subscribe kv daily")
    await ada.ask("subscribe kv weekly")
    await ada.ask("pause kv weekly")

    listed = (await ada.ask("list")).entries
    assert [each.title for each in listed] == ["KV cache (kv), daily", "KV cache (kv), weekly"]
    assert [[each.command for each in entry.buttons] for entry in listed] == [
        ["now kv", "pause kv daily", "unsubscribe kv daily"],
        ["now kv", "resume kv weekly", "unsubscribe kv weekly"],
    ]
    assert [each.title for each in (await ada.ask("status")).entries] == ["KV cache (kv), daily", "KV cache (kv), weekly"]
    assert len((await ada.ask("now kv")).digests) == 2
    assert [each.title for each in (await ada.ask("why 2603.00001 for kv")).entries][1:] == [
        "For KV cache, daily",
        "For KV cache, weekly",
    ]


async def test_filters_of_several_are_each_their_own(ada: Asker) -> None:
    await ada.ask("subscribe kv daily")
    await ada.ask("subscribe kv weekly")

    reply = await ada.ask("filter kv weekly set has:code")
    assert "KV cache, weekly in this channel" in reply.title
    assert [each.filter.text for each in await ada.here()] == ["", "has:code"]
    await ada.ask(button(reply, "Undo"))
    assert [each.filter.text for each in await ada.here()] == ["", ""]
    assert "everywhere" in (await ada.ask("filter kv everywhere")).title


async def test_subscribing_just_so_again_changes_nothing_and_says_so(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 9")

    reply = await ada.ask("subscribe kv weekdays at 09:00")

    assert reply.title == "KV cache is subscribed just so already"
    assert len(await changes(ada)) == 1


async def test_two_channels_subscribe_to_one_topic_each_in_its_way(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays filter kind:paper")
    await ada.by(channel="C2").ask("subscribe kv weekly filter kind:repo")

    assert [each.filter.text for each in await ada.here()] == ["kind:paper"]
    assert [each.filter.text for each in await ada.by(channel="C2").here()] == ["kind:repo"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("subscribe kx", 'There is no topic "kx"'),
        ("subscribe kv in CET", "CET stands for an offset"),
        ("subscribe kv in UTC+2", "UTC+2 is an offset"),
        ("subscribe kv in Atlantis", '"Atlantis" is not known'),
        ("subscribe kv filter stras:>5", "There is no field `stras:`"),
        ("subscribe kv filter sort:new kind:paper", "belong to a search"),
        ("subscribe kv filter *", "Say what is to be let in"),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_is_written(ada: Asker, command: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace("+", r"\+").replace("*", r"\*")):
        await ada.ask(command)

    assert not await ada.here()
    assert not await changes(ada)


@pytest.mark.parametrize(
    "command",
    [
        Subscribe(topic="kv", entries=0),
        Subscribe(topic="kv", entries=51),
        Subscribe(topic="kv", min_score=1.1),
        Subscribe(topic="kv", min_score=float("nan")),
        Subscribe(topic="kv", weekdays=()),
    ],
)
async def test_what_a_platforms_form_may_send_is_checked_as_well(ada: Asker, command: Subscribe) -> None:
    with pytest.raises(UsageError):
        await ada.give(command)
    assert not await ada.here()


@pytest.mark.parametrize(
    "command",
    [
        Subscribe(topic="kv", entries=1),
        Subscribe(topic="kv", entries=50),
        Subscribe(topic="kv", min_score=0.0),
        Subscribe(topic="kv", min_score=1.0),
    ],
)
async def test_the_least_and_the_most_that_can_be_asked_for_are_taken(ada: Asker, command: Subscribe) -> None:
    await ada.give(command)

    (made,) = await ada.here()
    assert (made.entries, made.min_score) == (command.entries, command.min_score)


async def test_a_topic_is_found_by_its_title_and_the_nearest_one_is_suggested(ada: Asker) -> None:
    await ada.give(Subscribe(topic="GPU Systems"))
    assert [each.topic for each in await ada.here()] == ["gpu-systems"]

    with pytest.raises(UsageError) as raised:
        await ada.give(Subscribe(topic="gpu-sytems"))
    assert raised.value.hint == "Did you mean gpu-systems?"


async def test_a_change_says_who_when_and_from_what_to_what(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 9 in UTC")
    await ada.by(person="U-bob").at(ada.now + timedelta(hours=1)).ask("subscribe kv at 10:00")

    second, first = await changes(ada)
    assert (first.person, first.what, first.before) == ("U-ada", "subscription C1 kv daily", "")
    assert (second.person, second.at) == ("U-bob", ada.now + timedelta(hours=1))
    assert (second.before, second.after) == (first.after, first.after.replace("09:00", "10:00"))
    assert isinstance(parse(second.after), Subscribe)


async def test_two_people_who_subscribe_at_once_both_have_their_say(ada: Asker) -> None:
    await asyncio.gather(
        *(ada.ask(f"subscribe kv {option}") for option in ("weekdays", "at 07:15", "top 4", "full", "min 0.3"))
    )

    (made,) = await ada.here()
    assert (made.schedule.weekdays, made.schedule.at, made.entries) == ((0, 1, 2, 3, 4), time(7, 15), 4)
    assert (made.layout, made.min_score, made.revision) == (Layout.FULL, 0.3, 5)


async def test_the_topics_own_filter_is_told_beside_the_subscriptions(ada: Asker) -> None:
    await ada.ask("filter kv everywhere set -cooking")

    reply = await ada.ask("subscribe kv filter kind:paper")

    assert "Filter: kind:paper; and -cooking (the topic's, everywhere)" in said(reply)


# --- ending


async def test_unsubscribing_can_be_undone_as_it_was(ada: Asker) -> None:
    await ada.ask('subscribe kv mon,thu at 17:45 in "New York" top 3 min 0.15 thread always filter kind:paper "top 5"')
    (before,) = await ada.here()

    reply = await ada.ask("unsubscribe kv")
    assert (reply.title, reply.private) == ("Unsubscribed from KV cache", False)
    assert not await ada.here()
    (latest, *_) = await changes(ada)
    assert latest.before
    assert not latest.after

    await ada.ask(button(reply, "Undo"))
    (again,) = await ada.here()
    assert replace(again, id=before.id, revision=before.revision) == before
    assert again.id != before.id


async def test_what_came_between_an_ending_and_its_undoing_is_not_lost(ada: Asker) -> None:
    await ada.ask("subscribe kv daily")
    (before,) = await ada.here()
    undo = button(await ada.at(ada.now + timedelta(hours=5)).ask("unsubscribe kv"), "Undo")

    reply = await ada.at(ada.now + timedelta(hours=6)).ask(undo)

    (again,) = await ada.here()
    assert again.baseline == before.baseline == ada.now
    assert "It goes on as if it had never ended." in reply.text


async def test_an_ending_that_is_undone_makes_up_for_no_pause_before_it(ada: Asker) -> None:
    later = ada.at(ada.now + timedelta(days=2))
    for each, text in ((ada, "subscribe kv daily"), (ada, "pause kv"), (later, "resume kv")):
        await each.ask(text)
    (before,) = await ada.here()
    undo = button(await later.ask("unsubscribe kv"), "Undo")

    await later.at(later.now + timedelta(hours=1)).ask(undo)

    (again,) = await ada.here()
    assert ada.now < again.baseline == before.baseline < later.now


@pytest.mark.parametrize(
    ("again", "after"),
    [("subscribe kv weekly", timedelta(hours=6)), ("subscribe kv daily", timedelta(days=9))],
    ids=["otherwise", "long after"],
)
async def test_what_is_subscribed_otherwise_or_long_after_begins_anew(ada: Asker, again: str, after: timedelta) -> None:
    await ada.ask("subscribe kv daily")
    await ada.ask("unsubscribe kv")

    reply = await ada.at(ada.now + after).ask(again)

    assert [each.baseline for each in await ada.here()] == [ada.now + after]
    assert "Nothing from before now will be posted by itself." in reply.text


@pytest.mark.parametrize("steps", range(6))
async def test_nothing_stays_subscribed_to_a_topic_that_is_deleted_meanwhile(ada: Asker, steps: int) -> None:
    await ada.ask("topic create mine cache")

    async def deleted() -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        await ada.ask("topic delete mine anyway")

    await asyncio.gather(ada.ask("subscribe mine"), deleted(), return_exceptions=True)

    assert await ada.here() == []


async def test_unsubscribing_what_is_not_subscribed_says_what_is(ada: Asker) -> None:
    with pytest.raises(UsageError, match="Nothing is subscribed in this channel"):
        await ada.ask("unsubscribe kv")
    await ada.ask("subscribe kv")
    with pytest.raises(UsageError) as raised:
        await ada.ask("unsubscribe gpu-systems")
    assert raised.value.hint == "Subscribed here: kv."


async def test_two_who_unsubscribe_at_once_get_an_answer_each(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    told = await asyncio.gather(*(ada.ask("unsubscribe kv") for _ in range(3)))

    ended = "KV cache is not subscribed here any more"
    assert sorted(each.title for each in told) == [ended, ended, "Unsubscribed from KV cache"]


# --- listing


async def test_an_empty_channel_says_what_to_do_next(ada: Asker) -> None:
    reply = await ada.ask("list")

    assert reply.title == "Nothing is subscribed in this channel yet"
    (step,) = reply.next_steps
    assert isinstance(parse(step.split("*")[1]), Subscribe)


async def test_the_list_of_a_channel_tells_each_subscription_and_not_those_of_others(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 12:00 top 3 filter kind:paper")
    await ada.by(channel="C2").ask("subscribe gpu-systems")

    reply = await ada.ask("list")

    (entry,) = reply.entries
    assert entry.title == "KV cache (kv)"
    assert entry.lines == (
        "on weekdays at 12:00 (UTC); next Wednesday 1 April at 12:00, in 5 hours",
        "up to 3 entries",
        "filter: kind:paper",
    )
    assert [each.label for each in entry.buttons] == ["Preview", "Pause", "Unsubscribe"]


async def test_the_list_of_the_workspace_begins_with_this_channel(ada: Asker) -> None:
    await ada.by(channel="A0").ask("subscribe kv")
    await ada.ask("subscribe kv")

    reply = await ada.ask("list all")

    assert [each.title for each in reply.entries] == ["this channel: KV cache (kv)", "A0: KV cache (kv)"]
    assert reply.entries[1].buttons == ()  # they would act in this channel


@pytest.mark.parametrize("schedule", [Schedule(zone="Europe/Atlantis"), Schedule(weekdays=())])
async def test_a_schedule_that_cannot_be_computed_hides_no_other_and_can_be_mended(ada: Asker, schedule: Schedule) -> None:
    await stored(ada, schedule=schedule)
    await ada.ask("subscribe gpu-systems")

    listed = said(await ada.ask("list"))
    assert "GPU systems (gpu-systems)" in listed
    assert "Europe/Atlantis" in listed or "No day fits this schedule" in listed
    assert "*subscribe kv" in listed

    mended = await ada.ask("subscribe kv daily in Zurich")
    assert "every day at 09:00 (Europe/Zurich)" in said(mended)


async def test_a_zone_that_is_gone_keeps_nobody_from_pausing_and_unsubscribing(ada: Asker) -> None:
    await stored(ada, schedule=Schedule(zone="Europe/Atlantis"))

    assert (await ada.ask("pause kv")).title == "KV cache is paused"
    with pytest.raises(UsageError, match='"Europe/Atlantis" is not known'):
        await ada.ask("resume kv")
    with pytest.raises(UsageError, match='"Europe/Atlantis" is not known') as raised:
        await ada.ask("pause kv until monday")
    assert raised.value.hint.startswith("*subscribe kv in Europe/Zurich* gives it that one")
    assert (await ada.ask("unsubscribe kv")).title == "Unsubscribed from KV cache"


async def test_a_subscription_whose_topic_is_gone_is_listed_and_can_be_ended(ada: Asker) -> None:
    await stored(ada, topic="bygone")

    (entry,) = (await ada.ask("list")).entries
    assert entry.lines == ("The topic is not there any more. *unsubscribe bygone* ends this.",)
    assert [each.label for each in entry.buttons] == ["Unsubscribe"]
    with pytest.raises(UsageError, match="The topic is not there any more"):
        await ada.ask("resume bygone")
    ended = await ada.ask("unsubscribe bygone")
    assert ended.title == "Unsubscribed from bygone"
    assert ended.text == ("Nothing more of it will be posted in this channel. The topic is not there any more.",)
    assert ended.buttons == ()


async def test_a_store_that_fails_is_not_taken_for_a_conflict(ada: Asker) -> None:
    first = await stored(ada)
    with pytest.raises(StoreError):
        await ada.context.store.workspaces.save_subscription(
            replace(first, topic="gpu-systems", revision=0),
            Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="x"),
            replaces=0,
        )
    with pytest.raises(Conflict):
        await ada.context.store.workspaces.save_subscription(
            first, Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="x"), replaces=0
        )


# --- rights


@pytest.mark.parametrize("command", ["subscribe kv", "unsubscribe kv", "pause kv", "resume kv"])
async def test_where_only_administrators_manage_others_change_nothing(ada: Asker, command: str) -> None:
    await ada.by(channel="C1").ask("subscribe kv weekdays")
    strict = replace(ada, context=replace(ada.context, manage="admins"))
    before = await ada.here()

    with pytest.raises(UsageError, match="Only administrators may change"):
        await strict.ask(command + (" at 10:00" if command == "subscribe kv" else ""))

    assert await ada.here() == before
    assert (await strict.by(may_administer=True).ask(command)).title


async def test_the_workspaces_own_word_on_who_manages_counts_more_than_the_operators(ada: Asker) -> None:
    strict = replace(ada, context=replace(ada.context, manage="admins"))
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U1", what="settings")
    await ada.context.store.workspaces.save_preferences(ada.actor.workspace, Preferences(manage="anyone"), note)

    assert (await strict.ask("subscribe kv")).title == "Subscribed to KV cache"


async def test_what_is_subscribed_in_private_is_counted_and_not_told(ada: Asker) -> None:
    await ada.by(channel="C-board", person="U-bob").ask('subscribe kv filter "merger"')
    await ada.by(channel="D-bob", person="U-bob").ask('subscribe kv filter "illness"')
    await ada.by(channel="C-open").ask("subscribe kv")
    bob = ada.by(channel="C-board", person="U-bob")

    async def visible_channels(actor: Actor, channels: Collection[str]) -> Collection[str]:
        return {each for each in channels if actor.person == "U-bob" or each == "C-open"}

    for asker, shown in ((ada, False), (bob, True)):
        asker = replace(asker, context=replace(asker.context, visible_channels=visible_channels))
        listed, changed = await asker.ask("list all"), await asker.ask("history")
        for word in ("merger", "illness", "C-board" if not shown else "this channel", "D-bob"):
            assert (word in said(listed)) is shown
        assert ("merger" in said(changed), "illness" in said(changed)) == (shown, shown)
        assert "C-open" in said(listed)
        assert listed.title == "3 subscriptions in this workspace"
        assert listed.text == (() if shown else ("2 of them are in private channels that you are not in.",))
