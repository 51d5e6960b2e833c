import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.slack.send import EVENT
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain
from bot.models import Delivery, Digest, Layout, Presses, text_key
from tests.adapters.slack.running_messenger import Room, posting
from tests.conftest import NOW
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.looks import seek
from tests.fakes.platform import Fault
from tests.fakes.slack import Channel, Failure
from tests.fakes.transcript import delivery

HERE = "slack:T0BROAD"


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with posting() as made:
        yield made


def of(room: Room, channel: Channel, number: int = 1, **changes: Any) -> Delivery:
    """Return a delivery of a real digest to a channel, being tried now; a later part is a card of its thread."""
    payload = room.messenger.render(GPU, layout=Layout.THREAD, late=False)[changes.get("part", 1) - 1]
    plain = delivery(number, now=datetime.now(UTC), payload=payload, workspace=HERE, channel=channel.id)
    return replace(plain, first_try=plain.due, last_try=plain.due, **changes)


async def test_a_digest_is_posted_with_its_mark_with_no_preview_and_with_a_text(room: Room) -> None:
    sent = of(room, room.fake.general)
    ts = await room.messenger.send(sent)
    (message,) = room.fake.messages(room.fake.general)

    assert message.ts == ts
    assert message.metadata == {"event_type": EVENT, "event_payload": {"d": sent.id}}
    assert "GPU systems · 3 of 412 · 1\xa0min" in message.text
    assert (message.asked["unfurl_links"], message.asked["unfurl_media"]) == (False, False)
    assert (message.asked["parse"], message.asked["link_names"]) == ("none", False)
    assert room.fake.rejected == room.fake.mentions == []


async def test_later_parts_hang_on_the_first_and_are_found_there(room: Room) -> None:
    first = await room.messenger.send(of(room, room.fake.general))
    second = of(room, room.fake.general, 2, part=2, parts=2, thread=first)
    ts = await room.messenger.send(second)

    assert [each.thread for each in room.fake.messages(room.fake.general)] == ["", first]
    assert await seek(room.messenger, second) == ts


async def test_the_rest_of_a_brief_stands_in_the_channel_and_is_found_and_linked_there(room: Room) -> None:
    twenty = replace(GPU, entries=(*GPU.entries,) * 7)
    first, second = room.messenger.render(twenty, layout=Layout.BRIEF, late=False)
    sent = replace(of(room, room.fake.general), payload=first)
    rest = replace(of(room, room.fake.general, 2), payload=second, part=2, parts=2, thread=await room.messenger.send(sent))
    ts = await room.messenger.send(rest)

    assert [each.thread for each in room.fake.messages(room.fake.general)] == ["", ""]
    assert await seek(room.messenger, rest) == ts
    assert "thread_ts" not in room.messenger.link(replace(rest, message=ts))


async def test_a_later_part_of_an_earlier_version_hangs_in_the_thread(room: Room) -> None:
    first = await room.messenger.send(of(room, room.fake.general))
    later = of(room, room.fake.general, 2)
    frozen = {name: said for name, said in json.loads(later.payload).items() if name != "threaded"}
    await room.messenger.send(replace(later, payload=json.dumps(frozen), part=2, parts=2, thread=first))

    assert [each.thread for each in room.fake.messages(room.fake.general)] == ["", first]


async def test_a_part_whose_first_was_deleted_is_posted_and_found_in_the_channel(room: Room) -> None:
    lost = of(room, room.fake.general, part=2, parts=2, thread="1700000000.000001")
    ts = await room.messenger.send(lost)

    assert [each.thread for each in room.fake.messages(room.fake.general)] == [""]
    assert await seek(room.messenger, lost) == ts


async def test_a_message_is_found_among_hundreds_and_not_before_its_time(room: Room) -> None:
    sent = of(room, room.fake.general)
    ts = await room.messenger.send(sent)
    for number in range(450):
        room.fake.say(room.fake.general, f"message {number}")

    assert await seek(room.messenger, sent) == ts
    assert await seek(room.messenger, replace(sent, first_try=NOW + timedelta(days=9999))) == ""
    assert [each.method for each in room.fake.requests].count("conversations.history") == 4


async def test_blocks_that_slack_does_not_take_become_plain_text_once(room: Room) -> None:
    for code in ("invalid_blocks", "msg_blocks_too_long"):
        room.fake.fail("chat.postMessage", Failure(error=code))
        sent = of(room, room.fake.general)
        await room.messenger.send(sent)
        message = room.fake.messages(room.fake.general)[-1]

        assert message.blocks == ()
        assert all(entry.ranked.item.title[:50] in message.text for entry in GPU.entries)
        assert await seek(room.messenger, sent)
    room.fake.fail("chat.postMessage", Failure(error="invalid_blocks"), times=2)
    with pytest.raises(Rejected, match="laid out"):
        await room.messenger.send(of(room, room.fake.general))


