"""What platforms did not take without a known reason, and for how long it is tried again.

One answer cannot tell whether it speaks of a message, of a channel, or of a platform that has a bad hour. What came of the
same call elsewhere can: the same failure in another channel within the hour is the platform's, and costs nobody a message.
What one channel alone is refused for an hour is given up. What is known lives with the process, and so does the hour: after
a restart it begins again, which gives up later, never earlier. Of several processes each knows what it saw itself; who is to
give something up looks into the ledger, too (bot.delivery.send).
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.delivery.rate_limits import PlatformCall
from bot.errors import Rejected
from bot.models import Method

log = logging.getLogger(__name__)

HOUR = timedelta(hours=1)  # for so long it is tried again, and so long ago another channel's failure counts
TRIES = 3  # at least, before something is given up: a clock may jump, and a machine may sleep
APART = timedelta(minutes=5)  # two tries, at least
SEVERAL = 2  # channels with the same failure: it is the platform's
_FORGET = 1000  # notes between two searches for what is too old to count

_Kind = tuple[Method, str, str]  # what was asked, of which platform, and how it failed
_Place = tuple[str, str]  # workspace and channel, or person
_Message = tuple[Method, str, str]  # what was asked, in which workspace, and for what


@dataclass(frozen=True, slots=True)
class _Tried:
    first: datetime
    last: datetime
    times: int
    of_message: bool  # the last failure


class Rejections:
    """What was not taken, and where."""

    def __init__(self) -> None:
        self._places: dict[_Kind, dict[_Place, datetime]] = {}  # when each was last refused
        self._tried: dict[_Message, _Tried] = {}
        self._noted = 0

    def note(self, call: PlatformCall, message: str, error: Rejected, now: datetime) -> bool:
        """Note that a call failed so, for the message of this name; return whether that message is to be given up.

        That is so when it was tried three times within an hour or more, and in the last hour no other channel of the
        platform was refused with the same failure. After an hour without a try, or when the clock was set back, that begins
        again.
        """
        self._noted += 1
        if self._noted % _FORGET == 0:
            self._forget(now)
        tried = self._tried_again((call.method, call.workspace, message), error, now)
        places = self._refused_lately((call.method, call.platform, error.failure), (call.workspace, call.channel), now)
        return len(places) < SEVERAL and tried.times >= TRIES and now - tried.first >= HOUR

    def blames_message(self, call: PlatformCall, message: str) -> bool:
        """Say whether what was noted last of a message spoke of what that says; False where nothing is known of it."""
        tried = self._tried.get((call.method, call.workspace, message))
        return tried is not None and tried.of_message

    def _tried_again(self, message: _Message, error: Rejected, now: datetime) -> _Tried:
        before = self._tried.get(message)
        first, times = now, 0
        if before is not None and now - HOUR <= before.last <= now:
            first, times = before.first, before.times
        tried = self._tried[message] = _Tried(first, now, times + 1, error.of_message)
        return tried

    def _refused_lately(self, kind: _Kind, place: _Place, now: datetime) -> Mapping[_Place, datetime]:
        before = _lately(self._places.get(kind, {}), now)
        here = self._places[kind] = {**before, place: now}
        if len(before) < SEVERAL <= len(here):
            method, platform, failure = kind
            log.warning("%s does not take it in several places (%s: %s): nothing is given up", platform, method, failure)
        return here

    def _forget(self, now: datetime) -> None:
        """Drop what counts no more, or was noted by a clock that ran ahead."""
        lately = {kind: _lately(places, now) for kind, places in self._places.items()}
        self._places = {kind: places for kind, places in lately.items() if places}
        self._tried = {message: tried for message, tried in self._tried.items() if now - HOUR <= tried.last <= now}


def _lately(places: Mapping[_Place, datetime], now: datetime) -> dict[_Place, datetime]:
    return {place: at for place, at in places.items() if now - HOUR <= at <= now}
