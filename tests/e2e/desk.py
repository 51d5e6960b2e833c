"""A person's folder and the command in it: a process of its own, settings in a file, sources behind real sockets."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

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

    async def start(self, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "COLUMNS": "80", "PYTHONWARNINGS": WARNINGS}
        environ["BROADSHEET_EMBEDDINGS__USE"] = "off"  # hundreds of items take half a minute; who wants them says so
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            ENTRY,
            *(("--now", "2026-04-01T04:15:00+00:00") if {"run", "doctor"}.isdisjoint(arguments) else ()),
            *arguments,
            cwd=self.folder,
            env=environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, *arguments: str, decoded: str = "utf-8", **variables: str) -> Ran:
        return await self._ended(await self.start(*arguments, **variables), decoded)

    async def shell(self, line: str) -> Ran:
        """Run the command by a shell, for what only that can do to it."""
        process = await asyncio.create_subprocess_shell(
            f"{sys.executable} -c '{ENTRY}' {line}",
            executable="/bin/bash",
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return await self._ended(process)

    async def _ended(self, process: asyncio.subprocess.Process, decoded: str = "utf-8") -> Ran:
        out, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode is not None
        assert "Traceback" not in err.decode(decoded), err.decode(decoded)
        return Ran(process.returncode, out.decode(decoded), err.decode(decoded))
