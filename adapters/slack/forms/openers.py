"""What opens a form: a command that says too little to be done, and the buttons beside those that say enough. Pure."""

from dataclasses import dataclass
from typing import Any

from adapters import forms
from adapters.slack.forms import filter_view, subscribe_view, topic_view
from adapters.slack.forms.fields import words
from bot.commands import BY_NAME, CreateTopic, EditTopic, Subscribe, help_for
from bot.commands.verb import opened

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
_ALONE = {Subscribe: subscribe_view.KIND, CreateTopic: topic_view.KIND}


def form_meant(text: str) -> Form | None:
    """Return the form that the text asks for: `subscribe` or `topic create` alone, `topic edit` with a topic alone."""
    if (usage := help_for(text)) is None or usage.command not in (*_ALONE, EditTopic):
        return None
    said = _words(text)
    for length in (2, 1):
        known = BY_NAME.get(" ".join(said[:length]).lower())
        if known is not usage:
            continue
        rest = said[length:]
        if usage.command in _ALONE:
            return None if rest else Form(_ALONE[usage.command])
        return Form(topic_view.KIND, rest[0]) if len(rest) == 1 else None
    return None


def _words(text: str) -> list[str]:
    """The first words of the text behind our own name; a form's command has three at most."""
    said = opened(text)
    found: list[str] = []
    while len(found) < 4 and (word := said.next()) is not None:
        found.append(word.text)
    return found


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
