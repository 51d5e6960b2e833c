"""Forms and views: what is shown is what was meant, and what is said is what was typed."""

import copy
from datetime import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.forms.fields import block_of, entered_values, initial_values, memory_of, note, replace_block
from adapters.slack.forms.views import (
    COUNT,
    filter_view,
    is_whole,
    read_filter,
    read_subscription,
    read_topic,
    subscribe_view,
    topic_memory,
    topic_view,
)
from bot.commands import Scope
from bot.commands.forms import FilterForm, SubscribeForm, TopicForm
from bot.errors import UsageError
from bot.models import MOST_ENTRIES, Interest, Layout
from tests.fakes.slack.blocks import check_view
from tests.fakes.slack.inputs import first_values, found, state

SOURCES = {"arxiv": "arXiv", "github": "GitHub"}
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
lines = st.lists(words, min_size=1, max_size=4).map(" ".join)
texts = st.one_of(st.just(""), lines)
scores = st.integers(0, 100).map(lambda hundredth: hundredth / 100)
days = st.one_of(
    st.tuples(st.sets(st.integers(0, 6), min_size=1).map(lambda each: tuple(sorted(each))), st.just(0)),
    st.tuples(st.just(()), st.integers(1, 31)),
)
clauses = lines.filter(lambda text: not _is_number(text.split()[0]))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@st.composite
def subscriptions(draw: st.DrawFn) -> SubscribeForm:
    weekdays, month_day = draw(days)
    return SubscribeForm(
        topic="kv",
        title="KV cache",
        subscribed=draw(st.booleans()),
        weekdays=weekdays,
        month_day=month_day,
        at=time(draw(st.integers(0, 23)), draw(st.integers(0, 59))),
        zone=draw(st.sampled_from(["UTC", "Europe/Zurich", "America/Argentina/ComodRivadavia"])),
        entries=draw(st.one_of(st.none(), st.integers(1, MOST_ENTRIES))),
        min_score=draw(st.one_of(st.none(), scores)),
        layout=draw(st.none() | st.sampled_from(Layout)),
        always=draw(st.booleans()),
        filter=draw(texts),
    )


topics = st.builds(
    TopicForm,
    name=st.just("kv"),
    title=texts,
    description=texts,
    query=lines,
    interests=st.lists(
        st.builds(Interest, clauses, st.integers(-100, 100).map(lambda tenth: tenth / 10)), max_size=4, unique=True
    ).map(tuple),
    examples=st.lists(lines, max_size=4, unique=True).map(tuple),
    sources=st.lists(st.sampled_from(["arxiv", "github", "feed:gone"]), unique=True).map(lambda each: tuple(sorted(each))),
    min_score=scores,
    repositories=st.lists(lines, max_size=3, unique=True).map(tuple),
    revision=st.integers(0, 9),
)


def untouched(view: dict[str, Any]) -> dict[str, Any]:
    """The view as it comes back from somebody who changed nothing."""
    return {**view, "state": {"values": first_values(view["blocks"])}}


@given(subscriptions())
def test_a_subscription_that_is_sent_untouched_is_the_one_that_was_shown(form: SubscribeForm) -> None:
    view = subscribe_view(form, "C1", {})
    check_view(view)
    blank = SubscribeForm(topic="kv", title="KV cache", subscribed=form.subscribed)
    assert read_subscription(entered_values(untouched(view)), blank) == form
    assert read_subscription(initial_values(view), blank) == form


@given(topics)
def test_a_topic_that_is_sent_untouched_is_the_one_that_was_shown(form: TopicForm) -> None:
    view = topic_view(form, SOURCES, topic_memory(form))
    check_view(view)
    blank = TopicForm(name="kv", revision=form.revision)
    assert read_topic(entered_values(untouched(view)), blank) == form


@given(texts, st.sampled_from(Scope))
def test_a_filter_that_is_sent_untouched_is_the_one_that_was_shown(query: str, scope: Scope) -> None:
    form = FilterForm(topic="kv", title="KV cache", subscribed=True, scope=scope, query=query)
    view = filter_view(form, {})
    check_view(view)
    assert read_filter(entered_values(untouched(view)), FilterForm(topic="kv", title="KV cache", subscribed=True)) == form


