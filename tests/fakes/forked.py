"""A program in a process of its own, forked from one that has everything imported: without that second for each.

Whoever holds the other end of its socket says what is to be run, and passes what becomes standard output, standard error and
the pipe on which the process's number and its status come back. `python -m tests.fakes.forked` is that process.
"""

import asyncio
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
Told = tuple[list[str], str, dict[str, str]]  # arguments, folder and environment
_MOST = 1 << 17  # bytes of a request: the arguments and the environment
_READ = 1 << 24  # bytes that a process may write before anybody reads them
_LAZY = ("adapters.slack", "adapters.discord")  # who needs a platform's library imports it


class Forked:
    """A process, as asyncio's own are."""

    def __init__(self, pid: int, out: asyncio.StreamReader, err: asyncio.StreamReader, status: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stdout = out
        self._err = err
        self._status = asyncio.create_task(status.read())

    @property
    def returncode(self) -> int | None:
        """Return the status it ended with, None while it lives."""
        return int(self._status.result()) if self._status.done() else None

    async def wait(self) -> int:
        """Return the status once it has ended."""
        return int(await asyncio.shield(self._status))

    async def communicate(self) -> tuple[bytes, bytes]:
        """Return all that it wrote and that was not read yet, once it has ended."""
        out, err, _ = await asyncio.gather(self.stdout.read(), self._err.read(), self.wait())
        return out, err

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that a program is forked from, again and again. It ends with whoever holds this."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        """`program` is the module whose `main` is run with the arguments; Python itself reads `environ`."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.fakes.forked", program, str(theirs.fileno())]
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
        """Run the program in a folder, with these variables and no others; `out` takes its output instead of us."""
        ours, theirs = zip(*(os.pipe() for _ in range(3)), strict=True)
        told = json.dumps([list(arguments), str(folder), dict(environ)]).encode()
        socket.send_fds(self._socket, [told], [theirs[0] if out is None else out, *theirs[1:]])
        for each in theirs:
            os.close(each)
        written, complained, status = [await _reader(each) for each in ours]
        pid = int(await status.readline())
        return Forked(pid, written, complained, status)


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_READ)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", buffering=0)
    )
    return reader


def _serve(main: Callable[[list[str]], None], requests: socket.socket) -> None:
    while True:
        told, pipes, _, _ = socket.recv_fds(requests, _MOST, 3)
        if not told:
            return
        if os.fork() == 0:
            requests.close()
            _watched(main, json.loads(told), *pipes)
            return
        for each in pipes:
            os.close(each)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watched(main: Callable[[list[str]], None], told: Told, out: int, err: int, status: int) -> None:
    """Run the program in one process more, and tell from here how it went."""
    if (pid := os.fork()) == 0:
        os.close(status)
        _run(main, told, out, err)
        return
    for each in (out, err):
        os.close(each)
    os.write(status, b"%d\n" % pid)
    os.write(status, b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _run(main: Callable[[list[str]], None], told: Told, out: int, err: int) -> None:
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
    main(arguments)


def _import_all() -> None:
    for room in ("bot", "adapters"):
        package = importlib.import_module(room)
        for each in pkgutil.walk_packages(package.__path__, f"{room}."):
            if not each.name.startswith(_LAZY):
                importlib.import_module(each.name)


if __name__ == "__main__":
    _import_all()
    program = importlib.import_module(sys.argv[1])
    gc.freeze()
    _serve(program.main, socket.socket(fileno=int(sys.argv[2])))
