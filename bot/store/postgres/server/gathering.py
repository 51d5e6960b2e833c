"""Short jobs that come at the same time, and go to the server together: more of each goes by on its way than there."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from bot.store.postgres.server.sentences import BusyError, DeadError

T = TypeVar("T")

MOST = 32  # jobs that go together at most; while they are on their way, the next ones gather

Job = Callable[[Any], Awaitable[T]]  # of a connection


class Gathering:
    """Runs jobs together with those that come at the same time."""

    def __init__(
        self,
        together: Callable[[Sequence[Job[Any]]], Awaitable[Sequence[Any]]],
        alone: Callable[[Job[Any]], Awaitable[Any]],
        *,
        is_reading: bool,
    ) -> None:
        """`together` returns what each of the jobs returns, or its error, and fails where one cannot be run.

        `alone` runs one by itself. `is_reading`: they may be run again where the connection was lost.
        """
        self._together, self._alone, self._is_reading = together, alone, is_reading
        self._waiting: deque[tuple[Job[Any], asyncio.Future[Any]]] = deque()
        self._going: asyncio.Task[None] | None = None

    async def run(self, job: Job[T]) -> T:
        """Run the job with those that come while others are on their way; whoever waits no more begins nothing."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, answer))
        if self._going is None:
            self._begin()
        return await answer

    def _begin(self) -> None:
        self._going = asyncio.create_task(self._go())
        self._going.add_done_callback(self._ended)

    def _ended(self, going: "asyncio.Task[None]") -> None:
        """Go on with what came meanwhile; let nobody wait for what was cancelled."""
        self._going = None
        failed = going.cancelled() or going.exception() is not None
        while failed and self._waiting:
            _, answer = self._waiting.popleft()
            answer.cancel()
        if self._waiting:
            self._begin()

    async def _go(self) -> None:
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            some = [(job, answer) for job, answer in taken if not answer.done()]
            try:
                found = await self._given([job for job, _ in some])
            except BaseException:
                for _, answer in some:
                    answer.cancel()
                raise
            for (_, answer), given in zip(some, found, strict=True):
                if answer.done():
                    continue
                if isinstance(given, BaseException):
                    answer.set_exception(given)
                else:
                    answer.set_result(given)
            await asyncio.sleep(0)  # whoever has an answer asks the next question now: it goes with those that wait

    async def _given(self, jobs: Sequence[Job[Any]]) -> Sequence[Any]:
        """Return what each of the jobs returns, or its error."""
        if len(jobs) > 1:
            with contextlib.suppress(Exception):  # whichever failed: each is run by itself, and told what is its own
                try:
                    return await self._together(jobs)
                except BusyError as error:
                    return [error] * len(jobs)
                except DeadError as error:
                    if not self._is_reading:  # it may be done
                        return [error] * len(jobs)
        return await asyncio.gather(*map(self._alone, jobs), return_exceptions=True)
