"""What is said where Broadsheet is invited."""

from datetime import timedelta

from bot.handlers.surfaces.greeting import greeting
from bot.models import Reply
from tests.bot.handlers.askers import Asker


async def greeted(asker: Asker, *, whole_workspace: bool = False) -> Reply | None:
    actor = asker.actor
    return await greeting(asker.context, actor.workspace, actor.channel, asker.now, whole_workspace=whole_workspace)


async def test_a_channel_is_greeted_once_and_never_again(ada: Asker) -> None:
    said = await greeted(ada)
    assert said is not None
    assert not said.private
    assert await greeted(ada) is None
    assert await greeted(ada.at(ada.now + timedelta(days=4000))) is None
    assert await greeted(ada.by(channel="C2")) is not None


async def test_who_is_in_use_greets_nobody_there_then_or_later(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    assert await greeted(ada) is None
    await ada.ask("unsubscribe kv")
    assert await greeted(ada) is None
    assert await greeted(ada.by(channel="C2")) is not None


async def test_an_invitation_to_the_whole_workspace_greets_nobody_where_anything_is_subscribed(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 in UTC")
    assert await greeted(ada.by(channel="C2"), whole_workspace=True) is None
    assert await greeted(ada.by(channel="C3", workspace="slack:T2"), whole_workspace=True) is not None
