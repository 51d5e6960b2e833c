"""What the command's exit status says, and the one sentence that a failure is told in."""

from enum import IntEnum

from adapters.text import emphasised
from bot.errors import BotError, EmbeddingUnavailable, SettingsError, SourceError, StoreError, SummaryUnavailable, UsageError


class Exit(IntEnum):
    """The exit statuses of `broadsheet`."""

    OK = 0
    BUG = 1  # something that we did not foresee; the sentence carries a reference that stands in the log
    USAGE = 2  # the command line or the query is not right
    SETTINGS = 3  # the settings or a topic pack are not right
    DATABASE = 4  # the database cannot be read or written; nothing was lost
    SOURCE = 5  # a source or the embeddings endpoint did not deliver; what there was until then is stored
    UNWELL = 6  # `doctor` or `db check` found something to mend, or a file of Broadsheet's own cannot be read
    INTERRUPTED = 130  # Ctrl-C


def status_of(error: BotError) -> Exit:
    """Return the status that goes with the error."""
    kinds = (
        (UsageError, Exit.USAGE),
        (SettingsError, Exit.SETTINGS),
        (StoreError, Exit.DATABASE),
        (SourceError, Exit.SOURCE),
        (EmbeddingUnavailable, Exit.SOURCE),
        (SummaryUnavailable, Exit.UNWELL),
    )
    return next((status for kind, status in kinds if isinstance(error, kind)), Exit.BUG)


def sentence_of(error: BotError) -> str:
    """Return what the person reads: the sentence, and the hint where there is one."""
    hint = error.hint if isinstance(error, UsageError) else ""
    text = str(error)
    said = f"{text}\n{hint}" if hint and hint not in text else text
    return "".join(piece for piece, _ in emphasised(said))
