import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.digest.publisher import Publisher
from bot.errors import Unclear, UsageError
from bot.handlers.lookup import order_of, topic_named
from bot.models import Change, Digest, DigestRequest, Feedback
from bot.summarise.extractive import Extractive
from tests.bot.handlers.askers import PAPERS, SOURCES, Asker, about, button, said
from tests.fakes.concepts import Concepts

PAGING, CHAIN = PAPERS[0], PAPERS[1]


async def given(asker: Asker, topic: str = "kv") -> list[tuple[str, str, bool]]:
    found = await asker.context.store.feedback(asker.actor.workspace, topic)
    return [(each.person, each.key, each.more) for each in found]


async def changes(asker: Asker) -> list[Change]:
    return list(await asker.context.store.changes(asker.actor.workspace))


async def posted(asker: Asker, topic: str = "kv") -> Digest:
    """Post the topic's digest in the asker's channel."""
    order: DigestRequest = await order_of(
        asker.context, asker.actor, await topic_named(asker.context, asker.actor.workspace, topic)
    )
    publisher = Publisher(asker.context.store, Extractive(), SOURCES)
    (digest,) = await publisher.publish([order], asker.now, record=True)
    return digest


# --- more and less


async def test_more_is_kept_and_told_and_said_again_it_is_taken_back(ada: Asker) -> None:
    first = await ada.ask("more 2603.00001 for kv")
    assert first.title == "More like this in KV cache"
    assert "what is like “Paging the KV cache” is ranked higher" in first.text[0]
    assert await given(ada) == [("U-ada", PAGING.key, True)]
    assert first.private

    second = await ada.ask(button(first, "Take back"))
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
    await bob.ask("more 2603.00001 for kv")
    await bob.ask("more 2603.00001 for kv")

    assert await given(ada) == [("U-ada", PAGING.key, True)]


async def test_what_was_said_changes_the_next_digest(ada: Asker) -> None:
    topic = await topic_named(ada.context, ada.actor.workspace, "kv")
    order = await order_of(ada.context, ada.actor, topic)
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
    await ada.context.store.save_feedback(old, note)
    await ada.context.store.add([replace(PAGING, aliases=(old.key,))], ada.now)

    assert (await ada.ask("less 2603.00001 for kv")).text[0].endswith("in place of your more.")
    assert await given(ada) == [("U-ada", old.key, False)]
    await ada.ask("less 2603.00001 for kv")
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
    await ada.context.store.add([about(60, "Attention for Vision"), about(61, "Attention")], ada.now)
    await ada.ask("subscribe kv")

    quoted, plain = await ada.ask('more "Attention for Vision"'), await ada.ask("less Attention for Vision")
    told = await ada.ask("why Attention for Vision")
    with pytest.raises(UsageError, match='There is no topic "kvv"'):
        await ada.ask("more 2603.00061 for kvv")

    for reply in (quoted, plain):
        assert "“Attention for Vision”" in reply.text[0]
    assert told.title == "Why: Attention for Vision"


