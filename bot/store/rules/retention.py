"""How long what stores keep is kept: the rules that every store obeys."""

from datetime import datetime, timedelta

# No two occurrences of one schedule are further apart than 35 days (bot.digest.due): what is kept for longer keeps none from
# being posted twice, and nobody asks for the status of a digest of the month before last.
KEPT = timedelta(days=40)
TEXTS_KEPT = timedelta(days=365)  # a text that a button stands for, since it was last given


def is_first(met: datetime | None, now: datetime, span: timedelta) -> bool:
    """Say whether what was last met then is met for the first time within the span; a later time than now counts as met."""
    return met is None or met <= now - span


def latest(before: datetime | None, now: datetime) -> datetime:
    """Return the later one: a clock that was set back makes nothing older."""
    return now if before is None else max(before, now)
