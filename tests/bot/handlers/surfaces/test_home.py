"""The page of one person, over the channels in which they are."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.handlers.surfaces.home import BEST, SCHEDULES, Home, home
from bot.models import Schedule, Subscription
from tests.bot.handlers.askers import Asker, stored

MINE = ("C1", "C2", "D-ada")


async def page(asker: Asker, *channels: str) -> Home:
    return await home(asker.context, asker.actor, channels or MINE, asker.now)


async def post(asker: Asker, topic: str, keys: Sequence[str] = (), *, later: timedelta = timedelta()) -> None:
    """Post what a digest of the topic in the asker's channel would show now, of it these in this order where named."""
    at = asker.now + later
    (digest,) = (await asker.ask(f"now {topic}")).digests
    by_key = {each.ranked.item.key: each for each in digest.entries}
    shown = tuple(by_key[f"arxiv:{key}"] for key in keys) if keys else digest.entries
    digest = replace(digest, entries=shown, is_preview=False, day=at.date())
    await asker.context.store.digests.save(asker.actor.workspace, asker.actor.channel, digest, at)


def titles(found: Home) -> list[str]:
    return [each.entry.item.title for each in found.best if each.entry.item is not None]


async def test_the_best_is_what_stands_first_in_the_last_digests_of_ones_channels(ada: Asker) -> None:
    for channel in ("C1", "C2", "C9"):
        await ada.by(channel=channel).ask("subscribe kv at 09:00 in UTC")
    await ada.by(channel="C2").ask("subscribe gpu-systems at 09:00 in UTC")
    await post(ada, "kv", ["2603.00001", "2603.00003"])
    await post(ada.by(channel="C2"), "gpu-systems", ["2603.00005"])
    await post(ada.by(channel="C9"), "kv", ["2603.00002"])
    found = await page(ada)
    assert found.heading == "Today in your channels"
    assert titles(found) == ["Paging the KV cache", "GPU kernels by hand", "Sharding a cache in CUDA"]
    assert [(each.channel, each.topic) for each in found.best] == [
        ("C1", "KV cache"),
        ("C2", "GPU systems"),
        ("C1", "KV cache"),
    ]
    labels = [each.label for each in found.best[0].entry.buttons]
    assert labels == ["Details", "Save", "More like this", "Less", "Similar"]
    assert found.nothing == ""


