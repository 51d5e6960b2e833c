from dataclasses import replace

import pytest

from bot.digest.publisher import Publisher
from bot.errors import Unclear, UsageError
from bot.handlers.feedback import note_reaction
from bot.models import Change, Digest, DigestRequest, Feedback
from bot.summarise.extractive import Extractive
from tests.bot.handlers.askers import PAPERS, SOURCES, Asker, about, button, changes

PAGING = PAPERS[0]


async def given(asker: Asker, topic: str = "kv") -> list[tuple[str, str, bool]]:
    found = await asker.context.store.people.feedback(asker.actor.workspace, topic)
    return [(each.person, each.key, each.more) for each in found]


async def posted(asker: Asker, topic: str = "kv") -> Digest:
    """Post the topic's digest in the asker's channel."""
    order: DigestRequest = await asker.context.request(
        asker.actor, await asker.context.topic_named(asker.actor.workspace, topic)
    )
    publisher = Publisher(asker.context.store, Extractive(), SOURCES)
    (digest,) = await publisher.publish([order], asker.now, record=True)
    return digest


# --- more and less


async def test_more_is_kept_and_told_and_its_button_takes_it_back(ada: Asker) -> None:
    first = await ada.ask("more 2603.00001 for kv")
    assert first.title == "More like this in KV cache"
    assert 'what is like "Paging the KV cache" is ranked higher' in first.text[0]
    assert await given(ada) == [("U-ada", PAGING.key, True)]
    assert first.private

    second = await ada.ask(button(first, "Undo"))
    assert second.title == "Taken back for KV cache"
    assert await given(ada) == []

    await ada.ask(button(second, "Say more again"))
    assert await given(ada) == [("U-ada", PAGING.key, True)]


