"""What opens a form: a command that says too little to be done, and the buttons beside those that say enough. Pure."""

from dataclasses import dataclass
from typing import Any

from adapters import forms
from adapters.slack.forms import filter_view, subscribe_view, topic_view
from adapters.slack.forms.fields import words
from bot.commands import parse
from bot.errors import Incomplete, UsageError

_LABEL = 75  # characters of a button


@dataclass(frozen=True, slots=True)
class Form:
    """A form, and the topic that it is about, "" for one to be chosen or made."""

    kind: str
    topic: str = ""


_VIEWS = {
    forms.Kind.SUBSCRIPTION: subscribe_view.KIND,
    forms.Kind.TOPIC: topic_view.KIND,
    forms.Kind.FILTER: filter_view.KIND,
}


def form_meant(text: str) -> Form | None:
    """Return the form that the text asks for: `subscribe` or `topic create` alone, `topic edit` with a topic alone."""
    try:
        parse(text)
    except Incomplete as error:
        return Form(_VIEWS[forms.Kind(error.form)], error.topic)
    except UsageError:
        pass
    return None


def form_beside(text: str) -> Form | None:
    """Return the form in which one may go on with what a command showed or did; None where there is none."""
    meant = forms.form_beside(text)
    return Form(_VIEWS[meant.of], meant.topic) if meant else None


def beside(form: Form | None) -> tuple[dict[str, Any], ...]:
    """Return what stands at the end of an answer for the form, nothing for none."""
    return (row("form:0", opener(form, forms.CHANGE)),) if form else ()


def opener(form: Form, label: str) -> dict[str, Any]:
    """Return a button that opens the form."""
    button = {"type": "button", "action_id": form.kind, "text": words(label, _LABEL)}
    return button | ({"value": form.topic} if form.topic else {})


def row(block: str, *buttons: dict[str, Any]) -> dict[str, Any]:
    """Return a row of buttons."""
    return {"type": "actions", "block_id": block, "elements": list(buttons)}
