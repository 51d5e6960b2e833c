"""Forms and commands say the same."""

from dataclasses import replace
from datetime import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import (
    Command,
    CreateTopic,
    EditTopic,
    Filter,
    FilterAction,
    Part,
    Scope,
    Subscribe,
    Usual,
    parse,
    write,
)
from bot.commands.forms import FilterForm, SubscribeForm, TopicForm, commands_of, filled
from bot.errors import Misfit
from bot.models import Interest, Layout, Rhythm, Schedule

KV = SubscribeForm(topic="kv", title="KV cache", subscribed=True, zone="Europe/Zurich", entries=5, filter="-survey")
WEEKDAYS = (0, 1, 2, 3, 4)

_filters = st.sampled_from(("", "-survey", "has:code", "stars:>100  kv", 'ti:"kv cache"'))
_zones = st.sampled_from(("UTC", "Europe/Zurich", "New York"))
_times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
_weekdays = st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days)))


def forms() -> st.SearchStrategy[SubscribeForm]:
    days = _weekdays.map(lambda days: (days, 0)) | st.integers(1, 31).map(lambda day: ((), day)) | st.just(((), 0))
    return st.builds(
        lambda days, **rest: SubscribeForm(topic="kv", weekdays=days[0], month_day=days[1], at_once=days == ((), 0), **rest),
        days,
        subscribed=st.booleans(),
        several=st.booleans(),
        at=_times,
        zone=_zones,
        entries=st.none() | st.integers(1, 50),
        min_score=st.none() | st.floats(0, 1),
        layout=st.none() | st.sampled_from(Layout),
        always=st.booleans(),
        filter=_filters,
    )


def subscribing() -> st.SearchStrategy[Subscribe]:
    weekdays = _weekdays.map(lambda days: {"weekdays": days})
    month = st.integers(1, 31).map(lambda day: {"month_day": day})
    days: st.SearchStrategy[dict[str, Any]] = st.just({}) | weekdays | month | st.just({"at_once": True})
    return st.builds(
        lambda days, **rest: Subscribe(
            topic="kv", **days, **rest | ({"at": None, "always": None} if "at_once" in days else {})
        ),
        days,
        at=st.none() | _times,
        zone=st.just("") | _zones,
        entries=st.none() | st.integers(1, 50) | st.just(Usual.USUAL),
        min_score=st.none() | st.floats(0, 1) | st.just(Usual.USUAL),
        layout=st.none() | st.sampled_from(Layout) | st.just(Usual.USUAL),
        always=st.none() | st.booleans(),
        filter=_filters,
    )


def after(form: SubscribeForm, commands: tuple[Command, ...] | list[Command]) -> SubscribeForm:
    """What stands in the form when these were given."""
    for command in commands:
        if isinstance(command, Subscribe):
            form = filled(form, command)
        else:
            assert isinstance(command, Filter)
            assert (command.topic, command.action, command.scope) == ("kv", FilterAction.CLEAR, Scope.HERE)
            form = replace(form, filter="")
    return form


def plainly(form: SubscribeForm) -> SubscribeForm:
    if form.at_once:  # neither its time counts nor what is done with nothing to post
        form = replace(form, at=time(9), always=False)
    return replace(form, subscribed=True, several=False, filter=" ".join(form.filter.split()))


def rhythm(form: SubscribeForm) -> Rhythm:
    return Schedule(weekdays=form.weekdays, month_day=form.month_day, at_once=form.at_once).rhythm


def standing(before: SubscribeForm, wanted: SubscribeForm) -> SubscribeForm:
    """What the form's commands begin from: what is due more or less often is another one, of which there is none."""
    return before if rhythm(before) is rhythm(wanted) else SubscribeForm(topic="kv")


@given(forms(), subscribing())
def test_a_command_a_form_and_the_forms_commands_mean_the_same(form: SubscribeForm, command: Subscribe) -> None:
    wanted = filled(form, command)
    if not form.subscribed:
        form = SubscribeForm(topic="kv")  # where nothing is subscribed a form shows what would be without a word
        wanted = filled(form, command)
    assert plainly(after(standing(form, wanted), list(commands_of(form, wanted)))) == plainly(wanted)


@given(forms(), forms())
def test_whatever_a_person_makes_of_a_form_comes_true_by_its_commands(form: SubscribeForm, wanted: SubscribeForm) -> None:
    before = form if form.subscribed else SubscribeForm(topic="kv")
    commands = commands_of(before, wanted)
    assert plainly(after(standing(before, wanted), list(commands))) == plainly(wanted)
    assert [parse(write(command)) for command in commands] == list(commands)


@given(forms())
def test_a_form_that_was_left_as_it_was_asks_for_nothing(form: SubscribeForm) -> None:
    wanted = replace(form, subscribed=True)
    assert commands_of(wanted, replace(wanted, title="Another", filter=f" {wanted.filter}\n")) == ()


def test_only_what_was_changed_is_said_of_what_is_subscribed() -> None:
    assert commands_of(KV, replace(KV, at=time(7, 30))) == (Subscribe(topic="kv", at=time(7, 30)),)
    assert commands_of(KV, replace(KV, weekdays=(0, 3))) == (Subscribe(topic="kv", weekdays=(0, 3)),)
    assert commands_of(KV, replace(KV, entries=None)) == (Subscribe(topic="kv", entries=Usual.USUAL),)
    assert commands_of(KV, replace(KV, filter="")) == (Filter("kv", FilterAction.CLEAR, scope=Scope.HERE),)
    assert commands_of(KV, replace(KV, filter=" ", layout=Layout.FULL)) == (
        Filter("kv", FilterAction.CLEAR, scope=Scope.HERE),
        Subscribe(topic="kv", layout=Layout.FULL),
    )


