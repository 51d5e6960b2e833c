"""What runs the service: jobs, what goes on beside them, and who calls both."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do again and again: every so often, the first time at once or after one interval."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]
    at_once: bool = False
    stop: Callable[[], None] | None = None  # called when the service is to end: the run begins nothing further
    grace: timedelta | None = None  # how long a run may go on then; None: as the runner says


@dataclass(frozen=True, slots=True)
class Watch:
    """Something that goes on for as long as the service does. When it ends or fails it is begun again, after a while."""

    name: str
    run: Callable[[], Awaitable[None]]


class Runner(Protocol):
    """What calls the verbs at their times."""

    async def run(self, jobs: Sequence[Job], watches: Sequence[Watch] = ()) -> None:
        """Run the jobs until `stop` is called; a job that fails is logged and runs again at its next time."""
        ...

    def stop(self) -> None:
        """Let the running jobs end, start no more, and make `run` return."""
        ...
