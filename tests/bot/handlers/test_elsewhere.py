"""A command for another channel than the one in which it is given."""

from dataclasses import replace
from typing import Any

import pytest

from bot.commands import Command, read
from bot.errors import UsageError
from bot.handlers.context import no_such_channel
from bot.handlers.wording.elsewhere import for_channel
from bot.models import Actor, Delivery
from tests.bot.handlers.askers import ADA, Asker
from tests.stores.instead import instead

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


async def test_a_setting_of_a_channel_takes_its_name_and_another_setting_does_not(asker: Asker) -> None:
    reply = await asker.ask("settings alerts #papers")
    assert (reply.title, reply.text) == ("Settled: where it is told what could not be posted", ("C-papers.",))
    await asker.ask("settings duplicates #papers.")
    held = await asker.context.store.workspaces.preferences(ADA.workspace)
    assert (held.alerts, held.prefer_duplicate) == ("C-papers", ("C-papers",))
    with pytest.raises(UsageError, match="you can see"):
        await asker.by(person="U-bob").ask("settings duplicates #board")
    for name in ("activity", "layout", "manage", "zone"):
        with pytest.raises(UsageError):
            await asker.by(may_administer=True).ask(f"settings {name} #papers")
    assert await asker.context.store.workspaces.preferences(ADA.workspace) == held


async def test_below_a_digest_another_channel_is_not_the_one_of_that_digest(asker: Asker) -> None:
    store = asker.context.store
    heard: list[tuple[str, str]] = []

    async def delivery_posted(_workspace: str, channel: str, message: str) -> Delivery | None:
        heard.append((channel, message))
        return None

    chats: Any = instead(store.chats, delivery_posted=delivery_posted)
    below = replace(asker, context=replace(asker.context, store=instead(store, chats=chats)))
    for where in ({"channel": "C1", "post": "T9"}, {"channel": "T9", "parent": "C-papers", "post": "T9"}):
        with pytest.raises(UsageError, match="No digest was posted here yet"):
            await below.by(**where).ask("why 1 in #board")
    assert heard == []
    with pytest.raises(UsageError, match="No digest was posted here yet"):
        await below.by(channel="T9", parent="C-papers", post="T9").ask("why 1 in #papers")
    assert set(heard) == {("C-papers", "T9")}, "that is the channel where the digest above was posted"


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
