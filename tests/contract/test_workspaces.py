"""What a workspace makes comes back whole, to that workspace alone, and only over what was read."""

import asyncio
from dataclasses import replace
from datetime import time, timedelta

import pytest

from bot.errors import Conflict, StoreError, UsageError
from bot.models import (
    Change,
    Preferences,
    Query,
    Saved,
    SavedInChannel,
    Schedule,
    Term,
    Topic,
)
from tests.conftest import NOW
from tests.contract.made import FULL_SUBSCRIPTION, FULL_TOPIC, KEYS, change, paper, said, subscription
from tests.stores import AnyStore

DAY = timedelta(days=1)
TODAY = NOW.date()
PLAIN = Topic(name="kv", title="KV")


# --- topics


async def test_a_topic_comes_back_with_every_field_and_counts_its_revisions(store: AnyStore) -> None:
    kept = await store.workspaces.save_topic("T1", replace(FULL_TOPIC, revision=0), change(), replaces=0)
    assert kept == FULL_TOPIC
    assert await store.workspaces.topics("T1") == {"kv-cache": FULL_TOPIC}
    again = await store.workspaces.save_topic("T1", replace(FULL_TOPIC, title="Other", revision=7), change(), replaces=1)
    assert again == replace(FULL_TOPIC, title="Other", revision=2)
    assert await store.workspaces.topics("T1") == {"kv-cache": again}


async def test_topics_come_in_the_order_of_their_names_and_to_their_workspace_alone(store: AnyStore) -> None:
    for name in ("b", "a-b", "a", "ab"):
        await store.workspaces.save_topic("T1", Topic(name=name, title=name), change(), replaces=0)
    await store.workspaces.save_topic("T10", Topic(name="z", title="z"), change(workspace="T10"), replaces=0)
    assert list(await store.workspaces.topics("T1")) == ["a", "a-b", "ab", "b"]
    assert list(await store.workspaces.topics("T10")) == ["z"]
    assert await store.workspaces.topics("T") == {}


async def test_a_topic_that_somebody_changed_in_between_is_not_overwritten(store: AnyStore) -> None:
    first = await store.workspaces.save_topic("T1", PLAIN, change("topic kv", after="first"), replaces=0)
    for replaces, verb in ((0, "made"), (2, "changed")):
        with pytest.raises(Conflict, match=rf"^Somebody {verb} the topic kv in between; look at it and try again\.$"):
            await store.workspaces.save_topic("T1", replace(PLAIN, title="Late"), change(after="late"), replaces=replaces)
        with pytest.raises(Conflict, match=f"{verb} the topic kv"):
            await store.workspaces.delete_topic("T1", "kv", change(), replaces=replaces)
    assert await store.workspaces.topics("T1") == {"kv": first}
    assert [each.after for each in await store.workspaces.changes("T1")] == ["first"]


async def test_a_topic_that_somebody_deleted_in_between_is_not_brought_back(store: AnyStore) -> None:
    await store.workspaces.save_topic("T1", PLAIN, change(), replaces=0)
    await store.workspaces.delete_topic("T1", "kv", change(), replaces=1)
    with pytest.raises(Conflict, match="deleted the topic kv in between"):
        await store.workspaces.save_topic("T1", PLAIN, change(), replaces=1)
    with pytest.raises(Conflict, match="deleted the topic kv in between"):
        await store.workspaces.delete_topic("T1", "kv", change(), replaces=1)
    assert await store.workspaces.topics("T1") == {}
    assert len(await store.workspaces.changes("T1")) == 2


async def test_of_many_who_write_at_once_one_wins_and_leaves_the_only_line_in_the_audit(store: AnyStore) -> None:
    async def write(number: int) -> Topic:
        topic = replace(PLAIN, title=str(number))
        return await store.workspaces.save_topic("T1", topic, change(after=str(number)), replaces=0)

    outcomes = await asyncio.gather(*map(write, range(12)), return_exceptions=True)
    winners = [each for each in outcomes if isinstance(each, Topic)]
    assert [type(each) for each in outcomes].count(Conflict) == 11
    assert await store.workspaces.topics("T1") == {"kv": winners[0]}
    assert [each.after for each in await store.workspaces.changes("T1")] == [winners[0].title]