@pytest.mark.parametrize("code", ["restricted_action_thread_locked", "thread_locked", "cannot_reply_to_message"])
async def test_what_may_not_hang_in_the_thread_is_posted_in_the_channel(room: Room, code: str) -> None:
    room.fake.fail("chat.postMessage", Failure(error=code))
    part = of(room, room.fake.general, thread="1.000001", part=2, parts=2)
    await room.messenger.send(part)
    assert room.fake.messages(room.fake.general)[-1].thread in ("", None)
    assert await seek(room.messenger, part)


async def test_a_join_that_fails_for_no_known_reason_says_nothing_of_the_channel(room: Room) -> None:
    room.fake.fail("conversations.join", Failure(error="an_error_of_tomorrow"))
    with pytest.raises(Rejected, match="an_error_of_tomorrow"):
        await room.messenger.send(of(room, room.fake.random))


async def test_a_proxys_page_is_not_slacks_word(room: Room) -> None:
    for page in ("<html>Forbidden</html>", '{"error": "access_denied"}'):
        room.fake.fail("chat.postMessage", Failure(status=403, page=page))
        with pytest.raises(Delayed) as caught:
            await room.messenger.send(of(room, room.fake.general))
        assert caught.value.reach is Reach.PLATFORM


async def test_a_public_channel_is_joined_when_that_is_allowed(room: Room) -> None:
    sent = of(room, room.fake.random)
    assert await room.messenger.send(sent) == await seek(room.messenger, sent)

    async with posting(join_channels=False) as other:
        with pytest.raises(Refused, match="/invite @Broadsheet"):
            await other.messenger.send(of(other, other.fake.random))
        assert other.fake.messages(other.fake.random) == []


async def test_a_private_channel_cannot_be_joined_and_somebody_is_asked_to_invite(room: Room) -> None:
    with pytest.raises(Refused, match="/invite @Broadsheet") as caught:
        await room.messenger.send(of(room, room.fake.secret))
    assert caught.value.reach is Reach.CHANNEL


async def test_an_archived_channel_is_refused(room: Room) -> None:
    with pytest.raises(Refused, match="archived"):
        await room.messenger.send(of(room, room.fake.old))


async def test_a_direct_conversation_is_a_channel_like_any_other(room: Room) -> None:
    sent = of(room, room.fake.direct(room.fake.ben))
    ts = await room.messenger.send(sent)

    assert await seek(room.messenger, sent) == ts
    assert [each.ts for each in room.fake.seen_by(room.fake.ben)] == [ts]


async def test_a_revoked_token_is_the_whole_workspaces_trouble(room: Room) -> None:
    room.fake.fail("chat.postMessage", Failure(error="token_revoked"))
    with pytest.raises(Refused, match="Install") as caught:
        await room.messenger.send(of(room, room.fake.general))
    assert caught.value.reach is Reach.WORKSPACE


async def test_a_pause_that_slack_asks_for_is_told(room: Room) -> None:
    for method in ("chat.postMessage", "conversations.history"):
        room.fake.fail(method, Failure(retry_after=37))
    with pytest.raises(Delayed) as posted:
        await room.messenger.send(of(room, room.fake.general))
    with pytest.raises(Delayed) as looked:
        await seek(room.messenger, of(room, room.fake.general))
    assert posted.value.retry_after == looked.value.retry_after == timedelta(seconds=37)


@pytest.mark.parametrize(
    "failure",
    [
        Failure(error="fatal_error", commits=True),
        Failure(error="internal_error"),
        Failure(status=503, commits=True),
        Failure(cut=Fault.RESET, commits=True),
        Failure(cut=Fault.HALF, commits=True),
    ],
    ids=["fatal_error", "internal_error", "503", "reset", "half"],
)
async def test_what_may_have_been_posted_is_uncertain_and_tried_once(room: Room, failure: Failure) -> None:
    room.fake.fail("chat.postMessage", failure)
    with pytest.raises(Uncertain):
        await room.messenger.send(of(room, room.fake.general))

    assert [each.method for each in room.fake.requests].count("chat.postMessage") == 1
    assert len(room.fake.messages(room.fake.general)) == failure.commits


async def test_a_slack_that_is_not_there_has_taken_nothing(room: Room) -> None:
    async with posting(api_url="http://127.0.0.1:9/api") as other:
        with pytest.raises(Delayed, match="could not be reached") as caught:
            await other.messenger.send(of(room, room.fake.general))
    assert caught.value.reach is Reach.PLATFORM


async def test_a_history_that_may_not_be_read_is_refused(room: Room) -> None:
    room.fake.fail("conversations.history", Failure(error="missing_scope"))
    with pytest.raises(Refused, match="permission"):
        await seek(room.messenger, of(room, room.fake.general))
    async with posting(join_channels=False) as other:
        with pytest.raises(Refused, match="invite"):
            await seek(other.messenger, of(other, other.fake.random))


