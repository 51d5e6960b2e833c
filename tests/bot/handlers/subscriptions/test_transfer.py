from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import UsageError
from bot.models import Actor
from tests.bot.handlers.askers import Asker, button, said


async def owners(ada: Asker) -> dict[tuple[str, str], str]:
    """Whose each subscription of the workspace is, by channel and topic."""
    every = await ada.context.store.workspaces.subscriptions(ada.actor.workspace)
    return {(each.channel, each.topic): each.made_by for each in every}


@pytest.fixture
async def left(ada: Asker) -> Asker:
    """Ada's workspace, in which Bob subscribed two channels, and she one."""
    bob = ada.by(person="U-bob")
    await bob.ask("subscribe kv")
    await bob.by(channel="C2").ask("subscribe gpu-systems weekly")
    await ada.by(channel="C2").ask("subscribe kv")
    return ada


async def test_it_shows_whose_the_subscriptions_are_and_changes_nothing(left: Asker) -> None:
    before = await owners(left)
    reply = await left.ask("transfer")
    assert reply.title == "Whose the subscriptions are"
    assert [(entry.title, entry.lines) for entry in reply.entries] == [
        ("U-ada", ("KV cache in C2",)),
        ("U-bob", ("KV cache in C1", "GPU systems in C2")),
    ]
    assert (reply.people, reply.channels, reply.private) == (("U-ada", "U-bob"), ("C1", "C2"), True)
    assert await owners(left) == before


async def test_all_of_somebody_who_left_are_taken_over_and_given_back(left: Asker) -> None:
    before = await owners(left)
    (take,) = (each for entry in (await left.ask("transfer")).entries for each in entry.buttons)
    assert (take.label, take.command) == ("Take over", "transfer from U-bob to me")

    taken = await left.ask(take.command)
    assert taken.title == "2 subscriptions are yours now"
    assert taken.text == ("KV cache in C1, of U-bob before", "GPU systems in C2, of U-bob before")
    assert not taken.private
    assert set((await owners(left)).values()) == {"U-ada"}

    back = await left.at(left.now + timedelta(minutes=5)).ask(button(taken, "Undo"))
    assert back.title == "The transfer is taken back"
    assert await owners(left) == before, "what was hers before stays hers"
    assert (await left.ask(button(taken, "Undo"))).title == "There is nothing to take back"


async def test_one_of_this_channel_is_given_to_somebody_who_is_known_here(left: Asker) -> None:
    given = await left.ask('transfer "KV cache" to me')
    assert given.title == "1 subscription is yours now"
    await left.ask("transfer kv to <@U-bob>")
    assert (await owners(left))["C1", "kv"] == "U-bob"
    assert (await owners(left))["C2", "kv"] == "U-ada"
    assert (await left.ask("transfer kv to U-bob")).title == "Nothing to transfer"
    assert (await left.ask("transfer kv from me")).title == "Nothing to transfer"


async def test_every_rhythm_of_a_topic_goes_along_and_schedules_stay(left: Asker) -> None:
    await left.by(person="U-bob").ask("subscribe kv weekly")
    before = await left.here()
    await left.ask("transfer kv from U-bob")
    after = await left.here()
    assert {each.made_by for each in after} == {"U-ada"}
    unchanged = [replace(each, made_by="U-bob", revision=each.revision - 1) for each in after]
    assert unchanged == list(before)


async def test_what_changed_meanwhile_is_not_taken_back(left: Asker) -> None:
    taken = await left.ask("transfer from U-bob")
    carla = left.by(person="U-carla").at(left.now + timedelta(minutes=1))
    await carla.ask("transfer kv")
    await left.by(channel="C2").ask("unsubscribe gpu-systems")

    assert (await left.ask(button(taken, "Undo"))).title == "There is nothing to take back"
    assert (await owners(left))["C1", "kv"] == "U-carla"
    assert (await carla.ask(button(taken, "Undo"))).title == "There is nothing to take back", "it was not hers"


async def test_the_audit_says_whose_it_was_and_an_ending_is_still_taken_back_without_a_gap(left: Asker) -> None:
    (first,) = await left.here()
    await left.ask("transfer kv")
    newest = (await left.ask("history kv")).entries[0]
    assert newest.lines[1].endswith("(of U-bob)")
    assert newest.lines[2].endswith("(of U-ada)")
    ended = await left.ask("unsubscribe kv")
    await left.at(left.now + timedelta(days=1)).ask(button(ended, "Undo") if ended.buttons else "subscribe kv")
    assert (await left.here())[0].baseline == first.baseline


async def test_private_channels_of_others_are_neither_told_nor_changed(left: Asker) -> None:
    async def but_the_second(_: Actor, channels: Collection[str]) -> Collection[str]:
        return set(channels) - {"C2"}

    guest = replace(left, context=replace(left.context, visible_channels=but_the_second))
    told = said(await guest.ask("transfer"))
    assert "2 more in private channels that you are not in." in told
    assert "C2" not in told
    taken = await guest.ask("transfer from U-bob")
    assert "C2" not in said(taken)
    assert (await owners(left))["C2", "gpu-systems"] == "U-bob"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("transfer from @anna", "nobody here whom"),
        ("transfer kv to @Somebody", "nobody here whom"),
        ("transfer from broadsheet", "nobody here whom"),
        ("transfer llm-agents", "not subscribed in this channel"),
        ("transfer kv to", "needs a person"),
        ("transfer from U-bob to me now", "now"),
    ],
)
async def test_who_or_what_is_not_known_is_said(left: Asker, text: str, sentence: str) -> None:
    before = await owners(left)
    with pytest.raises(UsageError, match=sentence):
        await left.ask(text)
    assert await owners(left) == before


async def test_only_who_may_manage_transfers(left: Asker) -> None:
    await left.by(may_administer=True).ask("settings manage admins")
    for text in ("transfer", "transfer from U-bob"):
        with pytest.raises(UsageError, match="Only administrators"):
            await left.ask(text)
    assert (await left.by(may_administer=True).ask("transfer from U-bob")).title.startswith("2 subscriptions")


async def test_what_nobody_made_is_taken_over_too(left: Asker) -> None:
    (mine,) = await left.here()
    store = left.context.store.workspaces
    change = (await store.changes(left.actor.workspace, limit=1))[0]
    await store.save_subscription(replace(mine, made_by=""), change, replaces=mine.revision)
    reply = await left.ask("transfer")
    (take,) = (each.command for entry in reply.entries if entry.title == "Nobody any more" for each in entry.buttons)
    assert (await left.ask(take)).title == "1 subscription is yours now"
