import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.commands import Filter, FilterAction
from bot.errors import UsageError
from bot.models import Change
from tests.bot.handlers import askers
from tests.bot.handlers.askers import PAPERS, Asker, about, button, said
from tests.stores.memory import MemoryStore


async def here(asker: Asker) -> str:
    (subscription,) = await asker.here()
    return subscription.filter.text


async def everywhere(asker: Asker, name: str = "kv") -> str:
    return (await asker.context.store.workspaces.topics(asker.actor.workspace))[name].filter.text


async def changes(asker: Asker) -> list[Change]:
    return list(await asker.context.store.workspaces.changes(asker.actor.workspace))


# --- whose filter


async def test_the_filter_is_this_channels_where_it_is_subscribed_and_else_the_topics(ada: Asker) -> None:
    await ada.ask("filter kv set kind:paper")
    assert await everywhere(ada) == "kind:paper"

    await ada.ask("subscribe kv")
    await ada.ask("filter kv set -blockchain")
    assert (await here(ada), await everywhere(ada)) == ("-blockchain", "kind:paper")

    await ada.ask("filter kv everywhere add -cooking")
    assert (await here(ada), await everywhere(ada)) == ("-blockchain", "kind:paper -cooking")


async def test_the_same_topic_has_another_filter_in_another_channel(ada: Asker) -> None:
    other = ada.by(channel="C2")
    for asker, query in ((ada, "kind:paper"), (other, "kind:repo")):
        await asker.ask("subscribe kv")
        await asker.ask(f"filter kv here set {query}")

    assert (await here(ada), await here(other)) == ("kind:paper", "kind:repo")


async def test_a_channel_that_does_not_subscribe_has_no_filter_here(ada: Asker) -> None:
    with pytest.raises(UsageError, match="kv is not subscribed in this channel") as raised:
        await ada.ask("filter kv here set kind:paper")
    assert "*subscribe kv* comes first" in raised.value.hint


# --- looking


async def test_showing_numbers_the_clauses_and_names_the_other_filter_that_holds(ada: Asker) -> None:
    await ada.ask("filter kv everywhere set -cooking")
    await ada.ask("subscribe kv filter kind:paper (vLLM OR SGLang) -blockchain")

    reply = await ada.ask("filter kv")

    assert reply.title == "The filter of KV cache in this channel"
    assert reply.entries[0].lines == ("1. kind:paper", "2. (vLLM OR SGLang)", "3. -blockchain")
    assert reply.text == ("Besides holds the filter of the topic everywhere: -cooking.",)
    above = await ada.ask("filter kv everywhere show")
    assert above.text == (
        "Besides holds the filter of the subscription in this channel: kind:paper (vLLM OR SGLang) -blockchain.",
    )


async def test_a_topic_without_a_filter_says_so(ada: Asker) -> None:
    reply = await ada.ask("filter kv")

    assert reply.text == ("It has none: what fits the topic is posted.",)
    assert "Clear" not in [each.label for each in reply.buttons]


# --- trying


