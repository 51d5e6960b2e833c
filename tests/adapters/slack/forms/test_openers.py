"""Which texts open a form, and beside which answers one is offered."""

import pytest

from adapters.slack.forms.openers import Form, form_beside, form_meant

SUBSCRIBE, TOPIC, FILTER = "form:subscribe", "form:topic", "form:filter"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("subscribe", Form(SUBSCRIBE)),
        ("  Subscribe ", Form(SUBSCRIBE)),
        ("/digest subscribe", Form(SUBSCRIBE)),
        ("follow", Form(SUBSCRIBE)),
        ("topic create", Form(TOPIC)),
        ("new topic", Form(TOPIC)),
        ("topic edit kv-cache", Form(TOPIC, "kv-cache")),
        ('edit topic "KV cache"', Form(TOPIC, "KV cache")),
    ],
)
def test_a_command_that_says_too_little_opens_its_form(text: str, form: Form) -> None:
    assert form_meant(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "subscribe kv",
        "topic create kv cache",
        "topic edit",
        "topic edit kv min 0.4",
        "topics",
        "help subscribe",
        "topic",
        "\ud800",
    ],
)
def test_a_command_that_says_enough_opens_none(text: str) -> None:
    assert form_meant(text) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("topic show kv", Form(TOPIC, "kv")),
        ("topic edit kv min 0.4", Form(TOPIC, "kv")),
        ("filter kv", Form(FILTER, "kv")),
        ("filter kv test has:code", Form(FILTER, "kv")),
        ("subscribe kv weekdays", Form(SUBSCRIBE, "kv")),
    ],
)
def test_beside_what_is_shown_stands_its_form(text: str, form: Form) -> None:
    assert form_beside(text) == form


@pytest.mark.parametrize("text", ["search kv", "filter kv set has:code", "nonsense", "topic show"])
def test_beside_other_answers_stands_none(text: str) -> None:
    assert form_beside(text) is None
