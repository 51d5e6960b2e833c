"""What people say of subscriptions that post at once, and what they are told of them."""

from datetime import timedelta

import pytest

from bot.commands import Follow, Pause, Subscribe, parse, write
from bot.errors import Unclear, UsageError
from bot.handlers.surfaces.forms import submit, subscribe_form
from bot.handlers.surfaces.home import home
from bot.models import Rhythm, Schedule
from tests.bot.handlers.askers import Asker, button, said

AT_ONCE = Schedule(weekdays=(), at_once=True)


def test_at_once_stands_where_days_do() -> None:
    assert parse("subscribe kv at once") == Subscribe(topic="kv", at_once=True)
    assert parse("subscribe kv top 3 at once in Zurich") == Subscribe(topic="kv", at_once=True, entries=3, zone="Zurich")
    assert parse("subscribe kv in New York at once") == Subscribe(topic="kv", at_once=True, zone="New York")
    assert parse("follow org:nvidia at once") == Follow("org:nvidia", Rhythm.AT_ONCE)
    assert parse("pause kv at once until monday") == Pause("kv", Rhythm.AT_ONCE, "monday")
    assert write(Subscribe(topic="kv", at_once=True)) == "subscribe kv at once"
    with pytest.raises(UsageError, match="said twice"):
        parse("subscribe kv daily at once")


async def test_subscribing_at_once_says_what_that_means(ada: Asker) -> None:
    reply = await ada.ask("subscribe kv at once")
    assert reply.text[0].startswith("What fits *KV cache* will be posted in this channel at once, after each collection")
    assert reply.text[1] == "The next digest comes as soon as something that fits has come in."
    fields = {field.name: field.value for field in reply.fields}
    assert fields["When"] == "at once, after each collection"
    assert fields["At most"] == "5 messages a day in the channel"
    (here,) = await ada.here()
    assert here.schedule == AT_ONCE
    assert here.rhythm is Rhythm.AT_ONCE
    assert (await ada.ask("subscribe kv at once")).title == "KV cache is subscribed just so already"


@pytest.mark.parametrize("command", ["subscribe kv at once at 09:00", "subscribe kv at once always"])
async def test_what_is_posted_at_once_has_no_time_and_is_never_empty(ada: Asker, command: str) -> None:
    with pytest.raises(UsageError, match="What is posted at once"):
        await ada.ask(command)
    assert not await ada.here()


async def test_it_stands_beside_a_daily_one_and_its_words_tell_which_is_meant(ada: Asker) -> None:
    await ada.ask("subscribe kv")
    reply = await ada.ask("subscribe kv at once")
    assert "It comes beside the daily one" in said(reply)
    assert button(reply, "End the daily one") == "unsubscribe kv daily"
    with pytest.raises(Unclear, match="KV cache has at once and daily digests here"):
        await ada.ask("pause kv")
    assert (await ada.ask("pause kv at once")).title == "KV cache is paused"
    listed = said(await ada.ask("list"))
    assert "KV cache (kv), at once" in listed
    assert "at once, after each collection" in listed
    resumed = await ada.ask("resume kv at once")
    assert "The next digest comes as soon as something that fits has come in." in resumed.text
    await ada.ask("unsubscribe kv daily")
    undone = await ada.ask("unsubscribe kv")
    assert button(undone, "Undo") == "subscribe kv at once in UTC quiet if empty"
    await ada.ask(button(undone, "Undo"))
    assert [each.schedule for each in await ada.here()] == [AT_ONCE]


async def test_a_pause_with_an_end_is_told(ada: Asker) -> None:
    await ada.ask("subscribe kv at once")
    reply = await ada.ask("pause kv until tomorrow")
    assert "The next digest comes as soon as something that fits has come in." in reply.text
    (here,) = await ada.here()
    assert here.paused_until is not None
    later = ada.at(here.paused_until + timedelta(hours=1))
    assert (await later.ask("resume kv")).title == "KV cache is not paused"


async def test_what_is_followed_at_once_is_followed_so(ada: Asker) -> None:
    reply = await ada.ask('follow author:"Rui Mao" at once')
    assert reply.text[0] == "What is new is posted here at once, after each collection."
    assert [each.rhythm for each in await ada.here()] == [Rhythm.AT_ONCE]
    undone = await ada.ask(button(reply, "Undo"))
    assert button(undone, "Undo") == 'follow author:"Rui Mao" at once'


@pytest.mark.parametrize("rhythm", list(Rhythm))
async def test_what_is_said_to_change_the_time_of_what_is_followed_does_so(ada: Asker, rhythm: Rhythm) -> None:
    reply = await ada.ask(f'follow author:"Rui Mao" {rhythm}')
    (before,) = await ada.here()
    await ada.ask(reply.next_steps[0].split("*")[1])
    after = await ada.here()
    if rhythm is Rhythm.AT_ONCE:
        assert "posts besides" in reply.next_steps[0]
        assert {each.rhythm for each in after} == {Rhythm.AT_ONCE, Rhythm.DAILY}
    else:
        assert "changes when" in reply.next_steps[0]
        assert [(each.id, each.rhythm) for each in after] == [(before.id, rhythm)]
        assert after[0].schedule != before.schedule


async def test_status_and_home_and_why_know_that_it_has_no_time(ada: Asker) -> None:
    await ada.ask("subscribe kv at once")
    assert "Next digest: as soon as something that fits has come in." in said(await ada.ask("status"))
    page = await home(ada.context, ada.actor, ["C1"], ada.now)
    assert "next" not in page.subscriptions[0].line
    assert page.subscriptions[0].rhythm is Rhythm.AT_ONCE
    await ada.ask("why 2603.00001 for kv")
    await ada.ask("now kv")


async def test_the_form_shows_it_and_takes_it_back(ada: Asker) -> None:
    await ada.ask("subscribe kv at once")
    form = await subscribe_form(ada.context, ada.actor, "kv", ada.now)
    assert form.at_once
    assert (await submit(ada.context, form, form, ada.actor, ada.now)).title == "Nothing was changed"


async def test_a_workspace_settles_how_many_messages_a_day(ada: Asker) -> None:
    assert "Up to 5 a day in a channel, as is usual." in said(await ada.ask("settings at-once"))
    assert "Up to 3 a day in a channel." in said(await ada.ask("settings at-once 3"))
    assert "3 messages a day in the channel" in said(await ada.ask("subscribe kv at once"))
    with pytest.raises(UsageError, match="1 to 50 messages a day"):
        await ada.ask("settings at-once off")
    await ada.ask("settings at-once default")


async def test_post_posts_what_waits(ada: Asker) -> None:
    await ada.ask("subscribe kv at once")
    reply = await ada.ask("post kv")
    assert "as soon as something that fits has come in" in said(reply)
