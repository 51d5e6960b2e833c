"""A person at a terminal: the command in a process of its own, whose terminal is a pseudo-terminal."""

import asyncio
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.desk import ENTRY
from tests.fakes.patience import PATIENCE

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """What the person sees, and types."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self._process, self._master = process, master
        self.shown = ""
        self._at = 0  # what was seen before

    @classmethod
    def start(cls, *arguments: str, folder: Path, environ: Mapping[str, str]) -> "Terminal":
        """Start the command; its terminal is the one that it controls, from which a password is read."""
        master, slave = pty.openpty()
        # A process of its own that takes the terminal and becomes the command: nothing is run between fork and exec.
        takes = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, '-c', *sys.argv[1:]])"
        command = [sys.executable, "-c", takes, ENTRY, *arguments]
        process = subprocess.Popen(command, cwd=folder, env=dict(environ), stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        return cls(process, master)

    async def sees(self, text: str) -> None:
        """Wait until the text is shown, behind what was waited for before."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.shown[self._at :]:
                assert await self._read(), f"{text!r} is not in:\n{self.shown}"
        self._at = self.shown.index(text, self._at) + len(text)

    def types(self, line: str) -> None:
        """Type a line and press Enter."""
        os.write(self._master, line.encode() + b"\n")

    async def ends(self) -> int:
        """Return the status once it has ended."""
        async with asyncio.timeout(PATIENCE):
            while await self._read():
                pass
            status = await asyncio.to_thread(self._process.wait)
        os.close(self._master)
        return status

    async def _read(self) -> bool:
        try:
            found = await asyncio.to_thread(os.read, self._master, 4096)
        except OSError:  # nobody holds the other end any more
            return False
        self.shown += _CONTROLS.sub("", found.decode(errors="replace").replace("\r\n", "\n"))
        return bool(found)
