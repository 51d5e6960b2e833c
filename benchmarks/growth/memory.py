"""What a process holds, and work in a process of its own."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_READ = {"VmRSS": "held", "VmHWM": "peak", "RssAnon": "anonymous", "RssFile": "of files"}


def memory() -> dict[str, float]:
    """Return in MiB what this process holds now, its peak, and what of it is its own and what pages of files.

    Pages of files are the system's to take back (Linux, proc_pid_status(5)).
    """
    lines = (line.split() for line in Path("/proc/self/status").read_text("ascii").splitlines())
    return {_READ[name]: int(line[1]) / 1024 for line in lines if (name := line[0].rstrip(":")) in _READ}


def alone(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the work returns, done in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *args, **kwargs).result()