async def test_every_word_is_on_record(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")
    await ada.ask("less 2603.00001 for kv")
    await ada.ask("less 2603.00001 for kv")

    assert [(each.what, each.before, each.after) for each in await changes(ada)] == [
        ("feedback kv arxiv:2603.00001", "less", ""),
        ("feedback kv arxiv:2603.00001", "more", "less"),
        ("feedback kv arxiv:2603.00001", "", "more"),
    ]


async def test_feedback_is_open_to_anyone_where_only_administrators_manage(ada: Asker) -> None:
    strict = replace(ada, context=replace(ada.context, manage="admins"))

    assert (await strict.ask("more 2603.00001 for kv")).title == "More like this in KV cache"
    assert (await strict.ask("profile kv undo")).title == "Taken back for KV cache"


# --- the profile


async def taught(ada: Asker) -> None:
    for person, command in (
        ("U-ada", "more 2603.00001"),
        ("U-bob", "more 2603.00001"),
        ("U-ada", "less 2603.00002"),
        ("U-eve", "more 2603.00002"),
    ):
        await ada.by(person=person).ask(f"{command} for kv")


async def test_the_profile_shows_words_with_weights_and_counts_but_no_names(ada: Asker) -> None:
    await taught(ada)

    reply = await ada.ask("profile kv")

    assert reply.title == "What KV cache learned"
    assert reply.text[0] == "3 more and 1 less, of 3 people on 2 items."
    text = said(reply)
    higher = next(entry.lines for entry in reply.entries if entry.title == "Ranked higher")
    assert any(line.startswith("Paging +0.") and line.endswith("(2 more, 0 less)") for line in higher)
    assert "U-bob" not in text
    assert "U-eve" not in text
    own = [(entry.item.title, entry.lines) for entry in reply.entries if entry.item]
    assert own == [(CHAIN.title, ("You said less.",)), (PAGING.title, ("You said more.",))]


async def test_a_profile_tells_no_word_that_weighs_nothing_and_none_twice(ada: Asker) -> None:
    for person, command in (("U-ada", "less 2603.00004"), ("U-ada", "more 2603.00005"), ("U-bob", "less 2603.00005")):
        await ada.by(person=person).ask(f"{command} for kv")

    reply = await ada.ask("profile kv")

    lines = [line for entry in reply.entries if entry.item is None for line in entry.lines]
    assert lines
    assert not [line for line in lines if "0.00 (" in line]
    assert len({line.split(" ")[0] for line in lines}) == len(lines)


async def test_a_topic_that_was_taught_nothing_says_how_to_begin(ada: Asker) -> None:
    for action in ("", "export", "reset"):
        reply = await ada.ask(f"profile kv {action}")
        assert reply.title == "KV cache has learned nothing yet"
        assert reply.attachment is None


async def test_undo_takes_back_ones_own_last_word_or_that_on_an_item(ada: Asker) -> None:
    await taught(ada)

    last = await ada.at(ada.now + timedelta(hours=1)).ask("profile kv undo")
    assert last.text == ("Your less on “A blockchain of cache lines” no longer counts.",)
    named = await ada.ask("profile kv undo 2603.00001")
    assert named.text == ("Your more on “Paging the KV cache” no longer counts.",)

    assert {each[0] for each in await given(ada)} == {"U-bob", "U-eve"}
    with pytest.raises(UsageError, match="neither more nor less for kv"):
        await ada.ask("profile kv undo")
    with pytest.raises(UsageError, match="neither more nor less of “Paging the KV cache”"):
        await ada.ask("profile kv undo 2603.00001")


async def test_what_was_said_of_an_item_that_is_not_kept_any_more_can_be_undone(ada: Asker) -> None:
    lost = Feedback(workspace=ada.actor.workspace, topic="kv", person="U-ada", key="arxiv:2501.00001", more=True, at=ada.now)
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U-ada", what="feedback")
    await ada.context.store.save_feedback(lost, note)

    shown = await ada.ask("profile kv")
    (entry,) = [entry for entry in shown.entries if entry.buttons]
    assert entry.title == lost.key
    await ada.ask(entry.buttons[0].command)
    assert await given(ada) == []


async def test_a_reset_says_how_much_went_and_hands_it_over(ada: Asker) -> None:
    await taught(ada)
    exported = await ada.ask("profile kv export")

    reply = await ada.ask("profile kv reset")

    assert reply.text == ("4 answers of more and less were dropped; what they had taught is in the file.",)
    assert reply.attachment == exported.attachment
    assert not reply.private
    assert await given(ada) == []
    latest = (await changes(ada))[0]
    assert (latest.what, latest.before, latest.after) == (
        "feedback kv",
        "3 more and 1 less, of 3 people on 2 items",
        "",
    )


async def test_only_those_who_manage_reset_a_profile(ada: Asker) -> None:
    await taught(ada)
    strict = replace(ada, context=replace(ada.context, manage="admins"))

    with pytest.raises(UsageError, match="Only administrators"):
        await strict.ask("profile kv reset")
    assert len(await given(ada)) == 4


async def test_what_is_said_while_a_profile_is_reset_is_not_lost(ada: Asker) -> None:
    await taught(ada)

    await asyncio.gather(ada.ask("profile kv reset"), ada.by(person="U-new").ask("more 2603.00003 for kv"))

    assert await given(ada) in ([], [("U-new", "arxiv:2603.00003", True)])
    assert [each.after for each in await changes(ada)].count("more") == 4


async def test_the_export_has_every_word_and_item_as_counts(ada: Asker) -> None:
    await taught(ada)

    attachment = (await ada.ask("profile kv export")).attachment

    assert attachment is not None
    assert (attachment.name, attachment.media_type) == ("kv-profile.json", "application/json")
    told = json.loads(attachment.text)
    assert told["topic"] == "kv"
    assert told["items"] == [
        {"key": PAGING.key, "title": PAGING.title, "more": 2, "less": 0},
        {"key": CHAIN.key, "title": CHAIN.title, "more": 1, "less": 1},
    ]
    (paging,) = [each for each in told["terms"] if each["term"] == "Paging"]
    assert paging["weight"] > 0
    assert (paging["more"], paging["less"]) == (2, 0)
    assert "U-" not in attachment.text


async def test_a_title_that_is_several_items_is_asked_about(ada: Asker) -> None:
    await ada.context.store.add([about(7, "Twin caches"), about(8, "Twin caches again")], ada.now)

    with pytest.raises(Unclear):
        await ada.ask("profile kv undo twin")


async def test_a_profile_says_that_what_is_close_in_meaning_counts_as_well_where_it_does(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")
    line = "What is close in meaning to these items counts as well, whatever its words."

    assert line not in (await ada.ask("profile kv")).text
    meaning = replace(ada, context=replace(ada.context, embedder=Concepts()))
    assert line in (await meaning.ask("profile kv")).text
