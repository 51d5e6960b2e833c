"""Forms as they stand, and what a person made of them, done: the same as by the commands."""

from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest
from hypothesis import assume, given, settings

from bot.commands import Scope, Subscribe
from bot.commands.forms import FilterForm, SubscribeForm, TopicForm, commands_of, filled
from bot.errors import Conflict, Misfit, UsageError
from bot.handlers.surfaces.forms import count_matching, filter_form, submit, subscribe_form, topic_form
from bot.models import Interest, Layout, Reply, Subscription
from bot.query import parse
from tests.bot.commands.test_forms import forms, rhythm, subscribing
from tests.bot.handlers.askers import Asker, asker, changes, topic
from tests.conftest import NOW, tries
from tests.stores.memory import MemoryStore


async def of_subscription(ada: Asker, name: str = "kv") -> SubscribeForm:
    return await subscribe_form(ada.context, ada.actor, name, ada.now)


async def send(ada: Asker, before: SubscribeForm | TopicForm | FilterForm, **said: object) -> Reply:
    return await submit(ada.context, before, replace(before, **said), ada.actor, ada.now)  # type: ignore[arg-type]


async def subscription(ada: Asker) -> Subscription:
    return (await ada.here())[0]


# --- subscriptions


async def test_a_form_shows_what_would_be_subscribed_in_the_persons_zone(ada: Asker) -> None:
    empty = await of_subscription(ada.by(zone="Europe/Zurich"), "KV cache")
    assert empty == SubscribeForm(topic="kv", title="KV cache", zone="Europe/Zurich")
    await ada.by(may_administer=True).ask("settings zone Asia/Tokyo")
    assert (await of_subscription(ada.by(zone="Europe/Zurich"))).zone == "Asia/Tokyo"


async def test_a_form_shows_how_the_channel_is_subscribed(ada: Asker) -> None:
    await ada.ask("subscribe kv monthly on 15 at 07:30 in Europe/Zurich top 3 min 0.4 full always filter has:code  -survey")
    form = await of_subscription(ada)
    assert form == SubscribeForm(
        topic="kv",
        title="KV cache",
        subscribed=True,
        weekdays=(),
        month_day=15,
        at=time(7, 30),
        zone="Europe/Zurich",
        entries=3,
        min_score=0.4,
        layout=Layout.FULL,
        always=True,
        filter="has:code -survey",
    )
    assert await of_subscription(ada.by(channel="C2")) == SubscribeForm(topic="kv", title="KV cache")


async def test_a_form_of_no_topic_is_refused(ada: Asker) -> None:
    with pytest.raises(UsageError, match="There is no topic"):
        await of_subscription(ada, "nothing")


async def test_sending_a_form_subscribes_and_sending_it_again_changes_what_was_changed(ada: Asker) -> None:
    reply = await send(ada, await of_subscription(ada), weekdays=(0, 2), at=time(8), entries=3, filter="has:code")
    assert reply.title == "Subscribed to KV cache"
    form = await of_subscription(ada)
    assert (form.weekdays, form.at, form.entries, form.filter) == ((0, 2), time(8), 3, "has:code")
    await ada.ask("subscribe kv full")  # by somebody else, while the form is open
    reply = await send(ada, form, entries=None, filter="")
    assert reply.title == "Cleared the filter of KV cache in this channel"
    assert reply.text == ("Changed the subscription to KV cache.",)
    assert {field.name: field.value for field in reply.fields}["Filter"] == "none"
    assert [each.label for each in reply.buttons] == ["Preview", "Pause", "Unsubscribe", "Try the filter"]
    form = await of_subscription(ada)
    assert (form.entries, form.filter, form.layout) == (None, "", Layout.FULL)
    assert (await send(ada, form)).title == "Nothing was changed"


@settings(max_examples=tries(40), deadline=None)
@given(forms(), subscribing())
async def test_a_command_and_the_form_that_says_the_same_subscribe_alike(made: SubscribeForm, command: Subscribe) -> None:
    by_command, by_form = asker(MemoryStore(), NOW), asker(MemoryStore(), NOW)
    for each in (by_command, by_form):
        if made.subscribed:
            await submit(each.context, SubscribeForm(topic="kv"), made, each.actor, each.now)
    before = await of_subscription(by_form)
    assume(not made.subscribed or rhythm(before) is rhythm(filled(before, command)))  # else a form tells all of another one
    # A command is refused what is not for posting at once; a form that says both leaves it out.
    assume(not (filled(before, command).at_once and (command.at or command.always)))
    await by_command.give(command)
    for asked in commands_of(before, filled(before, command)):
        await by_form.give(asked)
    one, other = await subscription(by_command), await subscription(by_form)
    assert plainly(one) == plainly(other)


