import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import Unclear, UsageError
from bot.models import Change, Feedback
from tests.bot.handlers.askers import PAPERS, Asker, about, changes, said
from tests.fakes.concepts import Concepts

PAGING, CHAIN = PAPERS[0], PAPERS[1]


async def given(asker: Asker, topic: str = "kv") -> list[tuple[str, str, bool]]:
    found = await asker.context.store.people.feedback(asker.actor.workspace, topic)
    return [(each.person, each.key, each.more) for each in found]


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
    assert last.text == ('Your less on "A blockchain of cache lines" no longer counts.',)
    named = await ada.ask("profile kv undo 2603.00001")
    assert named.text == ('Your more on "Paging the KV cache" no longer counts.',)

    assert {each[0] for each in await given(ada)} == {"U-bob", "U-eve"}
    with pytest.raises(UsageError, match="neither more nor less for kv"):
        await ada.ask("profile kv undo")
    again = await ada.ask("profile kv undo 2603.00001")
    assert again.title == "Nothing to take back for KV cache"


async def test_what_was_said_of_an_item_that_is_not_kept_any_more_can_be_undone(ada: Asker) -> None:
    lost = Feedback(workspace=ada.actor.workspace, topic="kv", person="U-ada", key="arxiv:2501.00001", more=True, at=ada.now)
    note = Change(workspace=ada.actor.workspace, at=ada.now, person="U-ada", what="feedback")
    await ada.context.store.people.save_feedback(lost, note)

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
    await ada.context.store.items.add([about(7, "Twin caches"), about(8, "Twin caches again")], ada.now)

    with pytest.raises(Unclear):
        await ada.ask("profile kv undo twin")


async def test_a_profile_says_that_what_is_close_in_meaning_counts_as_well_where_it_does(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")
    line = "What is close in meaning to these items counts as well, whatever its words."

    assert line not in (await ada.ask("profile kv")).text
    meaning = replace(ada, context=replace(ada.context, embedder=Concepts()))
    assert line in (await meaning.ask("profile kv")).text
