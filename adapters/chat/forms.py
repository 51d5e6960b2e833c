"""Forms as every chat has them: which belongs to a command, what its fields are called, what stands in them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import quote, unquote

from adapters.text import clean
from bot.commands import (
    Command,
    EditTopic,
    Filter,
    FilterAction,
    Scope,
    ShowTopic,
    Subscribe,
    Unreadable,
)
from bot.commands.forms import FilterForm, TopicForm
from bot.commands.words import is_mail_place
from bot.errors import Incomplete, UsageError
from bot.models import Interest, Rhythm, Schedule

FORM_LABEL = "Change in a form"  # on the button that opens one
_CARRIED = re.compile(rf"(?:#(?P<channel>\S+) )?(?:@(?P<rhythm>{'|'.join(Rhythm)}) )?(?P<topic>.*)", re.DOTALL)


class FormKind(StrEnum):
    """What a form is of."""

    SUBSCRIPTION = "subscription"
    TOPIC = "topic"
    FILTER = "filter"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class FormRequest:
    """A form, and the topic that it is about, "" for one to be chosen or made.

    `rhythm` tells which of a channel's subscriptions to the topic is meant; without it, the first of them is. `channel` is
    the one that it is for, as it was named, "" for that in which it is opened.
    """

    kind: FormKind
    topic: str = ""
    kept: str = ""  # key of what somebody said in it that did not work, to go on from there
    rhythm: Rhythm | None = None
    label: str = FORM_LABEL  # what a button says that opens it
    channel: str = ""

    @property
    def carried(self) -> str:
        """What a button carries of it beside the kind; `form_carried` reads it."""
        channel = f"#{quote(self.channel)} " if self.channel else ""
        return channel + (f"@{self.rhythm} {self.topic}" if self.rhythm else self.topic)


def form_carried(kind: FormKind, carried: str) -> FormRequest:
    """Return the form of this kind of which a button carries that."""
    found = _CARRIED.fullmatch(carried)
    assert found is not None  # noqa: S101 - it takes any text
    rhythm = Rhythm(found["rhythm"]) if found["rhythm"] else None
    return FormRequest(kind, found["topic"], rhythm=rhythm, channel=unquote(found["channel"] or ""))


def form_asked_for(asked: Command | Unreadable) -> FormRequest | None:
    """Return the form in which what a command does not say can be filled in; None where it says enough, or is none.

    No form is for an address.
    """
    error = asked.error if isinstance(asked, Unreadable) else None
    if not isinstance(error, Incomplete) or is_mail_place(error.channel):
        return None
    return FormRequest(FormKind(error.form), error.topic, channel=error.channel)


def follow_up_form(asked: Command | Unreadable | None) -> FormRequest | None:
    """Return the form in which one may go on with what a command showed or did; None where there is none."""
    if isinstance(asked, Command) and is_mail_place(asked.place):
        return None
    match asked:
        case ShowTopic(name):
            return FormRequest(FormKind.TOPIC, name)
        case EditTopic():
            return FormRequest(FormKind.TOPIC, asked.name)
        case Filter(topic, FilterAction.SHOW | FilterAction.TEST):
            return FormRequest(FormKind.FILTER, topic, channel=asked.place)
        case Subscribe():
            return FormRequest(FormKind.SUBSCRIPTION, asked.topic, rhythm=_rhythm_said(asked), channel=asked.place)
        case _:
            return None


def _rhythm_said(asked: Subscribe) -> Rhythm | None:
    if asked.at_once:
        return Rhythm.AT_ONCE
    if asked.month_day:
        return Rhythm.MONTHLY
    return Schedule(weekdays=asked.weekdays).rhythm if asked.weekdays else None


# --- what stands in the fields


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of text: what it is called, what stands below that, and how it is filled in."""

    label: str
    hint: str = ""
    required: bool = False
    long: bool = False  # of several lines


NAME = FormField("Name", "Lower case, digits and hyphens.", required=True)
TITLE = FormField("Title")
QUERY = FormField("Query: who enters", 'Words and "phrases", OR, -not, field:value.', required=True, long=True)
INTERESTS = FormField("Interests: what ranks high", "One a line, after a weight: 2.5 prefix caching", long=True)
EXAMPLES = FormField("Examples", "One a line: papers and repositories, or texts to be close to.", long=True)
BAR = FormField("Bar", "The relevance that an entry needs, from 0 to 1.")


def topic_texts(form: TopicForm) -> dict[str, str]:
    """Return what stands in the fields of a topic's form."""
    return {
        "name": form.name,
        "title": form.title,
        "query": form.query,
        "interests": "\n".join(f"{each.weight:g} {each.clause}" for each in form.interests),
        "examples": "\n".join(form.examples),
        "min": f"{form.min_score:g}" if form.min_score else "",
    }


def read_topic(like: TopicForm, said: Mapping[str, str]) -> TopicForm:
    """Return the form with what is said in its fields; a title that is not asked for stays.

    Raises UsageError for an interest or a bar that cannot be read.
    """
    return replace(
        like,
        name=like.name or said.get("name", "").strip(),
        title=said["title"].strip() if "title" in said else like.title,
        query=on_one_line(said["query"]),
        interests=tuple(map(_read_interest, lines(said["interests"]))),
        examples=lines(said["examples"]),
        min_score=_read_bar(said["min"]),
    )


def read_filter(like: FilterForm, query: str, scope: str) -> FilterForm:
    """Return the form with what is said in its fields."""
    return replace(like, query=on_one_line(query), scope=Scope(scope))


def _read_interest(text: str) -> Interest:
    """Return the interest that a line says, whose weight may be left out; raises UsageError for a weight alone."""
    first, _, rest = text.partition(" ")
    try:
        weight = float(first)
    except ValueError:
        return Interest(text)
    if not rest.strip():
        raise UsageError(f'"{text}" is a weight without words: write for example 2.5 prefix caching.')
    return Interest(rest.strip(), weight)


def _read_bar(text: str) -> float:
    try:
        return float(text.strip().replace(",", ".") or 0)
    except ValueError as error:
        raise UsageError(f'"{clean(text)[:20]}" is no bar: write a number from 0 to 1, such as 0.3.') from error


def on_one_line(text: str) -> str:
    """Return the text with every stretch of white space as one space."""
    return " ".join(text.split())


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a field that say something, each once."""
    return tuple(dict.fromkeys(filter(None, (each.strip() for each in text.splitlines()))))
