"""The form that makes or edits a topic: form to view, and what a person said in it back to a form. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.forms import interest_line, lines, read_interest
from adapters.slack.forms.fields import Block, Said, View, field, line, modal, note, number, some_of
from bot.commands.forms import TopicForm
from bot.models import LONGEST_TITLE, MOST_WEIGHT

KIND = "form:topic"
_NAME = 40  # characters
_LONGEST = 2000  # characters of a query
COUNT = "count"  # the line under the query


def view_of(form: TopicForm, sources: Mapping[str, str], memory: Mapping[str, str], count: str = "") -> View:
    """Return the view of the form; `sources` are their names for people by their names, `count` what the query lets in."""
    name = line(placeholder="kv-cache", longest=_NAME)
    named = [] if form.name else [field("name", "Name", name, optional=False, hint="Lower case, digits and hyphens.")]
    blocks = [*named, *_who(form, count), *_what(form, sources)]
    title, submit = ("Edit a topic", "Save") if form.name else ("Create a topic", "Create")
    return modal(KIND, title, blocks, memory, submit=submit)


def remembered(form: TopicForm) -> dict[str, str]:
    """Return what the view has to remember of the form: which topic it edits, and in which revision."""
    return {"topic": form.name, "revision": "" if form.revision is None else str(form.revision)}


def as_remembered(form: TopicForm, memory: Mapping[str, str]) -> TopicForm:
    """Return the form in the revision in which the person was shown it."""
    return replace(form, revision=int(memory["revision"]) if memory["revision"] else None)


def _who(form: TopicForm, count: str) -> list[Block]:
    query = line(form.query, placeholder='"kv cache" OR "paged attention"', multiline=True, longest=_LONGEST)
    query["dispatch_action_config"] = {"trigger_actions_on": ["on_character_entered", "on_enter_pressed"]}
    return [
        field("title", "Title", line(form.title, longest=LONGEST_TITLE)),
        field("query", "Query: who enters", query, optional=False, hint='Words and "phrases", OR, -not, field:value.'),
        note(COUNT, count or "How many items of the last week enter it is said here as you type."),
    ]


def _what(form: TopicForm, sources: Mapping[str, str]) -> list[Block]:
    interests = line("\n".join(map(interest_line, form.interests)), multiline=True, placeholder='2.5 "prefix caching"')
    hint = f"One a line. A weight from -{MOST_WEIGHT:g} to {MOST_WEIGHT:g} may stand before it; below 0: not wanted."
    examples = line("\n".join(form.examples), multiline=True, placeholder="2606.01234")
    searches = line("\n".join(form.repositories), multiline=True, placeholder="topic:kv-cache stars:>50")
    # Every source, and those of the topic that are not there any more.
    known = {**sources, **{name: name for name in form.sources if name not in sources}}
    least = f"{form.min_score:g}" if form.min_score else ""
    return [
        field("interest", "Interests: what ranks high", interests, hint=hint),
        field("example", "Examples", examples, hint="One a line: papers and repositories, or texts to be close to."),
        *([field("sources", "Sources", _ticked(known, form), hint="None ticked: all of them.")] if known else []),
        field("min", "Least score", number(least, "0", "1", decimal=True), hint="From 0 to 1."),
        field("description", "Description", line(form.description)),
        field("repositories", "GitHub searches", searches, hint="One a line: repositories that they find are collected."),
    ]


def _ticked(sources: Mapping[str, str], form: TopicForm) -> dict[str, Any]:
    return some_of(list(sources.items()), form.sources, "multi_static_select")


def form_said(said: Mapping[str, Said], like: TopicForm) -> TopicForm:
    """Return the form with what is said in its fields. Raises UsageError for a line that cannot be read."""
    return replace(
        like,
        name=like.name or _text(said["name"]).strip(),
        title=_text(said["title"]).strip(),
        description=_text(said["description"]).strip(),
        query=" ".join(_text(said["query"]).split()),
        interests=tuple(map(read_interest, _lines(said["interest"]))),
        examples=_lines(said["example"]),
        sources=tuple(said.get("sources", like.sources)),
        min_score=float(_text(said["min"]) or 0),
        repositories=_lines(said["repositories"]),
    )


def _lines(said: Said) -> tuple[str, ...]:
    return lines(_text(said))


def _text(said: Said) -> str:
    return said if isinstance(said, str) else ""
