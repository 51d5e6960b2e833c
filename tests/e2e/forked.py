"""The command in a process of its own, forked from one that has everything imported: without that second for each command.

Whoever holds the other end of its socket says what is to be run, and passes what becomes standard output, standard error and
the pipe on which the process's number and its status come back. `python -m tests.e2e.forked` is that process.
"""

import asyncio
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MOST = 1 << 17  # bytes of a request: the arguments and the environment
_LAZY = ("adapters.slack", "adapters.discord")  # who needs a platform's library imports it


@dataclass
class Forked:
    """A process, as asyncio's own are."""

    pid: int
    _out: asyncio.Task[bytes]
    _err: asyncio.Task[bytes]
    _status: asyncio.Task[bytes]

    @property
    def returncode(self) -> int | None:
        """Return the status it ended with, None while it lives."""
        return int(self._status.result()) if self._status.done() else None

    async def wait(self) -> int:
        """Return the status once it has ended."""
        return int(await asyncio.shield(self._status))

    async def communicate(self) -> tuple[bytes, bytes]:
        """Return all that it wrote, once it has ended."""
        await self.wait()
        return await asyncio.shield(self._out), await asyncio.shield(self._err)

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


class Forks:
    """The process that commands are forked from. It ends with whoever holds this."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Python itself reads `environ`; a command gets its own."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.e2e.forked", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=dict(environ), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()

    async def start(
        self, arguments: Sequence[str], folder: Path, environ: Mapping[str, str], out: int | None = None
    ) -> Forked:
        """Run the command in a folder, with these variables and no others; `out` takes its output instead of us."""
        ours, theirs = zip(*(os.pipe() for _ in range(3)), strict=True)
        told = json.dumps([list(arguments), str(folder), dict(environ)]).encode()
        socket.send_fds(self._socket, [told], [theirs[0] if out is None else out, *theirs[1:]])
        for each in theirs:
            os.close(each)
        written, complained, status = [await _reader(each) for each in ours]
        pid = int(await status.readline())
        return Forked(pid, *(asyncio.create_task(each.read()) for each in (written, complained, status)))


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", buffering=0)
    )
    return reader


def _serve(requests: socket.socket) -> None:
    while True:
        told, pipes, _, _ = socket.recv_fds(requests, _MOST, 3)
        if not told:
            return
        if os.fork() == 0:
            requests.close()
            _watched(json.loads(told), *pipes)
            return
        for each in pipes:
            os.close(each)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watched(told: tuple[list[str], str, dict[str, str]], out: int, err: int, status: int) -> None:
    """Run the command in one process more, and tell from here how it went."""
    if (pid := os.fork()) == 0:
        os.close(status)
        _run(told, out, err)
        return
    for each in (out, err):
        os.close(each)
    os.write(status, b"%d\n" % pid)
    os.write(status, b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _run(told: tuple[list[str], str, dict[str, str]], out: int, err: int) -> None:
    arguments, folder, environ = told
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    if encoding := environ.get("PYTHONIOENCODING"):
        sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding=encoding, errors="backslashreplace", closefd=False)
    importlib.import_module("adapters.cli.main").main(arguments)


def _import_all() -> None:
    for room in ("bot", "adapters"):
        package = importlib.import_module(room)
        for each in pkgutil.walk_packages(package.__path__, f"{room}."):
            if not each.name.startswith(_LAZY):
                importlib.import_module(each.name)


if __name__ == "__main__":
    _import_all()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
