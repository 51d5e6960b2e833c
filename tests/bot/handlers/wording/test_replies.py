"""Channels and persons that replies name are told apart, so that a platform can show them as its own."""

import re
from dataclasses import replace
from datetime import timedelta

from bot.commands import EditTopic, Part, read
from bot.handlers.handle import answer
from bot.handlers.wording.replies import mentioning
from bot.models import Field, Reply, ReplyEntry
from tests.bot.handlers.askers import Asker, said


def test_what_stands_as_a_whole_word_is_told_and_nothing_else() -> None:
    reply = Reply(
        title="C1: kv",
        text=("In C2, and C33.",),
        fields=(Field("Where", "(C4)"),),
        entries=(ReplyEntry(title="by *U1*", lines=("XC5 and C5x",)),),
    )
    found = mentioning(reply, channels=("C1", "C2", "C3", "C4", "C5", "C2"), people=("U1", "U2"))
    assert (found.channels, found.people) == (("C1", "C2", "C4"), ("U1",))


async def test_a_list_of_all_subscriptions_names_the_other_channels(ada: Asker) -> None:
    for channel in ("C1", "C2", "C3"):
        await ada.by(channel=channel).ask("subscribe kv")
    assert (await ada.ask("list all")).channels == ("C2", "C3")  # this one is called so
    assert (await ada.ask("list")).channels == ()


async def test_deleting_a_topic_names_who_uses_it(ada: Asker) -> None:
    await ada.ask("topic create mine cache")
    await ada.by(channel="C2").ask("subscribe mine")
    assert (await ada.ask("topic delete mine")).channels == ("C2",)
    assert (await ada.ask("topic delete mine anyway")).channels == ("C2",)


async def test_settings_name_the_channels_that_are_settled(ada: Asker) -> None:
    await ada.by(channel="C2").ask("settings alerts here")
    await ada.by(channel="C3").ask("settings duplicates here")
    assert (await ada.ask("settings")).channels == ("C2", "C3")
    assert (await ada.ask("settings alerts")).channels == ("C2",)
    assert (await ada.ask("settings duplicates here")).channels == ("C3",)


async def test_history_names_who_changed_what_where(ada: Asker) -> None:
    await ada.by(channel="C2", person="U-bob").ask("subscribe kv")
    await ada.by(channel="C3").ask("settings alerts here")
    await ada.by(channel="C4").ask("settings duplicates here")
    reply = await ada.by(person="U-eve").ask("history")
    assert reply.channels == ("C2", "C3", "C4")
    assert reply.people == ("U-ada", "U-bob")


async def test_a_conflict_names_who_was_first(ada: Asker) -> None:
    await ada.by(person="U-bob").ask("topic edit kv title Caches")
    late = EditTopic(name="kv", part=Part.TITLE, value="KV", revision=0)
    reply = await answer(ada.context, late, ada.actor, ada.now + timedelta(hours=1))
    assert reply.title == "Somebody else changed it"
    assert reply.people == ("U-bob",)


WORLD_CHANNELS, WORLD_PEOPLE = ("C7GENERAL", "C8PAPERS", "@4711"), ("U7ADA", "U8BOB")
EVERY_COMMAND = (
    *(
        "help",
        "topics",
        "topic show kv",
        "topic show own",
        "list",
        "list all",
        "status",
        "history",
        "history own",
        "settings",
    ),
    *(
        "settings alerts",
        "settings duplicates",
        "profile kv",
        "saved",
        "now kv",
        "why 2603.00001",
        "filter own",
        "search cache",
    ),
    *(
        "filter own test gpu",
        "similar 2603.00001",
        "topic edit own title Ours",
        "pause own",
        "resume own",
        "unsubscribe own",
    ),
    *(
        "topic delete own",
        "topic delete own anyway",
        "history",
        "settings duplicates here",
        "settings alerts off",
        "list all",
    ),
)


async def test_whatever_is_asked_every_identifier_in_a_text_is_told_apart(ada: Asker) -> None:
    for channel in WORLD_CHANNELS:
        for person, text in zip(
            WORLD_PEOPLE * 2, ("topic create own cache", "subscribe own", "settings duplicates here"), strict=False
        ):
            await answer_in(ada.by(channel=channel, person=person), text)
    await answer_in(ada.by(channel=WORLD_CHANNELS[1], person=WORLD_PEOPLE[0]), "settings alerts here")
    seats = [ada.by(channel=channel, person=person) for channel in WORLD_CHANNELS[:2] for person in WORLD_PEOPLE]
    named = 0
    for text in EVERY_COMMAND:
        for each in seats:
            reply = await answer_in(each, text)
            words = set(re.findall(r"[@\w-]+", said(replace(reply, buttons=(), attachment=None))))
            assert words & set(WORLD_CHANNELS) <= set(reply.channels), (text, reply)
            assert words & set(WORLD_PEOPLE) <= set(reply.people), (text, reply)
            named += len(reply.channels) + len(reply.people)
    assert named > 20


async def answer_in(asker: Asker, text: str) -> Reply:
    return await answer(asker.context, read(text), asker.actor, asker.now)
