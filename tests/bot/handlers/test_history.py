from datetime import timedelta

import pytest

from bot.errors import UsageError
from bot.models import Change, Preferences
from bot.models.people import SERVICE
from tests.bot.handlers.askers import Asker


async def test_the_history_tells_who_changed_what_and_when_newest_first(ada: Asker) -> None:
    await ada.ask("settings top 5")
    bob = ada.by(person="U-bob").at(ada.now + timedelta(hours=1))
    await bob.ask("subscribe kv weekdays")

    newest, oldest = (await ada.ask("history")).entries

    assert (newest.title, newest.lines[0]) == ("subscription C1 kv daily", "Wednesday 1 April at 08:00, by U-bob")
    assert newest.lines[1].startswith("made: subscribe kv weekdays at 09:00")
    assert (oldest.title, oldest.lines) == (
        "settings top",
        ("Wednesday 1 April at 07:00, by you", "before: up to 7, as the operator settled", "now: up to 5"),
    )


async def test_what_the_service_did_by_itself_is_told_of_it_and_names_nobody_to_the_chat(ada: Asker) -> None:
    change = Change(workspace=ada.actor.workspace, at=ada.now, person=SERVICE, what="settings top", after="up to 5")
    await ada.context.store.workspaces.save_preferences(ada.actor.workspace, Preferences(), change)

    reply = await ada.by(person="U-bob").ask("history")

    assert reply.entries[0].lines[0].endswith(", by Broadsheet")
    assert reply.people == ()


async def test_the_history_of_a_topic_is_its_own_also_when_it_is_gone(ada: Asker) -> None:
    await ada.ask("topic create kv-paging cache paging")
    await ada.ask("subscribe kv")
    await ada.ask("topic delete kv-paging")

    reply = await ada.ask("history kv-paging")

    assert [entry.title for entry in reply.entries] == ["topic kv-paging", "topic kv-paging"]
    assert reply.entries[0].lines[1].startswith("gone: ")
    assert [entry.title for entry in (await ada.ask("history kv")).entries] == ["subscription C1 kv daily"]


async def test_what_was_done_to_a_topic_is_found_behind_many_other_changes(ada: Asker) -> None:
    await ada.ask("topic create kv-paging cache paging")
    for number in range(501):
        change = Change(workspace=ada.actor.workspace, at=ada.now, person="U", what="settings top", after=str(number))
        await ada.context.store.workspaces.save_preferences(ada.actor.workspace, Preferences(), change)

    assert [entry.title for entry in (await ada.ask("history kv-paging")).entries] == ["topic kv-paging"]


async def test_what_others_think_of_an_item_is_not_told(ada: Asker) -> None:
    await ada.by(person="U-bob").ask("less 2603.00001 for kv")
    await ada.ask("more 2603.00002 for kv")

    assert [entry.title for entry in (await ada.ask("history")).entries] == ["feedback kv arxiv:2603.00002"]


async def test_that_a_whole_profile_was_reset_is_told_to_everybody_as_counts(ada: Asker) -> None:
    await ada.ask("more 2603.00002 for kv")
    await ada.by(person="U-bob").ask("profile kv reset")

    (reset, _) = (await ada.ask("history")).entries
    assert (reset.title, "by U-bob" in reset.lines[0]) == ("feedback kv", True)
    assert "2603.00002" not in " ".join(reset.lines)


async def test_a_history_of_nothing_says_where_there_is_one(ada: Asker) -> None:
    assert "*history*" in (await ada.ask("history kv")).next_steps[0]
    with pytest.raises(UsageError, match='There is no topic "nosuch"'):
        await ada.ask("history nosuch")


async def test_a_workspace_sees_its_own_history_alone(ada: Asker) -> None:
    await ada.ask("settings top 5")

    assert (await ada.by(workspace="slack:T2").ask("history")).title == "Nothing was changed in this workspace yet"
