"""What people say to Broadsheet in Discord: mentions, direct messages, threads; over real sockets.

BROADSHEET_TRANSCRIPT names a file to which what was said is written.
"""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from tests.e2e.discord_desk import DiscordDesk, Transcript, restarted, sitting
from tests.e2e.test_spoken_in_slack import LONG, UNIQUE, holding
from tests.fakes.discord import Channel, Message, Permission, User
from tests.fakes.works import paper

TRANSCRIPT = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read before every test, which has no settings from outside


def to_us(desk: DiscordDesk, words: str) -> str:
    """Return the words after a mention, as Discord writes one."""
    return words.replace("@Broadsheet", f"<@{desk.fake.bot.id}>")


async def heard(desk: DiscordDesk, words: str, *, channel: Channel | None = None, user: User | None = None) -> Message:
    """Let somebody write to us, and return the answer."""
    place = channel or desk.papers
    before = len(desk.fake.of_bot(place))
    desk.fake.write(place, user or desk.ben, to_us(desk, words))
    return (await desk.fake.posted(place, before + 1))[-1]


def faultless(desk: DiscordDesk) -> None:
    """Nothing was sent that Discord would not take, and nobody was notified."""
    assert (desk.fake.wrong, desk.fake.mentions) == ([], [])


async def test_a_mention_and_a_direct_message_are_answered_below_them(tmp_path: Path) -> None:
    said = Transcript()
    async with sitting(tmp_path, mentions=True) as desk:
        fake = desk.fake
        found = await heard(desk, "@Broadsheet anything about paging the kv cache?")
        said.lines.append("Ben writes in #papers: @Broadsheet anything about paging the kv cache?")
        said.posted(found)
        asked = next(each for each in desk.papers.messages.values() if each.author is desk.ben)
        assert "Paging the KV cache" in found.text
        assert (found.reference, found.is_private) == (asked.id, False)

        many = await heard(desk, "@Broadsheet gpu")
        later = next(each["label"] for each in many.buttons if each["label"].startswith("Next"))
        turned = await fake.click(many, later, user=desk.anna)
        assert turned.messages[0].is_private, "who presses reads on alone, and the answer stays"

        card = await heard(desk, "arxiv.org/abs/2603.00001", channel=fake.private(desk.ben))
        said.lines.append("Ben writes directly: arxiv.org/abs/2603.00001")
        said.lines += [f"    {line}" for line in card.text.splitlines()]
        assert "Paging the KV cache" in card.text
        kept = await fake.click(card, "Save", user=desk.ben)
        assert "aved" in kept.text
        listed = await heard(desk, "saved", channel=fake.private(desk.ben))
        assert "Paging the KV cache" in listed.text, "a direct conversation is a workspace of its own"
        faultless(desk)
    if TRANSCRIPT:
        Path(TRANSCRIPT).write_text("\n".join(said.lines), encoding="utf-8")  # noqa: ASYNC240