async def test_deleting_a_topic_takes_its_subscriptions_and_feedback_along_and_no_others(store: AnyStore) -> None:
    for name in ("kv", "kv-cache"):
        await store.workspaces.save_topic("T1", Topic(name=name, title=name), change(), replaces=0)
        for channel in ("C1", "C2"):
            await store.workspaces.save_subscription(subscription(channel, name), change(), replaces=0)
        await store.people.save_feedback(said(topic=name), change())
    elsewhere = await store.workspaces.save_subscription(subscription(workspace="T2"), change(workspace="T2"), replaces=0)
    await store.people.save_feedback(said(workspace="T2"), change(workspace="T2"))

    await store.workspaces.delete_topic("T1", "kv", change(before="its query"), replaces=1)

    assert list(await store.workspaces.topics("T1")) == ["kv-cache"]
    assert [(each.channel, each.topic) for each in await store.workspaces.subscriptions("T1")] == [
        ("C1", "kv-cache"),
        ("C2", "kv-cache"),
    ]
    assert await store.people.feedback("T1", "kv") == []
    assert await store.people.feedback("T1", "kv-cache") == [said(topic="kv-cache")]
    assert await store.workspaces.subscriptions("T2") == [elsewhere]
    assert await store.people.feedback("T2", "kv") == [said(workspace="T2")]


async def test_a_topic_in_whose_place_a_pack_comes_leaves_its_subscriptions_and_feedback(store: AnyStore) -> None:
    await store.workspaces.save_topic("T1", PLAIN, change(), replaces=0)
    kept = await store.workspaces.save_subscription(subscription("C1", "kv"), change(), replaces=0)
    await store.people.save_feedback(said(topic="kv"), change())

    await store.workspaces.delete_topic("T1", "kv", change("topic kv", before="its query"), replaces=1, keep_uses=True)

    assert await store.workspaces.topics("T1") == {}
    assert await store.workspaces.subscriptions("T1") == [kept]
    assert await store.people.feedback("T1", "kv") == [said(topic="kv")]
    assert [each.before for each in await store.workspaces.changes("T1", about="topic kv")][:1] == ["its query"]


async def test_a_topic_that_goes_only_unused_stays_while_a_channel_subscribes_to_it(store: AnyStore) -> None:
    await store.workspaces.save_topic("T1", PLAIN, change(), replaces=0)
    used = await store.workspaces.save_subscription(subscription("C1", "kv"), change(), replaces=0)
    await store.workspaces.save_subscription(subscription("C1", "kv", workspace="T2"), change(workspace="T2"), replaces=0)
    with pytest.raises(Conflict, match="Somebody subscribed to kv in between"):
        await store.workspaces.delete_topic("T1", "kv", change(), replaces=1, only_unused=True)
    assert list(await store.workspaces.topics("T1")) == ["kv"]

    await store.workspaces.delete_subscription(used, change())
    await store.workspaces.delete_topic("T1", "kv", change(), replaces=1, only_unused=True)
    assert not await store.workspaces.topics("T1")


async def test_a_followed_topic_is_kept_as_one(store: AnyStore) -> None:
    kept = await store.workspaces.save_topic("T1", replace(PLAIN, followed=True), change(), replaces=0)
    assert await store.workspaces.topics("T1") == {"kv": kept}
    assert kept.followed


async def test_what_was_made_for_a_pack_goes_with_it_too(store: AnyStore) -> None:
    await store.workspaces.save_subscription(subscription(topic="gpu-systems"), change(), replaces=0)
    await store.workspaces.delete_topic("T1", "gpu-systems", change("topic gpu-systems"), replaces=0)
    assert await store.workspaces.subscriptions("T1") == []


