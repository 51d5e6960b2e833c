"""Reading what sources sent, in a thread: one answer at a time, whichever source it is of."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
P = ParamSpec("P")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def read_in_turn(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `read` returns, done in a thread when it is its turn; raises what it raises.

    Several would be no sooner done, as they have one interpreter between them, and the event loop waits for each of those
    that compute whenever it sends or receives.
    """
    async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        return await asyncio.to_thread(read, *args, **kwargs)