def test_where_the_topic_has_several_here_the_days_tell_which_one_is_changed() -> None:
    one = replace(KV, several=True)
    assert commands_of(one, one) == ()
    assert commands_of(one, replace(one, at=time(7, 30))) == (Subscribe(topic="kv", weekdays=KV.weekdays, at=time(7, 30)),)
    assert commands_of(one, replace(one, filter="")) == (
        Filter("kv", FilterAction.CLEAR, scope=Scope.HERE, rhythm=Rhythm.DAILY),
    )


def test_all_is_said_of_a_form_that_is_due_more_or_less_often_than_what_is_subscribed() -> None:
    (command,) = commands_of(KV, replace(KV, weekdays=(), month_day=15))
    assert write(command) == ("subscribe kv monthly on 15 at 09:00 in Europe/Zurich top 5 quiet if empty filter -survey")


def test_all_is_said_of_what_is_not_subscribed_yet() -> None:
    empty = SubscribeForm(topic="kv")
    (command,) = commands_of(empty, replace(empty, weekdays=WEEKDAYS, zone="Europe/Zurich", entries=7))
    assert write(command) == "subscribe kv weekdays at 09:00 in Europe/Zurich top 7 quiet if empty"


def test_a_form_without_a_day_cannot_be_said() -> None:
    with pytest.raises(Misfit, match="Choose at least one day") as caught:
        commands_of(KV, replace(KV, weekdays=()))
    assert caught.value.field == "days"


# --- topics

TOPIC = TopicForm(
    name="kv",
    title="KV cache",
    query="cache",
    interests=(Interest('"KV cache"', 2.0), Interest("paging", 1.0), Interest("3", 1.0)),
    examples=("arxiv:2603.00001", "a text to be close to"),
    sources=("arxiv",),
    repositories=("kv cache stars:>50",),
    min_score=0.25,
    revision=4,
)


def edit(
    part: Part, value: str, *, revision: int | None = None, remove: bool = False, weight: float | None = None
) -> EditTopic:
    return EditTopic(name="kv", part=part, value=value, weight=weight, remove=remove, revision=revision)


def test_the_first_edit_of_a_topic_is_for_the_revision_that_was_read() -> None:
    assert commands_of(TOPIC, replace(TOPIC, title="Caches", min_score=0.5)) == (
        edit(Part.TITLE, "Caches", revision=4),
        edit(Part.MIN, "0.5"),
    )
    assert commands_of(TOPIC, replace(TOPIC, sources=(), description="Held.")) == (
        edit(Part.DESCRIPTION, "Held.", revision=4),
        edit(Part.SOURCES, "all"),
    )


def test_what_is_gone_is_taken_away_before_anything_is_added_and_a_number_is_meant_as_a_word() -> None:
    wanted = replace(
        TOPIC, interests=(Interest("paging", -2.5), Interest("vLLM")), examples=("arxiv:2603.00002", *TOPIC.examples)
    )
    assert commands_of(TOPIC, wanted) == (
        edit(Part.INTEREST, "3", remove=True, revision=4),  # the third, which is the 3
        edit(Part.INTEREST, '"KV cache"', remove=True),
        edit(Part.INTEREST, "paging", weight=-2.5),
        edit(Part.INTEREST, "vLLM", weight=1.0),
        edit(Part.EXAMPLE, "arxiv:2603.00002"),
    )


def test_order_and_blanks_change_nothing_in_a_topic() -> None:
    same = replace(TOPIC, query=" cache\n", interests=TOPIC.interests[::-1], examples=TOPIC.examples[::-1])
    assert commands_of(TOPIC, same) == ()


def test_a_new_topic_is_made_and_then_edited() -> None:
    new = TopicForm(name="kv", title="KV cache", query="cache", interests=(Interest("paging", 2.0),), min_score=0.1)
    assert commands_of(TopicForm(), new) == (
        CreateTopic("kv", "cache"),
        edit(Part.TITLE, "KV cache"),
        edit(Part.MIN, "0.1"),
        edit(Part.INTEREST, "paging", weight=2.0),
    )
    assert commands_of(TopicForm(), TopicForm(name="kv", title=" ", query="cache")) == (CreateTopic("kv", "cache"),)


def test_a_new_topic_without_a_name_cannot_be_said() -> None:
    with pytest.raises(Misfit, match="needs a name") as caught:
        commands_of(TopicForm(), TopicForm(query="cache"))
    assert caught.value.field == "name"


# --- filters


def test_a_filter_form_sets_and_clears_the_filter_of_its_scope() -> None:
    form = FilterForm(topic="kv", subscribed=True, scope=Scope.HERE, query="-survey")
    assert commands_of(form, replace(form, query="  -survey ")) == ()
    assert commands_of(form, replace(form, query="has:code")) == (Filter("kv", FilterAction.SET, "has:code", Scope.HERE),)
    assert commands_of(form, replace(form, query="")) == (Filter("kv", FilterAction.CLEAR, scope=Scope.HERE),)
    assert commands_of(form, replace(form, scope=Scope.TOPIC)) == (Filter("kv", FilterAction.SET, "-survey", Scope.TOPIC),)


def test_two_kinds_of_form_are_no_change() -> None:
    with pytest.raises(ValueError, match="two kinds"):
        commands_of(KV, TOPIC)