@pytest.mark.parametrize("query", [Query("", Term("cache")), Query("cache"), Query("cache", Term("cache"), "new")])
async def test_a_query_whose_text_says_something_else_is_refused_before_it_is_lost(store: AnyStore, query: Query) -> None:
    with pytest.raises(StoreError, match="text says something else"):
        await store.workspaces.save_topic("T1", replace(PLAIN, query=query), change(), replaces=0)
    with pytest.raises(StoreError, match="text says something else"):
        await store.workspaces.save_topic("T1", replace(PLAIN, filter=query), change(), replaces=0)
    with pytest.raises(StoreError, match="text says something else"):
        await store.workspaces.save_subscription(subscription(filter=query), change(), replaces=0)
    assert await store.workspaces.changes("T1") == []


async def test_a_query_that_is_none_is_its_writers_mistake(store: AnyStore) -> None:
    with pytest.raises(UsageError):
        await store.workspaces.save_topic("T1", replace(PLAIN, query=Query("(cache")), change(), replaces=0)
    assert await store.workspaces.topics("T1") == {}


# --- subscriptions


async def test_a_subscription_comes_back_with_every_field_and_counts_its_revisions(store: AnyStore) -> None:
    kept = await store.workspaces.save_subscription(replace(FULL_SUBSCRIPTION, revision=0), change(), replaces=0)
    assert kept == FULL_SUBSCRIPTION
    assert await store.workspaces.subscriptions("T1") == [FULL_SUBSCRIPTION]
    resumed = replace(FULL_SUBSCRIPTION, paused=False, paused_until=None, paused_because="")
    again = await store.workspaces.save_subscription(resumed, change(), replaces=1)
    assert await store.workspaces.subscriptions("T1") == [again] == [replace(resumed, revision=2)]


async def test_subscriptions_come_by_channel_and_topic_and_of_one_of_them_where_named(store: AnyStore) -> None:
    places = [("C2", "a"), ("C1", "b"), ("C1", "a"), ("C10", "a")]
    for place in places:
        await store.workspaces.save_subscription(subscription(*place), change(), replaces=0)

    async def found(**named: str) -> list[tuple[str, str]]:
        return [(each.channel, each.topic) for each in await store.workspaces.subscriptions("T1", **named)]

    assert await found() == sorted(places)
    assert await found(channel="C1") == [("C1", "a"), ("C1", "b")]
    assert await found(topic="a") == [("C1", "a"), ("C10", "a"), ("C2", "a")]
    assert await found(channel="C1", topic="b") == [("C1", "b")]
    assert await found(channel="C3") == []


async def test_a_subscription_that_somebody_changed_in_between_is_neither_overwritten_nor_ended(store: AnyStore) -> None:
    first = await store.workspaces.save_subscription(subscription(), change(after="1"), replaces=0)
    second = await store.workspaces.save_subscription(replace(first, entries=3), change(after="2"), replaces=1)
    for replaces, verb in ((0, "made"), (1, "changed")):
        with pytest.raises(Conflict, match=f"^Somebody {verb} the subscription to kv in between; look at it"):
            await store.workspaces.save_subscription(replace(first, entries=9), change(after="late"), replaces=replaces)
    with pytest.raises(Conflict, match="changed the subscription to kv"):
        await store.workspaces.delete_subscription(first, change(after="late"))
    assert await store.workspaces.subscriptions("T1") == [second]
    assert [each.after for each in await store.workspaces.changes("T1")] == ["2", "1"]


async def test_a_subscription_ends_once(store: AnyStore) -> None:
    kept = await store.workspaces.save_subscription(subscription(), change(after="made"), replaces=0)
    await store.workspaces.delete_subscription(kept, change(after=""))
    for gone in (kept, subscription()):
        with pytest.raises(Conflict, match="deleted the subscription to kv in between"):
            await store.workspaces.delete_subscription(gone, change(after="late"))
    assert await store.workspaces.subscriptions("T1") == []
    assert [each.after for each in await store.workspaces.changes("T1")] == ["", "made"]


