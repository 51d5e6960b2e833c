"""What a workspace settles for itself, in words, and what delivery makes of it."""

import asyncio
from dataclasses import replace
from datetime import time, timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as law
from hypothesis import strategies as st

from bot.errors import Refused, UsageError
from bot.models import Actor, DeliveryState, Layout, Preferences
from tests.bot.deliveries import Harness
from tests.bot.handlers.askers import Asker, asker, button, said
from tests.conftest import NOW, tries
from tests.fakes.transcript import NEITHER, Fault, delivery


async def settled(ada: Asker) -> Preferences:
    return await ada.context.store.workspaces.preferences(ada.actor.workspace)


async def test_settings_say_what_holds_and_who_settled_it(ada: Asker) -> None:
    assert [(field.name, field.value) for field in (await ada.ask("settings")).fields] == [
        ("Who may change subscriptions, topics and filters", "anyone, as the operator settled"),
        ("Time zone of new subscriptions", "the zone of who subscribes, where it is known, else UTC"),
        ("Entries of a digest", "up to 7, as the operator settled"),
        ("Layout of a digest whose subscription names none", "brief, as the operator settled"),
        ("Quiet hours, in which nothing is posted", "none, what is due is posted at any hour"),
        ("Entries that a channel gets in a day", "as many as its digests have"),
        ("Messages of what is posted at once", "up to 5 a day in a channel, as is usual"),
        ("Whether channels are told how many saved or wanted more of something there", "no, what one saves is one's own"),
        ("Where it is told what could not be posted", "in no channel, but in status and the log"),
        ("Where a digest is rather seen twice than missed", "in no channel, what may have been posted is not sent again"),
    ]


async def test_a_setting_is_changed_and_taken_back(ada: Asker) -> None:
    changed = await ada.ask("settings zone new york")
    assert changed.text == ("America/New_York.",)
    await ada.ask("settings top 5")
    await ada.ask("subscribe kv")
    assert (await ada.here())[0].schedule.zone == "America/New_York"
    assert "Entries: up to 5" in said(await ada.ask("subscribe kv"))

    await ada.ask(button(changed, "Undo"))

    assert ((await settled(ada)).zone, (await settled(ada)).entries) == ("", 5)


async def test_only_administrators_say_who_manages(ada: Asker) -> None:
    with pytest.raises(UsageError, match="Only administrators may say who manages"):
        await ada.ask("settings manage admins")

    boss = ada.by(person="U-boss", may_administer=True)
    await boss.ask("settings manage admins")

    with pytest.raises(UsageError, match="Only administrators"):
        await ada.ask("settings top 3")
    assert (await boss.ask("settings top 3")).title == "Settled: entries of a digest"
    assert (await ada.ask("settings manage")).text == ("Admins.",)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("settings top 1", Preferences(entries=1)),
        ("settings top 50", Preferences(entries=50)),
        ("settings layout Thread", Preferences(layout=Layout.THREAD)),
        ("settings daily 1", Preferences(daily_entries=1)),
        ("settings daily 500", Preferences(daily_entries=500)),
        ("settings activity ON", Preferences(activity=True)),
    ],
)
async def test_the_least_and_the_most_that_can_be_settled_are_taken(ada: Asker, typed: str, expected: Preferences) -> None:
    await ada.by(may_administer=True).ask(typed)

    assert await settled(ada) == expected


async def test_a_layout_that_is_settled_is_that_of_subscriptions_which_name_none(ada: Asker) -> None:
    with pytest.raises(UsageError, match="brief"):
        await ada.ask("settings layout wide")
    assert "brief, as the operator settled" in said(await ada.ask("settings layout")).lower()
    await ada.ask("settings layout full")

    assert "Layout: full" in said(await ada.ask("subscribe kv"))
    assert "Layout: thread" in said(await ada.ask("subscribe kv thread"))
    assert "Layout: full" in said(await ada.ask("subscribe kv layout usual"))
    assert (await ada.ask("now kv")).layout is Layout.FULL


