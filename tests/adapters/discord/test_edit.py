"""What stands in Discord is edited in its place: marked as before, in any place, and never posted anew."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import discord.http
import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.send import DiscordMessenger
from bot.errors import Delayed, DeliveryError, Refused, Rejected, Uncertain
from bot.models import Delivery, Layout, Presses
from tests.adapters.discord.render.test_digests import many
from tests.adapters.discord.test_send import deliveries
from tests.fakes.digests import HOSTILE
from tests.fakes.discord import Channel, FakeDiscord, Fault, Guild, Kind, running
from tests.fakes.looks import seek
from tests.stores.memory import MemoryStore

V2 = 1 << 15


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with running() as made:
        monkeypatch.setattr(discord.http.Route, "BASE", made.api_url)
        yield made


@pytest.fixture
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Lab")


@pytest.fixture
async def messenger(fake: FakeDiscord) -> AsyncIterator[DiscordMessenger]:
    made = RestClient(fake.token)
    yield DiscordMessenger(made, MemoryStore().chats)
    await made.close()


async def standing(
    messenger: DiscordMessenger, guild: Guild, channel: Channel, layout: Layout = Layout.BRIEF
) -> list[Delivery]:
    """Return the deliveries of a digest of three, as they stand there."""
    posted: list[Delivery] = []
    for each in deliveries(messenger, guild, channel, layout=layout):
        held = replace(each, id=f"{channel.id}x{each.part}", thread=posted[0].message if posted else "")
        posted.append(replace(held, message=await messenger.send(held)))
    return posted


async def test_an_edit_changes_the_last_text_alone_and_keeps_mark_and_flags(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (posted,) = await standing(messenger, guild, papers)
    (message,) = papers.messages.values()
    before, message.nonce = message.text, ""
    await messenger.edit(posted, Presses(3, 2), 1)

    assert message.text == f"{before}\n-# Readers: 3\xa0more · 2\xa0saved"
    assert message.flags & V2
    assert message.selects[0]["custom_id"] == f"d:{posted.id}:s:choice"
    assert await seek(messenger, posted) == posted.message
    await messenger.edit(posted, Presses(), 2)
    assert message.text == before
    assert (fake.wrong, fake.mentions, len(papers.messages)) == ([], [], 1)


async def test_cards_are_edited_in_their_thread_and_posts_in_their_forum(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    for kind in (Kind.TEXT, Kind.FORUM):
        place = fake.channel(guild, f"papers-{kind}", kind=kind)
        posted = await standing(messenger, guild, place, Layout.THREAD)
        for number, each in enumerate(posted, start=1):
            await messenger.edit(each, Presses(more=number), 1)
        there = [each for each in fake.channels.values() if each is place or each.parent is place]
        said = [each for channel in there for each in fake.of_bot(channel)]
        assert [f"Readers: {number}\xa0more" in each.text for number, each in enumerate(said, start=1)] == [True] * 4
    assert (fake.wrong, fake.mentions) == ([], [])


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        ({"code": 10008, "status": 404}, Rejected),
        ({"code": 50005, "status": 403}, Rejected),
        ({"code": 50035, "status": 400}, Rejected),
        ({"code": 50083, "status": 400}, Rejected),
        ({"code": 30046, "status": 400}, Delayed),
        ({"code": 10003, "status": 404}, Refused),
        ({"code": 50001, "status": 403}, Refused),
        ({"fault": Fault.LIMITED}, Delayed),
        ({"fault": Fault.BROKEN, "commits": False}, Uncertain),
        ({"fault": Fault.RESET, "commits": False}, Uncertain),
    ],
)
async def test_whatever_discord_says_to_an_edit_nothing_is_posted(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, trouble: dict[str, object], kind: type[DeliveryError]
) -> None:
    papers = fake.channel(guild, "papers")
    (posted,) = await standing(messenger, guild, papers)
    (message,) = papers.messages.values()
    before = message.text
    fake.befall("PATCH /channels", **trouble)
    with pytest.raises(kind, match=r"\.$"):
        await messenger.edit(posted, Presses(more=1), 1)
    assert [each.text for each in papers.messages.values()] == [before]


async def test_what_was_posted_as_plain_text_or_put_away_stays_as_it_is(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers, forum = fake.channel(guild, "papers"), fake.channel(guild, "digests", kind=Kind.FORUM)
    fake.befall("POST /channels", code=50035, status=400)
    (plain,) = await standing(messenger, guild, papers)
    (post,) = await standing(messenger, guild, forum)
    fake.archive(next(each for each in fake.channels.values() if each.parent is forum))
    for posted in (plain, post, replace(plain, message="deleted")):
        with pytest.raises(Rejected):
            await messenger.edit(posted, Presses(more=1), 1)
    assert "Readers" not in "".join(each.text + each.content for each in papers.messages.values())


async def test_the_longest_messages_have_room_for_what_was_pressed(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    for digest in (HOSTILE, many(40, long=True)):
        for layout in (Layout.BRIEF, Layout.FULL):
            for payload in messenger.render(digest, layout=layout, late=True):
                papers = fake.channel(guild, "papers")  # each takes five requests in five seconds
                sent = replace(deliveries(messenger, guild, papers)[0], payload=payload)
                posted = replace(sent, message=await messenger.send(sent))
                await messenger.edit(posted, Presses(10**6, 10**6), 1)
                assert json.loads(payload)["keys"]
    assert fake.wrong == []
