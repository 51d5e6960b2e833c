"""Computing in a process of its own: a module of ours that reads standard input, writes its answer, and ends.

It is for what would keep the event loop waiting from any thread, as it holds the interpreter's lock, and for what may take
more time or memory than it is worth. The process sees nothing of our environment, and is ended when it takes too long or
says too much.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakKeyDictionary

import bot
from bot.errors import ProcessFailed

_ROOT = Path(bot.__file__).resolve().parent.parent  # where our packages are imported from: a checkout or an installation
_PIECE = 2**20  # bytes that are read at a time

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


async def run_module(
    module: str, *given: str, data: Iterable[bytes], wall_clock: float, most: int, at_once: int = 1
) -> bytes:
    """Return what the module writes when it is run as a program, with what is given after its name and on standard input.

    `wall_clock` is how long it may take in seconds, `most` how many bytes it may write, `at_once` how many processes there
    are of the module: further ones wait. Raises ProcessFailed where it cannot be started, takes longer, writes more, or
    ends with another status than 0.
    """
    places = _places.setdefault(asyncio.get_running_loop(), {})
    async with places.setdefault(module, asyncio.Semaphore(at_once)):
        try:
            child = await asyncio.create_subprocess_exec(
                *_command(module, given),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=_environment(),
                cwd=_ROOT,
                limit=_PIECE,
            )
        except OSError as error:
            raise ProcessFailed("it could not be started", is_temporary=True) from error
        try:
            async with asyncio.timeout(wall_clock):
                answer = await _talk(child, data, most)
        except TimeoutError as error:
            raise ProcessFailed(f"it took longer than {wall_clock:g} seconds", is_temporary=True) from error
        finally:
            await _end(child)
    if len(answer) > most:
        raise ProcessFailed(f"it wrote more than {most:,} bytes")
    if child.returncode != 0:
        raise ProcessFailed(f"it ended with status {child.returncode}")
    return answer


def _command(module: str, given: Iterable[str]) -> list[str]:
    """No user site, no environment, no writing of bytecode, UTF-8 throughout."""
    return [sys.executable, "-s", "-E", "-B", "-X", "utf8", "-m", module, *given]


def _environment() -> dict[str, str]:
    """Nothing of ours, no secret above all; where shared libraries lie is all that Python may need to start."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


async def _talk(child: Process, data: Iterable[bytes], most: int) -> bytes:
    assert child.stdin is not None  # noqa: S101 (pipes were asked for)
    assert child.stdout is not None  # noqa: S101
    written = asyncio.ensure_future(_hand_over(child.stdin, data))
    answer = bytearray()
    try:
        while len(answer) <= most and (piece := await child.stdout.read(_PIECE)):
            answer += piece
        if len(answer) <= most:
            await child.wait()
        return bytes(answer)
    finally:
        written.cancel()
        await asyncio.gather(written, return_exceptions=True)


async def _hand_over(pipe: asyncio.StreamWriter, data: Iterable[bytes]) -> None:
    try:
        for piece in data:
            pipe.write(piece)
            await pipe.drain()
    except (BrokenPipeError, ConnectionResetError):
        pass  # it died before it had read everything; its exit status tells
    finally:
        pipe.close()


async def _end(child: Process) -> None:
    if child.returncode is None:
        child.kill()
    await child.wait()
