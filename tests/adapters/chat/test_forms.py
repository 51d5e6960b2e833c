"""Which texts open a form, and beside which answers one is offered."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adapters.chat.forms import (
    FormKind,
    FormRequest,
    follow_up_form,
    form_asked_for,
    form_carried,
    read_filter,
    read_topic,
    topic_texts,
)
from bot.commands import Scope, read
from bot.commands.forms import FilterForm, TopicForm
from bot.errors import UsageError
from bot.models import Interest, Rhythm

SUBSCRIBE, TOPIC, FILTER = FormKind.SUBSCRIPTION, FormKind.TOPIC, FormKind.FILTER


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("subscribe", FormRequest(SUBSCRIBE)),
        ("  Subscribe ", FormRequest(SUBSCRIBE)),
        ("/digest subscribe", FormRequest(SUBSCRIBE)),
        ("follow", FormRequest(SUBSCRIBE)),
        ("topic create", FormRequest(TOPIC)),
        ("new topic", FormRequest(TOPIC)),
        ("topic edit kv-cache", FormRequest(TOPIC, "kv-cache")),
        ('edit topic "KV cache"', FormRequest(TOPIC, "KV cache")),
        ("topics edit kv-cache", FormRequest(TOPIC, "kv-cache")),
    ],
)
def test_a_command_that_says_too_little_opens_its_form(text: str, form: FormRequest) -> None:
    assert form_asked_for(read(text)) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "subscribe kv",
        "topic create kv cache",
        "topic edit",
        'topic edit ""',
        "topic edit kv min 0.4",
        "topics",
        "help subscribe",
        "topic",
        "\ud800",
    ],
)
def test_a_command_that_says_enough_opens_none(text: str) -> None:
    assert form_asked_for(read(text)) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("topic show kv", FormRequest(TOPIC, "kv")),
        ("topic edit kv min 0.4", FormRequest(TOPIC, "kv")),
        ("filter kv", FormRequest(FILTER, "kv")),
        ("filter kv test has:code", FormRequest(FILTER, "kv")),
        ("subscribe kv at 10:00", FormRequest(SUBSCRIBE, "kv")),
        ("subscribe kv weekdays", FormRequest(SUBSCRIBE, "kv", rhythm=Rhythm.DAILY)),
        ("subscribe kv weekly", FormRequest(SUBSCRIBE, "kv", rhythm=Rhythm.WEEKLY)),
        ("subscribe kv monthly on 3", FormRequest(SUBSCRIBE, "kv", rhythm=Rhythm.MONTHLY)),
    ],
)
def test_beside_what_is_shown_stands_its_form(text: str, form: FormRequest) -> None:
    assert follow_up_form(read(text)) == form


@given(st.sampled_from(FormKind), st.text(), st.sampled_from((None, *Rhythm)), st.sampled_from(("", "C1", "Weekly papers")))
def test_what_a_button_carries_of_a_form_is_read_back(
    kind: FormKind, topic: str, rhythm: Rhythm | None, channel: str
) -> None:
    form = FormRequest(kind, topic, rhythm=rhythm, channel=channel)
    assume(rhythm or not topic.startswith(("@", "#")))
    assert form_carried(kind, form.carried) == form


@pytest.mark.parametrize("text", ["search kv", "filter kv set has:code", "nonsense", "topic show"])
def test_beside_other_answers_stands_none(text: str) -> None:
    assert follow_up_form(read(text)) is None


FORM = TopicForm(
    name="kv",
    title="KV cache",
    query="cache",
    interests=(Interest("paging", 2.5), Interest("survey", -1.0)),
    examples=("arxiv:2603.28342", "one more"),
    min_score=0.4,
)


def test_what_stands_in_a_topics_fields_reads_back() -> None:
    assert read_topic(TopicForm(name="kv"), topic_texts(FORM)) == FORM


def test_a_score_may_have_a_comma_and_a_name_is_given_once() -> None:
    read = read_topic(TopicForm(), {**topic_texts(FORM), "name": " moe ", "min": "0,25"})
    assert (read.name, read.min_score) == ("moe", 0.25)
    assert read_topic(FORM, {**topic_texts(FORM), "name": "other"}).name == "kv"


def test_a_title_that_is_not_asked_for_stays() -> None:
    said = {name: text for name, text in topic_texts(FORM).items() if name != "title"}
    assert read_topic(FORM, said).title == "KV cache"


@pytest.mark.parametrize(
    ("field", "text", "told"), [("min", "much", "is no bar"), ("interests", "2.5", "is a weight without words")]
)
def test_what_cannot_be_read_is_told(field: str, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_topic(FORM, {**topic_texts(FORM), field: text})


def test_a_filter_is_read_on_one_line() -> None:
    like = FilterForm(topic="kv")
    assert read_filter(like, " has:code\n -survey ", "here") == replace(like, query="has:code -survey", scope=Scope.HERE)