async def test_what_one_workspace_ends_or_deletes_another_of_the_same_names_keeps(store: AnyStore) -> None:
    own, other = subscription(), subscription(workspace="T2")
    for each in (own, other):
        line = change(workspace=each.workspace)
        await store.workspaces.save_topic(each.workspace, PLAIN, line, replaces=0)
        await store.workspaces.save_subscription(each, line, replaces=0)
    await store.workspaces.delete_subscription(replace(own, revision=1), change())
    await store.workspaces.delete_topic("T1", "kv", change(), replaces=1)
    assert await store.workspaces.subscriptions("T2") == [replace(other, revision=1)]
    assert list(await store.workspaces.topics("T2")) == ["kv"]
    assert len(await store.workspaces.changes("T2")) == 2


async def test_a_subscription_made_anew_is_told_from_the_former_one(store: AnyStore) -> None:
    former = await store.workspaces.save_subscription(subscription(id="former"), change(), replaces=0)
    await store.workspaces.delete_subscription(former, change())
    later = await store.workspaces.save_subscription(subscription(id="later"), change(), replaces=0)
    assert (former.revision, later.revision) == (1, 1)
    with pytest.raises(Conflict, match="anew"):
        await store.workspaces.save_subscription(replace(former, entries=9), change(), replaces=1)
    with pytest.raises(Conflict, match="anew"):
        await store.workspaces.delete_subscription(former, change())
    assert await store.workspaces.subscriptions("T1") == [later]


async def test_an_id_stands_for_one_subscription_of_its_workspace(store: AnyStore) -> None:
    kept = await store.workspaces.save_subscription(subscription("C1", id="same"), change(), replaces=0)
    with pytest.raises(StoreError, match="same is that of another channel, topic or rhythm"):
        await store.workspaces.save_subscription(subscription("C2", id="same"), change(), replaces=0)
    other = await store.workspaces.save_subscription(subscription("C2", id="same", workspace="T2"), change(), replaces=0)
    assert await store.workspaces.subscriptions("T1") == [kept]
    assert await store.workspaces.subscriptions("T2") == [other]


async def test_a_channel_has_one_subscription_to_a_topic_of_each_rhythm(store: AnyStore) -> None:
    schedules = (Schedule(), Schedule(weekdays=(0,)), Schedule(weekdays=(), month_day=1))
    given = [subscription("C1", id=f"s-{each.rhythm}", schedule=each) for each in schedules]
    kept = [await store.workspaces.save_subscription(each, change(), replaces=0) for each in given]
    assert [each.rhythm for each in await store.workspaces.subscriptions("T1")] == ["daily", "monthly", "weekly"]
    another = subscription("C1", id="s-friday", schedule=Schedule(weekdays=(4,)))
    with pytest.raises(Conflict):
        await store.workspaces.save_subscription(another, change(), replaces=0)
    friday = replace(kept[1], schedule=Schedule(weekdays=(4,)))
    assert (await store.workspaces.save_subscription(friday, change(), replaces=1)).revision == 2
    with pytest.raises((Conflict, StoreError)):  # another rhythm is another subscription
        await store.workspaces.save_subscription(replace(kept[0], schedule=Schedule(weekdays=(6,))), change(), replaces=1)
    await store.workspaces.delete_subscription(kept[0], change())
    assert [each.id for each in await store.workspaces.subscriptions("T1")] == ["s-monthly", "s-weekly"]
    assert [each.id for each in await store.ledger.every_subscription()] == ["s-monthly", "s-weekly"]


# --- feedback, saved items, preferences


