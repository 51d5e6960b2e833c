"""How a channel is made public."""

from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.archive.sessions import signer_of
from bot.models import Viewer
from tests.bot.handlers.archive.test_access import BASE, Rooms, admin, rooms, seen
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import Asker, said

__all__ = ["admin", "rooms"]  # fixtures


async def test_nothing_is_public_before_an_administrator_says_so_and_after_it_is_taken_back(admin: Asker) -> None:
    await posted(admin, "C1")
    assert await seen(admin) is None
    assert "those of no channel" in said(await admin.ask("settings"))
    reply = await admin.ask("settings web public")
    assert reply.text == ("This channel.",)
    assert await seen(admin) == Viewer(workspace="slack:T1", channels=("C1",))
    await admin.by(channel="C2").ask("settings web public")
    await admin.ask("settings web private")
    assert await seen(admin) == Viewer(workspace="slack:T1", channels=("C2",))
    (last, *_) = await admin.context.store.workspaces.changes("slack:T1")
    assert (last.what, last.before, last.after, last.person) == ("settings web", "C1, C2", "C2", "U-ada")
    assert "C2" in (await admin.ask("settings")).channels


async def test_the_command_tells_the_address_of_what_is_public_once_something_is(admin: Asker) -> None:
    assert len((await admin.ask("web")).text) == 2
    await admin.ask("settings web public")
    *_, url = (await admin.ask("web")).text
    assert url == f"{BASE}/w/{(await signer_of(admin.context)).slug('slack:T1')}/"


async def test_undo_takes_it_back(admin: Asker) -> None:
    (undo,) = (await admin.ask("settings web public")).buttons
    await admin.ask(undo.command)
    assert await seen(admin) is None


async def test_who_is_no_administrator_makes_nothing_public(admin: Asker) -> None:
    with pytest.raises(UsageError, match="Only administrators"):
        await admin.by(may_administer=False).ask("settings web public")
    with pytest.raises(UsageError, match="members of the workspace"):
        await admin.by(is_external=True).ask("settings web public")


async def test_a_private_channel_is_not_made_public_nor_one_of_which_nobody_can_tell(admin: Asker, rooms: Rooms) -> None:
    with pytest.raises(UsageError, match="everybody here may read"):
        await admin.by(channel="C3").ask("settings web public")
    rooms.answers = False
    with pytest.raises(UsageError, match="cannot be told now"):
        await admin.by(channel="C4").ask("settings web public")
    unknown = replace(admin, context=replace(admin.context, channel_access=ChannelAccess(lambda _: None)))
    with pytest.raises(UsageError, match="cannot be told now"):
        await unknown.ask("settings web public")
    assert await seen(admin) is None


async def test_where_no_pages_are_served_it_is_said_how_it_gets_visible_and_the_setting_is_listed_once_it_is_used(
    admin: Asker,
) -> None:
    without = replace(admin, context=replace(admin.context, web_url=""))
    assert "browser" not in said(await without.ask("settings"))
    reply = await without.ask("settings web public")
    assert reply.text[0] == "This channel."
    assert "web.url" in reply.text[1], "who runs it has to do something first"
    assert "site build" in reply.text[1]
    assert await seen(admin) == Viewer(workspace="slack:T1", channels=("C1",))
    assert "browser" in said(await without.ask("settings"))
    assert len((await without.ask("settings web private")).text) == 1
    assert len((await admin.ask("settings web public")).text) == 1
    with pytest.raises(UsageError, match="neither public nor private"):
        await admin.ask("settings web perhaps")