def plainly(made: Subscription) -> Subscription:
    return replace(made, id="", revision=0, filter=parse(" ".join(made.filter.text.split())))


@pytest.mark.parametrize(
    ("field", "said", "sentence"),
    [
        ("days", {"weekdays": ()}, "Choose at least one day"),
        ("zone", {"zone": "CET"}, "stands for an offset"),
        ("filter", {"filter": "stars:>many"}, "stars"),
        ("filter", {"filter": "sort:new"}, "belong to a search"),
        ("entries", {"entries": 51}, "1 to 50"),
        ("entries", {"entries": 0}, "1 to 50"),
        ("min", {"min_score": -0.1}, "between 0 and 1"),
        ("min", {"min_score": 1.5}, "between 0 and 1"),
    ],
)
async def test_what_cannot_be_is_told_at_its_field_and_nothing_is_written(
    ada: Asker, field: str, said: dict[str, object], sentence: str
) -> None:
    with pytest.raises(Misfit, match=sentence) as caught:
        await send(ada, await of_subscription(ada), **said)
    assert caught.value.field == field
    assert await ada.here() == []


@pytest.mark.parametrize("said", [{"entries": 1}, {"entries": 50}, {"min_score": 0.0}, {"min_score": 1.0}])
async def test_a_form_takes_the_least_and_the_most_that_can_be(ada: Asker, said: dict[str, object]) -> None:
    await send(ada, await of_subscription(ada), **said)

    (made,) = await ada.here()
    assert {name: getattr(made, name) for name in said} == said


async def test_who_may_not_manage_cannot_by_a_form(ada: Asker) -> None:
    await ada.by(may_administer=True).ask("settings manage admins")
    with pytest.raises(UsageError, match="Only administrators"):
        await send(ada, await of_subscription(ada), entries=3)


# --- topics


async def test_a_new_topic_is_made_by_a_form(ada: Asker) -> None:
    form = TopicForm(
        name="paging",
        title="Paging the cache",
        query="cache",
        interests=(Interest("paging", 2.0),),
        examples=("2603.00001",),
        sources=("arxiv",),
        min_score=0.1,
        description="Held.",
    )
    reply = await submit(ada.context, await topic_form(ada.context, ada.actor, ""), form, ada.actor, ada.now)
    assert reply.title == "Made the topic Paging the cache (paging)"
    assert reply.text == ("3 of the 5 items of the last 7 days enter it; the best:",)
    assert len(reply.entries) == 3
    assert [each.label for each in reply.buttons] == ["Subscribe", "Show", "Delete"]
    made = await topic_form(ada.context, ada.actor, "paging")
    assert made == replace(form, examples=("arxiv:2603.00001",), revision=7)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("name", {"name": "kv"}),
        ("name", {"name": "Not A Name"}),
        ("name", {"name": " "}),
        ("query", {"query": ""}),
        ("query", {"query": "stars:>many"}),
        ("title", {"title": "x" * 81}),
        ("interest", {"interests": (Interest("paging", 11.0),)}),
        ("interest", {"interests": (Interest("paging"), Interest("stars:>many"))}),
        ("example", {"examples": ("arxiv:1999.00001",)}),
        ("sources", {"sources": ("nowhere",)}),
        ("min", {"min_score": 2.0}),
    ],
)
async def test_a_topic_that_cannot_be_is_told_at_its_field_and_not_half_made(
    ada: Asker, field: str, said: dict[str, object]
) -> None:
    form = replace(TopicForm(name="paging", query="cache", title="Paging"), **said)  # type: ignore[arg-type]
    with pytest.raises(Misfit) as caught:
        await submit(ada.context, TopicForm(), form, ada.actor, ada.now)
    assert caught.value.field == field
    assert await ada.context.store.workspaces.topics(ada.actor.workspace) == {}


