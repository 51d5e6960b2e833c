"""Nothing is promised in a channel where it cannot be kept: what to mend is said first, and nothing is changed."""

from dataclasses import replace

import pytest

from bot.commands.forms import SubscribeForm
from bot.errors import UsageError
from bot.handlers.surfaces.forms import submit
from bot.models import Actor, OccurrenceState
from tests.bot.handlers.askers import Asker, button, changes

NEEDED = "I need *View Channel* and *Send Messages* in #papers."


def blocked(ada: Asker, why: str = NEEDED) -> Asker:
    """Ada, in a channel where nothing can be posted."""

    async def obstacle(_actor: Actor) -> str:
        return why

    return replace(ada, context=replace(ada.context, obstacle=obstacle))


async def test_a_subscription_is_not_confirmed_where_it_could_not_be_kept(ada: Asker) -> None:
    typed = "subscribe kv weekdays at 08:30 in Europe/Zurich top 5 min 0.4 compact always filter -blockchain"

    reply = await blocked(ada).ask(typed)

    assert reply.title == "KV cache is not subscribed yet"
    assert reply.text[0] == NEEDED
    assert reply.private
    assert await ada.here() == []
    assert await changes(ada) == []


async def test_what_was_typed_is_not_lost_when_that_was_mended(ada: Asker) -> None:
    typed = "subscribe kv weekdays at 08:30 in Europe/Zurich top 5 min 0.4 compact always filter -blockchain"
    again = button(await blocked(ada).ask(typed), "Subscribe")

    assert again == button(await blocked(ada).ask(again), "Subscribe"), "not mended yet"
    assert (await ada.ask(again)).title == "Subscribed to KV cache"

    (held,) = await ada.here()
    await ada.ask("unsubscribe kv")
    await ada.ask(typed)
    (wanted,) = await ada.here()
    assert replace(held, id="", revision=0) == replace(wanted, id="", revision=0)


async def test_a_change_of_what_is_subscribed_waits_as_well(ada: Asker) -> None:
    await ada.ask("subscribe kv top 3")

    assert (await blocked(ada).ask("subscribe kv top 9")).text[0] == NEEDED
    (held,) = await ada.here()
    assert held.entries == 3


async def test_a_pause_does_not_end_where_nothing_could_be_posted(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    await ada.ask("pause kv")

    reply = await blocked(ada).ask('resume "kv cache"')

    assert (reply.title, reply.text[0]) == ("KV cache is paused still", NEEDED)
    (held,) = await ada.here()
    assert held.paused
    assert (await ada.ask(button(reply, "Resume"))).title == "KV cache goes on"


async def test_what_is_not_paused_is_said_to_be_so_wherever_it_is(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    assert (await blocked(ada).ask("resume kv")).title == "KV cache is not paused"


async def test_no_digest_is_asked_for_where_none_can_be_posted(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    state = ada.context.store.ledger

    reply = await blocked(ada).ask("post kv")

    assert (reply.title, reply.text[0]) == ("KV cache is not posted yet", NEEDED)
    assert await state.occurrences(ada.now, limit=9) == []
    assert (await ada.ask(button(reply, "Post now"))).title == "KV cache is posted now"
    (opened,) = await state.occurrences(ada.now, limit=9)
    assert opened.state is OccurrenceState.DUE


async def test_alerts_are_promised_in_no_channel_that_does_not_take_them(ada: Asker) -> None:
    with pytest.raises(UsageError) as raised:
        await blocked(ada).ask("settings alerts here")
    assert str(raised.value) == NEEDED
    assert not (await ada.context.store.workspaces.preferences(ada.actor.workspace)).alerts


async def test_what_promises_nothing_is_not_asked_about(ada: Asker) -> None:
    await ada.ask("subscribe kv")

    for each in ("now kv", "list", "search cache", "save 2603.00001", "pause kv", "filter kv test", "unsubscribe kv"):
        assert NEEDED not in (await blocked(ada).ask(each)).text


async def test_who_may_not_subscribe_is_told_that_first(ada: Asker) -> None:
    strict = replace(ada, context=replace(blocked(ada).context, manage="admins"))
    with pytest.raises(UsageError, match="Only administrators"):
        await strict.ask("subscribe kv")


async def test_what_is_filled_in_in_a_form_is_kept_in_the_button(ada: Asker) -> None:
    empty = SubscribeForm(topic="kv", zone="UTC")
    filled = replace(empty, entries=4, filter="-survey")

    reply = await submit(blocked(ada).context, empty, filled, ada.actor, ada.now)

    assert reply.text[0] == NEEDED
    assert await ada.here() == []
    await ada.ask(button(reply, "Subscribe"))
    (held,) = await ada.here()
    assert (held.entries, held.filter.text) == (4, "-survey")