async def test_what_was_posted_twice_stands_once_and_the_page_has_its_limit(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    await ada.by(channel="C2").ask("subscribe kv at 09:00 in UTC")
    await post(ada, "kv")
    await post(ada.by(channel="C2"), "kv")
    found = titles(await page(ada))
    assert len(found) == len(set(found)) <= BEST


async def test_what_was_posted_longer_ago_comes_later_and_after_a_week_not_at_all(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    await ada.by(channel="C2").ask("subscribe gpu-systems at 09:00 in UTC")
    await post(ada, "kv", ["2603.00001"])
    await post(ada.by(channel="C2"), "gpu-systems", ["2603.00005"], later=timedelta(days=3))
    found = await page(ada.at(ada.now + timedelta(days=3)))
    assert titles(found) == ["GPU kernels by hand", "Paging the KV cache"]
    assert [each.entry.lines for each in found.best] == [("GPU systems",), ("KV cache", "Wednesday 1 April")]
    on_the_next = ada.at(ada.now + timedelta(days=6))
    assert (await page(on_the_next)).heading == "Latest in your channels"
    gone = await page(ada.at(ada.now + timedelta(days=20)))
    assert gone.best == ()
    assert gone.nothing == "No digest with entries was posted in your channels in the last week."


async def test_of_many_channels_those_are_looked_at_that_had_a_digest_last(ada: Asker) -> None:
    channels = [f"C{number:02}" for number in range(20)]
    for channel in channels:
        await ada.by(channel=channel).ask("subscribe kv at 09:00 in UTC")
    await post(ada.by(channel="C19"), "kv", ["2603.00001"], later=timedelta(days=-1))
    await post(ada.by(channel="C17"), "kv")
    found = await page(ada, *channels)
    assert {each.channel for each in found.best} == {"C17"}
    assert "Paging the KV cache" in titles(found)
    assert {each.channel for each in (await page(ada, *channels[:10], "C19")).best} == {"C19"}


async def test_the_gist_is_the_one_that_was_posted(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    (digest,) = (await ada.ask("now kv")).digests
    said = tuple(replace(each, gist=f"Posted as number {number}") for number, each in enumerate(digest.entries, start=1))
    digest = replace(digest, entries=said, is_preview=False, day=ada.now.date())
    await ada.context.store.digests.save(ada.actor.workspace, ada.actor.channel, digest, ada.now)
    assert [each.entry.gist for each in (await page(ada)).best] == [each.gist for each in said][:BEST]


async def test_nothing_is_ranked_for_the_page(ada: Asker) -> None:
    """With a previewer that does nothing the page is the same."""
    await ada.ask("subscribe kv at 09:00 in UTC")
    await post(ada, "kv")
    without = replace(ada, context=replace(ada.context, previewer=None))  # type: ignore[arg-type]
    assert await page(without) == await page(ada)


async def test_a_person_sees_the_subscriptions_of_their_channels_alone(ada: Asker) -> None:
    for channel in ("C1", "C2", "C9"):
        await ada.by(channel=channel).ask("subscribe kv weekdays at 09:00 in Europe/Zurich")
    found = await page(ada)
    assert [(each.channel, each.topic) for each in found.subscriptions] == [("C1", "kv"), ("C2", "kv")]
    assert [each.label for each in found.subscriptions[1].buttons] == ["Preview", "Pause", "Unsubscribe"]
    assert found.subscriptions[0].title == "KV cache"
    assert (await page(ada.by(workspace="slack:T2"))).subscriptions == ()


async def test_schedules_are_told_the_soonest_first_and_what_is_paused_last(ada: Asker) -> None:
    await ada.ask("subscribe kv daily at 12:00 in UTC")
    await ada.ask("pause kv")
    await ada.by(channel="C2").ask("subscribe gpu-systems daily at 10:00 in UTC")
    await ada.by(channel="C2").ask("subscribe kv daily at 08:00 in UTC")
    await ada.by(channel="C2").ask("subscribe kv weekly at 08:00 in UTC")
    found = await page(ada)
    assert [(each.title, each.channel, each.line) for each in found.subscriptions] == [
        ("KV cache, daily", "C2", "every day at 08:00 (UTC), next in 1 hour"),
        ("GPU systems", "C2", "every day at 10:00 (UTC), next in 3 hours"),
        ("KV cache, weekly", "C2", "on Mondays at 08:00 (UTC), next in 5 days"),
        ("KV cache", "C1", "every day at 12:00 (UTC). Paused until somebody resumes it."),
    ]
    assert [each.command for each in found.subscriptions[0].buttons] == ["now kv", "pause kv daily", "unsubscribe kv daily"]


async def test_a_schedule_that_cannot_be_told_hides_none_of_the_others(ada: Asker) -> None:
    await stored(ada, schedule=Schedule(zone="Atlantis/Capital"))
    await ada.ask("subscribe gpu-systems daily at 10:00 in UTC")
    found = await page(ada)
    assert [each.topic for each in found.subscriptions] == ["gpu-systems", "kv"]


async def test_what_is_subscribed_to_a_topic_that_is_gone_can_only_be_ended(ada: Asker) -> None:
    first = await stored(ada)
    note = (await ada.context.store.workspaces.changes(ada.actor.workspace))[0]
    await ada.context.store.workspaces.save_subscription(replace(first, id="s9", topic="lost", revision=0), note, replaces=0)
    lost = (await page(ada)).subscriptions[-1]
    assert (lost.line, lost.can_edit) == ("The topic is not there any more.", False)
    assert [each.label for each in lost.buttons] == ["Unsubscribe"]


async def test_the_latest_saved_items_are_there(ada: Asker) -> None:
    await ada.ask("save 2603.00001")
    await ada.at(ada.now + timedelta(minutes=1)).ask("save 2603.00003")
    found = await page(ada)
    assert [title for title, _ in found.saved] == ["Sharding a cache in CUDA", "Paging the KV cache"]
    assert found.saved_in_all == 2
    assert (await page(ada.by(person="U-bob"))).saved == ()


async def test_who_administers_finds_the_status_and_settings_in_the_menu(ada: Asker) -> None:
    assert [each.command for each in (await page(ada)).menu] == ["list all", "help"]
    assert [each.command for each in (await page(ada.by(may_administer=True))).menu] == [
        "list all",
        "status",
        "settings",
        "help",
    ]


async def test_who_may_not_manage_is_told_so(ada: Asker) -> None:
    await ada.by(may_administer=True).ask("settings manage admins")
    assert not (await page(ada)).may_manage
    assert (await page(ada.by(may_administer=True))).may_manage


async def test_who_is_of_another_organisation_sees_nothing_but_what_they_saved(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    await post(ada, "kv")
    stranger = ada.by(person="U-eve", is_external=True)
    await stranger.ask("save 2603.00001")
    found = await page(stranger)
    assert (found.best, found.subscriptions, found.may_manage, found.is_external) == ((), (), False, True)
    assert found.saved_in_all == 1


async def test_a_page_with_many_subscriptions_tells_how_many_are_left_out(ada: Asker) -> None:
    first = await stored(ada)
    note = (await ada.context.store.workspaces.changes(ada.actor.workspace))[0]
    for number in range(60):
        other: Subscription = replace(first, id=f"s{number}", channel=f"C1{number:02}", revision=0)
        await ada.context.store.workspaces.save_subscription(other, note, replaces=0)
    found = await page(ada, *(f"C1{number:02}" for number in range(60)))
    assert len(found.subscriptions) == SCHEDULES
    assert found.further == 60 - SCHEDULES


async def test_who_is_in_no_subscribed_channel_is_told_how_to_begin(ada: Asker) -> None:
    found = await page(ada)
    assert "Nothing is subscribed" in found.nothing
