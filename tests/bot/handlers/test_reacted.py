"""Reactions say more and less, as often as a platform tells them."""

from collections.abc import Sequence

from bot.handlers.reacted import reacted
from tests.bot.handlers.askers import Asker, about, changes

FIRST, SECOND = "arxiv:2603.00001", "arxiv:2603.00002"


async def react(asker: Asker, *keys: str, topic: str = "kv", more: bool = True, given: bool = True) -> None:
    await reacted(asker.context, asker.actor, keys or (FIRST,), topic, more=more, given=given, now=asker.now)


async def stands(asker: Asker, topic: str = "kv") -> Sequence[tuple[str, str, bool]]:
    return [(each.person, each.key, each.more) for each in await asker.context.store.feedback(asker.actor.workspace, topic)]


async def test_a_reaction_is_noted_once_however_often_it_is_told(ada: Asker) -> None:
    for _ in range(3):
        await react(ada)
    assert await stands(ada) == [("U-ada", FIRST, True)]
    assert [each.after for each in await changes(ada)] == ["more"]


async def test_a_reaction_that_is_taken_back_is_gone_and_taking_it_back_twice_is_harmless(ada: Asker) -> None:
    await react(ada)
    for _ in range(2):
        await react(ada, given=False)
    assert await stands(ada) == []
    assert [(each.before, each.after) for each in await changes(ada)] == [("more", ""), ("", "more")]


async def test_the_last_reaction_counts_and_taking_the_other_back_leaves_it(ada: Asker) -> None:
    await react(ada)
    await react(ada, more=False)
    await react(ada, given=False)
    assert await stands(ada) == [("U-ada", FIRST, False)]


async def test_a_reaction_to_a_pair_is_about_both_and_about_nobody_else(ada: Asker) -> None:
    bob = ada.by(person="U-bob")
    await react(ada, FIRST, SECOND, FIRST)
    await react(bob, FIRST, more=False)
    await react(ada, FIRST, given=False)
    assert sorted(await stands(ada)) == [("U-ada", SECOND, True), ("U-bob", FIRST, False)]


async def test_a_reaction_agrees_with_what_was_said_by_a_command(ada: Asker) -> None:
    await ada.ask(f"more {FIRST} for kv")
    await react(ada)
    assert len(await changes(ada)) == 1
    await react(ada, given=False)
    assert await stands(ada) == []


async def test_a_reaction_under_an_older_key_is_that_to_the_same_work(ada: Asker) -> None:
    await react(ada)
    await ada.context.store.add([about(9, "Paging again", aliases=(FIRST,))], ada.now, retired=[FIRST])
    await react(ada, "arxiv:2603.00009", more=False)
    assert await stands(ada) == [("U-ada", FIRST, False)]


async def test_an_item_that_is_not_kept_any_more_is_meant_by_its_key(ada: Asker) -> None:
    await react(ada, "arxiv:1999.00001")
    assert await stands(ada) == [("U-ada", "arxiv:1999.00001", True)]


async def test_nothing_is_noted_for_a_topic_that_is_gone(ada: Asker) -> None:
    await react(ada, topic="gone")
    assert await stands(ada, "gone") == []
    assert await changes(ada) == []
