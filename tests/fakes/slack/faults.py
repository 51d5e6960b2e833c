"""What goes wrong with a call: planned by a test, or drawn by a Behaviour's seed."""

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.platform import EVERYWHERE, Behaviour, Fault

_LIMITS = (Fault.LIMITED, Fault.ALL_LIMITED)
RESPONSE_URL, UPLOAD = "response_url", "upload"  # what is no method: the address to answer at, and that for a file's bytes
ANSWERING = frozenset(
    {
        *(RESPONSE_URL, UPLOAD, "chat.postEphemeral", "chat.postMessage", "conversations.open", "conversations.info"),
        *("files.completeUploadExternal", "files.getUploadURLExternal", "users.conversations", "users.info"),
        *("views.open", "views.publish", "views.push", "views.update"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How calls fail; what is not set does not happen."""

    error: str = ""  # ok: false and this; of a response_url, a 404 that says so
    status: int = 0  # an HTTP status, with a page of HTML
    page: str = "<html><body>Oops.</body></html>"
    retry_after: float | None = None  # a 429
    everywhere: bool = False  # … for the whole workspace, not for the channel alone
    cut: Fault | None = None  # RESET, HALF or STALL
    stall: float = 1.0  # seconds that a stalled answer takes
    commits: bool = False  # what was asked is done all the same


@dataclass(frozen=True, slots=True)
class Course:
    """How one call goes: the failure, how long it takes, and when in that time it is done; None: it is not."""

    failure: Failure | None
    takes: float
    done: float | None


class Faults:
    """The failures that are planned, and the dice."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.counts: Counter[str] = Counter()
        # By channel, or EVERYWHERE: how every call about it is refused, until that is taken back; an error of Slack's alone.
        self.refusing: dict[str, str | Failure] = {}
        self.outage: tuple[Failure, Callable[[], bool]] | None = None  # how every call fails, and whether it still does
        self._planned: dict[str, list[Failure]] = {}
        self._asked: Counter[str] = Counter()

    def plan(self, method: str, failure: Failure, times: int) -> None:
        self._planned.setdefault(method, []).extend([failure] * times)

    def forget(self, method: str) -> None:
        """Let calls of a method go well again."""
        self._planned.pop(method, None)

    def refused(self, channel: str) -> Failure | None:
        """Say how every call about the channel is refused now; "" for what is about none."""
        refusing = self.refusing.get(channel, self.refusing.get(EVERYWHERE))
        return Failure(error=refusing) if isinstance(refusing, str) else refusing

    def _meant(self, method: str) -> Failure | None:
        if self.outage is not None and self.outage[1]():
            return self.outage[0]
        planned = self._planned.get(method)
        return planned.pop(0) if planned else None

    def course(self, method: str, marker: str) -> Course:
        """Say how this call goes. Of calls with a marker, only that and how often it came decide; of others, the method."""
        failure = self._meant(method)
        if failure is not None:
            takes = failure.stall if failure.cut is Fault.STALL else 0.0
            return Course(failure, takes, 0.0 if failure.commits else None)
        about = marker or method
        self._asked[about] += 1
        dice = random.Random(f"{self.behaviour.seed} {about} {self._asked[about]}")
        takes = dice.uniform(*self.behaviour.takes)
        if not (method == "chat.postMessage" if marker else self.behaviour.answers and method in ANSWERING):
            return Course(None, takes, takes)
        fault = self.behaviour.draw(dice)
        if fault is None:
            return Course(None, takes, dice.uniform(0, takes))
        self.counts[fault] += 1
        if fault in _LIMITS:
            low, high = map(math.log, self.behaviour.rests)
            everywhere = fault is Fault.ALL_LIMITED
            return Course(Failure(retry_after=math.exp(dice.uniform(low, high)), everywhere=everywhere), 0.0, None)
        takes = self.behaviour.stall if fault is Fault.STALL else takes
        commits = dice.random() < self.behaviour.commits
        return Course(_failure(fault, dice), takes, dice.uniform(0, takes) if commits else None)


def _failure(fault: Fault, dice: random.Random) -> Failure:
    if fault is Fault.BROKEN:  # in each of the ways in which Slack says that it does not know
        error = dice.choice(("", "fatal_error", "internal_error"))
        return Failure(error=error) if error else Failure(status=dice.choice((500, 502, 503)))
    return Failure(cut=fault)
