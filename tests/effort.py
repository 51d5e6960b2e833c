"""How much work something takes, for laws about it: compared with other work, as no machine is as fast as another."""

import time
from collections.abc import Callable


def effort(work: Callable[[], object], tries: int = 3) -> float:
    """Return the least processor time of so many tries, in seconds: what else goes on can only add to it."""
    return min(_once(work) for _ in range(tries))


def _once(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