async def test_what_two_people_settle_at_once_is_settled_both(ada: Asker) -> None:
    boss = ada.by(person="U-boss", may_administer=True)

    texts = ("settings manage admins", "settings zone Europe/Rome", "settings top 3")
    replies = await asyncio.gather(*(boss.ask(text) for text in texts))

    assert all(reply.title.startswith("Settled") for reply in replies)
    assert await settled(ada) == Preferences(manage="admins", zone="Europe/Rome", entries=3)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("settings zone CET", "stands for an offset"),
        ("settings top 0", "1 to 50 entries"),
        ("settings top ٣", "1 to 50 entries"),
        ("settings manage nobody", "anyone or admins"),
        ("settings quiet 22:00-25:00", 'There is no time "25:00"'),
        ("settings quiet 22:00", "When the hours end is missing"),
        ("settings quiet 22:00-22:00", "begin and end at 22:00 are none, or all"),
        ("settings quiet 22-7 in Europe/Rome", '"in" is not understood'),
        ("settings daily 0", "1 to 500 entries a day"),
        ("settings daily 501", "1 to 500 entries a day"),
        ("settings daily plenty", "1 to 500 entries a day"),
        ("settings alerts #ops", "No other channel can be named"),
        ("settings alerts in no channel, but in status and the log", "is not \\*here\\*"),
        ("settings duplicates always", "is not \\*here\\* or \\*off\\*"),
    ],
)
async def test_a_value_that_cannot_be_is_refused_and_nothing_is_changed(ada: Asker, typed: str, sentence: str) -> None:
    boss = ada.by(may_administer=True)

    with pytest.raises(UsageError, match=sentence):
        await boss.ask(typed)
    assert await ada.context.store.workspaces.changes(ada.actor.workspace) == []


async def test_the_same_again_leaves_no_trace(ada: Asker) -> None:
    await ada.ask("settings top 5")

    assert (await ada.ask("settings top 5")).title == "Entries of a digest: as before"
    assert len(await ada.context.store.workspaces.changes(ada.actor.workspace)) == 1


@pytest.mark.parametrize(
    ("typed", "hours"),
    [
        ("settings quiet 22:00-07:00", (time(22), time(7))),
        ("settings quiet 22:00–07:00.", (time(22), time(7))),
        ("settings quiet 22:00 — 07:00", (time(22), time(7))),
        ("settings quiet 22 to 7", (time(22), time(7))),
        ("settings quiet hours from 22:00 until 07:00", (time(22), time(7))),
        ("settings quiet-hours between 10 pm and 7 a.m.", (time(22), time(7))),
        ("Settings Quiet 10PM–6:30AM", (time(22), time(6, 30))),
        ("settings dnd 21h30-noon", (time(21, 30), time(12))),
        ("config quiet midnight till 6", (time(0), time(6))),
    ],
)
async def test_quiet_hours_are_read_as_people_type_them(ada: Asker, typed: str, hours: tuple[time, time]) -> None:
    await ada.ask(typed)

    assert ((await settled(ada)).quiet_from, (await settled(ada)).quiet_until) == hours


async def test_quiet_hours_are_told_with_the_zone_in_which_they_are(ada: Asker) -> None:
    reply = await ada.ask("settings quiet 22-7")
    assert reply.title == "Settled: quiet hours, in which nothing is posted"
    assert reply.text == ("From 22:00 to 07:00 of the next day, in the time zone of each subscription.",)

    await ada.ask("settings zone Europe/Rome")
    assert (await ada.ask("settings quiet")).text == ("From 22:00 to 07:00 of the next day, in Europe/Rome.",)
    assert (await ada.ask("settings quiet 12:00-14:00")).text == ("From 12:00 to 14:00, in Europe/Rome.",)

    (entry, *_) = (await ada.ask("history")).entries
    assert entry.lines[1:] == (
        "before: from 22:00 to 07:00 of the next day, in Europe/Rome",
        "now: from 12:00 to 14:00, in Europe/Rome",
    )