async def test_feedback_comes_back_the_oldest_first_and_for_its_topic_alone(store: AnyStore) -> None:
    given = [said(KEYS[minutes], minutes=-minutes, person=f"U{minutes}") for minutes in range(3)]
    for each in given:
        await store.people.save_feedback(each, change(after=each.key))
    await store.people.save_feedback(said(topic="kv-cache"), change())
    assert await store.people.feedback("T1", "kv") == given[::-1]
    assert await store.people.feedback("T2", "kv") == []
    assert len(await store.workspaces.changes("T1")) == 4


async def test_a_persons_last_word_counts(store: AnyStore) -> None:
    await store.people.save_feedback(said(more=True, minutes=0), change())
    await store.people.save_feedback(said(more=True, person="U2"), change())
    await store.people.save_feedback(said(more=False, minutes=1, channel="C2"), change())
    assert await store.people.feedback("T1", "kv") == [
        said(more=True, person="U2"),
        said(more=False, minutes=1, channel="C2"),
    ]


async def test_the_same_word_again_changes_nothing_and_is_not_written_down(store: AnyStore) -> None:
    first = said(more=True, minutes=0)
    assert await store.people.save_feedback(first, change())
    assert not await store.people.save_feedback(said(more=True, minutes=1, channel="C2"), change())
    assert await store.people.feedback("T1", "kv") == [first]
    assert len(await store.workspaces.changes("T1")) == 1


async def test_feedback_is_taken_back_as_far_as_it_still_stands(store: AnyStore) -> None:
    first, second, third = said(KEYS[0]), said(KEYS[1]), said(KEYS[2])
    for each in (first, second, third):
        await store.people.save_feedback(each, change())
    later = said(KEYS[1], more=False, minutes=1)
    await store.people.save_feedback(later, change())
    foreign = replace(third, workspace="T2")
    assert await store.people.drop_feedback([first, second, foreign, said("arxiv:never")], change(after="undone")) == 1
    assert await store.people.feedback("T1", "kv") == [third, later]
    assert (await store.workspaces.changes("T1", limit=1))[0].after == "undone"


async def test_where_nothing_was_taken_back_nothing_is_written_down(store: AnyStore) -> None:
    assert await store.people.drop_feedback([said()], change()) == 0
    assert await store.people.drop_feedback([], change()) == 0
    assert await store.workspaces.changes("T1") == []


async def test_an_item_is_put_aside_once_and_keeps_its_time(store: AnyStore) -> None:
    assert await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW)) is True
    assert await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW + DAY)) is False
    assert await store.people.saved("T1", "U1") == [Saved(KEYS[0], NOW)]
    assert await store.people.unsave_item("T1", "U1", KEYS[0]) is True
    assert await store.people.unsave_item("T1", "U1", KEYS[0]) is False
    assert await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW + DAY)) is True


async def test_what_a_person_put_aside_is_that_persons_and_comes_the_latest_first(store: AnyStore) -> None:
    times = {KEYS[0]: NOW, KEYS[1]: NOW + DAY, KEYS[2]: NOW}
    for key, at in times.items():
        await store.people.save_item("T1", "U1", Saved(key, at))
    assert await store.people.saved("T1", "U1") == [Saved(key, times[key]) for key in (KEYS[1], KEYS[0], KEYS[2])]
    assert await store.people.saved("T1", "U2") == []
    assert await store.people.saved("T2", "U1") == []
    assert await store.people.unsave_item("T2", "U1", KEYS[0]) is False
    assert await store.people.unsave_item("T1", "U2", KEYS[0]) is False
    assert len(await store.people.saved("T1", "U1")) == 3


async def test_preferences_come_back_and_are_at_first_the_operators(store: AnyStore) -> None:
    assert await store.workspaces.preferences("T1") == Preferences()
    settled = Preferences(manage="admins", zone="Europe/Zurich", entries=5)
    await store.workspaces.save_preferences("T1", settled, change("settings"))
    assert await store.workspaces.preferences("T1") == settled
    assert await store.workspaces.preferences("T2") == Preferences()
    await store.workspaces.save_preferences("T1", Preferences(zone="UTC"), change("settings"))
    assert await store.workspaces.preferences("T1") == Preferences(zone="UTC")