def typed(view: dict[str, Any], **values: object) -> dict[str, Any]:
    """The view as it comes back when this was typed into its fields."""
    sent = copy.deepcopy(untouched(view))
    for name, value in values.items():
        block, element = found(view["blocks"], name)
        sent["state"]["values"][block["block_id"]][name] = state(element, value)
    return sent


def test_a_day_of_the_month_takes_the_place_of_the_days_that_are_ticked() -> None:
    form = SubscribeForm(topic="kv")
    sent = typed(subscribe_view(form, "C1", {}), month_day="15")
    assert (
        read_subscription(entered_values(sent), form).weekdays,
        read_subscription(entered_values(sent), form).month_day,
    ) == (
        (),
        15,
    )


def test_no_day_at_all_is_what_was_said() -> None:
    form = SubscribeForm(topic="kv")
    sent = typed(subscribe_view(form, "C1", {}), days=[])
    after = read_subscription(entered_values(sent), form)
    assert (after.weekdays, after.month_day) == ((), 0)


def test_another_topic_or_channel_shows_its_fields_anew_but_not_the_choice_itself() -> None:
    names = [
        {block["block_id"] for block in subscribe_view(SubscribeForm(topic=topic), channel, {})["blocks"]}
        for topic, channel in (("kv", "C1"), ("gpu", "C1"), ("kv", "C2"))
    ]
    assert names[0] & names[1] == names[0] & names[2] == {"topic|", "channel|"}


def test_until_a_topic_is_chosen_nothing_else_is_asked() -> None:
    view = subscribe_view(None, "", {})
    check_view(view)
    assert [block["block_id"] for block in view["blocks"]] == ["topic|", "channel|"]
    assert not is_whole(entered_values(untouched(view)))
    assert is_whole(entered_values(untouched(subscribe_view(SubscribeForm(topic="kv"), "C1", {}))))


@pytest.mark.parametrize(
    ("line", "interest"),
    [
        ("prefix caching", Interest("prefix caching")),
        ('2.5 "prefix caching"', Interest('"prefix caching"', 2.5)),
        ("-3 survey", Interest("survey", -3.0)),
        ("3d gaussians", Interest("3d gaussians")),
    ],
)
def test_a_weight_may_stand_before_an_interest(line: str, interest: Interest) -> None:
    form = TopicForm(name="kv", query="cache")
    sent = typed(topic_view(form, SOURCES, {}), interest=f"\n {line} \n\n")
    assert read_topic(entered_values(sent), form).interests == (interest,)


def test_a_weight_alone_is_no_interest() -> None:
    form = TopicForm(name="kv", query="cache")
    with pytest.raises(UsageError, match="is a weight without words"):
        read_topic(entered_values(typed(topic_view(form, SOURCES, {}), interest="2.5")), form)


def test_a_new_topic_is_asked_for_its_name_and_a_known_one_is_not() -> None:
    new = topic_view(TopicForm(), SOURCES, {})
    check_view(new)
    assert read_topic(entered_values(typed(new, name=" moe ", query="moe")), TopicForm()).name == "moe"
    known = topic_view(TopicForm(name="kv", query="cache"), SOURCES, {})
    assert "name|" not in {block["block_id"] for block in known["blocks"]}


def test_where_no_source_is_configured_none_is_asked_for() -> None:
    form = TopicForm(name="kv", query="cache")
    view = topic_view(form, {}, {})
    check_view(view)
    assert read_topic(entered_values(untouched(view)), form).sources == ()


def test_a_line_of_a_view_is_changed_and_nothing_else_of_it() -> None:
    view = {**topic_view(TopicForm(name="kv", query="cache"), SOURCES, {"topic": "kv"}), "id": "V1", "hash": "1"}
    changed = replace_block(view, note(COUNT, "3 of the 9 items enter it; <!channel> *boldly*."))
    check_view(changed)
    assert "id" not in changed
    assert memory_of(changed) == {"topic": "kv"}
    differing = [new for old, new in zip(view["blocks"], changed["blocks"], strict=True) if old != new]
    assert [each["block_id"] for each in differing] == ["count|"]
    assert differing[0]["elements"][0]["text"] == "3 of the 9 items enter it; &lt;!channel&gt; *boldly*."


def test_a_fault_stands_at_its_field_and_one_of_none_at_the_first() -> None:
    view = subscribe_view(SubscribeForm(topic="kv"), "C1", {})
    assert block_of(view, "filter") == "filter|C1:kv"
    assert block_of(view, "elsewhere") == "topic|"