@pytest.mark.parametrize("off", ["off", "none", "Off.", "default", "no"])
async def test_what_delivery_keeps_to_is_turned_off(ada: Asker, off: str) -> None:
    for typed in ("quiet 22-7", "daily 20", "activity on", "alerts here", "duplicates here"):
        await ada.ask(f"settings {typed}")
        await ada.ask(f"settings {typed.split()[0]} {off}")

    assert await settled(ada) == Preferences()


@pytest.mark.parametrize("typed", ["20", "#20", "20.", "20 a day", "20 entries", "at most 20 entries per day", "20/day"])
async def test_the_entries_of_a_day_are_bounded(ada: Asker, typed: str) -> None:
    assert (await ada.ask(f"settings daily {typed}")).text == ("Up to 20.",)
    assert (await settled(ada)).daily_entries == 20


async def test_alerts_come_to_the_channel_in_which_they_are_asked_for_and_undo_gives_them_back(ada: Asker) -> None:
    ops = ada.by(channel="C-ops")
    assert (await ops.ask("settings alerts here")).text == ("This channel.",)
    assert (await ada.ask("settings alerts")).text == ("C-ops.",)

    moved = await ada.ask("settings alerts here")
    assert (await settled(ada)).alerts == "C1"
    await ada.ask(button(moved, "Undo"))

    assert (await settled(ada)).alerts == "C-ops"
    entries = (await ada.ask("history")).entries
    assert [entry.lines[2] for entry in entries] == ["now: C-ops", "now: C1", "now: C-ops"]


async def test_alerts_are_never_sent_to_a_channel_of_another_workspace(ada: Asker) -> None:
    bob = ada.by(workspace="slack:T2", channel="C-bob")
    await bob.ask("subscribe kv")
    await bob.ask("settings alerts here")

    with pytest.raises(UsageError, match="give the command in the channel it is for"):
        await ada.ask("settings alerts C-bob")


async def test_each_channel_says_for_itself_that_it_prefers_a_duplicate(ada: Asker) -> None:
    other = ada.by(channel="C2")
    await other.ask("settings duplicates here")
    assert (await ada.ask("settings duplicates here")).text == ("This channel, C2.",)

    await ada.ask("settings duplicates off")

    assert (await settled(ada)).prefer_duplicate == ("C2",)
    assert "Where a digest is rather seen twice than missed: this channel" in said(await other.ask("settings"))


async def test_a_channel_that_can_be_followed_publishes_and_another_says_why_it_cannot(ada: Asker) -> None:
    async def publishing(actor: Actor) -> str:
        return "" if actor.channel == "C1" else "That is no announcement channel."

    with pytest.raises(UsageError, match="Only an announcement channel in Discord"):
        await ada.ask("settings publish here")
    assert "published" not in said(await ada.ask("settings"))

    followed = replace(ada, context=replace(ada.context, publishing=publishing))
    told = await followed.ask("settings crosspost here")
    assert (told.text, (await settled(ada)).publish) == (("This channel.",), ("C1",))
    assert "follows the announcement channel: this channel" in said(await followed.ask("settings"))
    with pytest.raises(UsageError, match="no announcement channel"):
        await followed.by(channel="C2").ask("settings publish here")
    with pytest.raises(UsageError, match="not \\*here\\* or \\*off\\*"):
        await followed.ask("settings publish C2")
    await followed.ask(button(told, "Undo"))
    assert (await settled(ada)).publish == ()


async def test_who_may_not_manage_settles_nothing_of_delivery_and_may_look(ada: Asker) -> None:
    await ada.by(may_administer=True).ask("settings manage admins")

    for typed in ("quiet 22-7", "quiet off", "daily 20", "alerts here", "duplicates here"):
        with pytest.raises(UsageError, match="Only administrators"):
            await ada.ask(f"settings {typed}")
    assert (await ada.ask("settings quiet")).text == ("None, what is due is posted at any hour.",)


