"""Forms as every platform has them: which one belongs to a command, and what stands in its fields as text. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from bot.commands import Command, EditTopic, Filter, FilterAction, ShowTopic, Subscribe, parse
from bot.errors import Incomplete, UsageError
from bot.models import Interest

CHANGE = "Change in a form"  # on the button that opens one


class Kind(StrEnum):
    """What a form is of."""

    SUBSCRIPTION = "subscription"
    TOPIC = "topic"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Form:
    """A form, and the topic that it is about, "" for one to be chosen or made."""

    of: Kind
    topic: str = ""
    kept: str = ""  # key of what somebody said in it that did not work, to go on from there


def form_instead(error: Incomplete) -> Form:
    """Return the form in which what a command did not say can be filled in."""
    return Form(Kind(error.form), error.topic)


def form_beside(asked: str | Command) -> Form | None:
    """Return the form in which one may go on with what a command showed or did; None where there is none."""
    try:
        command = parse(asked) if isinstance(asked, str) else asked
    except UsageError:
        return None
    match command:
        case ShowTopic(name):
            return Form(Kind.TOPIC, name)
        case EditTopic():
            return Form(Kind.TOPIC, command.name)
        case Filter(topic, FilterAction.SHOW | FilterAction.TEST):
            return Form(Kind.FILTER, topic)
        case Subscribe():
            return Form(Kind.SUBSCRIPTION, command.topic)
        case _:
            return None


def interest_line(interest: Interest) -> str:
    """Return an interest as it stands in a form: 2.5 "prefix caching"."""
    return f"{interest.weight:g} {interest.clause}"


def read_interest(text: str) -> Interest:
    """Return the interest that a line says, whose weight may be left out; raises UsageError for a weight alone."""
    first, _, rest = text.partition(" ")
    try:
        weight = float(first)
    except ValueError:
        return Interest(text)
    if not rest.strip():
        raise UsageError(f"“{text}” is a weight without words: write for example 2.5 prefix caching.")
    return Interest(rest.strip(), weight)


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a field that say something, each once."""
    return tuple(dict.fromkeys(filter(None, (each.strip() for each in text.splitlines()))))
