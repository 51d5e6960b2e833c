"""What a restored database does not know: a copy of yesterday knows nothing of what was posted since.

The service writes its heartbeat into the database, and then into a file beside it. When the file is later than the
database says, the database is not the one that was written last. One that a backup was put into tells by itself which
heartbeat it had before. Whatever was due up to that heartbeat, and until the next one would have come, may have been
posted: it is looked for before it is posted, and not posted where nothing can be looked for. A channel's history may lag
behind what was posted last: it is believed a quarantine after the restored database was noticed.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.models import Delivery, Occurrence
from bot.ports.facts import ALIVE_BEFORE, HEARTBEAT, PUT_BACK, Facts, time_of_fact

log = logging.getLogger(__name__)

_DOUBT = "doubted until"
_NOTICED = "doubted since"
_UNTOLD = timedelta(minutes=2)  # many heartbeats: what was posted after the last one they do not tell


@dataclass(frozen=True, slots=True)
class Restoration:
    """What is known of the time that a restored database knows nothing of."""

    until: datetime  # what was due by then may have been posted
    noticed: datetime  # nothing was posted after this that the database does not know

    def caught_up(self, lag: timedelta, now: datetime) -> datetime:
        """Return when a history that lags so far behind shows all of it, now where that is already so."""
        # A clock that was set back since tells nothing of how long ago it was.
        return max(now, self.noticed + lag) if self.noticed <= now else now


async def notice_restored(facts: Facts, alive: datetime | None, now: datetime) -> datetime | None:
    """Compare the database's heartbeat with the file's, before the first one of this run is written.

    Returns until when what was due is in doubt from now on, None when the database is the one that was written last.
    """
    known = await time_of_fact(facts, HEARTBEAT)
    if alive is None or (known is not None and known >= alive):
        return None
    before = await read_unrecorded_until(facts)
    until = alive + _UNTOLD
    until = max(until, before) if before else until
    await facts.set(_NOTICED, now.isoformat())
    await facts.set(_DOUBT, until.isoformat())
    log.warning(
        "the database is older than its last heartbeat: what was due until %s is looked for before it is posted", until
    )
    return until


async def notice_put_back(facts: Facts) -> datetime | None:
    """Do as `notice_restored` where the database says that a backup was put into it, once; anybody may do so, at any moment.

    Returns until when what was due is in doubt from now on, None where no backup was put there, or none that is older.
    """
    at = await time_of_fact(facts, PUT_BACK)
    if at is None:
        return None
    alive = await time_of_fact(facts, ALIVE_BEFORE)
    # A clock that had run ahead must not put in doubt what is not even due yet.
    until = await notice_restored(facts, alive and min(alive, at), at)
    await facts.set(PUT_BACK, "")
    return until


async def read_unrecorded_until(facts: Facts) -> datetime | None:
    """Return until when what was due may have been posted although the database does not say so, None: nothing is."""
    return await time_of_fact(facts, _DOUBT)


async def read_restoration(facts: Facts) -> Restoration | None:
    """Return what is known of the last restoration, None where there was none."""
    until = await read_unrecorded_until(facts)
    if until is None:
        return None
    return Restoration(until, await time_of_fact(facts, _NOTICED) or until - _UNTOLD)


def may_be_unrecorded(due: Delivery | Occurrence, until: datetime | None) -> bool:
    """Say whether it may have been posted without the database knowing."""
    return until is not None and due.due <= until
