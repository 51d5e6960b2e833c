"""Two machines whose clocks are five minutes apart, one of which is gone in the middle; and a server that is.

A machine is a group of processes with folders of their own and, where network namespaces can be made, an address and a
cable of their own; the time that they are shown is that of libfaketime, where it is installed.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic, time

from benchmarks.soak.judge import Verdict
from benchmarks.soak.many.kills import settled
from benchmarks.soak.many.machine import Machine, can_have_clocks, can_have_networks, machines
from benchmarks.soak.many.place import DURABLE, Place, placed
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from tests.fakes.platform import Behaviour
from tests.stores import postgres_server

_APART = timedelta(minutes=5)
_OTHERS = 120.0  # seconds within which those that are left have posted everything
_CUT = 90.0  # seconds without a cable
_AWAY = 60.0  # seconds without a server
_LONGEST = 900.0


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: Verdict
    seconds: float  # until everything was posted, from what was done to them
    unclaimed: int  # posts while the server was away but for those on the way
    restarted: int  # processes that ended by themselves


async def lost(ask: Ask) -> Row:
    """One of two machines is gone for good in the middle."""
    async with machines(timedelta(0), _APART) as both:

        async def gone(place: Place) -> None:
            for each in [each for each in place.running if each.machine is both[1]]:
                await each.kill()
                place.running.remove(each)

        found = await _apart(ask, both, gone)
    return _row("one of two machines is lost for good in the middle", ask, both, found)


async def cut_off(ask: Ask) -> Row:
    """One of two machines is cut off from server and platform for a minute and a half, and let back."""
    async with machines(timedelta(0), -_APART) as both:

        async def apart(place: Place) -> None:
            if both[1].space:
                await asyncio.to_thread(both[1].cut)
                await asyncio.sleep(_CUT)
                await asyncio.to_thread(both[1].mend)
            else:  # the nearest to it: its processes stand still, and go on with what they knew
                theirs = [each for each in place.running if each.machine is both[1]]
                for number, wait in ((signal.SIGSTOP, _CUT), (signal.SIGCONT, 0.0)):
                    for each in theirs:
                        each.process.send_signal(number)
                    await asyncio.sleep(wait)

        found = await _apart(ask, both, apart)
    return _row("one of two machines is cut off for 90 s in the middle, and let back", ask, both, found)


async def _apart(ask: Ask, both: Sequence[Machine], then: Callable[[Place], Awaitable[None]]) -> _Outcome:
    """Let both work; in the middle this is done to them."""
    crowd = Crowd(ask.size, due_just_now(), (1,), "slack", workspaces=min(50, ask.size))
    async with placed(crowd, Behaviour(seed=ask.seed, takes=(0.05, 0.3)), machines=both) as place:
        for machine in both:
            for _ in range(2):
                await place.start(machine=machine)
        while place.posted < len(place.made) // 3:  # noqa: ASYNC110 - another's count
            await asyncio.sleep(0.1)
        begun = monotonic()
        doing = asyncio.create_task(_awaited(then(place)))
        await place.all_posted(_LONGEST)
        seconds = monotonic() - begun
        await doing
        await settled(place)
        restarted = sum(not each.is_alive for each in place.running)
        return _Outcome(await place.judge(), seconds, 0, restarted)


async def _awaited(what: Awaitable[None]) -> None:
    await what


def _row(what: str, ask: Ask, both: Sequence[Machine], found: _Outcome) -> Row:
    apart = "clocks five minutes apart" if can_have_clocks() else "clocks alike, as there is no libfaketime here"
    where = "addresses of their own" if can_have_networks() else "one address, as no network namespace can be made here"
    size = f"{ask.size:,} deliveries, two processes on each of {len(both)} machines; {apart}; {where}"
    measured = f"{found.verdict.figures()}; all posted {found.seconds:.0f} s later; {found.restarted} processes ended"
    kept = found.verdict.is_clean and found.seconds <= _OTHERS and not found.restarted
    return Row(what, size, f"the others post all within {_OTHERS:.0f} s, nothing twice, nothing lost", measured, kept)


async def away(ask: Ask) -> Row:
    """The server is away for a minute."""

    async def gone(place: Place) -> None:
        await asyncio.to_thread(place.server.stop)
        await asyncio.sleep(_AWAY)
        await place.begin_again()

    return _server_row(f"the server is away for {_AWAY:.0f} s", ask, await _without(ask, gone))


async def failed_over(ask: Ask) -> Row:
    """The primary ends at once, and its standby takes over at another port."""

    async def over(place: Place) -> None:
        standby = next(each for each in place.servers if each != place.server)
        await asyncio.to_thread(place.server.stop, signal.SIGQUIT)
        await asyncio.sleep(2.0)
        await asyncio.to_thread(postgres_server.promote, standby)
        place.server = standby

    return _server_row(
        "the primary fails over to its standby, at another port", ask, await _without(ask, over, standby=True)
    )


async def _without(ask: Ask, then: Callable[[Place], Awaitable[None]], *, standby: bool = False) -> _Outcome:
    """Let four processes work; in the middle this is done to their server."""
    crowd = Crowd(ask.size, due_just_now(), (1,), "slack", workspaces=min(50, ask.size))
    async with placed(crowd, Behaviour(seed=ask.seed, takes=(0.05, 0.3))) as place:
        second = await asyncio.to_thread(postgres_server.standby_of, place.server, DURABLE) if standby else None
        if second is not None:
            place.servers.append(second)
        try:
            for _ in range(4):
                await place.start()
            while place.posted < len(place.made) // 3:  # noqa: ASYNC110 - another's count
                await asyncio.sleep(0.1)
            begun, ended = monotonic(), time()
            await then(place)
            back = time()
            await place.all_posted(_LONGEST)
            seconds = monotonic() - begun
            await settled(place)
            # What was claimed before may be sent within the time of a call.
            unclaimed = sum(ended + 15.0 < each.at < back - 1.0 for each in place.fake.committed)
            return _Outcome(await place.judge(), seconds, unclaimed, sum(not each.is_alive for each in place.running))
        finally:
            if second is not None:
                await asyncio.to_thread(second.remove)


def _server_row(what: str, ask: Ask, found: _Outcome) -> Row:
    measured = (
        f"{found.verdict.figures()}; {found.unclaimed} posted meanwhile; {found.restarted} processes ended; all posted"
        f" {found.seconds:.0f} s after it went"
    )
    kept = found.verdict.is_clean and not found.unclaimed and not found.restarted
    target = "nothing posted unclaimed, 0 lost, 0 doubled, no restart"
    return Row(what, f"{ask.size:,} deliveries, 4 processes", target, measured, kept)
