import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands import CreateTopic, parse
from bot.errors import UsageError
from bot.handlers.wording.topics import definition
from bot.query import parse as parse_query
from tests.bot.handlers.askers import PACKS, Asker, button, changes, said, topic

PACK = PACKS[0]


# --- making


async def test_a_topic_is_made_from_a_query_and_tried_at_once(ada: Asker) -> None:
    reply = await ada.ask("topic create my-gpus CUDA OR title:kernels")

    assert reply.title == "Made the topic My gpus (my-gpus)"
    assert reply.text == ("2 of the 5 items of the last 7 days enter it; the best:",)
    assert {each.item.key for each in reply.entries if each.item} == {"arxiv:2603.00003", "arxiv:2603.00005"}
    assert all(each.lines for each in reply.entries)
    assert not reply.private
    made = await topic(ada, "my-gpus")
    assert (made.query.text, made.revision) == ("CUDA OR title:kernels", 1)


async def test_a_topic_is_made_as_a_copy_of_another(ada: Asker) -> None:
    await ada.ask("topic create mine from kv")

    assert await topic(ada, "mine") == replace(PACK, name="mine", title="Mine", revision=1)


async def test_a_query_that_lets_nothing_in_says_so(ada: Asker) -> None:
    assert (await ada.ask("topic create none zebrafish")).text == (
        "None of the 5 items of the last 7 days enters it: a wider query would let some in.",
    )


async def test_before_anything_is_collected_a_new_topic_says_that_it_cannot_be_tried(ada: Asker) -> None:
    later = ada.at(ada.now + timedelta(days=30))

    assert (await later.ask("topic create gpus GPU")).text == (
        "Nothing was collected in the last 7 days, so it cannot be tried yet.",
    )


