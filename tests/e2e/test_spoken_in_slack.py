"""What people say to Broadsheet in Slack: mentions, direct messages, threads; over real sockets.

BROADSHEET_TRANSCRIPT names a file to which what was said is written.
"""

import asyncio
import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.chat.seen import SeenEvents
from tests.conftest import NOW
from tests.e2e.slack_desk import SlackDesk, sitting
from tests.e2e.slack_transcript import Transcript
from tests.e2e.test_slack import faultless
from tests.fakes.slack import Channel, Kind, Message, Person
from tests.fakes.slack.rights import NotOffered
from tests.fakes.works import paper

TRANSCRIPT = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read before every test, which has no settings from outside
UNIQUE = "zyxomma"  # a word that nothing else has
LONG = f"{UNIQUE} attention of GPUs in the serving of language models with long contexts and paged caches"


async def told(desk: SlackDesk, person: Person, many: int = 1) -> list[Message]:
    """Wait until so many messages for the person alone are there."""
    return await desk.fake.until(lambda: found if len(found := desk.fake.seen_by(person)) >= many else None)


async def said_in(desk: SlackDesk, channel: Channel) -> list[Message]:
    """Wait until Broadsheet says something in the channel for all who are in it."""
    return await desk.fake.until(
        lambda: [each for each in desk.fake.messages(channel) if each.is_app and not each.shown_to] or None
    )


async def quiet(desk: SlackDesk, person: Person, many: int = 0) -> bool:
    """Say whether no more than so many come: what is answered last shows that nothing before it is on its way."""
    direct = desk.fake.direct(person)
    await desk.fake.write(direct, "2603.00001", user=person)
    found = await told(desk, person, many + 1)
    return len(found) == many + 1


async def test_a_mention_is_answered_to_who_asked_alone_beside_the_message(tmp_path: Path) -> None:
    log = Transcript()
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        log.does(ben, "writes in #general: @Broadsheet anything about paging the kv cache?")
        await fake.write(fake.general, "@Broadsheet anything about paging the kv cache?", user=ben)
        (found,) = await told(desk, ben)
        log.shown(found, "ben alone")
        assert "Paging the KV cache" in found.words
        assert (found.channel, found.thread, found.shown_to) == (fake.general.id, "", ben.id)

        await fake.write(fake.general, "@Broadsheet gpu", user=ben)
        many = (await told(desk, ben, 2))[1]
        turned = await (await fake.click(many, "Next 5", user=ben)).answer_with("6. ")
        assert turned is many, "the page changes in place"
        saved = await (await fake.click(many, "Similar", user=ben)).answer()
        assert saved.shown_to == ben.id

        log.does(ben, "writes in a direct message: arxiv.org/abs/2603.00001")
        direct = fake.direct(ben)
        await fake.write(direct, "arxiv.org/abs/2603.00001", user=ben)
        (card,) = await said_in(desk, direct)
        log.shown(card, "ben, in the direct message")
        assert (card.shown_to, card.thread) == ("", ""), "a plain message"
        assert "Paging the KV cache" in card.words
        assert {"More like this", "Less", "Save"} <= set(card.labels)
        kept = await (await fake.click(card, "Save", user=ben)).answer()
        assert "aved" in kept.words
        faultless(desk)
    if TRANSCRIPT:
        Path(TRANSCRIPT).write_text(str(log), encoding="utf-8")  # noqa: ASYNC240