async def test_less_takes_the_place_of_more(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")

    reply = await ada.ask("less 2603.00001 for kv")

    assert "It stands in place of your more." in reply.text[0]
    assert await given(ada) == [("U-ada", PAGING.key, False)]


async def test_each_person_speaks_for_themselves(ada: Asker) -> None:
    bob = ada.by(person="U-bob")
    await ada.ask("more 2603.00001 for kv")
    first = await bob.ask("more 2603.00001 for kv")
    await bob.ask(button(first, "Undo"))

    assert await given(ada) == [("U-ada", PAGING.key, True)]


async def test_what_was_said_changes_the_next_digest(ada: Asker) -> None:
    topic = await ada.context.topic_named(ada.actor.workspace, "kv")
    order = await ada.context.request(ada.actor, topic)
    before = {
        each.ranked.item.key: each.ranked.score for each in (await ada.context.previewer.preview(order, ada.now)).entries
    }

    await ada.ask("less 2603.00002 for kv")
    await ada.ask("more 2603.00003 for kv")

    after = {
        each.ranked.item.key: each.ranked.score for each in (await ada.context.previewer.preview(order, ada.now)).entries
    }
    assert after["arxiv:2603.00002"] < before["arxiv:2603.00002"]
    assert after["arxiv:2603.00003"] > before["arxiv:2603.00003"]


async def test_what_was_said_under_an_older_key_is_what_is_taken_back(ada: Asker) -> None:
    old = Feedback(
        workspace=ada.actor.workspace, topic="kv", person="U-ada", key="url:https://lab.example/1", more=True, at=ada.now
    )
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U-ada", what="feedback")
    await ada.context.store.people.save_feedback(old, note)
    await ada.context.store.items.add([replace(PAGING, aliases=(old.key,))], ada.now)

    assert (await ada.ask("less 2603.00001 for kv")).text[0].endswith("in place of your more.")
    assert await given(ada) == [("U-ada", old.key, False)]
    again = await ada.ask("less 2603.00001 for kv")
    assert again.title == "Less like this in KV cache already"
    await ada.ask(button(again, "Take back"))
    assert await given(ada) == []


# --- for which topic


async def test_an_item_of_the_last_digest_counts_for_the_topic_it_was_posted_under(ada: Asker) -> None:
    for name in ("kv", "gpu-systems"):
        await ada.ask(f"subscribe {name}")
    digest = await posted(ada, "gpu-systems")

    reply = await ada.ask("more 1")

    assert reply.title == "More like this in GPU systems"
    assert await given(ada, "gpu-systems") == [("U-ada", digest.entries[0].ranked.item.key, True)]


async def test_an_item_that_was_not_posted_counts_for_the_only_topic_of_the_channel(ada: Asker) -> None:
    await ada.by(channel="C2").ask("subscribe gpu-systems")
    await ada.ask("subscribe kv")

    assert (await ada.ask("more 2603.00004")).title == "More like this in KV cache"


async def test_with_several_topics_in_the_channel_it_is_asked_which_is_meant(ada: Asker) -> None:
    for name in ("kv", "gpu-systems"):
        await ada.ask(f"subscribe {name}")

    with pytest.raises(Unclear) as raised:
        await ada.ask("more 2603.00004")
    assert raised.value.field == "topic"
    assert raised.value.choices == (("GPU systems", "gpu-systems"), ("KV cache", "kv"))


async def test_with_no_topic_in_the_channel_it_is_said_how_to_name_one(ada: Asker) -> None:
    with pytest.raises(UsageError) as raised:
        await ada.ask("less 2603.00004")
    assert "*less arxiv:2603.00004 for gpu-systems*" in raised.value.hint
    assert (await ada.ask(raised.value.hint.split("*")[1])).title == "Less like this in GPU systems"


async def test_a_topic_that_is_gone_is_not_the_one_meant(ada: Asker) -> None:
    await ada.ask("topic create gpus CUDA OR kernels")
    await posted(ada, "gpus")
    await ada.ask("topic delete gpus")
    await ada.ask("subscribe kv")

    assert (await ada.ask("more 1")).title == "More like this in KV cache"


async def test_an_item_or_a_topic_that_is_not_known_is_said_to_be_so(ada: Asker) -> None:
    with pytest.raises(UsageError, match="not among the items"):
        await ada.ask("more 2601.00001 for kv")
    with pytest.raises(UsageError, match='no topic "kx"'):
        await ada.ask("more 2603.00001 for kx")
    assert not await changes(ada)


async def test_for_may_stand_in_a_title(ada: Asker) -> None:
    await ada.context.store.items.add([about(60, "Attention for Vision"), about(61, "Attention")], ada.now)
    await ada.ask("subscribe kv")

    quoted, plain = await ada.ask('more "Attention for Vision"'), await ada.ask("less Attention for Vision")
    told = await ada.ask("why Attention for Vision")
    with pytest.raises(UsageError, match='There is no topic "kvv"'):
        await ada.ask("more 2603.00061 for kvv")

    for reply in (quoted, plain):
        assert '"Attention for Vision"' in reply.text[0]
    assert told.title == "Why: Attention for Vision"


async def test_every_word_is_on_record(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")
    await ada.ask("less 2603.00001 for kv")
    await ada.ask("less 2603.00001 for kv")
    await ada.ask("profile kv undo 2603.00001")

    assert [(each.what, each.before, each.after) for each in await changes(ada)] == [
        ("feedback kv arxiv:2603.00001", "less", ""),
        ("feedback kv arxiv:2603.00001", "more", "less"),
        ("feedback kv arxiv:2603.00001", "", "more"),
    ]


async def test_feedback_is_open_to_anyone_where_only_administrators_manage(ada: Asker) -> None:
    strict = replace(ada, context=replace(ada.context, manage="admins"))

    assert (await strict.ask("more 2603.00001 for kv")).title == "More like this in KV cache"
    assert (await strict.ask("profile kv undo")).title == "Taken back for KV cache"


# --- reactions

FIRST, SECOND = "arxiv:2603.00001", "arxiv:2603.00002"


async def react(asker: Asker, *keys: str, topic: str = "kv", more: bool = True, given: bool = True) -> None:
    await note_reaction(asker.context, asker.actor, keys or (FIRST,), topic, more=more, given=given, now=asker.now)


async def test_a_reaction_is_noted_once_however_often_it_is_told(ada: Asker) -> None:
    for _ in range(3):
        await react(ada)
    assert await given(ada) == [("U-ada", FIRST, True)]
    assert [each.after for each in await changes(ada)] == ["more"]


async def test_a_reaction_that_is_taken_back_is_gone_and_taking_it_back_twice_is_harmless(ada: Asker) -> None:
    await react(ada)
    for _ in range(2):
        await react(ada, given=False)
    assert await given(ada) == []
    assert [(each.before, each.after) for each in await changes(ada)] == [("more", ""), ("", "more")]


async def test_the_last_reaction_counts_and_taking_the_other_back_leaves_it(ada: Asker) -> None:
    await react(ada)
    await react(ada, more=False)
    await react(ada, given=False)
    assert await given(ada) == [("U-ada", FIRST, False)]


async def test_a_reaction_to_a_pair_is_about_both_and_about_nobody_else(ada: Asker) -> None:
    bob = ada.by(person="U-bob")
    await react(ada, FIRST, SECOND, FIRST)
    await react(bob, FIRST, more=False)
    await react(ada, FIRST, given=False)
    assert sorted(await given(ada)) == [("U-ada", SECOND, True), ("U-bob", FIRST, False)]


async def test_a_reaction_agrees_with_what_was_said_by_a_command(ada: Asker) -> None:
    await ada.ask(f"more {FIRST} for kv")
    await react(ada)
    assert len(await changes(ada)) == 1
    await react(ada, given=False)
    assert await given(ada) == []


async def test_a_reaction_under_an_older_key_is_that_to_the_same_work(ada: Asker) -> None:
    await react(ada)
    await ada.context.store.items.add([about(9, "Paging again", aliases=(FIRST,))], ada.now, retired=[FIRST])
    await react(ada, "arxiv:2603.00009", more=False)
    assert await given(ada) == [("U-ada", FIRST, False)]


async def test_an_item_that_is_not_kept_any_more_is_meant_by_its_key(ada: Asker) -> None:
    await react(ada, "arxiv:1999.00001")
    assert await given(ada) == [("U-ada", "arxiv:1999.00001", True)]


async def test_nothing_is_noted_for_a_topic_that_is_gone(ada: Asker) -> None:
    await react(ada, topic="gone")
    assert await given(ada, "gone") == []
    assert await changes(ada) == []


async def test_where_it_counts_below_the_digest_who_says_more_is_told(ada: Asker) -> None:
    counts = "It counts below this channel's digest, too: how many said more, never who."
    assert counts not in (await ada.ask("more 2603.00001 for kv")).text
    await ada.ask("settings activity on")
    assert counts in (await ada.ask("more 2603.00003 for kv")).text
    assert counts not in (await ada.ask("less 2603.00003 for kv")).text
    assert counts not in (await ada.by(is_direct=True).ask("more 2603.00005 for kv")).text
    given = await ada.context.store.people.feedback(ada.actor.workspace, "kv")
    assert [each.channel for each in given] == ["", ada.actor.channel, ""]  # while it is off nothing counts, nor later


async def test_more_in_a_thread_is_said_in_its_channel(ada: Asker) -> None:
    await ada.ask("settings activity on")
    await ada.by(channel="T9", parent="C1").ask("more 2603.00001 for kv")
    (said,) = await ada.context.store.people.feedback(ada.actor.workspace, "kv")
    assert said.channel == "C1"


async def test_more_in_a_thread_with_a_digest_of_its_own_is_said_in_the_thread(ada: Asker) -> None:
    await ada.ask("settings activity on")
    thread = ada.by(channel="T9", parent="C1")
    await thread.ask("subscribe kv daily")
    await thread.ask("more 2603.00001")
    (said,) = await ada.context.store.people.feedback(ada.actor.workspace, "kv")
    assert said.channel == "T9"
