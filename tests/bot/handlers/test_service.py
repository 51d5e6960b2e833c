from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands import TABLE, Help, Usage, parse
from bot.errors import UsageError
from bot.models import Change, Health, Preferences, SourceState
from bot.query import FIELDS
from tests.bot.handlers.askers import Asker, button, said

# --- status


async def test_a_new_channel_is_told_how_to_begin_and_what_was_collected(ada: Asker) -> None:
    reply = await ada.ask("status")

    assert reply.text[0].startswith("Nothing is subscribed here yet. *subscribe TOPIC weekdays at 09:00* begins it")
    assert {field.name: field.value for field in reply.fields} == {
        "arXiv": "not asked yet",
        "GitHub": "not asked yet",
        "The lab": "not asked yet",
        "Collected": "5 papers, 0 repositories, 0 posts",
    }


async def test_each_subscription_tells_its_last_and_its_next_digest(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 09:30 in Europe/Zurich")
    (entry,) = (await ada.ask("status")).entries
    assert entry.title == "KV cache (kv)"
    assert entry.lines == (
        "No digest was posted yet.",
        "Next digest: Wednesday 1 April at 09:30, in 30 minutes.",
    )

    digest = (await ada.ask("now kv")).digests[0]
    await ada.context.store.save_digest(ada.actor.workspace, ada.actor.channel, digest, ada.now)
    (entry,) = (await ada.ask("status")).entries
    assert entry.lines[0] == "Last digest: Wednesday 1 April."


async def test_what_is_paused_says_why_and_what_cannot_be_posted_what_to_do(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("subscribe gpu-systems")
    for each in await ada.here():
        if each.topic == "kv":
            changed = replace(each, paused=True, paused_because="the channel was archived")
        else:
            changed = replace(each, schedule=replace(each.schedule, zone="Atlantis/Capital"))
        change = Change(workspace=each.workspace, at=ada.now, person="U", what="subscription")
        await ada.context.store.save_subscription(changed, change, replaces=each.revision)

    gone, paused = (await ada.ask("status")).entries

    assert paused.lines[-1] == "Paused until somebody resumes it: the channel was archived."
    assert [each.command for each in paused.buttons] == ["now kv", "resume kv"]
    assert 'It cannot be posted: The time zone "Atlantis/Capital" is not known.' in gone.lines[-1]
    assert "subscribe gpu-systems in ZONE" in gone.lines[-1]


async def test_a_subscription_whose_topic_is_gone_promises_no_digest(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    (entry,) = (await replace(ada, context=replace(ada.context, packs={})).ask("status")).entries

    assert entry.lines[-1] == "Its topic is not there any more: nothing is posted for it."
    assert [each.command for each in entry.buttons] == ["unsubscribe kv"]


async def test_other_channels_are_counted_and_other_workspaces_are_not(ada: Asker) -> None:
    await ada.by(channel="C2").ask("subscribe kv")
    await ada.by(channel="C2").ask("pause kv")
    await ada.by(workspace="slack:T2").ask("subscribe kv")

    reply = await ada.ask("status")

    assert "1 subscription in other channels, 1 of them paused." in reply.text
    assert button(reply, "All subscriptions") == "list all"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (SourceState(name="arxiv", health=Health.OK, items=412), "well; 412 items, 2 hours ago"),
        (SourceState(name="arxiv", health=Health.QUIET, note="no announcement on Sundays."), "well, with nothing new"),
        (SourceState(name="arxiv", health=Health.DOWN, note="503"), "did not answer; last answered 2 hours ago; 503"),
    ],
)
async def test_a_source_tells_its_health_and_last_answer(ada: Asker, state: SourceState, words: str) -> None:
    await ada.context.store.save_source_state(replace(state, answered=ada.now - timedelta(hours=2)))

    (field,) = (field for field in (await ada.ask("status")).fields if field.name == "arXiv")
    assert field.value.startswith(words)


async def test_a_resting_source_says_when_it_is_asked_again(ada: Asker) -> None:
    rests = SourceState(name="github", health=Health.DOWN, rest_until=ada.now + timedelta(minutes=40))
    await ada.context.store.save_source_state(rests)

    assert "GitHub: did not answer; asked again in 40 minutes" in said(await ada.ask("status"))


NEVER_RAN = "The service has not run yet: nothing is collected or posted until it does."


@pytest.mark.parametrize(
    ("beat", "sentence"),
    [
        ("", NEVER_RAN),
        ("2026-04-01T04:00:00+00:00", "The service gave its last sign of life 3 hours ago: nothing is collected or posted."),
        ("2026-04-01T06:59:00+00:00", ""),
        ("garbled", NEVER_RAN),
    ],
)
async def test_a_service_that_does_not_run_is_noticed(ada: Asker, beat: str, sentence: str) -> None:
    await ada.context.store.set_fact("heartbeat", beat)

    told = [text for text in (await ada.ask("status")).text if "service" in text]
    assert told == ([sentence] if sentence else [])


# --- history


async def test_the_history_tells_who_changed_what_and_when_newest_first(ada: Asker) -> None:
    await ada.ask("settings top 5")
    bob = ada.by(person="U-bob").at(ada.now + timedelta(hours=1))
    await bob.ask("subscribe kv weekdays")

    newest, oldest = (await ada.ask("history")).entries

    assert (newest.title, newest.lines[0]) == ("subscription C1 kv", "Wednesday 1 April at 08:00, by U-bob")
    assert newest.lines[1].startswith("made: subscribe kv weekdays at 09:00")
    assert (oldest.title, oldest.lines) == (
        "settings top",
        ("Wednesday 1 April at 07:00, by you", "before: up to 7, as the operator settled", "now: up to 5"),
    )


async def test_the_history_of_a_topic_is_its_own_also_when_it_is_gone(ada: Asker) -> None:
    await ada.ask("topic create kv-paging cache paging")
    await ada.ask("subscribe kv")
    await ada.ask("topic delete kv-paging")

    reply = await ada.ask("history kv-paging")

    assert [entry.title for entry in reply.entries] == ["topic kv-paging", "topic kv-paging"]
    assert reply.entries[0].lines[1].startswith("gone: ")
    assert [entry.title for entry in (await ada.ask("history kv")).entries] == ["subscription C1 kv"]


async def test_what_was_done_to_a_topic_is_found_behind_many_other_changes(ada: Asker) -> None:
    await ada.ask("topic create kv-paging cache paging")
    for number in range(501):
        change = Change(workspace=ada.actor.workspace, at=ada.now, person="U", what="settings top", after=str(number))
        await ada.context.store.save_preferences(ada.actor.workspace, Preferences(), change)

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
    assert "*history*" in (await ada.ask("history nosuch")).next_steps[0]


async def test_a_workspace_sees_its_own_history_alone(ada: Asker) -> None:
    await ada.ask("settings top 5")

    assert (await ada.by(workspace="slack:T2").ask("history")).title == "Nothing was changed in this workspace yet"


# --- help


async def test_the_help_names_every_command_with_its_sentence(ada: Asker) -> None:
    lines = {line for entry in (await ada.ask("help")).entries for line in entry.lines}

    assert lines == {f"*{usage.words}*: {usage.help}" for usage in TABLE}


@pytest.mark.parametrize("usage", TABLE, ids=lambda usage: usage.words)
async def test_the_help_on_a_command_says_how_it_goes_with_an_example_that_parses(ada: Asker, usage: Usage) -> None:
    words = usage.words

    fields = {field.name: field.value for field in (await ada.give(Help(words))).fields}

    assert fields["Usage"].startswith(words)
    assert isinstance(parse(fields["Example"]), usage.command)


async def test_the_help_knows_other_words_groups_and_near_misses(ada: Asker) -> None:
    assert (await ada.give(Help("Bookmark"))).title == "save"
    assert [entry.title for entry in (await ada.give(Help("topic"))).entries] == [
        "topic show",
        "topic create",
        "topic edit",
        "topic delete",
    ]
    near = await ada.give(Help("serach"))
    assert (near.title, near.text[0]) == ("search", 'There is no command "serach"; the nearest is this.')
    with pytest.raises(UsageError, match='no command "xyzzy"'):
        await ada.give(Help("xyzzy"))


async def test_the_help_on_queries_names_every_field(ada: Asker) -> None:
    for asked in ("query", "search", "filter"):
        (entry,) = (await ada.give(Help(asked))).entries
        assert len(entry.lines) == len(FIELDS)
        assert all(line.startswith(f"*{field.name}*") for line, field in zip(entry.lines, FIELDS, strict=True))


async def test_a_digest_that_is_due_in_quiet_hours_is_told_with_the_time_at_which_they_end(ada: Asker) -> None:
    await ada.ask("subscribe kv at 23:00 in UTC")
    assert "Wednesday 1 April at 23:00" in said(await ada.ask("status"))
    await ada.ask("settings quiet 22:00-07:30")
    for asked in ("status", "list"):
        told = said(await ada.ask(asked))
        assert "Thursday 2 April at 07:30" in told
    assert "Thursday 2 April at 07:30" in said(await ada.ask("subscribe kv at 23:15"))
