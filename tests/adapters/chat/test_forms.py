"""Which texts open a form, and beside which answers one is offered."""

import pytest

from adapters.chat.forms import FormKind, FormRequest, follow_up_form, form_asked_for
from bot.commands import read

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
        ("subscribe kv weekdays", FormRequest(SUBSCRIBE, "kv")),
    ],
)
def test_beside_what_is_shown_stands_its_form(text: str, form: FormRequest) -> None:
    assert follow_up_form(read(text)) == form


@pytest.mark.parametrize("text", ["search kv", "filter kv set has:code", "nonsense", "topic show"])
def test_beside_other_answers_stands_none(text: str) -> None:
    assert follow_up_form(read(text)) is None
