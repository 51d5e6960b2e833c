"""What is said when a command did not work: never a traceback, always what to do next. Pure."""

from collections.abc import Mapping
from dataclasses import fields, replace

from bot.commands import Command, Help, Status, help_for
from bot.errors import BotError, Conflict, SourceError, StoreError, SummaryUnavailable, Unclear, UsageError
from bot.handlers.wording.replies import button
from bot.models import Field, Reply

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
    """Say what was wrong and where, and how the command goes that was asked, or that the text probably means.

    Of a form, `asked` is the words of the command that does the same: what was wrong does not stand in them.
    """
    if isinstance(error, Conflict):
        return Reply(title="Somebody else changed it", text=_sentences(error), people=error.people)
    usage = help_for(asked) if isinstance(asked, str) else asked.usage
    pointed = _faulty(asked) if isinstance(asked, Command) else "" if usage and asked == usage.words else asked
    said = (*_sentences(error), *_where(error, pointed))
    if usage is None:
        return Reply(title=_FAILED, text=said, buttons=(button("Help", Help()),))
    return Reply(
        title=_FAILED,
        text=said,
        fields=(Field("Usage", usage.syntax), Field("Example", usage.example)),
        buttons=(button(f"Help on {usage.words}", Help(usage.words)),),
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


def _where(error: UsageError, text: str) -> tuple[str, ...]:
    """Point at the fault where it is not at the very beginning."""
    rest = text[error.position :].strip() if error.position else ""
    return (f"It is here: {rest[:_EXCERPT]}{'…' if len(rest) > _EXCERPT else ''}",) if rest else ()