async def test_the_link_is_the_permanent_one_and_leads_into_the_thread(room: Room) -> None:
    sent = of(room, room.fake.general)
    posted = replace(sent, message=await room.messenger.send(sent))
    asked = {"channel": posted.channel, "message_ts": posted.message}
    client = await room.messenger._clients.client(HERE)
    permalink = (await client.chat_getPermalink(**asked))["permalink"]

    assert room.messenger.link(posted) == permalink
    card = of(room, room.fake.general, part=2, thread="1.2", message=posted.message)
    assert room.messenger.link(card) == f"{permalink}?thread_ts=1.2&cid={posted.channel}"
    strange = replace(posted, workspace="slack:T9")
    assert room.messenger.link(strange).startswith("https://slack.com/app_redirect?team=T9&channel=C0GENERAL&message_ts=")


async def test_somebody_is_told_directly_and_a_channel_is_told_something(room: Room) -> None:
    await room.messenger.tell(HERE, room.fake.ben.id, "The digests of kv in C0GENERAL are paused. *resume kv* posts again.")
    await room.messenger.announce(HERE, room.fake.general.id, "<!channel> *status* tells more.")
    (told,) = room.fake.seen_by(room.fake.ben)
    (announced,) = room.fake.messages(room.fake.general)

    assert "/digest resume kv" in told.text
    assert "&lt;!channel&gt; /digest status tells more." in announced.text
    assert room.fake.mentions == []
    with pytest.raises(Refused):
        await room.messenger.tell(HERE, "U0NOBODY", "x")


async def test_what_a_button_has_no_room_for_is_kept_before_it_is_posted(room: Room) -> None:
    long = "url:https://ok.example/" + "x" * 400
    entry = replace(
        GPU.entries[0], ranked=replace(GPU.entries[0].ranked, item=replace(GPU.entries[0].ranked.item, key=long))
    )
    (payload,) = room.messenger.render(replace(GPU, entries=(entry,)), layout=Layout.BRIEF, late=False)
    await room.messenger.send(replace(of(room, room.fake.general), payload=payload))
    said = json.loads(payload)

    assert said["keys"] == [[long]]
    assert len(said["keep"]) == 5
    for text in said["keep"]:
        assert await room.chats.chats.kept_text(HERE, text_key(text)) == text


async def test_no_error_says_what_is_secret(room: Room) -> None:
    room.fake.fail("chat.postMessage", Failure(error=f"strange {room.fake.bot_token}"))
    with pytest.raises(DeliveryError) as caught:
        await room.messenger.send(of(room, room.fake.general))
    assert room.fake.bot_token not in str(caught.value)


async def test_what_is_cancelled_is_not_taken_for_a_failure(room: Room) -> None:
    room.fake.fail("chat.postMessage", Failure(cut=Fault.STALL, stall=20))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await room.messenger.send(of(room, room.fake.general))


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("digest", [GPU, EMPTY, HOSTILE], ids=["gpu", "empty", "hostile"])
async def test_slack_takes_every_message_of_a_digest_and_none_mentions_anybody(layout: Layout, digest: Digest) -> None:
    async with posting() as room:
        payloads = room.messenger.render(digest, layout=layout, late=True)
        thread = ""
        for part, payload in enumerate(payloads, start=1):
            sent = of(room, room.fake.general, part, part=part, parts=len(payloads), payload=payload, thread=thread)
            ts = await room.messenger.send(sent)
            thread = thread or ts

        assert len(room.fake.messages(room.fake.general)) == len(payloads)
        assert len(payloads) == (1 + len(digest.entries) if layout is Layout.THREAD and digest.entries else 1)
        assert room.fake.rejected == room.fake.mentions == []


# --- what keeps it from posting


async def test_what_keeps_the_app_from_a_channel_is_told_and_why(room: Room) -> None:
    async def why(channel: str) -> str:
        return await room.messenger.obstacle(HERE, channel)

    assert await why(room.fake.general.id) == ""
    assert "/invite @Broadsheet" in await why(room.fake.random.id)  # it may have been removed from there
    assert await room.messenger.obstacle(HERE, room.fake.random.id, may_join=True) == ""
    assert "archived" in await why(room.fake.old.id)
    assert "/invite @Broadsheet" in await why(room.fake.secret.id)
    assert "/invite @Broadsheet" in await why("C0NOSUCH")
    assert await why(room.fake.direct(room.fake.ben).id) == ""
    assert [each.method for each in room.fake.requests] == ["conversations.info"] * 7

    async with posting(join_channels=False) as other:
        assert "/invite @Broadsheet" in await other.messenger.obstacle(HERE, other.fake.random.id, may_join=True)


