"""What a workflow's step is given: what anybody in the workspace may know, and nothing that a channel had or filters."""

from dataclasses import replace
from typing import Any

import pytest

from bot.errors import UsageError
from bot.handlers.surfaces.steps import digest_for_workflow, found_for_workflow
from bot.models import Actor, Reply
from tests.bot.handlers.askers import Asker

NOBODY: dict[str, Any] = {"channel": "", "person": "", "may_administer": False, "may_write": False}


def nobody(asker: Asker, **changed: str) -> Actor:
    return replace(asker.actor, **(NOBODY | changed))


async def digest(asker: Asker, topic: str = "kv", most: int = 5, days: int = 14, **changed: str) -> Reply:
    return await digest_for_workflow(asker.context, topic, most, days, nobody(asker, **changed), asker.now)


def keys(reply: Reply) -> list[str]:
    return [entry.ranked.item.key for each in reply.digests for entry in each.entries]


async def test_a_search_has_as_many_entries_as_are_asked_for_and_a_link_is_answered_with_its_card(ada: Asker) -> None:
    for most in (1, 2):
        reply = await found_for_workflow(ada.context, "cache", most, nobody(ada), ada.now)
        assert len(reply.entries) == most
    key = reply.entries[0].item.key if reply.entries[0].item else ""
    card = await found_for_workflow(ada.context, key, 5, nobody(ada), ada.now)
    assert [each.ranked.item.key for each in card.cards] == [key]


async def test_a_digest_is_the_same_whatever_channels_had_of_it_and_records_nothing(ada: Asker) -> None:
    before = await digest(ada)
    assert keys(before)
    await ada.ask("subscribe kv at 09:00 filter has:code")
    assert keys(await digest(ada)) == keys(before)
    assert keys(await digest(ada, most=1)) == keys(before)[:1]
    assert not await ada.context.store.digests.past(ada.actor.workspace, "")


async def test_a_topic_of_another_workspace_is_not_there(ada: Asker) -> None:
    await ada.ask("topic create ours cache")
    assert (await digest(ada, "ours")).digests
    with pytest.raises(UsageError, match='There is no topic "ours"'):
        await digest(ada, "ours", workspace="slack:T2")


@pytest.mark.parametrize(("most", "days"), [(0, 2), (11, 2), (5, 0), (5, 15), (-1, 2)])
async def test_what_is_out_of_bounds_is_refused_with_the_bounds(ada: Asker, most: int, days: int) -> None:
    with pytest.raises(UsageError, match="The step takes 1 to"):
        await digest(ada, "kv", most, days)


async def test_who_asks_in_no_channel_has_no_subscription(ada: Asker) -> None:
    await ada.ask("subscribe kv at 09:00 filter has:code")
    assert not await ada.context.subscriptions_here(nobody(ada), "kv")
