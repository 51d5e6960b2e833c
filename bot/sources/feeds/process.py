"""Start the process that reads a feed, and end it when it takes too long or says too much."""

import asyncio
import json
import os
import sys
from pathlib import Path
from weakref import WeakKeyDictionary

import bot
from bot.errors import SourceChanged, SourceUnavailable

WALL_CLOCK = 10.0  # seconds
MAX_OUTPUT = 8 * 2**20  # bytes; the feed itself is smaller than a quarter of that
AT_ONCE = 2  # processes; each may take half a GiB

_ROOT = Path(bot.__file__).resolve().parent.parent  # where `bot` is imported from: a checkout or an installation
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def _command() -> list[str]:
    """No user site, no environment, no writing of bytecode, UTF-8 throughout."""
    return [sys.executable, "-s", "-E", "-B", "-X", "utf8", "-m", "bot.sources.feeds.child"]


def _environment() -> dict[str, str]:
    """Nothing of ours, no secret above all; where shared libraries lie is all that Python may need to start."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


async def read_in_process(data: bytes, address: str, content_type: str, *, wall_clock: float = WALL_CLOCK) -> bytes:
    """Return the JSON that the child made of the feed.

    Raises SourceChanged when the feed is too much for it, SourceUnavailable when the machine is too busy to tell.
    """
    places = _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
    async with places:
        try:
            child = await asyncio.create_subprocess_exec(
                *_command(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
                cwd=_ROOT,
                limit=2**20,
            )
        except OSError as error:
            raise SourceUnavailable("the process that reads feeds could not be started") from error
        try:
            async with asyncio.timeout(wall_clock):
                answer = await _talk(child, json.dumps([address, content_type]).encode() + b"\n" + data)
        except TimeoutError as error:
            raise SourceUnavailable(f"reading the feed took longer than {wall_clock:g} seconds") from error
        finally:
            await _end(child)
    if child.returncode != 0 or len(answer) > MAX_OUTPUT:
        raise SourceChanged("reading the feed took more time or memory than any feed should need")
    return answer


async def _talk(child: asyncio.subprocess.Process, data: bytes) -> bytes:
    assert child.stdin is not None  # noqa: S101 (pipes were asked for)
    assert child.stdout is not None  # noqa: S101
    written = asyncio.ensure_future(_hand_over(child.stdin, data))
    answer = bytearray()
    try:
        while len(answer) <= MAX_OUTPUT and (piece := await child.stdout.read(2**20)):
            answer += piece
        if len(answer) <= MAX_OUTPUT:
            await child.wait()
        return bytes(answer)
    finally:
        written.cancel()
        await asyncio.gather(written, return_exceptions=True)


async def _hand_over(pipe: asyncio.StreamWriter, data: bytes) -> None:
    try:
        pipe.write(data)
        await pipe.drain()
    except (BrokenPipeError, ConnectionResetError):
        pass  # it died before it had read everything; its exit status tells
    finally:
        pipe.close()


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.kill()
    await child.wait()