SAID = st.sampled_from(
    (
        *("quiet 22-7", "quiet 00:00-06:30", "quiet off", "daily 20", "daily 7", "daily off", "top 5", "top default"),
        *("alerts here", "alerts off", "duplicates here", "duplicates off", "zone UTC", "zone default"),
        *("activity on", "activity off"),
    )
)


@given(st.lists(st.tuples(SAID, st.sampled_from(("C1", "C2"))), min_size=1, max_size=12))
@law(max_examples=tries(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_undo_always_gives_back_what_was_settled_before(said_in: list[tuple[str, str]]) -> None:
    async def undone() -> None:
        ada = asker(Harness().store, NOW)
        for typed, channel in said_in:
            here, before = ada.by(channel=channel), await settled(ada)
            reply = await here.ask(f"settings {typed}")
            after = await settled(ada)
            assert bool(reply.buttons) is (after != before)
            if reply.buttons:
                await here.ask(button(reply, "Undo"))
                assert await settled(ada) == before
                await here.ask(f"settings {typed}")

    asyncio.run(undone())


# --- what delivery makes of it


async def opened() -> tuple[Harness, Asker]:
    """A house with a message that is due in C1 at seven in UTC, and who settles things there."""
    harness = Harness()
    await harness.plant([delivery(now=NOW)])
    return harness, asker(harness.store, NOW).by(workspace="chat:T1")


async def test_quiet_hours_that_were_settled_in_words_hold_a_message_back_until_they_end() -> None:
    harness, ada = await opened()
    await ada.ask("settings quiet from 22:00 until 8")
    deliverer = harness.deliverer()

    while harness.clock() < NOW.replace(hour=7, minute=59):
        await harness.round(deliverer)
        harness.clock.advance(timedelta(minutes=5))
    assert harness.chat.calls == []

    harness.clock.now = NOW.replace(hour=8)
    await harness.round(deliverer)
    assert (await harness.rows())["d1p1"].state is DeliveryState.DONE


async def test_quiet_hours_that_were_taken_back_hold_nothing_back() -> None:
    harness, ada = await opened()
    await ada.ask(button(await ada.ask("settings quiet 22:00–08:00"), "Undo"))

    await harness.round(harness.deliverer())

    assert (await harness.rows())["d1p1"].state is DeliveryState.DONE


async def test_what_waits_for_the_end_of_quiet_hours_waits_no_more_when_they_are_taken_back() -> None:
    harness, ada = await opened()
    undo = button(await ada.ask("settings quiet 22:00–08:00"), "Undo")
    deliverer = harness.deliverer()
    for _ in range(3):
        await harness.round(deliverer)
    assert harness.chat.calls == []

    await ada.ask(undo)
    await harness.round(deliverer)

    assert (await harness.rows())["d1p1"].state is DeliveryState.DONE


async def test_a_channel_that_asked_for_alerts_is_told_what_could_not_be_posted() -> None:
    harness, ada = await opened()
    await ada.by(channel="C-ops").ask("settings alerts here")
    harness.chat.closed["C1"] = Refused("The channel is archived.")

    await harness.round(harness.deliverer())

    ((workspace, channel, text),) = harness.chat.announced
    assert (workspace, channel) == ("chat:T1", "C-ops")
    assert text.startswith("Paused: kv in C1. The channel is archived.")


@pytest.mark.parametrize(("typed", "messages"), [("settings duplicates here", 2), ("settings duplicates off", 1)])
async def test_a_channel_that_asked_for_it_sees_a_digest_rather_twice(typed: str, messages: int) -> None:
    harness = Harness(NEITHER, faults=[Fault.LOST_ANSWER])
    await harness.plant([delivery(now=NOW)])
    await asker(harness.store, NOW).by(workspace="chat:T1", channel="C1").ask(typed)
    deliverer = harness.deliverer()

    for _ in range(30):
        await harness.round(deliverer)

    assert harness.chat.posted("d1p1") == messages
