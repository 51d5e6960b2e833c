"""What stands in a channel tells what its readers press: in both chats, without names, and only where it is switched on."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import SlackDesk
from tests.e2e.stage import NEW, about
from tests.fakes import slack
from tests.fakes.discord import Kind
from tests.fakes.discord import Message as DiscordMessage

DUE = NOW.replace(hour=9)
MINUTE = timedelta(minutes=1)
ON, MORE = "activity on", "More like this"


@dataclass
class Slack:
    """Slack as its people use it."""

    desk: SlackDesk

    async def say(self, line: str) -> str:
        fake = self.desk.fake
        asked = await fake.command(line, channel=fake.general)
        return str((await asked.answer()).words)

    async def settle(self, value: str) -> str:
        return await self.say(f"settings {value}")

    async def subscribe(self, layout: str, top: int) -> None:
        await self.say(f"subscribe gpu-systems daily at 09:00 in UTC top {top} {layout}")

    def _digest(self) -> list[slack.Message]:
        return [each for each in self.desk.fake.messages(self.desk.fake.general) if (each.metadata or {}).get("event_type")]

    def seen(self) -> list[str]:
        """What each message of the digest says."""
        for each in self._digest():
            assert each.metadata is not None
            mark = each.metadata["event_payload"]["d"]
            named = [block["block_id"] for block in each.blocks if mark in block.get("block_id", "")]
            assert len(named) == 1
            assert f":{mark}:" in f":{named[0]}:"
        return [each.text for each in self._digest()]

    async def press(self, who: str, label: str, entry: int = 1) -> str:
        fake = self.desk.fake
        (digest, *_) = self._digest()
        user = {"anna": fake.anna, "ben": fake.ben}[who]
        return str((await (await fake.click(digest, label, user=user, nth=entry)).answer()).words)

    async def card(self, who: str, entry: int) -> list[str]:
        """The labels below the card that somebody opens."""
        fake = self.desk.fake
        user = {"anna": fake.anna, "ben": fake.ben}[who]
        return list((await (await fake.click(self._digest()[0], "Details", user=user, nth=entry)).answer()).labels)

    def edits(self) -> int:
        return sum(each.method == "chat.update" for each in self.desk.fake.requests)

    def take_away(self) -> None:
        for each in self._digest():
            each.is_deleted = True

    def wrong(self) -> list[Any]:
        return [*((each.method, each.error) for each in self.desk.fake.rejected), *self.desk.fake.mentions]


@dataclass
class Discord:
    """Discord as its people use it."""

    desk: DiscordDesk

    async def settle(self, value: str) -> str:
        name, _, rest = value.partition(" ")
        desk = self.desk
        asked = await desk.fake.slash("digest settings", name=name, value=rest, user=desk.anna, channel=desk.papers)
        return str(asked.text)

    async def subscribe(self, layout: str, top: int) -> None:
        given: dict[str, Any] = {"topic": "gpu-systems", "at": "09:00", "zone": "UTC", "entries": top, "layout": layout}
        desk = self.desk
        await desk.fake.slash("digest-manage subscribe", **given, user=desk.anna, channel=desk.papers)

    def _digests(self) -> list[DiscordMessage]:
        said = self.desk.fake.of_bot(self.desk.papers)
        return [each for each in said if any(opens["custom_id"].startswith("d:") for opens in each.selects)]

    def seen(self) -> list[str]:
        return [each.text for each in self._digests()]

    async def press(self, who: str, label: str, entry: int = 1) -> str:
        desk = self.desk
        asked = await desk.fake.click(await self._card(who, entry), label, user={"anna": desk.anna, "ben": desk.ben}[who])
        await asked.answered()
        return str(asked.text)

    async def _card(self, who: str, entry: int) -> DiscordMessage:
        desk = self.desk
        (digest,) = self._digests()
        (opens,) = digest.selects
        user = {"anna": desk.anna, "ben": desk.ben}[who]
        asked = await desk.fake.choose(digest, opens["options"][entry - 1]["label"], user=user)
        await asked.answered()
        return asked.messages[0]

    async def card(self, who: str, entry: int) -> list[str]:
        """The labels below the card that somebody opens."""
        return [each["label"] for each in (await self._card(who, entry)).buttons]

    def edits(self) -> int:
        return sum(call.method == "PATCH" and "/channels/" in call.path for call in self.desk.fake.calls)

    def take_away(self) -> None:
        for each in self._digests():
            self.desk.fake.delete_message(each)

    def wrong(self) -> list[Any]:
        return [*self.desk.fake.wrong, *self.desk.fake.mentions]


@asynccontextmanager
async def _slack(folder: Path) -> AsyncIterator[Slack]:
    async with slack_desk.sitting(folder) as desk:
        yield Slack(desk)


@asynccontextmanager
async def _discord(folder: Path) -> AsyncIterator[Discord]:
    async with discord_desk.sitting(folder) as desk:
        yield Discord(desk)


CHATS: dict[str, Callable[[Path], Any]] = {"slack": _slack, "discord": _discord}


@pytest.fixture(params=CHATS)
async def chat(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Slack | Discord]:
    async with CHATS[request.param](tmp_path) as made:
        yield made


async def posted(chat: Slack | Discord, layout: str = "brief", top: int = 3) -> None:
    """Have a digest posted, from DUE on, with its parts."""
    await chat.subscribe(layout, top)
    await chat.desk.round()
    await chat.desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
    for minutes in range(3):  # a message of a channel in each
        await chat.desk.round(DUE + minutes * MINUTE)


async def later(chat: Slack | Discord, minutes: int) -> None:
    await chat.desk.round(chat.desk.now + minutes * MINUTE)


async def test_the_posted_digest_tells_how_many_pressed_and_each_is_told_what_was_theirs(chat: Slack | Discord) -> None:
    assert "counts" in await chat.settle(ON)
    await posted(chat)
    (before,) = chat.seen()
    assert ("Readers" in before, chat.edits()) == (False, 0)

    assert "More like this" in await chat.press("ben", MORE)
    assert "Saved" in await chat.press("ben", "Save", 2)
    await chat.press("anna", "Save", 2)
    assert (await chat.card("ben", 1))[:3] == ["Take back more", "Less", "Save"]
    assert (await chat.card("ben", 2))[:3] == [MORE, "Less", "Unsave"]
    assert (await chat.card("anna", 1))[:3] == [MORE, "Less", "Save"]
    assert chat.edits() == 0, "nobody waits for it"
    await later(chat, 1)
    (said,) = chat.seen()
    assert "Readers: 1\xa0more · 2\xa0saved" in said
    assert ("Anna" in said, "Ben" in said) == (False, False)

    await chat.press("anna", "Less")
    await later(chat, 1)
    assert chat.edits() == 1, "another edit comes minutes later"
    await chat.press("anna", MORE, 3)
    await chat.press("anna", "Save", 3)  # of two entries by one reader
    await later(chat, 6)
    assert "Readers: 2\xa0more · 2\xa0saved" in chat.seen()[0]
    assert (chat.edits(), chat.wrong()) == (2, [])

    await chat.settle("activity off")
    await later(chat, 6)
    assert chat.seen() == [before], "one last edit takes the line away"
    await chat.press("ben", "Save", 3)
    await later(chat, 60)
    assert (chat.edits(), chat.seen(), chat.wrong()) == (3, [before], [])


async def test_where_nobody_switched_it_on_not_one_edit_is_made(chat: Slack | Discord) -> None:
    await posted(chat)
    await chat.press("ben", MORE)
    await chat.press("ben", "Save")
    before = chat.seen()
    for _ in range(5):
        await later(chat, 30)
    assert (chat.edits(), chat.seen()) == (0, before)


async def test_a_digest_that_was_taken_away_stays_away_and_the_next_one_comes(chat: Slack | Discord) -> None:
    await chat.settle(ON)
    await posted(chat)
    await chat.press("ben", MORE)
    chat.take_away()
    for _ in range(4):
        await later(chat, 10)
    assert (chat.edits(), chat.seen()) == (1, [])
    await chat.desk.app.store.items.add(about(31, ("Tiling for GPU caches",), chat.desk.now), chat.desk.now)
    for minutes in range(3):
        await chat.desk.round(DUE + timedelta(days=1) + minutes * MINUTE)
    assert len(chat.seen()) == 1


async def test_with_cards_in_a_thread_the_brief_tells_all_and_each_card_its_own(tmp_path: Path) -> None:
    async with _slack(tmp_path) as chat:
        await chat.settle(ON)
        await posted(chat, "thread", top=2)
        await chat.press("ben", "Save", 2)
        await later(chat, 1)
        await later(chat, 1)  # a channel's messages are edited one after the other
        brief, first, second = chat.seen()
        assert ["Readers: 1\xa0saved" in each for each in (brief, first, second)] == [True, False, True]
        assert chat.wrong() == []


@pytest.mark.parametrize("kind", [pytest.param(Kind.TEXT, marks=pytest.mark.long), Kind.FORUM])
async def test_what_is_pressed_in_a_thread_or_in_a_forums_post_counts_for_its_channel(tmp_path: Path, kind: Kind) -> None:
    async with _discord(tmp_path) as chat:
        desk, fake = chat.desk, chat.desk.fake
        place = fake.channel(desk.guild, "digests", kind)
        await chat.settle(ON)
        given: dict[str, Any] = {"topic": "gpu-systems", "at": "09:00", "zone": "UTC", "entries": 2, "layout": "thread"}
        await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given | {"channel": place})
        await desk.round()
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
        for minutes in range(3):  # a message of a channel in each
            await desk.round(DUE + minutes * MINUTE)
        said = [each for where in fake.channels.values() if place in (where, where.parent) for each in fake.of_bot(where)]
        brief, first, second = (each for each in said if "2 of" in each.text or each.buttons)
        assert "Open a card…" in [each["placeholder"] for each in brief.selects]
        for label in ("More", "Save"):
            asked = await fake.click(second, label, user=desk.ben)
            await asked.answered()
        for _ in range(2):
            await later(chat, 1)
        told = ["Readers: 1\xa0more · 1\xa0saved" in each.text for each in (brief, first, second)]
        assert told == [True, False, True]
        assert chat.wrong() == []


async def test_a_digest_subscribed_in_an_open_thread_tells_what_is_pressed_below_it(tmp_path: Path) -> None:
    async with _discord(tmp_path) as chat:
        await chat.settle(ON)
        chat.desk.papers = chat.desk.fake.thread(chat.desk.papers, "reading")
        await posted(chat)
        await chat.press("ben", MORE)
        await chat.press("ben", "Save", 2)
        await later(chat, 1)
        assert "Readers: 1\xa0more · 1\xa0saved" in chat.seen()[0]
        assert chat.wrong() == []
