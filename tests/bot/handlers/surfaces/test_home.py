"""The page of one person, over the channels in which they are."""

from dataclasses import replace

from bot.handlers.surfaces.home import Home, home
from bot.models import Schedule, Subscription
from tests.bot.handlers.askers import Asker, stored

MINE = ("C1", "C2", "D-ada")


async def page(asker: Asker, *channels: str) -> Home:
    return await home(asker.context, asker.actor, channels or MINE, asker.now)


async def test_a_person_sees_the_subscriptions_of_their_channels_alone(ada: Asker) -> None:
    for channel in ("C1", "C2", "C9"):
        await ada.by(channel=channel).ask("subscribe kv weekdays at 09:00 in Europe/Zurich")
    found = await page(ada)
    assert [(each.channel, each.topic) for each in found.subscriptions] == [("C1", "kv"), ("C2", "kv")]
    assert [each.label for each in found.subscriptions[1].entry.buttons] == ["Preview", "Pause", "Unsubscribe"]
    assert found.subscriptions[0].entry.title == "KV cache (kv)"
    assert (await page(ada.by(workspace="slack:T2"))).subscriptions == ()


async def test_the_next_digests_are_told_in_the_persons_own_time_the_soonest_first(ada: Asker) -> None:
    await ada.ask("subscribe kv daily at 12:00 in UTC")
    await ada.by(channel="C2").ask("subscribe gpu-systems daily at 10:00 in UTC")
    await ada.by(channel="C2").ask("subscribe kv daily at 08:00 in UTC")
    await ada.by(channel="C2").ask("pause kv")
    found = await page(ada.by(zone="Asia/Tokyo"))
    assert found.coming == (
        "*GPU systems* in C2: Wednesday 1 April at 19:00, in 3 hours.",
        "*KV cache* in C1: Wednesday 1 April at 21:00, in 5 hours.",
    )
    assert found.channels == ("C2", "C1")


async def test_a_schedule_that_cannot_be_told_hides_none_of_the_others(ada: Asker) -> None:
    await stored(ada, schedule=Schedule(zone="Atlantis/Capital"))
    await ada.ask("subscribe gpu-systems daily at 10:00 in UTC")
    found = await page(ada)
    assert [each.topic for each in found.subscriptions] == ["gpu-systems", "kv"]
    assert len(found.coming) == 1


async def test_topics_and_saved_items_are_there(ada: Asker) -> None:
    await ada.ask("save 2603.00001")
    found = await page(ada)
    assert [each.name for each in found.topics] == ["kv", "gpu-systems"]
    assert found.saved.title == "1 saved item"
    assert found.saved.entries[0].item is not None
    assert {each.label for each in found.saved.buttons} == {"bibtex", "ris", "markdown"}
    assert (await page(ada.by(person="U-bob"))).saved.title == "Nothing is saved yet"


async def test_the_status_is_for_administrators(ada: Asker) -> None:
    assert (await page(ada)).status is None
    found = (await page(ada.by(may_administer=True))).status
    assert found is not None
    assert found.title == "Status"


async def test_who_may_not_manage_is_told_so(ada: Asker) -> None:
    await ada.by(may_administer=True).ask("settings manage admins")
    assert not (await page(ada)).may_manage
    assert (await page(ada.by(may_administer=True))).may_manage


async def test_a_page_has_its_limit(ada: Asker) -> None:
    first = await stored(ada)
    note = (await ada.context.store.workspaces.changes(ada.actor.workspace))[0]
    for number in range(60):
        other: Subscription = replace(first, id=f"s{number}", channel=f"C1{number:02}", revision=0)
        await ada.context.store.workspaces.save_subscription(other, note, replaces=0)
    found = await page(ada, *(f"C1{number:02}" for number in range(60)))
    assert len(found.subscriptions) == 50
    assert len(found.coming) == 5


async def test_the_status_of_no_channel_speaks_of_all_and_of_none_as_here(ada: Asker) -> None:
    for channel in ("C1", "C2"):
        await ada.by(channel=channel).ask("subscribe kv")
    found = (await page(ada.by(may_administer=True, channel=""))).status
    assert found is not None
    assert "2 subscriptions in all." in found.text
    assert not [text for text in found.text if "here" in text]