async def test_a_form_edits_a_topic_as_its_commands_would(ada: Asker) -> None:
    form = await topic_form(ada.context, ada.actor, "kv")
    assert form.revision == 0
    await send(ada, form, title="Caches", interests=(Interest("paging", -1.0), Interest("vLLM")), examples=())
    changed = await topic(ada)
    assert changed.title == "Caches"
    assert changed.interests == (Interest("paging", -1.0), Interest("vLLM"))
    assert changed.examples == ()
    assert await topic_form(ada.context, ada.actor, "kv") == replace(
        form, title="Caches", interests=changed.interests, examples=(), revision=changed.revision
    )


async def test_a_form_that_was_opened_before_somebody_changed_the_topic_changes_nothing(ada: Asker) -> None:
    form = await topic_form(ada.context, ada.actor, "kv")
    await ada.by(person="U-bob").ask("topic edit kv remove interest 1")
    before = await topic(ada)
    with pytest.raises(Conflict, match="by U-bob"):
        await send(ada, form, interests=(Interest("paging", 3.0),), title="Caches")
    assert await topic(ada) == before


async def test_an_edit_that_fails_its_trial_leaves_all_as_it_was(ada: Asker) -> None:
    form = await topic_form(ada.context, ada.actor, "kv")
    with pytest.raises(Misfit) as caught:
        await send(ada, form, title="Caches", query="(")
    assert caught.value.field == "query"
    assert await changes(ada) == []


# --- filters


async def test_a_filter_form_is_that_of_the_channel_where_it_subscribes_else_of_the_topic(ada: Asker) -> None:
    await ada.ask("filter kv everywhere set -survey")
    form = await filter_form(ada.context, ada.actor, "kv")
    assert form == FilterForm(topic="kv", title="KV cache", query="-survey")
    await ada.ask("subscribe kv filter has:code")
    form = await filter_form(ada.context, ada.actor, "kv")
    assert form == FilterForm(topic="kv", title="KV cache", subscribed=True, scope=Scope.HERE, query="has:code")


async def test_a_filter_form_sets_clears_and_is_refused_at_its_query(ada: Asker) -> None:
    form = await filter_form(ada.context, ada.actor, "kv")
    assert (await send(ada, form, query="has:code")).title == "Changed the filter of KV cache everywhere"
    form = await filter_form(ada.context, ada.actor, "kv")
    assert (await send(ada, form, query="")).title == "Cleared the filter of KV cache everywhere"
    with pytest.raises(Misfit) as caught:
        await send(ada, await filter_form(ada.context, ada.actor, "kv"), query="stars:>many")
    assert caught.value.field == "query"


# --- what a query lets in


async def test_how_many_items_a_query_lets_in_is_told_in_a_sentence(ada: Asker) -> None:
    async def told(query: str, now: datetime = ada.now) -> str:
        return await count_matching(ada.context, ada.actor, query, now)

    assert await told("cache") == "3 of the 5 items of the last 7 days enter it."
    assert await told("blockchain") == "1 of the 5 items of the last 7 days enters it."
    assert await told("*") == "5 of the 5 items of the last 7 days enter it."
    assert await told("zebra") == "None of the 5 items of the last 7 days enters it."
    assert (await told("cache", ada.now + timedelta(days=30))).startswith("Nothing was collected in the last 7 days")


@pytest.mark.parametrize("query", ["", "stars:>many", "cache sort:new"])
async def test_a_query_that_cannot_be_a_topics_is_refused(ada: Asker, query: str) -> None:
    with pytest.raises(UsageError):
        await count_matching(ada.context, ada.actor, query, ada.now)


async def test_a_form_of_one_of_several_changes_that_one(ada: Asker) -> None:
    await ada.ask("subscribe kv weekdays at 08:00 filter has:code")
    await ada.ask("subscribe kv weekly")
    weekly = (await ada.here())[1]

    form = await subscribe_form(ada.context, ada.actor, "kv", ada.now)
    assert (form.several, form.weekdays, form.filter) == (True, (0, 1, 2, 3, 4), "has:code")
    await submit(ada.context, form, replace(form, at=time(7), filter=""), ada.actor, ada.now)

    daily, beside = await ada.here()
    assert (daily.schedule.at, daily.filter.text, beside) == (time(7), "", weekly)
    assert (await filter_form(ada.context, ada.actor, "kv")).scope is Scope.TOPIC