async def test_preferences_of_many_workspaces_are_read_at_once(store: AnyStore) -> None:
    settled = Preferences(alerts="C1")
    await store.workspaces.save_preferences("T1", settled, change("settings"))
    await store.workspaces.save_preferences("T10", Preferences(zone="UTC"), change("settings", "T10"))
    assert await store.workspaces.preferences_of(["T1", "T2", "T1"]) == {"T1": settled, "T2": Preferences()}
    assert await store.workspaces.preferences_of([]) == {}


async def test_preferences_are_kept_only_over_those_that_the_writer_has_read(store: AnyStore) -> None:
    read = await store.workspaces.preferences("T1")
    await store.workspaces.save_preferences("T1", Preferences(manage="admins"), change("settings manage"), replaces=read)
    with pytest.raises(Conflict, match="Somebody changed the settings in between"):
        await store.workspaces.save_preferences("T1", Preferences(entries=3), change("settings top"), replaces=read)
    assert await store.workspaces.preferences("T1") == Preferences(manage="admins")
    assert [line.what for line in await store.workspaces.changes("T1")] == ["settings manage"]
    again = Preferences(manage="admins", entries=3, quiet_from=time(22), prefer_duplicate=("C1", "C2"))
    await store.workspaces.save_preferences("T1", again, change("settings top"), replaces=Preferences(manage="admins"))
    await store.workspaces.save_preferences("T1", Preferences(), change("settings top"), replaces=again)
    assert await store.workspaces.preferences("T1") == Preferences()


# --- the audit


async def note(store: AnyStore, *lines: Change) -> None:
    for line in lines:
        await store.workspaces.save_preferences(line.workspace, Preferences(), line)


async def test_a_change_comes_back_with_every_field(store: AnyStore) -> None:
    line = change("topic kv", before="cache \ud83d", after='"kv cache"\n<b>')
    await note(store, line)
    assert await store.workspaces.changes("T1") == [line]
    assert await store.workspaces.changes("T2") == []


async def test_changes_come_the_newest_first_and_of_one_time_the_last_written(store: AnyStore) -> None:
    given = [change(after=str(number), minutes=minutes) for number, minutes in enumerate((0, 5, 2, 5, 5))]
    await note(store, *given)
    assert [each.after for each in await store.workspaces.changes("T1")] == ["4", "3", "1", "2", "0"]
    assert [each.after for each in await store.workspaces.changes("T1", limit=2)] == ["4", "3"]


async def test_the_latest_twenty_changes_are_enough_when_no_number_is_named(store: AnyStore) -> None:
    await note(store, *(change(minutes=number) for number in range(23)))
    assert len(await store.workspaces.changes("T1")) == 20


async def test_changes_are_asked_for_by_their_first_words_and_never_by_half_a_word(store: AnyStore) -> None:
    whats = (
        "topic kv",
        "topic kv-cache",
        "topic kv\x00x",
        "topic kv!",
        "topics",
        "topic",
        "subscription C1 kv",
        "feedback kv a:1",
    )
    await note(store, *(change(what, minutes=number) for number, what in enumerate(whats)))

    async def about(words: str) -> list[str]:
        return [each.what for each in await store.workspaces.changes("T1", about=words)]

    assert await about("topic kv") == ["topic kv"]
    assert await about("topic") == ["topic", "topic kv!", "topic kv\x00x", "topic kv-cache", "topic kv"]
    assert await about("feedback kv") == ["feedback kv a:1"]
    assert await about("subscription") == ["subscription C1 kv"]
    assert await about("kv") == []
    assert await about("topic%") == []


# --- what counts in a channel


