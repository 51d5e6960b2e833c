"""The form that searches. Pure."""

from collections.abc import Mapping

from adapters.slack.forms.fields import View, field, line, modal

KIND = "form:search"
_LONGEST = 2000  # characters of a query


def view_of(memory: Mapping[str, str]) -> View:
    """Return the view of the form."""
    query = line(placeholder='"kv cache" stars:>100 sort:new', longest=_LONGEST)
    hint = 'Words, "phrases" and field:value; /digest help query says what else.'
    return modal(KIND, "Search papers", [field("query", "Query", query, optional=False, hint=hint)], memory, submit="Search")