async def test_the_same_words_in_a_thread_are_answered_in_it(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben, direct = desk.fake, desk.fake.ben, desk.fake.direct(desk.fake.ben)
        root = fake.say(fake.general, "look what I found", user=fake.anna)
        await fake.write(fake.general, "@Broadsheet show https://arxiv.org/abs/2603.00002", user=ben, thread=root.ts)
        (card,) = await told(desk, ben)
        assert (card.thread, card.shown_to) == (root.ts, ben.id)

        await fake.write(fake.general, "and @Broadsheet subscribe gpu-systems daily at 09:00 in UTC", user=ben)
        posted = await said_in(desk, fake.general)
        asked = next(each for each in fake.messages(fake.general) if "subscribe" in each.text and not each.is_app)
        assert posted[0].thread == asked.ts, "what everybody may read stands in the thread of the message"
        (held,) = await desk.app.store.workspaces.subscriptions("slack:T0BROAD")
        assert (held.channel, held.made_by) == (fake.general.id, ben.id)

        first = fake.say(direct, "earlier", user=ben)
        await fake.write(direct, "gpu kernels", user=ben, thread=first.ts)
        (found,) = await said_in(desk, direct)
        assert found.thread == first.ts
        faultless(desk)


async def test_only_what_a_person_says_to_us_is_heard_and_once(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        bot = fake.add_person("U0OTHERBOT", "helper", is_bot=True)
        fake.general.members.add(bot.id)
        await fake.write(fake.general, "gpu kernels, anybody?", user=ben)
        await fake.write(fake.general, "@Broadsheet gpu", user=bot)
        await fake.write(fake.direct(ben), "gpu", user=fake.team.app_user)
        await fake.write(fake.general, "Thanks @Broadsheet!", user=ben)
        await fake.write(fake.direct(ben), ":+1:", user=ben)
        group = fake.add_channel("G0GROUP", "mpdm", joined=True, kind=Kind.GROUP_IM)
        await fake.write(group, "gpu kernels", user=ben)
        assert await quiet(desk, ben)

        asked = await fake.write(fake.general, "@Broadsheet paging", user=fake.anna)
        await told(desk, fake.anna)
        await fake.edit(asked, "@Broadsheet paging and caches")
        direct = await fake.write(fake.direct(fake.anna), "tensors", user=fake.anna)
        await told(desk, fake.anna, 2)
        await fake.edit(direct, "tensors, sharded")
        again = {"user": fake.anna.id, "text": asked.text, "ts": asked.ts, "channel": fake.general.id, "team": "T0BROAD"}
        await fake.event({"type": "app_mention", **again})  # the same message by another event
        name = await fake.event({"type": "app_mention", **again | {"ts": "1.2"}}, event_id="Ev0AGAIN")
        await told(desk, fake.anna, 3)
        await fake.event({"type": "app_mention", **again | {"ts": "1.3"}}, event_id=name)  # Slack sends it once more
        assert await quiet(desk, fake.anna, 3)
        faultless(desk)


async def test_an_event_that_comes_again_after_a_restart_is_not_answered_again(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        asked = await fake.write(fake.general, "@Broadsheet paging", user=fake.ben)
        await told(desk, fake.ben)
        later = SeenEvents("slack", desk.app.store.chats, lambda: NOW)  # as the next process has it
        assert await later.is_first("event:Ev0NEW", NOW)
        name = f"heard slack:T0BROAD {fake.general.id} {asked.ts}"
        assert not await desk.app.store.chats.first_time("slack", name, NOW)


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("@Broadsheet hi", "In your own words"),
        ("@Broadsheet", "In your own words"),
        ("hey @Broadsheet what can you do?", "In your own words"),
        ("@Broadsheet unsubscribe", "That did not work"),
        ("@Broadsheet help subscribe", "subscribe"),
        ("have you seen this, @Broadsheet? https://arxiv.org/abs/2603.00003", "Quantised GPU inference"),
        ("@Broadsheet serach sharding", "Sharding tensors in CUDA"),
        ("@Broadsheet topics", "gpu-systems"),
    ],
)
async def test_what_one_says_without_knowing_any_command_is_answered(said: str, answered: str, tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        await desk.fake.write(desk.fake.general, said, user=desk.fake.ben)
        (found,) = await told(desk, desk.fake.ben)
        assert answered in found.words
        faultless(desk)


async def test_what_a_form_asks_for_is_opened_by_a_button_since_a_message_opens_none(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.write(fake.general, "@Broadsheet subscribe", user=fake.ben)
        (found,) = await told(desk, fake.ben)
        view = await (await fake.click(found, "Change in a form", user=fake.ben)).view()
        assert "ubscribe" in view.title
        faultless(desk)


async def test_markup_in_the_words_and_in_a_title_mentions_nobody(tmp_path: Path) -> None:
    odd = paper("2603.09999", title="<!channel> and <@U0ANNA> & *bold* quokkas", abstract="A quokka study of @here.")
    async with sitting(tmp_path, items=(odd,)) as desk:
        fake = desk.fake
        await fake.write(fake.general, "@Broadsheet quokkas <!channel> <@U0ANNA>", user=fake.ben)
        await fake.write(fake.general, "@Broadsheet quokkas", user=fake.ben)
        found = await told(desk, fake.ben, 2)
        assert any("bold" in each.words for each in found)
        await fake.write(fake.direct(fake.ben), "2603.09999", user=fake.ben)
        await told(desk, fake.ben, 3)
        faultless(desk)


async def test_one_person_is_answered_ten_times_a_minute_and_told_once(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, direct = desk.fake, desk.fake.direct(desk.fake.ben)
        for number in range(14):
            await fake.write(direct, f"gpu {number}", user=fake.ben)
        await told(desk, fake.ben, 11)
        await fake.write(fake.general, "@Broadsheet paging", user=fake.anna)
        await told(desk, fake.anna)
        answers = [each.words for each in fake.seen_by(fake.ben)]
        assert (len(answers), sum("One moment" in each for each in answers)) == (11, 1)


async def test_in_the_agents_pane_a_conversation_is_a_thread_and_what_is_looked_at_is_let_go(tmp_path: Path) -> None:
    async with sitting(tmp_path, agent=True) as desk:
        fake, ben = desk.fake, desk.fake.ben
        direct = fake.direct(ben)
        await fake.open_pane(ben, beside=fake.general)
        for seen in (fake.general, None):
            await fake.look_at(ben, seen)
        assert fake.missed == []
        assert not fake.seen_by(ben), "nothing is said before somebody asks"
        assert fake.home(ben) is None, "the pane is not the Home tab"

        assert fake.rights.manifest is not None
        prompts = fake.rights.manifest["features"]["agent_view"]["suggested_prompts"]
        for many, prompt in enumerate(prompts, start=1):
            asked = await fake.write(direct, prompt["message"], user=ben)
            answered = (await told(desk, ben, many))[-1]
            assert (answered.thread, answered.shown_to) == (asked.ts, ""), "in the thread that the message begins"
            assert "That did not work" not in answered.words or "1706.03762" in prompt["message"], "nothing is fetched here"

        asked = await fake.write(direct, "paging", user=ben)
        found = (await told(desk, ben, len(prompts) + 1))[-1]
        again = await fake.write(direct, "and sharding?", user=ben, thread=asked.ts)
        second = (await told(desk, ben, len(prompts) + 2))[-1]
        assert [found.thread, second.thread, again.thread] == [asked.ts] * 3, "what goes on there stays there"
        saved = await (await fake.click(found, "Save", user=ben)).answer()
        assert (saved.thread, "aved" in saved.words) == (asked.ts, True)
        assert "/digest" not in saved.words, "which Slack does not take in a thread"
        faultless(desk)


async def test_without_its_setting_there_is_no_pane(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        with pytest.raises(NotOffered, match="agent_view"):
            await desk.fake.open_pane(desk.fake.ben)


@pytest.mark.parametrize("where", ["direct message", "mention", "thread"])
async def test_a_command_in_an_answer_is_written_as_one_writes_it_there(where: str, tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        if where == "direct message":
            await fake.write(fake.direct(ben), "help", user=ben)
        elif where == "mention":
            await fake.write(fake.general, "@Broadsheet help", user=ben)
        else:
            root = fake.say(fake.general, "look what I found", user=fake.anna)
            await fake.write(fake.general, "@Broadsheet help", user=ben, thread=root.ts)
        (found,) = await told(desk, ben)
        assert "subscribe gpu-systems weekdays at 09:00" in found.words
        assert "/digest" not in found.words
        faultless(desk)


async def test_what_somebody_says_is_neither_stored_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = [paper(f"2603.08{n:03}", title=f"Attention of GPUs {n}", abstract="Serving language models.") for n in range(12)]
    caplog.set_level(logging.DEBUG)
    async with sitting(tmp_path, items=odd) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await fake.write(fake.general, f"@Broadsheet {LONG}", user=ben)
        await fake.write(fake.general, f"{UNIQUE} is nobody's business", user=ben)
        await fake.write(fake.direct(ben), f"attention OR {UNIQUE}", user=ben)
        await fake.write(fake.direct(ben), f"filter gpu-systems set {UNIQUE}((", user=ben)
        found = await told(desk, ben, 3)
        paged = next(each for each in found if "Next 5" in each.labels)
        asked = await fake.click(paged, "Next 5", user=ben)
        await asked.answer_with("6. ")
        second = asked.answers[-1]
        assert "6. " in second.words
    assert UNIQUE not in caplog.text
    assert await asyncio.to_thread(holding, tmp_path) == []


def holding(folder: Path) -> list[str]:
    """Return every table and column that holds the word, and every file."""
    found = [str(each) for each in folder.iterdir() if each.is_file() and UNIQUE.encode() in each.read_bytes()]
    with closing(sqlite3.connect(folder / "b.sqlite3")) as db:
        for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
            found += [f"{table}: {row}" for row in db.execute(f'select * from "{table}"') if UNIQUE in str(row)]
    return found
