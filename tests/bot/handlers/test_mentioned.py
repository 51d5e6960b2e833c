"""Channels and persons that replies name are told apart, so that a platform can show them as its own."""

from datetime import timedelta

from bot.commands import EditTopic, Part
from bot.handlers.handle import answer
from bot.handlers.mentioned import mentioning
from bot.models import Field, Reply, ReplyEntry
from tests.bot.handlers.desks import Seat


def test_what_stands_as_a_whole_word_is_told_and_nothing_else() -> None:
    reply = Reply(
        title="C1: kv",
        text=("In C2, and C33.",),
        fields=(Field("Where", "(C4)"),),
        entries=(ReplyEntry(title="by *U1*", lines=("XC5 and C5x",)),),
    )
    found = mentioning(reply, channels=("C1", "C2", "C3", "C4", "C5", "C2"), people=("U1", "U2"))
    assert (found.channels, found.people) == (("C1", "C2", "C4"), ("U1",))


async def test_a_list_of_all_subscriptions_names_the_other_channels(ada: Seat) -> None:
    for channel in ("C1", "C2", "C3"):
        await ada.by(channel=channel).ask("subscribe kv")
    assert (await ada.ask("list all")).channels == ("C2", "C3")  # this one is called so
    assert (await ada.ask("list")).channels == ()


async def test_deleting_a_topic_names_who_uses_it(ada: Seat) -> None:
    await ada.ask("topic create mine cache")
    await ada.by(channel="C2").ask("subscribe mine")
    assert (await ada.ask("topic delete mine")).channels == ("C2",)
    assert (await ada.ask("topic delete mine anyway")).channels == ("C2",)


async def test_settings_name_the_channels_that_are_settled(ada: Seat) -> None:
    await ada.by(channel="C2").ask("settings alerts here")
    await ada.by(channel="C3").ask("settings duplicates here")
    assert (await ada.ask("settings")).channels == ("C2", "C3")
    assert (await ada.ask("settings alerts")).channels == ("C2",)
    assert (await ada.ask("settings duplicates here")).channels == ("C3",)


async def test_history_names_who_changed_what_where(ada: Seat) -> None:
    await ada.by(channel="C2", person="U-bob").ask("subscribe kv")
    await ada.by(channel="C3").ask("settings alerts here")
    await ada.by(channel="C4").ask("settings duplicates here")
    reply = await ada.by(person="U-eve").ask("history")
    assert reply.channels == ("C2", "C3", "C4")
    assert reply.people == ("U-ada", "U-bob")


async def test_a_conflict_names_who_was_first(ada: Seat) -> None:
    await ada.by(person="U-bob").ask("topic edit kv title Caches")
    late = EditTopic(name="kv", part=Part.TITLE, value="KV", revision=0)
    reply = await answer(ada.desk, late, ada.actor, ada.now + timedelta(hours=1))
    assert reply.title == "Somebody else changed it"
    assert reply.people == ("U-bob",)
