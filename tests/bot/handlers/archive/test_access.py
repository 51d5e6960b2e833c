"""What everybody may read, and who asks from a browser."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace

import pytest

from bot.errors import Delayed
from bot.handlers.archive.access import assistant_context, browser_context, public_viewer, public_workspaces
from bot.handlers.archive.channel_access import FAILURE_HELD, HELD, SEEN_HELD, ChannelAccess
from bot.handlers.archive.reading import viewer_of
from bot.handlers.archive.sessions import signer_of
from bot.models import AssistantAccess, Change, Preferences, Viewer
from tests.bot.handlers.archive.test_reading import posted
from tests.bot.handlers.askers import Asker

BASE = "https://papers.lab.example"


@dataclass
class Rooms:
    """A platform that tells who may see which channel."""

    open: set[str]
    seconds: float = 0.0
    asked: int = 0
    answers: bool = True

    async def visible_to(self, workspace: str, person: str, channels: Collection[str]) -> Collection[str]:
        return await self.open_to_all(workspace, channels)

    async def is_member(self, workspace: str, person: str) -> bool:
        return bool(await self.open_to_all(workspace, self.open))

    async def open_to_all(self, workspace: str, channels: Collection[str]) -> Collection[str]:
        self.asked += 1
        if not self.answers:
            raise Delayed("Slack does not answer.")
        return self.open & set(channels)


@pytest.fixture
def rooms() -> Rooms:
    return Rooms({"C1", "C2"})


@pytest.fixture
def admin(ada: Asker, rooms: Rooms) -> Asker:
    """Ada as an administrator, where pages are served and the platform tells of its channels."""
    access = ChannelAccess({"slack": rooms}.get, monotonic=lambda: rooms.seconds)
    return replace(ada.by(may_administer=True), context=replace(ada.context, web_url=BASE, channel_access=access))


async def seen(asker: Asker) -> Viewer | None:
    signer = await signer_of(asker.context)
    return await public_viewer(asker.context, signer, signer.slug("slack:T1"))


async def publish(asker: Asker, *channels: str) -> None:
    """Make these channels public."""
    line = Change(workspace="slack:T1", at=asker.now, person="U-ada", what="settings web")
    await asker.context.store.workspaces.save_preferences("slack:T1", Preferences(public=channels), line)


async def test_nothing_is_public_where_nobody_made_it_so(admin: Asker) -> None:
    await posted(admin, "C1")
    assert await seen(admin) is None
    await publish(admin, "C1", "C3", "mail:0.1")
    assert await seen(admin) == Viewer(workspace="slack:T1", channels=("C1",))


async def test_a_channel_that_was_closed_is_shown_for_five_minutes_at_most(admin: Asker, rooms: Rooms) -> None:
    await publish(admin, "C1")
    assert await seen(admin)
    rooms.open.clear()
    before = rooms.asked
    rooms.seconds = HELD - 1
    assert await seen(admin)
    assert rooms.asked == before
    rooms.seconds = HELD
    assert await seen(admin) is None
    rooms.answers, rooms.seconds = False, 2 * HELD
    assert await seen(admin) == Viewer(workspace="slack:T1", is_partial=True)


async def test_the_public_pages_of_another_workspace_have_another_address(admin: Asker) -> None:
    await publish(admin, "C1")
    signer = await signer_of(admin.context)
    assert await public_workspaces(admin.context, signer) == [signer.slug("slack:T1")]
    for slug in (signer.slug("slack:T2"), "slack:T1", "", "0" * 16):
        assert await public_viewer(admin.context, signer, slug) is None


async def test_who_asks_from_a_browser_reads_what_the_platform_lets_them(admin: Asker, rooms: Rooms) -> None:
    for channel in ("C1", "C2", "C3"):
        await posted(admin, channel)
    context = browser_context(admin.context)
    viewer = await viewer_of(context, replace(admin.actor, channel="C9"))
    assert viewer.channels == ("C1", "C2")
    assert await viewer_of(admin.context, replace(admin.actor, channel="C9")) == viewer
    rooms.answers, rooms.seconds = False, SEEN_HELD
    assert (await viewer_of(context, admin.actor)).is_partial


async def test_a_person_who_reads_much_at_once_is_asked_for_once_a_minute(admin: Asker, rooms: Rooms) -> None:
    access, ada = admin.context.channel_access, admin.actor
    first = await asyncio.gather(*(access.visible(ada, ["C1", "C3"]) for _ in range(20)))
    assert (first, rooms.asked) == ([frozenset({"C1"})] * 20, 1)
    rooms.open, rooms.seconds = {"C3"}, SEEN_HELD - 1
    assert await access.visible(ada, ["C3", "C1"]) == {"C1"}
    assert await access.visible(ada, ["C3"]) == {"C3"}, "other channels are asked for"
    assert await access.visible(replace(ada, person="U-bob"), ["C3", "C1"]) == {"C3"}, "and for other people"
    rooms.seconds = SEEN_HELD
    assert await access.visible(ada, ["C1", "C3"]) == {"C3"}
    rooms.answers, rooms.seconds = False, 2 * SEEN_HELD
    for _ in range(2):
        with pytest.raises(Delayed):
            await access.visible(ada, ["C1", "C3"])
    assert rooms.asked == 5, "and while it does not answer, every five seconds"
    rooms.answers = True
    rooms.seconds += FAILURE_HELD
    assert await access.visible(ada, ["C1", "C3"]) == {"C3"}
    assert await access.visible(ada, []) == frozenset()


async def test_an_assistant_reads_its_own_channel_whatever_else_its_person_may_know_of(ada: Asker) -> None:
    for channel in ("C1", "C2"):
        await posted(ada, channel)
    access = AssistantAccess(workspace="slack:T1", channel="C2", person="U-ada")
    viewer = await viewer_of(assistant_context(ada.context, access), access.actor)
    assert viewer == Viewer(workspace="slack:T1", person="U-ada", channel="C2", channels=("C2",))


async def test_an_assistant_of_no_channel_and_of_nobody_reads_no_digest(ada: Asker) -> None:
    await posted(ada, "C1")
    access = AssistantAccess(workspace="slack:T1")
    viewer = await viewer_of(assistant_context(ada.context, access), access.actor)
    assert viewer == Viewer(workspace="slack:T1")


def test_nobody_administers_by_an_assistant_but_in_the_terminals_workspace() -> None:
    in_slack = AssistantAccess(workspace="slack:T1", channel="C1", person="U-ada", may_write=True).actor
    assert (in_slack.platform, in_slack.may_administer, in_slack.may_write) == ("slack", False, True)
    alone = AssistantAccess(workspace="local", channel="local", person="ada", may_write=True).actor
    assert (alone.platform, alone.may_administer) == ("terminal", True)
    assert not AssistantAccess(workspace="local", channel="local", person="ada").actor.may_administer


async def test_who_has_left_is_a_member_for_a_minute_more_and_nobody_is_while_the_platform_does_not_answer(
    admin: Asker, rooms: Rooms
) -> None:
    access = admin.context.channel_access
    assert await access.is_member(admin.actor)
    rooms.open.clear()
    rooms.seconds = SEEN_HELD - 1
    assert await access.is_member(admin.actor)
    rooms.seconds = SEEN_HELD
    assert not await access.is_member(admin.actor)
    rooms.answers, rooms.seconds = False, 2 * SEEN_HELD
    with pytest.raises(Delayed, match="Slack does not answer"):
        await access.is_member(admin.actor)
    assert await access.is_member(replace(admin.actor, platform="local", workspace="local"))