async def test_a_filter_is_tried_without_being_set(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    reply = await ada.ask("filter kv test -blockchain")

    assert reply.text == (
        "It would have let through 2 of 3 that fit the topic in the last 7 days.",
        "Nothing was changed.",
    )
    told = {each.item.title: each.lines for each in reply.entries if each.item}
    assert told == {
        "Paging the KV cache": ('would pass: no text has "blockchain"',),
        "Sharding a cache in CUDA": ('would pass: no text has "blockchain"',),
        "A blockchain of cache lines": ('would not pass: title has "blockchain"',),
    }
    assert await here(ada) == ""
    assert len(await changes(ada)) == 1

    await ada.ask(button(reply, "Set it"))
    assert await here(ada) == "-blockchain"


async def test_three_of_either_outcome_are_shown_and_all_are_counted(now: datetime) -> None:
    store = MemoryStore()
    ada = askers.asker(store, now)
    await store.items.add([about(99, "A bad old cache")], now - timedelta(days=8))
    papers = [about(100 + number, f"A {'good' if number % 2 else 'bad'} cache, number {number}") for number in range(12)]
    await store.items.add([*papers, *PAPERS], now - timedelta(days=6))

    reply = await ada.ask("filter kv test -bad")

    assert reply.text[0] == "It would have let through 9 of 15 that fit the topic in the last 7 days."
    verdicts = [line.partition(":")[0] for entry in reply.entries for line in entry.lines]
    assert verdicts == ["would pass"] * 3 + ["would not pass"] * 3


async def test_without_a_query_the_present_filter_is_tried(ada: Asker) -> None:
    await ada.ask("subscribe kv filter -blockchain")

    reply = await ada.ask("filter kv test")

    assert reply.title == "Tried on KV cache in this channel: -blockchain"
    assert reply.text == ("It would have let through 2 of 3 that fit the topic in the last 7 days.",)
    assert "Set it" not in [each.label for each in reply.buttons]


async def test_what_came_in_before_the_subscription_counts_in_a_trial(ada: Asker) -> None:
    await ada.ask("subscribe kv")  # after the papers came in: none of them will be posted

    assert "let through 3 of 3" in said(await ada.ask("filter kv test kind:paper"))


async def test_a_filter_on_the_score_is_tried_with_the_topics_scores(ada: Asker) -> None:
    assert "let through 0 of 3" in said(await ada.ask("filter kv test score:>0.99"))
    assert "let through 3 of 3" in said(await ada.ask("filter kv test score:>0"))


async def test_both_filters_hold_in_a_trial(ada: Asker) -> None:
    await ada.ask("filter kv everywhere set -sharding")
    await ada.ask("subscribe kv")

    assert "let through 1 of 3" in said(await ada.ask("filter kv here test -blockchain"))
    assert "let through 2 of 3" in said(await ada.ask("filter kv everywhere test -blockchain"))


async def test_with_nothing_to_try_it_on_a_filter_says_so(ada: Asker) -> None:
    await ada.ask("topic create none zebrafish")
    assert (await ada.ask("filter none test kind:paper")).text[0] == (
        "None of the 5 items of the last 7 days fits the topic, so there is nothing to filter."
    )

    late = ada.at(ada.now + timedelta(days=30))
    assert (await late.ask("filter kv test kind:paper")).text[0] == (
        "Nothing was collected in the last 7 days, so it cannot be tried yet."
    )


# --- changing


async def test_setting_answers_at_once_what_it_would_have_done(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    reply = await ada.ask("filter kv set -blockchain")

    assert reply.title == "Changed the filter of KV cache in this channel"
    assert reply.text == (
        "Was empty.",
        "Now -blockchain.",
        "It would have let through 2 of 3 that fit the topic in the last 7 days.",
    )
    assert len(reply.entries) == 3
    assert not reply.private


async def test_adding_and_removing_clauses_one_by_one(ada: Asker) -> None:
    await ada.ask("subscribe kv filter kind:paper")

    await ada.ask("filter kv add -blockchain has:pdf OR stars:>5")
    assert await here(ada) == "kind:paper (-blockchain has:pdf OR stars:>5)"
    await ada.ask("filter kv remove 1")
    assert await here(ada) == "(-blockchain has:pdf OR stars:>5)"
    await ada.ask("filter kv add kind:paper")
    await ada.ask("filter kv remove (-blockchain has:pdf) OR stars:>5")
    assert await here(ada) == "kind:paper"
    reply = await ada.ask("filter kv remove kind:paper")
    assert reply.title == "Cleared the filter of KV cache in this channel"
    assert await here(ada) == ""


@pytest.mark.parametrize("scope", ["here", "everywhere"])
async def test_every_change_can_be_undone(ada: Asker, scope: str) -> None:
    await ada.ask("subscribe kv")
    read = here if scope == "here" else everywhere

    first = await ada.ask(f'filter kv {scope} set "top 5" OR author:"Tri Dao"')
    cleared = await ada.ask(f"filter kv {scope} clear")
    assert await read(ada) == ""
    await ada.ask(button(cleared, "Undo"))
    assert await read(ada) == '"top 5" OR author:"Tri Dao"'
    await ada.ask(button(first, "Undo"))
    assert await read(ada) == ""


@pytest.mark.parametrize("command", ["set kind:papers", "add kind:paper", "set  kind:paper "])
async def test_what_holds_already_is_not_written_again(ada: Asker, command: str) -> None:
    await ada.ask("subscribe kv filter kind:paper")

    reply = await ada.ask(f"filter kv {command}")

    assert reply.text == ("It is kind:paper already; nothing was changed.",)
    assert len(await changes(ada)) == 1


async def test_clearing_what_is_empty_changes_nothing(ada: Asker) -> None:
    assert (await ada.ask("filter kv clear")).text == ("It is empty already; nothing was changed.",)
    assert not await changes(ada)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (Filter("kv", FilterAction.SET, "(a"), "never closed"),
        (Filter("kv", FilterAction.SET, ""), "Say what is to be let in"),
        (Filter("kv", FilterAction.ADD, "sort:new"), "belong to a search"),
        (Filter("kv", FilterAction.TEST, "stras:>5"), "no field `stras:`"),
        (Filter("kv", FilterAction.REMOVE, "kind:repo"), "has no clause kind:repo"),
        (Filter("kv", FilterAction.REMOVE, "9"), "has no clause 9"),
        (Filter("kx", FilterAction.SHOW), 'no topic "kx"'),
        (Filter("kv", FilterAction.ADD, " ".join(f"w{number}" for number in range(64))), "64 clauses"),
    ],
)
async def test_what_is_no_filter_is_refused_before_anything_is_written(ada: Asker, command: Filter, sentence: str) -> None:
    await ada.ask("subscribe kv filter kind:paper")

    with pytest.raises(UsageError, match=sentence.replace("(", r"\(")):
        await ada.give(command)
    assert await here(ada) == "kind:paper"