@pytest.mark.parametrize(
    ("command", "sentence", "hint"),
    [
        (CreateTopic("kv", "cache"), "There is a topic kv already, one that comes with Broadsheet", '"kv-2" is free'),
        (CreateTopic("GPU Systems!", "GPU"), "small letters, digits and hyphens", '"gpu-systems-2" would do'),
        (CreateTopic("Crème_brûlée", "a"), "small letters", '"creme-brulee" would do'),
        (CreateTopic("論文", "a"), "small letters", '"my-topic" would do'),
        (CreateTopic("x" * 60, "a"), "40 at most", f'"{"x" * 40}" would do'),
        (CreateTopic("new", "stras:>5"), "There is no field `stras:`", "stars:"),
        (CreateTopic("new", "sort:new GPU"), "belong to a search", ""),
        (CreateTopic("new", " "), "Say what is to enter", "topic create new"),
        (CreateTopic("new", origin="kx"), 'There is no topic "kx"', "Did you mean kv?"),
    ],
)
async def test_a_topic_that_cannot_be_made_so_comes_with_a_proposal(
    ada: Asker, command: CreateTopic, sentence: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        await ada.give(command)
    assert sentence in str(raised.value)
    assert hint in raised.value.hint
    assert not await ada.context.store.workspaces.topics(ada.actor.workspace)


async def test_of_two_who_make_one_topic_at_once_the_second_is_told(ada: Asker) -> None:
    outcomes = await asyncio.gather(
        *(ada.ask(f"topic create new {word}") for word in ("GPU", "CUDA")), return_exceptions=True
    )

    (refused,) = [each for each in outcomes if isinstance(each, UsageError)]
    assert "new" in str(refused)
    assert len(await changes(ada)) == 1


# --- deleting


async def test_a_channel_that_has_several_digests_of_a_topic_is_named_once(ada: Asker) -> None:
    await ada.ask("topic create gpus GPU")
    await ada.ask("subscribe gpus daily")
    await ada.ask("subscribe gpus weekly")

    assert "It is subscribed in this channel. Nothing was deleted." in said(await ada.ask("topic delete gpus"))
    assert "2 subscriptions (this channel)" in said(await ada.ask("topic delete gpus anyway"))
    assert not await ada.here()


async def test_a_topic_in_use_is_not_deleted_silently(ada: Asker) -> None:
    await ada.ask("topic create gpus GPU")
    await ada.ask("subscribe gpus")
    await ada.by(channel="C2").ask("subscribe gpus")
    await ada.ask("more 2603.00005 for gpus")

    asked = await ada.ask("topic delete gpus")
    assert asked.title == "Gpus is in use"
    assert "It is subscribed in this channel, C2. Nothing was deleted." in asked.text
    assert "gpus" in await ada.context.store.workspaces.topics(ada.actor.workspace)

    deleted = await ada.ask(button(asked, "Delete anyway"))
    assert deleted.text == (
        "With it went 2 subscriptions (this channel, C2) and what 1 answer of more and less had taught it.",
        "The commands in the file make it again.",
    )
    assert deleted.attachment
    assert deleted.attachment.name == "gpus-topic.txt"
    made, *_, first, second = deleted.attachment.text.splitlines()
    assert made == "topic create gpus GPU"
    assert (first, second) == (
        "In C1: subscribe gpus daily at 09:00 in UTC quiet if empty",
        "In C2: subscribe gpus daily at 09:00 in UTC quiet if empty",
    )
    (latest,) = await ada.context.store.workspaces.changes(ada.actor.workspace, about="topic gpus", limit=1)
    assert f"{latest.before}\n" == deleted.attachment.text
    assert not deleted.private
    assert not await ada.context.store.workspaces.subscriptions(ada.actor.workspace)
    assert not await ada.context.store.people.feedback(ada.actor.workspace, "gpus")


async def test_a_topic_in_nobodys_use_is_deleted_at_once(ada: Asker) -> None:
    await ada.ask("topic create gpus GPU")

    assert (await ada.ask("topic delete gpus")).title == "Deleted Gpus"


async def test_a_pack_cannot_be_deleted(ada: Asker) -> None:
    with pytest.raises(UsageError, match="kv comes with Broadsheet and cannot be deleted"):
        await ada.ask("topic delete kv anyway")


async def test_deleting_a_copy_brings_the_pack_back_and_ends_no_subscription(ada: Asker) -> None:
    await ada.ask("topic edit kv title Caches")
    await ada.ask("subscribe kv")
    await ada.ask("more 2603.00001 for kv")

    reply = await ada.ask("topic delete kv")

    assert reply.title == "KV cache is again as it comes with Broadsheet"
    assert "Revision: as it comes with Broadsheet" in said(await ada.ask("topic show kv"))
    assert [each.topic for each in await ada.here()] == ["kv"]
    assert len(await ada.context.store.people.feedback(ada.actor.workspace, "kv")) == 1
    assert reply.attachment
    for line in reply.attachment.text.splitlines():
        await ada.ask(line)
    assert replace(await topic(ada, "kv-2"), name="kv", revision=0) == replace(PACK, title="Caches")


async def test_history_keeps_a_deleted_topic_whole_so_that_it_can_be_made_again(ada: Asker) -> None:
    await ada.ask("topic create gpus from kv")
    for part in ("title The GPUs", "sources arxiv", "min 0.3", "repositories topic:cuda", 'interest "a OR b" -c'):
        await ada.ask(f"topic edit gpus {part}")
    await ada.ask("filter gpus everywhere set kind:paper")
    before = await topic(ada, "gpus")
    await ada.ask("topic delete gpus")

    (latest, *_) = await changes(ada, about="topic gpus")
    assert latest.before == definition(before)
    assert latest.after == ""
    for line in latest.before.splitlines():
        await ada.give(parse(line))

    assert replace(await topic(ada, "gpus"), revision=before.revision) == before


async def test_every_change_of_a_topic_stands_in_the_history(ada: Asker) -> None:
    await ada.ask("topic create gpus GPU")
    await ada.by(person="U-bob").ask("topic edit gpus query CUDA")
    await ada.ask("topic edit gpus interest weight 2 kernels")
    await ada.ask("topic edit gpus remove interest kernels")

    assert [(each.person, each.what, each.before, each.after) for each in await changes(ada)] == [
        ("U-ada", "topic gpus", "interest: weight 2 kernels", ""),
        ("U-ada", "topic gpus", "", "interest: weight 2 kernels"),
        ("U-bob", "topic gpus", "query: GPU", "query: CUDA"),
        ("U-ada", "topic gpus", "", definition(replace(await topic(ada, "gpus"), query=parse_query("GPU"), interests=()))),
    ]


# --- rights


@pytest.mark.parametrize(
    "command", ["topic create new GPU", "topic edit own title T", "topic delete own", "filter own set a", "filter own clear"]
)
async def test_where_only_administrators_manage_others_change_no_topic(ada: Asker, command: str) -> None:
    await ada.ask("topic create own GPU")
    before = await ada.context.store.workspaces.topics(ada.actor.workspace)
    strict = replace(ada, context=replace(ada.context, manage="admins"))

    with pytest.raises(UsageError, match="Only administrators may change"):
        await strict.ask(command)

    assert await ada.context.store.workspaces.topics(ada.actor.workspace) == before
    assert (await strict.by(may_administer=True).ask(command)).title
