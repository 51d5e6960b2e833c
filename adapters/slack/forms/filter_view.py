"""The form that sets a filter and tries it: form to view, and what a person said in it back to a form. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.slack.forms.fields import BLOCKS, Block, Said, View, field, line, modal, note, one_of, words
from bot.commands import Scope
from bot.commands.forms import FilterForm

KIND = "form:filter"
TEST = "test"
_LONGEST = 2000  # characters of a query


def view_of(form: FilterForm, memory: Mapping[str, str], outcome: Sequence[Block] = ()) -> View:
    """Return the view of the form, with what came of trying the filter under it."""
    here = [(Scope.HERE, "This channel's subscription")] if form.subscribed else []
    scopes = one_of([*here, (Scope.TOPIC, "The topic, in every channel")], form.scope)
    query = line(form.query, placeholder="has:code -survey", multiline=True, longest=_LONGEST)
    button = {"type": "button", "action_id": TEST, "text": words("Test", 75), "value": TEST}
    blocks = [
        note("about", f"*{form.title}*: what an item must satisfy to be posted."),
        field("query", "Filter", query, hint="Empty: all that fits the topic. /digest help query says how."),
        field("scope", "Whose", scopes, optional=False),
        {"type": "actions", "block_id": f"{TEST}|", "elements": [button]},
    ]
    return modal(KIND, "Filter", [*blocks, *outcome][:BLOCKS], memory, submit="Save")


def form_said(said: Mapping[str, Said], like: FilterForm) -> FilterForm:
    """Return the form with what is said in its fields."""
    query, scope = said["query"], said["scope"]
    return replace(like, query=" ".join(query.split()) if isinstance(query, str) else "", scope=Scope(str(scope)))
