"""Nothing is promised in a channel where it cannot be kept: what to mend is said first, and nothing is changed."""

from dataclasses import replace

import pytest

from bot.commands import parse
from bot.commands.forms import SubscribeForm
from bot.errors import UsageError
from bot.handlers.context import ForumTags
from bot.handlers.handle import answer
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
    typed = "subscribe kv weekdays at 08:30 in Europe/Zurich top 5 min 0.4 full always filter -blockchain"

    reply = await blocked(ada).ask(typed)

    assert reply.title == "KV cache is not subscribed yet"
    assert reply.text[0] == NEEDED
    assert reply.private
    assert await ada.here() == []
    assert await changes(ada) == []


async def test_what_was_typed_is_not_lost_when_that_was_mended(ada: Asker) -> None:
    typed = "subscribe kv weekdays at 08:30 in Europe/Zurich top 5 min 0.4 full always filter -blockchain"
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

    assert (reply.title, reply.text[0]) == ("KV cache is still paused", NEEDED)
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


# --- a forum that wants a tag on each post


def in_forum(ada: Asker, *names: str) -> Asker:
    async def forum_tags(_actor: Actor) -> ForumTags:
        return ForumTags(names, required=True)

    return replace(ada, context=replace(ada.context, forum_tags=forum_tags))


async def test_which_tag_is_asked_and_the_one_that_was_chosen_is_kept(ada: Asker) -> None:
    forum = in_forum(ada, "news", "reading list")
    asked = await answer(forum.context, parse("subscribe kv top 3"), ada.actor, ada.now)

    assert [each.label for each in asked.buttons] == ["news", "reading list"]
    assert await ada.here() == []
    await forum.ask(button(asked, "reading list"))
    await forum.ask("subscribe kv top 4")
    (held,) = await ada.here()
    assert (held.entries, held.tag) == (4, "reading list")
    undo = button(await forum.ask("unsubscribe kv"), "Undo")
    assert (await forum.ask(undo)).title == "Subscribed to KV cache"
    assert [each.tag for each in await ada.here()] == ["reading list"]


async def test_a_tag_of_the_topics_title_is_meant_and_none_takes_back_what_was_chosen(ada: Asker) -> None:
    forum = in_forum(ada, "kv CACHE", "news")
    await forum.ask("subscribe kv tag news")
    assert [each.tag for each in await ada.here()] == ["news"]
    await forum.ask("subscribe kv tag none")
    assert [each.tag for each in await ada.here()] == [""]


async def test_where_the_chosen_tag_is_gone_nothing_is_promised_before_another_is_chosen(ada: Asker) -> None:
    await in_forum(ada, "news").ask("subscribe kv tag news")
    later = in_forum(ada, "papers")

    told = await later.ask("post kv")
    assert told.title == "KV cache is not posted yet"
    await ada.ask("pause kv")
    told = await later.ask("resume kv")
    assert told.title == "KV cache is still paused"
    choice = await answer(later.context, parse(button(told, "Choose a tag")), ada.actor, ada.now)
    await later.ask(button(choice, "papers"))
    assert (await later.ask("resume kv")).title == "KV cache goes on"


async def test_a_tag_is_refused_where_there_are_none(ada: Asker) -> None:
    with pytest.raises(UsageError, match="Only the posts of a forum"):
        await ada.ask("subscribe kv tag news")