async def test_what_is_saved_in_a_channel_counts_there_once_for_each_person_and_nowhere_else(store: AnyStore) -> None:
    for person, channel in (("U1", "C1"), ("U2", "C1"), ("U1", "C1"), ("U1", "C2"), ("U3", "")):
        await store.people.save_item("T1", person, Saved(KEYS[0], NOW), channel=channel)
    assert await store.people.saved_in("T1", "C1") == [SavedInChannel(KEYS[0], NOW, 2)]
    assert await store.people.saved_in("T1", "C2") == [SavedInChannel(KEYS[0], NOW, 1)]
    assert await store.people.saved_in("T1", "") == []
    assert await store.people.saved_in("T2", "C1") == []
    assert await store.people.saved("T1", "U1") == [Saved(KEYS[0], NOW)]


async def test_what_was_put_aside_before_counts_from_when_it_was_last_saved_in_the_channel(store: AnyStore) -> None:
    await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW))
    assert (
        await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW + DAY), channel="C1", link="https://a.example") is False
    )
    await store.people.save_item("T1", "U1", Saved(KEYS[0], NOW + 2 * DAY), channel="C1", link="https://b.example")
    assert await store.people.saved_in("T1", "C1") == [SavedInChannel(KEYS[0], NOW + 2 * DAY, 1, "https://a.example")]
    assert await store.people.saved("T1", "U1") == [Saved(KEYS[0], NOW)]


async def test_the_link_that_was_not_known_is_added_and_the_latest_is_told(store: AnyStore) -> None:
    for person, day, link in (("U1", 0, "https://a.example"), ("U2", 1, "https://b.example"), ("U3", 2, "")):
        await store.people.save_item("T1", person, Saved(KEYS[0], NOW + day * DAY), channel="C1", link=link)
    assert [each.link for each in await store.people.saved_in("T1", "C1")] == ["https://b.example"]
    await store.people.save_item("T1", "U3", Saved(KEYS[0], NOW + 3 * DAY), channel="C1", link="https://c.example")
    assert await store.people.saved_in("T1", "C1") == [SavedInChannel(KEYS[0], NOW + 3 * DAY, 3, "https://c.example")]


async def test_what_a_person_takes_back_counts_for_them_in_no_channel_any_more(store: AnyStore) -> None:
    for person, channel in (("U1", "C1"), ("U1", "C2"), ("U2", "C1")):
        await store.people.save_item("T1", person, Saved(KEYS[0], NOW), channel=channel)
    assert await store.people.unsave_item("T2", "U1", KEYS[0]) is False
    assert await store.people.unsave_item("T1", "U1", KEYS[0]) is True
    assert await store.people.saved_in("T1", "C1") == [SavedInChannel(KEYS[0], NOW, 1)]
    assert await store.people.saved_in("T1", "C2") == []


async def test_items_that_became_one_are_listed_once_and_who_saved_both_is_one(store: AnyStore) -> None:
    await store.items.add([paper(1), paper(2)], NOW)
    for person, number, day in (("U1", 1, 0), ("U1", 2, 1), ("U2", 1, 2), ("U3", 3, 1)):
        await store.people.save_item("T1", person, Saved(paper(number).key, NOW + day * DAY), channel="C1")
    await store.items.add([paper(2, aliases=(paper(1).key,))], NOW, retired=[paper(1).key])
    assert await store.people.saved_in("T1", "C1") == [
        SavedInChannel(paper(2).key, NOW + 2 * DAY, 2),
        SavedInChannel(paper(3).key, NOW + DAY, 1),
    ]


async def test_the_public_channels_are_those_of_the_workspaces_that_made_any(store: AnyStore) -> None:
    for workspace, public in (("T2", ("C2", "C1")), ("T1", ()), ("T3", ("C1",))):
        settled = Preferences(zone="UTC", alerts="public", public=public)
        await store.workspaces.save_preferences(workspace, settled, change("settings web", workspace))
    assert await store.workspaces.public() == {"T2": ("C2", "C1"), "T3": ("C1",)}
