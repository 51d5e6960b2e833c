"""A button pressed twice tells how it stands: the second press changes nothing, also while the first is in flight."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.commands import parse
from bot.handlers.handle import answer
from bot.models import Change, Feedback, Occurrence, Preferences, Saved, Subscription
from tests.bot.handlers.askers import PAPERS, Asker, Waiting, asker, button, changes
from tests.conftest import NOW, tries

PRESSED = (
    "save 2603.00001",
    "unsave 2603.00001",
    "more 2603.00001 for kv",
    "less 2603.00001 for kv",
    "profile kv undo arxiv:2603.00001",
    "subscribe kv",
    "subscribe kv weekdays top 3",
    "unsubscribe kv",
    "pause kv",
    "pause kv until 2w",
    "resume kv",
    "post kv",
    "filter kv add kind:paper",
    "filter kv clear",
    "settings top 7",
    "settings top default",
    "settings alerts here",
    "topic edit kv title Caches",
)
State = tuple[
    Sequence[Subscription], Sequence[Feedback], Sequence[Saved], Sequence[Occurrence], Preferences, Sequence[Change]
]


async def begun() -> Asker:
    store = Waiting()
    await store.open()
    await store.items.add(PAPERS, NOW - timedelta(hours=2))
    return asker(store, NOW)


async def state_of(ada: Asker) -> State:
    """All that a press may change."""
    store, here = ada.context.store, ada.actor
    return (
        await store.workspaces.subscriptions(here.workspace),
        await store.people.feedback(here.workspace, "kv"),
        await store.people.saved(here.workspace, here.person),
        await store.ledger.occurrences(ada.now, limit=99),
        await store.workspaces.preferences(here.workspace),
        await changes(ada),
    )


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.sampled_from(PRESSED), min_size=1, max_size=8))
def test_the_second_press_changes_nothing_whatever_went_before(pressed: list[str]) -> None:
    async def pressing() -> None:
        ada = await begun()
        for text in pressed:
            await answer(ada.context, parse(text), ada.actor, ada.now)
            once = await state_of(ada)
            told = await answer(ada.at(ada.now + timedelta(seconds=1)).context, parse(text), ada.actor, ada.now)
            assert told.title
            assert await state_of(ada) == once, text

    asyncio.run(pressing())


@pytest.mark.parametrize("text", PRESSED)
@pytest.mark.parametrize("subscribed", [True, False])
async def test_a_double_click_does_what_one_does_and_both_are_answered(text: str, *, subscribed: bool) -> None:
    one, two = await begun(), await begun()
    for each in (one, two):
        if subscribed:
            await each.ask("subscribe kv")

    await answer(one.context, parse(text), one.actor, one.now)
    told = await asyncio.gather(*(answer(two.context, parse(text), two.actor, two.now) for _ in range(2)))

    assert _unnamed(await state_of(one)) == _unnamed(await state_of(two))
    assert all("wrong on our side" not in " ".join(each.text) for each in told)


def _unnamed(state: State) -> State:
    """The same without the identifiers that chance gives."""
    subscriptions, said, saved, occurrences, preferences, audit = state
    unnamed = [replace(each, id="") for each in subscriptions]
    return unnamed, said, saved, [replace(each, subscription="") for each in occurrences], preferences, audit


async def test_saved_twice_is_saved_and_offers_to_remove_it(ada: Asker) -> None:
    await ada.ask("save 2603.00001")
    again = await ada.ask("save 2603.00001")

    assert again.title == "Saved already"
    await ada.ask(button(again, "Unsave"))
    assert (await ada.ask("saved")).title == "Nothing is saved yet"


async def test_more_twice_counts_and_offers_to_take_it_back(ada: Asker) -> None:
    await ada.ask("more 2603.00001 for kv")
    again = await ada.ask("more 2603.00001 for kv")

    assert again.title == "More like this in KV cache already"
    assert "it counts" in again.text[0]
    assert len(await ada.context.store.people.feedback(ada.actor.workspace, "kv")) == 1
    back = button(again, "Take back")
    assert (await ada.ask(back)).title == "Taken back for KV cache"
    assert (await ada.ask(back)).title == "Nothing to take back for KV cache"


async def test_unsubscribed_twice_offers_the_subscription_as_it_was(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 08:30 top 3 filter -survey")
    await ada.ask("pause kv")
    (held,) = await ada.here()
    await ada.ask("unsubscribe kv")
    again = await ada.ask("unsubscribe kv")

    assert again.title == "KV cache is not subscribed here any more"
    await ada.ask(button(again, "Subscribe again"))
    (made,) = await ada.here()
    assert (made.schedule, made.entries, made.filter) == (held.schedule, held.entries, held.filter)
    assert not made.paused


async def test_two_people_who_press_at_once_each_have_their_word(ada: Asker) -> None:
    bob = ada.by(person="U-bob")
    await asyncio.gather(ada.ask("more 2603.00001 for kv"), bob.ask("more 2603.00001 for kv"))

    said = await ada.context.store.people.feedback(ada.actor.workspace, "kv")
    assert sorted((each.person, each.more) for each in said) == [("U-ada", True), ("U-bob", True)]
    assert len(await changes(ada)) == 2
