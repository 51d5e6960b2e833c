"""Discord's Messenger, posting to a Discord on a real socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import discord.http
import pytest

from adapters.discord.client.api import BREAK, MOST, InvalidRequests, RequestPace, RestClient, SendingPaused
from adapters.discord.send import DiscordMessenger
from bot.delivery import delivery_id
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain
from bot.models import Delivery, Layout
from tests.adapters.discord.render.test_digests import many
from tests.fakes.digests import GPU
from tests.fakes.discord import Channel, FakeDiscord, Fault, Guild, Kind, Permission, running
from tests.fakes.looks import seek
from tests.stores.memory import MemoryStore


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with running() as made:
        monkeypatch.setattr(discord.http.Route, "BASE", made.api_url)
        yield made


@pytest.fixture
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Lab")


@pytest.fixture
async def door(fake: FakeDiscord) -> AsyncIterator[RestClient]:
    made = RestClient(fake.token)
    yield made
    await made.close()


@pytest.fixture
def messenger(door: RestClient) -> DiscordMessenger:
    return DiscordMessenger(door, MemoryStore().chats)


def deliveries(
    messenger: DiscordMessenger, guild: Guild, channel: Channel, *, entries: int = 3, layout: Layout = Layout.FULL
) -> list[Delivery]:
    """Return what the ledger hands out for a digest of so many entries, as at the first try."""
    digest = GPU if entries == 3 else many(entries)
    payloads = messenger.render(digest, layout=layout, late=False)
    now = datetime.now(UTC)
    return [
        Delivery(
            id=delivery_id("s1", now.date(), 0, part),
            occurrence=("s1", now.date(), 0),
            workspace=f"discord:{guild.id}",
            channel=str(channel.id),
            topic="gpu-systems",
            part=part,
            parts=len(payloads),
            payload=payload,
            due=now,
            next_at=now,
            first_try=now,
            attempts=1,
        )
        for part, payload in enumerate(payloads, start=1)
    ]


def again(delivery: Delivery) -> Delivery:
    return replace(delivery, attempts=delivery.attempts + 1, token=delivery.token + 1)


async def test_a_digest_stands_in_its_channel_with_its_buttons(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    name = await messenger.send(sent)

    (message,) = papers.messages.values()
    assert name == str(message.id)
    assert "Kernel-Smith" in message.text
    assert [button["label"] for button in message.buttons[:5]] == ["More", "Less", "Save", "Abstract", "Why"]
    assert (fake.wrong, fake.mentions) == ([], [])
    link = f"https://discord.com/channels/{guild.id}/{papers.id}/{message.id}"
    assert messenger.link(replace(sent, message=name)) == link


async def test_a_brief_is_found_again_by_what_its_select_carries(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers, layout=Layout.BRIEF)
    name = await messenger.send(sent)
    (message,) = papers.messages.values()
    message.nonce = ""

    assert message.buttons == []
    assert message.selects[0]["custom_id"] == f"d:{sent.id}:s:choice"
    assert await seek(messenger, sent) == name
    assert fake.wrong == []


async def test_the_same_delivery_sent_twice_is_one_message(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    assert await messenger.send(sent) == await messenger.send(again(sent))
    assert len(papers.messages) == 1


async def test_what_was_posted_is_found_by_its_marker_among_others(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers, anna = fake.channel(guild, "papers"), fake.join(guild, fake.user("Anna"))
    (sent,) = deliveries(messenger, guild, papers)
    assert await seek(messenger, sent) == ""
    name = await messenger.send(sent)
    for number in range(150):  # more than one page of history
        fake.write(papers, anna, f"nice one {number}")

    assert await seek(messenger, sent) == name
    assert await seek(messenger, replace(sent, id="0" * 24)) == ""


async def test_where_the_history_may_not_be_read_nothing_is_taken_for_not_posted(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    await messenger.send(sent)
    fake.let(papers, may_not=Permission.READ_MESSAGE_HISTORY)
    with pytest.raises(Refused, match=r"I need \*Read Message History\* in #papers\."):
        await seek(messenger, sent)


async def test_parts_follow_each_other_in_the_channel(fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger) -> None:
    papers = fake.channel(guild, "papers")
    parts = deliveries(messenger, guild, papers, entries=12)
    first = await messenger.send(parts[0])
    names = [await messenger.send(replace(part, thread=first)) for part in parts[1:]]

    assert len(papers.messages) == len(parts) >= 3
    assert [await seek(messenger, replace(part, thread=first)) for part in parts] == [first, *names]
    assert fake.wrong == []


async def test_the_cards_of_a_brief_hang_in_a_thread_of_its_first_message(
    fake: FakeDiscord, guild: Guild, door: RestClient
) -> None:
    messenger = DiscordMessenger(door, MemoryStore().chats)
    papers = fake.channel(guild, "papers")
    first, more, *others = deliveries(messenger, guild, papers, entries=20, layout=Layout.THREAD)
    head = await messenger.send(first)
    assert "/" not in await messenger.send(replace(more, thread=head)), "the rest of the brief stands below it"
    second, third = others[:2]
    second, third = replace(second, thread=head), replace(third, thread=head)
    name = await messenger.send(second)
    thread = next(each for each in fake.channels.values() if each.parent is papers)
    fake.archive(thread)
    last = await messenger.send(third)

    assert len(papers.messages) == 2
    assert [str(each) for each in thread.messages] == [name.split("/")[1], last.split("/")[1]]
    assert thread.name.startswith("GPU systems · ")
    assert await seek(messenger, second) == name
    assert messenger.link(replace(second, message=name)).endswith(f"/{thread.id}/{name.split('/')[1]}")
    assert fake.wrong == []


@pytest.mark.parametrize("code", [10003, 160005])
async def test_a_post_that_somebody_deletes_or_locks_says_nothing_of_its_forum(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, code: int
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM)
    first, second = deliveries(messenger, guild, forum, entries=9)[:2]
    head = await messenger.send(first)
    (post,) = [each for each in fake.channels.values() if each.parent is forum]
    fake.refusing[str(post.id)] = code
    with pytest.raises(Rejected, match="deleted or locked in the forum"):
        await messenger.send(replace(second, thread=head))


async def test_in_a_forum_each_digest_is_a_post_with_its_tag(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM, tags=("GPU systems", "other"))
    first, second = deliveries(messenger, guild, forum, entries=6)[:2]
    head = await messenger.send(first)
    name = await messenger.send(replace(second, thread=head))
    (post,) = [each for each in fake.channels.values() if each.parent is forum]

    assert len(post.messages) == 2
    assert head == f"{post.id}/{min(post.messages)}"
    assert name == f"{post.id}/{max(post.messages)}"
    assert len(post.applied) == 1
    # Posts take no nonce: who sends again looks first.
    assert await messenger.send(again(first)) == head
    assert await seek(messenger, first) == head
    assert len([each for each in fake.channels.values() if each.parent is forum]) == 1
    assert fake.wrong == []


async def test_a_tag_that_was_made_or_exchanged_since_the_forum_was_looked_at_is_given(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM, tag_required=True)
    (sent,) = deliveries(messenger, guild, forum)
    with pytest.raises(Refused, match="wants a tag on each post"):
        await messenger.send(sent)
    for number in range(2):
        forum.tags = {fake.new_id(): "GPU systems"}  # of another identifier each time
        await messenger.send(replace(sent, id=f"{sent.id[:-1]}{number}"))
        post = max((each for each in fake.channels.values() if each.parent is forum), key=lambda each: each.id)
        assert post.applied == [*forum.tags]


async def test_a_tag_that_moderators_alone_give_is_left_out_and_the_digest_is_posted(
    fake: FakeDiscord, messenger: DiscordMessenger, guild: Guild
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM, tags=("GPU systems",))
    forum.moderated = {*forum.tags}
    (sent,) = deliveries(messenger, guild, forum)
    await messenger.send(sent)
    (post,) = [each for each in fake.channels.values() if each.parent is forum]
    assert post.applied == []


@pytest.mark.parametrize(("fault", "commits"), [(Fault.HALF, True), (Fault.BROKEN, True), (Fault.RESET, False)])
async def test_a_forum_gets_no_second_post_while_nobody_knows_what_became_of_the_first(
    fake: FakeDiscord, guild: Guild, door: RestClient, fault: Fault, *, commits: bool
) -> None:
    now = datetime.now(UTC)
    messenger = DiscordMessenger(door, MemoryStore().chats, clock=lambda: now)
    forum = fake.channel(guild, "digests", kind=Kind.FORUM)
    (sent,) = deliveries(messenger, guild, forum)
    fake.befall("POST /channels/{channel_id}/threads", fault=fault, commits=commits)
    with pytest.raises(Uncertain):
        await messenger.send(sent)
    now += timedelta(seconds=59)
    with pytest.raises(Delayed) as delayed:
        await messenger.send(again(sent))
    assert delayed.value.retry_after == timedelta(seconds=1)
    now += timedelta(seconds=1)
    await messenger.send(again(sent))
    assert len([each for each in fake.channels.values() if each.parent is forum]) == 1


async def test_a_forum_that_may_be_posted_in_but_not_looked_into_is_not_taken_for_closed(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM)
    (first, *_) = deliveries(messenger, guild, forum)
    for code in (50001, 98765):
        fake.befall("GET /guilds/{guild_id}/threads/active", code=code, status=403)
        with pytest.raises(Delayed):
            await messenger.send(again(first))
    assert await messenger.send(again(first))


async def test_a_forum_that_refused_a_post_may_get_it_at_once(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    forum = fake.channel(guild, "digests", kind=Kind.FORUM)
    (sent,) = deliveries(messenger, guild, forum)
    fake.befall("POST /channels/{channel_id}/threads", fault=Fault.LIMITED, retry_after=0.01)
    with pytest.raises(Delayed):
        await messenger.send(sent)
    await asyncio.sleep(0.02)
    assert await messenger.send(again(sent))


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (Permission.VIEW_CHANNEL, r"\*View Channel\*"),
        (Permission.SEND_MESSAGES, r"I need \*Send Messages\* in #papers\."),
    ],
)
async def test_a_missing_permission_is_named(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, right: Permission, said: str
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.let(papers, may_not=right)
    with pytest.raises(Refused, match=said):
        await messenger.send(sent)
    assert not papers.messages


async def test_a_deleted_message_is_not_posted_again(fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    await messenger.send(sent)
    fake.delete_message(*papers.messages.values())
    name = await messenger.send(again(sent))

    assert [each for each in papers.messages.values() if not each.is_deleted] == []
    assert messenger.link(replace(sent, message=name)) == ""


async def test_a_message_that_is_not_taken_as_written_is_posted_as_plain_text_once(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.befall("POST /channels", status=400, code=50035)
    name = await messenger.send(sent)

    (message,) = papers.messages.values()
    assert "Kernel-Smith" in message.content
    assert await seek(messenger, sent) == name


@pytest.mark.parametrize(
    ("how", "kind", "reach"),
    [
        ({"status": 404, "code": 10003}, Refused, Reach.CHANNEL),
        ({"status": 404, "code": 10004}, Refused, Reach.WORKSPACE),
        ({"fault": Fault.BROKEN, "status": 401, "commits": False}, Refused, Reach.PLATFORM),
        ({"status": 401, "code": 40001}, Refused, Reach.PLATFORM),
        ({"status": 403, "answer": "<html>Forbidden</html>"}, Delayed, Reach.PLATFORM),
        ({"status": 401, "answer": "<html>Unauthorized</html>"}, Delayed, Reach.PLATFORM),
        ({"status": 404, "answer": '{"error": "gone"}'}, Delayed, Reach.PLATFORM),
        ({"status": 400, "code": 98765}, Rejected, Reach.CHANNEL),
        ({"status": 403, "code": 98765}, Rejected, Reach.CHANNEL),
        ({"fault": Fault.LIMITED}, Delayed, Reach.CHANNEL),
        ({"fault": Fault.ALL_LIMITED}, Delayed, Reach.PLATFORM),
        ({"fault": Fault.BROKEN, "status": 500}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.BROKEN, "status": 502}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.BROKEN, "status": 503}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.RESET, "commits": True}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.RESET, "commits": False}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.HALF, "commits": True}, Uncertain, Reach.CHANNEL),
        ({"fault": Fault.BROKEN, "status": 204, "commits": True}, Uncertain, Reach.CHANNEL),
    ],
)
async def test_each_failure_is_what_it_means(
    fake: FakeDiscord,
    guild: Guild,
    messenger: DiscordMessenger,
    how: dict[str, object],
    kind: type[DeliveryError],
    reach: Reach,
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.befall("POST /channels", **how)
    with pytest.raises(kind, match=r"\.$") as caught:
        await messenger.send(sent)
    assert (type(caught.value), caught.value.reach) == (kind, reach)
    assert fake.token not in str(caught.value)
    assert fake.counts["posts"] == 1, "nothing is tried again"


async def test_what_discord_does_not_take_in_any_form_is_this_messages_fault_and_no_channels(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    (sent,) = deliveries(messenger, guild, fake.channel(guild, "papers"))
    fake.befall("POST /channels", code=50035, times=2)
    with pytest.raises(Rejected, match="code 50035"):
        await messenger.send(sent)
    assert await messenger.send(sent), "the next one is taken"


async def test_a_proxys_page_about_a_look_pauses_nothing_either(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    await messenger.send(sent)
    hows: tuple[tuple[dict[str, object], type[DeliveryError]], ...] = (
        ({"status": 403, "answer": "<html></html>"}, Delayed),
        ({"status": 403, "code": 98765}, Rejected),
    )
    for how, kind in hows:
        fake.befall("GET /channels/{channel_id}/messages", **how)
        with pytest.raises(kind):
            await messenger.find(sent)
        ada = str(fake.user("Ada").id)
        for told in (messenger.tell(sent.workspace, ada, "Hi."), messenger.announce(sent.workspace, str(papers.id), "Hi.")):
            fake.befall("POST", **how)
            with pytest.raises(kind):
                await told


async def test_a_ban_by_cloudflare_rests_everything(fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.limits.ban(30)
    with pytest.raises(Delayed) as caught:
        await messenger.send(sent)
    assert caught.value.reach is Reach.PLATFORM


async def test_a_discord_that_is_not_there_delays_everything(guild: Guild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discord.http.Route, "BASE", "http://127.0.0.1:9/api/v10")
    door = RestClient("a.b.c")
    messenger = DiscordMessenger(door, MemoryStore().chats)
    with pytest.raises(Delayed) as caught:
        await messenger.announce(f"discord:{guild.id}", "1", "Hello.")
    assert caught.value.reach is Reach.PLATFORM
    await door.close()


async def test_a_bucket_that_is_used_up_is_not_asked(fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.limits.buckets = dict.fromkeys(fake.limits.buckets, (5, 600.0))  # full again long after this test

    async def many_sent() -> None:
        for number in range(20):
            await messenger.send(replace(sent, id=f"{number:024d}"))

    with pytest.raises(Delayed) as caught:
        await many_sent()
    assert caught.value.retry_after is not None
    assert len(papers.messages) == 5
    assert len(fake.calls) == len(papers.messages), "what would have been refused was not sent"


def test_many_refused_requests_shut_the_door_for_a_while() -> None:
    at = 0.0
    invalid = InvalidRequests(lambda: at)
    for _ in range(BREAK):
        invalid.note(403, {})
    invalid.note(429, {"X-RateLimit-Scope": "shared"})
    invalid.note(200, {})
    assert (invalid.count, invalid.paused_for()) == (BREAK, 600.0)
    at = 601.0
    assert (invalid.count, invalid.paused_for()) == (0, 0.0)


async def test_a_shut_door_sends_nothing(
    fake: FakeDiscord, guild: Guild, door: RestClient, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    for _ in range(BREAK):
        door.invalid.note(401, {})
    with pytest.raises(Delayed):
        await messenger.send(deliveries(messenger, guild, papers)[0])
    assert fake.calls == []


async def test_an_owner_is_told_in_private_and_alerts_in_their_channel(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers, anna = fake.channel(guild, "papers"), fake.join(guild, fake.user("Anna"))
    said = f"The digests of gpu-systems in {papers.id} are paused. @everyone *resume gpu-systems* posts them again."
    await messenger.tell(f"discord:{guild.id}", str(anna.id), said)
    await messenger.announce(f"discord:{guild.id}", str(papers.id), said)

    conversation = next(each for each in fake.channels.values() if each.kind is Kind.PRIVATE)
    for (message,) in (conversation.messages.values(), papers.messages.values()):
        assert f"<#{papers.id}>" in message.content
        assert "`/digest-manage resume topic:gpu-systems`" in message.content
    assert (fake.wrong, fake.mentions) == ([], [])
    assert timedelta(0) < messenger.abilities.nonce_window <= timedelta(minutes=2)


async def test_what_is_posted_names_commands_to_click_once_their_identifiers_are_known(
    fake: FakeDiscord, guild: Guild, door: RestClient
) -> None:
    papers, ids = fake.channel(guild, "papers"), dict[str, str]()
    messenger = DiscordMessenger(door, MemoryStore().chats, ids=ids)
    for _ in range(2):
        await messenger.announce(f"discord:{guild.id}", str(papers.id), "*resume gpu-systems* posts it again.")
        rendered = messenger.render(replace(GPU, news="*list* says more."), layout=Layout.BRIEF, late=False)
        ids |= {"digest": "1" * 18, "digest-manage": "2" * 18, "papers": "3" * 18}

    first, second = (each.content for each in papers.messages.values())
    assert first == "`/digest-manage resume topic:gpu-systems` posts it again."
    assert second == f"</digest-manage resume:{'2' * 18}> `topic:gpu-systems` posts it again."
    assert f"</digest list:{'1' * 18}> says more." in rendered[-1]
    assert (fake.wrong, fake.mentions) == ([], [])


def test_no_more_requests_leave_than_discord_takes_whatever_they_are_for() -> None:
    at = 0.0
    turns = RequestPace(lambda: at)
    leave = [turns.take() for _ in range(75)]
    assert leave == sorted(leave)
    assert max(sum(first <= each < first + 1 for each in leave) for first in leave) <= 50
    for _ in range(100):
        with suppress(SendingPaused):
            leave.append(turns.take())
    assert len(leave) < 175  # the turn of the others is too far away
    assert max(leave) <= 2.0
    at = 60.0
    assert turns.take() == 0.0


def test_what_was_held_up_until_its_turn_had_passed_does_not_leave_all_at_once() -> None:
    at, left = 0.0, list[float]()
    turns = RequestPace(lambda: at)
    waiting = sorted(turns.take() for _ in range(90))
    while waiting:
        at += 0.6 if 0.4 < at < 0.5 else 0.01  # once it is held up
        come = [each for each in waiting if each <= at]
        gone = next((number for number, _ in enumerate(come) if turns.leave() > 0), len(come))
        left += [at] * gone
        waiting = waiting[gone:]
    assert left.count(max(left, key=left.count)) > 20  # at once, when it went on
    assert max(sum(first <= each < first + 1 for each in left) for first in left) <= MOST < 50
    assert max(left) < 2.1


async def test_who_would_wait_for_long_for_a_turn_is_not_sent(fake: FakeDiscord, guild: Guild) -> None:
    papers = fake.channel(guild, "papers")
    turns = RequestPace(lambda: 0.0)
    door = RestClient(fake.token, pace=turns)
    assert (await door.get_channel(papers.id))["name"] == "papers"
    with suppress(SendingPaused):
        while True:
            turns.take()
    with pytest.raises(SendingPaused):
        await door.get_channel(papers.id)
    assert (len(fake.calls), fake.counts["too fast"]) == (1, 0)
    await door.close()


async def test_nothing_is_sent_while_discord_takes_nothing(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    (sent,) = deliveries(messenger, guild, papers)
    fake.befall("POST /channels", fault=Fault.ALL_LIMITED, retry_after=30.0)
    for _ in range(2):
        with pytest.raises(Delayed) as delayed:
            await messenger.send(sent)
        assert delayed.value.reach is Reach.PLATFORM
        with pytest.raises(Delayed):
            await seek(messenger, sent)
    assert len(fake.calls) == 1


async def test_answers_to_people_wait_neither_for_a_turn_nor_for_the_end_of_a_pause(
    fake: FakeDiscord, door: RestClient
) -> None:
    fake.befall("GET /channels", fault=Fault.ALL_LIMITED, retry_after=30.0)
    with pytest.raises(discord.HTTPException):
        await door.get_channel(1)
    callback = "/interactions/{webhook_id}/{webhook_token}/callback"
    routes = [discord.http.Route("POST", callback, webhook_id=1, webhook_token=str(each)) for each in range(200)]
    told = await asyncio.gather(*(door.request(each, json={"type": 5}) for each in routes), return_exceptions=True)
    assert {type(each) for each in told} == {discord.NotFound}  # all were sent; nobody has asked in this Discord


# --- what keeps it from posting


async def test_what_keeps_the_bot_from_a_channel_is_told_and_why(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace = f"discord:{guild.id}"

    async def why(channel: Channel) -> str:
        return await messenger.obstacle(workspace, str(channel.id))

    papers, forum = fake.channel(guild, "papers"), fake.channel(guild, "forum", Kind.FORUM)
    assert await why(papers) == await why(forum) == await why(fake.private(fake.user("Anna"))) == ""
    for channel, permission, name in (
        (papers, Permission.SEND_MESSAGES, "*Send Messages*"),
        (forum, Permission.SEND_MESSAGES_IN_THREADS, "*Send Messages in Threads*"),
        (papers, Permission.VIEW_CHANNEL, "*View Channel*"),
    ):
        fake.let(channel, may_not=permission)
        assert name in await why(channel)
        fake.let(channel, permission)
        assert await why(channel) == ""
    fake.delete_channel(papers)
    assert "gone" in await why(papers)
    assert fake.wrong == []


async def test_a_thread_is_an_obstacle_where_it_is_locked_and_not_where_it_is_archived(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    papers = fake.channel(guild, "papers")
    thread = fake.thread(papers, "gpu")
    workspace = f"discord:{guild.id}"
    fake.archive(thread)
    assert await messenger.obstacle(workspace, str(thread.id)) == ""
    fake.archive(thread, locked=True)
    assert "locked" in await messenger.obstacle(workspace, str(thread.id))
    fake.let(papers, Permission.MANAGE_THREADS)
    assert await messenger.obstacle(workspace, str(thread.id)) == ""


@pytest.mark.parametrize("answer", ["{}", "[]", '{"type": null}', '"papers"'])
async def test_a_channel_that_discord_does_not_show_is_no_obstacle_and_no_fault_of_ours(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, answer: str
) -> None:
    fake.befall("GET /channels", answer=answer, status=200)
    with pytest.raises(Rejected):  # it may be so for good
        await messenger.obstacle(f"discord:{guild.id}", str(fake.channel(guild, "papers").id))


async def test_a_server_that_was_left_is_an_obstacle_and_one_that_nobody_can_tell_of_is_not(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    workspace, papers = f"discord:{guild.id}", fake.channel(guild, "papers")
    assert await messenger.obstacle(workspace, "") == await messenger.obstacle("discord:@17", "") == ""
    fake.befall("GET /guilds", fault=Fault.BROKEN, status=503)
    with pytest.raises(Uncertain):
        await messenger.obstacle(workspace, "")
    fake.befall("GET /channels", code=40001)
    with pytest.raises(Delayed) as caught:
        await messenger.obstacle(workspace, str(papers.id))
    assert caught.value.reach is Reach.PLATFORM
    fake.kick(guild)
    assert "invite me again" in await messenger.obstacle(workspace, "")
    assert await messenger.obstacle(workspace, str(papers.id)) != ""