@pytest.mark.parametrize("channel", ["", ', "channel": null', ', "channel": []'])
async def test_a_channel_that_slack_does_not_show_is_no_obstacle_and_no_fault_of_ours(room: Room, channel: str) -> None:
    room.fake.fail("conversations.info", Failure(status=200, page=f'{{"ok": true{channel}}}'))
    with pytest.raises(Rejected):
        await room.messenger.obstacle(HERE, room.fake.general.id)


async def test_a_scope_is_an_obstacle_where_posting_needs_it_and_where_looking_does_nothing_is_known(room: Room) -> None:
    (grant,) = [each for each in room.fake.world.grants.values() if each.kind == "bot"]
    everything = grant.scopes
    grant.scopes = everything - {"chat:write"}
    assert "chat:write" in await room.messenger.obstacle(HERE, room.fake.general.id)
    grant.scopes = everything - {"channels:read"}
    with pytest.raises(Rejected):  # not Delayed: waiting gives nobody a scope
        await room.messenger.obstacle(HERE, room.fake.general.id)


async def test_a_token_that_is_good_for_nothing_is_an_obstacle_and_an_outage_is_none(room: Room) -> None:
    (grant,) = [each for each in room.fake.world.grants.values() if each.kind == "bot"]
    for where, method in ((room.fake.general.id, "conversations.info"), ("", "auth.test")):
        assert await room.messenger.obstacle(HERE, where) == ""
        for failure in (Failure(status=503), Failure(retry_after=30), Failure(error="fatal_error")):
            room.fake.fail(method, failure)
            with pytest.raises((Delayed, Uncertain)):
                await room.messenger.obstacle(HERE, where)
        grant.trouble = "token_revoked"
        assert "revoked" in await room.messenger.obstacle(HERE, where)
        grant.trouble = ""


async def standing(room: Room, number: int = 1, **changes: Any) -> Delivery:
    sent = of(room, room.fake.general, number, **changes)
    return replace(sent, message=await room.messenger.send(sent))


async def test_an_edit_carries_both_marks_and_a_new_name_for_each_state(room: Room) -> None:
    posted = await standing(room)
    (message,) = room.fake.messages(room.fake.general)
    names = []
    for number in (1, 2):
        await room.messenger.edit(posted, Presses(number, 2), number)
        assert message.metadata == {"event_type": EVENT, "event_payload": {"d": posted.id}}
        names += [each["block_id"] for each in message.blocks if posted.id in each.get("block_id", "")]
        message.metadata = None  # where it is not given back, the name is enough
        assert await seek(room.messenger, posted) == message.ts

    assert len(set(names)) == 2
    assert all(name.endswith(f"{posted.id}:{number}") for number, name in enumerate(names, start=1))
    last = message.blocks[-1]
    assert (last["type"], last["elements"][0]["text"]) == ("context", "Readers: 2\xa0more · 2\xa0saved")
    assert message.text.endswith("\nReaders: 2\xa0more · 2\xa0saved")
    assert room.fake.rejected == room.fake.mentions == []


async def test_a_card_in_a_thread_is_edited_there(room: Room) -> None:
    first = await standing(room)
    card = await standing(room, 2, part=2, parts=2, thread=first.message)
    await room.messenger.edit(card, Presses(saved=1), 1)

    brief, edited = room.fake.messages(room.fake.general)
    assert (edited.thread, edited.text.rpartition("\n")[2]) == (brief.ts, "Readers: 1\xa0saved")
    assert not brief.is_edited


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("message_not_found", Rejected),
        ("cant_update_message", Rejected),
        ("edit_window_closed", Rejected),
        ("invalid_blocks", Rejected),
        ("is_inactive", Refused),
        ("channel_not_found", Refused),
        ("token_revoked", Refused),
        ("ratelimited", Delayed),
        ("internal_error", Uncertain),
    ],
)
async def test_whatever_slack_says_to_an_edit_nothing_is_posted(room: Room, code: str, kind: type[DeliveryError]) -> None:
    posted = await standing(room)
    (before,) = room.fake.messages(room.fake.general)
    said = before.words
    room.fake.fail("chat.update", Failure(error=code))
    with pytest.raises(kind, match=r"\.$"):
        await room.messenger.edit(posted, Presses(more=1), 1)

    assert [each.words for each in room.fake.messages(room.fake.general)] == [said]
    assert [each.method for each in room.fake.requests].count("chat.postMessage") == 1


async def test_the_longest_messages_have_room_for_what_was_pressed(room: Room) -> None:
    for layout in Layout:
        for payload in room.messenger.render(HOSTILE, layout=layout, late=True):
            posted = await standing(room, payload=payload)
            await room.messenger.edit(posted, Presses(10**6, 10**6), 10**6)
    assert room.fake.rejected == []
