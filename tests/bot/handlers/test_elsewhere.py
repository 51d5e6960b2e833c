"""A command for another channel than the one in which it is given."""

from dataclasses import replace

import pytest

from bot.commands import Command, read
from bot.errors import UsageError
from bot.handlers.context import no_such_channel
from bot.handlers.wording.elsewhere import for_channel
from bot.models import Actor
from tests.bot.handlers.askers import ADA, Asker

ROOMS = {"papers": "C-papers", "board": "C-board"}


async def elsewhere(actor: Actor, named: str) -> Actor:
    """Ada may write in both, and administers #papers alone; #board is there for its own people."""
    name = {identifier: name for name, identifier in ROOMS.items()}.get(named, named)
    if name not in ROOMS or (name == "board" and actor.person != "U-ada"):
        raise no_such_channel(named)
    return replace(actor, channel=ROOMS[name], place=f"#{name}", may_administer=name == "papers", may_write=name == "papers")


@pytest.fixture
def asker(ada: Asker) -> Asker:
    return replace(ada, context=replace(ada.context, elsewhere=elsewhere))


async def channels(asker: Asker) -> list[str]:
    held = await asker.context.store.workspaces.subscriptions(ADA.workspace)
    return [each.channel for each in held]


async def test_it_acts_in_that_channel_and_so_do_its_buttons(asker: Asker) -> None:
    reply = await asker.ask("subscribe kv in #papers")

    assert await channels(asker) == ["C-papers"]
    assert "will be posted in #papers" in reply.text[0]
    assert reply.private
    for each in reply.buttons:
        command = read(each.command)
        assert isinstance(command, Command)
        assert command.place in ("C-papers", ""), each.command
        assert command.place or command == command.placed("C-papers"), "what takes a channel names it"
    (pause,) = [each for each in reply.buttons if each.label == "Pause"]
    paused = await asker.ask(pause.command)
    assert "*resume kv in #papers* goes on" in paused.text[-1] or "in #papers" in " ".join(paused.text)


async def test_what_one_may_is_asked_of_that_channel(asker: Asker) -> None:
    strict = replace(asker, context=replace(asker.context, manage="admins"))

    assert (await strict.ask("subscribe kv in #papers")).title == "Subscribed to KV cache"
    for who in (strict, asker):  # where everybody manages, of those who can write there
        with pytest.raises(UsageError, match="Only administrators"):
            await who.ask("subscribe kv in #board")
    assert await channels(asker) == ["C-papers"]


async def test_what_one_does_not_see_is_not_there(asker: Asker) -> None:
    bob = asker.by(person="U-bob")
    said = []
    for name in ("board", "nowhere"):
        with pytest.raises(UsageError) as caught:
            await bob.ask(f"list in #{name}")
        said.append((str(caught.value).replace(name, "NAME"), caught.value.hint))

    assert said[0] == said[1]


async def test_ones_own_channel_may_be_named_too(asker: Asker) -> None:
    inside = asker.by(channel="C-papers")

    assert (
        (await inside.ask("subscribe kv in #papers"))
        .text[0]
        .startswith("What fits *KV cache* will be posted in this channel")
    )


async def test_errors_lead_on_in_that_channel(asker: Asker) -> None:
    with pytest.raises(UsageError) as caught:
        await asker.ask("pause kv in #papers")

    assert str(caught.value) == "Nothing is subscribed in #papers."
    assert caught.value.hint == "*subscribe TOPIC weekdays at 09:00 in #papers* begins one."


async def test_where_there_is_one_place_no_other_is_named(ada: Asker) -> None:
    with pytest.raises(UsageError, match="No other channel"):
        await ada.ask("list in #papers")


def test_only_commands_that_take_a_channel_are_given_one() -> None:
    there = replace(ADA, channel="C-papers", place="#papers")

    said = for_channel(
        "*topics* lists them, *list* what is posted, *kv cache* is stressed, *now kv in #board* is elsewhere.", there
    )
    assert said == (
        "*topics* lists them, *list in #papers* what is posted, *kv cache* is stressed, *now kv in #board* is elsewhere."
    )