async def test_a_filter_of_a_pack_everywhere_makes_a_copy_and_says_so(ada: Asker) -> None:
    reply = await ada.ask("filter kv everywhere set -cooking")
    assert "you have your own copy from now on" in said(reply)

    reply = await ada.ask("filter kv everywhere add -gas")
    assert "It holds in every channel that subscribes to the topic." in reply.text


async def test_clauses_that_several_people_add_at_once_are_all_kept(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    words = ("alpha", "beta", "gamma", "delta")

    await asyncio.gather(*(ada.ask(f"filter kv here add -{word}") for word in words))
    await asyncio.gather(*(ada.ask(f"filter kv everywhere add -{word}") for word in words))

    for text in (await here(ada), await everywhere(ada)):
        assert sorted(text.split()) == sorted(f"-{word}" for word in words)


async def test_a_change_is_on_record_from_what_to_what(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("filter kv set kind:paper")
    await ada.ask("filter kv everywhere set -cooking")

    above, below, _ = await changes(ada)
    assert (above.what, above.before, above.after) == ("topic kv", "", "filter: -cooking")
    assert below.what == "subscription C1 kv daily"
    assert below.after == f"{below.before} filter kind:paper"


async def test_anyone_may_look_and_try_where_only_administrators_manage(ada: Asker) -> None:
    await ada.ask("subscribe kv filter kind:paper")
    strict = replace(ada, context=replace(ada.context, manage="admins"))

    assert (await strict.ask("filter kv")).entries
    assert (await strict.ask("filter kv test -blockchain")).entries
    for change in ("set a", "add a", "remove 1", "clear", "everywhere set a"):
        with pytest.raises(UsageError, match="Only administrators"):
            await strict.ask(f"filter kv {change}")
    assert await here(ada) == "kind:paper"
