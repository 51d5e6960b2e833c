"""A person's folder and the command in it: a process of its own, settings in a file, sources behind real sockets."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.forked import ROOT, Forked, Forks
from tests.fakes.patience import PATIENCE

ENTRY = "from adapters.cli.main import main; main()"
# All are errors but that of discord.py's import, which is not ours to mend: from Python 3.13 on it brings its own.
WARNINGS = "error,ignore:'audioop' is deprecated:DeprecationWarning"


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Desk:
    """A person's folder, with settings that send every source to recorded answers."""

    folder: Path
    url: str
    forks: Forks

    @property
    def database(self) -> Path:
        return self.folder / "data" / "b.sqlite3"

    def settle(self, extra: str = "", *, url: str | None = None, github: str | None = None) -> None:
        url = url or self.url
        (self.folder / "broadsheet.toml").write_text(
            f'database = "{self.database}"\ntopics = ["gpu-systems"]\n{extra}\n'
            f'[arxiv]\nfeed_url = "{url}/atom"\napi_url = "{url}/api/query"\noai_url = "{url}/oai"\nseconds_between = 0\n'
            f'[huggingface]\nbase_url = "{url}"\n[github]\nbase_url = "{github or url}"\n',
            encoding="utf-8",
        )

    async def start(self, *arguments: str, **variables: str) -> Forked:
        """Start the command, forked from a process that has everything imported."""
        return await self.start_into(None, *arguments, **variables)

    async def start_into(self, out: int | None, *arguments: str, **variables: str) -> Forked:
        """Start the command with this file for its output."""
        now = ("--now", "2026-04-01T04:15:00+00:00") if {"run", "doctor", "init"}.isdisjoint(arguments) else ()
        return await self.forks.start([*now, *arguments], self.folder, self._environ() | variables, out)

    def _environ(self) -> dict[str, str]:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "COLUMNS": "80", "PYTHONWARNINGS": WARNINGS}
        environ["BROADSHEET_EMBEDDINGS__USE"] = "off"  # hundreds of items take half a minute; who wants them says so
        return environ | {"PYTHONPATH": str(ROOT)}

    async def run(self, *arguments: str, decoded: str = "utf-8", **variables: str) -> Ran:
        return await self._ended(await self.start(*arguments, **variables), decoded)

    async def run_into(self, out: int, *arguments: str) -> Ran:
        return await self._ended(await self.start_into(out, *arguments))

    async def anew(self, *arguments: str, decoded: str = "utf-8", **variables: str) -> Ran:
        """Run the command by a Python of its own, where what that is told or where it finds the code is what matters."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            ENTRY,
            *arguments,
            cwd=self.folder,
            env=self._environ() | variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return await self._ended(process, decoded)

    async def shell(self, line: str) -> Ran:
        """Run the command by a shell, for what only that can do to it."""
        process = await asyncio.create_subprocess_shell(
            f"{sys.executable} -c '{ENTRY}' {line}",
            executable="/bin/bash",
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return await self._ended(process)

    async def _ended(self, process: asyncio.subprocess.Process | Forked, decoded: str = "utf-8") -> Ran:
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode is not None
        assert "Traceback" not in err.decode(decoded), err.decode(decoded)
        return Ran(process.returncode, out.decode(decoded), err.decode(decoded))