async def test_what_is_for_one_person_alone_is_a_button_away_where_everybody_reads(tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        fake = desk.fake
        offered = await heard(desk, "@Broadsheet saved")
        assert "For you alone" in offered.text
        assert "button" in offered.text
        pressed = await fake.click(offered, "Answer me alone", user=desk.ben)
        assert pressed.messages[0].is_private

        setting_up = await heard(desk, "@Broadsheet subscribe gpu-systems daily at 09:00")
        assert await desk.app.store.workspaces.subscriptions(desk.workspace) == []
        refused = await fake.click(setting_up, "Answer me alone", user=desk.ben)
        assert "dministrators" in refused.text, "the press says what one may"
        await fake.click(setting_up, "Answer me alone", user=desk.anna)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert held.made_by == str(desk.anna.id)

        form = await heard(desk, "@Broadsheet subscribe")
        assert (await fake.click(form, "Change in a form", user=desk.anna)).form is not None
        faultless(desk)


async def test_only_what_a_person_says_to_us_is_heard_and_once(tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        fake, bot = desk.fake, desk.fake.user("Another bot")
        bot.bot = True
        fake.join(desk.guild, bot)
        fake.write(desk.papers, desk.ben, "gpu kernels, anybody? https://arxiv.org/abs/2603.00001")
        fake.write(desk.papers, desk.ben, f"<@{desk.anna.id}> gpu")
        fake.write(desk.papers, bot, to_us(desk, "@Broadsheet gpu"))
        fake.write(desk.papers, desk.ben, to_us(desk, "Thanks @Broadsheet!"))
        first = await heard(desk, "@Broadsheet paging")
        assert fake.of_bot(desk.papers) == [first]

        asked = fake.write(desk.papers, desk.ben, to_us(desk, "@Broadsheet tensors"))
        await fake.posted(desk.papers, 2)
        fake.edit(asked, to_us(desk, "@Broadsheet tensors, sharded"))
        guild = {"guild_id": str(desk.guild.id), "member": {"roles": [], "flags": 0, "joined_at": None}}
        fake.gateway.send_event("MESSAGE_CREATE", asked.shape() | guild)  # as after a connection that was resumed
        last = await heard(desk, "@Broadsheet fused")
        assert fake.of_bot(desk.papers)[2:] == [last]

        async with restarted(desk) as again:
            fake.gateway.send_event("MESSAGE_CREATE", asked.shape() | guild)
            last = await heard(again, "@Broadsheet sharding")
            assert fake.of_bot(desk.papers)[3:] == [last]
            gone = await fake.click(fake.of_bot(desk.papers)[0], "Newest first", user=desk.ben)
            assert "never kept" in gone.text
        faultless(desk)


async def test_without_the_setting_no_message_is_heard_and_no_intent_asked_for(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        (session,) = desk.fake.gateway.sessions.values()
        assert session.intents & (1 << 9 | 1 << 12 | 1 << 15) == 0
        desk.fake.write(desk.papers, desk.ben, to_us(desk, "@Broadsheet gpu"))
        desk.fake.write(desk.fake.private(desk.ben), desk.ben, "gpu")
        await desk.fake.slash("digest help", user=desk.ben, channel=desk.papers)
        assert desk.fake.of_bot(desk.papers) == []


async def test_the_setting_needs_no_right_to_read_what_others_write(tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        (session,) = desk.fake.gateway.sessions.values()
        assert session.intents & (1 << 9 | 1 << 12 | 1 << 15) == 1 << 9 | 1 << 12
        desk.fake.write(desk.papers, desk.ben, f"{UNIQUE} is between us")
        await heard(desk, "@Broadsheet gpu")
        told = [each["d"]["content"] for each in session.events if each["t"] == "MESSAGE_CREATE"]
        assert "" in told
        assert UNIQUE not in str(told), "Discord hides what does not mention us"


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("@Broadsheet hi", "In your own words"),
        ("@Broadsheet", "In your own words"),
        ("have you seen this, @Broadsheet? <https://arxiv.org/abs/2603.00003>", "Quantised GPU inference"),
        ("@Broadsheet serach sharding", "Sharding tensors in CUDA"),
        ("@Broadsheet help subscribe", "subscribe"),
    ],
)
async def test_what_one_says_without_knowing_any_command_is_answered(said: str, answered: str, tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        thread = desk.fake.thread(desk.papers, "a talk")
        assert answered in (await heard(desk, said)).text
        assert answered in (await heard(desk, said, channel=thread)).text, "the same in a thread"
        faultless(desk)


async def test_where_nothing_may_be_written_the_answer_comes_directly(tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        fake = desk.fake
        fake.let(desk.papers, may_not=Permission.READ_MESSAGE_HISTORY)
        found = await heard(desk, "@Broadsheet paging")
        assert found.reference == 0, "to refer to a message takes a right of its own"
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
        fake.write(desk.papers, desk.ben, to_us(desk, "@Broadsheet tensors"))
        why, answer = await fake.posted(fake.private(desk.ben), 2)
        assert "you alone" in why.text
        assert "Sharding tensors" in answer.text


async def test_markup_in_the_words_and_in_a_title_mentions_nobody(tmp_path: Path) -> None:
    odd = paper("2603.09999", title="@everyone and <@1> **bold** quokkas", abstract="A quokka study of @here.")
    async with sitting(tmp_path, mentions=True, items=(odd,)) as desk:
        await heard(desk, f"@Broadsheet quokkas @everyone <@{desk.anna.id}>")
        assert "quokkas" in (await heard(desk, "@Broadsheet quokkas")).text
        faultless(desk)


async def test_one_person_is_answered_ten_times_a_minute_and_told_once(tmp_path: Path) -> None:
    async with sitting(tmp_path, mentions=True) as desk:
        place = desk.fake.private(desk.ben)
        for number in range(14):
            desk.fake.write(place, desk.ben, f"gpu {number}")
        await desk.fake.posted(place, 11)
        await heard(desk, "@Broadsheet paging", user=desk.anna)
        answers = [each.text for each in desk.fake.of_bot(place)]
        assert (len(answers), sum("One moment" in each for each in answers)) == (11, 1)


async def test_what_somebody_says_is_neither_stored_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = [paper(f"2603.08{n:03}", title=f"Attention of GPUs {n}", abstract="Serving language models.") for n in range(12)]
    caplog.set_level(logging.INFO)
    async with sitting(tmp_path, mentions=True, items=odd) as desk:
        fake = desk.fake
        await heard(desk, f"@Broadsheet {LONG}")
        await heard(desk, f"@Broadsheet follow {UNIQUE}")
        fake.write(desk.papers, desk.ben, f"{UNIQUE} is nobody's business")
        found = await heard(desk, f"attention OR {UNIQUE}", channel=fake.private(desk.ben))
        second = await fake.click(found, "Next 5", user=desk.ben)
        assert "6\\. " in second.text
        third = await fake.click(second.messages[0], "Next 5", user=desk.ben)
        await third.until(lambda each: "11\\. " in each.text)
    assert UNIQUE not in caplog.text
    assert await asyncio.to_thread(holding, tmp_path) == []
