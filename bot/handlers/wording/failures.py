"""What is said when a command did not work: never a traceback, always what to do next. Pure."""

from collections.abc import Mapping
from dataclasses import fields, replace

from bot.commands import Command, Help, SearchMeant, Status, help_for
from bot.errors import BotError, Conflict, SourceError, StoreError, SummaryUnavailable, Unclear, UsageError
from bot.handlers.wording.replies import button
from bot.models import Reply

_EXCERPT = 40  # characters of what was typed that point at the fault
_FAILED = "That did not work"
_STORE = "The database does not answer as it should, and the log says why. Nothing was changed; please try again later."
_SUMMARIES = "No summary can be made, and the log says why; *broadsheet doctor* says what to do."


def in_one_line(error: UsageError) -> str:
    """Return what was wrong and what to do, for a line among others."""
    return f"{error} {error.hint}".strip()


def which_one(error: Unclear, command: Command) -> Reply:
    """Offer each of the things that may be meant, a tap away."""
    if error.field not in {field.name for field in fields(command)}:
        return Reply(title="Which one?", text=_sentences(error))
    changes = ((label, value if isinstance(value, Mapping) else {error.field: value}) for label, value in error.choices)
    meant = ((label, replace(command, **change)) for label, change in changes)
    return Reply(title="Which one?", text=_sentences(error), buttons=tuple(button(label, each) for label, each in meant))


def usage_failure(error: UsageError, asked: Command | str) -> Reply:
    """Say what was wrong and where, and what to do; how the command goes that was asked, or probably meant, is a tap away.

    Of a form, `asked` is the words of the command that does the same: what was wrong does not stand in them.
    """
    if isinstance(error, Conflict):
        return Reply(title="Somebody else changed it", text=_sentences(error), people=error.people)
    usage = help_for(asked) if isinstance(asked, str) else asked.usage
    pointed = _faulty(asked) if isinstance(asked, Command) else "" if usage and asked == usage.words else asked
    helps = button("Help", Help()) if usage is None else button(f"Help on {usage.words}", Help(usage.words))
    return Reply(title=_FAILED, text=_pointed(_sentences(error), error, pointed), buttons=(helps,))


def searched_instead(found: Reply, meant: SearchMeant) -> Reply:
    """Return what is found for a line that begins with a verb, with how the command is written."""
    usage = meant.usage
    return replace(
        found,
        text=(f"Searched for as words; the command is written for example *{usage.example}*.", *found.text),
        buttons=(*found.buttons, button(f"Help on {usage.words}", Help(usage.words))),
    )


def not_fetched(error: SourceError, command: Command) -> Reply:
    """Tell that what the command asks for could not be fetched; the same command is a tap away."""
    return Reply(
        title="It could not be fetched",
        text=(str(error), "Nothing was changed."),
        buttons=(button("Try again", command), button("Status", Status())),
    )


def failure_in_words(error: BotError) -> str:
    """Return what is told of a failure in a chat: where the database or a model lies, and its fault, is the operator's."""
    if isinstance(error, SummaryUnavailable):
        return _SUMMARIES
    return _STORE if isinstance(error, StoreError) else str(error)


def failure_reply(sentence: str) -> Reply:
    """Tell a failure that is not the person's."""
    return Reply(title=_FAILED, text=(sentence,))


def unforeseen_failure(reference: str) -> Reply:
    """Tell that something went wrong which nobody foresaw; the log has it under the reference."""
    return failure_reply(f"Something went wrong on our side; nothing of it was your doing. The log has it as {reference}.")


def _sentences(error: UsageError) -> tuple[str, ...]:
    """The message, and its hint where that says more: one that is only a piece of a query stands in the message mostly."""
    said, hint = str(error), error.hint
    if not hint or hint in said:
        return (said,)
    return (said, hint if hint[-1] in ".?!*…" else f"For example: {hint}")


def _faulty(command: Command) -> str:
    """The text of a command that handlers read further: its query."""
    said = (getattr(command, name, "") for name in ("query", "filter", "value"))
    return next((text for text in said if text), "")


def _pointed(said: tuple[str, ...], error: UsageError, text: str) -> tuple[str, ...]:
    """Return what is said, with the place of the fault behind the first sentence where that is not the very beginning.

    What the sentence quotes already is not pointed at again.
    """
    rest = text[error.position :].strip() if error.position else ""
    if not rest or rest in said[0]:
        return said
    return (f"{said[0]} It is here: {rest[:_EXCERPT]}{'…' if len(rest) > _EXCERPT else ''}", *said[1:])
